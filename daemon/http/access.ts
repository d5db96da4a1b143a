// Checks on the caller: steps 4 to 8, 10 and 11 of the pipeline. Each refuses by an error and records what it finds.

import type { Accounts } from '../accounts/accounts.ts';
import { hasOwnerRole, isFromBrowser, isProgrammatic, type Caller } from '../accounts/caller.ts';
import type { ProvenRequest } from '../accounts/oauth/proofs.ts';
import type { Endpoint, Rights } from '../api/shapes/endpoint.ts';
import { ApiError } from '../api/shapes/api-error.ts';
import { ownOrigins } from '../api/shapes/own-origins.ts';
import type { Settings } from '../base/config/settings.ts';
import { type MaybePromise, thenDo } from '../base/maybe-promise.ts';
import {
  type Decision,
  type Ledger,
  limitOf,
  RATE_LIMIT_HEADERS,
  rateLimitHeaders,
  refusalMessage,
  retryAfterSeconds,
} from '../accounts/limits.ts';
import type { HttpRequest } from './adapters/adapter.ts';
import { isAtThisMachine } from './binding.ts';
import { toolServerChallenge } from '../api/oauth/addresses.ts';

export interface Access {
  readonly request: HttpRequest;
  readonly endpoint: Endpoint;
  readonly address: string;
  caller?: Caller | undefined;
  /** The caller of a request through the control socket; no credential is read. */
  readonly operator?: Caller | undefined;
  /** Finds the caller in the store as it is now; undefined: no lookup is needed. */
  callerFinder?: CallerFinder;
  readonly answerHeaders: Record<string, string>;
}

export interface AccessParts {
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  readonly rateLimit: Settings['rateLimit'];
  /** Without trailing slash. */
  readonly baseUrl: string;
}

/** A call to check: the request itself, or a call that its handler makes. */
export interface CheckedCall {
  readonly endpoint: Rights;
  readonly caller?: Caller | undefined;
}

type CallerFinder = () => MaybePromise<Caller | undefined>;

/** Step 4. Errors: NOT_READY if the store is needed and cannot be reached. */
export function findCaller(parts: AccessParts, access: Access): MaybePromise<void> {
  const { accounts, baseUrl } = parts;
  const { endpoint, request, operator } = access;
  if (operator !== undefined) {
    access.caller = operator;
    access.callerFinder = () => operator;
    return undefined;
  }
  if (endpoint.access === 'none' && endpoint.usesOptionalCredential !== true) return undefined;
  const finder = accounts.callers.finder(
    request.headers,
    () => provenRequest(baseUrl, request),
    () => isAtThisMachine(request),
  );
  if (endpoint.access === 'none') access.callerFinder = () => callerOrAnonymous(finder);
  // Why: a tool client renews or reports what is refused; as a guest it would go on and miss repositories.
  else if (endpoint.isForTools === true && accounts.callers.hasPresented(request.headers))
    access.callerFinder = () => thenDo(finder(), unlessAnonymous);
  else access.callerFinder = finder;
  return thenDo(access.callerFinder(), (caller) => noteCaller(accounts, access, caller));
}

function unlessAnonymous(caller: Caller | undefined): Caller | undefined {
  return caller?.person === undefined ? undefined : caller;
}

/** A failed lookup counts as anonymous where the endpoint needs no caller. */
async function callerOrAnonymous(finder: CallerFinder): Promise<Caller | undefined> {
  try {
    return await finder();
  } catch {
    return undefined;
  }
}

/**
 * Repeats the checks on the caller if the request has waited since step 4. Errors: those of steps 4, 6 to 8, 10, 11.
 */
export function findCallerAgain(parts: AccessParts, access: Access): MaybePromise<void> {
  return thenDo(access.callerFinder?.(), (caller) => checkAgain(parts, access, caller));
}

function checkAgain(parts: AccessParts, access: Access, caller: Caller | undefined): void {
  const wasPerson = access.caller?.person?.id;
  access.caller = caller;
  // An answer about one person never goes to another.
  if (wasPerson !== caller?.person?.id)
    for (const name of [...RATE_LIMIT_HEADERS, 'Set-Cookie']) delete access.answerHeaders[name];
  checkOrigin(parts, access);
  checkKeyUsage(parts, access);
  checkRights(parts, access);
}

