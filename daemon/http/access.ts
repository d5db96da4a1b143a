// The checks on who is calling: steps 4 to 8, 10 and 11 of the fixed order (pipeline.ts). Each takes what is known of
// the request and refuses by an error; what it finds out it leaves in the exchange.

import type { Accounts } from '../accounts/accounts.ts';
import { hasOwnerRole, isFromBrowser, isProgrammatic, type Caller } from '../accounts/caller.ts';
import type { ProvenRequest } from '../accounts/oauth/proofs.ts';
import type { Endpoint, Rights } from '../api/shapes/endpoint.ts';
import { ApiError } from '../api/shapes/api-error.ts';
import { ownOrigins } from '../api/shapes/own-origins.ts';
import type { Settings } from '../base/config/settings.ts';
import {
  limitOf,
  RATE_LIMIT_HEADERS,
  rateLimitHeaders,
  refusalMessage,
  retryAfterSeconds,
} from '../accounts/limits/answer.ts';
import type { Decision } from '../accounts/limits/decision.ts';
import type { Ledger } from '../accounts/limits/ledger.ts';
import type { HttpRequest } from './adapters/adapter.ts';
import { isAtThisMachine } from './binding.ts';
import { toolServerChallenge } from '../api/oauth/addresses.ts';

/** What the checks need, and what they find out. */
export interface Access {
  readonly request: HttpRequest;
  readonly endpoint: Endpoint;
  /** Of the client. */
  readonly address: string;
  caller?: Caller | undefined;
  /** Finds the caller by what the store says now; undefined: none is looked for. */
  lookForCaller?: CallerFinder;
  /** Headers of whatever the answer will be. */
  readonly answerHeaders: Record<string, string>;
}

export interface AccessParts {
  readonly accounts: Accounts;
  readonly ledger: Ledger;
  readonly rateLimit: Settings['rateLimit'];
  /** Without trailing slash. */
  readonly baseUrl: string;
}

/** A call that is checked: an endpoint's, or one of those that its handler makes. */
export interface Asked {
  readonly endpoint: Rights;
  readonly caller?: Caller | undefined;
}

type MaybePromise = void | Promise<void>;
type CallerFinder = () => Caller | undefined | Promise<Caller | undefined>;

/** Step 4: finds the caller. Errors: NOT_READY if the store must be asked and cannot be reached. */
export function findCaller({ accounts, baseUrl }: AccessParts, access: Access): MaybePromise {
  const { endpoint, request } = access;
  if (endpoint.access === 'none' && endpoint.isCallerHeeded !== true) return undefined;
  const look = accounts.callers.finder(
    (name) => request.header(name),
    () => provenRequest(baseUrl, request),
    () => isAtThisMachine(request),
  );
  access.lookForCaller = endpoint.access === 'none' ? () => heeded(look) : look;
  const found = access.lookForCaller();
  if (found instanceof Promise) return found.then((caller) => noteCaller(accounts, access, caller));
  return noteCaller(accounts, access, found);
}

/** Where no caller is needed, one that cannot be found out is none. */
async function heeded(look: CallerFinder): Promise<Caller | undefined> {
  try {
    return await look();
  } catch {
    return undefined;
  }
}

/**
 * Finds the caller once more before the endpoint answers: since step 4 the request may have waited for its body and
 * for its turn. Who has lost the credential or the role meanwhile is refused; what is seen is what is visible now.
 *
 * Errors: those of steps 4, 6, 7, 8, 10 and 11.
 */
export function findCallerAgain(parts: AccessParts, access: Access): MaybePromise {
  const found = access.lookForCaller?.();
  if (found instanceof Promise) return found.then((caller) => checkAgain(parts, access, caller));
  return checkAgain(parts, access, found);
}

