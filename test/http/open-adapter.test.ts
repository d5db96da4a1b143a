// The choice of the HTTP library.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import type { AdapterOptions } from '../../daemon/http/adapters/adapter.ts';
import { openAdapter } from '../../daemon/http/adapters/open-adapter.ts';
import { createLog } from '../../daemon/base/log.ts';

/** A module of an installed package that does not exist. */
const MISSING: string = 'uWebSockets.js/missing.js';

test('a binary that cannot be loaded falls back to node:http, with a log line', async () => {
  const lines: string[] = [];
  const log = createLog({ level: 'info', format: 'json', write: (line) => lines.push(line) });
  const options: AdapterOptions = {
    handle: async () => ({ status: 200, headers: {}, body: undefined }),
  };
  const fail = () => Promise.reject(new Error('no binary for this platform\nsee there'));
  const adapter = await openAdapter('uws', options, log, fail);
  assert.equal(adapter.kind, 'node');
  assert.equal(lines.length, 1);
  assert.match(lines[0] ?? '', /"reason":"no binary for this platform"/);
  assert.equal((await openAdapter('node', options, log, fail)).kind, 'node');
  assert.equal(lines.length, 1);
  // Production installs leave it out: the line says how to add the version that the tests have.
  const missing = () => import(MISSING) as Promise<never>;
  assert.equal((await openAdapter('uws', options, log, missing)).kind, 'node');
  const { devDependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as {
    readonly devDependencies: Readonly<Record<string, string>>;
  };
  const expected = `npm install uWebSockets.js@${devDependencies['uWebSockets.js']}`;
  assert.ok(lines[1]?.includes(`is not installed (${expected})`), lines[1]);
});
