// Rewrites syntax that a grammar cannot read, without moving any offset.
// TypeScript: a line that begins with `<`, `(` or `[` starts a new member of a type, even without a semicolon before it. The
// grammar continues the type and loses the rest of the file: white space becomes a semicolon. Escapes in template types become
// letters.
// Kotlin: `fun` of `fun interface` becomes spaces; a space before the `}` behind a class becomes a semicolon. In `class A : B
// by b { … }` the grammar takes the body for an argument of `b`: `by` becomes a comma.

/** An unclosed token ends at the text's end, so that time is linear in the size. */
const TOKEN = new RegExp(
  [
    String.raw`(?<gap>\s+|//[^\n]*|/\*[^]*?(?:\*/|$))`,
    String.raw`"""[^]*?(?:"""|$)`,
    String.raw`"[^"\\\n]*(?:\\.[^"\\\n]*)*"?`,
    String.raw`'[^'\\\n]*(?:\\.[^'\\\n]*)*'?`,
    '`[^`\\\\]*(?:\\\\[^][^`\\\\]*)*`?',
    String.raw`[\w$\u0080-\uffff]+|=>|[^]`,
  ].join('|'),
  'g',
);

interface Token {
  readonly text: string;
  readonly start: number;
  readonly gap: string;
  readonly last: string;
  readonly around: string | undefined;
  /** The last of `DECLARING` before it in the same bracket; '': none. */
  readonly declaring: string;
}

type Edit = { readonly at: number; readonly put: string } | undefined;

const RULES: ReadonlyMap<string, (token: Token) => Edit> = new Map([
  ['typescript', mendTypeScript],
  ['tsx', mendTypeScript],
  ['kotlin', mendKotlin],
]);

/** The rewritten text, of the same length; undefined: nothing to rewrite. */
export function mendedText(grammar: string, text: string): string | undefined {
  const rule = RULES.get(grammar);
  if (rule === undefined) return undefined;
  const parts: string[] = [];
  let end = 0;
  for (const token of tokensOf(text)) {
    const edit = rule(token);
    if (edit === undefined) continue;
    parts.push(text.slice(end, edit.at), edit.put);
    end = edit.at + edit.put.length;
  }
  return parts.length === 0 ? undefined : parts.join('') + text.slice(end);
}

const DECLARING = /^(?:class|fun|interface|object|val|var)$/;

function* tokensOf(text: string): Generator<Token> {
  const open: { bracket: string; declaring: string }[] = [];
  let declaring = '';
  let last = '';
  let end = 0;
  for (const { 0: token, index, groups } of text.matchAll(TOKEN)) {
    if (groups?.['gap'] !== undefined) continue;
    const gap = text.slice(end, index);
    yield { text: token, start: index, gap, last, around: open.at(-1)?.bracket, declaring };
    if (DECLARING.test(token)) declaring = token;
    if ('{(['.includes(token)) {
      open.push({ bracket: token, declaring });
      declaring = '';
    } else if ('})]'.includes(token)) declaring = open.pop()?.declaring ?? '';
    last = token;
    end = index + token.length;
  }
}

const TYPE_END = /[\w$\u0080-\uffff"'`>)\]}]$/;
/** Words after which a type continues. */
const OPEN_WORD = /^(?:asserts|extends|in|infer|is|keyof|new|out|readonly|typeof|unique)$/;

function mendTypeScript({ text, start, gap, last, around }: Token): Edit {
  if (text.startsWith('`') && text.includes('\\'))
    return { at: start, put: text.replaceAll(/\\[^\n]/g, '__') };
  const isNewMember =
    '<(['.includes(text) && around === '{' && /^\s/.test(gap) && gap.includes('\n');
  if (!isNewMember || last === '=>' || !TYPE_END.test(last) || OPEN_WORD.test(last))
    return undefined;
  return { at: start - gap.length, put: ';' };
}

function mendKotlin({ text, start, gap, last, declaring }: Token): Edit {
  if (text === 'interface' && last === 'fun')
    return { at: start - gap.length - last.length, put: ' '.repeat(last.length) };
  if (text === 'by' && /^(?:class|object)$/.test(declaring)) return { at: start, put: ', ' };
  const isClosed = text === '}' && last !== '{' && /^[ \t]/.test(gap) && !gap.includes('\n');
  return isClosed ? { at: start - gap.length, put: ';' } : undefined;
}
