// Slow searches are logged with their plan, caller and request (settings.slowSearchMs), and only if that is asked for.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { eventually, post, send, serveIndexed, type Served } from './daemon.ts';

/** No machine reads all of it within a millisecond. */
const CONTENT = `${'ab'.repeat(60)}\n`.repeat(25_000);
const CALL = { query: 'plum or (a|b){20,}c', isRegexEnabled: true };

async function servedWith(settings: object): Promise<Served> {
  const folder = temporaryFolder();
  const file = path.join(folder, 'trawl.json');
  writeFileSync(file, JSON.stringify({ settings: { anonymousAccess: true, ...settings } }));
  const repo = makeRepo({ 'a.txt': CONTENT, 'b.txt': `${CONTENT}b` });
  return serveIndexed(path.join(folder, 'data'), [repo], { flags: ['--config', file] });
}

function linesOf({ process }: Served): readonly string[] {
  return process.stderr.split('\n').filter((line) => line.includes(' slow search '));
}

test('a slow search is one line with its plan, caller and request', async (t) => {
  const served = await servedWith({ slowSearchMs: 1 });
  t.after(() => served.process.stop());
  const { status, headers } = await post(served.url, CALL);
  assert.equal(status, 200);
  await eventually(async () => linesOf(served).length === 1);
  const [line = ''] = linesOf(served);
  assert.ok(line.includes(`requestId=${headers.get('x-request-id') ?? ''}`), line);
  assert.match(line, / caller="local 127\.0\.0\.1" kind=search durationMs=[\d.]+ waitMs=/);
  assert.match(line, /plan="or\(.*plum.*regex:.*\)"/);
  await send(`${served.url}/api/stream_search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(JSON.stringify({ ...CALL, matches: 10 })),
  });
  await eventually(async () => linesOf(served).length === 2);
  assert.match(linesOf(served)[1] ?? '', / kind=stream .*plan=/);
});

test('without the setting, queries are not logged', async (t) => {
  const served = await servedWith({});
  t.after(() => served.process.stop());
  assert.equal((await post(served.url, CALL)).status, 200);
  await served.process.stop();
  assert.doesNotMatch(served.process.stderr, /slow search|plum/);
});
