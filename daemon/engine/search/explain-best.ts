// The best files of an answer with the components of their scores (API.md 7.5), in answer order.

import { omitUndefined } from '../../base/omit-undefined.ts';
import type { ScoreParts } from '../host/searcher.ts';
import type { Probe } from './probe.ts';
import type { Completed } from './service.ts';

/** A file of the answer. */
export interface BestDoc {
  readonly repository: string;
  readonly fileName: string;
  /** The sort key. */
  readonly score: number;
  /** Rounded except the tier; absent where the shard has failed since, or computing takes too long. */
  readonly parts?: ScoreParts;
}

const BEST_MAX = 10;

/** Errors: AbortError. */
export async function explainBest(
  { answered, prepared: { scope, run, view } }: Completed,
  probe: Probe,
): Promise<BestDoc[]> {
  const best: BestDoc[] = [];
  const { found, docs } = answered;
  for (const doc of docs.subarray(0, BEST_MAX)) {
    const [shard, docId] = [found.shard(doc), found.docId(doc)];
    const parts = probe.scoreDoc(run.plan, scope.shards[shard]!, docId);
    best.push({
      repository: view.repoOf(shard, docId).name,
      fileName: Buffer.from(view.pathOf(shard, docId)).toString(),
      score: found.score(doc),
      ...omitUndefined({ parts: parts && rounded(parts) }),
    });
    await probe.breathe();
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
