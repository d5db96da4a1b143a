// One listing of a connection. Each page takes effect before the next one is requested, above all its permissions.
// Progress is stored; a restart resumes.

import { omitUndefined } from '../../base/omit-undefined.ts';
import { isDeepStrictEqual } from 'node:util';
import { DAY_MS } from '../../base/durations.ts';
import type { Connections } from '../../store/connections.ts';
import type { Host, HostRepo, ListingIssue, ListingPage } from '../../hosts/host.ts';
import { PATH_SIZE_MAX } from '../../hosts/targets.ts';
import type { RepoRegistry } from '../../index/register/registry.ts';
import { endListing, type EndedListing, type ListingEnd } from './end-listing.ts';
import type { LatestVisibility } from './confirm-fetch.ts';
import { notePage, SOLE_TARGET, type TargetStates } from './target-states.ts';
import { admitListed, type Admitted, type Listed } from './which-listed.ts';
import { isStricter } from './confirm-fetch.ts';

interface ListingState {
  readonly digest: string;
  readonly listing: number;
  /** The previous listing, if it missed something. */
  readonly before?: NonNullable<EndedListing['before']>;
  readonly startedAt: number;
  readonly next?: unknown;
  /** All pages are stored; the end of the listing is pending. */
  readonly isOver?: boolean;
  readonly count: number;
  readonly issues: readonly ListingIssue[];
  /** Over all pages so far. */
  readonly targets: TargetStates;
}

interface Gathered {
  readonly repos: HostRepo[];
  readonly targets: Map<string, Set<string>>;
}

export interface ListingOptions {
  readonly registry: RepoRegistry;
  readonly rows: Connections;
  readonly host: Host;
  readonly connectionId: number;
  readonly address: string;
  /** Of the configuration: a listing under other settings is not resumed. */
  readonly digest: string;
  /** False: the configuration has changed. */
  readonly isCurrent: () => boolean;
  readonly signal: AbortSignal;
  readonly apply: (changes: Pick<Admitted, 'changedIds' | 'dueIds'>) => Promise<void>;
  readonly latestVisibility: LatestVisibility;
  readonly onCount: (count: number) => void;
}

export interface ListingOutcome {
  readonly end: ListingEnd;
  readonly issues: readonly ListingIssue[];
  readonly count: number;
}

/** Repositories stored in one transaction, and how long pages are collected for it. Bound: its time, and lost progress. */
const GATHERED_MAX = 500;
const GATHER_MS = 2_000;
/** Limits for a host's answers, which may be broken. */
const REPOS_MAX = 1_000_000;
const ISSUES_MAX = 100;
const STATE_SIZE_MAX = 1 << 20;
/** Guess: after this time pages have shifted too far to resume. */
const STATE_MS_MAX = DAY_MS;

/** Errors: HostError; NOT_READY; the reason of the signal. */
export async function listConnection(options: ListingOptions): Promise<ListingOutcome> {
  try {
    return await list(options);
  } catch (error) {
    options.signal.throwIfAborted();
    if (options.isCurrent()) throw error;
    return {
      end: { kind: 'done', missing: [], emptied: [] },
      issues: [SETTINGS_ISSUE],
      count: 0,
    };
  }
}

const SETTINGS_ISSUE: ListingIssue = {
  code: 'SETTINGS_CHANGED',
  target: 'listing',
  effect: 'DISCOVERY_INCOMPLETE',
  message: 'the settings of the connection changed while it was listed; it is listed again',
};

async function list(options: ListingOptions): Promise<ListingOutcome> {
  let state = await stateOf(options);
  for (;;) {
    if (state.isOver !== true) state = await listPages(options, state);
    const end = await endOf(options, state);
    if (end.kind === 'again') {
      const { listing, targets } = state;
      state = newState(options, { listing, targets });
      continue;
    }
    await options.rows.noteListing(options.connectionId, undefined);
    const { issues, count } = state;
    return { end, issues, count };
  }
}

async function stateOf(options: ListingOptions): Promise<ListingState> {
  const { rows, connectionId, digest } = options;
  // Safety: only `keepState` writes it.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  const kept = (await rows.listingOf(connectionId)) as ListingState | undefined;
  const age = kept === undefined ? Infinity : Math.abs(Date.now() - kept.startedAt);
  return kept?.digest === digest && age < STATE_MS_MAX ? kept : newState(options);
}

function newState(
  { registry, connectionId, digest }: ListingOptions,
  before?: ListingState['before'],
): ListingState {
  const last = registry.stored.links
    .filter((link) => link.connectionId === connectionId)
    .reduce((last, { listing }) => Math.max(last, listing), before?.listing ?? 0);
  const startedAt = Date.now();
  return {
    digest,
    // Why not only the time: the clock may be set back.
    listing: Math.max(last + 1, startedAt),
    ...omitUndefined({ before }),
    startedAt,
    count: 0,
    issues: [],
    targets: {},
  };
}

async function listPages(options: ListingOptions, from: ListingState): Promise<ListingState> {
  const { host, signal, rows, connectionId } = options;
  let state = from;
  const startMs = performance.now();
  let gathered = newGathered();
  let sinceMs = startMs;
  try {
    for await (const page of host.list(from.next, signal)) {
      signal.throwIfAborted();
      if (!options.isCurrent()) throw new Error(SETTINGS_ISSUE.message);
      if (page.next !== undefined && isDeepStrictEqual(page.next, state.next))
        throw new Error(
          `${host.nameHost} returns the same page again and again; nothing was removed`,
        );
      state = withPage(state, page, gathered);
      const isDue =
        gathered.repos.length >= GATHERED_MAX || performance.now() - sinceMs > GATHER_MS;
      if (state.isOver === true) break;
      if (!isDue) continue;
      await keep(options, state, gathered, startMs);
      gathered = newGathered();
      sinceMs = performance.now();
    }
  } catch (error) {
    // Why: a cursor that the host no longer understands would fail each time.
    if (!signal.aborted && state === from && from.next !== undefined)
      await rows.noteListing(connectionId, undefined);
    throw error;
  }
  if (state.isOver !== true)
    throw new Error(`${host.nameHost} ended its listing in the middle; nothing was removed`);
  await keep(options, state, gathered, startMs);
  return state;
}

