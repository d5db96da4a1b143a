// The layers: which folder may import which, as data; and no import cycles. asc compiles cycles without a warning, so
// only this test finds them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { filesBelow, findCycle, importsOf } from './imports.ts';

/**
 * The layers from the bottom up; a layer is one folder or several. A folder may import itself, the folders before it in its layer,
 * and what its layer uses: lower layers, or single folders of them. Names are relative to `daemon/`, except those of `core`.
 */
const LAYERS: readonly (readonly [folders: string, uses: string])[] = [
  ['core/shared', ''],
  ['core/base core/text core/scan core/regex core/shard core/match core', 'core/shared'],
  ['base base/config', ''],
  ['repos', 'base'],
  [
    'sources/disk sources/git sources/docs sources/languages sources/reading sources/history',
    'base repos',
  ],
  ['store', 'base repos'],
  ['hosts hosts/mirrors', 'base repos sources/git'],
  [
    'engine/host engine/shards engine/build engine/regex engine/query engine/search engine/symbols',
    'core/shared base repos sources',
  ],
  ['accounts/oauth accounts/sign-on accounts', 'base repos store'],
  [
    'index/catalog index/register index/served index/merge index/on-demand index/upkeep',
    'core/shared base repos sources store engine',
  ],
  [
    'sync/watch sync/jobs sync/connections sync/sources sync sync/members',
    'base repos sources store hosts engine index',
  ],
  ['backup', 'base store accounts index/catalog'],
  [
    'api/shapes api/accounts api/sources api/history api/jobs api/instance api/search api ' +
      'api/mcp/tools api/mcp api/page api/oauth',
    'base repos sources engine/regex engine/query engine/search accounts',
  ],
  ['http/adapters http', 'base repos accounts api'],
  // Run by browsers: of the daemon they take types, how a query is cut into words and quoted, and what is said of a refused sign-on.
  [
    'web/data web/parts web/code web/jobs web/search web/browse web/repos web/sign-in web/settings web/shell web',
    'engine/regex engine/query accounts/sign-on api web/styles',
  ],
];

/** The folders at the top, which join the others: they may import all, and nothing imports them. */
const TOPS = ['app', 'cli', 'cli/bench', 'cli/commands'];

const FILES = [...filesBelow('core', '.ts'), ...filesBelow('daemon', '.ts', '.tsx')];
const OURS = /^(?:core|daemon|bench|test|scripts|build)\//;
const OUTSIDE = /^(?:core|bench|test|scripts|build)(?:\/|$)/;

function folderOf(file: string): string {
  return path.posix.dirname(file).replace(/^daemon\//, '');
}

/** Imports from one folder of ours to another. */
const ARROWS = importsOf(FILES)
  .filter(({ target }) => OURS.test(target))
  .map(({ file, target }) => ({ file, from: folderOf(file), to: folderOf(target) }))
  .filter(({ from, to }) => from !== to);

/** What of `uses` allows the import of a folder. */
function isPart(folder: string, used: string): boolean {
  return folder === used || folder.startsWith(`${used}/`);
}

function isAllowed({ from, to }: { readonly from: string; readonly to: string }): boolean {
  if (TOPS.includes(from)) return to === 'core/shared' || !OUTSIDE.test(to);
  const [folders = '', uses = ''] = LAYERS.find(([one]) => one.split(' ').includes(from)) ?? [];
  const before = folders.split(' ').slice(0, folders.split(' ').indexOf(from));
  return before.includes(to) || uses.split(' ').some((used) => isPart(to, used));
}

test('every folder has its layer', () => {
  const names = LAYERS.flatMap(([folders]) => folders.split(' '));
  assert.deepEqual([...new Set(FILES.map(folderOf))].sort(), [...names, ...TOPS].sort());
});

test('imports go one way', () => {
  assert.deepEqual(
    ARROWS.filter((arrow) => !isAllowed(arrow)),
    [],
  );
});

test('a folder uses only layers below it, and every declared use is real', () => {
  const below: string[] = ['web/styles'];
  for (const [folders, uses] of LAYERS) {
    for (const used of uses.split(' ').filter((one) => one !== '')) {
      assert.ok(
        below.some((folder) => isPart(folder, used)),
        `${folders}: ${used} is above`,
      );
      assert.ok(
        ARROWS.some(({ from, to }) => folders.split(' ').includes(from) && isPart(to, used)),
        `${folders}: ${used}`,
      );
    }
    below.push(...folders.split(' '));
  }
});

test('the endpoints get searches and readers only as parameters', () => {
  const taken =
    /^import (?!type )[^;]* from '(?:\.\.\/)+(?:engine\/search|sources\/(?:reading|history))\//m;
  const files = filesBelow('daemon/api', '.ts').filter(
    (file) => !/^daemon\/api\/(?:mcp|page|oauth)\//.test(file),
  );
  assert.deepEqual(
    files.filter((file) => taken.test(readFileSync(file, 'utf8'))),
    [],
  );
});

test('no import cycle', () => {
  assert.equal(findCycle(importsOf(FILES)), undefined);
});

test('the search for cycles finds one', () => {
  const imports = ['ab', 'bc', 'cb'].map((pair) => ({ file: pair[0]!, target: pair[1]! }));
  assert.deepEqual(findCycle(imports), ['b', 'c', 'b']);
});
