// An endpoint: address, access, schemas, handler. The HTTP layer and the API description know it only through this
// file.

import type { z } from 'zod';
import type { Cancellation } from '../../base/cancellation.ts';
import type { Settings } from '../../base/config/settings.ts';
import type { Asset } from './asset.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import type { Actor } from '../../accounts/audit-log.ts';
import type { Caller } from '../../accounts/caller.ts';
import type { Entitlement } from '../../accounts/licence.ts';
import type { Ledger } from '../../accounts/limits.ts';
import type { SearchContexts } from '../../repos/search-context.ts';
import type { RepoAccess } from '../../repos/repo-access.ts';
import type { SearchPermit } from '../../base/search-permit.ts';
import type { ErrorCode } from './api-error.ts';
import { checkPageSize, parseBody, parsePath, parseQuery } from './input.ts';
import type { ReaderMemory } from '../../sources/reading/shared-contents.ts';
import type { LazyBytes } from '../../base/lazy-bytes.ts';
import type { EventStream, Services } from './endpoint-services.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/**
 * `none`: credentials are ignored; `opt`: anybody; `user`: any account; `session`: a browser session; `key`: an API
 * key; `owner`: the owner role, but no scoped token; `operator`: a command on this machine.
 */
export type Access = 'none' | 'opt' | 'user' | 'session' | 'key' | 'owner' | 'operator';

export type Tag =
  | 'Search & Navigation'
  | 'Repositories'
  | 'Connections'
  | 'Git'
  | 'Scoped Access Tokens'
  | 'Enterprise'
  | 'System';

/** The status and headers of a Fetch response apply; its bytes are sent unchanged. */
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

/** Bytes with their own content type, only for this caller. */
export interface TypedBytes {
  readonly bytes: Uint8Array;
  readonly contentType: string;
  /** Bytes of memory that are not counted yet. */
  readonly memorySize: number;
}

/** The checks for a handler that makes several calls per request, such as a batch of tool calls. */
export interface Calls {
  /** Counts one call of the caller, and waits for its time slice. Errors: API_RATE_LIMIT_EXCEEDED; NOT_READY. */
  count(): Promise<void>;
  /** Released at the latest when the response ends. Errors: SERVER_OVERLOADED; ClientGoneError if it has ended. */
  admit(): Promise<ReleasablePermit>;
  /** Errors: INSUFFICIENT_PERMISSIONS; NOT_AUTHENTICATED. */
  require(rights: Rights): void;
}

export interface ReleasablePermit extends SearchPermit {
  /** Further calls do nothing. */
  release(): void;
}

export interface CallContext {
  readonly baseUrl: string;
  /** Whether pages are served at the base URL; false: a process without an address. */
  readonly hasPages: boolean;
  readonly caller: Caller | undefined;
  /** The key for time slices, permits and bytes: a user, or an address. */
  readonly clientKey: string;
  readonly requestId: string;
  /** What the caller sees; nothing without a caller. */
  readonly repoAccess: RepoAccess;
  /** Contexts that queries may name; none without the entitlement. */
  readonly contexts: SearchContexts;
  /** The actor in audit records; undefined: nothing is recorded. */
  readonly actor: Actor | undefined;
  readonly address: string;
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  readonly services: Services;
  readonly settings: Settings;
  /** Aborted when the client goes away. */
  readonly signal: Cancellation;
  readonly permit: SearchPermit | undefined;
  readonly calls: Calls;
  /** The request in Fetch form, for libraries; only for endpoints without `input.body`. */
  readonly fetchRequest: () => Request;
  /** Reserves bytes until the response ends. Errors: SERVER_OVERLOADED; ClientGoneError. */
  readonly takeMemory: (size: number) => void;
  readonly memory: ReaderMemory;
  /** Limit for an event of a stream in bytes of JSON, in the accepted format. */
  readonly eventSizeMax: number;
  readonly isStopping: boolean;
  readonly version: string;
}

export interface RawInput {
  readonly json: unknown;
  readonly rawQuery: string;
  /** The caller is the operator, who may have longer pages. */
  readonly isOperator: boolean;
  readonly pathValues: Readonly<Record<string, string>>;
}

export type BoundHandler = (context: CallContext) => Answer | Promise<Answer>;

/** Schemas of the input; a part without a schema is ignored. */
export interface InputShape {
  /** One member for each path parameter. */
  readonly path?: z.ZodObject;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodType;
}

type Parsed<Schema> = Schema extends z.ZodType ? z.output<Schema> : undefined;

export interface Input<Shape extends InputShape> {
  readonly path: Parsed<Shape['path']>;
  readonly query: Parsed<Shape['query']>;
  readonly body: Parsed<Shape['body']>;
}

/** A response header, besides those that follow from the endpoint. */
export interface HeaderShape {
  readonly description: string;
  /** `integer`: a decimal integer of at least 0. */
  readonly type: 'string' | 'integer';
  readonly isRequired?: boolean;
}

export interface ResponseShape {
  readonly description?: string;
  /** Of the body, or of an event of a stream. Absent: no body. */
  readonly body?: z.ZodType;
  /** Default: JSON, or MessagePack if the client accepts it. */
  readonly contentTypes?: readonly string[];
  readonly headers?: Readonly<Record<string, HeaderShape>>;
}

