// Hints for queries in the syntax of another tool (API.md 6.2, hints). Unambiguous signs are reported with every answer,
// others only with an empty one. Reads only the query text, so that it cannot reveal anything hidden. Quoted text is literal.

import { parseQuery } from './parser.ts';
import { PREFIX_NAMES } from './prefixes.ts';

export interface Hint {
  readonly message: string;
  /** The suggested query, with all hints applied; it parses. */
  readonly query?: string;
  /** `query` needs isRegexEnabled, which this search did not have. */
  readonly isRegexEnabled?: true;
  /** Name of the repo in the message, for a count of files that were not searched. */
  readonly repo?: string;
}

export const HINTS_MAX = 3;

/** A habit from another tool. */
interface Habit {
  /** As written, without the required surroundings. */
  readonly source: string;
  readonly pattern: RegExp;
  readonly message: string;
  /** Arguments: the match, the text before it, and the groups of the pattern. */
  readonly instead: (...groups: string[]) => string;
  /** Only without isRegexEnabled. */
  readonly isOfWords?: true;
  /** What was meant needs isRegexEnabled. */
  readonly needsRegex?: true;
  /** Ambiguous: reported only for a query without results. */
  readonly isDoubtful?: true;
}

/** Matches between word boundaries; group 1 is the text before. */
const atWords = (source: string, flags: string): RegExp =>
  new RegExp(`(^|[\\s(])(?:${source})(?=$|[\\s)])`, flags);

const habit = (source: string, message: string, instead: string | Habit['instead']): Habit => ({
  source,
  pattern: atWords(source, 'gu'),
  message,
  instead:
    typeof instead === 'string'
      ? (...groups) => instead.replaceAll(/\$(\d)/g, (_, index: string) => groups[Number(index)]!)
      : instead,
});

const renamed = (names: string, ours: string, message: string): Habit =>
  habit(`(-?)(?:${names}):([^\\s)]+)`, message, `$1$2${ours}:$3`);

/** A word that goes, with a dash before it. */
const removed = (source: string, message: string): Habit =>
  habit(`(?:-\\s*)?(?:${source})`, message, '$1');

const HABITS: readonly Habit[] = [
  removed(
    'case:(?:yes|no|auto)',
    'Case sensitivity is an option of the search, isCaseSensitivityEnabled, not part of the query.',
  ),
  removed(
    '(?:type|select|count|timeout|patterntype):[^\\s)]+',
    'type:, select:, count:, timeout: and patterntype: are not filters here but plain words.',
  ),
  renamed('path|filename', 'file', 'The filter by path is file:, a regular expression.'),
  habit(
    '(-?)(?:ext|extension):\\.?([\\w-]+)',
    'The filter by path is file:, a regular expression.',
    '$1$2file:\\.$3$',
  ),
  renamed('language|l', 'lang', 'The filter by language is lang:.'),
  renamed('branch|b|revision', 'rev', 'The filter by branch is rev:.'),
  renamed('symbol', 'sym', 'The filter by symbols is sym:.'),
  renamed('org|user', 'repo', 'The filter by repository is repo:, a regular expression.'),
  {
    ...renamed(
      'regex',
      'content',
      'With isRegexEnabled the words of a query are regular expressions.',
    ),
    needsRegex: true,
  },
  renamed('a(?=:(?:yes|no|only)(?:$|[\\s)]))', 'archived', 'The filter is archived:.'),
  habit('(-?)public:(?:yes|only)', 'The filter is visibility:.', '$1$2visibility:public'),
  habit('(-?)public:no', 'The filter is visibility:.', '$1$2visibility:private'),
  habit(
    '(-?r(?:epo)?:[^\\s@)]+)@([^\\s)]+)',
    'Revisions have their own filter, rev:.',
    '$1$2 rev:$3',
  ),
  habit(
    `NOT\\s+((?:${PREFIX_NAMES.join('|')}):[^\\s)]+)`,
    'To negate a filter, put a dash before it.',
    '$1-$2',
  ),
  habit(
    '(?:NOT\\s+|!)([^\\s()!=:][^\\s():]*)',
    'To exclude files that contain a text, use -content:.',
    '$1-content:$2',
  ),
  {
    ...habit(
      '-([^\\s()\\-:][^\\s():]*)',
      'A dash before a word is part of the word; -content: excludes files that contain it.',
      '$1-content:$2',
    ),
    isDoubtful: true,
  },
  habit('(?:&&|AND)', 'All words of a query must match; there is no operator for that.', '$1'),
  habit('(?:\\|\\||OR)', 'The operator is or, in lower case.', '$1or'),
  {
    ...habit(
      '/([^\\s/]+)/',
      'Write regular expressions without slashes, and set isRegexEnabled.',
      '$1$2',
    ),
    needsRegex: true,
  },
  habit(
    '(-?f(?:ile)?:)([^\\s()^$|+\\\\]*[*?][^\\s()^$|+\\\\]*)',
    'file: takes a regular expression, not a glob.',
    (_all, before, prefix, glob) => `${before}${prefix}${globPattern(glob)}`,
  ),
  {
    ...habit(
      '([^\\s:()/][^\\s:()]*)?(?:\\.[*+]|\\\\[bdsw]|\\[[\\w-]*\\w-\\w[\\w-]*\\]|\\w\\|\\w)[^\\s:()]*',
      'Words are literal; regular expressions need isRegexEnabled.',
      (all) => all,
    ),
    isOfWords: true,
    needsRegex: true,
    isDoubtful: true,
  },
];