export function checkRights(parts: AccessParts, call: CheckedCall): void {
  checkEntitlement(parts, call);
  checkAuthentication(parts, call);
  checkRole(call);
}

/**
 * Checks the credential during a streamed answer, and before a late one; repositories hidden since the start are not checked (API.md 4.7).
 * Errors: as `findCallerAgain`; NOT_AUTHENTICATED also if the credential now belongs to somebody else.
 */
export function checkStillCaller(parts: AccessParts, access: Access): MaybePromise<void> {
  const now: Access = { ...access };
  return thenDo(findCallerAgain(parts, now), () => checkSameCaller(access, now));
}

function checkSameCaller({ caller: before }: Access, { caller: now }: Access): void {
  const isSame =
    before?.source === now?.source &&
    before?.person?.id === now?.person?.id &&
    before?.credentialId === now?.credentialId &&
    before?.sessionHash === now?.sessionHash;
  if (!isSame) throw new ApiError('NOT_AUTHENTICATED', 'The credential is no longer valid.');
}

function noteCaller(
  accounts: Accounts,
  access: Access,
  caller: Caller | undefined,
): MaybePromise<void> {
  access.caller = caller;
  if (access.endpoint.access === 'none') return undefined;
  if (caller?.source === 'session' && caller.person !== undefined)
    accounts.signIn.noteKnownAddress(caller.person, access.address);
  if (caller?.source !== 'session' || !accounts.callers.needsRenewal(caller)) return undefined;
  return renewSession(accounts, access, caller);
}

async function renewSession(
  accounts: Accounts,
  { request, answerHeaders }: Access,
  caller: Caller,
): Promise<void> {
  const cookie = await accounts.callers.renewed(caller, request.headers);
  if (cookie !== undefined) answerHeaders['Set-Cookie'] = cookie;
}

/** Step 5: counts the request and adds the rate limit headers. Errors: those of `countCall`. */
export function countRequest(parts: AccessParts, access: Access): MaybePromise<void> {
  if (!access.endpoint.isCounted) return undefined;
  return thenDo(takeCall(parts, access.caller), (decision) => apply(decision, parts, access));
}

function apply(
  decision: Decision | undefined,
  parts: AccessParts,
  { answerHeaders }: Access,
): void {
  if (decision === undefined) return;
  Object.assign(answerHeaders, rateLimitHeaders(decision));
  if (!decision.admitted) throw limitReached(parts, decision);
}

/** Counts one call of a caller who has a limit. Errors: API_RATE_LIMIT_EXCEEDED; NOT_READY. */
export async function countCall(parts: AccessParts, caller: Caller | undefined): Promise<void> {
  const decision = await takeCall(parts, caller);
  if (decision?.admitted === false) throw limitReached(parts, decision);
}

/** Undefined: the caller has no limit. */
function takeCall(
  { ledger, accounts, rateLimit }: AccessParts,
  caller: Caller | undefined,
): MaybePromise<Decision | undefined> {
  if (caller?.person === undefined || !isProgrammatic(caller)) return undefined;
  const limit = limitOf(caller.person.requestsPerDay, rateLimit.requestsPerDay);
  return limit === null ? undefined : ledger.take(caller.person.id, limit, accounts.now());
}

function limitReached({ rateLimit, accounts }: AccessParts, decision: Decision): ApiError {
  return new ApiError('API_RATE_LIMIT_EXCEEDED', refusalMessage(decision, rateLimit.contact), {
    'Retry-After': String(retryAfterSeconds(decision, accounts.now())),
  });
}

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** Step 6: an unsafe request of a browser must come from our own pages. Errors: CROSS_ORIGIN_REQUEST. */
export function checkOrigin({ baseUrl }: AccessParts, { request, endpoint, caller }: Access): void {
  if (SAFE_METHODS.has(request.method)) return;
  const isSession = caller !== undefined && isFromBrowser(caller);
  if (!isSession && endpoint.requiresSameOrigin !== true) return;
  const origin = request.headers.get('origin');
  // Without a cookie the browser adds no credential, so only a page that names another origin is refused.
  const isOwn =
    origin === undefined
      ? caller?.source !== 'session' || request.headers.get('sec-fetch-site') === 'same-origin'
      : ownOrigins(baseUrl, request.headers.get('host')).includes(origin);
  if (isOwn) return;
  throw new ApiError('CROSS_ORIGIN_REQUEST', originRefusal(origin, baseUrl));
}

