// The layers: which folder may import which, as data; and no file imports itself by a detour. asc compiles
// cycles without a word, so only this test sees them.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { filesBelow, findCycle, importsOf } from './imports.ts';

const BASE = 'core/shared';

/** What each folder may import besides itself; from the bottom up. */
const LAYERS: Readonly<Record<string, readonly string[]>> = {
  'core/shared': [],
  'core/base': ['core/shared'],
  'core/text': ['core/shared', 'core/base'],
  'core/scan': ['core/shared', 'core/base', 'core/text'],
  'core/shard': ['core/shared', 'core/base', 'core/text', 'core/scan'],
  'core/regex': ['core/shared', 'core/base', 'core/text', 'core/scan'],
  'core/match': ['core/shared', 'core/base', 'core/text', 'core/scan', 'core/regex', 'core/shard'],
  core: [
    'core/shared',
    'core/base',
    'core/text',
    'core/scan',
    'core/regex',
    'core/shard',
    'core/match',
  ],
  'daemon/base': [],
  'daemon/base/config': ['daemon/base'],
  'daemon/repos': ['daemon/base', 'daemon/base/config'],
  'daemon/hosts': ['daemon/base', 'daemon/base/config', 'daemon/repos'],
  'daemon/sources/git': ['daemon/base', 'daemon/repos'],
  'daemon/sources/disk': ['daemon/base', 'daemon/repos'],
  'daemon/sources/mirrors': [
    'daemon/base',
    'daemon/base/config',
    'daemon/hosts',
    'daemon/sources/git',
  ],
  'daemon/sources/docs': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/sources/disk',
  ],
  'daemon/sources/languages': ['daemon/base', 'daemon/sources/docs'],
  'daemon/sources/reading': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/sources/disk',
    'daemon/sources/languages',
  ],
  'daemon/sources/history': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/sources/languages',
  ],
  'daemon/engine/host': [BASE, 'daemon/base'],
  'daemon/engine/regex': [BASE, 'daemon/base'],
  'daemon/engine/shards': [BASE, 'daemon/engine/host'],
  'daemon/engine/query': [
    BASE,
    'daemon/base',
    'daemon/repos',
    'daemon/sources/languages',
    'daemon/engine/host',
    'daemon/engine/regex',
    'daemon/engine/shards',
  ],
  'daemon/engine/search': [
    BASE,
    'daemon/base',
    'daemon/repos',
    'daemon/engine/host',
    'daemon/engine/regex',
    'daemon/engine/shards',
    'daemon/engine/query',
    // Kinds of files.
    'daemon/engine/build',
    // Aliases of languages, for suggestions.
    'daemon/sources/languages',
  ],
  'daemon/engine/build': [
    BASE,
    'daemon/base',
    'daemon/sources/git',
    'daemon/sources/disk',
    'daemon/sources/docs',
    'daemon/sources/languages',
    'daemon/engine/host',
    'daemon/engine/shards',
  ],
  'daemon/symbols': ['daemon/base', 'daemon/engine/host', 'daemon/engine/shards'],
  'daemon/accounts/store': ['daemon/base', 'daemon/base/config', 'daemon/repos'],
  'daemon/accounts/limits': ['daemon/base', 'daemon/accounts/store'],
  'daemon/accounts/oauth': ['daemon/base', 'daemon/base/config', 'daemon/accounts/store'],
  'daemon/accounts/sign-on': ['daemon/base', 'daemon/base/config'],
  'daemon/accounts': [
    'daemon/base',
    'daemon/base/config',
    'daemon/repos',
    'daemon/accounts/store',
    'daemon/accounts/oauth',
    'daemon/accounts/sign-on',
  ],
  'daemon/sync/members': ['daemon/base', 'daemon/repos', 'daemon/hosts', 'daemon/accounts/store'],
  'daemon/sync/catalog': [
    BASE,
    'daemon/base',
    'daemon/repos',
    'daemon/sources/disk',
    'daemon/engine/host',
    'daemon/engine/shards',
  ],
  'daemon/sync/register': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/sources/disk',
    'daemon/accounts/store',
    'daemon/sync/catalog',
  ],
  'daemon/sync/served': [
    BASE,
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/sources/docs',
    'daemon/engine/host',
    'daemon/engine/shards',
    'daemon/engine/search',
    'daemon/engine/build',
    'daemon/accounts/store',
    'daemon/sync/catalog',
    'daemon/sync/register',
  ],
  'daemon/sync/demand': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/engine/shards',
    'daemon/engine/search',
    'daemon/engine/build',
    'daemon/symbols',
    'daemon/sync/catalog',
    'daemon/sync/served',
  ],
  'daemon/sync/merge': [
    'daemon/base',
    'daemon/engine/host',
    'daemon/engine/shards',
    'daemon/engine/build',
    'daemon/sync/catalog',
    'daemon/sync/served',
  ],
  'daemon/sync/watch': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/disk',
    'daemon/sources/docs',
  ],
  'daemon/sync/jobs': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/sources/disk',
    'daemon/sources/docs',
    'daemon/engine/build',
    'daemon/accounts/store',
    'daemon/sync/catalog',
    'daemon/sync/register',
    'daemon/sync/served',
    'daemon/sync/watch',
  ],
  'daemon/sync/sources': [
    'daemon/base',
    'daemon/base/config',
    'daemon/repos',
    'daemon/hosts',
    'daemon/sources/git',
    'daemon/sources/disk',
    'daemon/accounts/store',
    'daemon/sync/catalog',
    'daemon/sync/register',
    'daemon/sync/served',
    'daemon/sync/jobs',
  ],
  'daemon/sync/connections': [
    'daemon/base',
    'daemon/base/config',
    'daemon/repos',
    'daemon/hosts',
    'daemon/sources/git',
    'daemon/sources/mirrors',
    'daemon/accounts/store',
    'daemon/sync/catalog',
    'daemon/sync/register',
    'daemon/sync/served',
    'daemon/sync/jobs',
  ],
  'daemon/sync/upkeep': [
    'daemon/base',
    'daemon/engine/host',
    'daemon/engine/search',
    'daemon/sync/catalog',
    'daemon/sync/served',
  ],
  'daemon/sync': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/engine/host',
    'daemon/symbols',
    'daemon/accounts/store',
    'daemon/sync/catalog',
    'daemon/sync/served',
    'daemon/sync/merge',
    'daemon/sync/watch',
    'daemon/sync/jobs',
    'daemon/sync/sources',
    'daemon/sync/connections',
    'daemon/sync/upkeep',
  ],
  'daemon/backup': [
    'daemon/base',
    'daemon/base/config',
    'daemon/accounts/store',
    'daemon/accounts',
    'daemon/sync/catalog',
  ],
  // Of engine/search, sources/history and sources/reading they know types only: main.ts hands them what does the work.
  'daemon/http/api/shapes': [
    'daemon/base',
    'daemon/base/config',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/sources/reading',
    'daemon/sources/history',
    'daemon/engine/query',
    'daemon/engine/regex',
    'daemon/engine/search',
    'daemon/accounts',
    'daemon/accounts/limits',
  ],
  'daemon/http/api/sources': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/accounts',
    'daemon/http/api/shapes',
  ],
  'daemon/http/api/jobs': [
    'daemon/base/config',
    'daemon/repos',
    'daemon/accounts',
    'daemon/http/api/shapes',
    'daemon/http/api/sources',
  ],
  'daemon/http/api/history': [
    'daemon/sources/git',
    'daemon/http/api/shapes',
    'daemon/http/api/sources',
  ],
  'daemon/http/api/search': [
    'daemon/base',
    'daemon/repos',
    // What a search may ask for.
    'daemon/engine/query',
    'daemon/engine/search',
    'daemon/accounts',
    'daemon/http/api/shapes',
    'daemon/http/api/sources',
  ],
  'daemon/http/api/accounts': [
    'daemon/accounts',
    'daemon/accounts/limits',
    'daemon/accounts/oauth',
    'daemon/accounts/sign-on',
    'daemon/http/api/shapes',
  ],
  'daemon/http/api/instance': [
    'daemon/base',
    'daemon/base/config',
    'daemon/accounts',
    'daemon/accounts/limits',
    'daemon/http/api/shapes',
  ],
  'daemon/http/api': [
    'daemon/base/config',
    'daemon/http/api/shapes',
    'daemon/http/api/sources',
    'daemon/http/api/jobs',
    'daemon/http/api/history',
    'daemon/http/api/search',
    'daemon/http/api/accounts',
    'daemon/http/api/instance',
  ],
  'daemon/http/operator': [
    'daemon/base',
    'daemon/base/config',
    'daemon/accounts',
    'daemon/accounts/store',
    'daemon/repos',
    'daemon/sync/register',
    'daemon/backup',
    'daemon/http/api/accounts',
  ],
  'daemon/http/mcp/tools': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/engine/query',
    'daemon/engine/regex',
    'daemon/engine/search',
    'daemon/accounts',
    'daemon/http/api/shapes',
    'daemon/http/api/sources',
    'daemon/http/api/history',
    'daemon/http/api/search',
  ],
  'daemon/http/mcp': ['daemon/base', 'daemon/http/api/shapes', 'daemon/http/mcp/tools'],
  'daemon/http/oauth': ['daemon/accounts/oauth', 'daemon/http/api/shapes', 'daemon/http/web'],
  'daemon/http/adapters': ['daemon/base', 'daemon/base/config', 'daemon/http/api/shapes'],
  'daemon/http': [
    'daemon/base',
    'daemon/base/config',
    'daemon/repos',
    'daemon/accounts',
    'daemon/accounts/limits',
    'daemon/accounts/oauth',
    'daemon/http/api/shapes',
    'daemon/http/api',
    'daemon/http/adapters',
    'daemon/http/mcp',
    'daemon/http/oauth',
    'daemon/http/web',
  ],
  'daemon/http/web': ['daemon/base', 'daemon/http/api/shapes'],
  // Run by browsers: of the daemon they take types, how a query is cut into words and quoted, and what is said of a refused sign-on.
  'daemon/web/data': ['daemon/http/api/shapes', 'daemon/http/api/accounts'],
  // Keys can be switched off by who is here.
  'daemon/web/parts': ['daemon/web/data', 'daemon/web/styles'],
  'daemon/web/code': ['daemon/web/data', 'daemon/web/parts', 'daemon/web/styles'],
  'daemon/web/search': [
    'daemon/engine/query',
    'daemon/engine/regex',
    'daemon/http/api/search',
    'daemon/http/api/sources',
    'daemon/web/code',
    'daemon/web/data',
    'daemon/web/jobs',
    'daemon/web/parts',
  ],
  'daemon/web/browse': [
    'daemon/engine/regex',
    'daemon/http/api/history',
    'daemon/http/api/search',
    'daemon/http/api/sources',
    'daemon/web/code',
    'daemon/web/data',
    'daemon/web/parts',
    'daemon/web/search',
    'daemon/web/styles',
  ],
  'daemon/web/jobs': [
    'daemon/http/api/instance',
    'daemon/http/api/jobs',
    'daemon/web/data',
    'daemon/web/parts',
    'daemon/web/styles',
  ],
  'daemon/web/repos': [
    'daemon/http/api/sources',
    'daemon/web/browse',
    'daemon/web/data',
    'daemon/web/jobs',
    'daemon/web/parts',
    'daemon/web/styles',
  ],
  'daemon/web/sign-in': [
    // What is said of a sign-on that came to nothing.
    'daemon/accounts/sign-on',
    'daemon/http/api/accounts',
    'daemon/web/data',
    'daemon/web/parts',
    'daemon/web/styles',
  ],
  'daemon/web/settings': [
    'daemon/http/api/accounts',
    'daemon/http/api/instance',
    'daemon/http/api/jobs',
    'daemon/web/data',
    'daemon/web/jobs',
    'daemon/web/parts',
    'daemon/web/sign-in',
    'daemon/web/styles',
  ],
  'daemon/web/shell': [
    'daemon/http/api/accounts',
    'daemon/http/api/instance',
    'daemon/http/api/sources',
    'daemon/web/browse',
    'daemon/web/data',
    'daemon/web/parts',
    'daemon/web/repos',
    'daemon/web/search',
    'daemon/web/settings',
    'daemon/web/sign-in',
    'daemon/web/styles',
  ],
  'daemon/web': ['daemon/web/data', 'daemon/web/shell', 'daemon/web/styles'],
};

