// Reaches the limit of open files while shards are opened and checked, and prints the result as JSON. To be run with
// a low limit.

import { closeSync, openSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { Searcher } from '../../daemon/engine/host/searcher.ts';
import { shardErrorOf } from '../../daemon/engine/host/space.ts';
import { IntegrityPass } from '../../daemon/index/upkeep/integrity-pass.ts';
import { createLog } from '../../daemon/base/log.ts';
import { buildShard, coreModule, repoRecord, temporaryFolder } from '../engine/host/harness.ts';

const module = await coreModule('release');
const folder = temporaryFolder();
const shards = [1, 2, 3].map((shard) =>
  buildShard(module, folder, repoRecord(1, 'host/repo'), [
    { path: `s${shard}`, bytes: Buffer.from(`plum ${shard}\n`) },
  ]),
);
const ids = shards.map(({ shardId }) => shardId);
const lines: string[] = [];
const damage: string[] = [];
const pass = new IntegrityPass({
  module,
  shards: () => shards,
  isBusy: () => false,
  onDamage: (shardId) => damage.push(shardId),
  log: createLog({ level: 'warn', format: 'text', write: (line) => lines.push(line) }),
  rate: 1e9,
  faultPauseMs: 10,
});
const searcher = new Searcher(module);
// What is loaded with the first file is loaded now.
searcher.setShards(shards.slice(0, 1));

const descriptors: number[] = [];
try {
  for (;;) descriptors.push(openSync('/dev/null', 'r'));
} catch {
  // There are no more.
}
const refused = searcher.setShards(shards).map(({ fault }) => fault);
const faultOf = (shardId: string): string => {
  try {
    searcher.spaceOf(shardId);
    return 'open';
  } catch (error) {
    return shardErrorOf(shardId, error).fault;
  }
};
const whenFull = ids.map(faultOf);
const checkedWhenFull = (await pass.checkNow(shards)).map(({ fault }) => fault);
pass.run();
while (!lines.some((line) => line.includes('could not be checked'))) await wait(5);
for (const file of descriptors) closeSync(file);
while (pass.checkedCount < shards.length) await wait(5);
await pass.close();
const whenFree = ids.map(faultOf);
process.stdout.write(
  JSON.stringify({ refused, whenFull, checkedWhenFull, damage, whenFree }).concat('\n'),
);
