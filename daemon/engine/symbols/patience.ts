// Limits a process's time for one content, in processor time, so that load on the machine fails no file. Where processor time
// cannot be read, and for a process that hangs idle, wall time counts.

import { readFileSync } from 'node:fs';

/** Why: a process that was stopped, or waits for what never comes, uses no processor time. */
const CLOCK_FACTOR = 30;
/** Source: proc(5), times of processes: USER_HZ, 100 on all Linux systems of today. */
const MS_PER_TICK = 10;
const RECHECK_MS_MIN = 50;

/** Milliseconds of processor time that a process has used; undefined: not known here. */
function processorMs(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The name of the program, in parentheses, may hold anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return (Number(fields[11]) + Number(fields[12])) * MS_PER_TICK;
  } catch {
    return undefined;
  }
}

/** A process, perhaps one that is still being started. */
interface Started {
  readonly pid?: number | undefined;
}

/**
 * Calls back once when the process has used `limitMs` of processor time from now on, or 30 times as long has passed.
 *
 * @returns  ends the watch
 */
export function watchTime(started: Started, limitMs: number, onOver: () => void): () => void {
  const now = (): number | undefined =>
    started.pid === undefined ? undefined : processorMs(started.pid);
  const startMs = performance.now();
  const usedBefore = now() ?? 0;
  let timer = setTimeout(look, limitMs);
  return () => clearTimeout(timer);

  function look(): void {
    const used = (now() ?? Infinity) - usedBefore;
    if (used >= limitMs || performance.now() - startMs >= limitMs * CLOCK_FACTOR) onOver();
    else timer = setTimeout(look, Math.max(limitMs - used, RECHECK_MS_MIN));
  }
}
