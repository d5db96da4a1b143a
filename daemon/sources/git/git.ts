// Runs the git command line: the only place in the daemon that starts git. Each process gets a scrubbed environment, fixed
// settings that keep a hostile repository from running programs, its own process group, a time limit and an abort signal.
// Callers pass the arguments, with `--end-of-options` or `--` before user input, and interpret the output.

import { existsSync } from 'node:fs';
import path from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { isMainThread } from 'node:worker_threads';
import { checkGitPaths } from './git-paths.ts';
import { SETTINGS } from './git-settings.ts';
import { watchProgress } from './git-watch.ts';
import { failureWords } from './stderr-text.ts';
import { nextTimeSlice } from '../../base/next-time-slice.ts';
import { observed } from '../../base/observed-calls.ts';
import { PRIORITY_STEPS } from '../../base/priority.ts';
import { type Child, setChildRef, killChild, startProgram } from '../../base/spawn.ts';

export interface GitOptions {
  /** Absolute path of a bare repository, of a work tree, or of a `.git` folder. */
  readonly repoPath?: string | undefined;
  /** True: commands see the files below `repoPath`, which must be the root of a work tree. */
  readonly usesWorkTree?: boolean;
  /** Absolute path of the folder to run in; default: `repoPath`. Git may read work tree files there. */
  readonly cwd?: string;
  /** More settings, `name=value`; they beat the fixed ones and those of the repository. */
  readonly settings?: readonly string[];
  /** A last argument whose bytes are not UTF-8, which Node.js cannot pass as a string. Contains no NUL. */
  readonly rawTail?: Uint8Array | undefined;
  /** More variables, for example credentials of a fetch; they beat the fixed ones. */
  readonly env?: Readonly<Record<string, string>>;
  /** Secret text, readable once from file 3 by git and its helpers (`base/spawn.ts`). */
  readonly secret?: string | undefined;
  /** True: lower priority than searches and what they wait for. */
  readonly isBackground?: boolean;
  /** Receives git's standard error, which error messages then lack. */
  readonly onErrorText?: ((text: string) => void) | undefined;
  /** Time limit; 0: only that of `git-watch.ts`; default: `GIT_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  readonly signal?: AbortSignal | undefined;
}

export interface RunOptions extends GitOptions {
  /** Written to standard input. */
  readonly input?: string | Uint8Array;
  /** Bytes, inclusive; default `ANSWER_SIZE_MAX`. */
  readonly outputSizeMax?: number;
}

export const GIT_TIMEOUT_MS = 30_000;
/** Bytes. Bound of the answer to one small request, such as the object of a name. */
const ANSWER_SIZE_MAX = 1 << 20;
/** Unit: ms. Of processing git's output before yielding. */
const BUSY_MS_MAX = 10;
/** Bound of a list of refs: some hundred thousand. */
export const REFS_SIZE_MAX = 64 << 20;
/** Bound of a list of the files of a repository: some four million. Trees that share folders can be nested without end. */
export const FILES_SIZE_MAX = 512 << 20;

/** Codes of a failed start on a machine without resources. */
const SHORTAGES = ['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE'];
/** Exit code of nice(1) if the program is not found. */
const MISSING_CODE = 127;
const MISSING_DETAIL = 'is git installed and in PATH?';

/**
 * git's messages if it refuses a configuration value of the repository, with the setting if git names it. Our own settings
 * do not help, as git parses all values in turn. Source: config.c, date.c, pretty.c, color.c, grep.c of git 2.39.
 */
const REFUSED_SETTINGS: readonly RegExp[] = [
  /^(?:fatal|error): bad (?:boolean|numeric) config value [^]* for '([a-z][\w.-]{0,100})'/m,
  /^(?:fatal|error): bad config variable '([a-z][\w.-]{0,100})'/m,
  /^(?:fatal|error): bad (?:boolean|numeric) config value /m,
  /^(?:fatal|error): bad config (?:line|variable) /m,
  /^fatal: (?:unknown date format|invalid --pretty format|bad grep\.patterntype argument|expecting a color)/m,
  /^fatal: (?:unknown fetch negotiation algorithm|invalid mode for object creation|bad --ignore-submodules argument)/m,
  /^fatal: (?:Invalid regexp to look for hunk header|Last expression must not be negated): /m,
  /^fatal: (?:bad (?:pack|zlib) compression level|problem with core\.sharedRepository|unknown repository extension|Expected git repo version)/m,
];

