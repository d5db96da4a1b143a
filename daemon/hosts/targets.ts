// A listing that goes from one thing that a connection names to the next, page by page: `groups: acme`, `users: ann`, and so
// on. A target that fails is an issue, and the rest goes on; a host that repeats its pages ends the target, not the daemon.

import { answerFailure, issueOf } from './failures.ts';
import {
  HostError,
  type HostRepo,
  type ListingIssue,
  type ListingPage,
  type PageTarget,
  UnreachableError,
} from './host.ts';
import type { PublicLook } from './public-look.ts';

/** Where a target goes on: an address, the number of a page, an id. */
export type Cursor = string | number;

/** A repository as it came. */
export interface Listed {
  readonly hostId: string;
  /** Undefined: the connection leaves it out. */
  readonly repo: HostRepo | undefined;
}

export interface TargetPage {
  readonly listed: readonly Listed[];
  /** Undefined: it was the last page. */
  readonly next?: Cursor | undefined;
}

/** Something that a connection names. */
export interface Target {
  /** As the configuration says it: `groups: acme`. */
  readonly name: string;
  /** It is one repository, which is gone where the host does not know it. */
  readonly isRepo?: boolean;
  /** In place of that of the listing. */
  readonly publicLook?: PublicLook;
  /** Errors: HostError; the reason of the signal. */
  readonly readPage: (cursor: Cursor | undefined) => Promise<TargetPage>;
}

/** The target that is a repository which the connection names. @param read  that repository, as it comes; errors: as of `readPage` */
export function oneRepo(name: string, read: () => Promise<Listed>): Target {
  return { name, isRepo: true, readPage: async () => ({ listed: [await read()] }) };
}

export interface Targets {
  readonly targets: readonly Target[];
  /** What could not become targets. */
  readonly issues: readonly ListingIssue[];
  /** How many targets the host named itself (`foundTarget`); absent: it was not asked for any, or the answer is an issue. */
  readonly foundCount?: number;
  /** Given where not every server shows to all what it calls public. */
  readonly publicLook?: PublicLook | undefined;
}

/** Target that stands for the question which organizations there are. */
const FOUND = 'all';
const FOUND_PREFIX = `${FOUND}: `;

/** Name of the target that is an organization which the host named, and the configuration did not. */
export function foundTarget(organization: string): string {
  return `${FOUND_PREFIX}${organization}`;
}

/** The target whose answer named another one; undefined: the configuration names it. */
export function finderOf(target: string): string | undefined {
  return target.startsWith(FOUND_PREFIX) ? FOUND : undefined;
}

/** Of one target. Guess: ten times what a large company has. */
const REPOS_MAX = 500_000;
/** Pages in a row without a repository that the target did not bring before. Hosts leave out of a page what may not be seen. */
const IDLE_PAGES_MAX = 20;
/** Targets in a row for which the host had no answer, after which it is not asked for the others. */
const UNANSWERED_MAX = 3;
/** Segments that are neither empty nor `.` or `..`, without control characters: names and folders are made of them. */
const PATH = /^(?!\.{1,2}(?:\/|$))[^\p{Cc}/\\]+(?:\/(?!\.{1,2}(?:\/|$))[^\p{Cc}/\\]+)*$/u;
/** Guess: of UTF-16 units; twice what any host allows. */
export const PATH_SIZE_MAX = 1_000;
/** What is true of the host, not of the target. */
const HOST_CODES: ReadonlySet<string> = new Set(['HOST_UNAVAILABLE', 'RATE_LIMITED']);
/** Nothing can be listed until somebody mends it. */
const FATAL_CODES: ReadonlySet<string> = new Set([
  'NO_SECRET',
  'NOT_AUTHENTICATED',
  'CERTIFICATE_REFUSED',
]);

/**
 * The pages of the targets in their order. `next` of a page names a target by its name, so that a listing goes on where it was
 * also after other targets came or went; where the target itself is gone it begins anew.
 *
 * Errors: HostError where the host has no answer, or refuses the credential; the reason of the signal.
 */
export async function* listTargets(
  { targets, issues, foundCount, publicLook }: Targets,
  from: unknown,
  signal: AbortSignal,
): AsyncIterable<ListingPage> {
  const listing = new Listing(publicLook, targets.length);
  let place = placeOf(from, targets);
  const found = foundCount === undefined ? {} : { target: nothing(FOUND, foundCount) };
  if (issues.length > 0 || place === undefined || foundCount !== undefined)
    yield { repos: [], issues, ...found, next: nextOf(place, targets) };
  while (place !== undefined) {
    const target = targets[place.index]!;
    const { repos, of, next, error } = await listing.read(target, place.cursor, signal);
    place = next === undefined ? beginning(place.index + 1, targets) : { ...place, cursor: next };
    const failures = error === undefined ? [] : [issueOf(error, target)];
    const untold = (target.publicLook ?? publicLook)?.takeIssue(target.name) ?? [];
    yield { repos, issues: failures.concat(untold), target: of, next: nextOf(place, targets) };
  }
}

