// The command line over services that answer with FAKE_RESPONSE, the search response or error object, and echo every
// call on standard error: in the process of a test, or as a program by fake-main.ts.

import assert from 'node:assert/strict';
import { Readable, Writable } from 'node:stream';
import { NO_FILE } from '../../daemon/base/config/file.ts';
import { COMMANDS } from '../../daemon/cli/commands.ts';
import { RequestError, isErrorObject } from '../../daemon/cli/errors.ts';
import { runProgram } from '../../daemon/cli/program.ts';
import type { CliServices } from '../../daemon/cli/services.ts';
import type { SearchEvent, SearchResponse } from '../../daemon/api/search/search-schemas.ts';
import { statsOf } from '../http/answers.ts';
import { chunk, explanation, file, response, surveyed } from './responses.ts';

/** `big:N` is an answer of N files, anything else JSON. */
function fakeResponse(text = process.env['FAKE_RESPONSE'] ?? 'big:1'): SearchResponse {
  if (text.startsWith('big:')) {
    const count = Number(text.slice(4));
    return response(
      Array.from({ length: count }, (_, i) => file(`f${String(i)}`, [chunk('a «b» c\n')])),
    );
  }
  const value: unknown = JSON.parse(text);
  if (isErrorObject(value)) throw new RequestError(value);
  return response([]);
}

/** Two chunks and the end; a text `broken` of FAKE_RESPONSE has an error in between. */
function fakeEvents(): SearchEvent[] {
  if (process.env['FAKE_RESPONSE'] === 'broken') {
    const error = { statusCode: 500, errorCode: 'UNEXPECTED_ERROR' as const, message: 'no' };
    const incompleteReasons = ['internal_error' as const];
    const end = { isSearchExhaustive: false, incompleteReasons };
    return [
      { type: 'error', error },
      { type: 'final', accumulatedStats: statsOf(), ...end },
    ];
  }
  const { stats, files, repositoryInfo, isSearchExhaustive } = fakeResponse();
  const chunks = files.map((one) => ({
    type: 'chunk' as const,
    stats,
    files: [one],
    repositoryInfo,
  }));
  return [...chunks, { type: 'final', accumulatedStats: stats, isSearchExhaustive }];
}