export type GitFailure = 'exit' | 'not_started' | 'timeout' | 'aborted' | 'output_too_large';

/** git failed. The message names the sub-command, never its arguments: they may contain credentials. */
export class GitError extends Error {
  override readonly name = 'GitError';
  readonly command: string;
  readonly failure: GitFailure;
  /** Absent unless `failure` is `exit` and no signal ended the process. */
  readonly exitCode: number | undefined;
  /** The reason given by git (stderr-text.ts); may be empty. */
  readonly detail: string;

  constructor(command: string, failure: GitFailure, exitCode: number | undefined, detail: string) {
    super(
      `git ${command}: ${describeFailure(failure, exitCode)}${detail === '' ? '' : `: ${detail}`}`,
    );
    this.command = command;
    this.failure = failure;
    this.exitCode = exitCode;
    this.detail = detail;
  }
}

/**
 * Whether git exited with an error of its own, for example because it cannot read a repository. Why by name: an error from
 * a build thread arrives with its properties but without its class.
 */
export function isGitExit(error: unknown): boolean {
  return (
    error instanceof Error &&
    error.name === 'GitError' &&
    'failure' in error &&
    error.failure === 'exit'
  );
}

/** Git refuses the repository's configuration, so nothing can be read from it. The message is for the caller. */
export class GitSettingsError extends GitError {
  readonly errorCode = 'NOT_FOUND';

  /** @param setting  undefined: not named by git */
  constructor(command: string, exitCode: number, detail: string, setting: string | undefined) {
    super(command, 'exit', exitCode, detail);
    const what = setting === undefined ? 'a setting' : `the setting ${setting}`;
    this.message = `The repository cannot be read: git refuses ${what} of its configuration.`;
  }
}

/**
 * git's messages if a referenced object is missing or damaged, with its id if git names it.
 * Source: messages of git 2.39 of ls-tree, diff, blame, log and cat-file, tried with objects removed and damaged.
 */
