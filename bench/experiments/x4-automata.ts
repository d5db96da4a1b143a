// Experiment X4: what should run regular expressions? Automata of several kinds (assembly/automata.ts) and
// the scanners that may spare them the work, over the same text, one thread. All take turns; shown are the
// median speed by processor time, and the median of each round's ratio to counting newlines in the same round.
//   node build/bench/experiments/x4-automata.js FOLDER [MEGABYTES] [ROUNDS] [ENDINGS]
// The text are the files with one of the ENDINGS (.c,.h), in pieces of 64 KiB cut at line ends; several
// streams share a piece. "found" is the bytes after which an automaton accepts, or the matches of a scanner.

import v8 from 'node:v8';
import { instantiateCore, type CoreInstance } from '../../test/core/driver.ts';
import { median } from '../../daemon/cli/bench/statistics.ts';
import { buildAutomaton, byteClasses, type Automaton, type Step } from './automaton.ts';
import { readCorpus } from './corpus.ts';

interface AutomataExports {
  direct(first: number, accepting: number, start: number, end: number): number;
  directFour(first: number, accepting: number, bounds: number): number;
  classesOne(classes: number, first: number, accepting: number, start: number, end: number): number;
  classesTwo(classes: number, first: number, accepting: number, bounds: number): number;
  classesFour(classes: number, first: number, accepting: number, bounds: number): number;
  shuffleOne(tables: number, first: number, accepting: number, start: number, end: number): number;
  shuffleTwo(tables: number, first: number, accepting: number, bounds: number): number;
  compileClassRun(set: number, runSizeMin: number, out: number): void;
  findClassRun(classRun: number, start: number, end: number): number;
  compileNeedle(ptr: number, size: number, isExact: number, out: number, capacity: number): number;
  findNeedle(needle: number, start: number, end: number, flags: number): number;
  foundEnd(): number;
  literalSetSizeMax(count: number, size: number): number;
  compileLiteralSet(
    rows: number,
    count: number,
    bytes: number,
    isExact: number,
    out: number,
    capacity: number,
  ): number;
  findInSet(set: number, start: number, end: number, flags: number): number;
  foundSetEnd(): number;
  countByte(start: number, end: number, byte: number): number;
}

interface Chunk {
  readonly start: number;
  readonly end: number;
  readonly two: number;
  readonly four: number;
}

interface Kernel {
  readonly name: string;
  readonly run: (chunk: Chunk) => number;
}

const CHUNK_SIZE = 1 << 16;
const PAGE_SIZE = 1 << 16;
const NEWLINE = 10;
const TABLES_SIZE = 1 << 24;
const SHUFFLE_STATES_MAX = 16;
const CLASSES_MAX = 64;
const NAMES = ['kmalloc', 'mutex_lock', 'schedule_timeout', 'copy_from_user'];

const memberOf = (pattern: RegExp) => (byte: number) =>
  pattern.test(String.fromCharCode(byte)) && byte < 0x80;
const digit = memberOf(/[0-9]/);
const hex = memberOf(/[0-9a-f]/);
const word = memberOf(/\w/);
const blank = memberOf(/[ \t\r\f\v]/);
const upper = memberOf(/[A-Z]/);
const greekLead = (byte: number): boolean => byte >= 0xcd && byte <= 0xcf;

const once = (isMember: Step['isMember'], count = 1): Step[] =>
  Array.from({ length: count }, () => ({ isMember, isRepeated: false }));
const more = (isMember: Step['isMember']): Step[] => [{ isMember, isRepeated: true }];
const literal = (text: string): Step[] =>
  text.split('').flatMap((char) => once((byte) => byte === char.charCodeAt(0)));

const EXPRESSIONS: readonly (readonly [name: string, sequences: Step[][]])[] = [
  [
    String.raw`\w{5}\s+\w{5}\s+\w{5}`,
    [[...once(word, 5), ...more(blank), ...once(word, 5), ...more(blank), ...once(word, 5)]],
  ],
  [String.raw`\d{9,}`, [[...once(digit, 8), ...more(digit)]]],
  ['[A-Z]+_SUSPEND', [[...more(upper), ...literal('_SUSPEND')]]],
  ['4 names', NAMES.map(literal)],
];

class Bench {
  private readonly core: CoreInstance<AutomataExports>;
  private readonly view: DataView;
  private next: number;
  readonly text: number;

  constructor(core: CoreInstance<AutomataExports>, text: Uint8Array) {
    this.core = core;
    this.view = new DataView(core.bytes.buffer);
    this.next = core.base;
    this.text = core.base + TABLES_SIZE;
    core.bytes.set(text, this.text);
  }

  private take(size: number): number {
    const ptr = this.next;
    this.next += (size + 63) & ~63;
    if (this.next > this.text) throw new Error('no room for tables');
    return ptr;
  }

