// Definitions and references over HTTP, with a real daemon: results, filters, positions, bad bodies; and symbols in
// searches and on the command line.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { call, get, search, serve, type Served, suggestedBy, trawl } from './daemon.ts';

interface Navigation {
  readonly symbolName?: string;
  readonly stats: { readonly matchCount: number };
  readonly files: readonly {
    readonly fileName: string;
    readonly repository: string;
    readonly language: string;
    readonly webUrl: string;
    readonly matches: readonly {
      readonly lineContent: string;
      readonly range: { readonly start: object; readonly end: object };
    }[];
  }[];
  readonly repositoryInfo: readonly { readonly name: string }[];
  readonly isSearchExhaustive: boolean;
}

const dataDir = temporaryFolder();
let served: Served;
let repoName = '';

before(async () => {
  const repo = makeRepo({
    'src/plum.c':
      'int plum_count;\r\nint plum(int stone)\n{\n  return plum_count + plum(stone);\n}\n',
    'src/plum.h': '#define PLUM plum\n',
    'src/fruit.cpp':
      'struct Fruit {\n  Fruit operator+(const Fruit &other);\n};\nint a = plum(1);\n',
    'web/plum.ts':
      'export class Pear {}\nexport function plum(): Pear {\n  return new Pear();\n}\n',
    'web/view.tsx': 'export const View = () => plum();\n',
    'plum.py': '# é plum\ndef plum(): pass\n',
    'fig.clj': '(defn fig-leaf! [x] (- x))\n(fig-leaf! 1)\n',
  });
  git(repo, 'branch', 'old');
  writeFiles(repo, { 'web/new.js': 'function plum() { return 2; }\n' });
  commitAll(repo);
  served = await serve(dataDir, [repo], { flags: ['--branches', 'old', '--mode', 'commits'] });
  await served.process.until(/ symbols found /);
  const { body } = await get<readonly { repoName: string }[]>(`${served.url}/api/repos`);
  repoName = body[0]!.repoName;
});
after(() => served.process.stop());

async function send(
  kind: 'definitions' | 'references',
  body: object,
): Promise<{ status: number; body: Navigation }> {
  const answer = await call(`${served.url}/api/find_${kind}`, {
    method: 'POST',
    body: JSON.stringify(body),
  });
  return { status: answer.status, body: (await answer.json()) as Navigation };
}

/** `path:line content` of every place, sorted. */
async function locationsOf(kind: 'definitions' | 'references', body: object): Promise<string[]> {
  const { status, body: found } = await send(kind, body);
  assert.equal(status, 200);
  const locations = found.files.flatMap(({ fileName, matches }) =>
    matches.map(({ lineContent }) => `${fileName}:${lineContent.trimEnd()}`),
  );
  assert.equal(found.stats.matchCount, locations.length);
  return locations.sort();
}

void test('definitions come from symbols, references from all words', async () => {
  assert.deepEqual(await locationsOf('definitions', { symbolName: 'plum' }), [
    'plum.py:def plum(): pass',
    'src/plum.c:int plum(int stone)',
    'web/new.js:function plum() { return 2; }',
    'web/plum.ts:export function plum(): Pear {',
  ]);
  assert.deepEqual(await locationsOf('references', { symbolName: 'plum', language: 'C' }), [
    'src/fruit.cpp:int a = plum(1);',
    'src/plum.c:  return plum_count + plum(stone);',
    'src/plum.c:int plum(int stone)',
    'src/plum.h:#define PLUM plum',
  ]);
  assert.deepEqual(await locationsOf('definitions', { symbolName: 'Plum' }), []);
  assert.deepEqual(await locationsOf('definitions', { symbolName: 'plu' }), []);
  assert.deepEqual(await locationsOf('definitions', { symbolName: 'pl.m' }), []);
});

void test('names that are not words are found literally', async () => {
  assert.deepEqual(await locationsOf('references', { symbolName: 'operator+' }), [
    'src/fruit.cpp:  Fruit operator+(const Fruit &other);',
  ]);
  assert.deepEqual(await locationsOf('references', { symbolName: '(stone)' }), [
    'src/plum.c:  return plum_count + plum(stone);',
  ]);
  assert.deepEqual(await locationsOf('references', { symbolName: '\\b.*[' }), []);
});

