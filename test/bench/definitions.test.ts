// Names for the definition benchmark: what counts as one, reproducible draws, and right ranks, with a real daemon.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { formatDefinitions, measureDefinitions } from '../../bench/ranking/definitions.ts';
import { isDefinition, namesInUse } from '../../bench/ranking/names.ts';
import { withServer } from '../../bench/ranking/server.ts';
import { temporaryFolder, writeFiles } from '../sources/git/fixture.ts';

test('a declaration is not a definition', () => {
  const cases: readonly (readonly [text: string, kind: string, expected: boolean])[] = [
    ['struct plough {\n\tint depth;\n};', 'struct', true],
    ['struct plough __packed /* ; */ {', 'struct', true],
    ['struct plough;\nstruct other {};', 'struct', false],
    ['struct plough *make(void) {}', 'struct', false],
    ['int plough(void)\n{\n}', 'function', true],
    ['int plough(int a) // ; {\n{\n}', 'function', true],
    ['int plough(void) __pure;\nint f(void)\n{}', 'function', false],
    ['#  define plough 1', 'macro', true],
    ['#undef plough', 'macro', false],
    ['int plough;', 'variable', true],
  ];
  for (const [text, kind, expected] of cases)
    assert.equal(isDefinition(text, text.indexOf('plough'), 'plough', kind), expected, text);
});

test('names in use are those in the range', () => {
  const root = temporaryFolder();
  writeFiles(root, {
    'a.c': 'often often some some 2some once',
    'b.c': 'often often often some rare rare rare',
    'c.bin': 'rare\0rare',
  });
  assert.deepEqual(namesInUse(root, { countMin: 3, countMax: 4, fileCountMin: 2 }), ['some']);
  assert.deepEqual(namesInUse(root, { countMin: 3, countMax: 4, fileCountMin: 1 }), [
    'rare',
    'some',
  ]);
});

const EXPECTED = [
  { name: 'melt', kind: 'struct', files: ['lib/melt.h'] },
  { name: 'plough', kind: 'function', files: ['lib/plough.c'] },
];

/** Uses `plough` and `melt` in so many files that they are drawn; `rare` is used in one. */
function writeTree(root: string): void {
  const uses = Array.from({ length: 20 }, (_, i): [string, string] => [
    `use/${String(i)}.c`,
    'void plough(int depth);\nstruct melt;\n'.concat('f(plough, melt);\n'.repeat(3)),
  ]);
  writeFiles(root, {
    ...Object.fromEntries(uses),
    'lib/plough.c': 'void plough(int depth)\n{\n}\n',
    'lib/melt.h': 'struct melt {\n\tint pipes;\n};\n',
    'lib/rare.c': `void rare(void)\n{\n}\n${'rare();\n'.repeat(60)}`,
  });
}

test('names are drawn and stored, and a running server ranks their definitions', async () => {
  const folder = temporaryFolder();
  const root = path.join(folder, 'tree');
  writeTree(root);
  const names = path.join(folder, 'names.json');
  await withServer([root], {}, async (url) => {
    const options = { root, url, seed: 1, count: 10 };
    const figures = await measureDefinitions({ ...options, names, isFull: true });
    const drawn: unknown = JSON.parse(readFileSync(names, 'utf8'));
    assert.ok(Array.isArray(drawn));
    assert.deepEqual(new Set(drawn), new Set(EXPECTED));
    const ways = ['100 matches', 'stream of 1,000', '100,000 matches'];
    assert.deepEqual(
      figures.map(({ way }) => way),
      ways,
    );
    for (const one of figures)
      for (const { place, first } of one.names) assert.ok(place > 0 && first.length === 3);
    assert.match(formatDefinitions(figures), /^100 matches +2 /m);
    const again = await measureDefinitions({ ...options, names, isFull: false });
    assert.deepEqual(again, figures.slice(0, 1));
    const [none] = await measureDefinitions({ ...options, except: names, isFull: false });
    assert.deepEqual(none?.names, []);
    const other = { ...options, names, root: path.join(folder, 'other'), isFull: false };
    await assert.rejects(measureDefinitions(other), /the server has no files of other/);
  });
});
