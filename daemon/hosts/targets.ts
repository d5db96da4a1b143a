// Lists the targets of a connection one after the other, page by page: `groups: acme`, `users: ann`, and so on. A failed
// target becomes an issue, and the rest continues; a host that repeats its pages ends the target, not the daemon.

import { answerFailure, issueOf } from './failures.ts';
import {
  HostError,
  type HostRepo,
  type ListingIssue,
  type ListingPage,
  type PageTarget,
  UnreachableError,
} from './host.ts';
import type { AnonymousProbe } from './anonymous-probe.ts';

/** Position within a target: an address, the number of a page, an id. */
export type Cursor = string | number;

/** An item of a listing. */
export interface Listed {
  readonly hostId: string;
  /** Undefined: excluded by the connection. */
  readonly repo: HostRepo | undefined;
}

export interface TargetPage {
  readonly listed: readonly Listed[];
  /** Undefined: it was the last page. */
  readonly next?: Cursor | undefined;
}

/** Something that a connection names. */
export interface Target {
  /** As in the configuration: `groups: acme`. */
  readonly name: string;
  /** It is one repository, which counts as deleted if the host does not know it. */
  readonly isRepo?: boolean;
  /** Overrides that of the listing. */
  readonly anonymousProbe?: AnonymousProbe;
  /** Errors: HostError; the reason of the signal. */
  readonly readPage: (cursor: Cursor | undefined) => Promise<TargetPage>;
}

/** The target of a single configured repository. @param read  reads it; errors: as of `readPage` */
export function oneRepo(name: string, read: () => Promise<Listed>): Target {
  return { name, isRepo: true, readPage: async () => ({ listed: [await read()] }) };
}

export interface Targets {
  readonly targets: readonly Target[];
  /** Issues of what could not become targets. */
  readonly issues?: readonly ListingIssue[];
  /**
   * Number of targets that the host named itself (`foundTarget`); absent: they were not requested, or the request failed
   * with an issue.
   */
  readonly foundCount?: number | undefined;
  /** Given if some servers hide public repositories from anonymous users. */
  readonly anonymousProbe?: AnonymousProbe | undefined;
}

/** Target of the request for all organizations. */
const FOUND = 'all';
const FOUND_PREFIX = `${FOUND}: `;

/** Name of a target for an organization found at the host, not configured. */
export function foundTarget(organization: string): string {
  return `${FOUND_PREFIX}${organization}`;
}

/** The target that found another one; undefined: the configuration names it. */
export function finderOf(target: string): string | undefined {
  return target.startsWith(FOUND_PREFIX) ? FOUND : undefined;
}

/** Of one target. Bound: a listing that never ends, and memory. */
const REPOS_MAX = 500_000;
/** Empty pages in a row. Hosts omit from a page what the caller may not see. */
const EMPTY_PAGES_MAX = 20;
/** Unanswered targets in a row after which the others are not tried. */
const UNANSWERED_MAX = 3;
/** Segments that are neither empty nor `.` or `..`, without control characters: they become names and folders. */
const PATH = /^(?!\.{1,2}(?:\/|$))[^\p{Cc}/\\]+(?:\/(?!\.{1,2}(?:\/|$))[^\p{Cc}/\\]+)*$/u;
/** UTF-16 units. Bound: names of folders and rows of the store. */
export const PATH_SIZE_MAX = 1_000;
/** Failures of the host, not of the target. */
const HOST_CODES: ReadonlySet<string> = new Set(['HOST_UNAVAILABLE', 'RATE_LIMITED']);
/** Nothing can be listed until somebody fixes it. */
const FATAL_CODES: ReadonlySet<string> = new Set([
  'NO_SECRET',
  'NOT_AUTHENTICATED',
  'CERTIFICATE_REFUSED',
]);

/**
 * The pages of the targets in order. `next` of a page names its target, so that a listing resumes at the right place even
 * after other targets were added or removed; if the target itself is gone it restarts.
 *
 * Errors: HostError if the host does not answer, or refuses the credential; the reason of the signal.
 */
export async function* listTargets(
  { targets, issues = [], foundCount, anonymousProbe }: Targets,
  from: unknown,
  signal: AbortSignal,
): AsyncIterable<ListingPage> {
  const listing = new Listing(anonymousProbe, targets.length);
  let position = positionOf(from, targets);
  const found = foundCount === undefined ? {} : { target: nothing(FOUND, foundCount) };
  if (issues.length > 0 || position === undefined || foundCount !== undefined)
    yield { repos: [], issues, ...found, next: nextOf(position, targets) };
  while (position !== undefined) {
    const target = targets[position.index]!;
    const { repos, of, next, error } = await listing.read(target, position.cursor, signal);
    position =
      next === undefined ? startOf(position.index + 1, targets) : { ...position, cursor: next };
    const failures = error === undefined ? [] : [issueOf(error, target)];
    const untold = (target.anonymousProbe ?? anonymousProbe)?.takeIssue(target.name) ?? [];
    yield { repos, issues: failures.concat(untold), target: of, next: nextOf(position, targets) };
  }
}

