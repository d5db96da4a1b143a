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
  'daemon/sources/disk': ['daemon/base', 'daemon/repos'],
  'daemon/sources/git': ['daemon/base', 'daemon/repos'],
  'daemon/sources/docs': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/disk',
    'daemon/sources/git',
  ],
  'daemon/sources/languages': ['daemon/base', 'daemon/sources/docs'],
  'daemon/sources/history': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/sources/languages',
  ],
  'daemon/sources/reading': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/disk',
    'daemon/sources/git',
    'daemon/sources/languages',
  ],
  'daemon/store': ['daemon/base', 'daemon/base/config', 'daemon/repos'],
  'daemon/hosts': ['daemon/base', 'daemon/base/config', 'daemon/repos'],
  'daemon/hosts/mirrors': [
    'daemon/base',
    'daemon/base/config',
    'daemon/sources/git',
    'daemon/hosts',
  ],
  'daemon/engine/host': [BASE, 'daemon/base'],
  'daemon/engine/shards': [BASE, 'daemon/engine/host'],
  'daemon/engine/build': [
    BASE,
    'daemon/base',
    'daemon/sources/disk',
    'daemon/sources/git',
    'daemon/sources/docs',
    'daemon/sources/languages',
    'daemon/engine/host',
    'daemon/engine/shards',
  ],
  'daemon/engine/regex': [BASE, 'daemon/base'],
  'daemon/engine/query': [
    BASE,
    'daemon/base',
    'daemon/repos',
    'daemon/sources/languages',
    'daemon/engine/host',
    'daemon/engine/shards',
    'daemon/engine/regex',
  ],
  'daemon/engine/search': [
    BASE,
    'daemon/base',
    'daemon/repos',
    'daemon/sources/languages',
    'daemon/engine/host',
    'daemon/engine/shards',
    'daemon/engine/build',
    'daemon/engine/regex',
    'daemon/engine/query',
  ],
  'daemon/engine/symbols': [BASE, 'daemon/base', 'daemon/engine/host', 'daemon/engine/shards'],
  'daemon/accounts/oauth': ['daemon/base', 'daemon/base/config', 'daemon/store'],
  'daemon/accounts/sign-on': ['daemon/base', 'daemon/base/config'],
  'daemon/accounts': [
    'daemon/base',
    'daemon/base/config',
    'daemon/repos',
    'daemon/store',
    'daemon/accounts/oauth',
    'daemon/accounts/sign-on',
  ],
  'daemon/index/catalog': [
    BASE,
    'daemon/base',
    'daemon/repos',
    'daemon/sources/disk',
    'daemon/engine/host',
    'daemon/engine/shards',
  ],
  'daemon/index/register': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/disk',
    'daemon/sources/git',
    'daemon/store',
    'daemon/index/catalog',
  ],
  'daemon/index/served': [
    BASE,
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/sources/docs',
    'daemon/store',
    'daemon/engine/host',
    'daemon/engine/shards',
    'daemon/engine/build',
    'daemon/engine/search',
    'daemon/index/catalog',
    'daemon/index/register',
  ],
  'daemon/index/merge': [
    'daemon/base',
    'daemon/engine/host',
    'daemon/engine/shards',
    'daemon/engine/build',
    'daemon/index/catalog',
    'daemon/index/served',
  ],
  'daemon/index/on-demand': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/engine/shards',
    'daemon/engine/build',
    'daemon/engine/search',
    'daemon/engine/symbols',
    'daemon/index/catalog',
    'daemon/index/served',
  ],
  'daemon/index/upkeep': [
    'daemon/base',
    'daemon/engine/host',
    'daemon/engine/search',
    'daemon/index/catalog',
    'daemon/index/served',
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
    'daemon/sources/disk',
    'daemon/sources/git',
    'daemon/sources/docs',
    'daemon/store',
    'daemon/engine/build',
    'daemon/index/catalog',
    'daemon/index/register',
    'daemon/index/served',
    'daemon/sync/watch',
  ],
  'daemon/sync/connections': [
    'daemon/base',
    'daemon/base/config',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/store',
    'daemon/hosts',
    'daemon/hosts/mirrors',
    'daemon/index/catalog',
    'daemon/index/register',
    'daemon/index/served',
    'daemon/sync/jobs',
  ],
  'daemon/sync/sources': [
    'daemon/base',
    'daemon/base/config',
    'daemon/repos',
    'daemon/sources/disk',
    'daemon/sources/git',
    'daemon/store',
    'daemon/hosts',
    'daemon/index/catalog',
    'daemon/index/register',
    'daemon/index/served',
    'daemon/sync/jobs',
  ],
  'daemon/sync': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/store',
    'daemon/engine/host',
    'daemon/engine/symbols',
    'daemon/index/catalog',
    'daemon/index/served',
    'daemon/index/merge',
    'daemon/index/upkeep',
    'daemon/sync/watch',
    'daemon/sync/jobs',
    'daemon/sync/connections',
    'daemon/sync/sources',
  ],
  'daemon/sync/members': ['daemon/base', 'daemon/repos', 'daemon/store', 'daemon/hosts'],
  'daemon/backup': [
    'daemon/base',
    'daemon/base/config',
    'daemon/store',
    'daemon/accounts',
    'daemon/index/catalog',
  ],
  // Of engine/search, sources/history and sources/reading they know types only: app/main.ts hands them what does the work.
  'daemon/api/shapes': [
    'daemon/base',
    'daemon/base/config',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/sources/history',
    'daemon/sources/reading',
    'daemon/engine/regex',
    'daemon/engine/query',
    'daemon/engine/search',
    'daemon/accounts',
  ],
  'daemon/api/accounts': [
    'daemon/accounts/oauth',
    'daemon/accounts/sign-on',
    'daemon/accounts',
    'daemon/api/shapes',
  ],
  'daemon/api/sources': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/accounts',
    'daemon/api/shapes',
  ],
  'daemon/api/history': ['daemon/sources/git', 'daemon/api/shapes', 'daemon/api/sources'],
  'daemon/api/instance': [
    'daemon/base',
    'daemon/base/config',
    'daemon/accounts',
    'daemon/api/shapes',
  ],
  'daemon/api/jobs': [
    'daemon/base/config',
    'daemon/repos',
    'daemon/accounts',
    'daemon/api/shapes',
    'daemon/api/sources',
  ],
  'daemon/api/search': [
    'daemon/base',
    'daemon/repos',
    'daemon/engine/query',
    'daemon/engine/search',
    'daemon/accounts',
    'daemon/api/shapes',
    'daemon/api/sources',
  ],
  'daemon/api': [
    'daemon/base/config',
    'daemon/api/shapes',
    'daemon/api/accounts',
    'daemon/api/sources',
    'daemon/api/history',
    'daemon/api/instance',
    'daemon/api/jobs',
    'daemon/api/search',
  ],
  'daemon/api/mcp/tools': [
    'daemon/base',
    'daemon/repos',
    'daemon/sources/git',
    'daemon/engine/regex',
    'daemon/engine/query',
    'daemon/engine/search',
    'daemon/accounts',
    'daemon/api/shapes',
    'daemon/api/sources',
    'daemon/api/history',
    'daemon/api/search',
  ],
  'daemon/api/mcp': ['daemon/base', 'daemon/api/shapes', 'daemon/api/mcp/tools'],
  'daemon/api/page': ['daemon/base', 'daemon/api/shapes'],
  'daemon/api/oauth': ['daemon/accounts/oauth', 'daemon/api/shapes', 'daemon/api/page'],
  'daemon/api/operator': [
    'daemon/base',
    'daemon/base/config',
    'daemon/repos',
    'daemon/store',
    'daemon/accounts',
    'daemon/index/register',
    'daemon/backup',
    'daemon/api/accounts',
  ],
  'daemon/http/adapters': ['daemon/base', 'daemon/base/config', 'daemon/api/shapes'],
  'daemon/http': [
    'daemon/base',
    'daemon/base/config',
    'daemon/repos',
    'daemon/accounts/oauth',
    'daemon/accounts',
    'daemon/api/shapes',
    'daemon/api',
    'daemon/api/mcp',
    'daemon/api/page',
    'daemon/api/oauth',
    'daemon/http/adapters',
  ],
  // Run by browsers: of the daemon they take types, how a query is cut into words and quoted, and what is said of a refused sign-on.
  'daemon/web/data': ['daemon/api/shapes', 'daemon/api/accounts'],
  // Keys can be switched off by who is here.
  'daemon/web/parts': ['daemon/web/styles', 'daemon/web/data'],
  'daemon/web/code': ['daemon/web/styles', 'daemon/web/data', 'daemon/web/parts'],
  'daemon/web/jobs': [
    'daemon/web/styles',
    'daemon/api/instance',
    'daemon/api/jobs',
    'daemon/web/data',
    'daemon/web/parts',
  ],
  'daemon/web/search': [
    'daemon/engine/regex',
    'daemon/engine/query',
    'daemon/api/sources',
    'daemon/api/search',
    'daemon/web/data',
    'daemon/web/parts',
    'daemon/web/code',
    'daemon/web/jobs',
  ],
  'daemon/web/browse': [
    'daemon/web/styles',
    'daemon/engine/regex',
    'daemon/api/sources',
    'daemon/api/history',
    'daemon/api/search',
    'daemon/web/data',
    'daemon/web/parts',
    'daemon/web/code',
    'daemon/web/search',
  ],
  'daemon/web/repos': [
    'daemon/web/styles',
    'daemon/api/sources',
    'daemon/web/data',
    'daemon/web/parts',
    'daemon/web/jobs',
    'daemon/web/browse',
  ],
  'daemon/web/sign-in': [
    'daemon/web/styles',
    'daemon/accounts/sign-on',
    'daemon/api/accounts',
    'daemon/web/data',
    'daemon/web/parts',
  ],
  'daemon/web/settings': [
    'daemon/web/styles',
    'daemon/api/accounts',
    'daemon/api/instance',
    'daemon/api/jobs',
    'daemon/web/data',
    'daemon/web/parts',
    'daemon/web/jobs',
    'daemon/web/sign-in',
  ],
  'daemon/web/shell': [
    'daemon/web/styles',
    'daemon/api/accounts',
    'daemon/api/sources',
    'daemon/api/instance',
    'daemon/web/data',
    'daemon/web/parts',
    'daemon/web/search',
    'daemon/web/browse',
    'daemon/web/repos',
    'daemon/web/sign-in',
    'daemon/web/settings',
  ],
  'daemon/web': ['daemon/web/styles', 'daemon/web/data', 'daemon/web/shell'],
};

/** The rooms of the daemon, from the bottom up: none imports one above it, and no file lies outside them. */
const WINGS = [
  'base',
  'repos',
  'sources',
  'store',
  'hosts',
  'engine',
  'accounts',
  'index',
  'sync',
  'backup',
  'api',
  'http',
  'web',
  'app',
  'cli',
];

/** The folders at the top, which join the others: these may not be imported by them. */
const TOPS = ['daemon/app', 'daemon/cli', 'daemon/cli/commands'];

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
  const files = filesBelow('daemon/api', '.ts').filter(
    (file) => !/^daemon\/api\/(?:mcp|page|oauth|operator)\//.test(file),
  );
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
