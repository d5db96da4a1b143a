// Experiment X17: what does it cost to put one changed repository into service, of thousands? Its record in the catalog,
// synced, the snapshot that searches see, and telling threads; its shards apart. The daemon of the index must not run; the
// data directory is not changed but for `index.db`, which holds what it held before.
//   node build/bench/experiments/x17-publish.js DATA_DIR

import { readFileSync } from 'node:fs';
import { createLog } from '../../daemon/base/log.ts';
import { compileCore } from '../../daemon/engine/host/core.ts';
import { SearchPool } from '../../daemon/engine/host/pool.ts';
import { Searcher } from '../../daemon/engine/host/searcher.ts';
import { SnapshotManager } from '../../daemon/engine/search/snapshot.ts';
import { Catalog } from '../../daemon/index/catalog/catalog.ts';
import type { CatalogRepo } from '../../daemon/index/catalog/catalog-records.ts';
import { Publication } from '../../daemon/index/served/publication.ts';
import { Served } from '../../daemon/index/served/served.ts';

const [dataDir = ''] = process.argv.slice(2);
if (dataDir === '') throw new Error('which data directory?');
const ROUNDS = 200;

const log = createLog({ level: 'error', format: 'text' });
const module = await compileCore();
const catalog = new Catalog(dataDir);
await catalog.load(true);
const pool = new SearchPool({ module });
const snapshots = new SnapshotManager(new Searcher(module), pool);
const served = new Served({
  catalog,
  log,
  publish: (snapshot) => snapshots.publish(snapshot),
  onDamage: () => {},
  onSymbolsLost: () => {},
});
served.publish();
const publication = new Publication({ catalog, served }, []);
const repos = catalog.repos.filter(({ shards }) => shards.length > 0);
const costs: { cpuMs: number; size: number }[] = [];
for (let round = 0; round < ROUNDS; round++)
  costs.push(await costOf(repos[Math.floor((round * repos.length) / ROUNDS)]!));
console.log(`${repos.length} repositories, ${ROUNDS} publishes, medians:`);
console.log(`CPU ${median(costs.map(({ cpuMs }) => cpuMs)).toFixed(2)} ms`);
console.log(`written ${median(costs.map(({ size }) => size))} bytes`);
await pool.close();
await catalog.close();

async function costOf(repo: CatalogRepo): Promise<{ cpuMs: number; size: number }> {
  const [before, sizeBefore] = [process.cpuUsage(), writtenSize()];
  await publication.commit(
    () => ({ put: [{ ...repo }] }),
    () => {},
  );
  const { user, system } = process.cpuUsage(before);
  return { cpuMs: (user + system) / 1000, size: writtenSize() - sizeBefore };
}

function writtenSize(): number {
  return Number(/^wchar: (\d+)$/m.exec(readFileSync('/proc/self/io', 'latin1'))?.[1]);
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[values.length >> 1]!;
}
