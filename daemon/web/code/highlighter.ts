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

const BLOCK_COMMENTS = [
  ['/*', '*/'],
  ['<!--', '-->'],
] as const;

/** Does the language have comments of this form? */
function hasComment(parser: Parser, open: string, close: string): boolean {
  const comment = `${open} x ${close}`;
  let isComment = false;
  highlightTree(parser.parse(comment), highlighter, (from, to, name) => {
    isComment ||= from === 0 && to === comment.length && name === 'code-comment';
  });
  return isComment;
}

function faultCount(parser: Parser, text: string): number {
  let count = 0;
  parser.parse(text).iterate({
    enter: ({ type }) => {
      if (type.isError) count++;
    },
  });
  return count;
}

/**
 * Where the comment ends that lines of a file begin inside of; 0: they do not. A line alone does not say which it is, so both
 * are tried: what fits the language better holds.
 */
function commentEnd(parser: Parser, text: string): number {
  for (const [open, close] of BLOCK_COMMENTS) {
    const at = text.indexOf(close);
    const opened = text.indexOf(open);
    const isCut = at >= 0 && (opened < 0 || at <= opened);
    const isWithin = open === '/*' && at < 0 && opened < 0 && /^\s*\*(?:\s|$)/.test(text);
    if (!(isCut || isWithin) || !hasComment(parser, open, close)) continue;
    const end = isCut ? at + close.length : text.length;
    const gain = faultCount(parser, text) - faultCount(parser, text.slice(end));
    // A parser of markup takes most texts, and no text has an end of a comment.
    if (gain > 0 || (gain === 0 && open === '<!--')) return end;
  }
  return 0;
}

/** Colours of lines that follow one another. Errors: none; what cannot be parsed has none. */
export function coloursOf(parser: Parser, lines: readonly string[]): Colour[][] {
  const text = lines.join('\n');
  const colours: Colour[][] = lines.map(() => []);
  if (text.length > SIZE_MAX) return colours;
  const begin = commentEnd(parser, text);
  const comment = { from: 0, to: begin, name: 'code-comment' };
  addColour(colours, lines, { index: 0, start: 0 }, comment);
  let index = 0;
  let start = 0;
  highlightTree(parser.parse(text.slice(begin)), highlighter, (first, last, name) => {
    const from = first + begin;
    while (index < lines.length - 1 && from > start + (lines[index]?.length ?? 0))
      start += (lines[index++]?.length ?? 0) + 1;
    addColour(colours, lines, { index, start }, { from, to: last + begin, name });
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
