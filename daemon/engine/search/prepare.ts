// Prepares a search: parses and plans the query against a snapshot, selects the shards in scope, encodes the plan.

import type { Cancellation } from '../../base/cancellation.ts';
import type { SearchPool } from '../host/pool.ts';
import type { CompletedSearch, Gaps, StepTimes } from './answer.ts';
import { PlanError } from '../host/encoded-plan.ts';
import type { Searcher } from '../host/searcher.ts';
import type { ShardFault } from '../host/space.ts';
import { QueryError } from '../regex/query-error.ts';
import { type Hint, HINTS_MAX, hintsFor } from '../query/hints.ts';
import { wholeQuerySteps } from '../query/filter.ts';
import { RESULT_FIELDS, type SearchRequest } from '../query/request.ts';
import type { QueryNode } from '../query/tree.ts';
import type { Steps } from '../../base/steps.ts';
import { runInSlices } from './run-in-slices.ts';
import { needsDocSets, visibleRepos } from './visible.ts';
import { encodeSteps, type NodeRows } from '../query/encode.ts';
import { planSteps } from '../query/plan.ts';
import type { PlanNode } from '../query/plan-tree.ts';
import { isInSet, possibleRepos } from '../query/repo-set.ts';
import type { SearchPermit } from '../../base/search-permit.ts';
import { Reading, type RenderContext } from './render.ts';
import { revisionHints, unreadHints } from './revision-hints.ts';
import { unindexedHints, unsearchedHints } from './unsearched-hints.ts';
import { hasRevisionFilter, displayedRevisionTexts, withOnDemand } from '../query/revisions.ts';
import type { RunOptions } from './run.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { SearchContexts } from '../../repos/search-context.ts';
import { canSee, type RepoAccess } from '../../repos/repo-access.ts';
import { repoOrderOf, type Scope, scopeOf, ScopeView } from './scope.ts';
import type { Snapshot, SnapshotManager } from './snapshot.ts';
import type { SearchProgress } from './totals.ts';
import type { StartThreads } from './start-threads.ts';

export interface SearchEnvironment {
  readonly signal: Cancellation;
  /** Called now and then for a search that is answered as a whole. */
  readonly onProgress?: ((progress: SearchProgress) => void) | undefined;
  /** Absent: the only search. */
  readonly permit?: SearchPermit | undefined;
  /** Reserves bytes for an answer that is sent as a whole. Errors end the search. */
  readonly takeMemory?: ((size: number) => void) | undefined;
  /** For the log: the request, and whom it is for. */
  readonly requestId?: string | undefined;
  readonly clientKey?: string | undefined;
  /** Without trailing slash. */
  readonly baseUrl: string;
  readonly repoAccess: RepoAccess;
  /** Absent: `context:` matches no name. */
  readonly contexts?: SearchContexts | undefined;
  /** For explaining: filled with the rows of the plan's nodes, which binding then counts. */
  readonly nodeRows?: NodeRows | undefined;
}

/**
 * A snapshot with the named revisions that git knows, to be released; undefined: git knows none. Names are well formed and
 * part of no indexed revision name. Errors: REVISION_TOO_LARGE (`errorCode`); ShardError; those of git; the signal's.
 */
export type RevisionPort = (
  repos: readonly RepoRecord[],
  names: readonly string[],
  /** For fair scheduling of builds. */
  clientKey: string,
  signal: AbortSignal,
) => Promise<Snapshot | undefined>;

export interface EngineParts {
  readonly searcher: Searcher;
  readonly pool: Pick<SearchPool, 'size' | 'search' | 'searchOn' | 'render'>;
  readonly snapshots: Pick<SnapshotManager, 'current' | 'acquire' | 'release'>;
  /** Names of the connections of a repo; absent: none. */
  readonly connectionsOf?: ((repoId: number) => readonly string[]) | undefined;
  /** Number of a repo's files indexed by name only because they are too large; absent: none. */
  readonly tooLargeOf?: ((repoId: number) => number) | undefined;
  /** Repos are unknown, as their entries are damaged: what is in scope counts as out of service. */
  readonly lacksRepos?: boolean;
  /** Absent: only indexed revisions. */
  readonly revisions?: RevisionPort | undefined;
  /** Absent: every search begins at once on the calling thread. */
  readonly startThreads?: StartThreads;
  /** Absent: pool threads only help. */
  readonly shortSearches?: ShortSearchPort;
  /** 0: none. */
  readonly timeoutMs: number;
  /** Time on the main thread before the pool continues; default: 4 ms. */
  readonly inlineNs?: bigint | undefined;
  readonly onShardFailure?: (shardId: string, reason: string, fault?: ShardFault) => void;
  /** Called for each search that reached its end, limit or deadline. */
  readonly onCompleted?: ((search: CompletedSearch, of: SearchOrigin) => void) | undefined;
}

