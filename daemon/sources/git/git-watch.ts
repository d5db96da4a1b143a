// Detects a git that hangs: a pipe among the ignore files of a work tree, a file system that does not answer. Output,
// processor time and waiting for a disk count as progress.

import { readFileSync } from 'node:fs';

/** Bound: two checks a second of each git, also where gitTimeoutMs is below a second. */
const STALL_MS_MIN = 2_000;
const CHECKS = 4;
/** Checks without progress if only the output of the process is known. */
const BLIND_CHECKS = 10 * CHECKS;

/** Why not an argument: each git process of the daemon is watched, wherever it is started. */
let timeoutMsNow = (): number => 30_000;

/** Ends each git without progress for twice this time, in ms, read at its start. */
export function boundGit(timeoutMs: () => number): void {
  timeoutMsNow = timeoutMs;
}

export interface Watched {
  /** Undefined: not started yet. */
  readonly pid: number | undefined;
  /** Bytes written so far. */
  readonly outputSize: number;
}

/** Calls `onStall` after a long time without progress. Does not keep the event loop alive. @returns  ends the watch */
export function watchProgress(sample: () => Watched, onStall: () => void): () => void {
  const stallMs = Math.max(STALL_MS_MIN, 2 * timeoutMsNow());
  let before: string | undefined;
  let idleCount = 0;
  const timer = setInterval(() => {
    const { pid, outputSize } = sample();
    const work = pid === undefined ? undefined : workOf(pid);
    const now = `${outputSize} ${work}`;
    const isIdle = now === before && work !== BUSY;
    before = now;
    idleCount = isIdle ? idleCount + 1 : 0;
    if (idleCount >= (work === undefined ? BLIND_CHECKS : CHECKS)) onStall();
  }, stallMs / CHECKS).unref();
  return () => clearInterval(timer);
}

const BUSY = 'busy';

/** Depth of git's helpers: `fetch`, `remote-http`, `fetch-pack`, `index-pack`. */
const HELPER_DEPTH_MAX = 6;

/**
 * Processor time of a process and its children; also changes while one of them is runnable. Undefined: this system does not
 * tell.
 */
function workOf(pid: number, depth = 0): string | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // Source: proc(5): the state follows the name in parentheses, utime and stime are the 14th and 15th field.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    if (fields[0] === 'R' || fields[0] === 'D') return BUSY;
    const helpers = depth === HELPER_DEPTH_MAX ? [] : helpersOf(pid);
    const works = helpers.map((helper) => workOf(helper, depth + 1));
    return works.includes(BUSY) ? BUSY : [`${fields[11]} ${fields[12]}`, ...works].join(' ');
  } catch {
    return undefined;
  }
}

/** Empty if the system does not tell. */
function helpersOf(pid: number): number[] {
  try {
    const text = readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1');
    return text.split(' ').filter(Boolean).map(Number);
  } catch {
    return [];
  }
}
