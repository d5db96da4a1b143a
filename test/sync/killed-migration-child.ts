// Opens an index of any version, updates it, and ends. Arguments: data directory, the number of the file or store
// change at which it kills itself (0: never), repositories. Prints `ready` before, and `done COUNT` at the end, with
// the number of such changes.

import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import Libsql from 'libsql';
import { openIndexOf } from './index-of.ts';
import { NEVER } from '../index/merge-limits.ts';

const [dataDir = '', killAt = '0', ...repos] = process.argv.slice(2);
let changeCount = 0;

/** Lets each call count as a change, and kills this process before that of `killAt`. */
function count(owner: object, names: readonly string[]): void {
  const calls = owner as Record<string, (...args: unknown[]) => unknown>;
  for (const name of names) {
    const call = calls[name]!;
    calls[name] = function counted(this: unknown, ...args) {
      if (++changeCount === Number(killAt)) process.kill(process.pid, 'SIGKILL');
      return call.apply(this, args);
    };
  }
}

count(fs, ['writeFileSync', 'writeSync', 'renameSync', 'rmSync', 'mkdirSync', 'linkSync']);
count(fs.promises, ['writeFile', 'rename', 'rm', 'mkdir', 'link', 'unlink', 'copyFile']);
count(Libsql.prototype, ['exec', 'prepare']);
syncBuiltinESMExports();

process.stdout.write('ready\n');
await using index = await openIndexOf(dataDir, { mergeLimits: NEVER });
await index.index(repos, undefined, 'commits');
process.stdout.write(`done ${changeCount}\n`);
await index.close();
