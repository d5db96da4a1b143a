// The best files of an answer with the components of their scores (API.md 7.5). Searches store only the sum, so these files
// are evaluated again.

import { omitUndefined } from '../../base/omit-undefined.ts';
import { isTrap } from '../host/core.ts';
import type { ScoreParts, Searcher } from '../host/searcher.ts';
import type { EncodedPlan } from '../host/encoded-plan.ts';
import { ShardError } from '../host/space.ts';
import type { Steps } from '../../base/steps.ts';
import type { Completed } from './search.ts';

export interface BestDoc {
  readonly repository: string;
  readonly fileName: string;
  /** The sort key. */
  readonly score: number;
  /** Rounded except the tier; absent where the shard has failed since, or computing takes too long. */
  readonly parts?: ScoreParts;
}

const BEST_MAX = 10;

/** Each step evaluates one file. */
export function* explainBest(
  { answered, prepared: { scope, run, view } }: Completed,
  searcher: Searcher,
): Steps<BestDoc[]> {
  const best: BestDoc[] = [];
  const { found, docs } = answered;
  for (const doc of docs.subarray(0, BEST_MAX)) {
    const [shard, docId] = [found.shard(doc), found.docId(doc)];
    const parts = scoreDoc(searcher, run.encodedPlan, scope.shards[shard]!.shardId, docId);
    best.push({
      repository: view.repoOf(shard, docId).name,
      fileName: Buffer.from(view.pathOf(shard, docId)).toString(),
      score: found.score(doc),
      ...omitUndefined({ parts: parts && rounded(parts) }),
    });
    yield;
  }
  return best;
}

function rounded({ tier, leaves, ...parts }: ScoreParts): ScoreParts {
  const { symbol, name, text, near, path } = parts;
  return {
    symbol: Math.round(symbol),
    name: Math.round(name),
    text: Math.round(text),
    near: Math.round(near),
    tier,
    path: Math.round(path),
    leaves,
  };
}

/** Undefined: it takes too long, or the shard has failed, which searches report. */
function scoreDoc(
  searcher: Searcher,
  encodedPlan: EncodedPlan,
  shardId: string,
  docId: number,
): ScoreParts | undefined {
  // Bound: blocking of the event loop by one file.
  const end = process.hrtime.bigint() + 20_000_000n;
  const isLate = (): boolean => process.hrtime.bigint() > end;
  if (!searcher.has(shardId)) return undefined;
  try {
    searcher.setPlan(encodedPlan);
    if (!searcher.bindDocs(shardId, [docId], isLate)) return undefined;
    return searcher.scoreDoc(docId, isLate);
  } catch (error) {
    if (!(error instanceof ShardError) && !isTrap(error)) throw error;
    if (searcher.has(shardId)) searcher.replaceSpaceOf(shardId);
    return undefined;
  }
}