/** Of a page without repositories. */
function nothing(name: string, namedCount = 0): PageTarget {
  return { name, namedCount, again: [] };
}

function isPath(text: string): boolean {
  return text.length <= PATH_SIZE_MAX && PATH.test(text);
}

interface Place {
  readonly index: number;
  readonly cursor: Cursor | undefined;
}

function beginning(index: number, targets: readonly Target[]): Place | undefined {
  return index < targets.length ? { index, cursor: undefined } : undefined;
}

function nextOf(place: Place | undefined, targets: readonly Target[]): unknown {
  if (place === undefined) return undefined;
  return { target: targets[place.index]!.name, cursor: place.cursor };
}

function placeOf(from: unknown, targets: readonly Target[]): Place | undefined {
  if (typeof from !== 'object' || from === null || !('target' in from))
    return beginning(0, targets);
  const index = targets.findIndex(({ name }) => name === from.target);
  if (index < 0) return beginning(0, targets);
  const cursor = 'cursor' in from ? from.cursor : undefined;
  const isKnown = typeof cursor === 'string' || typeof cursor === 'number';
  return { index, cursor: isKnown ? cursor : undefined };
}

interface ReadPage {
  readonly repos: readonly HostRepo[];
  readonly of: PageTarget;
  readonly next?: Cursor | undefined;
  readonly error?: HostError;
}

/** What one listing has seen. */
class Listing {
  readonly #publicLook: PublicLook | undefined;
  /** Ids of the host; and the last target that brought each, for two may hold the same. */
  readonly #seen = new Map<string, Target>();
  #ofTarget: { target: Target | undefined; repoCount: number; idlePages: number } = {
    target: undefined,
    repoCount: 0,
    idlePages: 0,
  };
  readonly #targetCount: number;
  #unanswered = 0;

  constructor(publicLook: PublicLook | undefined, targetCount: number) {
    this.#publicLook = publicLook;
    this.#targetCount = targetCount;
  }

  /** Errors: those that end the listing. */
  async read(target: Target, cursor: Cursor | undefined, signal: AbortSignal): Promise<ReadPage> {
    signal.throwIfAborted();
    try {
      const page = await target.readPage(cursor);
      const look = target.publicLook ?? this.#publicLook;
      const listed = (await look?.at(page.listed, signal)) ?? page.listed;
      const { next } = page;
      const strange = listed.find(({ repo }) => repo !== undefined && !isPath(repo.path))?.repo;
      if (strange !== undefined)
        throw this.#wrong(`${JSON.stringify(strange.path)} is no path`, target);
      this.#unanswered = 0;
      const taken = this.#take(target, listed);
      return next === undefined ? taken : this.#goOn(target, taken, next);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HostError) || FATAL_CODES.has(error.code)) throw error;
      this.#unanswered = HOST_CODES.has(error.code) ? this.#unanswered + 1 : 0;
      if (this.#unanswered >= this.#unansweredMax(error)) throw error;
      return { repos: [], of: nothing(target.name), error };
    }
  }

  /** A host that cannot be reached fails the listing, which is tried again soon, also where it has fewer targets. */
  #unansweredMax(error: HostError): number {
    return error instanceof UnreachableError
      ? Math.min(UNANSWERED_MAX, this.#targetCount)
      : UNANSWERED_MAX;
  }

  #take(target: Target, listed: readonly Listed[]): Pick<ReadPage, 'repos' | 'of'> {
    if (this.#ofTarget.target !== target) this.#ofTarget = { target, repoCount: 0, idlePages: 0 };
    const [repos, again]: [HostRepo[], HostRepo[]] = [[], []];
    let newCount = 0;
    for (const { hostId, repo } of listed) {
      const last = this.#seen.get(hostId);
      this.#seen.set(hostId, target);
      if (last === target) continue;
      newCount++;
      if (repo !== undefined) (last === undefined ? repos : again).push(repo);
    }
    this.#ofTarget.repoCount += newCount;
    this.#ofTarget.idlePages = newCount === 0 ? this.#ofTarget.idlePages + 1 : 0;
    return { repos, of: { name: target.name, namedCount: listed.length, again } };
  }

  #goOn(target: Target, taken: Pick<ReadPage, 'repos' | 'of'>, next: Cursor): ReadPage {
    const { repoCount, idlePages } = this.#ofTarget;
    if (repoCount < REPOS_MAX && idlePages < IDLE_PAGES_MAX) return { ...taken, next };
    const reason =
      idlePages >= IDLE_PAGES_MAX
        ? `${idlePages} pages without a repository that was not on a page before`
        : `more than ${REPOS_MAX} repositories`;
    return { ...taken, error: this.#wrong(reason, target) };
  }

  #wrong(reason: string, { name }: Target): HostError {
    return answerFailure(reason, { host: 'the host', what: name });
  }
}
