// One request on its way through the steps (pipeline.ts): its state, and the report at its end.

import type { Caller } from '../accounts/caller.ts';
import type { Access } from './access.ts';
import type { HttpRequest } from './adapters/adapter.ts';
import type { Reservation } from './adapters/memory-budget.ts';
import type { Permit } from './admission.ts';
import type { ErrorCode } from '../api/shapes/api-error.ts';
import type { Endpoint } from '../api/shapes/endpoint.ts';
import { ALL_METHODS, type Route } from './router.ts';

export interface Exchange {
  readonly request: HttpRequest;
  /** GET for HEAD. */
  readonly method: string;
  readonly requestId: string;
  readonly startMs: number;
  readonly address: string;
  readonly answerHeaders: Record<string, string>;
  route?: Route;
  pathValues?: Readonly<Record<string, string>>;
  endpoint?: Endpoint;
  caller?: Caller | undefined;
  readonly operator?: Caller | undefined;
  permit?: Permit;
  errorCode?: ErrorCode;
  reservation?: Reservation | undefined;
  body?: Promise<Buffer>;
  /** The response has ended and `ends` have run; or it holds nothing, so that its end is not reported. */
  isOver?: boolean;
  readonly ends: (() => void)[];
}

/** An exchange after step 3. */
export function accessOf(exchange: Exchange): Exchange & Access {
  // Safety: step 3 found the endpoint.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return exchange as Exchange & Access;
}

/** The report of a request for metrics: nothing that clients can choose freely. */
export interface AnsweredRequest {
  /** GET for HEAD; a known method, or `other`. */
  readonly method: string;
  /** The path pattern of the endpoint; `none` if no endpoint matches. */
  readonly route: string;
  readonly status: number;
  readonly durationMs: number;
  readonly isRateLimited: boolean;
}

const KNOWN_METHODS: ReadonlySet<string> = new Set(ALL_METHODS.split(', '));

export function answeredRequestOf(
  exchange: Exchange,
  status: number,
  durationMs: number,
): AnsweredRequest {
  const [any] = exchange.route?.values() ?? [];
  return {
    method: KNOWN_METHODS.has(exchange.method) ? exchange.method : 'other',
    route: any?.path ?? 'none',
    status,
    durationMs,
    isRateLimited: exchange.errorCode === 'API_RATE_LIMIT_EXCEEDED',
  };
}
