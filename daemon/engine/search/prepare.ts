// Prepares a search: parses and plans the query against a snapshot, selects the shards in scope, and encodes the plan for the
// core.

import type { SearchPool } from '../host/pool.ts';
import type { Gaps, StatsNumbers } from './answer.ts';
import { PlanError } from '../host/search-plan.ts';
import type { Searcher } from '../host/searcher.ts';
import type { ShardFault } from '../host/space.ts';
import { QueryError } from '../regex/query-error.ts';
import { type Hint, HINTS_MAX, hintsFor } from '../query/hints.ts';
import { wholeQuerySteps } from '../query/filter.ts';
import { RESULT_FIELDS, type SearchRequest } from '../query/request.ts';
import type { QueryNode } from '../query/tree.ts';
import type { Steps } from '../../base/steps.ts';
import { inTurns } from './in-turns.ts';
import { needsDocSets, visibleRepos } from './visible.ts';
import { encodeSteps } from '../query/encode.ts';
import { planSteps } from '../query/plan.ts';
import type { PlanNode } from '../query/plan-tree.ts';
import { repoTestOf } from '../query/repos.ts';
import type { SearchPlace } from '../../base/place.ts';
import { Reading, type RenderContext } from './render.ts';
import { revisionHints, unreadHints } from './revision-hints.ts';
import { unsearchedHints } from './unsearched-hints.ts';
import { hasRevisionFilter, shownRevisionTexts, withDemanded } from '../query/revisions.ts';
import type { RunOptions } from './run.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { SearchContexts } from '../../repos/search-context.ts';
import { isSeen, type Sight } from '../../repos/sight.ts';
import { repoOrderOf, type Scope, scopeOf, ScopeView } from './scope.ts';
import type { Snapshot, SnapshotKeeper } from './snapshot.ts';
import type { SearchProgress } from './tally.ts';
import type { StartThreads } from './start-threads.ts';

export interface SearchEnvironment {
  readonly signal: AbortSignal;
  /** Told now and then, while it lasts, how far a search is that is answered as a whole. */
  readonly onProgress?: ((progress: SearchProgress) => void) | undefined;
  /** Absent: the search is alone. */
  readonly place?: SearchPlace | undefined;
  /** Takes bytes for an answer that is sent as a whole. Errors: what it throws ends the search. */
  readonly takeMemory?: ((size: number) => void) | undefined;
  /** Without trailing slash. */
  readonly baseUrl: string;
  /** The repos that the search may see. */
  readonly sight: Sight;
  /** Absent: `context:` knows none. */
  readonly contexts?: SearchContexts | undefined;
}

/**
 * A snapshot in which repos have, of these names, the revisions that their git knows by them, and which says what of them could
 * not be read; it is held, to be released. Undefined: none is known. The names are well formed, and no indexed revision has one
 * of them in its name.
 *
 * Errors: one with `errorCode` REVISION_TOO_LARGE; ShardError; those of git; the reason of the signal.
 */
export type RevisionPort = (
  repos: readonly RepoRecord[],
  names: readonly string[],
  /** Who searches: what is to be built is built by turns of holders. */
  holder: string,
  signal: AbortSignal,
) => Promise<Snapshot | undefined>;

export interface EngineParts {
  readonly searcher: Searcher;
  readonly pool: SearchPool;
  readonly snapshots: SnapshotKeeper;
  /** Names of the connections that have a repo; absent: none has. */
  readonly connectionsOf?: ((repoId: number) => readonly string[]) | undefined;
  /** Files of a repo that are known by name alone, as they are too large; absent: none. */
  readonly tooLargeOf?: ((repoId: number) => number) | undefined;
  /** Absent: searches know indexed revisions alone. */
  readonly revisions?: RevisionPort | undefined;
  /** Absent: every search begins at once on the calling thread. */
  readonly startThreads?: StartThreads;
  /** 0: none. */
  readonly timeoutMs: number;
  /** How long a search may stay on this thread before the pool takes over. */
  readonly inlineNs?: bigint;
  /** Told about shards that failed a search. */
  readonly onShardFailure?: (shardId: string, reason: string, fault?: ShardFault) => void;
  /** Told of each search that has come to its end, its limit or its deadline. */
  readonly onCompleted?: ((seen: CompletedSearch) => void) | undefined;
}

/** What is told of a search for metrics. */
export interface CompletedSearch {
  readonly kind: 'search' | 'stream';
  readonly numbers: StatsNumbers;
  /** Why it is not exhaustive; empty if it is. */
  readonly reasons: readonly string[];
  /** From its start to the first results that a stream sent; undefined: none. */
  readonly firstResultNs?: number | undefined;
}

/** A search that is ready to run. */
export interface Prepared {
  readonly query: QueryNode;
  /** What `run.plan` was encoded from. */
  readonly conditions: PlanNode;
  readonly scope: Scope;
  readonly gaps: Gaps;
  readonly view: ScopeView;
  readonly run: RunOptions;
  readonly render: RenderContext;
  /** Bytes of JSON that an answer may have; undefined: as many as it takes. */
  readonly sizeMax: number | undefined;
  /** What the query may have meant; of more if the answer shows nothing. */
  readonly hints: (isFound: boolean) => { readonly hints?: readonly Hint[] };
  /** Files that were not searched, of a query that asks for contents. */
  readonly unsearched: () => readonly Hint[];
}

