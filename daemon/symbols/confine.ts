// How engines are started as processes: with limits, an environment of their own, and an end that comes with the
// end of the thread that started them.

import { execFile, spawnSync } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';

/** What concerns a parser of the daemon's environment: nothing. */
export const ENGINE_ENVIRONMENT = { LC_ALL: 'C', PATH: '/usr/local/bin:/usr/bin:/bin' };

/**
 * The files that a search path gives for these names, in its order, then those of the usual folders. Folders that are
 * not absolute do not count, nor does the current one: what lies there may be somebody else's.
 */
export function findPrograms(
  names: readonly string[],
  searchPath = process.env['PATH'] ?? '',
): string[] {
  const folders = [...searchPath.split(':'), ...ENGINE_ENVIRONMENT.PATH.split(':')]
    .filter((folder) => path.isAbsolute(folder) && path.resolve(folder) !== process.cwd())
    .map((folder) => path.resolve(folder));
  const places = [...new Set(folders)].flatMap((folder) =>
    names.map((name) => path.join(folder, name)),
  );
  return places.filter(isProgram);
}

function isProgram(place: string): boolean {
  try {
    accessSync(place, constants.X_OK);
    return statSync(place).isFile();
  } catch {
    return false;
  }
}

export interface Confinement {
  /** Bytes of address space; undefined: no limit. */
  readonly memoryMax?: number;
  /** Seconds of processor time. Why: a process whose parent was killed while it loops would run for ever. */
  readonly cpuSecondsMax: number;
}

const SOON = { env: ENGINE_ENVIRONMENT, timeout: 10_000 };

/** Output of a program that ends with code 0 at once; undefined for any other. */
export async function outputOf(
  command: string,
  args: readonly string[],
): Promise<string | undefined> {
  try {
    return (await promisify(execFile)(command, args, SOON)).stdout;
  } catch {
    return undefined;
  }
}

let canDie: boolean | undefined;

/** Whether `setpriv` can make a process die with its parent. */
function canDieWithParent(): boolean {
  const args = ['--pdeathsig', 'KILL', 'true'];
  canDie ??= spawnSync('setpriv', args, { ...SOON, stdio: 'ignore' }).status === 0;
  return canDie;
}

/**
 * The program and arguments that run a command so, behind searches where processors are short; the command itself on Windows, which has none of this.
 *
 * Cost: the first call starts a process.
 */
export function confined(
  command: readonly string[],
  { memoryMax, cpuSecondsMax }: Confinement,
): readonly [program: string, ...args: string[]] {
  if (process.platform === 'win32') {
    const [program = '', ...args] = command;
    return [program, ...args];
  }
  const memory = memoryMax === undefined ? 'unlimited' : String(Math.ceil(memoryMax / 1024));
  const script =
    'ulimit -v "$1" && ulimit -t "$2" && ulimit -c 0 && shift 2 && exec nice -n 5 "$@"';
  const guard = canDieWithParent() ? ['setpriv', '--pdeathsig', 'KILL'] : [];
  return ['/bin/sh', '-c', script, 'sh', memory, String(cpuSecondsMax), ...guard, ...command];
}
