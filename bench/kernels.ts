// How fast the scanning functions of the core run over real text, in GB/s, one thread, release build, all
// functions optimised before their first call:
//   node build/bench/kernels.js FILE_OR_FOLDER [MEGABYTES] [ROUNDS] [NAME...]
// Functions take turns, so that a machine whose speed changes treats all alike; the last column compares
// each with the counting of newlines in the same round. NAMEs choose the functions whose name holds one.

import { readFileSync, statSync } from 'node:fs';
import v8 from 'node:v8';
import { readCorpus } from './experiments/corpus.ts';
import { median } from '../daemon/cli/bench/statistics.ts';
import { instantiateCore, type CoreInstance } from '../test/core/driver.ts';

interface KernelExports {
  compileNeedle(ptr: number, size: number, isExact: number, out: number, capacity: number): number;
  needleSizeMax(size: number): number;
  findNeedle(needle: number, start: number, end: number, flags: number): number;
  foundEnd(): number;
  countNeedle(needle: number, start: number, end: number, flags: number): number;
  countByte(start: number, end: number, byte: number): number;
  countCodePoints(start: number, end: number): number;
  isAscii(start: number, end: number): number;
  xxh64(ptr: number, size: number): bigint;
  writeJsonString(out: number, start: number, end: number): number;
}

/** The results of all pieces are added up. */
interface Kernel {
  readonly name: string;
  readonly run: (start: number, end: number) => number;
}

const REFERENCE = 'countByte \\n';
const NEWLINE = 10;
/** Long enough that the call itself costs nothing. */
const CHUNK_SIZE = 1 << 16;
const PAGE_SIZE = 1 << 16;
const NEEDLE_CAPACITY = 1 << 12;
const OUTPUT_SIZE = 6 * CHUNK_SIZE + 16;
/** Bytes behind the text that scanners may read. */
const SLACK = 64;

/** Needles with what they stand for; `i` ignores case. */
const NEEDLES: readonly (readonly [label: string, needle: string, flags: '' | 'i'])[] = [
  ['rare', 'mutex_lock_interruptible', ''],
  ['rare', 'PM_RESUME', ''],
  ['rare', 'zqxj', ''],
  ['medium', 'kmalloc', ''],
  ['medium', 'static int', ''],
  ['frequent', 'return', ''],
  ['frequent', 'the', ''],
  ['no case', 'mutex_lock_interruptible', 'i'],
  ['no case', 'pm_resume', 'i'],
  ['no case', 'zqxj', 'i'],
  ['no case', 'copyright', 'i'],
  ['no case', 'return', 'i'],
  ['1 byte', 'Q', ''],
  ['1 byte', 'e', ''],
  ['1 byte', 'e', 'i'],
  ['2 bytes', '->', ''],
  ['2 bytes', 'if', ''],
  ['2 bytes', 'if', 'i'],
  ['UTF-8', '©', ''],
  ['UTF-8', 'größe', ''],
  ['UTF-8', 'größe', 'i'],
  ['UTF-8', 'é', 'i'],
  ['UTF-8', 'привет', 'i'],
  ['UTF-8', '\ufffd', ''],
];

class Bench {
  private readonly core: CoreInstance<KernelExports>;
  private readonly output: number;
  private readonly text: number;
  private readonly textEnd: number;
  private next: number;

  constructor(core: CoreInstance<KernelExports>, text: Uint8Array) {
    this.core = core;
    this.next = core.base;
    this.output = core.base + NEEDLES.length * NEEDLE_CAPACITY;
    this.text = this.output + OUTPUT_SIZE + SLACK;
    this.textEnd = this.text + text.length;
    core.bytes.set(text, this.text);
  }

  private compile(needle: string, isExact: boolean): number {
    const { exports, bytes } = this.core;
    const text = new TextEncoder().encode(needle);
    const out = this.next;
    this.next += NEEDLE_CAPACITY;
    bytes.set(text, out + NEEDLE_CAPACITY - 64);
    const capacity = exports.needleSizeMax(text.length);
    const used = exports.compileNeedle(
      out + NEEDLE_CAPACITY - 64,
      text.length,
      +isExact,
      out,
      capacity,
    );
    if (used < 0) throw new Error(`needle ${needle}: status ${used}`);
    return out;
  }

