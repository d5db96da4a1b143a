// Experiment X1: does a second core help when the text is in memory and only scanned? Two worker threads
// hold one half of the text each. One scans alone, then both at once, in turns; the wall time runs from the
// first message to the last answer.
//   node build/bench/experiments/x1-two-cores.js FOLDER [MEGABYTES] [ROUNDS]

import { fileURLToPath } from 'node:url';
import v8 from 'node:v8';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { instantiateCore } from '../../test/core/driver.ts';
import { median } from '../../daemon/cli/bench/statistics.ts';
import { readCorpus } from './corpus.ts';

interface ScanExports {
  compileNeedle(ptr: number, size: number, isExact: number, out: number, capacity: number): number;
  countNeedle(needle: number, start: number, end: number, flags: number): number;
  countByte(start: number, end: number, byte: number): number;
}

type Half = SharedArrayBuffer;

const KERNELS = ['literal', 'newlines'] as const;
type KernelName = (typeof KERNELS)[number];

const NEEDLE = 'mutex_lock_interruptible';
const PAGE_SIZE = 1 << 16;
const NEEDLE_CAPACITY = 1 << 12;
/** Bytes per call, bounded as those of a search. */
const CHUNK_SIZE = 1 << 20;

async function work(half: Half): Promise<void> {
  const pages = Math.ceil(half.byteLength / PAGE_SIZE) + 64;
  const entry = 'test/core/assembly/kernels.ts';
  const { exports, bytes, base } = await instantiateCore<ScanExports>(entry, 'release', pages);
  const start = base + NEEDLE_CAPACITY;
  const end = start + half.byteLength;
  bytes.set(new Uint8Array(half), start);
  const size = new TextEncoder().encodeInto(NEEDLE, bytes.subarray(end)).written;
  if (exports.compileNeedle(end, size, 1, base, NEEDLE_CAPACITY) < 0) throw new Error('needle');
  const kernels: Record<KernelName, (from: number, to: number) => number> = {
    literal: (from, to) => exports.countNeedle(base, from, to, 0),
    newlines: (from, to) => exports.countByte(from, to, 10),
  };
  parentPort?.on('message', (name: KernelName) => {
    let sum = 0;
    for (let ptr = start; ptr < end; ptr += CHUNK_SIZE) {
      sum += kernels[name](ptr, Math.min(ptr + CHUNK_SIZE, end));
    }
    parentPort?.postMessage(sum);
  });
  parentPort?.postMessage(0);
}

function answer(worker: Worker): Promise<number> {
  return new Promise((resolve, reject) => {
    worker.once('error', reject);
    worker.once('message', (sum: number) => {
      worker.off('error', reject);
      resolve(sum);
    });
  });
}

async function pass(workers: readonly Worker[], name: KernelName): Promise<number> {
  const begin = process.hrtime.bigint();
  const answers = workers.map(answer);
  for (const worker of workers) worker.postMessage(name);
  await Promise.all(answers);
  return Number(process.hrtime.bigint() - begin) / 1e6;
}

function shareHalf(bytes: Uint8Array): Half {
  const half = new SharedArrayBuffer(bytes.length);
  new Uint8Array(half).set(bytes);
  return half;
}

async function main(folder: string, megabytes: number, rounds: number): Promise<void> {
  const text = readCorpus(folder, megabytes * 1e6).bytes;
  const middle = text.length >> 1;
  const halves = [text.subarray(0, middle), text.subarray(middle, middle * 2)].map(shareHalf);
  const workers = halves.map(
    (half) => new Worker(fileURLToPath(import.meta.url), { workerData: half }),
  );
  await Promise.all(workers.map(answer));
  console.log(`${(text.length / 1e6).toFixed(0)} MB, median of ${rounds} rounds`);
  for (const name of KERNELS) {
    await pass(workers, name);
    const one: number[] = [];
    const two: number[] = [];
    for (let round = 0; round < rounds; round++) {
      one.push(await pass(workers.slice(0, 1), name));
      two.push(await pass(workers, name));
    }
    const speedOne = middle / 1e6 / median(one);
    const speedTwo = (2 * middle) / 1e6 / median(two);
    const gain = median(one.map((ms, round) => (2 * ms) / (two[round] ?? 0)));
    const whole = (speed: number): string => `${(text.length / 1e6 / speed).toFixed(1)} ms`;
    console.log(
      `${name.padEnd(9)} one core ${speedOne.toFixed(1)} GB/s (all text ${whole(speedOne)}), ` +
        `two cores ${speedTwo.toFixed(1)} GB/s (${whole(speedTwo)}), gain ${gain.toFixed(2)}`,
    );
  }
  await Promise.all(workers.map((worker) => worker.terminate()));
}

if (isMainThread) {
  const [folder, megabytes = '512', rounds = '15'] = process.argv.slice(2);
  if (folder === undefined) throw new Error('usage: x1-two-cores FOLDER [MEGABYTES] [ROUNDS]');
  v8.setFlagsFromString('--no-liftoff');
  await main(folder, Number(megabytes), Number(rounds));
} else {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- what main passed
  await work(workerData as Half);
}
