// Ends gits that a killed daemon left running: such a git continues until it writes output, and could write into a mirror
// together with a new one. Each git that changes a mirror is marked on its command line, so that the next daemon finds it.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** A setting that git ignores and does not pass on. */
export function markOf(folder: string): string {
  return `trawl.mirror=${folder}`;
}

/** Folders without leftover processes: the data directory has one daemon at a time, this one. */
const clean = new Set<string>();

/** Ends the gits of earlier daemons, once per folder of mirrors. Does nothing outside Linux. */
export async function endOrphans(parent: string): Promise<void> {
  if (clean.has(parent)) return;
  clean.add(parent);
  const orphans = orphansOf(parent);
  for (const pid of orphans) endGroup(pid);
  // Five seconds at most.
  for (let i = 0; i < 250 && orphans.some(isRunning); i++) await sleep(20);
}

function orphansOf(parent: string): number[] {
  const mark = markOf(parent + path.sep);
  return processIds().filter((pid) => {
    const isMarked = readOf(pid, 'cmdline')
      .split('\0')
      .some((word) => word.startsWith(mark));
    return isMarked && fieldsOf(pid)[1] !== String(process.pid);
  });
}

function processIds(): number[] {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** "" once it has ended. */
function readOf(pid: number, name: 'cmdline' | 'stat'): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'utf8');
  } catch {
    return '';
  }
}

/** State and parent are the first two. Source: proc(5). */
function fieldsOf(pid: number): string[] {
  const text = readOf(pid, 'stat');
  return text.slice(text.lastIndexOf(')') + 2).split(' ');
}

function isRunning(pid: number): boolean {
  const [state = ''] = fieldsOf(pid);
  return state !== '' && state !== 'Z';
}

/** It leads its own session (`base/spawn.ts`): its helpers end with it. */
function endGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // It has ended, or leads no group, or belongs to another account.
  }
}
