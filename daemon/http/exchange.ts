// The state of one request on its way through the steps (pipeline.ts).

import type { Caller } from '../accounts/caller.ts';
import type { Access } from './access.ts';
import type { HttpRequest } from './adapters/adapter.ts';
import type { Reservation } from './adapters/memory-budget.ts';
import type { Permit } from './admission.ts';
import type { ErrorCode } from '../api/shapes/api-error.ts';
import type { Endpoint } from '../api/shapes/endpoint.ts';
import type { Route } from './router.ts';

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
  /** Nothing may be reserved for this request any more: its response has ended, or had nothing to release. */
  isOver?: boolean;
  readonly ends: (() => void)[];
}

/** Calls `end` when the response has ended: at once if it has. */
export function onOver(exchange: Exchange, end: () => void): void {
  if (exchange.isOver === true) end();
  else exchange.ends.push(end);
}

/** An exchange after step 3. */
export function accessOf(exchange: Exchange): Exchange & Access {
  // Safety: step 3 found the endpoint.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return exchange as Exchange & Access;
}