function originRefusal(origin: string | undefined, baseUrl: string): string {
  const own = new URL(baseUrl).origin;
  return origin === undefined
    ? `A request with a session cookie must name its origin: add "Origin: ${own}", or use an API key.`
    : `This request comes from a page of ${origin.slice(0, 200)}, not of ${own}.`;
}

/** The request that the proof of an OAuth token must match. */
function provenRequest(
  baseUrl: string,
  request: Pick<HttpRequest, 'method' | 'path' | 'headers'>,
): ProvenRequest {
  const { method, path } = request;
  return { method, path, origins: ownOrigins(baseUrl, request.headers.get('host')) };
}

/** Step 7. Errors: API_KEY_USAGE_DISABLED; NOT_READY if the settings cannot be read. */
export function checkKeyUsage({ accounts }: AccessParts, { caller, endpoint }: Access): void {
  if (endpoint.access === 'none') return;
  if (caller?.source !== 'api_key' || caller.role === 'OWNER') return;
  if (accounts.settings.mayMembers('apiKeyUsage')) return;
  throw new ApiError('API_KEY_USAGE_DISABLED', 'Only API keys of owners are accepted here.');
}

/** Step 8. Errors: INSUFFICIENT_PERMISSIONS naming the entitlement. */
export function checkEntitlement(
  { accounts }: AccessParts,
  { endpoint, caller }: CheckedCall,
): void {
  const { entitlement } = endpoint;
  if (caller?.source === 'operator') return;
  if (entitlement === undefined || accounts.isEntitled(entitlement)) return;
  throw new ApiError(
    'INSUFFICIENT_PERMISSIONS',
    `This requires a licence with the entitlement "${entitlement}".`,
  );
}

/** Step 10. Errors: NOT_AUTHENTICATED. */
export function checkAuthentication(parts: AccessParts, { endpoint, caller }: CheckedCall): void {
  if (isAuthenticated(endpoint, caller)) return;
  const { accounts, baseUrl } = parts;
  const isChallenged = endpoint.isForTools === true && accounts.isEntitled('oauth');
  throw new ApiError(
    'NOT_AUTHENTICATED',
    'Authentication is required.',
    isChallenged ? { 'WWW-Authenticate': toolServerChallenge(baseUrl) } : {},
  );
}

function isAuthenticated(endpoint: Rights, caller: Caller | undefined): boolean {
  const { access, allowsAnonymous } = endpoint;
  if (access === 'none' || allowsAnonymous === true) return true;
  if (caller === undefined) return false;
  if (access === 'opt') return true;
  return caller.person !== undefined || isAllowedApart(endpoint, caller);
}

function isAllowedApart(rights: Rights, caller: Caller | undefined): boolean {
  const { access, isForOperator, isForLocal } = rights;
  if (caller?.source === 'local') return isForLocal === true;
  if (caller?.source !== 'operator') return false;
  return access === 'owner' || access === 'operator' || isForOperator === true;
}

/** Step 11: the kind of credential, and the role. Errors: INSUFFICIENT_PERMISSIONS. */
export function checkRole({ endpoint, caller }: CheckedCall): void {
  const refusal = refusalOf(endpoint, caller);
  if (refusal !== undefined) throw new ApiError('INSUFFICIENT_PERMISSIONS', refusal);
}

function refusalOf(endpoint: Rights, caller: Caller | undefined): string | undefined {
  if (isAllowedApart(endpoint, caller)) return undefined;
  switch (endpoint.access) {
    case 'owner':
      if (caller?.source === 'scoped_access_token') return 'A scoped access token cannot do this.';
      return hasOwnerRole(caller) ? undefined : 'This requires the role OWNER.';
    case 'operator':
      return 'Only a command on the machine of the data directory can do this.';
    case 'session':
      return caller?.source === 'session' ? undefined : 'This requires a browser session.';
    case 'key':
      return caller?.source === 'api_key' ? undefined : 'This requires an API key.';
    default:
      return undefined;
  }
}