function checkAgain(parts: AccessParts, access: Access, caller: Caller | undefined): void {
  const wasPerson = access.caller?.person?.id;
  access.caller = caller;
  // What was said of somebody is not for whoever it is now.
  if (wasPerson !== caller?.person?.id)
    for (const name of [...RATE_LIMIT_HEADERS, 'Set-Cookie']) delete access.answerHeaders[name];
  checkOrigin(parts, access);
  checkKeyUsage(parts, access);
  checkRights(parts, access);
}

/** Steps 8, 10 and 11. Errors: theirs. */
export function checkRights(parts: AccessParts, asked: Asked): void {
  checkEntitlement(parts, asked);
  checkAuthentication(parts, asked);
  checkRole(parts, asked);
}

/**
 * Whether the caller of an answer that is still being sent may have the rest: by the same credential, which is good
 * now. Repositories that became secret since it began are not looked at (API.md 4.7: from the next request on).
 *
 * Errors: as `findCallerAgain`; NOT_AUTHENTICATED also where it would be somebody else by now, such as a guest.
 */
export function checkStillCaller(parts: AccessParts, access: Access): MaybePromise {
  const now: Access = { ...access, answerHeaders: {} };
  const checked = findCallerAgain(parts, now);
  if (checked instanceof Promise) return checked.then(() => checkSameCaller(access, now));
  return checkSameCaller(access, now);
}

function checkSameCaller({ caller: before }: Access, { caller: now }: Access): void {
  const isSame =
    before?.source === now?.source &&
    before?.person?.id === now?.person?.id &&
    before?.credentialId === now?.credentialId &&
    before?.sessionHash === now?.sessionHash;
  if (!isSame) throw new ApiError('NOT_AUTHENTICATED', 'The credential is no longer good.');
}

function noteCaller(accounts: Accounts, access: Access, caller: Caller | undefined): MaybePromise {
  access.caller = caller;
  if (access.endpoint.access === 'none') return undefined;
  if (caller?.source === 'session' && caller.person !== undefined)
    accounts.signIn.noteHome(caller.person, access.address);
  if (caller?.source !== 'session' || !accounts.callers.needsRenewal(caller)) return undefined;
  return renewSession(accounts, access, caller);
}

async function renewSession(
  accounts: Accounts,
  { request, answerHeaders }: Access,
  caller: Caller,
): Promise<void> {
  const cookie = await accounts.callers.renewed(caller, (name) => request.header(name));
  if (cookie !== undefined) answerHeaders['Set-Cookie'] = cookie;
}

/** Step 5: counts the request, and tells of the limit in the headers. Errors: those of `countCall`. */
export function countRequest(parts: AccessParts, access: Access): MaybePromise {
  if (!access.endpoint.isCounted) return undefined;
  const taken = takeCall(parts, access.caller);
  if (taken instanceof Promise) return taken.then((decision) => obey(decision, parts, access));
  return obey(taken, parts, access);
}

function obey(decision: Decision | undefined, parts: AccessParts, { answerHeaders }: Access): void {
  if (decision === undefined) return;
  Object.assign(answerHeaders, rateLimitHeaders(decision));
  if (!decision.admitted) throw limitReached(parts, decision);
}

/** Counts one call of a caller, if it is one that counts. Errors: API_RATE_LIMIT_EXCEEDED; NOT_READY. */
export async function countCall(parts: AccessParts, caller: Caller | undefined): Promise<void> {
  const decision = await takeCall(parts, caller);
  if (decision?.admitted === false) throw limitReached(parts, decision);
}

/** Undefined: the caller has no limit. */
function takeCall(
  { ledger, accounts, rateLimit }: AccessParts,
  caller: Caller | undefined,
): Decision | Promise<Decision> | undefined {
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
  if (!isSession && endpoint.isForBrowsers !== true) return;
  const origin = request.header('origin');
  // Why the difference: without a cookie there is nothing that a browser adds by itself, so that only a page of
  // another origin, which says so, is refused.
  const isOwn =
    origin === undefined
      ? caller?.source !== 'session' || request.header('sec-fetch-site') === 'same-origin'
      : ownOrigins(baseUrl, request.header('host')).includes(origin);
  if (isOwn) return;
  throw new ApiError('CROSS_ORIGIN_REQUEST', originRefusal(origin, baseUrl));
}

