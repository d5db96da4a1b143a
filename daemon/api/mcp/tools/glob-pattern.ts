// A glob over paths as a regular expression: `*`, `?`, `[…]`, `{a,b}`, `**`. It matches from any path segment to the
// end; a leading slash anchors it at the root, and a trailing one matches everything below a folder.

import { quotePattern } from '../../../engine/regex/quote.ts';

const START_OF_SEGMENT = '(?:^|/)';

/** The expression for a glob. A malformed part is literal. */
export function globPattern(glob: string): string {
  const isFolder = glob.endsWith('/');
  const isAnchored = /^\.?\//.test(glob);
  const body = glob.replace(/^\.?\//, '').replace(/\/$/, '');
  const rest = isFolder ? '/.+' : '';
  return `${isAnchored ? '^' : START_OF_SEGMENT}${patternOf(body)}${rest}$`;
}

const PARTS: readonly (readonly [RegExp, (found: RegExpExecArray) => string])[] = [
  [/^\*\*\//, () => '(?:.*/)?'],
  [/^\*\*+/, () => '.*'],
  [/^\*/, () => '[^/]*'],
  [/^\?/, () => '[^/]'],
  [/^\\(.)/su, ([, escaped = '']) => quotePattern(escaped)],
  [/^\[([!^]?)(\]?[^\]/]*)\]/, ([, sign = '', members = '']) => classOf(sign, members)],
];

function patternOf(glob: string): string {
  const closed = closedBraces(glob);
  let pattern = '';
  let depth = 0;
  for (let index = 0; index < glob.length;) {
    const [size, next] = partAt(glob.slice(index), depth, closed.has(index));
    if (next === '(?:') depth++;
    if (next === ')') depth--;
    pattern += next;
    index += size;
  }
  return pattern;
}

/** `depth`: number of open braces; `isClosed`: it starts with a brace that is closed later. */
function partAt(
  rest: string,
  depth: number,
  isClosed: boolean,
): readonly [size: number, pattern: string] {
  for (const [form, write] of PARTS) {
    const found = form.exec(rest);
    if (found !== null) return [found[0].length, write(found)];
  }
  if (isClosed) return [1, '(?:'];
  if (depth > 0 && rest.startsWith('}')) return [1, ')'];
  if (depth > 0 && rest.startsWith(',')) return [1, '|'];
  const [character = ''] = rest;
  return [character.length, quotePattern(character)];
}

function closedBraces(glob: string): ReadonlySet<number> {
  const open: number[] = [];
  const closed = new Set<number>();
  for (const { 0: brace, index } of glob.matchAll(/[{}]/g)) {
    if (brace === '{') open.push(index);
    else closed.add(open.pop() ?? -1);
  }
  return closed;
}

function classOf(sign: string, members: string): string {
  const quoted = members.replaceAll(/[\\[\]^&~]/g, '\\$&');
  return sign === '' ? `[${quoted}]` : `[^/${quoted}]`;
}
