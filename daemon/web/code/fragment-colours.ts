// Syntax colours of lines that are displayed without the rest of their file.

import { highlightTree } from '@lezer/highlight';
import type { Parser } from '@lezer/common';
import { openConstruct, constructsOf, endOf } from './open-construct.ts';
import { highlighter } from './highlighter.ts';
import type { Colour } from './marks.ts';

/** Longer texts, in characters, stay plain: they are generated. */
const SIZE_MAX = 100_000;

/** Colours of consecutive lines. Errors: none; text that does not parse stays plain. */
export function coloursOf(parser: Parser, lines: readonly string[]): Colour[][] {
  const text = lines.join('\n');
  const colours: Colour[][] = lines.map(() => []);
  if (text.length > SIZE_MAX) return colours;
  const constructs = constructsOf(parser);
  const opened = openConstruct(parser, text);
  const before = opened === undefined ? '' : `${opened.open}\n`;
  const whole = constructs.reduce(
    (made, construct) => made + endOf(made, construct),
    before + text,
  );
  let index = 0;
  let start = 0;
  highlightTree(parser.parse(whole), highlighter, (first, last, name) => {
    const from = first - before.length;
    while (index < lines.length - 1 && from > start + (lines[index]?.length ?? 0))
      start += (lines[index++]?.length ?? 0) + 1;
    addColour(colours, lines, { index, start }, { from, to: last - before.length, name });
  });
  return colours;
}

/** A stretch may span several lines. */
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