export interface Rights {
  readonly access: Access;
  /** Refused if the licence lacks it. */
  readonly entitlement?: Entitlement;
  /** Admits anonymous callers, whom `access` would refuse. */
  readonly allowsAnonymous?: boolean;
  /** Admits local callers, whom `access` would refuse. */
  readonly isForLocal?: boolean;
  /** Admits the operator, whom `access` would refuse. */
  readonly isForOperator?: boolean;
  /** Anonymous callers get a WWW-Authenticate header naming the authorization server. */
  readonly isForTools?: boolean;
}

export type ResponseShapes = Readonly<Record<number, ResponseShape>>;

interface Description {
  readonly operationId: string;
  readonly tag: Tag;
  readonly summary: string;
}

interface EndpointHead extends Rights {
  readonly method: Method;
  /** Below the base URL, such as `/api/search`, `/api/user/api_keys/{id}`; `/browse/*rest` if it is not described. */
  readonly path: string;
  /** Markdown. */
  readonly description?: string;
  readonly responses: ResponseShapes;
  /** Error codes of the endpoint itself; others follow from the checks (api/instance/openapi-responses.ts). */
  readonly errors?: readonly ErrorCode[];
}

interface EndpointFlags {
  readonly isSearch: boolean;
  /** Counts against the daily request limit of the user. */
  readonly isCounted: boolean;
  /** Part of the API description; false for endpoints that only our own pages and commands use. */
  readonly isDescribed: boolean;
  /** A credential is used if there is one, but an invalid one is never refused. */
  readonly usesOptionalCredential?: boolean;
  /** Refuses pages of other origins, whoever the caller is. */
  readonly requiresSameOrigin?: boolean;
  /** Bytes; shared by one caller's bodies. Default: the setting `maxRequestBodyBytes`, and 64 KiB without a caller. */
  readonly bodySizeMax?: number;
}

export interface Endpoint extends Description, EndpointHead, EndpointFlags {
  readonly input: InputShape;
  readonly errors: readonly ErrorCode[];
  /**
   * Validates the input and returns the bound handler. Errors: INVALID_REQUEST_BODY or INVALID_QUERY_PARAMS, naming the
   * culprit; NOT_FOUND if the path cannot be one of the endpoint's.
   */
  prepare(raw: RawInput): BoundHandler;
}

/** The definition of an endpoint; defaults are `isSearch` false, `isCounted` false, `isDescribed` true. */
export type EndpointShape<Shape extends InputShape> = EndpointHead &
  Partial<EndpointFlags> & {
    readonly input?: Shape;
    /** Code for a required query parameter that is missing; default: INVALID_QUERY_PARAMS. */
    readonly missingQueryCode?: ErrorCode;
  } & (
    | (Description & { readonly isDescribed?: true })
    | (Partial<Description> & { readonly isDescribed: false })
  );

/** An endpoint with the types of its schemas, which the page (daemon/web) uses for requests and answers. */
export interface TypedEndpoint<
  Shape extends InputShape = InputShape,
  Responses extends ResponseShapes = ResponseShapes,
> extends Endpoint {
  readonly input: Shape;
  readonly responses: Responses;
}

/** Parsed answer of an endpoint: the body of a 200, 201 or 202. */
export type AnswerOf<E extends TypedEndpoint> = {
  [Status in keyof E['responses']]: Status extends 200 | 201 | 202
    ? E['responses'][Status] extends { readonly body: infer Body extends z.ZodType }
      ? z.output<Body>
      : undefined
    : never;
}[keyof E['responses']];

export type BodyOf<E extends TypedEndpoint> = E['input'] extends {
  readonly body: infer Body extends z.ZodType;
}
  ? z.input<Body>
  : undefined;

export function endpoint<Shape extends InputShape, Responses extends ResponseShapes>(
  { missingQueryCode, ...shape }: EndpointShape<Shape> & { readonly responses: Responses },
  handle: (input: Input<Shape>, context: CallContext) => Answer | Promise<Answer>,
): TypedEndpoint<Shape, Responses> {
  // Safety: a shape without input has the type of one that may have all.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const schemas = (shape.input ?? {}) as Shape;
  return {
    operationId: `${shape.method} ${shape.path}`,
    tag: 'System',
    summary: shape.path,
    isSearch: false,
    isCounted: false,
    isDescribed: true,
    ...shape,
    errors: [
      ...(shape.errors ?? []),
      ...(missingQueryCode === undefined ? [] : [missingQueryCode]),
    ],
    input: schemas,
    prepare({ json, rawQuery, pathValues, isOperator }) {
      const { path, body, query } = schemas;
      const parsed = {
        path: path && parsePath(path, pathValues),
        body: body && parseBody(body, json),
        query: query && parseQuery(query, rawQuery, missingQueryCode),
      };
      checkPageSize(parsed.query, isOperator);
      // Safety: each member was parsed by the schema that its type is taken from.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      const input = parsed as Input<Shape>;
      return (context) => handle(input, context);
    },
  };
}

export function answer(
  status: number,
  value: unknown,
  headers: Readonly<Record<string, string>> = {},
): Answer {
  return { status, headers, content: { value } };
}

export function ok(value: unknown, headers?: Readonly<Record<string, string>>): Answer {
  return answer(200, value, headers);
}

export function fetched(response: Response): Answer {
  return { status: response.status, content: { response } };
}

export function noContent(headers: Readonly<Record<string, string>> = {}): Answer {
  return { status: 204, headers, content: { nothing: true } };
}
