// Starts programs by posix_spawn, which shares the daemon's memory until the program runs; Node.js forks, which copies the
// memory map and blocks the event loop (daemon/DECISIONS.md). The call waits for a free core, so the main thread makes it in
// another one. Without the necessary C functions a child is a ChildProcess.

import { ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { writeSync } from 'node:fs';
import { Socket } from 'node:net';
import type { Readable, Writable } from 'node:stream';
import { isMainThread } from 'node:worker_threads';
import { loadLibc } from './libc.ts';

export interface SpawnOptions {
  /** Absolute path; default: the daemon's. */
  readonly cwd?: string | undefined;
  readonly env: Readonly<Record<string, string>>;
  /**
   * Readable once from file 3 by the program and its children: for values that must not be in arguments or variables.
   * Bound: `SECRET_SIZE_MAX`.
   */
  readonly secret?: string | undefined;
}

/** Unit: bytes. A pipe takes this much without a reader. */
export const SECRET_SIZE_MAX = 4096;

/** A running program with three pipes. Emits `error` if it could not be started, else `close` at its end. */
export type Child = ChildProcessByStdio<Writable, Readable, Readable> | SpawnedChild;

/** Runs `file`, found in PATH, in its own session. */
export function startProgram(file: string, args: readonly string[], options: SpawnOptions): Child {
  const { secret, cwd, env } = options;
  if (secret !== undefined && Buffer.byteLength(secret) > SECRET_SIZE_MAX)
    throw new RangeError(`secret of more than ${SECRET_SIZE_MAX} bytes`);
  const library = findSpawnLibrary();
  if (library !== undefined) return new SpawnedChild(library, file, args, options);
  const common = { cwd, env, detached: true, windowsHide: true };
  if (secret === undefined)
    return spawn(file, [...args], { ...common, stdio: ['pipe', 'pipe', 'pipe'] });
  const child = spawn(file, [...args], { ...common, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] });
  const [, , , pipe] = child.stdio;
  if (pipe instanceof Socket) pipe.on('error', () => {}).end(secret);
  return child;
}

/** Whether the program and its pipes keep the event loop alive; default: yes. */
export function setChildRef(child: Child, isRef: boolean): void {
  for (const part of [child, child.stdin, child.stdout, child.stderr]) {
    // Pipes of a child are sockets, although their declared types do not say so.
    if (!(part instanceof ChildProcess || part instanceof Socket || part instanceof SpawnedChild))
      continue;
    if (isRef) part.ref();
    else part.unref();
  }
}

type SpawnArguments = [
  pid: number[],
  file: string,
  actions: Uint8Array,
  attributes: Uint8Array,
  args: readonly (string | null)[],
  env: readonly (string | null)[],
];

export interface SpawnLibrary {
  readonly posix_spawnp: {
    (...args: SpawnArguments): number;
    /** In another thread; all arguments must live until the callback. */
    async(...args: [...SpawnArguments, onEnd: (error: unknown, code?: number) => void]): void;
  };
  readonly waitpid: (pid: number, status: number[], options: number) => number;
  readonly pipe2: (files: Int32Array, flags: number) => number;
  /** Why not that of Node.js: it warns in threads about files they did not open through it. */
  readonly close: (file: number) => number;
  readonly actionsInit: (actions: Uint8Array) => number;
  readonly actionsDup: (actions: Uint8Array, from: number, to: number) => number;
  readonly actionsFolder: (actions: Uint8Array, folder: string) => number;
  readonly actionsEnd: (actions: Uint8Array) => number;
  readonly attributesInit: (attributes: Uint8Array) => number;
  readonly attributesFlags: (attributes: Uint8Array, flags: number) => number;
  readonly attributesDefaults: (attributes: Uint8Array, signals: Uint8Array) => number;
  readonly attributesMask: (attributes: Uint8Array, signals: Uint8Array) => number;
  readonly attributesEnd: (attributes: Uint8Array) => number;
}

let library: SpawnLibrary | undefined;
let isProbed = false;

