// The layers: which folder may import which, as data; and no file imports itself by a detour. asc compiles
// cycles without a word, so only this test sees them.

import assert from 'node:assert/strict';
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
  'daemon/loop': [],
  'daemon/native': [],
  'daemon/files': [],
  'daemon/config': ['daemon/files'],
  'daemon/telemetry': [],
  'daemon/store': ['daemon/files', 'daemon/telemetry'],
  'daemon/accounts': [
    'daemon/config',
    'daemon/files',
    'daemon/telemetry',
    'daemon/repos',
    'daemon/store',
  ],
  'daemon/limits': ['daemon/telemetry', 'daemon/store'],
  'daemon/regex': [BASE],
  'daemon/query': ['daemon/regex'],
  'daemon/repos': ['daemon/loop', 'daemon/native'],
  'daemon/repos/history': ['daemon/loop', 'daemon/repos'],
  'daemon/engine': [BASE, 'daemon/files', 'daemon/native', 'daemon/telemetry'],
  'daemon/shards': [
    BASE,
    'daemon/files',
    'daemon/native',
    'daemon/telemetry',
    'daemon/repos',
    'daemon/engine',
  ],
  'daemon/ingest': [
    BASE,
    'daemon/loop',
    'daemon/native',
    'daemon/telemetry',
    'daemon/repos',
    'daemon/engine',
    'daemon/shards',
  ],
  'daemon/symbols': [
    'daemon/native',
    'daemon/telemetry',
    'daemon/repos',
    'daemon/engine',
    'daemon/shards',
  ],
  'daemon/search': [
    BASE,
    'daemon/loop',
    'daemon/regex',
    'daemon/query',
    'daemon/repos',
    'daemon/engine',
    'daemon/shards',
    'daemon/ingest',
  ],
  'daemon/sync': [
    BASE,
    'daemon/files',
    'daemon/telemetry',
    'daemon/repos',
    'daemon/engine',
    'daemon/shards',
    'daemon/ingest',
    'daemon/search',
    'daemon/store',
    'daemon/symbols',
  ],
  // The endpoints see the engine through interfaces of their own (api/services.ts).
  'daemon/api': [
    'daemon/loop',
    'daemon/config',
    'daemon/regex',
    'daemon/repos',
    'daemon/accounts',
    'daemon/limits',
  ],
  'daemon/backup': [
    'daemon/config',
    'daemon/telemetry',
    'daemon/store',
    'daemon/accounts',
    'daemon/shards',
  ],
  'daemon/operator': ['daemon/accounts', 'daemon/api'],
  'daemon/http': [
    'daemon/native',
    'daemon/loop',
    'daemon/config',
    'daemon/telemetry',
    'daemon/repos',
    'daemon/accounts',
    'daemon/limits',
    'daemon/api',
  ],
};

/** The folders at the top, which join the others: these may not be imported by them. */
const TOPS = ['daemon', 'daemon/cli', 'daemon/cli/commands'];

const FILES = [...filesBelow('core', '.ts'), ...filesBelow('daemon', '.ts')];

test('every folder has its layer', () => {
  const folders = new Set(FILES.map((file) => path.posix.dirname(file)));
  assert.deepEqual([...folders].sort(), [...Object.keys(LAYERS), ...TOPS].sort());
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
