// Runs one request through a fixed order of checks to the answer; the first that fails decides. Steps as in API.md.

import type { BlockList } from 'node:net';
import type { Accounts } from '../accounts/accounts.ts';
import { actorOf } from '../accounts/audit-log.ts';
import type { Caller } from '../accounts/caller.ts';
import type { Ledger } from '../accounts/limits.ts';
import { SEES_NOTHING } from '../repos/repo-access.ts';
import type { Answer, BoundHandler, CallContext, Endpoint } from '../api/shapes/endpoint.ts';
import { ApiError, type ErrorCode, toApiError } from '../api/shapes/api-error.ts';
import type { EventStream, Services } from '../api/shapes/endpoint-services.ts';
import type { LazyBytes } from '../base/lazy-bytes.ts';
import type { Settings } from '../base/config/settings.ts';
import { isShortage, messageOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';
import { ClientGoneError, bodySize, isBodyStream, UNCOUNTED_SIZE_MAX } from './adapters/adapter.ts';
import type { HttpRequest, HttpResponse } from './adapters/adapter.ts';
import { type BodyWatch, fromFetchResponse, toFetchRequest } from './adapters/fetch.ts';
import {
  checkAuthentication,
  checkEntitlement,
  checkKeyUsage,
  checkOrigin,
  checkRole,
  checkStillCaller,
  countRequest,
  findCaller,
  findCallerAgain,
} from './access.ts';
import type { Access, AccessParts } from './access.ts';
import { Admission, type AdmissionBounds } from './admission.ts';
import { clientAddress, clientKeyOf, proxyList } from './client-address.ts';
import { isHostAllowed } from './binding.ts';
import { BUFFER_SIZE_MAX as STREAM_BUFFER_SIZE } from './adapters/pump.ts';
import { eventSizeMaxOf, safetyHeaders, toResponse, toStreamResponse } from './responses.ts';
import type { PlainAnswer } from './responses.ts';
import { accessOf, type Exchange, onOver } from './exchange.ts';
import { ExchangeCalls, acquirePermit, pauseOf } from './calls.ts';
import { readBufferedBody, readJson } from './request-body.ts';
import { MemoryBudget, noMemoryError, Reservation } from './adapters/memory-budget.ts';
import { newRequestId } from './request-id.ts';
import { ALL_METHODS, allowedMethods, type Found, type Route, Router } from './router.ts';
import { UNKNOWN_PAGE } from '../api/page/page-endpoints.ts';

export interface PipelineOptions {
  readonly endpoints: readonly Endpoint[];
  readonly services: Services;
  readonly settings: Settings;
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  readonly baseUrl: string;
  /** False: no daemon was ever at the base URL, which is a guess. */
  readonly hasPages: boolean;
  readonly hosts: ReadonlySet<string> | undefined;
  readonly version: string;
  readonly log: Log;
  /** Notified of the size of each answer once it is released. */
  readonly onAnswerOver?: ((size: number) => void) | undefined;
  /** Notified when a request has arrived (performance.now). */
  readonly onArrival?: ((request: HttpRequest, startMs: number) => void) | undefined;
  readonly onRequest?: ((request: EndedRequest) => void) | undefined;
}

/** A request that was answered; of a stream, to its end. */
export interface EndedRequest {
  /** Undefined: no endpoint was found. */
  readonly endpoint: Pick<Endpoint, 'method' | 'path'> | undefined;
  readonly status: number;
  readonly errorCode: ErrorCode | undefined;
  readonly durationMs: number;
  /** Of performance.now. */
  readonly endMs: number;
  readonly request: HttpRequest;
  readonly requestId: string;
}

function boundsOf(settings: Settings): AdmissionBounds {
  return {
    runningMax: settings.maxConcurrentSearches,
    waitingMax: settings.maxQueuedSearches,
    timeoutMs: settings.searchTimeoutMs,
  };
}

/** Logged for a request whose client went away; never sent. */
const CLIENT_GONE_STATUS = 499;

/** Characters kept of the client's name. */
const CLIENT_SOURCE_MAX = 64;

/** A search that took longer is answered only if its credential is still valid; a stream checks it before each event. */
const CHECKED_AGAIN_MS = 100;

const SHORTAGE_MESSAGE = 'The machine has run out of files, processes or memory.';
const UNEXPECTED_MESSAGE = 'An unexpected error occurred.';

export class Pipeline {
  readonly options: PipelineOptions;
  readonly router: Router;
  readonly admission: Admission;
  readonly memory: MemoryBudget;
  readonly accessParts: AccessParts;
  readonly #safetyHeaders: Readonly<Record<string, string>>;
  #proxies: BlockList | undefined;
  #isStopping = false;

  constructor(options: PipelineOptions) {
    this.options = options;
    this.router = new Router(options.endpoints, options.baseUrl);
    const { accounts, ledger, settings, baseUrl } = options;
    this.accessParts = {
      accounts,
      ledger,
      get rateLimit() {
        return options.settings.rateLimit;
      },
      baseUrl,
    };
    this.admission = new Admission(boundsOf(settings));
    this.#safetyHeaders = safetyHeaders(options.baseUrl);
    this.memory = new MemoryBudget(settings.memory);
    this.#proxies = proxyList(settings.trustedProxies);
  }

  /** Running and queued searches are not affected, nor are reserved bytes. */
  applySettings(): void {
    const { settings } = this.options;
    this.admission.setBounds(boundsOf(settings));
    this.memory.setSize(settings.memory);
    this.#proxies = proxyList(settings.trustedProxies);
  }

  stop(): void {
    this.#isStopping = true;
  }

  /**
   * Never rejects. A stream or large answer is logged when it ends.
   * @param operator  the caller, if it came through the control socket
   */
  async handle(request: HttpRequest, operator?: Caller): Promise<HttpResponse> {
    const requestId = newRequestId(request.headers.get('x-request-id'));
    const exchange: Exchange = {
      request,
      operator,
      method: request.method === 'HEAD' ? 'GET' : request.method,
      requestId,
      startMs: performance.now(),
      address: clientAddress(request, this.#proxies),
      answerHeaders: { ...this.#safetyHeaders, 'X-Request-Id': requestId },
      ends: [],
    };
    this.options.onArrival?.(request, exchange.startMs);
    const response = await this.#respond(exchange);
    const { status, body } = response;
    if (isBodyStream(body)) return response;
    const endMs = performance.now();
    const note = (): void => {
      const sent = request.signal.aborted ? CLIENT_GONE_STATUS : status;
      this.#noteRequest(exchange, sent, bodySize(body), endMs);
    };
    const { reservation, ends } = exchange;
    if (reservation === undefined && ends.length === 0) {
      // The answer is sent before its line is formatted.
      if (this.options.onRequest !== undefined || this.options.log.isEnabled('info'))
        process.nextTick(note);
      exchange.isOver = true;
      this.options.onAnswerOver?.(0);
      return response;
    }
    const onSent = (): void => {
      this.#end(exchange);
      note();
    };
    return { ...response, clientKey: clientKeyOf(exchange), onOver: onSent };
  }

  #end(exchange: Exchange): void {
    const { reservation, ends } = exchange;
    exchange.isOver = true;
    const size = reservation?.size ?? 0;
    reservation?.release();
    for (const end of ends) end();
    this.options.onAnswerOver?.(size);
  }

  /** Reserved until the response ends. Errors: SERVER_OVERLOADED; ClientGoneError if it has ended. */
  #takeMemory(exchange: Exchange, size: number): void {
    // Bytes reserved now would never be released.
    if (exchange.isOver === true) throw new ClientGoneError();
    exchange.reservation ??= new Reservation(this.memory, clientKeyOf(exchange));
    if (!exchange.reservation.grow(size)) throw noMemoryError();
  }

  context(exchange: Exchange): CallContext {
    const { request, caller } = exchange;
    const { baseUrl, hasPages, services, settings, version, accounts, ledger } = this.options;
    const clientSource = request.headers
      .get('x-service-client-source')
      ?.slice(0, CLIENT_SOURCE_MAX);
    return {
      baseUrl,
      hasPages,
      caller,
      clientKey: clientKeyOf(exchange),
      requestId: exchange.requestId,
      repoAccess: caller?.repoAccess ?? SEES_NOTHING,
      contexts: accounts.contexts,
      actor: actorOf(caller, clientSource),
      address: exchange.address,
      accounts,
      ledger,
      services,
      settings,
      signal: request.signal,
      permit: exchange.permit,
      calls: new ExchangeCalls(this, exchange),
      fetchRequest: () => {
        const readBody = () => readBufferedBody(this, exchange);
        return toFetchRequest(request, baseUrl, readBody, (end) => onOver(exchange, end));
      },
      takeMemory: (size) => this.#takeMemory(exchange, size),
      memory: {
        tryTake: (size) => this.memory.tryTake(clientKeyOf(exchange), size),
        onOver: (end) => onOver(exchange, end),
      },
      eventSizeMax: eventSizeMaxOf(request),
      isStopping: this.#isStopping,
      version,
    };
  }

  async #respond(exchange: Exchange): Promise<HttpResponse> {
    const common = exchange.answerHeaders;
    try {
      const result = await this.#answer(exchange);
      if (!('content' in result)) return { ...result, headers: { ...common, ...result.headers } };
      const { content } = result;
      if ('events' in content) return this.#stream(content.events, exchange, common);
      if ('response' in content) return this.#passOn(content.response, exchange, common);
      return await this.#reserve(exchange, { ...result, content });
    } catch (error) {
      exchange.reservation?.shrinkTo(0);
      if (isClientGone(error, exchange.request)) {
        return { status: CLIENT_GONE_STATUS, headers: common, body: undefined };
      }
      const answer = this.#toErrorAnswer(error, exchange);
      return await toResponse(answer, exchange.request, common);
    }
  }

  /** The memory of the answer is reserved until the response ends. Errors: SERVER_OVERLOADED. */
  async #reserve(exchange: Exchange, answer: PlainAnswer): Promise<HttpResponse> {
    const { request, answerHeaders, ends } = exchange;
    const { content } = answer;
    if ('json' in content && !(content.json instanceof Uint8Array)) {
      const { json } = content;
      ends.push(() => json.release?.());
    }
    // Encoding the answer briefly needs its size again.
    const clientKey = clientKeyOf(exchange);
    const tryTake = (size: number) => this.memory.tryTake(clientKey, size);
    const response = await toResponse(answer, request, answerHeaders, { clientKey, tryTake });
    const { body } = response;
    if ('asset' in content || body === undefined || isBodyStream(body)) return response;
    const size = memorySizeOf(content, body);
    const reserved = exchange.reservation?.size ?? 0;
    if (size < reserved) exchange.reservation?.shrinkTo(size);
    else if (size > UNCOUNTED_SIZE_MAX) this.#takeMemory(exchange, size - reserved);
    const isLong = performance.now() - exchange.startMs > CHECKED_AGAIN_MS;
    if (isLong && exchange.endpoint?.isSearch === true)
      await checkStillCaller(this.accessParts, accessOf(exchange));
    return response;
  }

  #stream(
    events: EventStream,
    exchange: Exchange,
    common: Readonly<Record<string, string>>,
  ): HttpResponse {
    const { request } = exchange;
    try {
      this.#takeMemory(exchange, STREAM_BUFFER_SIZE);
      return toStreamResponse(events, request, common, {
        ...this.#watch(exchange, 200),
        toErrorObject: (error) => this.#toApiError(error, exchange).toObject(),
        onSearchEnd: () => exchange.permit?.release(),
      });
    } catch (error) {
      events.close();
      exchange.permit?.release();
      throw error;
    }
  }

  #passOn(
    response: Response,
    exchange: Exchange,
    common: Readonly<Record<string, string>>,
  ): HttpResponse {
    return fromFetchResponse(response, exchange.request.method === 'HEAD', common, {
      ...this.#watch(exchange, response.status),
      onFault: (error) => void this.#toApiError(error, exchange),
    });
  }

  #watch(exchange: Exchange, status: number): Pick<BodyWatch, 'checkRights' | 'onClose'> {
    return {
      checkRights: () => checkStillCaller(this.accessParts, accessOf(exchange)),
      onClose: (sentSize) => {
        this.#end(exchange);
        const sent = exchange.request.signal.aborted ? CLIENT_GONE_STATUS : status;
        this.#noteRequest(exchange, sent, sentSize, performance.now());
      },
    };
  }

  /** Releases the search's permit, unless its answer is a stream, which keeps it to its end. */
  async #answer(exchange: Exchange): Promise<Answer | HttpResponse> {
    let isStream = false;
    try {
      const result = await this.#runSteps(exchange);
      isStream = 'content' in result && 'events' in result.content;
      return result;
    } finally {
      if (!isStream) exchange.permit?.release();
    }
  }

  /** The first step that answers, or refuses by an error, ends the request. Numbers as in API.md 2.5. */
  async #runSteps(exchange: Exchange): Promise<Answer | HttpResponse> {
    const { accessParts } = this;
    if (exchange.request.fault !== undefined) throw exchange.request.fault;
    checkHost(this, exchange); // 1
    const early = findRoute(this, exchange) ?? findEndpoint(exchange); // 2 and 3
    if (early !== undefined) return early;
    const access = accessOf(exchange);
    await findCaller(accessParts, access); // 4
    await countRequest(accessParts, access); // 5
    checkOrigin(accessParts, access); // 6
    checkKeyUsage(accessParts, access); // 7
    checkEntitlement(accessParts, access); // 8
    const handle = await readInput(this, access); // 9
    checkAuthentication(accessParts, access); // 10
    checkRole(access); // 11
    if (access.endpoint.isSearch) exchange.permit = await acquirePermit(this, exchange); // 12
    await this.#waitForTimeSlice(access);
    return await handle(this.context(exchange)); // 13
  }

  async #waitForTimeSlice(access: Exchange & Access): Promise<void> {
    const { isCounted, isSearch, input } = access.endpoint;
    const pause = isCounted ? pauseOf(access) : undefined;
    if (pause !== undefined) await pause;
    // For its time slice, its body or a permit.
    const hasWaited = pause !== undefined || input.body !== undefined || isSearch;
    if (hasWaited) await findCallerAgain(this.accessParts, access);
  }

  #toApiError(error: unknown, exchange: Exchange): ApiError {
    const refusal = toApiError(error);
    const apiError = refusal ?? this.#faultOf(error, exchange);
    // A file above `maxSourceBytes` has the code of a fault, but is none.
    if (refusal?.errorCode !== 'UNEXPECTED_ERROR') exchange.errorCode = apiError.errorCode;
    return apiError;
  }

  #faultOf(error: unknown, { request, requestId, operator }: Exchange): ApiError {
    // An error after the client went away is a consequence of that.
    if (!request.signal.aborted)
      this.options.log.error('request failed unexpectedly', { requestId, error });
    if (isShortage(error)) return new ApiError('SERVER_OVERLOADED', SHORTAGE_MESSAGE);
    // The operator may read any log.
    const message = operator === undefined ? UNEXPECTED_MESSAGE : messageOf(error);
    return new ApiError('UNEXPECTED_ERROR', message);
  }

  #toErrorAnswer(error: unknown, exchange: Exchange): PlainAnswer {
    const apiError = this.#toApiError(error, exchange);
    return {
      status: apiError.statusCode,
      headers: apiError.headers,
      content: { value: apiError.toObject() },
    };
  }

  #noteRequest(exchange: Exchange, status: number, bytes: number, endMs: number): void {
    const { request, route, requestId, startMs, caller, address, endpoint, errorCode } = exchange;
    const ended = { endpoint, status, errorCode, endMs, request, requestId };
    this.options.onRequest?.({ ...ended, durationMs: endMs - startMs });
    this.options.log.info('request', {
      requestId,
      method: request.method,
      route: route === undefined ? 'none' : request.path,
      status,
      durationMs: Math.round((endMs - startMs) * 1000) / 1000,
      source: caller?.source ?? 'none',
      ...(caller?.person === undefined ? {} : { userId: caller.person.id }),
      address,
      bytes,
    });
  }
}

