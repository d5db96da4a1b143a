// A database address that sends accounts unencrypted over a network gives a warning, others do not.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openPostgres } from '../../daemon/store/postgres.ts';
import { createLog } from '../../daemon/base/log.ts';

/** What opening the address logs; nothing is connected. */
async function linesOf(address: string): Promise<string[]> {
  const lines: string[] = [];
  const log = createLog({ level: 'info', format: 'json', write: (line) => void lines.push(line) });
  await openPostgres(address, log).close();
  return lines;
}

test('another host without TLS gives a warning, without secrets', async () => {
  for (const address of [
    'postgres://trawl:hush@db.example/trawl',
    'postgresql://trawl:hush@10.1.2.3:6432/trawl?sslmode=disable',
    'postgres://trawl:hush@[2001:db8::1]/trawl',
    'postgres://trawl:hush@/trawl?host=localhost.example',
  ]) {
    const [line = '', ...more] = await linesOf(address);
    assert.match(line, /without TLS/, address);
    assert.match(line, /"level":"warn"/);
    assert.doesNotMatch(line, /hush/);
    assert.deepEqual(more, []);
  }
});

test('this machine, and other hosts with TLS, give none', async () => {
  for (const address of [
    'postgres://trawl:hush@localhost/trawl',
    'postgres://trawl:hush@127.0.0.1:5433/trawl',
    'postgres://trawl:hush@[::1]/trawl',
    'postgres:///trawl?host=/var/run/postgresql',
    'postgres://trawl:hush@db.example/trawl?sslmode=verify-full',
    'postgres://trawl:hush@db.example/trawl?sslmode=no-verify',
  ])
    assert.deepEqual(await linesOf(address), [], address);
});
