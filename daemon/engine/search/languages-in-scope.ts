// The languages of the files that a search looks at, counted from the tables of the shards: of the parts that are seen, and of
// what the default revision holds.

import { Breather } from '../../base/next-turn.ts';
import { holdsDoc } from '../shards/bits.ts';
import type { ScopeView } from './scope.ts';
import type { LiveShard } from './snapshot.ts';

/**
 * How many files there are of each language; of what was looked at where `timeMs` was not enough.
 *
 * Errors: AbortError when the client is gone.
 * Cost: a look at each doc's row, other work in between.
 */
export async function languagesOf(
  shards: readonly LiveShard[],
  view: ScopeView,
  timeMs: number,
  signal: AbortSignal,
): Promise<ReadonlyMap<string, number>> {
  const endMs = performance.now() + timeMs;
  const breather = new Breather();
  const counts = new Map<string, number>();
  for (const [index, { parts }] of shards.entries()) {
    const tables = view.tablesOf(index);
    const inShard = new Map<number, number>();
    for (const { docStart, docEnd, revisions } of parts) {
      const live = revisions?.docsIn([0]) ?? 'all';
      for (let docId = docStart; docId < docEnd; docId++) {
        if (!holdsDoc(live, docId - docStart)) continue;
        const language = tables.languageOf(docId);
        inShard.set(language, (inShard.get(language) ?? 0) + 1);
        const pause = breather.pause();
        if (pause !== undefined) await pause;
      }
      signal.throwIfAborted();
    }
    for (const [language, count] of inShard) {
      const name = tables.languageName(language);
      if (name !== '') counts.set(name, (counts.get(name) ?? 0) + count);
    }
    if (performance.now() > endMs) break;
  }
  return counts;
}
