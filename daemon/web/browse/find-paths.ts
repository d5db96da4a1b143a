// Ranks paths by how well they match a typed text.

import UFuzzy from '@leeoniya/ufuzzy';
import type { FoundPath, FromFinder } from './finder-messages.ts';

/** Paths in one answer. */
const RESULTS_MAX = 50;
/** More matches than this are not ranked. */
const RANKED_MAX = 20_000;

/** Why these patterns: the default ones take only ASCII letters for letters. */
const fuzzy = new UFuzzy({
  intraMode: 0,
  intraChars: '.',
  intraIns: 12,
  unicode: true,
  interSplit: String.raw`[^\p{L}\d']+`,
  intraSplit: String.raw`\p{Ll}\p{Lu}`,
  intraBound: String.raw`\p{L}\d|\d\p{L}|\p{Ll}\p{Lu}`,
  intraContr: String.raw`'\p{L}{1,2}\b`,
});

function marksOf(ranges: readonly number[] | undefined): FoundPath['marks'] {
  const all = ranges ?? [];
  return all.flatMap((from, index) =>
    index % 2 === 0 ? [{ from, to: all[index + 1] ?? from }] : [],
  );
}

/** The paths that match the text, best first. */
export function find(paths: string[], text: string): FromFinder {
  if (text.trim() === '') {
    const first = paths.slice(0, RESULTS_MAX).map((path) => ({ path, marks: [] }));
    return { type: 'found', text, paths: first, total: paths.length };
  }
  const [indexes, info, order] = fuzzy.search(paths, text, 1, RANKED_MAX);
  const best: FoundPath[] =
    info === null || order === null
      ? (indexes ?? []).slice(0, RESULTS_MAX).map((at) => ({ path: paths[at] ?? '', marks: [] }))
      : order.slice(0, RESULTS_MAX).map((at) => ({
          path: paths[info.idx[at] ?? 0] ?? '',
          marks: marksOf(info.ranges[at]),
        }));
  return { type: 'found', text, paths: best, total: indexes?.length ?? 0 };
}