const LOST_OBJECTS: readonly RegExp[] = [
  /^fatal: could not fetch ([0-9a-f]{40,64}) from promisor remote$/m,
  /^fatal: unable to read (?:tree |blob )?\(?([0-9a-f]{40,64})/m,
  /^fatal: Cannot read blob ([0-9a-f]{40,64}) for path /m,
  /^fatal: unable to stream ([0-9a-f]{40,64}) to stdout$/m,
  /^fatal: (?:loose|packed) object ([0-9a-f]{40,64}) .*is corrupt$/m,
  /^error: Could not read ([0-9a-f]{40,64})$/m,
  /^fatal: bad object ([0-9a-f]{40,64})$/m,
];

/** A referenced object is missing or damaged, as in a partial clone. The message is for the caller. */
export class LostObjectError extends GitError {
  readonly errorCode = 'NOT_FOUND';
  readonly oid: string;

  constructor(command: string, oid: string, exitCode?: number, detail = '') {
    super(command, 'exit', exitCode, detail);
    this.oid = oid;
    this.message = `The git object ${oid} is missing or damaged: the repository is a partial clone, or damaged.`;
  }
}

const FAILURE_TEXTS: Readonly<Record<Exclude<GitFailure, 'exit'>, string>> = {
  not_started: 'could not be started',
  timeout: 'time limit exceeded',
  aborted: 'aborted',
  output_too_large: 'output too large',
};

function describeFailure(failure: GitFailure, exitCode: number | undefined): string {
  if (failure !== 'exit') return FAILURE_TEXTS[failure];
  return exitCode === undefined ? 'ended by a signal' : `exit code ${exitCode}`;
}

/** A running git. The owner must await `ended`. */
export interface GitProcess {
  /** Undefined: not started yet, or the start failed. */
  readonly pid: number | undefined;
  readonly stdin: Writable;
  readonly stdout: Readable;
  /** Settles when the process has ended and its output is drained; rejects with a GitError. */
  readonly ended: Promise<void>;
  /** Kills the process group. `ended` rejects with `failure`, and with `detail` in place of git's output. */
  kill(failure: GitFailure, detail?: string): void;
  /** Whether the process keeps the event loop alive; default: yes. */
  setRef(isRef: boolean): void;
}

// Why an allowlist: the daemon's own environment may contain secrets and GIT_* variables.
const PASSED_VARIABLES = [
  'PATH',
  'HOME',
  'USER',
  'LOGNAME',
  'TMPDIR',
  'TEMP',
  'TMP',
  'SystemRoot',
  'SSH_AUTH_SOCK',
  'SSL_CERT_FILE',
  'SSL_CERT_DIR',
  'NODE_EXTRA_CA_CERTS',
  'HTTP_PROXY',
  'HTTPS_PROXY',
  'ALL_PROXY',
  'NO_PROXY',
  'http_proxy',
  'https_proxy',
  'all_proxy',
  'no_proxy',
];

/** The daemon's variables for accounts, certificates and proxies. */
export function passedVariables(): Record<string, string> {
  const env: Record<string, string> = {};
  for (const name of PASSED_VARIABLES) {
    const value = process.env[name];
    if (value !== undefined) env[name] = value;
  }
  // Why: git's HTTP library reads only the lower-case name.
  if (env['HTTP_PROXY'] !== undefined) env['http_proxy'] ??= env['HTTP_PROXY'];
  return env;
}

function gitEnvironment(extra: Readonly<Record<string, string>>): Record<string, string> {
  return {
    ...passedVariables(),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
    GIT_OPTIONAL_LOCKS: '0',
    // Why: an object id must name its own content, and reading a partial clone must not fetch.
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_NO_LAZY_FETCH: '1',
    GIT_ALLOW_PROTOCOL: 'none',
    ...extra,
  };
}

/**
 * The folder with the objects and refs of the repository at `repoPath`. Naming it keeps git from searching the folders
 * above.
 */
export function gitDirOf(repoPath: string): string {
  const inner = path.join(repoPath, '.git');
  return existsSync(inner) ? inner : repoPath;
}

function globalArguments(options: GitOptions): string[] {
  const args = ['--no-pager', '--literal-pathspecs'];
  for (const setting of [...SETTINGS, ...(options.settings ?? [])]) args.push('-c', setting);
  if (options.repoPath === undefined) return args;
  args.push(`--git-dir=${gitDirOf(options.repoPath)}`);
  // Why always: a repository may name another work tree, whose `.mailmap` and `.gitattributes` git would read.
  const workTree = options.usesWorkTree === true ? undefined : options.cwd;
  args.push(`--work-tree=${workTree ?? options.repoPath}`);
  return args;
}

/** Executes git with the bytes of `$1`, each as `\0` and three octal digits, as the last argument; x keeps line ends. */
const RAW_TAIL_SCRIPT = 'tail=$(printf "%bx" "$1"); shift; exec git "$@" "${tail%x}"';

function commandOf(args: readonly string[], options: GitOptions): [string, string[]] {
  const all = [...globalArguments(options), ...args];
  if (options.isBackground === true && process.platform === 'linux')
    return ['nice', ['-n', String(PRIORITY_STEPS.background), 'git', ...all]];
  if (options.rawTail === undefined) return ['git', all];
  const digits = Array.from(options.rawTail, (byte) => `\\0${byte.toString(8).padStart(3, '0')}`);
  return ['/bin/sh', ['-c', RAW_TAIL_SCRIPT, 'sh', digits.join(''), ...all]];
}

/** A kill function per running git. */
const running = new Set<(cause: GitFailure) => void>();
process.once('exit', endGits);

/** Ends every git of this thread. */
export function endGits(): void {
  for (const kill of running) kill('aborted');
}

/**
 * Starts git, the sub-command first, with open standard input and output. The time limit counts from the start. Errors:
 * GitPathError; `ended` rejects with a GitError, or the system's error if the machine lacks resources for a program.
 */
export function startGit(args: readonly string[], options: GitOptions = {}): GitProcess {
  // Threads work for jobs that have checked their source, and do not know the allowed paths.
  if (options.repoPath !== undefined && isMainThread) checkGitPaths(options.repoPath);
  const child = startProgram(...commandOf(args, options), {
    cwd: options.cwd ?? options.repoPath,
    env: gitEnvironment(options.env ?? {}),
    secret: options.secret,
  });
  let failure: GitFailure = 'exit';
  let failureDetail: string | undefined;
  const kill = (cause: GitFailure, detail?: string): void => {
    failure = cause;
    failureDetail = detail;
    killChild(child);
    // Why: a helper that left the group would keep the pipe open, and `ended` waits for the pipe.
    child.stdout.destroy();
    child.stderr.destroy();
  };
  // Errors of the pipe (the process ended early) show in the exit code.
  child.stdin.on('error', () => undefined);
  const release = limitLife(options, kill);
  running.add(kill);
  const howKilled = (): [GitFailure, string | undefined] => [failure, failureDetail];
  // Options such as the repository's path may precede it.
  const command = args.find((text) => !text.startsWith('--')) ?? '';
  const whole = waitForEnd(child, command, options, howKilled).finally(() => {
    release();
    running.delete(kill);
  });
  // One `cat-file` answers many callers.
  const call = { system: 'git', name: command, signal: options.signal } as const;
  const ended = command === 'cat-file' ? whole : observed(call, whole);
  const setRef = (isRef: boolean): void => setChildRef(child, isRef);
  return {
    get pid() {
      return child.pid;
    },
    stdin: child.stdin,
    stdout: child.stdout,
    ended,
    kill,
    setRef,
  };
}

/** Arms the time limit and the abort signal; the result disarms them. */
function limitLife(options: GitOptions, kill: (cause: GitFailure) => void): () => void {
  const timeoutMs = options.timeoutMs ?? GIT_TIMEOUT_MS;
  const timer = timeoutMs === 0 ? undefined : setTimeout(() => kill('timeout'), timeoutMs);
  const onAbort = (): void => kill('aborted');
  if (options.signal?.aborted === true) onAbort();
  options.signal?.addEventListener('abort', onAbort, { once: true });
  return () => {
    clearTimeout(timer);
    options.signal?.removeEventListener('abort', onAbort);
  };
}

function waitForEnd(
  child: Child,
  command: string,
  options: GitOptions,
  howKilled: () => [GitFailure, string | undefined],
): Promise<void> {
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    if (options.onErrorText !== undefined) options.onErrorText(text);
    // The fatal message is the last one.
    else stderr = (stderr + text).slice(-64 * 1024);
  });
  return new Promise((resolve, reject) => {
    child.once('error', (error: Error & { readonly code?: string }) => {
      // Why unchanged: a machine without resources is not an error of git.
      if (error.code !== undefined && SHORTAGES.includes(error.code)) {
        reject(error);
        return;
      }
      const isFolderMissing = options.repoPath !== undefined && !existsSync(options.repoPath);
      const detail = isFolderMissing ? 'the repository folder is gone' : MISSING_DETAIL;
      reject(new GitError(command, 'not_started', undefined, detail));
    });
    child.once('close', (code: number | null) => {
      const [failure, detail = failureWords(stderr)] = howKilled();
      if (failure === 'exit' && code === 0) resolve();
      else if (options.isBackground === true && code === MISSING_CODE)
        reject(new GitError(command, 'not_started', undefined, MISSING_DETAIL));
      else if (failure === 'exit' && code !== null) reject(exitError(command, code, stderr));
      else reject(new GitError(command, failure, undefined, detail));
    });
  });
}

