// Queries of five classes as outside testers asked them: reported as a whole, never tuned on.

import { draw, filesOf, isOnlyOne, know, type RankingQuery, type Rule, words } from './draw.ts';
import { baseName, commentWords, heading, wordsApart } from './queries.ts';
import type { Definition, Source } from './source.ts';

const SEED = 192;

const symbolName: Rule<Definition> = (facts, definition) =>
  definition.name.length > 3 && isOnlyOne(facts, definition)
    ? words([definition.name], definition.doc.path)
    : undefined;

/** At most 48 of a tree. */
export function drawUnseenQueries(source: Source): RankingQuery[] {
  const options = { facts: know(source), seed: SEED, halves: ['report'] } as const;
  const { definitions, headings } = source;
  return [
    ...draw(options, "a symbol's name", 10, definitions, symbolName),
    ...draw(options, 'words of a base name', 10, filesOf(source), baseName),
    ...draw(options, 'words of a comment', 10, definitions, commentWords),
    ...draw(options, 'heading of a document', 8, headings, heading),
    ...draw(options, "a symbol's words apart", 10, definitions, wordsApart),
  ];
}
