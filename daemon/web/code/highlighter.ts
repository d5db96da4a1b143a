// Turns what a parser says of a piece of text into one of a dozen classes, each with its colour in styles/tokens.css.

import { highlightTree, tagHighlighter, tags as t } from '@lezer/highlight';
import type { Parser } from '@lezer/common';
import type { Colour } from './marks.ts';

/** Classes are `code-NAME`; the first rule that fits best decides. */
export const highlighter = tagHighlighter([
  { tag: [t.string, t.character, t.regexp, t.url, t.special(t.string)], class: 'code-string' },
  { tag: [t.comment, t.docComment], class: 'code-comment' },
  { tag: [t.typeName, t.className, t.namespace], class: 'code-type' },
  { tag: [t.bool, t.null, t.atom, t.escape], class: 'code-constant' },
  { tag: [t.operator, t.punctuation, t.bracket, t.separator], class: 'code-operator' },
  {
    tag: [t.keyword, t.controlKeyword, t.modifier, t.self, t.definitionKeyword],
    class: 'code-keyword',
  },
  { tag: [t.number, t.unit, t.color], class: 'code-number' },
  {
    tag: [t.function(t.variableName), t.function(t.propertyName), t.macroName],
    class: 'code-function',
  },
  {
    tag: [t.function(t.definition(t.variableName)), t.function(t.definition(t.propertyName))],
    class: 'code-function code-definition',
  },
  { tag: [t.propertyName, t.attributeName, t.labelName], class: 'code-property' },
  { tag: [t.tagName, t.heading], class: 'code-tag' },
  { tag: [t.meta, t.annotation, t.processingInstruction], class: 'code-meta' },
]);

/** Longer texts, in characters, are not coloured: generated files. */
const SIZE_MAX = 100_000;

/** Colours of lines that follow one another. Errors: none; what cannot be parsed has none. */
export function coloursOf(parser: Parser, lines: readonly string[]): Colour[][] {
  const text = lines.join('\n');
  const colours: Colour[][] = lines.map(() => []);
  if (text.length > SIZE_MAX) return colours;
  let index = 0;
  let start = 0;
  highlightTree(parser.parse(text), highlighter, (from, to, name) => {
    while (index < lines.length - 1 && from > start + (lines[index]?.length ?? 0))
      start += (lines[index++]?.length ?? 0) + 1;
    addColour(colours, lines, { index, start }, { from, to, name });
  });
  return colours;
}

/** A stretch may go over several lines. */
function addColour(
  colours: Colour[][],
  lines: readonly string[],
  at: { readonly index: number; readonly start: number },
  { from, to, name }: Colour,
): void {
  let { index, start } = at;
  while (index < lines.length && start < to) {
    const length = lines[index]?.length ?? 0;
    const begin = Math.max(from - start, 0);
    const end = Math.min(to - start, length);
    if (begin < end) colours[index]?.push({ from: begin, to: end, name });
    start += length + 1;
    index++;
  }
}
