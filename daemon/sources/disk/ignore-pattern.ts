// Parses and matches one line of an ignore file (gitignore(5)). Files may be hostile: a match takes at most the length of
// the pattern times that of the path.
//
// Difference to git: a character is a UTF-16 unit here, and a byte there (`?` and "é").

/** Whether a name without slashes matches. */
type NameTest = (name: string) => boolean;

/** A segment of a pattern: a test of a name; `**`: any number of segments. */
type Segment = NameTest | '**';

export interface IgnorePattern {
  readonly isNegated: boolean;
  /**
   * Whether it matches the path itself, regardless of the folders above.
   * @param path  relative to the folder of the ignore file, without trailing slash
   */
  matches(path: string, isFolder: boolean): boolean;
}

/** Undefined: an empty line, a comment, or a pattern that matches nothing. Errors: none. */
export function parsePattern(line: string): IgnorePattern | undefined {
  if (line.startsWith('#')) return undefined;
  const isNegated = line.startsWith('!');
  const text = withoutTrailingSpaces(line).slice(isNegated ? 1 : 0);
  const isForFolders = text.endsWith('/');
  const pattern = isForFolders ? text.slice(0, -1) : text;
  if (pattern === '') return undefined;
  const isTied = pattern.includes('/');
  const segments = segmentsOf(pattern.startsWith('/') ? pattern.slice(1) : pattern);
  if (segments === undefined) return undefined;
  const matchesPath = isTied ? pathTest(segments) : baseNameTest(segments[0]!);
  return {
    isNegated,
    matches: (path, isFolder) => (isFolder || !isForFolders) && matchesPath(path),
  };
}

/** Source: gitignore(5): trailing spaces count only after a backslash. */
function withoutTrailingSpaces(line: string): string {
  let end = line.length;
  while (end > 0 && line[end - 1] === ' ' && !isEscaped(line, end - 1)) end--;
  return line.slice(0, end);
}

/** Whether the position follows an odd number of backslashes. */
function isEscaped(text: string, position: number): boolean {
  let start = position;
  while (start > 0 && text[start - 1] === '\\') start--;
  return (position - start) % 2 === 1;
}

function baseNameTest(segment: Segment): NameTest {
  if (segment === '**') return () => true;
  return (path) => segment(path.slice(path.lastIndexOf('/') + 1));
}

function pathTest(segments: readonly Segment[]): NameTest {
  // A final `**` needs a segment: `a/**` is the folder's content, not the folder.
  const tests = segments.map((segment) => (segment === '**' ? STAR : segment));
  if (tests.at(-1) === STAR) tests.push(() => true);
  return (path) => matchesAll(tests, path.split('/'));
}

/** Tests of items; STAR: any number of items. A mismatch backtracks to the last star; earlier stars need no retry. */
function matchesAll(
  tests: readonly (typeof STAR | ((item: string) => boolean))[],
  items: ArrayLike<string>,
): boolean {
  let [at, position, star, starPosition] = [0, 0, -1, 0];
  while (position < items.length) {
    const test = tests[at];
    if (test === STAR) [star, starPosition] = [at++, position];
    else if (test?.(items[position]!) === true) [at, position] = [at + 1, position + 1];
    else if (star >= 0) [at, position] = [star + 1, ++starPosition];
    else return false;
  }
  while (tests[at] === STAR) at++;
  return at === tests.length;
}

/** Undefined: it matches nothing, as an unclosed set. */
function segmentsOf(pattern: string): Segment[] | undefined {
  const segments: Segment[] = [];
  let tokens: Token[] = [];
  for (let position = 0; position <= pattern.length;) {
    const isEnd = position === pattern.length;
    const slash = slashAt(pattern, position);
    if (isEnd || slash > 0) {
      segments.push(segmentOf(tokens));
      tokens = [];
      position += Math.max(slash, 1);
      continue;
    }
    const read = readToken(pattern, position);
    if (read === undefined) return undefined;
    tokens.push(read.token);
    position = read.end;
  }
  return segments;
}

/** Length of the slash at a position; 0: there is none. */
function slashAt(pattern: string, position: number): number {
  if (pattern[position] === '/') return 1;
  return pattern.startsWith('\\/', position) ? 2 : 0;
}