function checkHost({ options }: Pipeline, { request, operator }: Exchange): void {
  if (operator !== undefined || isHostAllowed(options.hosts, request.headers.get('host'))) return;
  throw new ApiError('HOST_NOT_ALLOWED', 'This host name is not served.');
}

/** Undefined: the route is found. */
function findRoute({ router }: Pipeline, exchange: Exchange): HttpResponse | undefined {
  const { method, path: sent } = exchange.request;
  // A command does not know the base URL.
  const path = exchange.operator === undefined ? sent : router.prefix + sent;
  if (method === 'OPTIONS' && path === '*')
    return { status: 204, headers: { Allow: ALL_METHODS }, body: undefined };
  const { prefix } = router;
  const isBelow = prefix === '' || path === prefix || path.startsWith(`${prefix}/`);
  const found = router.find(path) ?? (isBelow ? unknownPage(exchange) : undefined);
  if (found === undefined)
    throw new ApiError('NOT_FOUND', isBelow ? unknownText(prefix, path) : outsideText(prefix));
  exchange.route = found.route;
  exchange.pathValues = found.pathValues;
  return undefined;
}

function unknownText(prefix: string, path: string): string {
  const text = path.length <= 200 ? path : `${path.slice(0, 200)}...`;
  return `Not found: ${text}. GET ${prefix}/api/openapi.json lists all paths.`;
}