/** The functions of the C library; undefined if any is missing. */
export function findSpawnLibrary(): SpawnLibrary | undefined {
  if (isProbed) return library;
  isProbed = true;
  if (process.platform !== 'linux') return undefined;
  try {
    const { functions } = loadLibc();
    const part = (name: string, parameters: string): unknown =>
      functions.func(`int ${name}(${parameters})`);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: as declared by spawn.h, wait.h and unistd.h
    library = {
      posix_spawnp: part(
        'posix_spawnp',
        '_Out_ int *pid, const char *file, void *actions, void *attributes, const char **args, const char **env',
      ),
      waitpid: part('waitpid', 'int pid, _Out_ int *status, int options'),
      pipe2: part('pipe2', 'void *files, int flags'),
      close: part('close', 'int file'),
      actionsInit: part('posix_spawn_file_actions_init', 'void *actions'),
      actionsDup: part('posix_spawn_file_actions_adddup2', 'void *actions, int from, int to'),
      actionsFolder: part(
        'posix_spawn_file_actions_addchdir_np',
        'void *actions, const char *folder',
      ),
      actionsEnd: part('posix_spawn_file_actions_destroy', 'void *actions'),
      attributesInit: part('posix_spawnattr_init', 'void *attributes'),
      attributesFlags: part('posix_spawnattr_setflags', 'void *attributes, short flags'),
      attributesDefaults: part('posix_spawnattr_setsigdefault', 'void *attributes, void *signals'),
      attributesMask: part('posix_spawnattr_setsigmask', 'void *attributes, void *signals'),
      attributesEnd: part('posix_spawnattr_destroy', 'void *attributes'),
    } as SpawnLibrary;
  } catch {
    library = undefined;
  }
  return library;
}

/** Bound: the records of glibc and musl have at most 336 bytes. */
export const RECORD_SIZE = 1024;
export const SIGNAL_SET_SIZE = 128;
export const SET_SIGNAL_DEFAULTS = 0x04;
const SET_SIGNAL_MASK = 0x08;
const SET_SESSION = 0x80;
const CLOSE_ON_EXEC = 0o2000000;
const NO_WAIT = 1;
/** Error numbers of a machine without resources for another program. */
const SHORTAGES: ReadonlyMap<number, string> = new Map([
  [11, 'EAGAIN'],
  [12, 'ENOMEM'],
]);
/** A program that has closed its output mostly ends in the same moment; otherwise it is polled. */
const END_PAUSE_MS_MIN = 1;
const END_PAUSE_MS_MAX = 100;

export class SpawnedChild extends EventEmitter {
  readonly stdin: Socket;
  readonly stdout: Socket;
  readonly stderr: Socket;
  readonly #library: SpawnLibrary;
  #pid: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isRef = true;
  #isUnwanted = false;
  #isOver = false;
  #openCount = 2;