void test('language, revision and repository restrict the search', async () => {
  const ofWeb = { symbolName: 'plum', language: 'TypeScript' };
  assert.deepEqual(await locationsOf('definitions', ofWeb), [
    'web/new.js:function plum() { return 2; }',
    'web/plum.ts:export function plum(): Pear {',
  ]);
  assert.deepEqual(await locationsOf('references', { ...ofWeb, language: 'TSX' }), [
    'web/new.js:function plum() { return 2; }',
    'web/plum.ts:export function plum(): Pear {',
    'web/view.tsx:export const View = () => plum();',
  ]);
  for (const language of ['typescript', 'ts', 'Vue', 'Svelte'])
    assert.equal((await locationsOf('definitions', { ...ofWeb, language })).length, 2, language);
  assert.deepEqual(await locationsOf('definitions', { symbolName: 'plum', language: 'objc' }), [
    'src/plum.c:int plum(int stone)',
  ]);
  // An empty one is absent.
  assert.equal((await locationsOf('definitions', { ...ofWeb, revisionName: '' })).length, 2);
  // As it is indexed, and as git knows it.
  for (const revisionName of ['refs/heads/old', 'old'])
    assert.deepEqual(await locationsOf('definitions', { ...ofWeb, revisionName }), [
      'web/plum.ts:export function plum(): Pear {',
    ]);
  for (const nothing of [
    { ...ofWeb, revisionName: 'ol' },
    { ...ofWeb, revisionName: '*' },
    { ...ofWeb, repoName: repoName.slice(1) },
    { ...ofWeb, repoName: '.*' },
    { ...ofWeb, repoName: 'x'.repeat(20_000) },
    { ...ofWeb, language: 'nosuch' },
  ])
    assert.deepEqual(await locationsOf('definitions', nothing), [], JSON.stringify(nothing));
  assert.equal((await locationsOf('definitions', { ...ofWeb, repoName })).length, 2);
});

void test('a location has its lines and its range', async () => {
  const { body } = await send('definitions', { symbolName: 'plum_count' });
  assert.deepEqual(
    body.files.map(({ matches }) => matches),
    [
      [
        {
          lineContent: 'int plum_count;\r\n',
          range: {
            start: { byteOffset: 4, lineNumber: 1, column: 5 },
            end: { byteOffset: 14, lineNumber: 1, column: 15 },
          },
        },
      ],
    ],
  );
  assert.equal(body.files[0]!.language, 'C');
  assert.deepEqual(
    body.repositoryInfo.map(({ name }) => name),
    [repoName],
  );
  assert.ok(body.isSearchExhaustive);
});

void test('a position in a file stands for the name at it; its file comes first', async () => {
  const at = (path: string, line: number, column: number, more: object = {}) => ({
    position: { repo: repoName, path, line, column, ...more },
  });
  const { body: found } = await send('definitions', at('web/plum.ts', 2, 17));
  assert.equal(found.symbolName, 'plum');
  assert.equal(found.files[0]!.fileName, 'web/plum.ts');
  assert.equal(found.stats.matchCount, 4);
  for (const path of ['src/plum.c', 'plum.py', 'web/new.js']) {
    const line = path === 'src/plum.c' ? 2 : path === 'plum.py' ? 2 : 1;
    const column = { 'src/plum.c': 5, 'plum.py': 5 }[path] ?? 10;
    const { body } = await send('definitions', at(path, line, column));
    assert.equal(body.files[0]!.fileName, path);
  }
  // Columns are code points; just behind a name counts; between words there is none.
  const names: [number, string | undefined][] = [
    [1, undefined],
    [3, 'é'],
    [4, 'é'],
    [5, 'plum'],
    [9, 'plum'],
    [99, undefined],
  ];
  for (const [column, name] of names) {
    const { body } = await send('references', at('plum.py', 1, column));
    assert.equal(body.symbolName, name, String(column));
    assert.equal(body.stats.matchCount > 0, name !== undefined);
  }
  // Names of some languages have signs; signs alone are no name.
  const { body: leaf } = await send('definitions', at('fig.clj', 2, 3));
  assert.deepEqual([leaf.symbolName, leaf.stats.matchCount], ['fig-leaf!', 1]);
  assert.equal((await send('definitions', at('fig.clj', 1, 22))).body.symbolName, undefined);
  const old = await send('definitions', at('web/plum.ts', 2, 17, { ref: 'old' }));
  assert.equal(old.body.symbolName, 'plum');
  const refused: [object, number][] = [
    [at('nosuch', 1, 1), 404],
    [at('../x', 1, 1), 404],
    [{ position: { ...at('plum.py', 1, 1).position, repo: 'nosuch' } }, 404],
    [at('plum.py', 1, 1, { ref: '-x' }), 400],
    [at('plum.py', 0, 1), 400],
    [at('plum.py', 1, 1.5), 400],
    [{ ...at('plum.py', 1, 5), symbolName: 'plum' }, 400],
  ];
  for (const [body, status] of refused)
    assert.equal((await send('definitions', body)).status, status, JSON.stringify(body));
});

