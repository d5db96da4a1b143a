// Rewrites what a grammar cannot read, so that everything keeps its offset.
//
// TypeScript: a line that begins with `<`, `(` or `[` starts a new member of a type, even where no semicolon ends the
// member before. The grammar continues the type before instead and loses the rest of the file. Remedy: the white space
// after the member before becomes a semicolon. The grammar also knows no escapes in the type of a template: they become
// letters.

/** Ends at the text's end where nothing closes it, so that time grows with the size alone. */
const TOKEN = new RegExp(
  [
    String.raw`(?<gap>\s+|//[^\n]*|/\*[^]*?(?:\*/|$))`,
    String.raw`"[^"\\\n]*(?:\\.[^"\\\n]*)*"?`,
    String.raw`'[^'\\\n]*(?:\\.[^'\\\n]*)*'?`,
    '`[^`\\\\]*(?:\\\\[^][^`\\\\]*)*`?',
    String.raw`[\w$\u0080-\uffff]+|=>|[^]`,
  ].join('|'),
  'g',
);

const MENDED_GRAMMARS: ReadonlySet<string> = new Set(['typescript', 'tsx']);

const MEMBER_STARTS = '<([';
const TYPE_END = /[\w$\u0080-\uffff"'`>)\]}]$/;
/** Words behind which a type goes on. */
const OPEN_WORD = /^(?:asserts|extends|in|infer|is|keyof|new|out|readonly|typeof|unique)$/;

/** What stands at a place instead of as many characters. */
interface Edit {
  readonly at: number;
  readonly put: string;
}

/** The mended text, as long as before; undefined: there is nothing to mend. */
export function mendedText(grammar: string, text: string): string | undefined {
  if (!MENDED_GRAMMARS.has(grammar)) return undefined;
  const parts: string[] = [];
  let end = 0;
  for (const { at, put } of edits(text)) {
    parts.push(text.slice(end, at), put);
    end = at + put.length;
  }
  return parts.length === 0 ? undefined : parts.join('') + text.slice(end);
}

/** Ascending. */
function* edits(text: string): Generator<Edit> {
  const open: string[] = [];
  let last = '';
  let end = 0;
  for (const { 0: token, index, groups } of text.matchAll(TOKEN)) {
    if (groups?.['gap'] !== undefined) continue;
    if (MEMBER_STARTS.includes(token) && open.at(-1) === '{' && endsType(last)) {
      const gap = text.slice(end, index);
      if (/^\s/.test(gap) && gap.includes('\n')) yield { at: end, put: ';' };
    }
    if (token.startsWith('`') && token.includes('\\'))
      yield { at: index, put: token.replaceAll(/\\[^\n]/g, '__') };
    if ('{(['.includes(token)) open.push(token);
    else if ('})]'.includes(token)) open.pop();
    last = token;
    end = index + token.length;
  }
}

function endsType(token: string): boolean {
  return token !== '=>' && TYPE_END.test(token) && !OPEN_WORD.test(token);
}