/** Plain text: behind a proxy that strips the prefix, a page could load none of its files. */
function outsideText(prefix: string): string {
  return `Not found: paths begin with ${prefix} here, as the base URL says. A proxy has to pass them on unchanged.`;
}

const UNKNOWN: Found = {
  route: new Map([[UNKNOWN_PAGE.method, UNKNOWN_PAGE]]),
  pathValues: { unknown: '' },
};

/** People who follow a wrong link get a page; programs and requests below /api/ get the error. */
function unknownPage({ method, request }: Exchange): Found | undefined {
  const isForPeople = request.headers.get('accept')?.includes('text/html') === true;
  return method === 'GET' && isForPeople && !/\/api(\/|$)/.test(request.path) ? UNKNOWN : undefined;
}

/** Undefined: the endpoint is found. */
function findEndpoint(exchange: Exchange): HttpResponse | undefined {
  const { method } = exchange;
  const route: Route = exchange.route ?? new Map();
  const endpoint = route.get(method);
  if (endpoint !== undefined) {
    exchange.endpoint = endpoint;
    return undefined;
  }
  const headers = { Allow: allowedMethods(route) };
  if (method === 'OPTIONS') return { status: 204, headers, body: undefined };
  throw new ApiError(
    'METHOD_NOT_ALLOWED',
    `Method ${method} is not allowed here, only ${headers.Allow}.`,
    headers,
  );
}

async function readInput(pipeline: Pipeline, exchange: Exchange & Access): Promise<BoundHandler> {
  const { request, endpoint, pathValues = {} } = exchange;
  const json = endpoint.input.body === undefined ? undefined : await readJson(pipeline, exchange);
  const isOperator = exchange.operator !== undefined;
  const { rawQuery } = request;
  const handle = endpoint.prepare({ json, rawQuery, pathValues, isOperator });
  if (endpoint.isSearch && pipeline.options.log.isEnabled('debug'))
    logSearch(pipeline, exchange, json);
  return handle;
}

/** Logs the search before it runs, so that one that never ends can be found. */
function logSearch({ options }: Pipeline, { request, requestId }: Exchange, json: unknown): void {
  const logged = JSON.stringify({ body: json }).slice(0, 4096);
  options.log.debug('search', { requestId, route: request.path, body: logged });
}

function memorySizeOf(content: PlainAnswer['content'], body: Uint8Array | LazyBytes): number {
  if ('bytes' in content) return content.memorySize;
  return body instanceof Uint8Array ? body.byteLength : body.memorySize;
}

function isClientGone(error: unknown, request: HttpRequest): boolean {
  return error instanceof ClientGoneError || request.signal.aborted;
}
