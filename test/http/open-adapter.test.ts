// Which HTTP library is taken.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AdapterOptions } from '../../daemon/http/adapters/adapter.ts';
import { openAdapter } from '../../daemon/http/adapters/open-adapter.ts';
import { createLog } from '../../daemon/base/log.ts';

test('a binary that does not load means node:http, with a line that says why', async () => {
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
});