void test('its file and repository come first where there are more occurrences than an answer has', async (t) => {
  const many = makeRepo({ 'many.py': 'def mill(): pass\n'.repeat(1100) });
  const own = makeRepo({
    'many.py': 'def mill(): pass\n'.repeat(20),
    'test/mill_test.py': 'def mill(): pass\n',
  });
  const { url, process } = await serve(temporaryFolder(), [many, own]);
  t.after(() => process.stop());
  await process.until(/ symbols found /, 2);
  const { body: repos } = await get<readonly { repoName: string }[]>(`${url}/api/repos`);
  const [manyName, ownName] = [many, own].map(
    (repo) => repos.find(({ repoName: name }) => repo.endsWith(name.split('/').at(-1)!))!.repoName,
  );
  for (const kind of ['definitions', 'references']) {
    const position = { repo: ownName, path: 'test/mill_test.py', line: 1, column: 5 };
    const answer = await call(`${url}/api/find_${kind}`, {
      method: 'POST',
      body: JSON.stringify({ position }),
    });
    const found = (await answer.json()) as Navigation;
    assert.deepEqual(
      found.files.map(({ repository, fileName, matches }) => [
        repository,
        fileName,
        matches.length,
      ]),
      [
        [ownName, 'test/mill_test.py', 1],
        [ownName, 'many.py', 20],
        [manyName, 'many.py', 979],
      ],
    );
    assert.deepEqual([found.stats.matchCount, found.isSearchExhaustive], [1000, false]);
    assert.deepEqual(
      found.repositoryInfo.map(({ name }) => name),
      [ownName, manyName],
    );
  }
});

void test('searches report symbols, definitions first', async () => {
  const { files } = await search(served.url, 'sym:^plum$ lang:c', {
    isCaseSensitivityEnabled: true,
  });
  assert.deepEqual(
    files.map(({ chunks }) => (chunks[0] as unknown as { symbols: unknown }).symbols),
    [[{ symbol: 'plum', kind: 'function' }]],
  );
  const ranked = await search(served.url, 'plum file:\\.(h|c)$');
  assert.equal(ranked.files[0]!.chunks[0]!.content, 'int plum(int stone)\n');
  const found = await trawl(['search', '-l', '--data-dir', dataDir, 'sym:Pear']);
  assert.match(found.stdout, /\/web\/plum\.ts\n$/);
  const verified = await trawl(['verify', '--data-dir', dataDir]);
  assert.match(verified.stdout, /^valid .*\.tags$/m);
});

async function suggested(
  kind: string,
  prefix: string,
  more: Readonly<Record<string, string>> = {},
): Promise<readonly { readonly value: string; readonly description?: string }[]> {
  const parameters = new URLSearchParams({ kind, prefix, ...more }).toString();
  return await suggestedBy(async () => {
    const { status, body } = await get<readonly { value: string }[]>(
      `${served.url}/api/suggestions?${parameters}`,
    );
    assert.equal(status, 200, JSON.stringify(body));
    return body;
  });
}

async function valuesOf(...call: Parameters<typeof suggested>): Promise<string[]> {
  return (await suggested(...call)).map(({ value }) => value);
}

void test('suggestions: completions of a query, best first', async () => {
  assert.deepEqual(await valuesOf('file', '🔑'.repeat(256)), []);
  assert.deepEqual(await suggested('file', 'PLUM.'), [
    { value: 'plum.py', description: repoName },
    { value: 'src/plum.c', description: repoName },
    { value: 'src/plum.h', description: repoName },
    { value: 'web/plum.ts', description: repoName },
  ]);
  assert.deepEqual(await valuesOf('file', 'plum', { query: 'lang:c or lang:python' }), [
    'plum.py',
    'src/plum.c',
    'src/plum.h',
  ]);
  assert.deepEqual(await valuesOf('file', 'plum', { query: 'lang:python', limit: '1' }), [
    'plum.py',
  ]);
  assert.deepEqual(await valuesOf('file', '.*'), []);
  assert.equal((await valuesOf('file', '')).length, 8);
  assert.deepEqual(await valuesOf('sym', 'plum'), ['plum', 'PLUM', 'plum_count']);
  assert.deepEqual(await suggested('sym', 'fru'), [
    { value: 'Fruit', description: 'struct, src/fruit.cpp' },
  ]);
  assert.deepEqual(await valuesOf('sym', 'plum', { query: 'lang:nosuch' }), []);
  assert.deepEqual(await suggested('lang', 'c'), [
    { value: 'C', description: '2 files' },
    { value: 'Clojure', description: '1 file' },
    { value: 'C++', description: '1 file' },
    { value: 'JavaScript', description: '1 file' },
    { value: 'TypeScript', description: '1 file' },
  ]);
  assert.deepEqual(await valuesOf('lang', 'cpp'), ['C++']);
  assert.deepEqual(await valuesOf('rev', ''), ['HEAD', '*', 'refs/heads/main', 'refs/heads/old']);
  assert.deepEqual(await valuesOf('rev', 'ol'), ['refs/heads/old']);
  assert.deepEqual(await valuesOf('repo', repoName.slice(2)), [repoName]);
  assert.deepEqual(await valuesOf('repo', repoName, { query: '-repo:.' }), []);
  assert.deepEqual(await valuesOf('context', ''), []);
});
