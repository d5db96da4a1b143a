// The ranking benchmark: query rules that omit ambiguous queries, reproducible queries, and right figures. No figure
// of a search engine is asserted.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import { measureRanking } from '../../bench/ranking/measure.ts';
import { digestOf, type RankingQuery } from '../../bench/ranking/draw.ts';
import { drawQueries } from '../../bench/ranking/queries.ts';
import { drawUnseenQueries } from '../../bench/ranking/unseen-queries.ts';
import { figuresOf, formatRanking } from '../../bench/ranking/report.ts';
import { type RankedQuery } from '../../bench/ranking/run.ts';
import { QUERY_SETS } from '../../bench/ranking/sets.ts';
import { readSource, type Source } from '../../bench/ranking/source.ts';
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

function sourceOf(files: Readonly<Record<string, string>>): Source {
  const root = path.join(temporaryFolder(), 'streets-1.0');
  writeFiles(root, files);
  return readSource({ name: 'streets-1.0', root });
}

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
