// Limits a process's processor time for one content, so that load fails no file. Where that is unknown, and for a process that
// hangs idle, wall time counts.

import { readFileSync } from 'node:fs';

/** Milliseconds of processor time used by a process; undefined: unknown here. */
function processorMs(pid: number): number | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The program's name, in parentheses, may contain anything.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    // Source: proc(5): in USER_HZ, 100 on all current Linux systems.
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}

interface Started {
  readonly pid?: number | undefined;
}

/**
 * Calls back once when the process has used `limitMs` of processor time from now on, or after 30 times as much wall
 * time. Returns the function that stops watching.
 */
export function watchTime(started: Started, limitMs: number, onOver: () => void): () => void {
  const now = (): number | undefined =>
    started.pid === undefined ? undefined : processorMs(started.pid);
  const startMs = performance.now();
  const usedBefore = now() ?? 0;
  let timer = setTimeout(check, limitMs);
  return () => clearTimeout(timer);

  function check(): void {
    const used = (now() ?? Infinity) - usedBefore;
    if (used >= limitMs || performance.now() - startMs >= limitMs * 30) onOver();
    else timer = setTimeout(check, Math.max(limitMs - used, 50));
  }
}