/** A page without repositories. */
function nothing(name: string, listedCount = 0): PageTarget {
  return { name, listedCount, again: [] };
}

function isPath(text: string): boolean {
  return text.length <= PATH_SIZE_MAX && PATH.test(text);
}

interface Position {
  readonly index: number;
  readonly cursor: Cursor | undefined;
}

function startOf(index: number, targets: readonly Target[]): Position | undefined {
  return index < targets.length ? { index, cursor: undefined } : undefined;
}

function nextOf(position: Position | undefined, targets: readonly Target[]): unknown {
  if (position === undefined) return undefined;
  return { target: targets[position.index]!.name, cursor: position.cursor };
}

function positionOf(from: unknown, targets: readonly Target[]): Position | undefined {
  if (typeof from !== 'object' || from === null || !('target' in from)) return startOf(0, targets);
  const index = targets.findIndex(({ name }) => name === from.target);
  if (index < 0) return startOf(0, targets);
  const cursor = 'cursor' in from ? from.cursor : undefined;
  const isValid = typeof cursor === 'string' || typeof cursor === 'number';
  return { index, cursor: isValid ? cursor : undefined };
}

interface ReadPage {
  readonly repos: readonly HostRepo[];
  readonly of: PageTarget;
  readonly next?: Cursor | undefined;
  readonly error?: HostError;
}

/** State of one listing. */
class Listing {
  readonly #anonymousProbe: AnonymousProbe | undefined;
  /** Host ids, with the last target that listed each, as two may contain the same. */
  readonly #listed = new Map<string, Target>();
  #ofTarget: { target: Target | undefined; repoCount: number; emptyPages: number } = {
    target: undefined,
    repoCount: 0,
    emptyPages: 0,
  };
  readonly #targetCount: number;
  #unanswered = 0;

  constructor(anonymousProbe: AnonymousProbe | undefined, targetCount: number) {
    this.#anonymousProbe = anonymousProbe;
    this.#targetCount = targetCount;
  }

  /** Errors: those that end the listing. */
  async read(target: Target, cursor: Cursor | undefined, signal: AbortSignal): Promise<ReadPage> {
    signal.throwIfAborted();
    try {
      const page = await target.readPage(cursor);
      const probe = target.anonymousProbe ?? this.#anonymousProbe;
      const listed = (await probe?.at(page.listed, signal)) ?? page.listed;
      const { next } = page;
      const strange = listed.find(({ repo }) => repo !== undefined && !isPath(repo.path))?.repo;
      if (strange !== undefined)
        throw this.#wrong(`${JSON.stringify(strange.path)} is not a path`, target);
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

  /** An unreachable host fails the listing, which is soon retried, also if it has fewer targets. */
  #unansweredMax(error: HostError): number {
    return error instanceof UnreachableError
      ? Math.min(UNANSWERED_MAX, this.#targetCount)
      : UNANSWERED_MAX;
  }

  #take(target: Target, listed: readonly Listed[]): Pick<ReadPage, 'repos' | 'of'> {
    if (this.#ofTarget.target !== target) this.#ofTarget = { target, repoCount: 0, emptyPages: 0 };
    const [repos, again]: [HostRepo[], HostRepo[]] = [[], []];
    let newCount = 0;
    for (const { hostId, repo } of listed) {
      const last = this.#listed.get(hostId);
      this.#listed.set(hostId, target);
      if (last === target) continue;
      newCount++;
      if (repo !== undefined) (last === undefined ? repos : again).push(repo);
    }
    // Whoever sends a page again leaves out another one.
    if (newCount === 0 && listed.length > 0)
      throw this.#wrong('a page repeats the repositories of pages before it', target);
    this.#ofTarget.repoCount += newCount;
    this.#ofTarget.emptyPages = newCount === 0 ? this.#ofTarget.emptyPages + 1 : 0;
    return { repos, of: { name: target.name, listedCount: listed.length, again } };
  }

  #goOn(target: Target, taken: Pick<ReadPage, 'repos' | 'of'>, next: Cursor): ReadPage {
    const { repoCount, emptyPages } = this.#ofTarget;
    if (repoCount < REPOS_MAX && emptyPages < EMPTY_PAGES_MAX) return { ...taken, next };
    const reason =
      emptyPages >= EMPTY_PAGES_MAX
        ? `${emptyPages} empty pages in a row`
        : `more than ${REPOS_MAX} repositories`;
    return { ...taken, error: this.#wrong(reason, target) };
  }

  #wrong(reason: string, { name }: Target): HostError {
    return answerFailure(reason, { host: 'the host', what: name });
  }
}