/** The error of a git with an exit code above 0. */
function exitError(command: string, exitCode: number, stderr: string): GitError {
  const detail = failureWords(stderr);
  const refusal = REFUSED_SETTINGS.map((pattern) => pattern.exec(stderr)).find(Boolean);
  if (refusal !== undefined && refusal !== null)
    return new GitSettingsError(command, exitCode, detail, refusal[1]);
  const lost = LOST_OBJECTS.map((pattern) => pattern.exec(stderr)?.[1]).find(Boolean);
  return lost === undefined
    ? new GitError(command, 'exit', exitCode, detail)
    : new LostObjectError(command, lost, exitCode, detail);
}

/**
 * Runs git to its end and returns its standard output, which is held in memory: set `outputSizeMax` for lists. Errors:
 * GitError if it does not exit with code 0, in time, within `outputSizeMax`, or makes no progress for long.
 */
export async function runGit(args: readonly string[], options: RunOptions = {}): Promise<Buffer> {
  const chunks: Buffer[] = [];
  await streamGit(args, options, (chunk) => chunks.push(chunk));
  return Buffer.concat(chunks);
}

/**
 * As `runGit`, but passes output on as it arrives, in chunks that the callee may keep. Yields to other work. Errors: as
 * `runGit`; what `onChunk` throws.
 */