/** A character, any number (`*`), or a test of one character (`?`, a set). */
type Token = string | typeof STAR | ((character: string) => boolean);
const STAR = Symbol('*');

interface Read {
  readonly token: Token;
  readonly end: number;
}

function readToken(pattern: string, position: number): Read | undefined {
  const one = pattern[position]!;
  if (one === '*') return { token: STAR, end: position + 1 };
  if (one === '?') return { token: () => true, end: position + 1 };
  if (one === '[') return readSet(pattern, position + 1);
  if (one !== '\\') return { token: one, end: position + 1 };
  const escaped = pattern[position + 1];
  return escaped === undefined ? undefined : { token: escaped, end: position + 2 };
}

/** Source: wildmatch.c of git, whose classes are those of ASCII. */
const CLASSES: ReadonlyMap<string, RegExp> = new Map([
  ['alnum', /[A-Za-z0-9]/],
  ['alpha', /[A-Za-z]/],
  ['blank', /[ \t]/],
  // oxlint-disable-next-line no-control-regex -- the class consists of them
  ['cntrl', /[\0-\x1f\x7f]/],
  ['digit', /\d/],
  ['graph', /[!-~]/],
  ['lower', /[a-z]/],
  ['print', /[ -~]/],
  ['punct', /[!-/:-@[-`{-~]/],
  ['space', /[ \t-\r]/],
  ['upper', /[A-Z]/],
  ['xdigit', /[0-9A-Fa-f]/],
]);

/** @param start  after the bracket */
function readSet(pattern: string, start: number): Read | undefined {
  const isNegated = pattern[start] === '!' || pattern[start] === '^';
  const parts: ((code: number) => boolean)[] = [];
  const first = isNegated ? start + 1 : start;
  for (let position = first; ;) {
    if (position >= pattern.length) return undefined;
    if (pattern[position] === ']' && position > first) {
      const isIn = (character: string): boolean =>
        parts.some((part) => part(character.charCodeAt(0))) !== isNegated;
      return { token: isIn, end: position + 1 };
    }
    const read = readSetPart(pattern, position);
    if (read === undefined) return undefined;
    parts.push(read.isIn);
    position = read.end;
  }
}

/** A class, a range, or a character of a set; undefined: the set is invalid. */
function readSetPart(
  pattern: string,
  position: number,
): { readonly isIn: (code: number) => boolean; readonly end: number } | undefined {
  const match = /^\[:([^\]]*):\]/.exec(pattern.slice(position, position + CLASS_SIZE_MAX));
  if (match !== null) {
    const letters = CLASSES.get(match[1]!);
    if (letters === undefined) return undefined;
    const isIn = (code: number): boolean => letters.test(String.fromCharCode(code));
    return { isIn, end: position + match[0].length };
  }
  const low = readMember(pattern, position);
  const next = pattern[low.end + 1];
  const isRange = pattern[low.end] === '-' && next !== undefined && next !== ']';
  if (!isRange) return { isIn: (code) => code === low.code, end: low.end };
  const high = readMember(pattern, low.end + 1);
  return { isIn: (code) => code >= low.code && code <= high.code, end: high.end };
}

/** Characters of `[:xdigit:]`, rounded up. */
const CLASS_SIZE_MAX = 16;

function readMember(pattern: string, position: number): { code: number; end: number } {
  const at = pattern[position] === '\\' ? position + 1 : position;
  return { code: pattern.charCodeAt(at), end: at + 1 };
}

function segmentOf(tokens: readonly Token[]): Segment {
  if (tokens.length > 1 && tokens.every((token) => token === STAR)) return '**';
  const stars = tokens.filter((token) => token === STAR).length;
  const literal = tokens.filter((token) => typeof token === 'string').join('');
  // Why: nearly all rules are of these three forms.
  if (literal.length === tokens.length) return (name) => name === literal;
  if (stars === 1 && literal.length === tokens.length - 1) {
    if (tokens[0] === STAR) return (name) => name.endsWith(literal);
    if (tokens.at(-1) === STAR) return (name) => name.startsWith(literal);
  }
  const tests = tokens.map((token) =>
    typeof token === 'string' ? (character: string) => character === token : token,
  );
  return (name) => matchesAll(tests, name);
}
