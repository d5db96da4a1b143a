// The command line and the daemon as child processes, for end-to-end tests: the real `trawl` with its own
// environment, a free port, and real HTTP. Processes that a test leaves behind are killed at its end.

import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { spawn, type ChildProcess } from 'node:child_process';
import { request as httpRequest, type RequestOptions } from 'node:http';
import path from 'node:path';
import { Readable, Writable } from 'node:stream';
import { after } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { SearchResponse } from '../../daemon/api/search/search-schemas.ts';
import { type RawCall, type RawReply, replyTo } from '../http/raw-client.ts';
import { checkReply } from '../api/checker.ts';
import { checkInvariants } from '../engine/host/invariants.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

export const MAIN = fileURLToPath(new URL('../../bundle/cli/main.js', import.meta.url));

export interface Outcome {
  /** Undefined: ended by a signal. */
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

export interface StartOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** What standard input holds; default: nothing. */
  readonly input?: string;
  /** Inherited from file 3 on. */
  readonly files?: readonly number[];
  /** What `trawl` is; default: the build. */
  readonly main?: string;
}

/** What has not happened by then, on a busy machine too, will not happen. */
const WAIT_MAX_MS = 240_000;

const children = new Set<ChildProcess>();

after(() => {
  for (const child of children) child.kill('SIGKILL');
});

export class Running {
  readonly child: ChildProcess;
  readonly ended: Promise<Outcome>;
  stdout = '';
  stderr = '';
  #onText = new Set<() => void>();