  private lineStartAfter(ptr: number, end: number): number {
    const found = this.core.bytes.indexOf(NEWLINE, ptr);
    return found < 0 || found >= end ? end : found + 1;
  }

  /** Cut at line ends, as count + 1 numbers in memory. */
  private cut(start: number, end: number, count: number): number {
    const bounds = this.take(4 * (count + 1));
    for (let i = 0; i <= count; i++) {
      const ptr = start + Math.floor(((end - start) * i) / count);
      const cut = i === 0 ? start : i === count ? end : this.lineStartAfter(ptr, end);
      this.view.setUint32(bounds + 4 * i, cut, true);
    }
    return bounds;
  }

  chunks(size: number): Chunk[] {
    const chunks: Chunk[] = [];
    const textEnd = this.text + size;
    for (let start = this.text; start < textEnd;) {
      const end = this.lineStartAfter(Math.min(start + CHUNK_SIZE, textEnd) - 1, textEnd);
      chunks.push({ start, end, two: this.cut(start, end, 2), four: this.cut(start, end, 4) });
      start = end;
    }
    return chunks;
  }

  automatonKernels(name: string, automaton: Automaton): Kernel[] {
    const { exports } = this.core;
    const { classOf, count } = byteClasses(automaton);
    const label = `${name}  (${automaton.stateCount} states, ${count} classes)`;
    const wide = this.table(automaton, 256, (byte) => byte);
    const classes = this.take(256);
    this.core.bytes.set(
      classOf.map((id) => id * 4),
      classes,
    );
    if (count > CLASSES_MAX) throw new Error('too many classes');
    const rows = this.table(automaton, CLASSES_MAX, (id) => classOf.indexOf(id));
    const kernels: Kernel[] = [
      {
        name: `table of bytes         ${label}`,
        run: ({ start, end }) => exports.direct(wide.first, wide.accepting, start, end),
      },
      {
        name: `table of bytes, 4 str. ${label}`,
        run: ({ four }) => exports.directFour(wide.first, wide.accepting, four),
      },
      {
        name: `table of classes       ${label}`,
        run: ({ start, end }) =>
          exports.classesOne(classes, rows.first, rows.accepting, start, end),
      },
      {
        name: `table, 2 streams       ${label}`,
        run: ({ two }) => exports.classesTwo(classes, rows.first, rows.accepting, two),
      },
      {
        name: `table, 4 streams       ${label}`,
        run: ({ four }) => exports.classesFour(classes, rows.first, rows.accepting, four),
      },
    ];
    return automaton.stateCount > SHUFFLE_STATES_MAX
      ? kernels
      : [...kernels, ...this.shuffleKernels(label, automaton)];
  }

  /** A row of `width` u32 per state holds addresses of rows; `byteOf` gives a byte of a column. */
  private table(
    { stateCount, first, acceptFrom, next }: Automaton,
    width: number,
    byteOf: (column: number) => number,
  ): { first: number; accepting: number } {
    const rows = this.take(stateCount * width * 4);
    for (let state = 0; state < stateCount; state++) {
      for (let column = 0; column < width; column++) {
        const target = next[state * 256 + byteOf(column)] ?? 0;
        this.view.setUint32(rows + (state * width + column) * 4, rows + target * width * 4, true);
      }
    }
    return { first: rows + first * width * 4, accepting: rows + acceptFrom * width * 4 };
  }

  private shuffleKernels(label: string, automaton: Automaton): Kernel[] {
    const { exports, bytes } = this.core;
    const { stateCount, first, acceptFrom, next } = automaton;
    const tables = this.take(256 * 16);
    for (let byte = 0; byte < 256; byte++) {
      for (let state = 0; state < stateCount; state++) {
        bytes[tables + byte * 16 + state] = next[state * 256 + byte] ?? 0;
      }
    }
    return [
      {
        name: `shuffle                ${label}`,
        run: ({ start, end }) => exports.shuffleOne(tables, first, acceptFrom, start, end),
      },
      {
        name: `shuffle, 2 streams     ${label}`,
        run: ({ two }) => exports.shuffleTwo(tables, first, acceptFrom, two),
      },
    ];
  }

  /** Runs of at least `runSizeMin` bytes. */
  runKernel(name: string, isMember: Step['isMember'], runSizeMin: number): Kernel {
    const { exports, bytes } = this.core;
    const set = this.take(32);
    for (let byte = 0; byte < 256; byte++) {
      const index = set + (byte >> 3);
      bytes[index] = (bytes[index] ?? 0) | (+isMember(byte) << (byte & 7));
    }
    const plan = this.take(256);
    exports.compileClassRun(set, runSizeMin, plan);
    const run = ({ start, end }: Chunk): number => {
      let count = 0;
      for (let ptr = start; ; count++) {
        ptr = exports.findClassRun(plan, ptr, end) >>> 0;
        if (ptr === end) return count;
        ptr += runSizeMin;
      }
    };
    return { name: `class run              ${name}`, run };
  }

