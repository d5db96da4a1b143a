// Answers one search: parses and plans the query, chooses the shards in scope, runs, orders, cuts, renders,
// and writes the response of API.md 6.2 as JSON bytes. Holds no state but the snapshot.

import type { SearchPool } from '../engine/pool.ts';
import { PlanError, type SearchPlan } from '../engine/search-plan.ts';
import type { Searcher } from '../engine/searcher.ts';
import { QueryError } from '../regex/error.ts';
import { parseQuery } from '../query/parser.ts';
import type { RepoRecord } from '../repos/records.ts';
import { ShardTables } from '../shards/tables.ts';
import { cutDocs, type FoundDoc, orderDocs, type OrderContext } from './order.ts';
import { decideForRepo, encodePlan, planQuery } from './plan.ts';
import { type FileResults, renderAnswer, type RenderContext } from './render.ts';
import { type RunOutcome, runSearch } from './run.ts';
import { shownRevisionTexts } from './revisions.ts';
import { type LiveShard, liveDocCount, type Snapshot, type SnapshotKeeper } from './snapshot.ts';
import { type Tally, tallyRun } from './tally.ts';

export interface SearchRequest {
  readonly query: string;
  /** Ranges at most, 1 or higher. */
  readonly matches: number;
  readonly contextLines: number;
  readonly whole: boolean;
  readonly isRegexEnabled: boolean;
  readonly isCaseSensitivityEnabled: boolean;
}

export interface SearchEnvironment {
  readonly signal: AbortSignal;
  /** Without trailing slash. */
  readonly baseUrl: string;
}

export interface EngineParts {
  readonly searcher: Searcher;
  readonly pool: SearchPool;
  readonly snapshots: SnapshotKeeper;
  /** 0: none. */
  readonly timeoutMs: number;
  /** How long a search may stay on this thread before the pool takes over. */
  readonly inlineNs?: bigint;
  /** Told about shards that failed a search. */
  readonly onShardFailure?: (shardId: string, reason: string) => void;
}

interface Scope {
  readonly shards: readonly LiveShard[];
  readonly quarantined: readonly LiveShard[];
}

/**
 * Runs a search to its end, its limit or its deadline.
 *
 * Errors: QueryError; EntitlementError; AbortError when the client is gone.
 */
export async function search(
  parts: EngineParts,
  request: SearchRequest,
  environment: SearchEnvironment,
): Promise<{ json: Uint8Array }> {
  const startNs = process.hrtime.bigint();
  const snapshot = parts.snapshots.acquire();
  try {
    const query = parseQuery(request.query, { isRegexEnabled: request.isRegexEnabled });
    const plan = planQuery(query, {
      repos: snapshot.repos,
      isCaseSensitive: request.isCaseSensitivityEnabled,
      testNames: (program, names) => parts.searcher.testNames(program, names),
    });
    const scope = scopeOf(snapshot, (repoId) => decideForRepo(plan, repoId) !== false);
    const encoded = encodePlan(plan, request.isCaseSensitivityEnabled, scope.shards);
    const outcome = await runPlan(parts, request, environment, scope, encoded);
    environment.signal.throwIfAborted();
    for (const { shard, reason } of outcome.failures) {
      parts.onShardFailure?.(scope.shards[shard]!.shardId, reason);
    }
    const planNs = Number((outcome.firstUnitNs ?? process.hrtime.bigint()) - startNs);
    const answer = await makeAnswer(
      parts,
      request,
      environment,
      snapshot,
      { ...scope, revisionTexts: shownRevisionTexts(query) },
      encoded,
      outcome,
    );
    return { json: writeAnswer(answer, startNs, planNs) };
  } finally {
    parts.snapshots.release(snapshot);
  }
}

function scopeOf(snapshot: Snapshot, isEligible: (repoId: number) => boolean): Scope {
  const isInScope = (shard: LiveShard): boolean =>
    isEligible(shard.repoId) && liveDocCount(shard) > 0;
  return {
    shards: snapshot.shards.filter(isInScope),
    quarantined: snapshot.quarantined.filter(isInScope),
  };
}

async function runPlan(
  parts: EngineParts,
  request: SearchRequest,
  { signal }: SearchEnvironment,
  { shards }: Scope,
  plan: SearchPlan,
): Promise<RunOutcome> {
  const { searcher, pool, timeoutMs, inlineNs } = parts;
  try {
    return await runSearch(searcher, pool, {
      shards,
      plan,
      limit: request.matches,
      timeoutMs,
      signal,
      ...(inlineNs === undefined ? {} : { inlineNs }),
    });
  } catch (error) {
    if (error instanceof PlanError)
      throw new QueryError(`the query is too large: ${error.message}`, 0);
    throw error;
  }
}

interface Answer {
  readonly files: FileResults;
  readonly tally: Tally;
  readonly outcome: RunOutcome;
  readonly actualMatchCount: number;
  readonly renderBytes: number;
  /** Docs of which rendering read the first block. */
  readonly renderLoads: number;
  readonly repos: readonly RepoRecord[];
  readonly hasQuarantined: boolean;
}