  constructor(command: string, args: readonly string[], options: StartOptions) {
    this.child = spawn(command, args, {
      cwd: options.cwd ?? '/',
      env: { PATH: process.env['PATH'], HOME: '/nonexistent', ...options.env },
      stdio: [
        options.input === undefined ? 'ignore' : 'pipe',
        'pipe',
        'pipe',
        ...(options.files ?? []),
      ],
    });
    this.child.stdin?.on('error', () => {}); // it may end without reading
    this.child.stdin?.end(options.input);
    children.add(this.child);
    this.child.stdout?.on('data', (data: Buffer) => this.#add('stdout', data));
    this.child.stderr?.on('data', (data: Buffer) => this.#add('stderr', data));
    this.ended = new Promise((resolve, reject) => {
      this.child.on('error', reject);
      this.child.on('close', (code) => {
        children.delete(this.child);
        resolve({ code: code ?? undefined, stdout: this.stdout, stderr: this.stderr });
        for (const listener of this.#onText) listener();
      });
    });
  }

  #add(stream: 'stdout' | 'stderr', data: Buffer): void {
    this[stream] += data.toString();
    for (const listener of this.#onText) listener();
  }

  get isOver(): boolean {
    return this.child.exitCode !== null || this.child.signalCode !== null;
  }

  /** Waits until standard error has matched `count` times. Errors: the process ends before, or it takes too long. */
  until(pattern: RegExp, count = 1): Promise<RegExpExecArray> {
    const late = setTimeout(WAIT_MAX_MS, undefined, { ref: false }).then(() => {
      throw new Error(`did not write ${String(pattern)}:\n${this.stderr}`);
    });
    return Promise.race([this.#matched(pattern, count), late]);
  }

  #matched(pattern: RegExp, count: number): Promise<RegExpExecArray> {
    const all = new RegExp(pattern.source, `${pattern.flags.replace('g', '')}g`);
    return new Promise((resolve, reject) => {
      const check = (): void => {
        const found = [...this.stderr.matchAll(all)];
        if (found.length < count && !this.isOver) return;
        this.#onText.delete(check);
        const last = found[count - 1];
        if (last !== undefined) resolve(last);
        else reject(new Error(`ended before ${String(pattern)}:\n${this.stderr}`));
      };
      this.#onText.add(check);
      check();
    });
  }

  stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<Outcome> {
    this.child.kill(signal);
    return this.ended;
  }
}

export function startTrawl(args: readonly string[], options: StartOptions = {}): Running {
  return new Running(process.execPath, [options.main ?? MAIN, ...args], options);
}

let lastCommand: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of `trawl` to its end, in the process of the test, which costs a tenth of a new process; one at a time,
 * since all share environment and working directory. What must be a process of its own: a daemon, and by `startTrawl`
 * commands beside each other, and the program's own start and output.
 */
export function trawl(args: readonly string[], options: StartOptions = {}): Promise<Outcome> {
  if (args[0] === 'serve' && !args.includes('--help')) return startTrawl(args, options).ended;
  const outcome = lastCommand.then(() => runCommand(args, options));
  lastCommand = outcome.catch(() => {});
  return outcome;
}

async function runCommand(args: readonly string[], options: StartOptions): Promise<Outcome> {
  const { COMMANDS } = await import('../../daemon/cli/commands.ts');
  const { runProgram } = await import('../../daemon/cli/program.ts');
  const [folder, environment] = [process.cwd(), process.env];
  const logFile = path.join(temporaryFolder(), 'log');
  const written = { stdout: '', stderr: '' };
  const streamTo = (name: keyof typeof written) =>
    new Writable({
      write(data: Buffer, _encoding, done) {
        written[name] += data.toString();
        done();
      },
    });
  const env = { PATH: environment['PATH'], HOME: '/nonexistent', TRAWL_LOG_FILE: logFile };
  const stdout = streamTo('stdout');
  let code = 0;
  try {
    process.chdir(options.cwd ?? '/');
    process.env = { ...env, ...options.env };
    const context = {
      stdin: Readable.from(options.input === undefined ? [] : [Buffer.from(options.input)]),
      stdout,
      stderr: streamTo('stderr'),
      page: (text: string) => Promise.resolve(void stdout.write(text)),
      offerIndex: () => Promise.resolve(undefined),
      setExitCode: (value: number) => (code = value),
      endNow: (value: number) => (code = value),
    };
    await runProgram(args, context, COMMANDS);
    // A log gathers its lines for some milliseconds.
    await setTimeout(10);
  } finally {
    process.env = environment;
    process.chdir(folder);
  }
  const log = existsSync(logFile) ? readFileSync(logFile, 'utf8') : '';
  return { code, stdout: written.stdout, stderr: written.stderr + log };
}

/** A command that is refused before it does anything: its reason goes to standard error. */
export async function refuses(args: readonly string[], message: RegExp): Promise<string> {
  const { code, stdout, stderr } = await trawl(args);
  assert.deepEqual([code, stdout], [2, ''], args.join(' '));
  assert.match(stderr, message);
  return stderr;
}

export async function index(
  dataDir: string,
  sources: readonly string[],
  flags: readonly string[] = [],
): Promise<Outcome> {
  const outcome = await trawl(['index', '--data-dir', dataDir, ...flags, ...sources]);
  assert.equal(outcome.code, 0, outcome.stderr);
  return outcome;
}

export interface Served {
  readonly url: string;
  readonly process: Running;
}

/** Starts `trawl serve` on a free port; resolves once it listens. */
export async function serve(
  dataDir: string,
  sources: readonly string[],
  options: StartOptions & { readonly flags?: readonly string[] } = {},
): Promise<Served> {
  const flags = ['--port', '0', '--data-dir', dataDir, ...(options.flags ?? [])];
  const running = startTrawl(['serve', ...flags, ...sources], options);
  const [, url] = await running.until(/^Serving on (\S+)$/m);
  return { url: url ?? '', process: running };
}

/** As `serve`; resolves once `jobs` indexing jobs have ended. */
export async function serveIndexed(
  dataDir: string,
  sources: readonly string[],
  options: StartOptions & { readonly flags?: readonly string[] } = {},
): Promise<Served> {
  const served = await serve(dataDir, sources, options);
  await jobsEnded(served, sources.length);
  return served;
}

/** Waits until the daemon has reported this many jobs since its start. */
export async function jobsEnded({ process: running }: Served, count: number): Promise<void> {
  await running.until(/ repo indexed | indexing failed /, count);
}

/** As `fetch`, whole; the answer must be one that the API description allows. */
export async function call(url: string, init: RequestInit = {}): Promise<Response> {
  const answer = await fetch(url, init);
  const body = Buffer.from(await answer.arrayBuffer());
  const { pathname, search: query } = new URL(url);
  const accept = new Headers(init.headers).get('accept') ?? undefined;
  // What fetch gives is decoded.
  const { 'content-encoding': _, ...headers } = Object.fromEntries(answer.headers);
  checkReply(
    { method: init.method ?? 'GET', path: pathname + query, accept },
    { status: answer.status, headers, body },
  );
  return new Response(body.length > 0 ? body : null, answer);
}

export function send(
  url: string,
  { body, ...options }: RequestOptions & Pick<RawCall, 'body'>,
): Promise<RawReply> {
  return replyTo(httpRequest(url, options), body);
}

export interface Answer<Body> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export async function get<Body>(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<Body>> {
  const answer = await call(url, { headers });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Body };
}

/** POST /api/search with `matches` 1000 unless the request says otherwise. */
export async function post<Body = SearchResponse>(
  url: string,
  request: object,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Answer<Body>> {
  const answer = await call(`${url}/api/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ matches: 1000, ...request }),
    ...(signal === undefined ? {} : { signal }),
  });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as Body };
}

/** The answer to a query that must succeed; its numbers are checked. */
export async function search(
  url: string,
  query: string,
  more: { readonly matches?: number; readonly [name: string]: unknown } = {},
): Promise<SearchResponse> {
  const { status, body } = await post(url, { query, ...more });
  if (status !== 200) throw new Error(`${query}: ${JSON.stringify(body)}`);
  assert.equal(body.stats['flushReason'], 'FLUSH_REASON_UNKNOWN_UNSPECIFIED');
  checkInvariants(body, { matches: more.matches ?? 1000 });
  return body;
}

export function pathsOf(answer: SearchResponse): string[] {
  return answer.files.map(({ fileName }) => fileName.text).sort();
}

/** Names in the folder of the shards, without the files of symbols, which come later. */
export function shardNames(dataDir: string): string[] {
  const names = readdirSync(path.join(dataDir, 'shards'));
  return names.filter((name) => !name.includes('.tags')).sort();
}

/** Tries `attempt` until it is true. Errors: it takes too long. */
export async function eventually(attempt: () => Promise<boolean>, pauseMs = 50): Promise<void> {
  const end = Date.now() + WAIT_MAX_MS;
  while (!(await attempt())) {
    assert.ok(Date.now() < end, `not within ${WAIT_MAX_MS} ms: ${attempt.toString()}`);
    await setTimeout(pauseMs);
  }
}

/**
 * What is suggested, by `ask`. On a busy machine a search has no time for it, or for one shard of several: what is less
 * than `countMin` is asked for again.
 */
export async function suggestedBy<T>(
  fetchValues: () => Promise<readonly T[]>,
  countMin = 1,
): Promise<readonly T[]> {
  let found: readonly T[] = [];
  for (let i = 0; i < 20 && found.length < countMin; i++) found = await fetchValues();
  return found;
}
