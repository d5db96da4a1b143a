// The ranking benchmark: query rules that omit ambiguous queries, reproducible queries, and right figures. No figure
// of a search engine is asserted.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { measureRanking } from '../../bench/ranking/measure.ts';
import { digestOf, partsOfName, type RankingQuery } from '../../bench/ranking/draw.ts';
import { drawQueries } from '../../bench/ranking/queries.ts';
import { drawRealQueries } from '../../bench/ranking/real-queries.ts';
import { drawUnseenQueries } from '../../bench/ranking/unseen-queries.ts';
import { figuresOf, formatMisses, formatRanking } from '../../bench/ranking/report.ts';
import { rankQueries, zoektSystems, type RankedQuery } from '../../bench/ranking/run.ts';
import { QUERY_SETS } from '../../bench/ranking/sets.ts';
import { readSource, type Source } from '../../bench/ranking/source.ts';
import type { Tree } from '../../bench/ranking/trees.ts';
import { startPlainServer } from '../http/plain-server.ts';
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

test('names are split into their words', () => {
  assert.deepEqual(partsOfName('HTTPServer_name2'), ['HTTP', 'Server', 'name2']);
  assert.deepEqual(partsOfName('__max_line-count'), ['max', 'line', 'count']);
});

test('each class follows its rule and omits ambiguous queries', () => {
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

test('queries are reproducible, and both halves have some', () => {
  const tree = makeTree();
  const queries = drawQueries(readSource(tree));
  assert.deepEqual(drawQueries(readSource(tree)), queries);
  assert.equal(new Set(queries.map(({ half }) => half)).size, 2);
  assert.notEqual(digestOf(queries), digestOf(queries.slice(1)));
});

/** A query whose file has this rank; 0: not found. */
function ranked(name: string, rank: number, half: RankedQuery['half']): RankedQuery {
  return {
    tree: 't',
    class: name,
    half,
    text: `${name} text`,
    isPhrase: false,
    expected: ['right'],
    locations: { one: rank },
    first: { one: rank === 1 ? ['right'] : ['x', 'y', 'z'] },
  };
}

test('figures are means over ranks', () => {
  const queries = [1, 2, 0, 10].map((rank) => ranked('who calls', rank, 'report'));
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

test('a real daemon is measured with all match limits', async () => {
  const report = await measureRanking(QUERY_SETS.drawn, [makeTree()], {});
  assert.deepEqual(report.systems, ['100', '1000', '10000', '100000']);
  const [name] = report.queries.filter(({ text }) => text === 'Alone');
  assert.deepEqual(Object.values(name?.locations ?? {}), [1, 1, 1, 1]);
  const [phrase] = report.queries.filter(({ isPhrase }) => isPhrase);
  assert.ok(Object.values(phrase?.locations ?? {}).every((rank) => rank > 0));
});

test('Zoekt gets queries in its own syntax, in both modes', async () => {
  const bodies: unknown[] = [];
  const server = await startPlainServer((_, body, reply) => {
    bodies.push(JSON.parse(body));
    reply.end(JSON.stringify({ Result: { Files: [{ FileName: 'a' }, { FileName: 'b' }] } }));
  });
  const query: RankingQuery = {
    tree: 't-1.0',
    class: 'phrase with punctuation',
    half: 'tune',
    text: 'f("x"',
    isPhrase: true,
    expected: ['b'],
  };
  const [ranked] = await rankQueries([query], zoektSystems(server.url));
  await server.close();
  assert.deepEqual(ranked?.locations, { Zoekt: 2, 'Zoekt BM25': 2 });
  const options = { ChunkMatches: true, MaxDocDisplayCount: 10_000 };
  const requested = String.raw`repo:\bt-1\.0$ "f\\(\"x\""`;
  assert.deepEqual(bodies, [
    { Q: requested, Opts: { ...options, UseBM25Scoring: false } },
    { Q: requested, Opts: { ...options, UseBM25Scoring: true } },
  ]);
});

function sourceOf(files: Readonly<Record<string, string>>): Source {
  const root = path.join(temporaryFolder(), 'streets-1.0');
  writeFiles(root, files);
  return readSource({ name: 'streets-1.0', root });
}

test('half of a name is a query where no other name starts with it', () => {
  const source = sourceOf({
    'a.py': 'class Streetlamp:\n    pass\n',
    'b.py': 'class Crossroads:\n    pass\n',
    'c.py': 'class Crossroadsigns:\n    pass\n',
  });
  const texts = textsOf(drawRealQueries(source), 'half of a name');
  assert.equal(texts.length, 1);
  assert.match(texts[0] ?? '', /^Stree(?:t|tl|tla)?$/);
});

test('queries of a folder and a base name', () => {
  const source = sourceOf({
    'python/json/loader.py': '',
    'python/yaml/loader.py': '',
    'python/yaml/writer.c': '',
    'python/yaml/writer.h': '',
    'json/again/writer.py': '',
    'again/writer.py': '',
    'src/index.py': '',
  });
  const queries = drawRealQueries(source).filter((one) => one.class === 'folder and base name');
  const expected = Object.fromEntries(queries.map((query) => [query.text, query.expected]));
  assert.deepEqual(expected, {
    'json loader': ['python/json/loader.py'],
    'yaml loader': ['python/yaml/loader.py'],
    'yaml writer': ['python/yaml/writer.c', 'python/yaml/writer.h'],
  });
});

test('queries of a path word and words of a name that the file defines', () => {
  const source = sourceOf({
    'json/loader.py': 'def melt_pipes():\n    pass\n',
    'yaml/loader.py': 'def melt_pipes():\n    pass\n',
  });
  const texts = textsOf(drawRealQueries(source), 'word of a path and of the content');
  assert.ok(texts.length > 0);
  // `loader` with the name would mean both files.
  assert.ok(
    texts.every((text) => /^(?:(?:json|yaml) melt pipes|melt pipes (?:json|yaml))$/.test(text)),
  );
});

test('queries of a name and words of its comment, even if others have the name', () => {
  const define = (comment: string) => `def open():\n    """${comment}"""\n`;
  const source = sourceOf({
    'a.py': define('Clears streets.'),
    'b.py': define('Melts pipes.'),
    'c.py': define('Melts snow.'),
  });
  const queries = drawRealQueries(source);
  const chosen = queries.filter((one) => one.class === 'words of a comment and a name');
  assert.ok(chosen.length > 0);
  for (const { text, expected } of chosen) {
    assert.match(text, /^open (?!melts$)\w+|(?!melts )\w+ open$/);
    if (/clears|streets/.test(text)) assert.deepEqual(expected, ['a.py']);
  }
});

test('messages have a number and are prose', () => {
  const source = sourceOf({
    'a.js': 'throw new Error("a key needs at least 32 bytes here");\n',
    'b.js': 'throw new Error("a key needs a few more bytes here");\n',
    'c.js': 'throw new Error("the option 2 or 3 is not known here");\n',
    'd.js': 'throw fail("x", list[0], join(items[1]) + "y", a[2]);\n',
  });
  assert.deepEqual(textsOf(drawRealQueries(source), 'error message with a number'), [
    'a key needs at least 32 bytes here',
  ]);
});

test('queries of names in another letter case', () => {
  const source = sourceOf({
    'a.js': 'class SnowPlough {}\nclass twice {}\n',
    'b.js': 'class Twice {}\n',
  });
  const texts = textsOf(drawRealQueries(source), 'name in the wrong letter case');
  assert.equal(texts.length, 1);
  assert.ok(['snowplough', 'SNOWPLOUGH', 'Snowplough'].includes(texts[0] ?? ''));
});

test('queries of a part of a heading', () => {
  const source = sourceOf({
    'a.md': '# How streets become free again\n',
    'b.md': '# How pipes become warm again\n',
  });
  const texts = textsOf(drawRealQueries(source), 'words of a heading');
  assert.ok(texts.length > 0);
  for (const text of texts) {
    assert.ok('how streets become free again how pipes become warm again'.includes(text));
    assert.match(text, /streets|pipes|free|warm/);
  }
});

test('the unseen set has no half for tuning', () => {
  const source = sourceOf({
    'deep/snow_plough.py': 'class Streetlamp:\n    """Shines every night brightly."""\n',
  });
  const queries = drawUnseenQueries(source);
  assert.deepEqual(textsOf(queries, "a symbol's name"), ['Streetlamp']);
  assert.deepEqual(textsOf(queries, 'words of a base name'), ['snow plough']);
  assert.deepEqual([...new Set(queries.map(({ half }) => half))], ['report']);
  assert.deepEqual(drawUnseenQueries(source), queries);
});

test('the worst class comes first, and misses name the file that was first', () => {
  const queries = [
    ranked('good', 1, 'tune'),
    ranked('bad', 0, 'tune'),
    ranked('middling', 2, 'tune'),
  ];
  const figures = figuresOf(queries, ['one']);
  const report = { startedAt: '', digest: 'd', trees: ['t'], systems: ['one'], figures, queries };
  const text = formatRanking(report);
  assert.match(text, /^bad [^]*^middling [^]*^good [^]*^all /m);
  assert.doesNotMatch(text, /^report/m);
  const misses = formatMisses(report, 'tune');
  assert.match(misses, /bad \| t \| bad text\n {4}meant right: not there; first x, y, z\n/);
  assert.match(misses, /middling text\n {4}meant right: place 2;/);
  assert.doesNotMatch(misses, /good/);
});
