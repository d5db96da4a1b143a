// Shared by the HTTP tests: services in memory in place of the engine and the git reader, a server on a free port,
// and three clients: in process, over node:http, and over a bare socket.

import type { LazyBytes } from '../../daemon/base/lazy-bytes.ts';
import { connect, type Socket } from 'node:net';
import type { SearchRequest } from '../../daemon/engine/query/request.ts';
import type { SearchEnvironment } from '../../daemon/engine/search/prepare.ts';
import type { StreamEnvironment } from '../../daemon/engine/search/stream.ts';
import type { CommitFields } from '../../daemon/sources/history/commits.ts';
import type { SearchCall } from '../../daemon/api/search/search-schemas.ts';
import type { EventStream, Services } from '../../daemon/api/shapes/endpoint-services.ts';
import {
  readConfiguration,
  type Configuration,
  type ConfigurationInput,
  type Environment,
} from '../../daemon/base/config/configuration.ts';
import type { StoredRepo } from '../../daemon/store/repos.ts';
import { type ControlPlane, openControlPlane } from '../../daemon/app/control-plane.ts';
import { createServer, type RunningServer } from '../../daemon/http/server.ts';
import { RepoDirectory } from '../../daemon/repos/directory.ts';
import type { RepoRecord } from '../../daemon/repos/records.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { createLog, type Log } from '../../daemon/base/log.ts';
import { ANSWER_MS_MAX, openStore } from '../../daemon/store/store.ts';
import { checkReply } from '../api/checker.ts';
import { sendRaw, type RawCall, type RawReply } from './raw-client.ts';
import { sendInProcess } from './in-process.ts';
import { FINAL_EVENT, answerOf, explanationOf } from './answers.ts';
import { repliesIn } from './wire-replies.ts';

export const OWNER_KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
export const OTHER_KEY = `svk_${'fedcba9876543210'.repeat(4)}`;

export function repo(repoId: number, name: string, more: Partial<RepoRecord> = {}): RepoRecord {
  return {
    repoId,
    name,
    codeHostType: 'github',
    isFork: false,
    isArchived: false,
    visibility: 'public',
    source: { kind: 'commits', path: '/nowhere' },
    defaultRevision: 'refs/heads/main',
    ...more,
  };
}

const COMMIT: CommitFields = {
  hash: '1'.repeat(40),
  date: '2024-05-06T07:08:09+02:00',
  message: 'subject',
  refs: 'HEAD -> main',
  body: '',
  authorName: 'A',
  authorEmail: 'a@example.com',
  parents: [],
};

export interface World {
  readonly server: RunningServer;
  readonly lines: Record<string, unknown>[];
  /** Searches that reached the service. */
  readonly calls: SearchRequest[];
  readonly control: ControlPlane;
  readonly configuration: Configuration;
  readonly call: (options: CallOptions) => Promise<Reply>;
  close(): Promise<void>;
}

export interface WorldOptions {
  /** The adapter that requests go through; absent: none, they go to the pipeline in this process. */
  readonly kind?: 'uws' | 'node';
  readonly env?: Environment;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly settings?: ConfigurationInput['settings'];
  /** A function: the repos may change, by being another array. */
  readonly repos?: readonly RepoRecord[] | (() => readonly RepoRecord[]);
  readonly search?: (call: SearchRequest, context: SearchEnvironment) => Promise<unknown>;
  /** Told when the memory of a large answer may go. */
  readonly onRelease?: () => void;
  readonly stream?: (
    call: SearchCall,
    context: StreamEnvironment,
  ) => EventStream | Promise<EventStream>;
  readonly navigate?: Services['search']['navigate'];
  readonly onAnswerOver?: (size: number) => void;
  readonly requestTimeoutMs?: number;
  readonly streamStallMs?: number;
  readonly source?: Services['source']['read'];
  readonly history?: Partial<Services['history']>;
  readonly refs?: Services['refs']['list'];
  readonly jobs?: Partial<Services['jobs']>;
  readonly connections?: Partial<Services['connections']>;
  readonly operator?: Partial<Services['operator']>;
  readonly isReady?: boolean;
  readonly degraded?: readonly string[];
  readonly logLevel?: 'debug' | 'info';
}