/** UTF-16 units. Bound: time, which may be quadratic; programs, which write more, know the syntax. */
export const HINT_TEXT_SIZE_MAX = 1000;

/** Every habit contains one of these; most queries contain none. */
const SIGN = /[:/!&|*+\\-]|NOT|AND|OR/;

/** Matches any of the habits: one test of the text, 1 us, instead of one for each, 8 us. */
const anyOf = (habits: readonly Habit[]): RegExp =>
  atWords(habits.map(({ source }) => source).join('|'), 'u');
const ANY_HABIT = anyOf(HABITS);
const ANY_SURE_HABIT = anyOf(HABITS.filter(({ isDoubtful }) => isDoubtful !== true));

function globPattern(glob: string): string {
  const end = glob.endsWith('*') ? '' : '$';
  return `${glob.replaceAll('.', '\\.').replaceAll(/\*+/g, '.*').replaceAll('?', '.').replace(/\.\*$/, '')}${end}`;
}

/** A group, or a side of `or`, in which nothing is left. */
const HAS_GAP = /(?:^|[\s(-])\(\s*\)|(?:^|\()\s*or(?=[\s)]|$)|[\s(]or\s*(?:\)|$)/;

/** Whether a value of `file:` is probably a glob: its star is at the start or end of a name or folder. */
const isGlob = (value: string): boolean =>
  /(?:^|\/)\*|\*(?:$|\/|\.\w)/.test(value) && !/[\])}.]\*/.test(value);

/** Hints for the text of a query that parses. Cost: at most quadratic in the text, which is short. */
export function hintsFor(text: string, isRegexEnabled: boolean, isFound = false): Hint[] {
  if (text.length > HINT_TEXT_SIZE_MAX || !SIGN.test(text)) return [];
  const { masked, quotes } = maskQuotes(text);
  if (!(isFound ? ANY_SURE_HABIT : ANY_HABIT).test(masked)) return [];
  const messages: string[] = [];
  let changed = masked;
  let isForRegex = isRegexEnabled;
  for (const { pattern, message, instead, isOfWords, isDoubtful, needsRegex } of HABITS) {
    if ((isOfWords && isRegexEnabled) || (isDoubtful && isFound)) continue;
    const matches = [...changed.matchAll(pattern)];
    if (!matches.some(isHabit)) continue;
    changed = changed.replaceAll(pattern, (...groups: string[]) => instead(...groups));
    messages.push(message);
    isForRegex ||= needsRegex === true;
  }
  const query = unmask(withoutGaps(changed), quotes);
  const isChanged = query !== unmask(withoutGaps(masked), quotes);
  const isGood = isChanged && !HAS_GAP.test(changed) && parses(query, isForRegex);
  const needsRegex = isForRegex && !isRegexEnabled;
  const suggestion = isGood
    ? { query, ...(needsRegex ? { isRegexEnabled: true as const } : {}) }
    : {};
  return [...new Set(messages)].slice(0, HINTS_MAX).map((message) => ({ message, ...suggestion }));
}

function isHabit([all, , prefix, value]: RegExpMatchArray): boolean {
  const isFile = /^[\s(]*-?f(?:ile)?:/.test(all);
  return !isFile || prefix === undefined || value === undefined || isGlob(value);
}

/** The first of the characters that stand for quoted texts while a query is rewritten; no query contains one. */
const FIRST_MARK = 0xf0000;

const withoutGaps = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

function maskQuotes(text: string): { masked: string; quotes: string[] } {
  const quotes: string[] = [];
  const masked = text.replaceAll(/"(?:[^"\\\n]|\\.)*"/gu, (quote) => {
    quotes.push(quote);
    return String.fromCodePoint(FIRST_MARK + quotes.length - 1);
  });
  return { masked, quotes };
}

function unmask(text: string, quotes: readonly string[]): string {
  return text.replaceAll(
    /[\u{f0000}-\u{ffffd}]/gu,
    (mark) => quotes[(mark.codePointAt(0) ?? 0) - FIRST_MARK] ?? mark,
  );
}

export function parses(query: string, isRegexEnabled: boolean): boolean {
  try {
    parseQuery(query, { isRegexEnabled });
    return true;
  } catch {
    return false;
  }
}
