// The output of git during a fetch, parsed: numbers and messages are separated, for any chunks.
// tier: ci (long)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as fc from 'fast-check';
import { type FetchStep, ProgressReader } from '../../../daemon/hosts/mirrors/git-progress.ts';
import { SEED } from '../../seed.ts';

/** As git 2.39 wrote it. */
const WRITTEN = [
  "Cloning into bare repository 'x.git'...\n",
  'remote: Enumerating objects: 9283, done.        \n',
  'remote: Counting objects:   0% (1/9283)        \r',
  'remote: Counting objects: 100% (9283/9283), done.        \n',
  'remote: Compressing objects:  51% (512/1003)        \r',
  'Receiving objects:   0% (1/9283)\r',
  'Receiving objects:  42% (3899/9283), 1.50 MiB | 2.98 MiB/s\r',
  'Receiving objects: 100% (9283/9283), 15.22 MiB | 20.00 MiB/s, done.\n',
  'Resolving deltas:   7% (400/5712)\r',
  'Resolving deltas: 100% (5712/5712), done.\n',
  'remote: warning: be quick\n',
  'error: it went wrong\nfatal: so it ends\n',
].join('');

function readIn(chunks: readonly string[]): { reported: FetchStep[]; messages: string } {
  const reported: FetchStep[] = [];
  const reader = new ProgressReader((progress) => reported.push(progress));
  for (const chunk of chunks) reader.push(chunk);
  return { reported, messages: reader.messages };
}

const WHOLE = readIn([WRITTEN]);

test('the start of each phase is reported, and messages are kept', () => {
  assert.deepEqual(WHOLE.reported, [
    { phase: 'preparing', done: 1, total: 9283, unit: 'objects' },
    { phase: 'receiving', done: 1, total: 9283, unit: 'objects' },
    {
      phase: 'resolving',
      done: 400,
      total: 5712,
      unit: 'objects',
      receivedSize: Math.round(15.22 * (1 << 20)),
    },
  ]);
  assert.equal(
    WHOLE.messages,
    "Cloning into bare repository 'x.git'...\nremote: warning: be quick\nerror: it went wrong\nfatal: so it ends\n",
  );
});

test('any chunks give the same result', () => {
  const cuts = fc.array(fc.nat(WRITTEN.length), { maxLength: 30 });
  const property = fc.property(cuts, (offsets) => {
    const sorted = [0, ...offsets.toSorted((a, b) => a - b), WRITTEN.length];
    const chunks = sorted.slice(1).map((end, i) => WRITTEN.slice(sorted[i], end));
    assert.deepEqual(readIn(chunks), WHOLE);
  });
  fc.assert(property, { seed: SEED });
});

test('endless output of a host is limited', () => {
  const reader = new ProgressReader();
  for (let i = 0; i < 200; i++) reader.push('x'.repeat(10_000));
  for (let i = 0; i < 20_000; i++) reader.push(`remote: line ${i}\n`);
  assert.ok(reader.messages.length < 20_000);
  assert.match(reader.messages, /line 19999\n$/);
});