interface Closable {
  close(): Promise<void>;
}

const openWorlds = new Set<Closable>();

/** Closes what tests have started. */
export async function closeWorlds(): Promise<void> {
  for (const world of [...openWorlds].reverse()) await world.close();
  openWorlds.clear();
}

/** Has `closeWorlds` close it. */
export function closeLater(world: Closable): void {
  openWorlds.add(world);
}

/** Larger answers are put together while they are sent, as those of a real search are. */
const WHOLE_SIZE_MAX = 4096;

/** The bytes in windows of one buffer: each window overwrites the previous one. */
function lazily(bytes: Uint8Array, onRelease: () => void = () => {}): LazyBytes {
  const window = new Uint8Array(50_001);
  return {
    byteLength: bytes.byteLength,
    memorySize: bytes.byteLength,
    from(offset) {
      const chunk = bytes.subarray(offset, offset + window.length);
      window.fill(0);
      window.set(chunk);
      return window.subarray(0, chunk.length);
    },
    release: onRelease,
  };
}

/** As the store has a repo. */
function storedOf({ repoId, name, visibility, enforcement }: RepoRecord): StoredRepo {
  return { repoId, name, visibility, enforcement: enforcement ?? 'none' };
}

/** What searches; what reaches it goes to `calls`. */
function searchOf(options: WorldOptions, calls: SearchRequest[]): Services['search'] {
  const search = options.search ?? (async () => answerOf());
  const findNothing = async () => ({
    stats: { matchCount: 0 },
    files: [],
    repositoryInfo: [],
    isSearchExhaustive: true,
  });
  return {
    async search(call, context) {
      calls.push(call);
      const json = Buffer.from(JSON.stringify(await search(call, context)));
      return { json: json.length > WHOLE_SIZE_MAX ? lazily(json, options.onRelease) : json };
    },
    async stream(call, context) {
      calls.push(call);
      return options.stream?.(call, context) ?? eventStream([FINAL_EVENT]);
    },
    async explain(call, context, seesShards) {
      calls.push(call);
      await search(call, context);
      return { ...explanationOf(call.query), ...(seesShards ? { shards: [] } : {}) };
    },
    navigate: options.navigate ?? findNothing,
    suggest: async () => [{ value: 'a' }],
  };
}

type ReadingServices = Pick<Services, 'source' | 'history' | 'trees' | 'refs' | 'skipped'>;

function readingOf({ source, history, refs }: WorldOptions): ReadingServices {
  const readText = async () => ({ bytes: Buffer.from('text\n'), language: 'Text', blobSha: 'abc' });
  return {
    source: { read: source ?? readText },
    history: {
      blame: async () => Buffer.from('{"ranges":[],"commits":{}}'),
      diff: async () => ({ total: 0, json: Buffer.from('{"files":[]}') }),
      commit: async () => COMMIT,
      commits: async () => ({ total: 1, items: [COMMIT] }),
      authors: async () => [{ name: 'A', email: 'a@example.com', commitCount: 1 }],
      ...history,
    },
    trees: {
      files: async () => ['a.txt'],
      folders: async () => new Map([['', [{ name: 'a.txt', type: 'blob' }]]]),
    },
    refs: { list: refs ?? (async () => []) },
    skipped: { list: async () => ({ items: [], total: 0 }) },
  };
}

type IndexingServices = Pick<Services, 'jobs' | 'connections' | 'webhooks'>;

