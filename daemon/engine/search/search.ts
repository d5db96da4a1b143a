// Runs one blocking search and writes the response of API.md 6.2 as JSON bytes. Keeps the intermediate results for
// explain.ts. The snapshot is its only state.

import { arrivalNs } from '../../base/search-permit.ts';
import { ShardError } from '../host/space.ts';
import { completedSearch, exhaustiveness, incompleteReasons, repositoryInfos } from './answer.ts';
import {
  fittingCount,
  textsAround,
  TOO_SMALL,
  withSizeLimit,
  workTimes,
  writeWithFiles,
} from './answer.ts';
import { statsNumbers, type StatsNumbers, statsObject } from './answer.ts';
import { acquireFor } from './demanded-revisions.ts';
import type { DocList } from './found-docs.ts';
import { runInSlices } from './run-in-slices.ts';
import { LazyAnswer } from './lazy-answer.ts';
import { answerHints } from './near-hints.ts';
import { cutDocs, orderDocs } from './order.ts';
import { prepareSearch, searchErrorOf, stepTimes } from './prepare.ts';
import type { EngineParts, Prepared, SearchEnvironment } from './prepare.ts';
import type { SearchRequest } from '../query/request.ts';
import { type FileResults, renderAnswer, type RenderedAnswer, type RenderSums } from './render.ts';
import { type FindingsListener, type RunOutcome, runSearch } from './run.ts';
import { SHORT_MATCHES_MAX } from './short-searches.ts';
import type { Snapshot } from './snapshot.ts';
import type { Thread } from './start-threads.ts';
import { mayMatchFolded, RunningTotals, type Totals, totalsOfRun } from './totals.ts';

export interface Completed {
  readonly prepared: Prepared;
  readonly outcome: RunOutcome;
  readonly totals: Totals;
  /** Best first. */
  readonly answered: DocList;
  readonly files: FileResults;
  readonly numbers: StatsNumbers;
  /** Why the search is not exhaustive; empty if it is. */
  readonly reasons: readonly string[];
}

/** Errors: QueryError; UnknownContextError; AbortError when the client is gone. */
export async function search(
  parts: EngineParts,
  request: SearchRequest,
  environment: SearchEnvironment,
): Promise<{ json: Uint8Array | LazyAnswer }> {
  const { startThreads } = parts;
  const reserved = await startThreads?.take();
  try {
    return await searchFrom(reserved?.thread, parts, request, environment);
  } finally {
    if (reserved !== undefined) startThreads?.giveBack(reserved);
  }
}

async function searchFrom(
  thread: Thread,
  parts: EngineParts,
  request: SearchRequest,
  environment: SearchEnvironment,
): Promise<{ json: Uint8Array | LazyAnswer }> {
  if (thread !== undefined && request.matches <= SHORT_MATCHES_MAX && !request.whole) {
    const answer = await parts.shortSearches?.run(thread, parts, request, environment);
    environment.signal.throwIfAborted();
    if (answer !== undefined) {
      parts.onCompleted?.(answer.completed, { request, environment });
      return answer;
    }
  }
  const acquire = () => acquireFor(parts, request, environment);
  return withSnapshot(parts, acquire, async (snapshot) => {
    const completed = await completeSearch(parts, request, environment, snapshot, { thread });
    const { prepared, numbers, reasons, totals } = completed;
    const found = {
      matchCount: numbers.totalMatchCount,
      isExhaustive: reasons.length === 0,
      mayMatchFolded: mayMatchFolded(totals.shards),
    };
    const inputs = { parts, request, environment, snapshot, prepared, found };
    const hints = await answerHints({ ...inputs, search: completeSearch });
    const fitting =
      request.maxBytes === undefined ? completed : fitted(completed, hints, request.maxBytes);
    const isEmptied = fitting.files.count === 0 && completed.files.count > 0;
    const { head, tail } = membersOf(fitting, isEmptied ? { hints: [TOO_SMALL] } : hints);
    const { files } = fitting;
    // Larger answers are assembled while they are sent.
    const isSmall = files.sizeOf(0, files.count) <= 128 * 1024;
    const json = isSmall ? writeWithFiles(head, files, tail) : new LazyAnswer(head, files, tail);
    return { json };
  });
}

function membersOf(
  { prepared, answered, numbers, reasons }: Completed,
  hints: object,
): { readonly head: object; readonly tail: object } {
  const stats = statsObject(numbers, 'UNKNOWN_UNSPECIFIED');
  const repositoryInfo = repositoryInfos(answered, prepared.view);
  return { head: { stats }, tail: { repositoryInfo, ...exhaustiveness(reasons), ...hints } };
}