export function fakeServices(stderr: Writable): CliServices {
  const echo = (name: string, options: unknown): void => {
    stderr.write(`${name} ${JSON.stringify(options)}\n`);
  };
  return {
    openLocalSearch({ dataDir }) {
      return Promise.resolve({
        search(call) {
          echo('search', { dataDir, ...call });
          return Promise.resolve().then(() => fakeResponse());
        },
        async *stream(call) {
          echo('stream', { dataDir, ...call });
          yield* await Promise.resolve().then(fakeEvents);
        },
        explain(call) {
          echo('explain', { dataDir, ...call });
          return Promise.resolve().then(() => {
            fakeResponse();
            return explanation();
          });
        },
        folders: () => Promise.resolve(new Map()),
        close() {
          echo('close', {});
          return Promise.resolve();
        },
      });
    },
    serveTools(options) {
      echo('serveTools', options);
      return Promise.resolve();
    },
    serve(options) {
      echo('serve', options);
      // A daemon keeps the process alive; so does this.
      const keepAlive = setInterval(() => undefined, 1000);
      return Promise.resolve({
        url: 'http://127.0.0.1:4711',
        needsKey: false,
        setupUrl: 'http://127.0.0.1:4711/setup?token=t',
        indexed: Promise.resolve([]),
        status: () =>
          Promise.resolve({
            url: 'http://127.0.0.1:4711',
            version: '0',
            startedAt: new Date().toISOString(),
            repos: { served: 0, indexed: 0, failed: 0 },
            remainingMs: null,
            jobs: { running: [], waiting: 0 },
            symbols: null,
            connections: [],
            problems: [],
            warnings: [],
          }),
        readConfigurationAgain: () => Promise.resolve(echo('reread', {})),
        close() {
          echo('closed', {});
          clearInterval(keepAlive);
          return Promise.resolve();
        },
      });
    },
    indexSources(options, onProgress) {
      echo('index', options);
      onProgress({
        phase: 'reading',
        repo: 'local/x',
        filesDone: 1,
        filesTotal: 2,
        bytesDone: 1,
        bytesTotal: 2,
        bytesPerSecond: 1,
        skipped: 0,
      });
      const done = {
        revisionCount: 1,
        docCount: 2,
        deadCount: 0,
        shardCount: 1,
        contentSize: 10,
        shardSize: 9,
        isUnchanged: false,
        skipped: { binary: 1 },
        ignored: {},
        excluded: {},
        warnings: [],
        durationMs: 5,
      };
      return Promise.resolve(
        options.sources.map((source) => ({
          ...done,
          repo: source,
          state: source === 'bad' ? ('FAILED' as const) : ('COMPLETED' as const),
          ...(source === 'bad' ? { error: 'no such folder' } : {}),
        })),
      );
    },
    inspectShard(options) {
      echo('inspect', options);
      return Promise.resolve({
        path: options.path,
        formatVersion: 1,
        fileSize: 2400,
        contentSize: 2000,
        docCount: 1,
        blockCount: 1,
        trigramCount: 12,
        repos: [{ repoId: 1, name: 'local/x' }],
        sections: [{ name: 'content', offset: 64, size: 2000, checksum: 'abcd' }],
      });
    },
    summarizeIndex(dataDir) {
      echo('survey', { dataDir });
      return Promise.resolve(surveyed({ dataDir }));
    },
    verifyShards({ paths }) {
      const [first, ...more] = paths.length > 0 ? paths : ['a', 'b'];
      return Promise.resolve([
        { path: first!, problems: first === 'bad' ? ['checksum of content'] : [] },
        ...more.map((path) => ({
          path,
          problems: path === 'bad' ? ['checksum of content'] : [],
          ...(path === 'b' ? { deadCount: 2, outOfService: 'page 1' } : {}),
        })),
      ]);
    },
    openOperator(options) {
      echo('operator', options);
      return Promise.reject(new Error('there is no store here'));
    },
    backup(options) {
      echo('backup', options);
      return Promise.resolve({ size: 1234, hasClones: false });
    },
    restore(options) {
      echo('restore', options);
      return Promise.reject(new Error('there is no backup here'));
    },
    checkConfiguration(file, isOnline) {
      echo('survey', { place: file, isOnline });
      return Promise.resolve({
        diagnostics: [],
        file: NO_FILE,
        secrets: [],
        probed: [],
        probedProviders: [],
      });
    },
    diagnose(options) {
      echo('diagnose', options);
      return Promise.resolve({
        findings: [{ check: 'git', level: 'warning', says: 'git 2.1', remedy: 'install another' }],
        isStuck: false,
      });
    },
    configurationSchema: () => Promise.resolve({ type: 'object' }),
    versions: () => ({
      product: '1.2.3',
      commit: '0123456789ab',
      shardFormat: 4,
      api: 'v5',
      treeSitter: '0.1',
    }),
    symbolEngines: () => Promise.resolve('ctags 5 /ctags, tree-sitter 0.1'),
  };
}

export interface Outcome {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Records output. */
export class Memory extends Writable {
  text = '';
  override _write(data: Buffer, _encoding: string, done: () => void): void {
    this.text += data.toString();
    done();
  }
}

/** Runs a command in this process. */
export async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  input = '',
): Promise<Outcome> {
  const [stdout, stderr] = [new Memory(), new Memory()];
  let code = 0;
  // The argument parser reads the environment itself.
  Object.assign(process.env, env);
  try {
    const setExitCode = (value: number): void => void (code = value);
    const stdin = Readable.from([input]);
    const services = fakeServices(stderr);
    const page = (text: string): Promise<void> => Promise.resolve(void stdout.write(text));
    const endNow = setExitCode;
    const offerIndex = (): Promise<undefined> => Promise.resolve(undefined);
    const streams = { stdin, stdout, stderr };
    const context = { services, ...streams, env, page, offerIndex, setExitCode, endNow };
    await runProgram(args, context, COMMANDS);
  } finally {
    for (const name of Object.keys(env)) delete process.env[name];
  }
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** A command that is refused before it does anything: its reason goes to standard error. */
export async function refuses(args: readonly string[], message: RegExp): Promise<string> {
  const { code, stdout, stderr } = await run(args);
  assert.deepEqual([code, stdout], [2, ''], args.join(' '));
  assert.match(stderr, message);
  return stderr;
}
