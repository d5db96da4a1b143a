// Finds the comment or string in which lines of a file begin, without the lines before them. It compares how well the
// lines parse as code and as the rest of a comment or string. Measured: 2026-11-28, pieces of 3 to 12 lines of Python's
// and Go's libraries, Linux, npm packages and Trawl: right for 79 % of the pieces that begin inside a docstring and for
// 99 % of those inside a comment; 0.1 % of the pieces that begin in code are mistaken for something else.

import { highlightTree } from '@lezer/highlight';
import type { Parser } from '@lezer/common';
import { highlighter } from './highlighter.ts';

/** A comment or string that may span lines. */
export interface Construct {
  readonly open: string;
  readonly close: string;
}

const CONSTRUCTS: readonly Construct[] = [
  { open: '/*', close: '*/' },
  { open: '<!--', close: '-->' },
  { open: '--[[', close: ']]' },
  { open: '{-', close: '-}' },
  { open: '(*', close: '*)' },
  { open: '<#', close: '#>' },
  { open: '#=', close: '=#' },
  { open: '"""', close: '"""' },
  { open: "'''", close: "'''" },
  { open: '`', close: '`' },
];

interface Span {
  readonly from: number;
  readonly to: number;
}

/** Comments and strings. */
function quotedSpans(parser: Parser, text: string): Span[] {
  const spans: Span[] = [];
  highlightTree(parser.parse(text), highlighter, (from, to, name) => {
    if (name === 'code-comment' || name === 'code-string') spans.push({ from, to });
  });
  return spans;
}

function isOf(parser: Parser, { open, close }: Construct): boolean {
  // In a language without triple quotes, the second quote closes the first, and the third begins a new string.
  const text = `${open}\nx ${open.length > 1 ? open.charAt(0) : ''} y\n${close}`;
  const rest = quotedSpans(parser, text).reduceRight(
    (prefix, { from, to }) => prefix.slice(0, from) + prefix.slice(to),
    text,
  );
  return rest.trim() === '';
}

const constructsOfParsers = new WeakMap<Parser, readonly Construct[]>();

/** The constructs of the language. */
export function constructsOf(parser: Parser): readonly Construct[] {
  const cached = constructsOfParsers.get(parser);
  if (cached !== undefined) return cached;
  const constructs = CONSTRUCTS.filter((construct) => isOf(parser, construct));
  constructsOfParsers.set(parser, constructs);
  return constructs;
}

/** The end of a construct that the text leaves open. Why: some parsers do not recognize a construct without its end. */
export function endOf(text: string, { open, close }: Construct): string {
  const isOpen =
    open === close
      ? text.split(open).length % 2 === 0
      : text.lastIndexOf(open) > text.lastIndexOf(close);
  return isOpen ? `\n${close}` : '';
}

/** Positions where the text does not parse. A bracket that closes one from the lines before is no fault. */
function faultsOf(parser: Parser, text: string, before = '', after = ''): number[] {
  const whole = before + text + after;
  const end = before.length + text.trimEnd().length;
  const faults: number[] = [];
  parser.parse(whole).iterate({
    enter: ({ type, from }) => {
      const isFault = type.isError && from < end && !/^\s*[\])};,]/.test(whole.slice(from, end));
      if (isFault) faults.push(from - before.length);
    },
  });
  return faults;
}

const isBlank = (line: string): boolean => line.trim() === '';

/** The share of lines with one of the faults. */
function faultyShare(text: string, faults: readonly number[]): number {
  const faulty = new Set(faults.map((at) => text.slice(0, at).split('\n').length));
  const count = text.split('\n').filter((line) => !isBlank(line)).length;
  return faulty.size / Math.max(1, count);
}

/** Do most lines have adjacent words that the language does not allow? */
function isProse(parser: Parser, text: string): boolean {
  const betweenWords = faultsOf(parser, text).filter(
    (at) => /[a-z,.] $/i.test(text.slice(0, at)) && /^[a-z]/i.test(text.slice(at)),
  );
  return faultyShare(text, betweenWords) >= 0.5;
}

/** Position of the first quote outside other constructs; -1: none. */
function quoteAt(parser: Parser, text: string, quote: string): number {
  const spans = quotedSpans(parser, text);
  const isOther = (at: number): boolean =>
    spans.some(({ from, to }) => from + 2 < at && at + quote.length < to);
  let at = text.indexOf(quote);
  while (at >= 0 && isOther(at)) at = text.indexOf(quote, at + quote.length);
  return at;
}

/** Does the quote at `at` end a string rather than begin one? */
function endsString(parser: Parser, text: string, quote: string, at: number): boolean {
  const before = text.slice(0, at);
  const after = text.slice(at + quote.length);
  const isOpening = /[=(,:[{+?|&][ \t]*$/.test(before);
  const isClosing = /^[ \t]*(?:[;,)\].}]|:(?!\w))/.test(after);
  if (isOpening !== isClosing) return isClosing;
  const next = after.indexOf(quote);
  const inner = next < 0 ? after : after.slice(0, next);
  const share = faultyShare(inner, faultsOf(parser, inner));
  if (isBlank(before)) return inner.startsWith('\n') && !isBlank(inner) && share === 0;
  return faultyShare(before, faultsOf(parser, before)) > share;
}

/** Does the comment end at `at` belong to a comment that began before the text? */
function endsComment(parser: Parser, text: string, at: number, construct: Construct): boolean {
  const before = `${construct.open}\n`;
  const after = endOf(before + text, construct);
  const gain = faultsOf(parser, text).length - faultsOf(parser, text, before, after).length;
  // Some parsers report no errors.
  const isBare = !quotedSpans(parser, text).some(({ from, to }) => from <= at && at < to);
  return gain > 0 || (gain === 0 && isBare);
}

function isInside(parser: Parser, text: string, construct: Construct): boolean {
  const { open, close } = construct;
  if (open === close) {
    const at = quoteAt(parser, text, open);
    if (at >= 0) return endsString(parser, text, open, at);
    // In languages without multi-line comments, strings document the code.
    return construct === constructsOf(parser)[0] && isProse(parser, text);
  }
  const at = text.indexOf(close);
  const opened = text.indexOf(open);
  if (opened >= 0 && opened < at) return false;
  if (at >= 0) return endsComment(parser, text, at, construct);
  const lines = text.split('\n').filter((line) => !isBlank(line));
  return open === '/*' && lines.length > 0 && lines.every((line) => /^\s*\*(?:\s|$)/.test(line));
}

/** The construct in which the text begins; undefined: none that spans lines. */
export function openConstruct(parser: Parser, text: string): Construct | undefined {
  return constructsOf(parser).find((construct) => isInside(parser, text, construct));
}