export async function streamGit(
  args: readonly string[],
  options: RunOptions,
  onChunk: (chunk: Buffer) => void,
): Promise<void> {
  const git = startGit(args, options);
  const outputSizeMax = options.outputSizeMax ?? ANSWER_SIZE_MAX;
  let size = 0;
  let busyMs = 0;
  let problem: { readonly error: unknown } | undefined;
  git.stdout.on('data', (chunk: Buffer) => {
    if (problem !== undefined) return;
    size += chunk.length;
    if (size > outputSizeMax) {
      git.kill('output_too_large', `limit ${outputSizeMax} bytes`);
      return;
    }
    const startMs = performance.now();
    try {
      onChunk(chunk);
    } catch (error) {
      problem = { error };
      git.kill('aborted');
    }
    busyMs += performance.now() - startMs;
    if (busyMs < BUSY_MS_MAX) return;
    busyMs = 0;
    git.stdout.pause();
    void nextTimeSlice().then(() => git.stdout.resume());
  });
  git.stdin.end(options.input ?? '');
  const endWatch = watchProgress(
    () => ({ pid: git.pid, outputSize: size }),
    () => git.kill('timeout'),
  );
  try {
    await git.ended;
  } catch (error) {
    if (problem === undefined) throw error;
  } finally {
    endWatch();
  }
  if (problem !== undefined) throw problem.error;
}

/**
 * As `runGit`, as UTF-8 text without the line end; undefined if git exits with a code above 0, unless it refuses the
 * configuration.
 */
export async function tryGit(
  args: readonly string[],
  options: RunOptions = {},
): Promise<string | undefined> {
  try {
    return (await runGit(args, options)).toString('utf8').replace(/\r?\n$/, '');
  } catch (error) {
    if (!(error instanceof GitError) || error instanceof GitSettingsError) throw error;
    if (error.failure === 'exit' && error.exitCode !== undefined) return undefined;
    throw error;
  }
}

let version: Promise<[major: number, minor: number]> | undefined;

/** Version of the installed git, read once. Errors: GitError if git cannot be started. */
export function gitVersion(): Promise<[major: number, minor: number]> {
  version ??= readVersion().catch((error: unknown) => {
    version = undefined;
    throw error;
  });
  return version;
}

async function readVersion(): Promise<[major: number, minor: number]> {
  const found = /(\d+)\.(\d+)/.exec((await runGit(['version'])).toString('latin1'));
  return [Number(found?.[1] ?? 0), Number(found?.[2] ?? 0)];
}
