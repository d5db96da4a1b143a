// Starts the child of this folder and reads its output.

import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

export interface Child {
  readonly process: ChildProcess;
  readonly lines: readonly string[];
  /** The first line from `start` on that begins with this. */
  line(matchStart: string, start?: number): Promise<string>;
  /** Ends it if need be; done when it is gone and all its lines are there. */
  end(signal?: NodeJS.Signals): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL('child.js', import.meta.url));

/** @param before  program and arguments that run node */
export function startChild(args: readonly string[], before: readonly string[] = []): Child {
  const [program = '', ...rest] = [...before, process.execPath, PROGRAM, ...args];
  const child = spawn(program, rest, { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const wake = (): void => waiting.forEach((check) => check());
  const reader = createInterface(child.stdout);
  reader.on('line', (line) => {
    lines.push(line);
    wake();
  });
  let isClosed = false;
  const closed = once(reader, 'close');
  reader.on('close', () => {
    isClosed = true;
    wake();
  });
  // It may be gone before its input is written.
  child.stdin.on('error', () => {});
  return {
    process: child,
    lines,
    line: (matchStart, start = 0) =>
      new Promise((resolve, reject) => {
        const check = (): void => {
          const found = lines.slice(start).find((line) => line.startsWith(matchStart));
          if (found === undefined && !isClosed) return;
          waiting.delete(check);
          if (found !== undefined) resolve(found);
          else
            reject(
              new assert.AssertionError({ message: `no line ${matchStart}: ${lines.at(-1)}` }),
            );
        };
        waiting.add(check);
        check();
      }),
    end: async (signal) => {
      if (signal === undefined) child.stdin.end();
      else child.kill(signal);
      await closed;
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}
