// One process at a time installs or builds in a checkout: two that write the same files leave a build that does not run, such as
// when an editor starts `trawl mcp` twice after an update. The lock is a file that names its process; who finds one that has
// ended takes it over.

import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const WAIT_MS = 100;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

/** Runs `work` alone among all processes of this checkout; waits for others before, and says so. */
export function alone(root, work) {
  const lock = path.join(root, 'build', 'lock');
  mkdirSync(path.dirname(lock), { recursive: true });
  take(lock);
  const leave = () => rmSync(lock, { force: true });
  // Why also there: a build that fails ends the process.
  process.once('exit', leave);
  try {
    return work();
  } finally {
    process.off('exit', leave);
    leave();
  }
}

function take(lock) {
  for (let isTold = false; ;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    const holder = holderOf(lock);
    if (holder !== undefined && !isAlive(holder)) takeAway(lock, holder);
    else if (!isTold) {
      console.error(`Waiting for another build in this checkout (process ${holder ?? '?'}) ...`);
      isTold = true;
    }
    Atomics.wait(sleeper, 0, 0, WAIT_MS);
  }
}

/** Undefined: it has just been left, or its name is not written yet. */
function holderOf(lock) {
  try {
    return Number(readFileSync(lock, 'utf8')) || undefined;
  } catch {
    return undefined;
  }
}

function isAlive(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
}

/** Of several that find a process gone one takes its lock away; another's, taken meanwhile, is put back. */
function takeAway(lock, holder) {
  const aside = `${lock}.${process.pid}`;
  try {
    renameSync(lock, aside);
    if (holderOf(aside) === holder) rmSync(aside);
    else renameSync(aside, lock);
  } catch {
    // Another one was faster.
  }
}
