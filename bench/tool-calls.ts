// What the tool server costs: a call of the tool `grep` beside the same search over `POST /api/search`, asked in turn; and
// sessions that are open and idle: memory of each, processor time of all.
//
//   node build/bench/tool-calls.js [TREE [DATA]]
//
// DATA is the data directory of an index of TREE; without it one is made. Without TREE only sessions are looked at.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fetch, WebSocket } from 'undici';
import { buildIndex, privateMemorySize, type RunningDaemon, startDaemon } from './daemon.ts';
import { processorMs } from './load.ts';
import {
  type Column,
  formatMs,
  formatTable,
  type Latency,
  summarizeLatency,
} from '../daemon/cli/bench/statistics.ts';

const RARE_WORDS = [
  'sanity_check_segment_list',
  'tracing_mark_write',
  'set_one_prio_perm',
  'kmalloc_oob_right',
  'irq_bypass_register_producer',
  'prctl_set_mm_map',
];
/** Rounds over all words, and those before that are not timed. */
const ROUNDS = 300;
const WARM_ROUNDS = 30;
const MATCHES = 100;
const LINE_SIZE = 2000;

/** Sessions before memory is measured, and those counted. */
const FIRST_SESSIONS = 1000;
const MORE_SESSIONS = 3000;
/** Each guest has its own address. */
const SESSIONS_OF_ONE = 100;
const REST_MS = 60_000;
const IDLE_MS = 20_000;
/** Nobody should use it. */
const INSPECTOR_PORT = 39_229;

interface Reply {
  readonly session: string;
  readonly body: string;
}

class ToolClient {
  readonly #url: string;
  readonly #agent: Agent;
  #session: string | undefined;

  constructor(url: string, localAddress = '127.0.0.1') {
    this.#url = url;
    this.#agent = new Agent({ keepAlive: true, maxSockets: 1, localAddress });
  }

