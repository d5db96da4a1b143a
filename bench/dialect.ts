// Says a regular expression of Trawl's syntax (RE2, `\d \w \s \b` ASCII, bad bytes are characters) in the
// syntaxes of ripgrep and of JavaScript, so that both mean the same. Leftmost, first alternative, and the
// kinds of repeats mean the same in all three.
//
// ripgrep: the ASCII classes are written out, and a run of "any character but" becomes one of bytes, so that
// it takes bad ones too. Beyond it: a bad byte under a wide class without `*` or `+` (`a.b`, `[^x]{3}`); in
// any case, the long s and the Kelvin sign under `[^s]*`; `\A` and `\z` of a file. Cases do not use them.
// JavaScript is asked about the targets of links only.

/** An escape, a quotation, a property, a class, or one character. */
const TOKEN =
  /\\Q.*?(?:\\E|$)|\\[pP](?:\{[^}]*\}|.)|\\.|\[\^?\]?(?:\\[pP]\{[^}]*\}|\\.|\[:\^?\w+:\]|[^\]\\])*\]|./gsu;
/** What a class holds: an escape, a named set, or one character. */
const MEMBER = /\\[pP](?:\{[^}]*\}|.)|\\.|\[:\^?\w+:\]|./gsu;

const ASCII_CLASSES: ReadonlyMap<string, string> = new Map([
  ['\\d', '[0-9]'],
  ['\\w', '[0-9A-Za-z_]'],
  ['\\s', '[\\t\\n\\f\\r ]'],
  ['\\D', '[^0-9]'],
  ['\\W', '[^0-9A-Za-z_]'],
  ['\\S', '[^\\t\\n\\f\\r ]'],
]);

/** `text` as a regular expression that matches only itself, in all dialects. */
export function escapeLiteral(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

/** Why: ripgrep refuses to escape what needs no escape. */
function ripgrepEscape(token: string): string {
  const character = token.slice(1);
  return /[A-Za-z0-9\\.+*?()|[\]{}^$#&\-~]/.test(character) ? token : character;
}

function ripgrepMember(member: string): string {
  const members = ASCII_CLASSES.get(member);
  if (members !== undefined) return members;
  if (/^\\[^pP]$/su.test(member)) return ripgrepEscape(member);
  // Why: alone, doubled or in pairs these are operators in ripgrep's classes.
  return /^[[&~]$/.test(member) ? `\\${member}` : member;
}

function ripgrepToken(token: string): string {
  if (token.startsWith('\\Q')) return escapeLiteral(token.replace(/^\\Q|\\E$/g, ''));
  if (token === '\\b' || token === '\\B') return `(?-u:${token})`;
  if (token.startsWith('\\')) {
    return ASCII_CLASSES.get(token) ?? (token.length === 2 ? ripgrepEscape(token) : token);
  }
  if (!token.startsWith('[') || token.length === 1) return token;
  const [, head = '', members = ''] = /^(\[\^?)(.*)\]$/su.exec(token) ?? [];
  const [first = '', ...rest] = members.match(MEMBER) ?? [];
  const start = first === ']' ? '\\]' : ripgrepMember(first);
  return `${head}${start}${rest.map(ripgrepMember).join('')}]`;
}

/** Whether a token stands for all characters but a few, all of them ASCII. */
function isWide(token: string): boolean {
  return token === '.' || /^\\[DWS]$/.test(token) || /^\[\^(?!.*\\[pPx])[\0-\x7f]*\]$/s.test(token);
}

/** `pattern` as ripgrep understands it, in both of its modes (see `canSpanLines`). */
export function toRipgrep(pattern: string): string {
  const tokens = pattern.match(TOKEN) ?? [];
  return tokens
    .map((token, i) => {
      const said = ripgrepToken(token);
      return isWide(token) && /^[*+]$/.test(tokens[i + 1] ?? '') ? `(?-u:${said})` : said;
    })
    .join('');
}

/** Whether a match may hold a line feed: ripgrep then needs `--multiline`. Says yes too often. */
export function canSpanLines(pattern: string): boolean {
  return /\\[snDWPQx]|\[\^|\[:|\(\?[imU]*s|\n/.test(pattern);
}

/** `pattern` for `new RegExp(…, 'gmu')`. Flags within it are beyond JavaScript. */
export function toJavaScript(pattern: string): string {
  const tokens = pattern.match(TOKEN) ?? [];
  return tokens
    .map((token) => {
      if (token.startsWith('\\Q')) return escapeLiteral(token.replace(/^\\Q|\\E$/g, ''));
      if (/^\\[sS]$/.test(token)) return ASCII_CLASSES.get(token) ?? token;
      return token
        .replaceAll(/\\([pP])(\w)/g, '\\$1{$2}')
        .replaceAll(/\\([pP])\{(\w{3,})\}/g, '\\$1{Script=$2}');
    })
    .join('');
}
