// The requests of the attacks: large, costly or slow ones that an ordinary client may send.

import type { Call } from './crew.ts';
import { BIG_PATH, HISTORY_PATH, WIDE_PATH, type World } from './world.ts';

export interface NamedCall {
  readonly name: string;
  readonly call: Call;
}

/** Expressions that every doc must be read for; most match in half of them. */
export const COSTLY_EXPRESSIONS: readonly string[] = [
  String.raw`\w+\s+\w+\s*=\s*\w+\(`,
  String.raw`[0-9a-f]{3,}[^0-9a-f]`,
  String.raw`^.{60,}$`,
  String.raw`[A-Z]{3,}_[A-Z]+.*[;,]$`,
  String.raw`[aeiou]{3}\w*[^;]$`,
  String.raw`\b\w{1,3}\b.*\b\w{9}\b`,
  String.raw`.*(ing|ed|er)\b.*[xyz]`,
  String.raw`[a-z]{3}q[0-9]x[a-z]{2}zq`,
];

export const BODY_SIZE_MAX = 1 << 20;

export function pick<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

function get(path: string, parameters: Readonly<Record<string, string>> = {}): Call {
  const query = new URLSearchParams(parameters).toString();
  return { path: query === '' ? path : `${path}?${query}` };
}

function post(path: string, body: object): Call {
  return { path, body: JSON.stringify(body) };
}

export function searchCall(query: string, more: object = {}): Call {
  return post('/api/search', { query, matches: 100_000, ...more });
}

export function regexCall(expression: string, more: object = {}): Call {
  return searchCall(`"${expression}"`, { isRegexEnabled: true, ...more });
}

export function bigSourceCall({ plainRepo }: World): Call {
  return get('/api/source', { repo: plainRepo, path: BIG_PATH });
}

function nameOf({ path, body }: Call): string {
  const pathname = path.replace(/\?.*/s, '');
  return `${body === undefined ? 'GET' : 'POST'} ${pathname}`;
}

/** Searches differ by `index`. */
export function endpointCalls({ treeRepo: repo }: World, index: number): NamedCall[] {
  const history = { repo, path: HISTORY_PATH, ref: 'main' };
  const at = { repoName: repo, revisionName: 'main' };
  const search = regexCall(pick(COSTLY_EXPRESSIONS, index), { contextLines: index % 7 });
  return [
    search,
    { ...search, path: '/api/stream_search' },
    { ...search, path: '/api/explain' },
    post('/api/find_definitions', { symbolName: 'value_1' }),
    post('/api/find_references', { symbolName: 'value_1' }),
    get('/api/source', history),
    post('/api/files', at),
    post('/api/tree', { ...at, paths: [WIDE_PATH] }),
    get('/api/folder_contents', { ...at, path: WIDE_PATH }),
    get('/api/refs', { repo }),
    get('/api/blame', history),
    get('/api/diff', { repo, base: 'main~2', head: 'main' }),
    get('/api/commit', { repo, ref: 'main' }),
    get('/api/commits', { ...history, perPage: '100' }),
    get('/api/commits/authors', { repo }),
    get('/api/repos'),
    get('/api/openapi.json'),
  ].map((call) => ({ name: nameOf(call), call }));
}

/** The work tree has no such folders. */
export function deepCalls({ deepRepo, treeRepo, deepPath }: World): NamedCall[] {
  const at = { repoName: deepRepo, revisionName: 'main' };
  const folder = deepPath.slice(0, deepPath.lastIndexOf('/'));
  return [
    post('/api/tree', { ...at, paths: [deepPath] }),
    get('/api/source', { repo: deepRepo, path: deepPath }),
    get('/api/folder_contents', { ...at, path: folder }),
    get('/api/source', { repo: treeRepo, path: deepPath }),
    post('/api/files', at),
  ].map((call) => ({ name: `deep ${nameOf(call)}`, call }));
}

