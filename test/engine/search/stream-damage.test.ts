// A stream that meets damage while rendering continues without that shard, like a blocking search: damage is reported
// once, valid results are sent, and the end says what is missing.

import assert from 'node:assert/strict';
import { closeSync, linkSync, openSync, readFileSync, writeFileSync, writeSync } from 'node:fs';
import test from 'node:test';
import { Space } from '../../../daemon/engine/host/space.ts';
import type { EngineParts } from '../../../daemon/engine/search/prepare.ts';
import type { LiveShard } from '../../../daemon/engine/search/snapshot.ts';
import {
  buildShard,
  coreModule,
  Engine,
  type FileResult,
  REPO,
  requestOf,
  streamEvents,
  temporaryFolder,
} from '../host/harness.ts';
import { checkInvariants } from '../host/invariants.ts';

interface Event {
  readonly type: string;
  readonly files?: readonly FileResult[];
  readonly accumulatedStats?: Record<string, number>;
  readonly isSearchExhaustive?: boolean;
  readonly incompleteReasons?: readonly string[];
}

/** A shard of long docs with matches only at their start. */
async function makeShard(folder: string, number: number): Promise<LiveShard> {
  const docs = Array.from({ length: 5 }, (_, doc) => ({
    path: `s${number}/d${doc}`,
    bytes: Buffer.from(`needle needle\n${'some text\n'.repeat(20_000)}end of ${number} ${doc}\n`),
  }));
  return buildShard(await coreModule('release'), folder, REPO, docs);
}

/** Changes a byte that is read where a shard is opened. */
function damageHeader({ path }: LiveShard): void {
  const bytes = readFileSync(path);
  bytes[100]! ^= 1;
  writeFileSync(path, bytes);
}

/** Changes a byte that is read only to render a whole doc, in place and through another name of the file. */
function damage(shard: LiveShard): void {
  const bytes = readFileSync(shard.path);
  const at = bytes.indexOf(' 3\n', bytes.indexOf('end of'));
  assert.ok(at > 0);
  const link = `${shard.path}.link`;
  linkSync(shard.path, link);
  const file = openSync(link, 'r+');
  writeSync(file, Uint8Array.of(bytes[at]! ^ 1), 0, 1, at);
  closeSync(file);
}

function streamed(parts: EngineParts, matches: number, query = 'needle'): Promise<Event[]> {
  return streamEvents(parts, requestOf(query, { matches, whole: true }));
}

for (const inlineNs of [0n, 10n ** 12n]) {
  void test(`valid results are sent, ${inlineNs} ns on the main thread`, async () => {
    const folder = temporaryFolder();
    const shards = await Promise.all([0, 1, 2].map((number) => makeShard(folder, number)));
    await using engine = new Engine(await coreModule('release'), { inlineNs });
    engine.publish([shards[0]!, shards[2]!], [REPO]);
    const valid = await streamed(engine.parts, 1000);
    damage(shards[1]!);
    engine.publish(shards, [REPO]);
    for (const matches of [1000, 20, 15]) {
      engine.failures.length = 0;
      const events = await streamed(engine.parts, matches);
      const files = events.flatMap((event) => event.files ?? []);
      const [final] = events.slice(-1);
      assert.ok(final !== undefined);
      assert.ok(files.every(({ fileName }) => !fileName.text.startsWith('s1/')));
      if (matches === 1000) {
        const expected = valid.flatMap((event) => event.files ?? []);
        assert.deepEqual(byPath(files), byPath(expected));
        assert.deepEqual(final.incompleteReasons, ['shard_crashed']);
      }
      const { isSearchExhaustive = true, incompleteReasons = [] } = final;
      const answer = { files, stats: final.accumulatedStats!, isSearchExhaustive };
      checkInvariants({ ...answer, incompleteReasons }, { matches, shardCount: 3 });
      assert.ok(incompleteReasons.includes('shard_crashed'));
      assert.equal(engine.failures.length, 1, engine.failures.join('\n'));
      assert.match(engine.failures[0]!, /page \d+ is damaged/);
    }
  });
}

void test('a rendered byte that changes later: the next answer excludes it, and says so', async () => {
  const folder = temporaryFolder();
  const shards = await Promise.all([0, 1].map((number) => makeShard(folder, number)));
  await using engine = new Engine(await coreModule('release'), {
    verifiedMs: 1e-6,
    workers: 1,
    inlineNs: 0n,
  });
  engine.publish(shards, [REPO]);
  const before = await streamed(engine.parts, 1000);
  assert.equal(before.flatMap((event) => event.files ?? []).length, 10);
  assert.equal(before.at(-1)?.isSearchExhaustive, true);
  damage(shards[1]!);
  const after = await streamed(engine.parts, 1000);
  const paths = after.flatMap((event) => event.files ?? []).map(({ fileName }) => fileName.text);
  assert.deepEqual(paths.sort(), ['s0/d0', 's0/d1', 's0/d2', 's0/d3', 's0/d4']);
  assert.equal(after.at(-1)?.isSearchExhaustive, false);
  assert.deepEqual(after.at(-1)?.incompleteReasons, ['shard_crashed']);
});

void test('damage found before anything is sent: the search restarts without the shard', async () => {
  const folder = temporaryFolder();
  const module = await coreModule('release');
  const [damaged, valid] = await Promise.all([0, 1].map((number) => makeShard(folder, number)));
  await using engine = new Engine(module);
  engine.publish([damaged!, valid!], [REPO]);
  damageHeader(damaged!);
  const failed: string[] = [];
  const parts = {
    ...engine.parts,
    // As what builds revisions on demand: opens the files of the shards.
    revisions: (): Promise<undefined> => {
      for (const shard of engine.snapshots.current.shards) new Space(module).open(shard);
      return Promise.resolve(undefined);
    },
    onShardFailure: (shardId: string, reason: string): void => {
      failed.push(`${shardId} ${reason}`);
      engine.publish([valid!], [REPO], [{ ...damaged!, reason }]);
    },
  };
  const events = await streamed(parts, 1000, 'needle (rev:then or rev:HEAD)');
  assert.deepEqual(failed, [
    `${damaged!.shardId} shard ${damaged!.shardId}: header checksum (section 0, row 0)`,
  ]);
  const files = events.flatMap((event) => event.files ?? []);
  const paths = files.map(({ fileName }) => fileName.text).sort();
  assert.deepEqual(paths, ['s1/d0', 's1/d1', 's1/d2', 's1/d3', 's1/d4']);
  assert.deepEqual(events.at(-1)?.incompleteReasons, ['shard_quarantined']);
});

function byPath(files: readonly FileResult[]): FileResult[] {
  return files.toSorted((a, b) => (a.fileName.text < b.fileName.text ? -1 : 1));
}
