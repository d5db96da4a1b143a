// Scripts embedded in Vue and Svelte components: everything else becomes spaces, so that offsets stay.

const HOSTS: ReadonlySet<string> = new Set(['Svelte', 'Vue']);

/** A tag that begins a script, or a comment, which hides tags. */
const OPENING = /<!--|<script(?=[\s>])/gi;
const ATTRIBUTES = /(?:"[^"]*"|'[^']*'|[^'">]+){0,1000}/y;
const LANG = /\slang\s*=\s*["']?(ts|typescript|tsx|jsx)\b/i;
/** Data scripts, such as JSON or import maps. */
const DATA =
  /\stype\s*=\s*["']?(?!["'\s]|module\b|(?:text|application)\/(?:java|type|ecma)script\b|ts\b)/i;

export function languageWithin(language: string): string {
  return HOSTS.has(language) ? 'TypeScript' : language;
}

/** The scripts of a file as one, at unchanged offsets; the file itself if its language embeds none. Languages as in linguist. */
export function scriptOf(
  language: string,
  content: Uint8Array,
): { readonly language: string; readonly content: Uint8Array } {
  if (!HOSTS.has(language)) return { language, content };
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  const text = bytes.toString('latin1');
  const code = Buffer.alloc(bytes.length, ' ');
  for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, at + 1)) code[at] = 10;
  const kinds = new Set<string>();
  for (const { start, end, kind } of scriptsIn(text)) {
    bytes.copy(code, start, start, end);
    kinds.add(kind);
  }
  return { language: languageOfScripts(kinds), content: kinds.size === 0 ? Buffer.alloc(0) : code };
}

/** The largest of the named languages, since each includes those before it. */
function languageOfScripts(kinds: ReadonlySet<string>): string {
  const isTyped = kinds.has('ts') || kinds.has('typescript');
  const hasTags = kinds.has('jsx') || kinds.has('tsx');
  if (kinds.has('tsx') || (isTyped && hasTags)) return 'TSX';
  if (isTyped) return 'TypeScript';
  return hasTags ? 'JSX' : 'JavaScript';
}

function* scriptsIn(text: string): Generator<{ start: number; end: number; kind: string }> {
  const closing = /<\/script\b/gi;
  OPENING.lastIndex = 0;
  for (let found = OPENING.exec(text); found !== null; found = OPENING.exec(text)) {
    if (found[0] === '<!--') {
      const end = text.indexOf('-->', OPENING.lastIndex);
      if (end < 0) return;
      OPENING.lastIndex = end;
      continue;
    }
    ATTRIBUTES.lastIndex = OPENING.lastIndex;
    const attributes = ATTRIBUTES.exec(text)?.[0] ?? '';
    // An unclosed tag, which also hides all later ones.
    if (text[ATTRIBUTES.lastIndex] !== '>') return;
    const start = ATTRIBUTES.lastIndex + 1;
    OPENING.lastIndex = start;
    if (attributes.endsWith('/')) continue;
    closing.lastIndex = start;
    const end = closing.exec(text)?.index ?? text.length;
    if (!DATA.test(attributes))
      yield { start, end, kind: LANG.exec(attributes)?.[1]?.toLowerCase() ?? '' };
    OPENING.lastIndex = end;
  }
}