/** Of what request a search was. */
export interface SearchOrigin {
  readonly request: SearchRequest;
  readonly environment: SearchEnvironment;
  /** Absent: another thread made it. */
  readonly plan?: PlanNode;
}

export interface ShortAnswer {
  /** Of the response. */
  readonly json: Uint8Array<ArrayBuffer>;
  readonly completed: CompletedSearch;
}

/** Whole searches on a reserved pool thread (short-searches.ts). Undefined: to be run by the caller. */
export interface ShortSearchPort {
  run(
    thread: number,
    parts: EngineParts,
    request: SearchRequest,
    environment: SearchEnvironment,
  ): Promise<ShortAnswer | undefined>;
}

export interface Prepared {
  readonly tree: QueryNode;
  /** The source of `run.encodedPlan`. */
  readonly plan: PlanNode;
  readonly scope: Scope;
  readonly gaps: Gaps;
  readonly view: ScopeView;
  readonly run: RunOptions;
  readonly render: RenderContext;
  /** On the query's syntax; ambiguous hints only without results. */
  readonly hints: (isFound: boolean) => { readonly hints?: readonly Hint[] };
  /** On files whose content was not searched, for queries on contents. */
  readonly unsearched: () => readonly Hint[];
  readonly unindexed: () => readonly Hint[];
  readonly preparing: PreparingTimes;
}

/** Of process.hrtime. */
export interface PreparingTimes {
  readonly beganNs: bigint;
  readonly parsedNs: bigint;
  readonly plannedNs: bigint;
}

/** The caller keeps the snapshot. Errors: QueryError; UnknownContextError; AbortError when the client is gone. */
export function prepareSearch(
  parts: EngineParts,
  request: SearchRequest,
  environment: SearchEnvironment,
  snapshot: Snapshot,
): Promise<Prepared> {
  return runInSlices(prepareSteps(parts, request, environment, snapshot), environment);
}