  constructor(
    functions: SpawnLibrary,
    file: string,
    args: readonly string[],
    options: SpawnOptions,
  ) {
    super();
    this.#library = functions;
    const { secret } = options;
    const pipes = openPipes(functions, secret === undefined ? 3 : 4);
    const [input, output, errors, hidden] = pipes;
    this.stdin = new Socket({ fd: input.writeEnd, readable: false, writable: true });
    this.stdout = new Socket({ fd: output.readEnd, readable: true, writable: false });
    this.stderr = new Socket({ fd: errors.readEnd, readable: true, writable: false });
    for (const pipe of [this.stdout, this.stderr])
      pipe.on('error', () => {}).once('close', () => this.#onPipeEnd());
    const theirs = [input.readEnd, output.writeEnd, errors.writeEnd];
    if (hidden !== undefined && secret !== undefined) {
      writeSync(hidden.writeEnd, secret);
      functions.close(hidden.writeEnd);
      theirs.push(hidden.readEnd);
    }
    start(functions, file, args, options, theirs, ({ pid, code }) => {
      for (const end of theirs) functions.close(end);
      if (pid === undefined) this.#fail(notStarted(file, code));
      else this.#onStart(pid);
    });
  }

  /** Undefined: not started yet, or the start failed. */
  get pid(): number | undefined {
    return this.#pid;
  }

  /** Kills the program and its children once it runs. Does nothing after it has ended: its id may be reused. */
  killGroup(): void {
    this.#isUnwanted = true;
    if (this.#pid !== undefined && !this.#isOver) killGroupOf(this.#pid);
  }

  #onStart(pid: number): void {
    this.#pid = pid;
    if (this.#isUnwanted) killGroupOf(pid);
    if (this.#openCount === 0) this.#awaitEnd(END_PAUSE_MS_MIN);
  }

  #fail(error: Error): void {
    for (const pipe of [this.stdin, this.stdout, this.stderr]) pipe.destroy();
    process.nextTick(() => this.emit('error', error));
  }

  #onPipeEnd(): void {
    this.#openCount--;
    if (this.#openCount === 0) this.#awaitEnd(END_PAUSE_MS_MIN);
  }

  /** Polls the exit code while the program runs. */
  #awaitEnd(pauseMs: number): void {
    if (this.#pid === undefined) return;
    const status = [0];
    const found = this.#library.waitpid(this.#pid, status, NO_WAIT);
    if (found === 0) {
      const next = Math.min(2 * pauseMs, END_PAUSE_MS_MAX);
      this.#timer = setTimeout(() => this.#awaitEnd(next), pauseMs);
      if (!this.#isRef) this.#timer.unref();
      return;
    }
    this.#isOver = true;
    this.stdin.destroy();
    this.emit('close', found === this.#pid ? exitCodeOf(status[0]!) : null);
  }

  ref(): void {
    this.#isRef = true;
    this.#timer?.ref();
  }

  unref(): void {
    this.#isRef = false;
    this.#timer?.unref();
  }
}

/** @param code  of posix_spawn */
function notStarted(file: string, code: number): Error {
  const error = new Error(`${file} could not be started (error ${code})`);
  const name = SHORTAGES.get(code);
  return name === undefined ? error : Object.assign(error, { code: name });
}

/** Kills a child and all its children. */
export function killChild(child: Child): void {
  if (child instanceof SpawnedChild) child.killGroup();
  else if (child.pid !== undefined && child.exitCode === null && child.signalCode === null)
    killGroupOf(child.pid);
}

/** Kills a process and all its children. */
function killGroupOf(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    // They have ended.
  }
}

/** Exit code of a waitpid status; null: ended by a signal. */
function exitCodeOf(status: number): number | null {
  return (status & 0x7f) === 0 ? (status >> 8) & 0xff : null;
}

interface PipeEnds {
  readonly readEnd: number;
  readonly writeEnd: number;
}

/** Pipes that no other program inherits. Errors: no file descriptors left. */
function openPipes(
  functions: SpawnLibrary,
  count: 3 | 4,
): [PipeEnds, PipeEnds, PipeEnds, PipeEnds?] {
  const opened: PipeEnds[] = [];
  const openOne = (): PipeEnds => {
    const files = new Int32Array(2);
    if (functions.pipe2(files, CLOSE_ON_EXEC) !== 0) {
      for (const { readEnd, writeEnd } of opened)
        for (const end of [readEnd, writeEnd]) functions.close(end);
      throw Object.assign(new Error('no pipe could be opened'), { code: 'EMFILE' });
    }
    const ends = { readEnd: files[0]!, writeEnd: files[1]! };
    opened.push(ends);
    return ends;
  };
  const first: [PipeEnds, PipeEnds, PipeEnds] = [openOne(), openOne(), openOne()];
  return count === 3 ? first : [...first, openOne()];
}

interface Started {
  /** Undefined: the start failed. */
  readonly pid: number | undefined;
  readonly code: number;
}

/**
 * @param files    standard input, output and error of the program, and its file 3; may be closed in `onEnd`
 * @param onEnd    called at once unless on the main thread
 */
function start(
  functions: SpawnLibrary,
  file: string,
  args: readonly string[],
  { cwd, env }: SpawnOptions,
  files: readonly number[],
  onEnd: (started: Started) => void,
): void {
  const actions = new Uint8Array(RECORD_SIZE);
  const attributes = new Uint8Array(RECORD_SIZE);
  functions.actionsInit(actions);
  functions.attributesInit(attributes);
  for (const [target, source] of files.entries()) functions.actionsDup(actions, source, target);
  if (cwd !== undefined) functions.actionsFolder(actions, cwd);
  // Why: Node.js ignores SIGPIPE, which programs would inherit.
  functions.attributesDefaults(attributes, new Uint8Array(SIGNAL_SET_SIZE).fill(0xff));
  functions.attributesMask(attributes, new Uint8Array(SIGNAL_SET_SIZE));
  functions.attributesFlags(attributes, SET_SIGNAL_DEFAULTS | SET_SIGNAL_MASK | SET_SESSION);
  const pid = [0];
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const all: SpawnArguments = [
    pid,
    file,
    actions,
    attributes,
    [file, ...args, null],
    [...variables, null],
  ];
  const end = (code: number): void => {
    functions.actionsEnd(actions);
    functions.attributesEnd(attributes);
    onEnd({ pid: code === 0 ? pid[0] : undefined, code });
  };
  // Why not in other threads: they serve nobody, and may be terminated at any time, which such a call does not survive.
  if (isMainThread) functions.posix_spawnp.async(...all, (_, code = -1) => end(code));
  else end(functions.posix_spawnp(...all));
}
