// The attacks, as data and loops over the crew: who asks what how often. All are such as one ordinary client may
// send. Each runs until the signal of its crew.

import type { Call, Crew } from './crew.ts';
import { BIG_PATH, HISTORY_PATH, WIDE_PATH } from './world.ts';
import type { World } from './world.ts';

export interface Scene {
  readonly crew: Crew;
  readonly world: World;
  /** Of the one caller that attacks with a credential. */
  readonly headers: Readonly<Record<string, string>>;
  /** A number of connections or parts in the scale of the run, at least one. */
  readonly scaled: (count: number) => number;
}

export interface Attack {
  readonly name: string;
  readonly why: string;
  /** Guests may not search: the caller beside the attack is the one with the key, the attack has none. */
  readonly isClosed?: true;
  /** Resolves at the end. */
  readonly run: (scene: Scene) => Promise<void>;
}

/** Expressions that every doc must be read for; most match in half of them. */
const COSTLY = [
  String.raw`\w+\s+\w+\s*=\s*\w+\(`,
  String.raw`[0-9a-f]{3,}[^0-9a-f]`,
  String.raw`^.{60,}$`,
  String.raw`[A-Z]{3,}_[A-Z]+.*[;,]$`,
  String.raw`[aeiou]{3}\w*[^;]$`,
  String.raw`\b\w{1,3}\b.*\b\w{9}\b`,
  String.raw`.*(ing|ed|er)\b.*[xyz]`,
  String.raw`[a-z]{3}q[0-9]x[a-z]{2}zq`,
];

function search(scene: Scene, query: string, more: object = {}, isRegexEnabled = true): Call {
  const body = { query, matches: 100_000, isRegexEnabled, ...more };
  return { path: '/api/search', body, headers: scene.headers };
}

function get(scene: Scene, path: string, parameters: Readonly<Record<string, string>>): Call {
  const query = new URLSearchParams(parameters).toString();
  return { path: `${path}?${query}`, headers: scene.headers };
}

function post(scene: Scene, path: string, body: object): Call {
  return { path, body, headers: scene.headers };
}

function pick<T>(items: readonly T[], index: number): T {
  const item = items[index % items.length];
  if (item === undefined) throw new Error('nothing to pick from');
  return item;
}

/** One large answer of every endpoint that reads; those of searches differ by `index`. */
function endpointCalls(scene: Scene, index: number): Call[] {
  const { treeRepo: repo } = scene.world;
  const history = { repo, path: HISTORY_PATH, ref: 'main' };
  const at = { repoName: repo, revisionName: 'main' };
  const contextLines = index % 7;
  const wide = search(scene, pick(COSTLY, index), { contextLines });
  return [
    wide,
    { ...wide, path: '/api/stream_search' },
    { ...wide, path: '/api/explain' },
    post(scene, '/api/find_definitions', { symbolName: 'value_1' }),
    post(scene, '/api/find_references', { symbolName: 'value_1' }),
    get(scene, '/api/source', history),
    post(scene, '/api/files', at),
    post(scene, '/api/tree', { ...at, paths: [WIDE_PATH] }),
    get(scene, '/api/folder_contents', { ...at, path: WIDE_PATH }),
    get(scene, '/api/refs', { repo }),
    get(scene, '/api/blame', history),
    get(scene, '/api/diff', { repo, base: 'main~2', head: 'main' }),
    get(scene, '/api/commit', { repo, ref: 'main' }),
    get(scene, '/api/commits', { ...history, perPage: '100' }),
    get(scene, '/api/commits/authors', { repo }),
    get(scene, '/api/repos', {}),
    get(scene, '/api/openapi.json', {}),
  ];
}

