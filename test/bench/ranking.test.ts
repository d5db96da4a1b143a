// What the measure of ranking rests on: rules of queries that leave out what is ambiguous, the same queries each time, and
// figures that are right. No figure of a search engine is asserted.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { measureRanking } from '../../bench/ranking/measure.ts';
import { digestOf, partsOfName } from '../../bench/ranking/draw.ts';
import type { RankingQuery } from '../../bench/ranking/draw.ts';
import { drawQueries } from '../../bench/ranking/queries.ts';
import { figuresOf, formatRanking } from '../../bench/ranking/report.ts';
import { rankQueries, zoektSystems } from '../../bench/ranking/run.ts';
import type { RankedQuery } from '../../bench/ranking/run.ts';
import { QUERY_SETS } from '../../bench/ranking/sets.ts';
import { readSource } from '../../bench/ranking/source.ts';
import type { Tree } from '../../bench/ranking/trees.ts';
import { temporaryFolder, writeFiles } from '../sources/git/fixture.ts';

const FILES: Readonly<Record<string, string>> = {
  'README.md': '# The tree\n\n## Two words [here](x.html)\n',
  'CHANGELOG.md': '## Version with notes\n',
  'lib/snow_plough.c': `#include "snow_plough.h"

/* Clears streets before morning traffic begins. More of it. */
static int plough_street_once(struct plough *machine,
                              int depth)
{
	if (depth < 0)
		return report_error("the depth of %d is below any street");
	return 0;
}
`,
  'lib/snow_plough.h': 'struct plough {\n\tint depth;\n};\nint plough_street_once(void);\n',
  'lib/driver.c':
    'int drive(void)\n{\n\treturn plough_street_once(0, 1) + plough_street_once(0, 2);\n}\n',
  'src/twice.py':
    'class Twice:\n    def only_here(self):\n        """Melts frozen pipes quickly."""\n',
  'src/again.ts': 'export class Twice {}\nexport interface Alone {}\n',
  'tests/test_other.py': 'class OnlyInTests:\n    pass\n',
};

function makeTree(): Tree {
  const root = path.join(temporaryFolder(), 'streets-1.0');
  writeFiles(root, FILES);
  return { name: 'streets-1.0', root };
}

function textsOf(queries: readonly RankingQuery[], queryClass: string): string[] {
  return queries.filter((query) => query.class === queryClass).map(({ text }) => text);
}

test('names have the parts that they are spelled with', () => {
  assert.deepEqual(partsOfName('HTTPServer_name2'), ['HTTP', 'Server', 'name2']);
  assert.deepEqual(partsOfName('__max_line-count'), ['max', 'line', 'count']);
});

test('each class asks what its rule says, and leaves out what is ambiguous', () => {
  const queries = drawQueries(readSource(makeTree()));
  // Twice is defined twice, and tests are not meant.
  assert.deepEqual(textsOf(queries, "a type's name").sort(), ['Alone', 'plough']);
  const [base] = queries.filter(({ class: name }) => name === 'words of a base name');
  assert.equal(base?.text, 'snow plough');
  assert.deepEqual(base.expected, ['lib/snow_plough.c', 'lib/snow_plough.h']);
  // One of a file is enough.
  assert.equal(textsOf(queries, 'heading of a document').length, 1);
  assert.ok(textsOf(queries, "a name's words apart").includes('plough street once'));
  const [call] = queries.filter(({ class: name }) => name === 'who calls');
  assert.equal(call?.text, 'plough_street_once');
  assert.deepEqual(call.expected, ['lib/snow_plough.c', 'lib/driver.c']);
  assert.deepEqual(textsOf(queries, 'phrase with punctuation'), ['plough_street_once(']);
  assert.deepEqual(textsOf(queries, 'error message'), ['is below any street']);
  const comments = textsOf(queries, 'words of a comment').join();
  assert.match(comments, /clears streets morning|streets morning traffic|morning traffic begins/);
  assert.match(comments, /melts frozen pipes|frozen pipes quickly/);
});

test('queries are the same each time, and both halves have some', () => {
  const tree = makeTree();
  const queries = drawQueries(readSource(tree));
  assert.deepEqual(drawQueries(readSource(tree)), queries);
  assert.equal(new Set(queries.map(({ half }) => half)).size, 2);
  assert.notEqual(digestOf(queries), digestOf(queries.slice(1)));
});

test('figures are means over places', () => {
  const places = [1, 2, 0, 10];
  const queries = places.map((place, i): RankedQuery => ({
    tree: 't',
    class: 'who calls',
    half: 'report',
    text: String(i),
    isPhrase: false,
    expected: ['x'],
    places: { one: place },
    first: { one: ['y', 'z'] },
  }));
  const figures = figuresOf(queries, ['one']);
  for (const name of ['who calls', 'all'] as const) {
    const figure = figures.find((one) => one.half === 'report' && one.class === name);
    assert.deepEqual(figure, {
      half: 'report',
      class: name,
      system: 'one',
      queryCount: 4,
      mrr: 0.4,
      recallAt1: 0.25,
      recallAt5: 0.5,
    });
  }
  const report = { startedAt: '', digest: 'd', trees: ['t'], systems: ['one'], figures, queries };
  assert.match(formatRanking(report), /^who calls +4 +0\.400 {2}25 {2}50$/m);
});

test('a real daemon is asked with all numbers of matches', async () => {
  const report = await measureRanking(QUERY_SETS.drawn, [makeTree()], {});
  assert.deepEqual(report.systems, ['100', '1000', '10000', '100000']);
  const [name] = report.queries.filter(({ text }) => text === 'Alone');
  assert.deepEqual(Object.values(name?.places ?? {}), [1, 1, 1, 1]);
  const [phrase] = report.queries.filter(({ isPhrase }) => isPhrase);
  assert.ok(Object.values(phrase?.places ?? {}).every((place) => place > 0));
});

test('Zoekt is asked in its own words, in both modes', async () => {
  const bodies: unknown[] = [];
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      bodies.push(JSON.parse(text));
      response.end(JSON.stringify({ Result: { Files: [{ FileName: 'a' }, { FileName: 'b' }] } }));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- it listens on a port
  const { port } = server.address() as AddressInfo;
  const query: RankingQuery = {
    tree: 't-1.0',
    class: 'phrase with punctuation',
    half: 'tune',
    text: 'f("x"',
    isPhrase: true,
    expected: ['b'],
  };
  const [ranked] = await rankQueries([query], zoektSystems(`http://127.0.0.1:${port}`));
  server.close();
  server.closeAllConnections();
  assert.deepEqual(ranked?.places, { Zoekt: 2, 'Zoekt BM25': 2 });
  const options = { ChunkMatches: true, MaxDocDisplayCount: 10_000 };
  const asked = String.raw`repo:\bt-1\.0$ "f\\(\"x\""`;
  assert.deepEqual(bodies, [
    { Q: asked, Opts: { ...options, UseBM25Scoring: false } },
    { Q: asked, Opts: { ...options, UseBM25Scoring: true } },
  ]);
});