  needleKernel(text: string): Kernel {
    const { exports, bytes } = this.core;
    const source = this.take(64);
    const { written } = new TextEncoder().encodeInto(text, bytes.subarray(source, source + 64));
    const needle = this.take(1 << 12);
    exports.compileNeedle(source, written, 1, needle, 1 << 12);
    const run = ({ start, end }: Chunk): number => {
      let count = 0;
      for (let ptr = start; ; count++) {
        if (exports.findNeedle(needle, ptr, end, 0) >>> 0 === end) return count;
        ptr = exports.foundEnd();
      }
    };
    return { name: `literal                ${text}`, run };
  }

  setKernel(names: readonly string[], isExact: boolean): Kernel {
    const { exports, bytes } = this.core;
    const rows = this.take(8 * names.length);
    const text = new TextEncoder().encode(names.join(''));
    const source = this.take(text.length);
    bytes.set(text, source);
    let offset = 0;
    for (const [index, name] of names.entries()) {
      this.view.setUint32(rows + 8 * index, offset, true);
      this.view.setUint32(rows + 8 * index + 4, name.length, true);
      offset += name.length;
    }
    const capacity = exports.literalSetSizeMax(names.length, offset);
    const set = this.take(capacity);
    exports.compileLiteralSet(rows, names.length, source, +isExact, set, capacity);
    const run = ({ start, end }: Chunk): number => {
      let count = 0;
      for (let ptr = start; ; count++) {
        if (exports.findInSet(set, ptr, end, 0) >>> 0 === end) return count;
        ptr = exports.foundSetEnd();
      }
    };
    return { name: `set of literals        4 names${isExact ? '' : ', any case'}`, run };
  }

  newlineKernel(): Kernel {
    const { exports } = this.core;
    return {
      name: 'newlines',
      run: ({ start, end }) => exports.countByte(start, end, NEWLINE),
    };
  }
}

function kernelsOf(bench: Bench): Kernel[] {
  return [
    bench.newlineKernel(),
    ...EXPRESSIONS.flatMap(([name, sequences]) =>
      bench.automatonKernels(name, buildAutomaton(sequences)),
    ),
    bench.runKernel(String.raw`\d{9,}`, digit, 9),
    bench.runKernel(String.raw`\w{5,}`, word, 5),
    bench.runKernel('[0-9a-f]{32}', hex, 32),
    bench.runKernel(String.raw`[\xcd-\xcf]`, greekLead, 1),
    bench.needleKernel('_SUSPEND'),
    bench.setKernel(NAMES, true),
    bench.setKernel(NAMES, false),
  ];
}

/** Processor time, so that other processes count less. */
function pass(kernel: Kernel, chunks: readonly Chunk[]): { ns: number; found: number } {
  let found = 0;
  const begin = process.cpuUsage();
  for (const chunk of chunks) found += kernel.run(chunk);
  const { user, system } = process.cpuUsage(begin);
  return { ns: (user + system) * 1000, found };
}

const [folder, megabytes = '256', rounds = '7', endings = '.c,.h'] = process.argv.slice(2);
if (folder === undefined) {
  throw new Error('usage: x4-automata FOLDER [MEGABYTES] [ROUNDS] [ENDINGS]');
}
v8.setFlagsFromString('--no-liftoff');
const size = Number(megabytes) * 1e6;
const text = readCorpus(folder, size, endings.split(',')).bytes.subarray(0, size);
const core = await instantiateCore<AutomataExports>(
  'bench/experiments/assembly/automata.ts',
  'release',
  Math.ceil((text.length + TABLES_SIZE) / PAGE_SIZE) + 64,
);
const bench = new Bench(core, text);
const kernels = kernelsOf(bench);
const chunks = bench.chunks(text.length);
const results = kernels.map((kernel) => ({
  name: kernel.name,
  kernel,
  found: pass(kernel, chunks.slice(0, 64)).found,
  ns: [] as number[],
}));
for (let round = 0; round < Number(rounds); round++) {
  for (const result of results) {
    const { ns, found } = pass(result.kernel, chunks);
    result.ns.push(ns);
    result.found = found;
  }
}
console.log(`${(text.length / 1e6).toFixed(0)} MB, median of ${rounds} rounds`);
console.log(`${'kind and expression'.padEnd(72)}      found   GB/s   best  ratio`);
for (const { name, found, ns } of results) {
  const ratio = median(ns.map((value, round) => (results[0]?.ns[round] ?? 0) / value));
  const row = [text.length / median(ns), text.length / Math.min(...ns), ratio];
  const figures = row.map((value, i) => value.toFixed(i === 2 ? 3 : 2).padStart(6)).join(' ');
  console.log(`${name.padEnd(72)} ${String(found).padStart(10)} ${figures}`);
}