/** The wings of the daemon, from the bottom up: none imports one above it. */
const WINGS = [
  'base',
  'repos',
  'hosts',
  'sources',
  'engine',
  'symbols',
  'accounts',
  'sync',
  'backup',
  'http',
  'web',
  'cli',
];

/** The folders at the top, which join the others: these may not be imported by them. */
const TOPS = ['daemon', 'daemon/cli', 'daemon/cli/commands'];

const FILES = [...filesBelow('core', '.ts'), ...filesBelow('daemon', '.ts', '.tsx')];

test('every folder has its layer', () => {
  const folders = new Set(FILES.map((file) => path.posix.dirname(file)));
  assert.deepEqual([...folders].sort(), [...Object.keys(LAYERS), ...TOPS].sort());
});

test('wings import downwards only', () => {
  const wingOf = (file: string): number => WINGS.indexOf(file.split('/')[1] ?? '');
  const upwards = importsOf(FILES).filter(
    ({ file, target }) =>
      [file, target].every((name) => /^daemon\/.*\//.test(name)) && wingOf(target) > wingOf(file),
  );
  assert.deepEqual(upwards, []);
  const folders = FILES.filter((file) => /^daemon\/.*\//.test(file)).map(
    (file) => file.split('/')[1],
  );
  assert.deepEqual(new Set(folders), new Set(WINGS));
});

test('imports go one way', () => {
  const wrong = importsOf(FILES).filter(({ file, target }) => {
    if (!target.includes('/') || !/^(?:core|daemon|bench|test|scripts|build)\//.test(target)) {
      return false;
    }
    const from = path.posix.dirname(file);
    const to = path.posix.dirname(target);
    const isTop = TOPS.includes(from) && (to === BASE || to.startsWith('daemon'));
    return from !== to && !isTop && !(LAYERS[from] ?? []).includes(to);
  });
  assert.deepEqual(wrong, []);
});

test('the endpoints have only what they are handed of searches and readers', () => {
  const taken =
    /^import (?!type )[^;]* from '(?:\.\.\/)+(?:engine\/search|sources\/(?:reading|history))\//m;
  const files = filesBelow('daemon/http/api', '.ts');
  assert.deepEqual(
    files.filter((file) => taken.test(readFileSync(file, 'utf8'))),
    [],
  );
});

test('no layer is allowed what it does not use', () => {
  const used = new Set(
    importsOf(FILES).map(
      ({ file, target }) => `${path.posix.dirname(file)} ${path.posix.dirname(target)}`,
    ),
  );
  const unused = Object.entries(LAYERS)
    .filter(([folder]) => folder.startsWith('daemon'))
    .flatMap(([folder, allowed]) => allowed.map((target) => `${folder} ${target}`))
    .filter((pair) => !used.has(pair));
  assert.deepEqual(unused, []);
});

test('no import cycle', () => {
  assert.equal(findCycle(importsOf(FILES)), undefined);
});

test('the search for cycles finds one', () => {
  const imports = ['ab', 'bc', 'cb'].map((pair) => ({ file: pair[0]!, target: pair[1]! }));
  assert.deepEqual(findCycle(imports), ['b', 'c', 'b']);
});
