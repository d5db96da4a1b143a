// Finds processes by their parents, from Linux.

import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

interface Process {
  readonly pid: number;
  readonly parentPid: number;
  readonly command: string;
}

function processes(): Process[] {
  return readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'latin1');
      const [state, parentPid] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
      if (state === 'Z') return [];
      const command = readFileSync(`/proc/${name}/cmdline`, 'latin1');
      return [{ pid: Number(name), parentPid: Number(parentPid), command }];
    } catch {
      // It has ended.
      return [];
    }
  });
}

/** Children of a process whose command line holds a word. */
export function childrenOf(parentPid: number, word: string): number[] {
  return processes()
    .filter((child) => child.parentPid === parentPid && child.command.includes(word))
    .map(({ pid }) => pid);
}

/** Waits until something is there; for ever, so that the time limit of the test decides. */
export async function until<T>(find: () => T | undefined): Promise<T> {
  for (;;) {
    const found = find();
    if (found !== undefined) return found;
    await sleep(20);
  }
}

export async function untilGone(pids: readonly number[]): Promise<void> {
  await until(() => {
    const alive = new Set(processes().map(({ pid }) => pid));
    return pids.some((pid) => alive.has(pid)) ? undefined : true;
  });
}