/** 64 expressions that are small to write and large to compile or to run; some are over a limit. */
export function worstExpressions(): string[] {
  const list = [10, 100, 500, 1000].flatMap((count) => [
    `.{${count}}q`,
    `[a-z]*[0-9].{${count}}x$`,
    `(a|b|ab){${count}}c`,
    `(?i)(.*e){${Math.ceil(count / 4)}}z`,
    `\\pL{${count}}`,
    `(\\w{1,${count}} ){2}q`,
    `[^a]{${count}}[^b]{${count}}`,
    `(x?){${count}}x{${count}}`,
    `(.|\\n){0,${count}}never_there`,
    `(?i)[k-s\\x{17f}\\x{212a}]{${count}}`,
    `\\b(\\w+\\W+){${Math.ceil(count / 5)}}zq`,
  ]);
  for (let i = 0; i < 10; i++) {
    list.push(`(a*)*b|.*[^${i}]{${i + 3}}(.*,){${10 + i}}q`);
    const words = Array.from({ length: 300 }, (_, k) => `w${(k * 7919 + i) % 9973}[a-z]`);
    list.push(`(${words.join('|')})`);
  }
  return list;
}

const FILTER_KINDS = [
  ['-file', 1900],
  ['-sym', 2000],
  ['file', 500],
] as const;

/** No two queries have an expression in common; `scaled` gives the number of filters. */
export function filterCall(index: number, scaled: (count: number) => number): NamedCall {
  const [prefix, count] = pick(FILTER_KINDS, index);
  const part = (_: unknown, i: number): string => `${prefix}:q${index}[a-f]x${i}.*\\.c$`;
  const query = Array.from({ length: scaled(count) }, part).join(' ');
  return { name: `${count} ${prefix}:`, call: searchCall(query) };
}

/** Queries of the largest size that name repositories, revisions or nothing at all over and over. */
export function longQueryCalls(): NamedCall[] {
  const queries: Record<string, (index: number) => string> = {
    'repo: expressions': (i) => `-repo:q[a-f]x${i} `,
    'repo: names': (i) => `-repo:q${i}x `,
    revisions: (i) => `-rev:q${i} `,
    'equal file: expressions': () => '-file:q[a-f]x.*\\.c$ ',
    words: (i) => `w${i} `,
    'half quotes': () => '"\\',
    'stars behind file:': (i) => (i === 0 ? '(f:a' : '*a?'),
  };
  return Object.entries(queries).map(([name, partAt]) => {
    let query = '';
    for (let i = 0; query.length < 60_000; i++) query += partAt(i);
    return { name: `64 KB of ${name}`, call: searchCall(query) };
  });
}

/** Large answers in the form that takes the daemon the most work. */
export function packedCalls(world: World): NamedCall[] {
  const selected = [
    'POST /api/search',
    'POST /api/stream_search',
    'POST /api/files',
    'GET /api/source',
  ];
  const calls = endpointCalls(world, 0).filter(({ name }) => selected.includes(name));
  const source = { name: 'GET /api/source, 24 MB', call: bigSourceCall(world) };
  return [...calls, source].map(({ name, call }) => ({
    name: `${name}, MessagePack`,
    call: { ...call, accept: 'application/x-msgpack' },
  }));
}

export function bodyCalls(): NamedCall[] {
  const size = BODY_SIZE_MAX - 1000;
  const repeated = (part: string): string => part.repeat(Math.floor(size / part.length));
  const bodies: Record<string, string> = {
    'a word of 1 MB': JSON.stringify({ query: repeated('x'), matches: 1 }),
    '500,000 words': JSON.stringify({ query: repeated('a '), matches: 1 }),
    '50,000 words or other words': JSON.stringify({ query: `a${repeated(' or b c')}`, matches: 1 }),
    '1 MB of groups': JSON.stringify({ query: repeated('(a b) '), matches: 1 }),
    '1 MB of open groups': JSON.stringify({ query: repeated('( '), matches: 1 }),
    '1 MB of repository names': JSON.stringify({
      query: `reposet:${repeated('ab,')}`,
      matches: 1,
    }),
    '1 MB of nested lists': `{"query":"a","matches":1,"x":${'['.repeat(size / 2)}${']'.repeat(size / 2)}}`,
    '1 MB of numbers': `{"query":"a","matches":1,"x":[${repeated('1,')}1]}`,
    '100,000 members': `{"query":"a","matches":1,${Array.from({ length: 90_000 }, (_, i) => `"k${i}":1`).join()}}`,
  };
  return Object.entries(bodies).map(([name, body]) => ({
    name,
    call: { path: '/api/search', body },
  }));
}
