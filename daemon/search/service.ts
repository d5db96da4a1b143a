// Answers one blocking search: runs it to its end, orders, cuts, renders, and writes the response of API.md 6.2
// as JSON bytes. Holds no state but the snapshot.

import { exhaustiveness, incompleteReasons, repositoryInfos } from './answer.ts';
import { statsNumbers, statsObject, writeWithFiles } from './answer.ts';
import { cutDocs, orderDocs } from './order.ts';
import { prepareSearch, searchErrorOf } from './prepare.ts';
import type { EngineParts, Prepared, SearchEnvironment, SearchRequest } from './prepare.ts';
import { renderAnswer } from './render.ts';
import { type RunOutcome, runSearch } from './run.ts';
import { tallyRun } from './tally.ts';
import type { Place } from './turns.ts';

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
    const prepared = prepareSearch(parts, request, environment, snapshot);
    const place = await parts.turns?.take();
    const outcome = await runSearch(parts.searcher, parts.pool, prepared.run, place);
    environment.signal.throwIfAborted();
    for (const { shard, reason } of outcome.failures) {
      parts.onShardFailure?.(prepared.scope.shards[shard]!.shardId, reason);
    }
    const waitNs = Number((outcome.firstUnitNs ?? process.hrtime.bigint()) - startNs);
    return { json: await makeAnswer(prepared, outcome, startNs, waitNs, place) };
  } catch (error) {
    throw searchErrorOf(error);
  } finally {
    parts.snapshots.release(snapshot);
  }
}

async function makeAnswer(
  { scope, view, run, render }: Prepared,
  outcome: RunOutcome,
  startNs: bigint,
  waitNs: number,
  place: Place,
): Promise<Uint8Array> {
  const tally = tallyRun(scope.shards, scope.quarantined, outcome, run.limit);
  const shown = cutDocs(orderDocs(tally.units, view), run.limit);
  const { files, ...rendered } = await renderAnswer(shown, render, place);
  const hasQuarantined = scope.quarantined.length > 0;
  const reasons = incompleteReasons(tally, rendered.rangeCount, outcome.stop, hasQuarantined);
  const duration = Number(process.hrtime.bigint() - startNs);
  const numbers = statsNumbers(tally.counts, rendered, {
    duration,
    wait: Math.min(waitNs, duration),
    matchTreeConstruction: outcome.bindNs,
    matchTreeSearch: outcome.searchNs,
  });
  return writeWithFiles({ stats: statsObject(numbers, 'UNKNOWN_UNSPECIFIED') }, files, {
    repositoryInfo: repositoryInfos(shown, view),
    ...exhaustiveness(reasons),
  });
}
