// One request on its way through the steps (pipeline.ts): what is known of it so far, and what is told of it at its end.

import type { Caller } from '../accounts/caller.ts';
import type { Access } from './access.ts';
import type { HttpRequest } from './adapters/adapter.ts';
import type { Hold } from './adapters/memory-budget.ts';
import type { Place } from './admission.ts';
import type { ErrorCode } from '../api/shapes/api-error.ts';
import type { BoundHandler, Endpoint } from '../api/shapes/endpoint.ts';
import { ALL_METHODS, type Route } from './router.ts';

/** What the steps have found out about one request so far. */
export interface Exchange {
  readonly request: HttpRequest;
  /** GET for HEAD. */
  readonly method: string;
  readonly requestId: string;
  readonly startMs: number;
  /** Of the client. */
  readonly address: string;
  /** Headers of whatever the answer will be. */
  readonly answerHeaders: Record<string, string>;
  route?: Route;
  pathValues?: Readonly<Record<string, string>>;
  endpoint?: Endpoint;
  caller?: Caller | undefined;
  handler?: BoundHandler;
  place?: Place;
  errorCode?: ErrorCode;
  /** Bytes held for the request and its answer. */
  hold?: Hold | undefined;
  /** Of the request, once it was asked for. */
  body?: Promise<Buffer>;
  /** The response is over, and `ends` are done; or it holds nothing, so that nobody will say when it is. */
  isOver?: boolean;
  /** What is to be done when the response is over. */
  readonly ends: (() => void)[];
}

/** An exchange behind step 3. */
export function accessOf(exchange: Exchange): Exchange & Access {
  // Safety: step 3 found the endpoint.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return exchange as Exchange & Access;
}

/** What is told of a request for metrics: nothing that clients can choose freely. */
export interface AnsweredRequest {
  /** GET for HEAD; one that is known, or `other`. */
  readonly method: string;
  /** The path as its endpoint has it; `none` where there is no such path. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  /** It was refused as the limit of the day is reached. */
  readonly isRateLimited: boolean;
}

const KNOWN_METHODS: ReadonlySet<string> = new Set(ALL_METHODS.split(', '));

export function seenOf(exchange: Exchange, status: number, durationMs: number): AnsweredRequest {
  const [any] = exchange.route?.values() ?? [];
  return {
    method: KNOWN_METHODS.has(exchange.method) ? exchange.method : 'other',
    route: any?.path ?? 'none',
    status,
    durationMs,
    isRateLimited: exchange.errorCode === 'API_RATE_LIMIT_EXCEEDED',
  };
}
