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
import { isNameTooLong, NAME_SIZE_MAX } from '../repos/repo-name.ts';
import type { AnonymousProbe } from './anonymous-probe.ts';

/** An item of a listing. */
export interface Listed {
  readonly hostId: string;
  /** Undefined: excluded by the connection. */
  readonly repo: HostRepo | undefined;
}

/** Something that a connection names. */
export interface Target {
  /** As in the configuration: `groups: acme`. */
  readonly name: string;
  /** It is one repository, which counts as deleted if the host does not know it. */
  readonly isRepo?: boolean;
  /** Overrides that of the listing. */
  readonly anonymousProbe?: AnonymousProbe;
  /** Its pages, in order. Errors: HostError; the reason of the signal. */
  readonly pages: () => AsyncIterable<readonly Listed[]>;
}

/** The target of a single configured repository. @param read  reads it; errors: as of `pages` */
export function oneRepo(name: string, read: () => Promise<Listed>): Target {
  return { name, isRepo: true, pages: () => onePage(async () => [await read()]) };
}

export async function* onePage(read: () => Promise<readonly Listed[]>) {
  yield await read();
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

/** Repositories of one target. Bound: a listing that never ends, and memory. */
const REPOS_MAX = 500_000;
/** Empty pages in a row. Hosts omit from a page what the caller may not see. */
const EMPTY_PAGES_MAX = 20;
/** Unanswered targets in a row after which the others are not tried. */
const UNANSWERED_MAX = 3;
/** Segments that are neither empty nor `.` or `..`, without control characters: they become names and folders. */
const PATH = /^(?!\.{1,2}(?:\/|$))[^\p{Cc}/\\]+(?:\/(?!\.{1,2}(?:\/|$))[^\p{Cc}/\\]+)*$/u;
/** Characters of a refused path in a message. */
const PATH_SHOWN_MAX = 100;
/** Failures of the host or of the credential, not of the target. */
const HOST_CODES: ReadonlySet<string> = new Set([
  'HOST_UNAVAILABLE',
  'RATE_LIMITED',
  'NOT_AUTHENTICATED',
]);
/** Nothing can be listed until somebody fixes it. */
const FATAL_CODES: ReadonlySet<string> = new Set(['NO_SECRET', 'CERTIFICATE_REFUSED']);

/** The pages of the targets in order. Errors: HostError if the host does not answer, or refuses the credential; the reason of the signal. */
export async function* listTargets(
  { targets, issues = [], foundCount, anonymousProbe }: Targets,
  signal: AbortSignal,
): AsyncIterable<ListingPage> {
  const listing = new Listing(anonymousProbe, targets.length);
  const found = foundCount === undefined ? {} : { target: emptyPage(FOUND, foundCount) };
  if (issues.length > 0 || targets.length === 0 || foundCount !== undefined)
    yield { repos: [], issues, ...found };
  for (const target of targets) yield* listing.pagesOf(target, signal);
}

/** A page without repositories. */
function emptyPage(name: string, listedCount = 0): PageTarget {
  return { name, listedCount, again: [] };
}

/** State of one listing. */
class Listing {
  readonly #anonymousProbe: AnonymousProbe | undefined;
  /** Host ids, with the last target that listed each, as two may contain the same. */
  readonly #listed = new Map<string, Target>();
  readonly #targetCount: number;
  #unanswered = 0;

  constructor(anonymousProbe: AnonymousProbe | undefined, targetCount: number) {
    this.#anonymousProbe = anonymousProbe;
    this.#targetCount = targetCount;
  }

  /** Errors: those that end the listing. */
  async *pagesOf(target: Target, signal: AbortSignal): AsyncGenerator<ListingPage> {
    signal.throwIfAborted();
    const probe = target.anonymousProbe ?? this.#anonymousProbe;
    const probeIssues = (): readonly ListingIssue[] => {
      const issue = probe?.takeIssue(target.name);
      return issue === undefined ? [] : [issue];
    };
    let [repoCount, emptyCount] = [0, 0];
    try {
      for await (const read of target.pages()) {
        signal.throwIfAborted();
        if (emptyCount >= EMPTY_PAGES_MAX)
          throw wrong(`${emptyCount} empty pages in a row`, target);
        if (repoCount >= REPOS_MAX) throw wrong(`more than ${REPOS_MAX} repositories`, target);
        const page = this.#take(target, (await probe?.at(read, signal)) ?? read);
        this.#unanswered = 0;
        repoCount += page.newCount;
        emptyCount = page.newCount === 0 ? emptyCount + 1 : 0;
        yield { repos: page.repos, issues: probeIssues(), target: page.target };
      }
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof HostError) || FATAL_CODES.has(error.code)) throw error;
      this.#unanswered = HOST_CODES.has(error.code) ? this.#unanswered + 1 : 0;
      if (this.#unanswered >= this.#unansweredMax(error)) throw error;
      const issues = [issueOf(error, target), ...probeIssues()];
      yield { repos: [], issues, target: emptyPage(target.name) };
    }
  }

  /**
   * An unreachable host fails the listing, which is soon retried, also if it has fewer targets; so does a refused credential,
   * but for an organization that refuses what others take.
   */
  #unansweredMax(error: HostError): number {
    return error instanceof UnreachableError || error.code === 'NOT_AUTHENTICATED'
      ? Math.min(UNANSWERED_MAX, this.#targetCount)
      : UNANSWERED_MAX;
  }

  #take(target: Target, listed: readonly Listed[]) {
    const paths = listed.flatMap(({ repo }) => repo?.path ?? []);
    const long = paths.find(isNameTooLong);
    if (long !== undefined)
      throw new HostError(
        'HOST_ANSWER_INVALID',
        `the host: ${target.name}: a path has more than ${NAME_SIZE_MAX} bytes: ${JSON.stringify(`${long.slice(0, PATH_SHOWN_MAX)}…`)}; ` +
          'rename or move the repository at the host',
      );
    const strange = paths.find((path) => !PATH.test(path));
    if (strange !== undefined) throw wrong(`${JSON.stringify(strange)} is not a path`, target);
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
      throw wrong('a page repeats the repositories of pages before it', target);
    return { repos, newCount, target: { name: target.name, listedCount: listed.length, again } };
  }
}

function wrong(reason: string, { name }: Target): HostError {
  return answerFailure(reason, { host: 'the host', what: name });
}
