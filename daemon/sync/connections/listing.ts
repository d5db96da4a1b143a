// One listing of a connection. Each page takes effect before the next one is requested, above all its permissions.
// An interrupted listing starts again.

import { omitUndefined } from '../../base/omit-undefined.ts';
import type { ConnectionRows } from '../../store/connections.ts';
import type { StoredRepo } from '../../store/repos.ts';
import type { Host, HostRepo, ListingIssue, ListingPage } from '../../hosts/host.ts';
import type { RepoRegistry } from '../../index/register/registry.ts';
import { endListing, type EndedListing, type ListingEnd } from './end-listing.ts';
import { isStricter, type LatestVisibility } from './confirm-fetch.ts';
import { notePage, SOLE_TARGET, type TargetStates } from './target-states.ts';
import { admitListed, type Admitted, type Listed } from './which-listed.ts';

/** A listing under way. */
interface ListingState {
  /** Number of the listing; later listings have higher ones. */
  readonly listing: number;
  count: number;
  readonly issues: ListingIssue[];
  /** States of the targets, from all pages so far. */
  readonly targets: TargetStates;
  /** The targets that have listed each host id so far. */
  readonly found: Map<string, Set<string>>;
}

export interface ListingOptions {
  readonly registry: RepoRegistry;
  readonly rows: ConnectionRows;
  readonly host: Host;
  readonly connectionId: number;
  readonly address: string;
  /** False: the configuration has changed. */
  readonly isCurrent: () => boolean;
  readonly signal: AbortSignal;
  readonly apply: (changes: Pick<Admitted, 'changedIds' | 'dueIds'>) => Promise<void>;
  readonly latestVisibility: LatestVisibility;
  readonly comesFirst: Listed['comesFirst'];
}

export interface ListingOutcome {
  readonly end: ListingEnd;
  readonly issues: readonly ListingIssue[];
  readonly count: number;
}

/** Repositories stored in one transaction, and how long pages are collected for it. Bound: its time. */
const GATHERED_MAX = 500;
const GATHER_MS = 2_000;
/** Limits for a host's answers, which may be broken. */
const REPOS_MAX = 1_000_000;
const ISSUES_MAX = 100;

/** Errors: HostError; NOT_READY; the reason of the signal. */
export async function listConnection(options: ListingOptions): Promise<ListingOutcome> {
  try {
    return await list(options);
  } catch (error) {
    options.signal.throwIfAborted();
    if (options.isCurrent()) throw error;
    return { end: { missing: [], emptied: [] }, issues: [SETTINGS_ISSUE], count: 0 };
  }
}

const SETTINGS_ISSUE: ListingIssue = {
  code: 'SETTINGS_CHANGED',
  target: 'listing',
  effect: 'DISCOVERY_INCOMPLETE',
  message: 'the settings of the connection changed while it was listed; it is listed again',
};

async function list(options: ListingOptions): Promise<ListingOutcome> {
  let before: EndedListing['before'];
  for (;;) {
    const state = await listPages(options, before?.listing ?? 0);
    const end = await endOf(options, state, before);
    if (end !== undefined) return { end, issues: state.issues, count: state.count };
    before = state;
  }
}

async function listPages(options: ListingOptions, listingBefore: number): Promise<ListingState> {
  const { registry, connectionId, host, signal } = options;
  const last = registry.stored.links
    .filter((link) => link.connectionId === connectionId)
    .reduce((last, { listing }) => Math.max(last, listing), listingBefore);
  // Why not only the time: the clock may be set back.
  const listing = Math.max(last + 1, Date.now());
  const state: ListingState = { listing, count: 0, issues: [], targets: {}, found: new Map() };
  const startMs = performance.now();
  let gathered: HostRepo[] = [];
  let sinceMs = startMs;
  for await (const page of host.list(signal)) {
    signal.throwIfAborted();
    if (!options.isCurrent()) throw new Error(SETTINGS_ISSUE.message);
    addPage(state, page, gathered);
    if (gathered.length < GATHERED_MAX && performance.now() - sinceMs <= GATHER_MS) continue;
    await keep(options, state, gathered, startMs);
    gathered = [];
    sinceMs = performance.now();
  }
  await keep(options, state, gathered, startMs);
  return state;
}