/** With as many results as fit into `sizeMax` bytes. */
function fitted(completed: Completed, hints: object, sizeMax: number): Completed {
  const { head, tail } = membersOf(completed, hints);
  const { before, after } = textsAround(head, tail);
  // Leaves 64 bytes for the members that say results are missing.
  const capacity = sizeMax - Buffer.byteLength(before) - Buffer.byteLength(after) - 64;
  const count = fittingCount(completed.files, capacity);
  if (count === completed.files.count) return completed;
  const { found } = completed.answered;
  const docs = completed.answered.docs.subarray(0, count);
  const actualMatchCount = found.rangeMaxOf(docs);
  return {
    ...completed,
    answered: { found, docs },
    files: completed.files.first(count),
    numbers: { ...completed.numbers, actualMatchCount },
    reasons: withSizeLimit(completed.reasons),
  };
}

/** Bound: a search that finds damage before anything is sent restarts without the shard. */
const ATTEMPTS_MAX = 3;

/** Keeps a snapshot open during `work`; converts errors to those of a search. */
export function withSnapshot<Value>(
  parts: EngineParts,
  acquire: () => Snapshot | Promise<Snapshot>,
  work: (snapshot: Snapshot) => Promise<Value>,
): Promise<Value> {
  return withoutDamaged(parts, async () => {
    const snapshot = await acquire();
    try {
      return await work(snapshot);
    } finally {
      parts.snapshots.release(snapshot);
    }
  });
}

/** Repeats `attempt` after damage, which is reported first; converts errors to those of a search. */
export async function withoutDamaged<Value>(
  parts: EngineParts,
  attempt: () => Promise<Value>,
): Promise<Value> {
  for (let count = 1; ; count++) {
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof ShardError)) throw searchErrorOf(error);
      parts.onShardFailure?.(error.shardId, error.message, error.fault);
      if (count === ATTEMPTS_MAX) throw error;
    }
  }
}

export interface CompleteOptions {
  /** As for renderAnswer. */
  readonly onRendered?: (shard: number, done: RenderSums) => void;
  /** Where it begins. Absent: StartThreads decides. */
  readonly thread?: Thread;
}

/** Parses, plans, runs, orders, cuts and renders. Errors: as `search`, and PlanError. */
export async function completeSearch(
  parts: EngineParts,
  request: SearchRequest,
  environment: SearchEnvironment,
  snapshot: Snapshot,
  options: CompleteOptions = {},
): Promise<Completed> {
  const startNs = arrivalNs(environment.permit);
  const prepared = await prepareSearch(parts, request, environment, snapshot);
  const { scope, run } = prepared;
  const thread = 'thread' in options ? options.thread : (await parts.startThreads?.take())?.thread;
  const report = environment.onProgress && progressReporter(prepared, environment.onProgress);
  const outcome = await runSearch(parts.searcher, parts.pool, run, thread, report);
  const foundNs = process.hrtime.bigint();
  environment.signal.throwIfAborted();
  await environment.permit?.whenRunning();
  for (const { shard, reason, fault } of outcome.failures)
    parts.onShardFailure?.(scope.shards[shard]!.shardId, reason, fault);
  const render = (docs: DocList) => renderAnswer(docs, prepared.render, thread, options.onRendered);
  const answered = await answerOf(prepared, outcome, render, environment, startNs);
  const { numbers, reasons } = answered;
  const origin = { request, environment, plan: prepared.plan };
  const steps = stepTimes(startNs, prepared.preparing, foundNs);
  parts.onCompleted?.(completedSearch('search', numbers, reasons, steps), origin);
  return { prepared, outcome, ...answered };
}

function progressReporter(
  { scope }: Prepared,
  onProgress: NonNullable<SearchEnvironment['onProgress']>,
): FindingsListener {
  const totals = new RunningTotals(scope.shards, scope.quarantined);
  let reportedMs = -Infinity;
  return ({ bindings, units, failures }) => {
    for (const binding of bindings) totals.addBinding(binding);
    for (const unit of units) totals.addUnit(unit);
    for (const { shard } of failures) totals.addFailure(shard);
    if (performance.now() - reportedMs < 250) return;
    reportedMs = performance.now();
    onProgress(totals.progress);
  };
}

async function answerOf(
  { scope, view, run: { limit }, gaps }: Prepared,
  outcome: RunOutcome,
  render: (docs: DocList) => Promise<RenderedAnswer>,
  environment: SearchEnvironment,
  startNs: bigint,
): Promise<Omit<Completed, 'prepared' | 'outcome'>> {
  const waitNs = Number((outcome.firstUnitNs ?? process.hrtime.bigint()) - startNs);
  const totals = totalsOfRun(scope.shards, scope.quarantined, outcome, limit);
  const answered = cutDocs(await runInSlices(orderDocs(totals.units, view), environment), limit);
  const { files, ...rendered } = await render(answered);
  const reasons = incompleteReasons(totals, rendered.rangeCount, outcome.stop, gaps);
  const duration = Number(process.hrtime.bigint() - startNs);
  const numbers = statsNumbers(totals.counts, rendered, {
    duration,
    wait: Math.min(waitNs, duration),
    ...workTimes(outcome.times),
  });
  return { totals, answered, files, numbers, reasons };
}
