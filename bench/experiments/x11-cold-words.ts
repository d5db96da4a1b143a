// Experiment X11: what does a rare word take where nothing of the index is in memory but the tables that opening reads?
// Before each search all mappings go, the system is told to forget the files (posix_fadvise), and they are opened again.
// The words are drawn from the contents; those of more than a few matches are left out. Touches no cache but that of
// these files. Linux only.
//   node build/bench/experiments/x11-cold-words.js DATA_DIR [WORDS]
// Measured: 2026-11-22, Linux (1.0 GB of content, 1.2 GB of shards), a busy machine: in a control group of 320 MB, which also
// holds the heap, so that less than a quarter of the index fits: p50 18.5 ms, p90 86, 417 KiB read a search
// ("warm"). With all of it in memory p50 1.0 ms; with nothing of it 105, 1.3 MB read.

import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { createRequire } from 'node:module';
import { readCatalog } from '../../daemon/app/read-catalog.ts';
import type { LiveShard } from '../../daemon/engine/search/snapshot.ts';
import { coreModule, Engine } from '../../test/engine/host/harness.ts';
import { seededRandom } from '../samples.ts';

const [dataDir = '', wordCount = '40'] = process.argv.slice(2);
const MATCHES_MAX = 20;
const FORGET = 4;

const koffi: typeof import('koffi') = createRequire(import.meta.url)('koffi');
const advise = koffi
  .load(null)
  .func('int posix_fadvise(int file, int64_t offset, int64_t size, int advice)');
const random = seededRandom(11);
const { catalog, shards } = await readShards();
const engine = new Engine(await coreModule('release'), { workers: 2 });
const records = catalog.repos.map(({ record }) => record);

engine.publish(shards, records);
const words = await drawWords(Number(wordCount));
await measure('warm', () => Promise.resolve());
await measure('cold', forgetAll);
await engine.close();

async function readShards() {
  const catalog = await readCatalog(dataDir);
  const shards: LiveShard[] = catalog.repos.flatMap(({ record, shards }) =>
    shards.map(({ shardId, size, docCount }) => ({
      shardId,
      size,
      docCount,
      parts: [{ repoId: record.repoId, docStart: 0, docEnd: docCount }],
      path: catalog.shardPath(shardId),
    })),
  );
  return { catalog, shards };
}

async function drawWords(count: number): Promise<string[]> {
  const words: string[] = [];
  while (words.length < count) {
    const { path, size } = shards[Math.floor(random() * shards.length)]!;
    const start = Math.floor(random() * size * 0.5);
    const text = textAt(path, start);
    const [word] = /\b[a-zA-Z_]{8,30}\b/.exec(text) ?? [];
    if (word === undefined) continue;
    const { stats } = await engine.search(word, { matches: 1000 });
    const found = stats['totalMatchCount']!;
    if (found > 0 && found <= MATCHES_MAX) words.push(word);
  }
  return words;
}

function textAt(path: string, start: number): string {
  const bytes = Buffer.alloc(4000);
  const file = openSync(path, 'r');
  readSync(file, bytes, 0, bytes.length, start);
  closeSync(file);
  return bytes.toString('latin1');
}

async function forgetAll(): Promise<void> {
  engine.publish([], records);
  // Threads close what they have with the next search.
  await engine.search('anything').catch(() => {});
  await new Promise((resolve) => void setTimeout(resolve, 50));
  for (const { path } of shards) {
    const file = openSync(path, 'r');
    advise(file, 0, 0, FORGET);
    closeSync(file);
  }
  engine.publish(shards, records);
  await engine.pool.ready();
  await new Promise((resolve) => void setTimeout(resolve, 200));
}

function readBytes(): number {
  return Number(/^read_bytes: (\d+)$/m.exec(readFileSync('/proc/self/io', 'latin1'))![1]);
}

async function measure(name: string, prepare: () => Promise<void>): Promise<void> {
  const times: number[] = [];
  let bytes = 0;
  for (const word of words) {
    await prepare();
    const before = readBytes();
    const startMs = performance.now();
    await engine.search(word, { matches: 1000 });
    times.push(performance.now() - startMs);
    bytes += readBytes() - before;
  }
  times.sort((a, b) => a - b);
  const at = (share: number): string => times[Math.floor((times.length - 1) * share)]!.toFixed(1);
  const kib = Math.round(bytes / words.length / 1024);
  process.stdout.write(
    `${name}: p50 ${at(0.5)} ms, p90 ${at(0.9)}, most ${at(1)}; ${kib} KiB read a search\n`,
  );
}