function addPage(state: ListingState, page: ListingPage, gathered: HostRepo[]): void {
  const target = page.target?.name ?? SOLE_TARGET;
  for (const repo of [...page.repos, ...(page.target?.again ?? [])]) {
    gathered.push(repo);
    const { hostId } = repo;
    state.found.set(hostId, (state.found.get(hostId) ?? new Set()).add(target));
  }
  state.count += page.repos.length;
  if (state.count > REPOS_MAX) throw new Error(`more than ${REPOS_MAX} repositories are listed`);
  state.issues.push(...page.issues.slice(0, ISSUES_MAX - state.issues.length));
  notePage(state.targets, page);
}

/** Stores the collected repositories and applies them. */
async function keep(
  options: ListingOptions,
  state: ListingState,
  gathered: readonly HostRepo[],
  startMs: number,
): Promise<void> {
  const { registry, rows, host, connectionId, address, latestVisibility, comesFirst } = options;
  const { nameHost, codeHostType } = host;
  const { listing, found: targets } = state;
  // Each once, as listed last.
  const last = new Map(gathered.map((repo) => [repo.hostId, repo]));
  const repos = withLatestVisibility(options, [...last.values()], startMs);
  for (const { hostId, visibility } of repos)
    latestVisibility.note({ address, hostId }, visibility);
  const listed = { connectionId, listing, nameHost, codeHostType, repos, targets, comesFirst };
  // Why first without the store: most listings repeat the previous one.
  const { result: first } = admitListed(registry.stored, listed);
  const repoIds = first.repos.map(({ repoId }) => repoId);
  const isSame = first.changedIds.size === 0 && first.areTargetsSame;
  if (isSame && !repoIds.some((repoId) => registry.isHidden(repoId)))
    await rows.noteListed(connectionId, listing, repoIds);
  else await admit(options, listed, first, startMs);
}

/** The repositories, no more visible than heard elsewhere since the listing began. */
function withLatestVisibility(
  { address, latestVisibility }: ListingOptions,
  repos: readonly HostRepo[],
  startMs: number,
): HostRepo[] {
  return repos.map((repo) => {
    const which = { address, hostId: repo.hostId };
    return { ...repo, visibility: latestVisibility.atMost(which, repo.visibility, startMs) };
  });
}

/** Stores listed repos. A restriction that cannot be stored takes effect at once. */
async function admit(
  options: ListingOptions,
  listed: Listed,
  first: Admitted,
  startMs: number,
): Promise<void> {
  const { registry, latestVisibility, apply } = options;
  try {
    const admitted = await registry.decide((stored) => {
      // Again: webhooks may have come while this waited for the store.
      const repos = withLatestVisibility(options, listed.repos, startMs);
      return admitListed(stored, { ...listed, repos });
    });
    const { changedIds, dueIds } = admitted;
    // A repo that a later webhook restricts stays hidden: that may not be stored yet.
    const isLatest = ({ host, visibility }: StoredRepo): boolean =>
      latestVisibility.atMost(host!, visibility, startMs) === visibility;
    const unhidden = registry.unhide(admitted.repos.filter(isLatest).map(({ repoId }) => repoId));
    await apply({ changedIds: new Set([...changedIds, ...unhidden]), dueIds });
  } catch (error) {
    const restricted = first.repos.filter(({ repoId, visibility }) => {
      const before = registry.byId(repoId);
      return before !== undefined && isStricter(visibility, before.visibility);
    });
    const changedIds = new Set(restricted.map(({ repoId }) => repoId));
    registry.hide(changedIds);
    await apply({ changedIds, dueIds: new Set() }).catch(() => {});
    throw error;
  }
}

async function endOf(
  { registry, connectionId, apply }: ListingOptions,
  { listing, targets, found }: ListingState,
  before: EndedListing['before'],
): Promise<ListingEnd | undefined> {
  const ended = {
    connectionId,
    listing,
    targets,
    found,
    ...omitUndefined({ before }),
    now: Date.now(),
  };
  const end = await registry.decide((stored) => endListing(stored, ended));
  const missing = end?.missing.map(({ repoId }) => repoId);
  await apply({ changedIds: new Set(missing), dueIds: new Set() });
  return end;
}
