// Translates Trawl's regular expressions (RE2; ASCII classes; bad bytes are characters) to ripgrep and, for targets of
// links, JavaScript. Beyond ripgrep: bad bytes under a wide class without `*` or `+`; the long s and the Kelvin sign
// under `[^s]*` in any case; `\A` and `\z` of a file. Cases do not use them.

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

export function escapeLiteral(text: string): string {
  return text.replace(/[\\^$.|?*+()[\]{}]/g, '\\$&');
}

/** ripgrep refuses to escape what needs no escape. */
function ripgrepEscape(token: string): string {
  const character = token.slice(1);
  return /[A-Za-z0-9\\.+*?()|[\]{}^$#&\-~]/.test(character) ? token : character;
}

function ripgrepMember(member: string): string {
  const members = ASCII_CLASSES.get(member);
  if (members !== undefined) return members;
  if (/^\\[^pP]$/su.test(member)) return ripgrepEscape(member);
  // Alone, doubled or in pairs these are operators in ripgrep's classes.
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

/** Whether a token matches all characters but some ASCII ones. */
function isWide(token: string): boolean {
  return token === '.' || /^\\[DWS]$/.test(token) || /^\[\^(?!.*\\[pPx])[\0-\x7f]*\]$/s.test(token);
}

/** For both modes of ripgrep (see `canSpanLines`). */
export function toRipgrep(pattern: string): string {
  const tokens = pattern.match(TOKEN) ?? [];
  return tokens
    .map((token, i) => {
      const said = ripgrepToken(token);
      return isWide(token) && /^[*+]$/.test(tokens[i + 1] ?? '') ? `(?-u:${said})` : said;
    })
    .join('');
}

/** A match may contain a line feed, so ripgrep needs `--multiline`. Says yes too often. */
export function canSpanLines(pattern: string): boolean {
  return /\\[snDWPQx]|\[\^|\[:|\(\?[imU]*s|\n/.test(pattern);
}

/** For `new RegExp(…, 'gmu')`; flags within the pattern are not supported. */
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
