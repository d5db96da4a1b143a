// Replaces what is not code in a language (pattern-tables.ts) by spaces: comments, strings, and line continuations.

import { type Hidden, PATTERN_LANGUAGES } from './pattern-tables.ts';

interface Hiding {
  /** With one group for each kind. */
  readonly opens: RegExp;
  readonly kinds: readonly (Hidden & { readonly end: RegExp | undefined })[];
}

const hidings = new Map<string, Hiding>();

function hidingOf(language: string): Hiding {
  const cached = hidings.get(language);
  if (cached !== undefined) return cached;
  const kinds = PATTERN_LANGUAGES.get(language)?.hidden ?? [];
  const hiding = {
    opens: new RegExp(kinds.map(({ opens }) => `(${opens})`).join('|'), 'gm'),
    kinds: kinds.map((kind) => ({
      ...kind,
      end: typeof kind.closes === 'string' ? new RegExp(kind.closes, 'gm') : undefined,
    })),
  };
  hidings.set(language, hiding);
  return hiding;
}

export function hide(language: string, text: string): string {
  const { opens, kinds } = hidingOf(language);
  const parts: string[] = [];
  // A byte order mark precedes the first line.
  let at = text.startsWith('\ufeff') ? 1 : 0;
  if (at === 1) parts.push(' ');
  opens.lastIndex = at;
  for (let match = opens.exec(text); match !== null; match = opens.exec(text)) {
    const { index } = match;
    const kind = kinds.find((_, i) => match[i + 1] !== undefined)!;
    const end = endOf(text, match, kind);
    parts.push(text.slice(at, index), hidden(text.slice(index, end), kind));
    at = end;
    opens.lastIndex = end;
  }
  return parts.join('') + text.slice(at);
}

function endOf(text: string, match: RegExpExecArray, { closes, end }: Hiding['kinds'][0]): number {
  const from = match.index + match[0].length;
  if (typeof closes !== 'string') {
    const words = closes(match[0]);
    const at = text.indexOf(words, from);
    return at < 0 ? text.length : at + words.length;
  }
  if (end === undefined) return from;
  end.lastIndex = from;
  for (let found = end.exec(text); found !== null; found = end.exec(text)) {
    if (found[0].startsWith('\\')) continue;
    return found[0] === '\n' ? found.index : found.index + found[0].length;
  }
  return text.length;
}

function hidden(text: string, { as }: Hidden): string {
  if (as === 'joins') return ' '.repeat(text.length);
  if (as !== 'name') return filled(text, ' ');
  return text.length < 2 ? text : text[0]! + filled(text.slice(1, -1), '_') + text.slice(-1);
}

function filled(text: string, character: string): string {
  return text.replaceAll(/[^\n]+/g, ({ length }) => character.repeat(length));
}
