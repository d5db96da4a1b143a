// What an endpoint is: its address, who may call it, the schema of its input and the function that
// answers. The HTTP layer runs the checks in their fixed order and knows endpoints only through this file.

import type { z } from 'zod';
import type { Settings } from '../config/settings.ts';
import type { Caller } from './authentication.ts';
import { parseBody, parseQuery } from './input.ts';
import type { LazyBytes } from './lazy-bytes.ts';
import type { EventStream, Services } from './services.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** `none`: no credential is looked at; `opt`: any caller, guests too; `owner`: owner role. */
export type Access = 'none' | 'opt' | 'owner';

/** What a handler answers: a value still to be encoded, finished JSON bytes, or a stream of events. */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content:
    | { readonly value: unknown }
    | { readonly json: Uint8Array | LazyBytes }
    | { readonly events: EventStream };
}

/** Everything a handler may use besides its input. */
export interface CallContext {
  readonly baseUrl: string;
  readonly caller: Caller | undefined;
  readonly services: Services;
  readonly settings: Settings;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Bytes of JSON that an event of a stream may have in the form that the client asks for. */
  readonly eventSizeMax: number;
  readonly isStopping: boolean;
  /** Product version without `v`. */
  readonly version: string;
}

/** The input before any schema has seen it. */
export interface RawInput {
  /** Parsed JSON body; undefined for endpoints without a body. */
  readonly json: unknown;
  readonly rawQuery: string;
}

export type BoundHandler = (context: CallContext) => Answer | Promise<Answer>;

export interface Endpoint {
  /** Name of the operation in the API description. */
  readonly operationId: string;
  readonly method: Method;
  /** Below the base URL, for example `/api/search`. */
  readonly path: string;
  readonly access: Access;
  /** Counts against the limit of concurrent searches. */
  readonly isSearch: boolean;
  readonly hasBody: boolean;
  /**
   * Checks the input and returns the handler bound to it.
   * Errors: ApiError INVALID_REQUEST_BODY or INVALID_QUERY_PARAMS, naming the culprit.
   */
  prepare(raw: RawInput): BoundHandler;
}

interface EndpointHead {
  readonly operationId: string;
  readonly path: string;
  readonly access: Access;
  readonly isSearch?: boolean;
}

/** An endpoint that takes a JSON body of the given schema. */
export function bodyEndpoint<Body extends z.ZodType>(
  head: EndpointHead & { readonly method: Exclude<Method, 'GET'> },
  schema: Body,
  handle: (body: z.output<Body>, context: CallContext) => Answer | Promise<Answer>,
): Endpoint {
  return {
    ...head,
    isSearch: head.isSearch ?? false,
    hasBody: true,
    prepare({ json }) {
      const body = parseBody(schema, json);
      return (context) => handle(body, context);
    },
  };
}

/** A GET endpoint that takes query parameters of the given schema. */
export function queryEndpoint<Query extends z.ZodType>(
  head: EndpointHead,
  schema: Query,
  handle: (query: z.output<Query>, context: CallContext) => Answer | Promise<Answer>,
): Endpoint {
  return {
    ...head,
    method: 'GET',
    isSearch: head.isSearch ?? false,
    hasBody: false,
    prepare({ rawQuery }) {
      const query = parseQuery(schema, rawQuery);
      return (context) => handle(query, context);
    },
  };
}

/** A 200 answer with a value. */
export function ok(value: unknown, headers?: Readonly<Record<string, string>>): Answer {
  return headers === undefined
    ? { status: 200, content: { value } }
    : { status: 200, headers, content: { value } };
}