/** Characters of a foreign origin that are shown. */
const ORIGIN_SHOWN_MAX = 200;

function originRefusal(origin: string | undefined, baseUrl: string): string {
  const own = new URL(baseUrl).origin;
  return origin === undefined
    ? `A request with a session cookie must say that it comes from here: add "Origin: ${own}", or use an API key.`
    : `This request comes from a page of ${origin.slice(0, ORIGIN_SHOWN_MAX)}, not of ${own}.`;
}

/** What the proof of an OAuth token has to be about. */
function provenRequest(
  baseUrl: string,
  request: Pick<HttpRequest, 'method' | 'path' | 'header'>,
): ProvenRequest {
  const { method, path } = request;
  return { method, path, origins: ownOrigins(baseUrl, request.header('host')) };
}

/** Step 7. Errors: API_KEY_USAGE_DISABLED; NOT_READY where nobody knows now. */
export function checkKeyUsage({ accounts }: AccessParts, { caller, endpoint }: Access): void {
  if (endpoint.access === 'none') return;
  if (caller?.source !== 'api_key' || caller.role === 'OWNER') return;
  if (accounts.settings.mayMembers('apiKeyUsage')) return;
  throw new ApiError('API_KEY_USAGE_DISABLED', 'Only API keys of owners are accepted here.');
}

/** Step 8. Errors: INSUFFICIENT_PERMISSIONS naming the entitlement. */
export function checkEntitlement({ accounts }: AccessParts, { endpoint }: Asked): void {
  const { entitlement } = endpoint;
  if (entitlement === undefined || accounts.isEntitled(entitlement)) return;
  throw new ApiError(
    'INSUFFICIENT_PERMISSIONS',
    `This needs a licence with the entitlement "${entitlement}".`,
  );
}

/** Step 10. Errors: NOT_AUTHENTICATED. */
export function checkAuthentication(parts: AccessParts, { endpoint, caller }: Asked): void {
  if (isAuthenticated(endpoint, caller)) return;
  const { accounts, baseUrl } = parts;
  const isTold = endpoint.isForTools === true && accounts.isEntitled('oauth');
  throw new ApiError(
    'NOT_AUTHENTICATED',
    'Authentication is required.',
    isTold ? { 'WWW-Authenticate': toolServerChallenge(baseUrl) } : {},
  );
}

function isAuthenticated(endpoint: Rights, caller: Caller | undefined): boolean {
  const { access, isNobodyWelcome } = endpoint;
  if (access === 'none' || isNobodyWelcome === true) return true;
  if (caller === undefined) return false;
  if (access === 'opt') return true;
  return caller.person !== undefined || isLocalAllowed(endpoint, caller);
}

function isLocalAllowed({ isForLocal }: Rights, caller: Caller | undefined): boolean {
  return isForLocal === true && caller?.source === 'local';
}

/** Step 11: the kind of the credential, and the role. Errors: INSUFFICIENT_PERMISSIONS. */
export function checkRole(_: AccessParts, { endpoint, caller }: Asked): void {
  const refusal = refusalOf(endpoint, caller);
  if (refusal !== undefined) throw new ApiError('INSUFFICIENT_PERMISSIONS', refusal);
}

function refusalOf(endpoint: Rights, caller: Caller | undefined): string | undefined {
  if (isLocalAllowed(endpoint, caller)) return undefined;
  switch (endpoint.access) {
    case 'owner':
      if (caller?.source === 'scoped_access_token') return 'A scoped access token cannot do this.';
      return hasOwnerRole(caller) ? undefined : 'This needs the role OWNER.';
    case 'session':
      return caller?.source === 'session' ? undefined : 'This needs a browser session.';
    case 'key':
      return caller?.source === 'api_key' ? undefined : 'This needs an API key.';
    default:
      return undefined;
  }
}