function indexingOf({ jobs, connections }: WorldOptions): IndexingServices {
  return {
    jobs: {
      index: async () => 'job',
      latest: async () => new Map(),
      list: async () => ({ items: [], total: 0 }),
      lines: async () => undefined,
      counts: () => ({ firstTime: 0, failed: 0, warned: 0 }),
      commitOf: () => undefined,
      states: () => () => 'ready',
      sizesOf: () => undefined,
      askedAt: () => undefined,
      ...jobs,
    },
    connections: {
      list: () => [],
      idsOf: () => [],
      latest: async () => new Map(),
      sync: async () => undefined,
      counts: () => ({ firstTime: 0, failed: 0, warned: 0 }),
      ...connections,
    },
    webhooks: {
      isOn: () => true,
      take: ({ body }) => Promise.resolve({ outcome: 'taken', repositories: body.length }),
    },
  };
}

type StateServices = Pick<Services, 'readiness' | 'health' | 'operator'>;

function stateOf(
  options: WorldOptions,
  control: ControlPlane,
  countRepos: () => number,
): StateServices {
  return {
    readiness: {
      status: () => ({
        isReady: options.isReady ?? true,
        isStoreLost: control.isLost(),
        shardCount: 2,
        repoCount: countRepos(),
        quarantinedShardCount: 1,
        degraded: options.degraded ?? control.degraded(),
      }),
      quarantine: () => [{ shardId: 'ab', bytes: 10, reason: 'cut off', repositories: ['host/a'] }],
    },
    operator: {
      rules: { list: () => [], change: () => Promise.resolve(), remove: () => Promise.resolve() },
      status: undefined,
      async *backup() {
        yield Buffer.from('first ');
        yield Buffer.from('second');
      },
      ...options.operator,
    },
    health: {
      series: (window) => [
        {
          at: window,
          searchesPerSecond: 0.5,
          p50Ms: 1.25,
          p99Ms: null,
          waiting: 0,
          privateBytes: 1,
          shards: 2,
        },
      ],
    },
  };
}

/** The control plane with a store of its own, which it closes. */
export async function openControl(
  configuration: Configuration,
  directory: RepoDirectory,
  log: Log,
  now?: () => number,
): Promise<ControlPlane> {
  const { dataDir, databaseUrl } = configuration;
  const address = databaseUrl?.reveal();
  const store = await openStore({
    dataDir,
    databaseUrl: address,
    log,
    answerMsMax: ANSWER_MS_MAX,
  });
  try {
    const control = await openControlPlane(configuration, directory, log, store, now);
    const close = async (): Promise<void> => {
      await control.close();
      await store.close();
    };
    return { ...control, close };
  } catch (error) {
    await store.close();
    throw error;
  }
}

