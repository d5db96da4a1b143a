// The whole daemon in the process of a test: real sources, a real index and real accounts. Requests go to its pipeline
// without a socket.

import assert from 'node:assert/strict';
import { after } from 'node:test';
import { type Daemon, type DaemonOptions, startDaemon } from '../../daemon/app/main.ts';
import { readConfiguration } from '../../daemon/base/config/configuration.ts';
import { createLog } from '../../daemon/base/log.ts';
import type { SearchResponse } from '../../daemon/api/search/search-schemas.ts';
import { checkInvariants } from '../engine/host/invariants.ts';
import { fetchInProcess } from '../http/in-process.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

type Headers = Readonly<Record<string, string>>;

/** Refs that are refused in each repository. */
export const BAD_REFS: readonly string[] = [
  '--help',
  '-h',
  '--all',
  '--output=/tmp/x',
  '--upload-pack=touch /tmp/x',
  '$(id)',
  '^main',
  'nosuch',
  'main..main',
  'main@{0}',
  'main^{tree}',
  'HEAD~99',
  'a\nb',
  'a\0b',
  ' ',
  'x'.repeat(1025),
];

export interface Answer<Body> {
  readonly status: number;
  readonly headers: globalThis.Headers;
  readonly body: Body;
}

export interface App {
  readonly daemon: Daemon;
  readonly url: string;
  close(): Promise<void>;
  /** As `fetch`, below the base URL; the answer must be one that the API description allows. */
  call(path: string, init?: RequestInit): Promise<Response>;
  get<Body>(path: string, headers?: Headers): Promise<Answer<Body>>;
  post<Body>(path: string, body: unknown, headers?: Headers): Promise<Answer<Body>>;
  /** The answer to a query that must succeed; its numbers are checked. */
  search(query: string, more?: object): Promise<SearchResponse>;
}

interface AppOptions extends Partial<Pick<DaemonOptions, 'mode' | 'change' | 'log'>> {
  readonly dataDir?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Jobs of the start may fail. */
  readonly mayFail?: boolean;
}

const log = createLog({
  level: 'error',
  format: 'text',
  write: (line) => process.stderr.write(line),
});
const running = new Set<Daemon>();

after(async () => {
  for (const daemon of running) await daemon.close();
});

/** Starts it; resolves once the sources are indexed. It is closed after the tests of the file, or before. */
export async function startApp(sources: readonly string[], options: AppOptions = {}): Promise<App> {
  const { dataDir = temporaryFolder(), env, mayFail = false, ...more } = options;
  const base = { TRAWL_PORT: '0', TRAWL_DATA_DIR: dataDir, TRAWL_WORKERS: '1' };
  const configuration = readConfiguration({ env: { ...base, ...env } });
  const daemon = await startDaemon({ configuration, log, sources, ...more });
  running.add(daemon);
  for (const job of await daemon.indexed)
    assert.ok(mayFail || job.state === 'COMPLETED', job.error);
  const call = (path: string, init?: RequestInit) => fetchInProcess(daemon, path, init);
  const post: App['post'] = async (path, body, headers = {}) => {
    const sent = { 'content-type': 'application/json', ...headers };
    return parsed(await call(path, { method: 'POST', headers: sent, body: JSON.stringify(body) }));
  };
  return {
    daemon,
    url: daemon.url,
    close() {
      running.delete(daemon);
      return daemon.close();
    },
    call,
    get: async (path, headers = {}) => parsed(await call(path, { headers })),
    post,
    search: async (query, more) => {
      const request = { query, matches: 1000, ...more };
      const { status, body } = await post<SearchResponse>('/api/search', request);
      assert.equal(status, 200, JSON.stringify(body));
      checkInvariants(body, request);
      return body;
    },
  };
}

async function parsed<Body>(answer: Response): Promise<Answer<Body>> {
  const text = await answer.text();
  const body = (text === '' ? undefined : JSON.parse(text)) as Body;
  return { status: answer.status, headers: answer.headers, body };
}
