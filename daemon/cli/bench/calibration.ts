// How fast this machine is at the moment: a fixed loop of the processor, and a copy of memory. Virtual machines change
// speed within minutes, and two runs one after the other are only as comparable as these times.

import type { Calibration } from './record.ts';

const ROUNDS = 5;
/** Unit: steps; about 4 ms. */
const LOOP_COUNT = 2_000_000;
/** Larger than the caches of a core; about 4 ms. */
const COPY_SIZE = 16 * 2 ** 20;

let buffers: readonly [Buffer, Buffer] | undefined;

function loop(): number {
  let state = 1;
  for (let i = 0; i < LOOP_COUNT; i++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
  }
  return state;
}

function timed(work: () => unknown): number {
  const startMs = performance.now();
  work();
  return performance.now() - startMs;
}

/** Takes about 50 ms of this thread. */
export function calibrate(): Calibration {
  if (buffers === undefined) {
    buffers = [Buffer.alloc(COPY_SIZE, 1), Buffer.alloc(COPY_SIZE, 2)];
    // Until V8 has compiled it.
    for (let i = 0; i < 3; i++) loop();
  }
  const [from, to] = buffers;
  const rounds = Array.from({ length: ROUNDS }, () => ({
    processorMs: timed(loop),
    memoryMs: timed(() => from.copy(to)),
  }));
  return {
    processorMs: rounds.map(({ processorMs }) => processorMs),
    memoryMs: rounds.map(({ memoryMs }) => memoryMs),
  };
}

export function joinCalibrations(all: readonly Calibration[]): Calibration {
  return {
    processorMs: all.flatMap(({ processorMs }) => processorMs),
    memoryMs: all.flatMap(({ memoryMs }) => memoryMs),
  };
}

export interface Calibrated<Result> {
  readonly result: Result;
  readonly calibration: Calibration;
}

/** Calibrates just before and just after `measure`. */
export async function calibrated<Result>(
  measure: () => Promise<Result>,
): Promise<Calibrated<Result>> {
  const before = calibrate();
  const result = await measure();
  return { result, calibration: joinCalibrations([before, calibrate()]) };
}