export async function startWorld(options: WorldOptions): Promise<World> {
  const { kind, repos = [] } = options;
  const listRepos = typeof repos === 'function' ? repos : () => repos;
  const env = {
    TRAWL_PORT: '0',
    TRAWL_HTTP: kind ?? 'node',
    TRAWL_SECRET: 's'.repeat(32),
    TRAWL_DATA_DIR: temporaryFolder(),
    ...options.env,
  };
  const configuration = readConfiguration(
    options.settings === undefined ? { env } : { env, settings: options.settings },
  );
  const lines: Record<string, unknown>[] = [];
  const calls: SearchRequest[] = [];
  const log = createLog({
    level: options.logLevel ?? 'info',
    format: 'json',
    write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  const directory = new RepoDirectory(listRepos);
  const control = await openControl(configuration, directory, log, options.now);
  await control.store.repos.change(() => ({ changed: directory.all.map(storedOf), result: null }));
  const services: Services = {
    repos: directory,
    search: searchOf(options, calls),
    ...readingOf(options),
    ...indexingOf(options),
    ...stateOf(options, control, () => listRepos().length),
  };
  const server = await createServer({
    configuration,
    services,
    log,
    ...control,
    requestTimeoutMs: options.requestTimeoutMs,
    streamStallMs: options.streamStallMs,
    onAnswerOver: options.onAnswerOver,
  });
  const world: World = {
    server,
    lines,
    calls,
    call: (call) => send(server, kind, call),
    control,
    configuration,
    async close() {
      await server.close(0);
      await control.close();
    },
  };
  openWorlds.add(world);
  return world;
}

/** A stream of these events; an Error among them ends it. */
export function eventStream(events: readonly (object | Error)[]): EventStream {
  const remaining = [...events];
  return {
    async next() {
      const event = remaining.shift();
      if (event instanceof Error) throw event;
      return event === undefined ? undefined : { json: Buffer.from(JSON.stringify(event)) };
    },
    close: () => {},
  };
}

export type CallOptions = RawCall;

export interface Reply extends RawReply {
  readonly json: () => Record<string, unknown>;
}

/** The answer to a request; it must be one that the API description allows. */
async function send(
  server: RunningServer,
  kind: WorldOptions['kind'],
  options: CallOptions,
): Promise<Reply> {
  const reply = await (kind === undefined ? sendInProcess : sendRaw)(server, options);
  const { method = 'GET', path, headers = {} } = options;
  const accept = Object.entries(headers).find(([name]) => /^accept$/i.test(name))?.[1];
  checkReply({ method, path, accept: accept?.toString() }, reply, prefixOf(server));
  return {
    ...reply,
    json: () => JSON.parse(reply.body.toString('utf8')) as Record<string, unknown>,
  };
}

function prefixOf({ url }: RunningServer): string {
  return new URL(url).pathname.replace(/\/$/, '');
}

export function searchWith(body: unknown, headers: Record<string, string> = {}): CallOptions {
  return { method: 'POST', path: '/api/search', headers, body: JSON.stringify(body) };
}

export const SEARCH_BODY = { query: 'needle', matches: 10 };

/** A bare connection: what comes back as latin-1 text; whole answers are checked where it is waited for. */
export interface Wire {
  readonly socket: Socket;
  write(text: string): void;
  /** A request with a body of JSON. @param headers  further lines */
  post(path: string, body: object, headers?: string): void;
  /** Resolves with everything received so far once it holds `text` `count` times. */
  until(text: string, count?: number): Promise<string>;
  /** Resolves with everything received when the server has closed the connection. */
  closed(): Promise<string>;
}

export function openWire(server: RunningServer): Wire {
  const { address } = server;
  const socket = connect(address.port, address.host);
  let written = '';
  let received = '';
  let checkedCount = 0;
  let check = () => {};
  let isClosed = false;
  socket.setEncoding('latin1');
  socket.on('data', (text: string) => {
    received += text;
    check();
  });
  socket.on('error', () => {});
  socket.on('close', () => {
    isClosed = true;
    check();
  });
  const checkReplies = () => {
    const replies = repliesIn(written, received).slice(checkedCount);
    checkedCount += replies.length;
    for (const reply of replies) checkReply(reply, reply, prefixOf(server));
  };
  const wait = (isDone: () => boolean) =>
    new Promise<void>((resolve, reject) => {
      check = () => {
        if (isDone()) resolve();
        else if (isClosed) reject(new Error(`connection closed after: ${received.slice(0, 500)}`));
      };
      check();
    }).then(() => {
      checkReplies();
      return received;
    });
  const write = (text: string): void => {
    written += text;
    socket.write(text);
  };
  return {
    socket,
    write,
    post(path, value, headers = '') {
      const body = JSON.stringify(value);
      const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`;
      write(`POST ${path} HTTP/1.1\r\nHost: localhost\r\n${headers}${length}\r\n${body}`);
    },
    until: (text, count = 1) => wait(() => received.split(text).length > count),
    closed: () => wait(() => isClosed),
  };
}

/** A promise that others settle. */
export function gate<Value = void>() {
  let open: (value: Value) => void = () => {};
  const opened = new Promise<Value>((resolve) => {
    open = resolve;
  });
  return { opened, open: (value: Value) => open(value) };
}

/** Polls until `isDone`; for effects that have no event of their own. */
export async function eventually(isDone: () => boolean): Promise<void> {
  for (let i = 0; i < 6000 && !isDone(); i++) {
    await new Promise((resolve) => {
      setTimeout(resolve, 10);
    });
  }
  if (!isDone()) throw new Error('did not happen within 60 s');
}
