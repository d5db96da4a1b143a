// The engine of core/regex on one instance, with memory for a program, the arena and a text.

import { type Build, type CoreInstance, instantiateCore } from './driver.ts';

export interface RegexExports {
  beginWork(): void;
  isStopped(): number;
  beginRegexes(start: number, end: number): number;
  compileRegex(program: number, size: number): number;
  compileRegexWithin(program: number, size: number, forward: number, reverse: number): number;
  regexStatus(): number;
  beginRegexText(regex: number, start: number, end: number, flags: number): void;
  findRegex(regex: number, from: number, until: number): number;
  foundStart(): number;
  foundEnd(): number;
  countRegex(regex: number, from: number, until: number): number;
  testRegex(regex: number, start: number, end: number, flags: number): number;
  forgetRegexTexts(): void;
  simulateRegex(regex: number, start: number, end: number, from: number, until: number): number;
  simulatedMatchStart(): number;
  simulatedMatchEnd(): number;
  regexClearCount(regex: number): number;
  regexSimulationCount(regex: number): number;
}

export interface TextLocation {
  readonly start: number;
  readonly size: number;
  readonly flags: number;
}

type Matches = [number, number][];

const PAGE_SIZE = 65536;
const PROGRAM_CAPACITY = 4 << 20;
/** Bytes that all expressions share (core/regex/memo.ts), and do not compile without. */
export const LOCATIONS_SIZE = 1 << 18;
/** Texts lie between bytes that would change results if they were read. */
const MARGIN = 64;
const ASCII = 0;
const ANY_TEXT = 3;

/** The engine; one expression at a time. */
export class Engine {
  readonly core: CoreInstance<RegexExports>;
  private readonly arenaEnd: number;
  private readonly textPtr: number;
  regex = 0;
  /** Of the last program: 0, or why it was refused. */
  status = 0;

  private constructor(core: CoreInstance<RegexExports>, textCapacity: number) {
    this.core = core;
    this.arenaEnd = core.bytes.length - textCapacity - 2 * MARGIN;
    this.textPtr = this.arenaEnd + MARGIN;
  }

  static async make(build: Build, textCapacity = 1 << 20, pages = 512): Promise<Engine> {
    const all = pages + Math.ceil(textCapacity / PAGE_SIZE);
    const core = await instantiateCore<RegexExports>('test/core/assembly/regex.ts', build, all);
    return new Engine(core, textCapacity);
  }

  /**
   * Compiles a program; false if it was refused, and why is in `status`. `caches`: bytes for the forward and the
   * reverse DFA. `arenaSize`: bytes of the arena. What all expressions share takes LOCATIONS_SIZE of it, and a
   * sixteenth of the rest is scratch memory for bad bytes.
   */
  compile(program: Uint8Array, caches?: readonly [number, number], arenaSize?: number): boolean {
    const { exports, bytes, base } = this.core;
    bytes.set(program, base);
    const arenaStart = base + PROGRAM_CAPACITY;
    const arenaEnd = arenaSize === undefined ? this.arenaEnd : arenaStart + arenaSize;
    this.regex = 0;
    this.status = exports.beginRegexes(arenaStart, arenaEnd);
    if (this.status !== 0) return false;
    this.regex =
      caches === undefined
        ? exports.compileRegex(base, program.length)
        : exports.compileRegexWithin(base, program.length, caches[0], caches[1]);
    this.status = exports.regexStatus();
    return this.regex !== 0;
  }

  /** Puts a text `shift` bytes after an aligned address, and makes it the current one. */
  setText(text: Uint8Array, shift = 0, around = 0x61): void {
    this.useText(this.locationText(text, shift, around));
  }

  /** Puts a text where it stays until another one is put there; the room must suffice. */
  locationText(text: Uint8Array, shift = 0, around = 0x61): TextLocation {
    const { bytes } = this.core;
    const start = this.textPtr + shift;
    bytes.fill(around, start - MARGIN, start);
    bytes.set(text, start);
    bytes.fill(around, start + text.length, start + text.length + MARGIN);
    const flags = text.every((byte) => byte < 0x80) ? ASCII : ANY_TEXT;
    return { start, size: text.length, flags };
  }

  useText({ start, size, flags }: TextLocation): void {
    const { exports } = this.core;
    exports.forgetRegexTexts();
    exports.beginRegexText(this.regex, start, start + size, flags);
    this.textStart = start;
    this.textSize = size;
    this.flags = flags;
  }
  private textStart = 0;
  private textSize = 0;
  private flags = 0;

  find(from = 0, until = this.textSize): Matches {
    const { exports } = this.core;
    const matches: Matches = [];
    let ptr = this.textStart + from;
    while (exports.findRegex(this.regex, ptr, this.textStart + until) !== 0) {
      matches.push([exports.foundStart() - this.textStart, exports.foundEnd() - this.textStart]);
      if (exports.foundEnd() <= ptr) throw new Error('no progress');
      ptr = exports.foundEnd();
    }
    return matches;
  }

  count(from = 0, until = this.textSize): number {
    return this.core.exports.countRegex(this.regex, this.textStart + from, this.textStart + until);
  }

  simulate(from = 0, until = this.textSize): Matches {
    const { exports } = this.core;
    const matches: Matches = [];
    const end = this.textStart + this.textSize;
    let ptr = this.textStart + from;
    while (
      exports.simulateRegex(this.regex, this.textStart, end, ptr, this.textStart + until) !== 0
    ) {
      const matchEnd = exports.simulatedMatchEnd();
      matches.push([exports.simulatedMatchStart() - this.textStart, matchEnd - this.textStart]);
      ptr = matchEnd;
    }
    return matches;
  }

  /** Whether the expression matches the text, which has to be set again after this. */
  test(): boolean {
    const end = this.textStart + this.textSize;
    return this.core.exports.testRegex(this.regex, this.textStart, end, this.flags) !== 0;
  }

  get clearCount(): number {
    return this.core.exports.regexClearCount(this.regex);
  }

  get simulationCount(): number {
    return this.core.exports.regexSimulationCount(this.regex);
  }
}
