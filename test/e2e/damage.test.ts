// Damage under a running daemon, as a child process: a changed byte, a cut file. It is never served as a complete answer,
// the shard goes out of service and is built again, and the daemon stays up; and where the system ends it all the same, the next start checks what was being searched before it maps that.

import assert from 'node:assert/strict';
import { closeSync, existsSync, openSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { SearchResponse } from '../../daemon/cli/services.ts';
import { canMap } from '../../daemon/engine/mapping.ts';
import { makeRepo, temporaryFolder } from '../repos/fixture.ts';
import { eventually, get, search, serve, serveIndexed, shardNames } from './daemon.ts';
import type { Served } from './daemon.ts';

const skip = canMap() ? false : 'files cannot be mapped here';
const TIMEOUT = { timeout: 240_000, skip };

/** Two repos of several pages of content each; only the first holds "plum". */
function makeSources(): string[] {
  const text = (word: string): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: 60 }, (_, i) => [
        `d/f${i}.txt`,
        `${word} ${i}\n${`filler line of ${word}\n`.repeat(300)}`,
      ]),
    );
  return [makeRepo(text('plum')), makeRepo(text('pear'))];
}

/** The shard file whose content holds the word. */
function shardWith(dataDir: string, word: string): string {
  const files = shardNames(dataDir).map((name) => path.join(dataDir, 'shards', name));
  return files.find((file) => readFileSync(file).includes(`filler line of ${word}`))!;
}

function changeByte(file: string, offset: number): void {
  const byte = readFileSync(file)[offset]!;
  const handle = openSync(file, 'r+');
  writeSync(handle, Uint8Array.of(byte ^ 1), 0, 1, offset);
  closeSync(handle);
}

/** Serves the sources; resolves when they are indexed and the passes over their symbols, which map shards too, are over. */
async function serveSettled(dataDir: string, sources: readonly string[]): Promise<Served> {
  const served = await serveIndexed(dataDir, [...sources]);
  const passCount = (): number => (served.process.stderr.match(/symbols found/g) ?? []).length;
  await eventually(async () => passCount() === sources.length);
  return served;
}

const ALL = { matches: 1_000_000 };

async function isWhole(served: Served, word: string): Promise<boolean> {
  const answer = await search(served.url, word, ALL);
  return answer.isSearchExhaustive && answer.stats['totalMatchCount'] === 60 * 301;
}

/** The daemon says at first that something is missing, then has built it again. */
async function checkRecovery(served: Served, word: string): Promise<void> {
  const first: SearchResponse = await search(served.url, word, ALL);
  assert.equal(first.isSearchExhaustive, false);
  assert.ok(['shard_crashed', 'shard_quarantined'].includes(first.incompleteReasons![0]!));
  await eventually(() => isWhole(served, word));
  assert.ok(await isWhole(served, 'pear'));
  const { body } = await get<{ quarantinedShards: number }>(`${served.url}/api/ready`);
  assert.equal(body.quarantinedShards ?? 0, 0);
}

void test('a changed byte of the content is met, not served', TIMEOUT, async () => {
  const sources = makeSources();
  const dataDir = temporaryFolder();
  const served = await serveIndexed(dataDir, sources);
  // Read by a thread already, but its page is not that of the change.
  assert.equal((await search(served.url, '"plum 0"')).files.length, 1);
  changeByte(shardWith(dataDir, 'plum'), 4096 + 200_000);
  await checkRecovery(served, 'plum');
  assert.match(served.process.stderr, /shard quarantined.*page 49 is damaged/);
  await served.process.stop();
  assert.equal(existsSync(path.join(dataDir, 'searching')), false);
});

void test('where the system ends the daemon, the next start goes on', TIMEOUT, async () => {
  const sources = makeSources();
  const dataDir = temporaryFolder();
  const first = await serveSettled(dataDir, sources);
  for (let i = 0; i < 6; i++) assert.ok(await isWhole(first, 'plum'));
  const file = shardWith(dataDir, 'plum');
  const whole = readFileSync(file);
  // Every page is known to be sound, and then gone.
  truncateSync(file, 8192);
  await search(first.url, 'plum', ALL).catch(() => {});
  // What cannot be read now can be read at the next start, but it is not what it was.
  await first.process.stop('SIGKILL');
  const handle = openSync(file, 'r+');
  whole[300_000]! ^= 1;
  writeSync(handle, whole, 0, whole.length, 0);
  closeSync(handle);
  const second = await serve(dataDir, sources);
  // Nothing was searched yet.
  assert.match(second.process.stderr, /the last process did not end by itself/);
  assert.match(second.process.stderr, /shard quarantined.*page 73 is damaged/);
  await eventually(() => isWhole(second, 'plum'));
  assert.ok(await isWhole(second, 'pear'));
  await second.process.stop();
});
