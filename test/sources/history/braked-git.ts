// A git placed before the real one in PATH: it records the process id of each blame, and pauses it while the brake is
// on.

import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { temporaryFolder, writeFiles } from '../git/fixture.ts';

export interface BrakedGit {
  /** Value of PATH that has it first. */
  readonly path: string;
  readonly real: string;
  brake(): void;
  release(): void;
  /** Processes that blamed since the last call. */
  blamers(): number[];
  /** The first of them, once there is one. */
  blamerStarted(): Promise<number>;
}

export function makeBrakedGit(): BrakedGit {
  const tools = temporaryFolder();
  const notes = path.join(tools, 'notes');
  const brake = path.join(tools, 'brake');
  const real = spawnSync('sh', ['-c', 'command -v git']).stdout.toString().trim();
  writeFiles(tools, {
    git: `#!/bin/sh
case " $* " in
  *" blame "*)
    echo "$$" >> ${notes}
    while [ -e ${brake} ]; do sleep 0.02; done
esac
exec ${real} "$@"
`,
  });
  chmodSync(path.join(tools, 'git'), 0o755);
  let readCount = 0;
  // Why not removed once read: what a blame noted in between would be lost.
  const read = (): number[] => {
    const text = existsSync(notes) ? readFileSync(notes, 'utf8') : '';
    return text.split('\n').filter(Boolean).map(Number).slice(readCount);
  };
  return {
    path: `${tools}:${process.env['PATH'] ?? ''}`,
    real,
    brake: () => writeFileSync(brake, ''),
    release: () => rmSync(brake, { force: true }),
    blamers() {
      const found = read();
      readCount += found.length;
      return found;
    },
    async blamerStarted() {
      while (read().length === 0) await sleep(5);
      return read()[0] ?? 0;
    },
  };
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    // Why: a killed process stays until its parent has asked for its end.
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

/** Resolves when the process has ended. */
export async function goneSoon(pid: number): Promise<void> {
  while (isRunning(pid)) await sleep(5);
}