function newGathered(): Gathered {
  return { repos: [], targets: new Map() };
}

/** @param gathered  collects the repositories of the page. Target states change in place: there may be thousands. */
function withPage(state: ListingState, page: ListingPage, gathered: Gathered): ListingState {
  const target = page.target?.name ?? SOLE_TARGET;
  const fit = page.repos.filter(isFit);
  for (const repo of [...fit, ...(page.target?.again.filter(isFit) ?? [])]) {
    gathered.repos.push(repo);
    const { hostId } = repo;
    gathered.targets.set(hostId, (gathered.targets.get(hostId) ?? new Set()).add(target));
  }
  const unfit = page.repos.length - fit.length;
  const odd: readonly ListingIssue[] = unfit === 0 ? [] : [unfitIssue(unfit, target)];
  const count = state.count + fit.length;
  if (count > REPOS_MAX) throw new Error(`more than ${REPOS_MAX} repositories are listed`);
  const came = [...page.issues, ...odd];
  const issues = [...state.issues, ...came].slice(0, ISSUES_MAX);
  notePage(state.targets, { ...page, issues: came });
  const { next: _, ...rest } = state;
  return {
    ...rest,
    count,
    issues,
    ...(page.next === undefined ? { isOver: true } : { next: page.next }),
  };
}

function isFit({ hostId, path }: HostRepo): boolean {
  return hostId !== '' && path !== '' && path.length <= PATH_SIZE_MAX;
}

function unfitIssue(count: number, target: string): ListingIssue {
  return {
    code: 'UNUSABLE_REPOSITORY',
    target: target === SOLE_TARGET ? 'listing' : target,
    effect: 'DISCOVERY_INCOMPLETE',
    message: `${count} repositories without an id, or with a path of more than ${PATH_SIZE_MAX} characters, were left out`,
  };
}

/** Stores the collected repositories and applies them. */
async function keep(
  options: ListingOptions,
  state: ListingState,
  gathered: Gathered,
  startMs: number,
): Promise<void> {
  const { registry, rows, host, connectionId, onCount } = options;
  const { nameHost, codeHostType } = host;
  const { listing } = state;
  const { targets } = gathered;
  const repos = withLatestVisibility(options, gathered.repos, startMs);
  const listed: Listed = { connectionId, listing, nameHost, codeHostType, repos, targets };
  // Why first without the store: most listings repeat the previous one.
  const { result: first } = admitListed(registry.stored, listed);
  const repoIds = first.repos.map(({ repoId }) => repoId);
  const isSame = first.changedIds.size === 0 && first.areTargetsSame;
  if (isSame && !repoIds.some((repoId) => registry.isHidden(repoId)))
    await rows.noteListed(connectionId, listing, repoIds);
  else await admit(options, listed, first);
  const isSmall = JSON.stringify(state).length <= STATE_SIZE_MAX;
  await rows.noteListing(connectionId, isSmall ? state : undefined);
  onCount(state.count);
}

/** Each repository once, as listed last, but no more visible than heard elsewhere since the listing began. */
function withLatestVisibility(
  { address, latestVisibility }: ListingOptions,
  gathered: readonly HostRepo[],
  startMs: number,
): HostRepo[] {
  const last = new Map(gathered.map((repo) => [repo.hostId, repo]));
  return [...last.values()].map((repo) => {
    const which = { address, hostId: repo.hostId };
    const visibility = latestVisibility.atMost(which, repo.visibility, startMs);
    latestVisibility.note(which, visibility);
    return { ...repo, visibility };
  });
}

/** Stores listed repos. A restriction that cannot be stored takes effect at once. */
async function admit(
  { registry, apply }: ListingOptions,
  listed: Listed,
  first: Admitted,
): Promise<void> {
  try {
    const { changedIds, dueIds } = await registry.decide((stored) => admitListed(stored, listed));
    const repoIds = first.repos.map(({ repoId }) => repoId);
    const unhidden = registry.unhide(repoIds);
    await apply({ changedIds: new Set([...changedIds, ...unhidden]), dueIds });
  } catch (error) {
    const narrowed = first.repos.filter(({ repoId, visibility }) => {
      const before = registry.byId(repoId);
      return before !== undefined && isStricter(visibility, before.visibility);
    });
    const changedIds = new Set(narrowed.map(({ repoId }) => repoId));
    registry.hide(changedIds);
    await apply({ changedIds, dueIds: new Set() }).catch(() => {});
    throw error;
  }
}

async function endOf(
  { registry, connectionId, apply }: ListingOptions,
  { listing, targets, before }: ListingState,
): Promise<ListingEnd> {
  const now = Date.now();
  const ended: EndedListing = { connectionId, listing, targets, ...omitUndefined({ before }), now };
  const end = await registry.decide((stored) => endListing(stored, ended));
  const missing = end.kind === 'done' ? end.missing : [];
  await apply({ changedIds: new Set(missing.map(({ repoId }) => repoId)), dueIds: new Set() });
  return end;
}