function* prepareSteps(
  parts: EngineParts,
  request: SearchRequest,
  { signal, permit, takeMemory, baseUrl, repoAccess, contexts, nodeRows }: SearchEnvironment,
  snapshot: Snapshot,
): Steps<Prepared> {
  const { searcher, pool, timeoutMs, inlineNs } = parts;
  const { isRegexEnabled, isCaseSensitivityEnabled } = request;
  const isFolded = !isCaseSensitivityEnabled;
  const beganNs = process.hrtime.bigint();
  const tree = yield* wholeQuerySteps(request, { isRegexEnabled, isFolded });
  const parsedNs = process.hrtime.bigint();
  const { onDemand } = snapshot;
  const resolved = onDemand === undefined ? tree : withOnDemand(tree, onDemand);
  const order = repoOrderOf(snapshot.repos);
  const plan = yield* planSteps(resolved, {
    repos: () => visibleRepos(snapshot, repoAccess),
    allNames: { names: order.names, isVisible: (repoId) => canSee(repoAccess, repoId) },
    contexts,
    connectionsOf: parts.connectionsOf,
    needsDocSets: needsDocSets(snapshot, repoAccess),
    hasOnDemand: onDemand !== undefined,
    testNames: (program, names) => searcher.testNames(program, names),
  });
  const wanted = possibleRepos(plan);
  const scope = scopeOf(snapshot, repoAccess, wanted);
  const encodedPlan = yield* encodeSteps(plan, isCaseSensitivityEnabled, scope.shards, nodeRows);
  const view = new ScopeView(searcher, order, scope.shards);
  const { shards } = scope;
  const run = { shards, encodedPlan, limit: request.matches, timeoutMs, signal, permit, inlineNs };
  const render = {
    searcher,
    pool,
    inlineNs,
    encodedPlan,
    shards,
    baseUrl,
    contextLines: request.contextLines,
    returnsContent: request.whole,
    lineSizeMax: request.maxLineBytes,
    fields: request.fields ?? RESULT_FIELDS,
    revisionTexts: displayedRevisionTexts(resolved),
    view,
    reading: new Reading(),
    signal,
    permit,
    takeMemory,
  };
  const gaps = gapsOf(plan, scope, snapshot, parts.lacksRepos);
  const isSearched = ({ repoId }: RepoRecord): boolean =>
    canSee(repoAccess, repoId) && isInSet(wanted, repoId);
  const repos = (): RepoRecord[] => visibleRepos(snapshot, repoAccess).filter(isSearched);
  const hints = (isFound: boolean): { hints?: Hint[] } => {
    const found = [
      ...unreadHints(snapshot.unread ?? []),
      ...(isFound ? [] : hintsOnRevisions(request, tree, resolved, repos, parts, snapshot)),
      ...hintsOnHabits(request, isFound),
    ].slice(0, HINTS_MAX);
    return found.length === 0 ? {} : { hints: found };
  };
  const unsearched = (): Hint[] =>
    parts.tooLargeOf !== undefined && hasKind(plan, ['text', 'regex'])
      ? unsearchedHints(snapshot, isSearched, parts.tooLargeOf)
      : [];
  const unindexed = (): Hint[] => unindexedHints(snapshot, isSearched);
  const preparing = { beganNs, parsedNs, plannedNs: process.hrtime.bigint() };
  return { tree, plan, scope, gaps, view, run, render, hints, unsearched, unindexed, preparing };
}

function gapsOf(
  plan: PlanNode,
  { shards, quarantined }: Scope,
  { unread }: Snapshot,
  lacksRepos = false,
): Gaps {
  return {
    hasQuarantined: lacksRepos || quarantined.length > 0,
    hasUnread: unread !== undefined,
    lacksSymbols:
      hasKind(plan, ['symbol', 'symbolRegex']) &&
      shards.some(({ symbols }) => symbols === undefined),
  };
}

/** For a search without results. @param resolved  the query as planned */
function hintsOnRevisions(
  { query: text }: SearchRequest,
  tree: QueryNode,
  resolved: QueryNode,
  repos: () => RepoRecord[],
  { revisions }: EngineParts,
  { unread = [] }: Snapshot,
): Hint[] {
  if (typeof text !== 'string' || !hasRevisionFilter(tree)) return [];
  const unreadNames = new Set(unread.map(({ name }) => name));
  return revisionHints(resolved, text, repos(), revisions !== undefined, unreadNames);
}

function hintsOnHabits({ query: text, isRegexEnabled }: SearchRequest, isFound: boolean): Hint[] {
  return typeof text === 'string' ? hintsFor(text, isRegexEnabled, isFound) : [];
}

function hasKind(plan: PlanNode, kinds: readonly PlanNode['kind'][]): boolean {
  if (plan.kind === 'not') return hasKind(plan.child, kinds);
  if (plan.kind === 'and' || plan.kind === 'or')
    return plan.children.some((child) => hasKind(child, kinds));
  return kinds.includes(plan.kind);
}

/** @param startNs  arrival of the request; also `foundNs`: of process.hrtime */
export function stepTimes(
  startNs: bigint,
  { beganNs, parsedNs, plannedNs }: PreparingTimes,
  foundNs: bigint,
): StepTimes {
  return {
    beganNs: Number(beganNs - startNs),
    parsedNs: Number(parsedNs - startNs),
    plannedNs: Number(plannedNs - startNs),
    foundNs: Number(foundNs - startNs),
  };
}

/** A plan that the core refuses is a bad query. */
export function searchErrorOf(error: unknown): unknown {
  return error instanceof PlanError
    ? new QueryError(`the query is too large: ${error.message}`, 0)
    : error;
}