  async open(): Promise<void> {
    this.#session = undefined;
    const clientInfo = { name: 'bench', version: '1' };
    const params = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo };
    const { session } = await this.post('/api/mcp', message('initialize', params));
    this.#session = session;
    await this.post('/api/mcp', { jsonrpc: '2.0', method: 'notifications/initialized' });
  }

  /** Rejects if the answer is no success. */
  post(address: string, body: unknown): Promise<Reply> {
    const headers = {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(this.#session === undefined ? {} : { 'mcp-session-id': this.#session }),
    };
    return new Promise((resolve, reject) => {
      const options = { agent: this.#agent, method: 'POST', headers };
      const call = request(new URL(address, this.#url), options, (reply) => {
        let text = '';
        reply.setEncoding('utf8').on('data', (part: string) => (text += part));
        reply.on('error', reject);
        reply.on('end', () => {
          if ((reply.statusCode ?? 500) < 300)
            resolve({ session: String(reply.headers['mcp-session-id']), body: text });
          else reject(new Error(`${address} answered ${String(reply.statusCode)}: ${text}`));
        });
      });
      call.on('error', reject);
      call.end(JSON.stringify(body));
    });
  }

  close(): void {
    this.#agent.destroy();
  }
}

function message(method: string, params: object): object {
  return { jsonrpc: '2.0', id: 1, method, params };
}

async function timed(work: () => Promise<Reply>, isRight: (body: string) => boolean) {
  const startMs = performance.now();
  const { body } = await work();
  const tookMs = performance.now() - startMs;
  if (!isRight(body)) throw new Error(`a wrong answer: ${body.slice(0, 300)}`);
  return tookMs;
}

async function compare(url: string): Promise<Readonly<Record<'grep' | 'search', Latency>>> {
  const [tools, plain] = [new ToolClient(url), new ToolClient(url)];
  await tools.open();
  const times = { grep: [] as number[], search: [] as number[] };
  for (let round = -WARM_ROUNDS; round < ROUNDS; round++)
    for (const word of RARE_WORDS) {
      const call = message('tools/call', { name: 'grep', arguments: { pattern: word } });
      const grepMs = await timed(
        () => tools.post('/api/mcp', call),
        (body) => body.includes('Found ') && body.includes(word),
      );
      const searchMs = await timed(
        () => plain.post('/api/search', searchFor(word)),
        (body) => body.includes(word),
      );
      if (round < 0) continue;
      times.grep.push(grepMs);
      times.search.push(searchMs);
    }
  tools.close();
  plain.close();
  return { grep: summarizeLatency(times.grep), search: summarizeLatency(times.search) };
}

function searchFor(query: string): object {
  return {
    query,
    matches: MATCHES,
    isRegexEnabled: true,
    isCaseSensitivityEnabled: true,
    maxLineBytes: LINE_SIZE,
  };
}

/** `first` determines the addresses. */
async function openSessions(url: string, first: number, count: number): Promise<void> {
  for (let number = first; number < first + count; number += SESSIONS_OF_ONE) {
    const client = new ToolClient(url, `127.0.1.${String(1 + number / SESSIONS_OF_ONE)}`);
    for (let i = 0; i < SESSIONS_OF_ONE; i++) {
      await client.open();
      await client.post('/api/mcp', message('tools/list', {}));
    }
    client.close();
  }
}

/** After a collection, by Node's inspector. */
async function heapSize(): Promise<number> {
  const targets = await fetch(`http://127.0.0.1:${String(INSPECTOR_PORT)}/json/list`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the inspector's own protocol
  const [target] = (await targets.json()) as readonly { readonly webSocketDebuggerUrl: string }[];
  const socket = new WebSocket(target?.webSocketDebuggerUrl ?? '');
  const send = (id: number, method: string): Promise<string> =>
    new Promise((resolve, reject) => {
      socket.addEventListener('message', ({ data }) => {
        if (String(data).startsWith(`{"id":${String(id)},`)) resolve(String(data));
      });
      socket.addEventListener('error', () => reject(new Error('the inspector does not answer')));
      socket.send(JSON.stringify({ id, method }));
    });
  await new Promise((resolve) => socket.addEventListener('open', resolve));
  await send(1, 'HeapProfiler.collectGarbage');
  const usage = await send(2, 'Runtime.getHeapUsage');
  socket.close();
  return Number(/"usedSize":(\d+)/.exec(usage)?.[1]);
}

async function idleShareOf(pid: number): Promise<number> {
  const before = processorMs(pid) ?? NaN;
  await sleep(IDLE_MS);
  return ((processorMs(pid) ?? NaN) - before) / IDLE_MS;
}

async function measureSessions({ url, pid }: RunningDaemon) {
  process.kill(pid, 'SIGUSR1');
  await sleep(REST_MS);
  const emptyShare = await idleShareOf(pid);
  await openSessions(url, 0, FIRST_SESSIONS);
  await sleep(REST_MS);
  const idleShare = await idleShareOf(pid);
  const before = { heap: await heapSize(), all: privateMemorySize(pid) };
  await openSessions(url, FIRST_SESSIONS, MORE_SESSIONS);
  await sleep(REST_MS);
  const heap = (await heapSize()) - before.heap;
  const all = privateMemorySize(pid) - before.all;
  return { heapOfOne: heap / MORE_SESSIONS, allOfOne: all / MORE_SESSIONS, emptyShare, idleShare };
}

const COLUMNS: readonly Column[] = [
  { title: 'Call', align: 'left' },
  { title: 'p50 ms', align: 'right' },
  { title: 'p95 ms', align: 'right' },
  { title: 'p99 ms', align: 'right' },
];

async function thenStop<Result>(
  daemon: RunningDaemon,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } finally {
    await daemon.stop();
  }
}

async function showCalls(tree: string, dataDir: string): Promise<void> {
  const daemon = await startDaemon([tree], dataDir);
  const { grep, search } = await thenStop(daemon, () => compare(daemon.url));
  const rows = Object.entries({ grep, search }).map(([name, { p50Ms, p95Ms, p99Ms }]) => [
    name,
    ...[p50Ms, p95Ms, p99Ms].map(formatMs),
  ]);
  process.stdout.write(`${formatTable(COLUMNS, rows)}\n`);
  process.stdout.write(`grep takes ${formatMs(grep.p50Ms - search.p50Ms)} ms more (p50)\n`);
}

/** On one file, so that the daemon has nothing else to do. */
async function showSessions(folder: string): Promise<void> {
  const source = path.join(folder, 'source');
  mkdirSync(source);
  writeFileSync(path.join(source, 'a.txt'), 'a\n');
  const env = { NODE_OPTIONS: `--inspect-port=127.0.0.1:${String(INSPECTOR_PORT)}` };
  const daemon = await startDaemon([source], path.join(folder, 'data'), { env });
  const figures = await thenStop(daemon, () => measureSessions(daemon));
  const [heap, all] = [figures.heapOfOne, figures.allOfOne].map((size) => (size / 1024).toFixed(1));
  const [empty, idle] = [figures.emptyShare, figures.idleShare].map((share) =>
    (100 * share).toFixed(2),
  );
  process.stdout.write(`a session: ${heap} KB of heap, ${all} KB of private memory\n`);
  process.stdout.write(
    `a core at rest: ${empty}% without a session, ${idle}% with ${String(FIRST_SESSIONS)}\n\n`,
  );
}

async function main([tree, output]: readonly string[]): Promise<void> {
  const folder = mkdtempSync(path.join(tmpdir(), 'trawl-tool-calls-'));
  try {
    await showSessions(folder);
    if (tree === undefined) return;
    const dataDir = output ?? path.join(folder, 'tree');
    if (output === undefined) await buildIndex([path.resolve(tree)], dataDir);
    await showCalls(path.resolve(tree), dataDir);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

await main(process.argv.slice(2));
