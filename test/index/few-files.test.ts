// Shortage of file descriptors or memory says nothing about a shard: none counts as damaged, and all are back, and
// checked, once the shortage ends.

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import { fileURLToPath } from 'node:url';
import { MappingError } from '../../daemon/engine/host/mapping.ts';
import { shardErrorOf } from '../../daemon/engine/host/space.ts';
import { eventually } from '../http/harness.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { openIndexOf } from '../sync/index-of.ts';

/** Symbols are found behind a job: nobody waits for them here. */
function messagesOf({ degradations }: { readonly degradations: readonly string[] }): string[] {
  return degradations.filter((words) => !words.startsWith('symbols of '));
}

const isWindows = process.platform === 'win32';

void test('no more file descriptors: nothing counts as damaged', { skip: isWindows }, () => {
  const file = fileURLToPath(new URL('./few-files-child.js', import.meta.url));
  const script = 'ulimit -n 300; exec "$0" "$1"';
  const { stdout, stderr, status } = spawnSync('/bin/sh', ['-c', script, process.execPath, file], {
    encoding: 'utf8',
    timeout: 120_000,
  });
  assert.equal(status, 0, stderr);
  assert.deepEqual(JSON.parse(stdout), {
    refused: ['unmapped', 'unmapped'],
    whenFull: ['open', 'unmapped', 'unmapped'],
    checkedWhenFull: ['unmapped', 'unmapped', 'unmapped'],
    damage: [],
    whenFree: ['open', 'open', 'open'],
  });
});

void test('which errors are caused by the machine', () => {
  const coded = (code: string) => Object.assign(new Error(code), { code });
  const cases: [unknown, string][] = [
    [coded('EMFILE'), 'unmapped'],
    [coded('ENFILE'), 'unmapped'],
    [coded('ENOMEM'), 'unmapped'],
    [coded('EACCES'), 'unmapped'],
    [new RangeError('WebAssembly.Memory(): could not allocate memory'), 'unmapped'],
    [new MappingError('no'), 'unmapped'],
    [coded('ENOENT'), 'damaged'],
    [coded('EIO'), 'damaged'],
    [new RangeError('Offset is outside the bounds of the DataView'), 'damaged'],
  ];
  for (const [error, fault] of cases)
    assert.equal(shardErrorOf('s', error).fault, fault, String(error));
});

void test('an unmapped shard recovers by itself', async () => {
  const index = await openIndexOf(temporaryFolder());
  await index.index([makeRepo({ a: 'plum\n' })]);
  const { parts, served } = index.instance;
  const indexer = index.instance.indexer;
  const { shards } = parts.snapshots.current;
  assert.equal(shards.length, 1);
  served.noteShardFailure(shards[0]!.shardId, 'EMFILE', 'unmapped');
  assert.equal(parts.snapshots.current.shards.length, 0);
  assert.equal(messagesOf(indexer).length, 1);
  await eventually(() => parts.snapshots.current.shards.length === 1);
  assert.deepEqual(messagesOf(indexer), []);
  await index.close();
});
