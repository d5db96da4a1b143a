// What an endpoint is: its address, who may call it, the schemas of its input and of its answers, and the
// function that answers. The HTTP layer runs the checks in their fixed order and knows endpoints only through
// this file; the API description is made of the same values.

import type { z } from 'zod';
import type { Settings } from '../../base/config/settings.ts';
import type { Asset } from './asset.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import type { Actor } from '../../accounts/audit-trail.ts';
import type { Caller } from '../../accounts/caller.ts';
import type { Entitlement } from '../../accounts/licence.ts';
import type { Ledger } from '../../accounts/limits/ledger.ts';
import type { SearchContexts } from '../../repos/search-context.ts';
import type { Sight } from '../../repos/sight.ts';
import type { SearchPlace } from '../../base/place.ts';
import type { ErrorCode } from './api-error.ts';
import { parseBody, parsePath, parseQuery } from './input.ts';
import type { ReaderMemory } from '../../sources/reading/shared-contents.ts';
import type { LazyBytes } from '../../base/lazy-bytes.ts';
import type { EventStream, Services } from './endpoint-services.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * `none`: no credential is looked at; `opt`: any caller, guests too; `user`: anybody with an account; `session`:
 * a browser session; `key`: an API key; `owner`: the owner role, but no scoped token.
 */
export type Access = 'none' | 'opt' | 'user' | 'session' | 'key' | 'owner';

/** Groups of endpoints in the API description. */
export type Tag =
  | 'Search & Navigation'
  | 'Repositories'
  | 'Connections'
  | 'Git'
  | 'Scoped Access Tokens'
  | 'Enterprise'
  | 'System';

/**
 * What a handler answers: a value still to be encoded, finished JSON bytes, a stream of events, an asset, bytes of a type of
 * their own, which are sent as they are, a response of the Fetch standard (whose status and headers hold, bytes as they
 * are), or no body.
 */
export interface Answer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly content:
    | { readonly value: unknown }
    | { readonly json: Uint8Array | LazyBytes }
    | { readonly events: EventStream }
    | { readonly asset: Asset }
    | TypedBytes
    | { readonly response: Response }
    | { readonly nothing: true };
}

/** Bytes of a type of their own, for this caller alone. */
export interface TypedBytes {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** Bytes of memory that are not counted yet. */
  readonly heldSize: number;
}

/**
 * The checks for a handler that makes several calls for one request, such as a batch of tools: what the flags and rights
 * of an endpoint are for the one that it is. They never touch the headers of the answer.
 */
export interface Calls {
  /** Counts one call of the caller, and waits for its turn. Errors: API_RATE_LIMIT_EXCEEDED; NOT_READY. */
  count(): Promise<void>;
  /**
   * A place for a search, to be released by the handler; what it forgets goes back when the response is over.
   * Errors: SERVER_OVERLOADED; ClientGoneError, also of a handler that goes on when its response is over.
   */
  admit(): Promise<HeldPlace>;
  /** Errors: INSUFFICIENT_PERMISSIONS; NOT_AUTHENTICATED. */
  require(rights: Rights): void;
}

export interface HeldPlace extends SearchPlace {
  /** Further calls do nothing. */
  release(): void;
}

/** Everything a handler may use besides its input. */
export interface CallContext {
  readonly baseUrl: string;
  readonly caller: Caller | undefined;
  /** Whom turns, places and bytes are counted for: a user, or an address. */
  readonly holder: string;
  /** What the caller sees; nothing where there is no caller. */
  readonly sight: Sight;
  /** Those that queries may name; none without the entitlement. */
  readonly contexts: SearchContexts;
  /** Whom audit records name; undefined: what is done leaves none. */
  readonly actor: Actor | undefined;
  /** Of the client. */
  readonly address: string;
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  readonly services: Services;
  readonly settings: Settings;
  /** Aborted when the client goes away. */
  readonly signal: AbortSignal;
  /** Of a search. */
  readonly place: SearchPlace | undefined;
  readonly calls: Calls;
  /** The request for a library that takes one of the Fetch standard; of endpoints with a body in `input` without one. */
  readonly fetchRequest: () => Request;
  /** Takes bytes until the response is over. Errors: ApiError SERVER_OVERLOADED where there is no room; ClientGoneError. */
  readonly takeMemory: (size: number) => void;
  readonly memory: ReaderMemory;
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
  /** Values of the parameters in the path, decoded. */
  readonly pathValues: Readonly<Record<string, string>>;
}

export type BoundHandler = (context: CallContext) => Answer | Promise<Answer>;