async function makeAnswer(
  parts: EngineParts,
  request: SearchRequest,
  { baseUrl }: SearchEnvironment,
  snapshot: Snapshot,
  scope: Scope & Pick<RenderContext, 'revisionTexts'>,
  plan: SearchPlan,
  outcome: RunOutcome,
): Promise<Answer> {
  const tally = tallyRun(scope.shards, scope.quarantined, outcome, request.matches);
  const view = new ScopeView(parts.searcher, snapshot.repos, scope.shards);
  const shown = cutDocs(orderDocs(tally.units, view), request.matches);
  const { contextLines, whole: isWhole } = request;
  const { searcher, pool } = parts;
  const { files, rangeCount, contentBytes, loadCount } = await renderAnswer(shown, {
    searcher,
    pool,
    plan,
    shards: scope.shards,
    baseUrl,
    contextLines,
    isWhole,
    revisionTexts: scope.revisionTexts,
    repoOf: (shard) => view.repoOf(shard),
  });
  return {
    files,
    tally,
    outcome,
    actualMatchCount: rangeCount,
    renderBytes: contentBytes,
    renderLoads: loadCount,
    repos: reposOf(shown, view),
    hasQuarantined: scope.quarantined.length > 0,
  };
}

/** Repos of the docs in order of first occurrence. */
function reposOf(docs: readonly FoundDoc[], view: ScopeView): RepoRecord[] {
  return [...new Set(docs.map(({ shard }) => view.repoOf(shard)))];
}

/** Tables and repos of the shards in scope, made when first asked for. */
class ScopeView implements OrderContext {
  readonly #searcher: Searcher;
  readonly #repos: Map<number, RepoRecord>;
  readonly #ranks: Map<number, number>;
  readonly #shards: readonly LiveShard[];
  readonly #tables = new Map<number, ShardTables>();

  constructor(searcher: Searcher, repos: readonly RepoRecord[], shards: readonly LiveShard[]) {
    this.#searcher = searcher;
    this.#shards = shards;
    this.#repos = new Map(repos.map((repo) => [repo.repoId, repo]));
    const byName = [...repos].sort((a, b) =>
      Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)),
    );
    this.#ranks = new Map(byName.map((repo, rank) => [repo.repoId, rank]));
  }

  repoOf(shard: number): RepoRecord {
    const { repoId, shardId } = this.#shards[shard]!;
    const repo = this.#repos.get(repoId);
    if (repo === undefined) throw new Error(`shard ${shardId} belongs to no repo`);
    return repo;
  }

  tablesOf(shard: number): ShardTables {
    let tables = this.#tables.get(shard);
    if (tables === undefined) {
      const { shardId } = this.#shards[shard]!;
      tables = new ShardTables(this.#searcher.spaceOf(shardId).bytesOf(shardId));
      this.#tables.set(shard, tables);
    }
    return tables;
  }

  repoRank(shard: number): number {
    return this.#ranks.get(this.#shards[shard]!.repoId) ?? 0;
  }

  pathOf(shard: number, docId: number): Uint8Array {
    return this.tablesOf(shard).doc(docId).path;
  }
}

/** The response of API.md 6.2. */
function writeAnswer(answer: Answer, startNs: bigint, planNs: number): Uint8Array {
  const { tally, outcome, actualMatchCount, renderBytes, renderLoads, hasQuarantined } = answer;
  const reasons = incompleteReasons(answer, hasQuarantined);
  const duration = Number(process.hrtime.bigint() - startNs);
  const stats = {
    actualMatchCount,
    ...tally.counts,
    contentBytesLoaded: tally.counts.contentBytesLoaded + renderBytes,
    filesLoaded: tally.counts.filesLoaded + renderLoads,
    duration,
    wait: Math.min(planNs, duration),
    matchTreeConstruction: outcome.bindNs,
    matchTreeSearch: outcome.searchNs,
    flushReason: 'FLUSH_REASON_UNKNOWN_UNSPECIFIED',
  };
  const rest = {
    repositoryInfo: answer.repos.map(repositoryInfo),
    isSearchExhaustive: reasons.length === 0,
    ...(reasons.length === 0 ? {} : { incompleteReasons: reasons }),
  };
  const head = Buffer.from(`{"stats":${JSON.stringify(stats)},"files":[`);
  const tail = Buffer.from(`],${JSON.stringify(rest).slice(1)}`);
  const { files } = answer;
  const commas = Math.max(files.count - 1, 0);
  const json = Buffer.allocUnsafe(head.length + files.size + commas + tail.length);
  head.copy(json, 0);
  tail.copy(json, files.writeTo(json, head.length));
  return json;
}

function incompleteReasons(
  { tally, outcome, actualMatchCount }: Answer,
  hasQuarantined: boolean,
): string[] {
  const reasons: string[] = [];
  if (tally.isOverLimit || tally.counts.totalMatchCount > actualMatchCount)
    reasons.push('match_limit');
  if (outcome.stop === 'deadline') reasons.push('deadline');
  if (tally.counts.crashes > 0) reasons.push('shard_crashed');
  if (hasQuarantined) reasons.push('shard_quarantined');
  return reasons;
}

function repositoryInfo(repo: RepoRecord): object {
  return {
    id: repo.repoId,
    codeHostType: repo.codeHostType,
    name: repo.name,
    ...(repo.displayName === undefined ? {} : { displayName: repo.displayName }),
    ...(repo.webUrl === undefined ? {} : { webUrl: repo.webUrl }),
  };
}
