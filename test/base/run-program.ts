// Runs a program to its end, as `spawnSync` does. Why not that: it forks, which copies the memory map of a test that has
// indexes and threads open. That is 16 ms of processor for each command of git, where posix_spawn takes 2.

import { spawnSync } from 'node:child_process';
import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import path from 'node:path';
import {
  findSpawnLibrary,
  RECORD_SIZE,
  SET_SIGNAL_DEFAULTS,
  SIGNAL_SET_SIZE,
  type SpawnLibrary,
} from '../../daemon/base/spawn.ts';

export interface Ran {
  /** Null: ended by a signal. */
  readonly status: number | null;
  readonly stdout: Buffer;
  readonly stderr: Buffer;
}

export interface RunOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What standard input holds; default: nothing. */
  readonly input?: string | Uint8Array;
}

/** A file without a name. Why not a pipe: it takes 64 KiB, and nobody reads or writes while the program runs. */
function openFile(flags: 'a+' | 'r', content: string | Uint8Array): number {
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-run-'));
  const name = path.join(folder, 'file');
  writeFileSync(name, content);
  const file = openSync(name, flags);
  rmSync(folder, { recursive: true });
  return file;
}

/** What was written since the last call. */
function takeOutput(file: number): Buffer {
  const content = Buffer.alloc(fstatSync(file).size);
  for (let at = 0; at < content.length;) at += readSync(file, content, at, content.length - at, at);
  ftruncateSync(file, 0);
  return content;
}

interface Prepared {
  readonly libc: SpawnLibrary;
  readonly noInput: number;
  readonly output: number;
  readonly errors: number;
}

let prepared: Prepared | undefined;
let isProbed = false;

function prepare(): Prepared | undefined {
  if (isProbed) return prepared;
  isProbed = true;
  const libc = findSpawnLibrary();
  if (libc === undefined) return undefined;
  const [output, errors] = [openFile('a+', ''), openFile('a+', '')];
  prepared = { libc, noInput: openSync(devNull, 'r'), output, errors };
  return prepared;
}

/** Errors: the program cannot be started. */
export function runProgram(file: string, args: readonly string[], options: RunOptions): Ran {
  const found = prepare();
  if (found === undefined) return spawnSync(file, args, { ...options, maxBuffer: 1 << 28 });
  const { libc, noInput, output, errors } = found;
  const input = options.input === undefined ? noInput : openFile('r', options.input);
  try {
    const status = spawnAndWait(libc, [input, output, errors], [file, ...args], options);
    return {
      status: (status & 0x7f) === 0 ? (status >> 8) & 0xff : null,
      stdout: takeOutput(output),
      stderr: takeOutput(errors),
    };
  } finally {
    if (input !== noInput) closeSync(input);
  }
}

/** Returns the status of waitpid. */
function spawnAndWait(
  libc: SpawnLibrary,
  files: readonly number[],
  command: readonly [file: string, ...args: string[]],
  { cwd, env }: RunOptions,
): number {
  const [actions, attributes] = [new Uint8Array(RECORD_SIZE), new Uint8Array(RECORD_SIZE)];
  libc.actionsInit(actions);
  libc.attributesInit(attributes);
  for (const [target, source] of files.entries()) libc.actionsDup(actions, source, target);
  libc.actionsFolder(actions, cwd);
  // Why: Node.js ignores SIGPIPE, which programs would inherit.
  libc.attributesDefaults(attributes, new Uint8Array(SIGNAL_SET_SIZE).fill(0xff));
  libc.attributesFlags(attributes, SET_SIGNAL_DEFAULTS);
  const variables = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  const [pid, status] = [[0], [0]];
  const [file] = command;
  const [args, environment] = [
    [...command, null],
    [...variables, null],
  ];
  const code = libc.posix_spawnp(pid, file, actions, attributes, args, environment);
  libc.actionsEnd(actions);
  libc.attributesEnd(attributes);
  if (code !== 0) throw new Error(`${file} could not be started (error ${code})`);
  if (libc.waitpid(pid[0]!, status, 0) !== pid[0]) throw new Error(`${file} could not be awaited`);
  return status[0] ?? 0;
}