  private needleKernels(): Kernel[] {
    const { exports } = this.core;
    return NEEDLES.flatMap(([label, needle, flags]) => {
      const compiled = this.compile(needle, flags === '');
      const name = `Needle ${label} ${JSON.stringify(needle)}${flags}`;
      const find = (start: number, end: number): number => {
        let count = 0;
        for (let ptr = start; ; count++) {
          if (exports.findNeedle(compiled, ptr, end, 0) >>> 0 === end) return count;
          ptr = exports.foundEnd();
        }
      };
      const count = (start: number, end: number): number =>
        exports.countNeedle(compiled, start, end, 0);
      return [
        { name: `find${name}`, run: find },
        { name: `count${name}`, run: count },
      ];
    });
  }

  kernels(): Kernel[] {
    const { exports } = this.core;
    return [
      { name: REFERENCE, run: (start, end) => exports.countByte(start, end, NEWLINE) },
      { name: 'isAscii', run: (start, end) => exports.isAscii(start, end) },
      { name: 'countCodePoints', run: (start, end) => exports.countCodePoints(start, end) },
      {
        name: 'xxh64',
        run: (start, end) => Number(exports.xxh64(start, end - start) & 0xffn),
      },
      {
        name: 'writeJsonString',
        run: (start, end) => exports.writeJsonString(this.output, start, end) - this.output,
      },
      ...this.needleKernels(),
    ];
  }

  /** ns, and the sum of the results. */
  pass(kernel: Kernel): { ns: number; sum: number } {
    let sum = 0;
    const begin = process.hrtime.bigint();
    for (let start = this.text; start < this.textEnd; start += CHUNK_SIZE) {
      sum += kernel.run(start, Math.min(start + CHUNK_SIZE, this.textEnd));
    }
    return { ns: Number(process.hrtime.bigint() - begin), sum };
  }
}

function readText(file: string, sizeMax: number): Uint8Array {
  const bytes = statSync(file).isDirectory() ? readCorpus(file, sizeMax).bytes : readFileSync(file);
  return bytes.subarray(0, sizeMax);
}

const [file, megabytes = '256', rounds = '7', ...names] = process.argv.slice(2);
if (file === undefined) {
  throw new Error('usage: kernels FILE_OR_FOLDER [MEGABYTES] [ROUNDS] [NAME...]');
}
v8.setFlagsFromString('--no-liftoff');
const text = readText(file, Number(megabytes) * 1e6);
const pages = Math.ceil((text.length + OUTPUT_SIZE) / PAGE_SIZE) + 64;
const core = await instantiateCore<KernelExports>(
  'test/core/assembly/kernels.ts',
  'release',
  pages,
);
const bench = new Bench(core, text);
const kernels = bench
  .kernels()
  .filter(
    ({ name }) =>
      name === REFERENCE || names.length === 0 || names.some((part) => name.includes(part)),
  );
const results = kernels.map((kernel) => ({
  kernel,
  sum: bench.pass(kernel).sum,
  ns: [] as number[],
}));
for (let round = 0; round < Number(rounds); round++) {
  for (const { kernel, ns } of results) ns.push(bench.pass(kernel).ns);
}
console.log(`${(text.length / 1e6).toFixed(0)} MB, median of ${rounds} rounds`);
console.log(`${'function'.padEnd(50)} ${'result'.padStart(12)}   GB/s   best  ratio`);
for (const { kernel, sum, ns } of results) {
  const ratio = median(ns.map((value, round) => (results[0]?.ns[round] ?? 0) / value));
  const speed = (text.length / median(ns)).toFixed(2).padStart(6);
  const best = (text.length / Math.min(...ns)).toFixed(2).padStart(6);
  const row = [kernel.name.padEnd(50), String(sum).padStart(12), speed, best];
  console.log([...row, ratio.toFixed(2).padStart(6)].join(' '));
}