/**
 * Prepares a search; a query that takes long lets others in between.
 *
 * @param snapshot  the caller keeps it until the search is over
 *
 * Errors: QueryError; UnknownContextError; AbortError when the client is gone.
 */
export function prepareSearch(
  parts: EngineParts,
  request: SearchRequest,
  environment: SearchEnvironment,
  snapshot: Snapshot,
): Promise<Prepared> {
  return inTurns(prepareSteps(parts, request, environment, snapshot), environment);
}

function* prepareSteps(
  parts: EngineParts,
  request: SearchRequest,
  { signal, place, takeMemory, baseUrl, sight, contexts }: SearchEnvironment,
  snapshot: Snapshot,
): Steps<Prepared> {
  const { searcher, pool, timeoutMs, inlineNs } = parts;
  const { isRegexEnabled, isCaseSensitivityEnabled } = request;
  const isFolded = !isCaseSensitivityEnabled;
  const query = yield* wholeQuerySteps(request, { isRegexEnabled, isFolded });
  const { demanded } = snapshot;
  const meant = demanded === undefined ? query : withDemanded(query, demanded);
  const conditions = yield* planSteps(meant, {
    repos: () => visibleRepos(snapshot, sight),
    contexts,
    connectionsOf: parts.connectionsOf,
    needsDocSets: needsDocSets(snapshot, sight),
    hasDemanded: demanded !== undefined,
    testNames: (program, names) => searcher.testNames(program, names),
  });
  const repoTest = repoTestOf(conditions);
  const scope = scopeOf(snapshot, sight, (repoId) => repoTest(repoId) !== false);
  const plan = yield* encodeSteps(conditions, isCaseSensitivityEnabled, scope.shards);
  const view = new ScopeView(searcher, repoOrderOf(snapshot.repos), scope.shards);
  const { shards } = scope;
  const run = {
    shards,
    plan,
    limit: request.matches,
    timeoutMs,
    signal,
    place,
    inlineNs,
  };
  const render = {
    searcher,
    pool,
    plan,
    shards,
    baseUrl,
    contextLines: request.contextLines,
    isWhole: request.whole,
    lineSizeMax: request.maxLineBytes,
    fields: request.fields ?? RESULT_FIELDS,
    revisionTexts: shownRevisionTexts(meant),
    repoOf: (shard: number, docId: number) => view.repoOf(shard, docId),
    tablesOf: (shard: number) => view.tablesOf(shard),
    oidOf: (shard: number, docId: number) => view.oidOf(shard, docId),
    reading: new Reading(),
    signal,
    place,
    takeMemory,
  };
  const gaps = {
    hasQuarantined: scope.quarantined.length > 0,
    hasUnread: snapshot.unread !== undefined,
    lacksSymbols:
      hasKind(conditions, ['symbol', 'symbolRegex']) &&
      shards.some(({ symbols }) => symbols === undefined),
  };
  const isSearched = ({ repoId }: RepoRecord): boolean =>
    isSeen(sight, repoId) && repoTest(repoId) !== false;
  const repos = (): RepoRecord[] => visibleRepos(snapshot, sight).filter(isSearched);
  const hints = (isFound: boolean): { hints?: Hint[] } => {
    const found = [
      ...unreadHints(snapshot.unread ?? []),
      ...(isFound ? [] : hintsOnRevisions(request, query, meant, repos, parts, snapshot)),
      ...hintsOnHabits(request, isFound),
    ].slice(0, HINTS_MAX);
    return found.length === 0 ? {} : { hints: found };
  };
  const unsearched = (): Hint[] =>
    parts.tooLargeOf !== undefined && hasKind(conditions, ['text', 'regex'])
      ? unsearchedHints(snapshot, isSearched, parts.tooLargeOf)
      : [];
  const sizeMax = request.maxBytes;
  return { query, conditions, scope, gaps, view, run, render, sizeMax, hints, unsearched };
}

/** Where nothing was found at the revisions that a query of text asks for. @param meant  the query as it was planned */
function hintsOnRevisions(
  { query: text }: SearchRequest,
  query: QueryNode,
  meant: QueryNode,
  repos: () => RepoRecord[],
  { revisions }: EngineParts,
  { unread = [] }: Snapshot,
): Hint[] {
  if (typeof text !== 'string' || !hasRevisionFilter(query)) return [];
  const told = new Set(unread.map(({ name }) => name));
  return revisionHints(meant, text, repos(), revisions !== undefined, told);
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

/** What a caller is to be told of a search that failed: a plan that the core refuses is a bad query. */
export function searchErrorOf(error: unknown): unknown {
  return error instanceof PlanError
    ? new QueryError(`the query is too large: ${error.message}`, 0)
    : error;
}
