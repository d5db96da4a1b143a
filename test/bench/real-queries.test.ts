// What the harder sets of queries rest on: rules that ask what people type and leave out what is ambiguous. No figure of a
// search engine is asserted.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import path from 'node:path';
import test from 'node:test';
import type { RankingQuery } from '../../bench/ranking/draw.ts';
import { drawRealQueries } from '../../bench/ranking/real-queries.ts';
import { figuresOf, formatMisses, formatRanking } from '../../bench/ranking/report.ts';
import type { RankedQuery } from '../../bench/ranking/run.ts';
import { readSource } from '../../bench/ranking/source.ts';
import type { Source } from '../../bench/ranking/source.ts';
import { drawUnseenQueries } from '../../bench/ranking/unseen-queries.ts';
import { temporaryFolder, writeFiles } from '../sources/git/fixture.ts';

function sourceOf(files: Readonly<Record<string, string>>): Source {
  const root = path.join(temporaryFolder(), 'streets-1.0');
  writeFiles(root, files);
  return readSource({ name: 'streets-1.0', root });
}

function textsOf(queries: readonly RankingQuery[], queryClass: string): string[] {
  return queries.filter((query) => query.class === queryClass).map(({ text }) => text);
}

test('half of a name is asked for where no other name begins so', () => {
  const source = sourceOf({
    'a.py': 'class Streetlamp:\n    pass\n',
    'b.py': 'class Crossroads:\n    pass\n',
    'c.py': 'class Crossroadsigns:\n    pass\n',
  });
  const texts = textsOf(drawRealQueries(source), 'half of a name');
  assert.equal(texts.length, 1);
  assert.match(texts[0] ?? '', /^Stree(?:t|tl|tla)?$/);
});

test('a folder and a base name are asked for together', () => {
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

test('a word of the path stands beside words of a name that the file defines', () => {
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

test('a name stands beside words of its comment, even if others have the name', () => {
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

test('messages have a number, and are prose', () => {
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

test('names are asked for in a letter case that is not theirs', () => {
  const source = sourceOf({
    'a.js': 'class SnowPlough {}\nclass twice {}\n',
    'b.js': 'class Twice {}\n',
  });
  const texts = textsOf(drawRealQueries(source), 'name in the wrong letter case');
  assert.equal(texts.length, 1);
  assert.ok(['snowplough', 'SNOWPLOUGH', 'Snowplough'].includes(texts[0] ?? ''));
});

test('a part of a heading is asked for', () => {
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

test('the unseen set has no half to tune on', () => {
  const source = sourceOf({
    'deep/snow_plough.py': 'class Streetlamp:\n    """Shines every night brightly."""\n',
  });
  const queries = drawUnseenQueries(source);
  assert.deepEqual(textsOf(queries, "a symbol's name"), ['Streetlamp']);
  assert.deepEqual(textsOf(queries, 'words of a base name'), ['snow plough']);
  assert.deepEqual([...new Set(queries.map(({ half }) => half))], ['report']);
  assert.deepEqual(drawUnseenQueries(source), queries);
});

test('the worst class comes first, and misses show what was first instead', () => {
  const query = (name: string, place: number): RankedQuery => ({
    tree: 't',
    class: name,
    half: 'tune',
    text: `${name} text`,
    isPhrase: false,
    expected: ['right'],
    places: { one: place },
    first: { one: place === 1 ? ['right'] : ['x', 'y', 'z'] },
  });
  const queries = [query('good', 1), query('bad', 0), query('middling', 2)];
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
