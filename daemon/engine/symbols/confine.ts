// Starts symbol engines as processes with limits and their own environment; they end with the thread that started them.

import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { type Child, killChild, startProgram } from '../../base/spawn.ts';

/** Parsers get nothing of the daemon's environment. */
export const ENGINE_ENVIRONMENT = { LC_ALL: 'C', PATH: '/usr/local/bin:/usr/bin:/bin' };

/**
 * The files with these names on a search path, then in the usual folders. Relative folders and the current one are ignored:
 * their files may be untrusted.
 */
export function findPrograms(
  names: readonly string[],
  searchPath = process.env['PATH'] ?? '',
): string[] {
  const folders = [...searchPath.split(':'), ...ENGINE_ENVIRONMENT.PATH.split(':')]
    .filter((folder) => path.isAbsolute(folder) && path.resolve(folder) !== process.cwd())
    .map((folder) => path.resolve(folder));
  const locations = [...new Set(folders)].flatMap((folder) =>
    names.map((name) => path.join(folder, name)),
  );
  return locations.filter(isProgram);
}

function isProgram(location: string): boolean {
  try {
    accessSync(location, constants.X_OK);
    return statSync(location).isFile();
  } catch {
    return false;
  }
}

export interface Confinement {
  /** Bytes of address space; undefined: no limit. */
  readonly memoryMax?: number;
  /** Seconds of processor time. Why: a looping process whose parent was killed would run forever. */
  readonly cpuSecondsMax: number;
}

/** Output of a program that exits with code 0 within 10 s; undefined for any other. */
export function outputOf(command: string, args: readonly string[]): Promise<string | undefined> {
  const child = startProgram(command, args, { env: ENGINE_ENVIRONMENT });
  const timer = setTimeout(() => killChild(child), 10_000);
  let output = '';
  child.stdin.on('error', () => undefined).end();
  child.stderr.resume();
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text));
  return new Promise<string | undefined>((resolve) => {
    child.once('error', () => resolve(undefined));
    child.once('close', (code: number | null) => resolve(code === 0 ? output : undefined));
  }).finally(() => clearTimeout(timer));
}

/**
 * Becomes the command: $1 KiB of address space, $2 seconds; dies with its parent where a suitable `setpriv` exists. Why in the
 * shell: checking from the daemon would cost another process.
 */
const SCRIPT = `ulimit -v "$1" && ulimit -t "$2" && ulimit -c 0 && shift 2 || exit 1
if setpriv --pdeathsig KILL true 2>/dev/null; then exec nice -n 5 setpriv --pdeathsig KILL "$@"; fi
exec nice -n 5 "$@"`;

/** Runs a command confined and at lower priority than searches. */
function confined(
  command: readonly string[],
  { memoryMax, cpuSecondsMax }: Confinement,
): readonly [program: string, ...args: string[]] {
  const memory = memoryMax === undefined ? 'unlimited' : String(Math.ceil(memoryMax / 1024));
  return ['/bin/sh', '-c', SCRIPT, 'sh', memory, String(cpuSecondsMax), ...command];
}

const liveChildren = new Set<Child>();
process.once('exit', () => {
  for (const child of liveChildren) killChild(child);
});

/** Starts a confined command; its standard error is dropped. */
export function startEngine(
  command: readonly string[],
  confinement: Confinement,
): { child: Child; ended: Promise<string> } {
  const [program, ...args] = confined(command, confinement);
  const child = startProgram(program, args, { env: ENGINE_ENVIRONMENT, cwd: '/' });
  liveChildren.add(child);
  child.stdin.on('error', () => undefined);
  child.stderr.resume();
  const ended = new Promise<string>((resolve) => {
    child.once('error', ({ message }: Error) => resolve(message));
    child.once('close', (code: number | null) =>
      resolve(code === null ? 'ended by a signal' : `ended by exit code ${code}`),
    );
  });
  return { child, ended: ended.finally(() => liveChildren.delete(child)) };
}

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

/**
 * Calls back once when the process has used `limitMs` of processor time from now on, so that load fails no file, or after 30
 * times as much wall time. Returns the function that stops watching.
 */
export function watchTime(
  child: Pick<Child, 'pid'>,
  limitMs: number,
  onOver: () => void,
): () => void {
  // A process gets its pid when it has started.
  const now = (): number | undefined => (child.pid === undefined ? 0 : processorMs(child.pid));
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