/** Schemas of the input; a part that is absent is not looked at. */
export interface InputShape {
  /** One member for each parameter of the path. */
  readonly path?: z.ZodObject;
  readonly query?: z.ZodObject;
  /** Of the JSON body. */
  readonly body?: z.ZodType;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

/** The input as the schemas see it. */
export interface Input<Shape extends InputShape> {
  readonly path: Parsed<Shape['path']>;
  readonly query: Parsed<Shape['query']>;
  readonly body: Parsed<Shape['body']>;
}

/** A header that an answer of a status has, beside those that follow from the endpoint. */
export interface HeaderShape {
  readonly description: string;
  /** `integer`: a decimal integer of at least 0. */
  readonly type: 'string' | 'integer';
  /** Always there; default: false. */
  readonly isRequired?: boolean;
}

/** What an answer that is no error looks like. */
export interface ResponseShape {
  readonly description: string;
  /** Of the body; of an event where the answer is a stream. Absent: no body. */
  readonly body?: z.ZodType;
  /** Default: JSON, or MessagePack for clients that ask for it. */
  readonly contentTypes?: readonly string[];
  readonly headers?: Readonly<Record<string, HeaderShape>>;
}

/** What a caller needs. */
export interface Rights {
  readonly access: Access;
  /** Without it in the licence the call is refused. */
  readonly entitlement?: Entitlement;
  /** Lets in callers who are nobody, whom `access` would refuse. */
  readonly isNobodyWelcome?: boolean;
  /** Lets in local callers, whom `access` would refuse. */
  readonly isForLocal?: boolean;
  /** Callers who are nobody are told where tokens for it are to be had. */
  readonly isForTools?: boolean;
}

/** Answers by status. */
export type ResponseShapes = Readonly<Record<number, ResponseShape>>;

interface EndpointHead extends Rights {
  /** Name of the operation in the API description. */
  readonly operationId: string;
  readonly method: Method;
  /** Below the base URL, as `/api/search`, `/api/user/api_keys/{id}`; `/browse/*rest` where it is not described. */
  readonly path: string;
  readonly tag: Tag;
  /** A few words. */
  readonly summary: string;
  /** Markdown. */
  readonly description?: string;
  /** Answers that are no errors, by status. */
  readonly responses: ResponseShapes;
  /** What the endpoint itself may refuse with; codes that follow from the rest are added (api/instance/error-codes.ts). */
  readonly errors?: readonly ErrorCode[];
}

interface EndpointFlags {
  /** Counts against the limit of concurrent searches. */
  readonly isSearch: boolean;
  /** Counts against the requests that a user has each day. */
  readonly isCounted: boolean;
  /** Is in the API description; false for what only our own pages use. */
  readonly isDescribed: boolean;
  /** A credential is looked at, although none is needed; it is never a reason to refuse. */
  readonly isCallerHeeded?: boolean;
  /** Pages of other origins may not ask, whoever the caller is. */
  readonly isForBrowsers?: boolean;
}

export interface Endpoint extends EndpointHead, EndpointFlags {
  readonly input: InputShape;
  readonly errors: readonly ErrorCode[];
  /**
   * Checks the input and returns the handler bound to it.
   * Errors: ApiError INVALID_REQUEST_BODY or INVALID_QUERY_PARAMS, naming the culprit; NOT_FOUND if the path
   * cannot be one of the endpoint's.
   */
  prepare(raw: RawInput): BoundHandler;
}

/** An endpoint as it is written down; flags are `isSearch` false, `isCounted` false, `isDescribed` true unless given. */
export interface EndpointShape<Shape extends InputShape>
  extends EndpointHead, Partial<EndpointFlags> {
  readonly input?: Shape;
  /** Code for a required query parameter that is missing; default: INVALID_QUERY_PARAMS. */
  readonly missingQueryCode?: ErrorCode;
}

/** An endpoint whose type still tells its schemas: what the pages (daemon/web) know of requests and answers. */
export interface TypedEndpoint<
  Shape extends InputShape = InputShape,
  Responses extends ResponseShapes = ResponseShapes,
> extends Endpoint {
  readonly input: Shape;
  readonly responses: Responses;
}

/** An endpoint of this shape. */
export function endpoint<Shape extends InputShape, Responses extends ResponseShapes>(
  { missingQueryCode, ...shape }: EndpointShape<Shape> & { readonly responses: Responses },
  handle: (input: Input<Shape>, context: CallContext) => Answer | Promise<Answer>,
): TypedEndpoint<Shape, Responses> {
  // Safety: a shape without input has the type of one that may have all.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const schemas = (shape.input ?? {}) as Shape;
  return {
    isSearch: false,
    isCounted: false,
    isDescribed: true,
    ...shape,
    errors: [
      ...(shape.errors ?? []),
      ...(missingQueryCode === undefined ? [] : [missingQueryCode]),
    ],
    input: schemas,
    prepare({ json, rawQuery, pathValues }) {
      const { path, body, query } = schemas;
      const parsed = {
        path: path && parsePath(path, pathValues),
        body: body && parseBody(body, json),
        query: query && parseQuery(query, rawQuery, missingQueryCode),
      };
      // Safety: each member was parsed by the schema that its type is taken from.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const input = parsed as Input<Shape>;
      return (context) => handle(input, context);
    },
  };
}

/** An answer with a value. */
export function answer(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers, content: { value } };
}

/** A 200 answer with a value. */
export function ok(value: unknown, headers?: Readonly<Record<string, string>>): Answer {
  return answer(200, value, headers);
}

/** An answer that is a response of the Fetch standard. */
export function fetched(response: Response): Answer {
  return { status: response.status, content: { response } };
}

/** A 204 answer. */
export function noContent(headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 204, headers, content: { nothing: true } };
}