/** 64 expressions that are small to write and large to compile or to run. */
function worstExpressions(): string[] {
  const list: string[] = [];
  for (const count of [10, 100, 500, 1000]) {
    list.push(
      `.{${count}}q`,
      `[a-z]*[0-9].{${count}}x$`,
      `(a|b|ab){${count}}c`,
      `(?i)(.*e){${Math.min(count, 300)}}z`,
      `\\pL{${count}}`,
      `(\\w{1,${count}} ){2}q`,
      `[^a]{${count}}[^b]{${count}}`,
      `(x?){${count}}x{${count}}`,
      `(.|\\n){0,${count}}never_there`,
      `(?i)[k-s\\x{17f}\\x{212a}]{${count}}`,
      `\\b(\\w+\\W+){${Math.min(count, 200)}}zq`,
    );
  }
  for (let i = 0; i < 10; i++) list.push(`(a*)*b|.*[^${i}]{${i + 3}}(.*,){${10 + i}}q`);
  for (let i = 0; i < 10; i++) {
    const words = Array.from({ length: 300 }, (_, k) => `w${(k * 7919 + i) % 9973}[a-z]`);
    list.push(`(${words.join('|')})`);
  }
  return list;
}

/** A query of `count` expressions of filters; no two calls have one in common. */
function filterQuery(prefix: string, count: number, index: number): string {
  const parts = Array.from({ length: count }, (_, i) => `${prefix}:q${index}[a-f]x${i}.*\\.c$`);
  return parts.join(' ');
}

const MEBIBYTE = Buffer.alloc((1 << 20) - 1, 'x');

const SENT = Array.from({ length: 16 }, () => MEBIBYTE.subarray(0, MEBIBYTE.length >> 4));

export const ATTACKS: readonly Attack[] = [
  {
    name: 'costly searches',
    why: 'one key, 32 connections, expressions over everything',
    run: (scene) =>
      scene.crew.loop(scene.scaled(32), (i) =>
        search(scene, pick(COSTLY, i), { contextLines: i % 3 }),
      ),
  },
  {
    name: 'source readers',
    why: '500 slow readers of one file of 24 MB',
    run: (scene) => {
      const { treeRepo: repo } = scene.world;
      return scene.crew.readSlowly(scene.scaled(500), () =>
        get(scene, '/api/source', { repo, path: BIG_PATH }),
      );
    },
  },
  {
    name: 'slow readers',
    why: '10 slow readers of the largest answer of every endpoint',
    run: (scene) => {
      const kinds = endpointCalls(scene, 0).length;
      return scene.crew.readSlowly(scene.scaled(10) * kinds, (i) =>
        pick(endpointCalls(scene, i), i),
      );
    },
  },
  {
    name: 'slow senders',
    why: '1,000 connections send 1 MB less one byte, without credential',
    isClosed: true,
    run: async ({ crew, scaled }) => {
      const head = `POST /api/search HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n`;
      for (let i = 0; i < scaled(1000); i++)
        crew.hold([`${head}Content-Length: ${MEBIBYTE.length + 1}\r\n\r\n`, ...SENT]);
      await crew.loop(0, () => ({ path: '/' }));
    },
  },
  {
    name: 'worst expressions',
    why: 'one key, 16 connections, 64 expressions that are costly to compile or to run',
    run: (scene) => {
      const expressions = worstExpressions();
      return scene.crew.loop(scene.scaled(16), (i) =>
        search(scene, `"${pick(expressions, i)}"`, { matches: 100 }),
      );
    },
  },
  {
    name: 'deep trees',
    why: '4 clients, listings and contents below 3,000 folders',
    run: (scene) => {
      const { deepRepo: repo, deepPath } = scene.world;
      const at = { repoName: repo, revisionName: 'main' };
      const folder = deepPath.slice(0, deepPath.lastIndexOf('/'));
      const calls = [
        post(scene, '/api/tree', { ...at, paths: [deepPath] }),
        get(scene, '/api/source', { repo, path: deepPath }),
        get(scene, '/api/folder_contents', { ...at, path: folder }),
        get(scene, '/api/source', { repo: scene.world.treeRepo, path: deepPath }),
        post(scene, '/api/files', at),
      ];
      return scene.crew.loop(scene.scaled(4), (i) => pick(calls, i));
    },
  },
  {
    name: 'file queries',
    why: '4 clients, 1,900 file expressions in a query of 49 KB, 2,000 symbol expressions',
    run: (scene) =>
      scene.crew.loop(scene.scaled(4), (i) => {
        const [prefix, count] = pick(
          [
            ['-file', 1900],
            ['-sym', 2000],
            ['file', 500],
          ] as const,
          i,
        );
        return search(scene, filterQuery(prefix, scene.scaled(count), i), {}, false);
      }),
  },
];
