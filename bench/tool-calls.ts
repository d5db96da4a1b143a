// What the tool server costs: a call of the tool `grep` beside the same search over `POST /api/search`, asked in turn; and
// sessions that are open and idle: memory of each, processor time of all.
//
//   node build/bench/tool-calls.js TREE [DATA]
//
// DATA is the data directory of an index of TREE; without it one is made.

import { mkdtempSync, rmSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildIndex, privateMemorySize, type RunningDaemon, startDaemon } from './daemon.ts';
import { processorMs } from './load.ts';
import {
  type Column,
  formatMs,
  formatTable,
  type Latency,
  summarizeLatency,
} from './statistics.ts';

/** Words that stand in few files of the Linux tree. */
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

/** Sessions that are there before memory is looked at, and those that are counted. */
const FIRST_SESSIONS = 1000;
const MORE_SESSIONS = 3000;
/** Each guest has its own address, and so many sessions. */
const SESSIONS_OF_ONE = 100;
const REST_MS = 15_000;
const IDLE_MS = 20_000;

interface Reply {
  readonly session: string;
  readonly body: string;
}

class ToolClient {
  readonly #url: string;
  readonly #agent: Agent;
  #session: string | undefined;

  /** @param localAddress  where it calls from */
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

  /** Errors: an answer that is no success. */
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

/** The tool and the endpoint in turn, on a connection each. */
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

/** The search that the tool does. */
function searchFor(query: string): object {
  return {
    query,
    matches: MATCHES,
    isRegexEnabled: true,
    isCaseSensitivityEnabled: true,
    maxLineBytes: LINE_SIZE,
  };
}

/** @param first  number of the first, which says where it calls from */
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

async function measureSessions({ url, pid }: RunningDaemon) {
  await openSessions(url, 0, FIRST_SESSIONS);
  await sleep(REST_MS);
  const before = privateMemorySize(pid);
  const idle = [processorMs(pid) ?? NaN];
  await sleep(IDLE_MS);
  idle.push(processorMs(pid) ?? NaN);
  await openSessions(url, FIRST_SESSIONS, MORE_SESSIONS);
  await sleep(REST_MS);
  return {
    sizeOfOne: (privateMemorySize(pid) - before) / MORE_SESSIONS,
    idleShare: ((idle[1] ?? NaN) - (idle[0] ?? NaN)) / IDLE_MS,
  };
}

const COLUMNS: readonly Column[] = [
  { title: 'Call', align: 'left' },
  { title: 'p50 ms', align: 'right' },
  { title: 'p95 ms', align: 'right' },
  { title: 'p99 ms', align: 'right' },
];

async function main([tree, given]: readonly string[]): Promise<void> {
  if (tree === undefined) throw new Error('usage: tool-calls.js TREE [DATA]');
  const sources = [path.resolve(tree)];
  const dataDir = given ?? mkdtempSync(path.join(tmpdir(), 'trawl-tool-calls-'));
  if (given === undefined) await buildIndex(sources, dataDir);
  try {
    const searching = await startDaemon(sources, dataDir);
    const { grep, search } = await compare(searching.url).finally(() => searching.stop());
    const rows = Object.entries({ grep, search }).map(([name, { p50Ms, p95Ms, p99Ms }]) => [
      name,
      ...[p50Ms, p95Ms, p99Ms].map(formatMs),
    ]);
    process.stdout.write(`${formatTable(COLUMNS, rows)}\n`);
    process.stdout.write(`grep takes ${formatMs(grep.p50Ms - search.p50Ms)} ms more (p50)\n\n`);
    const holding = await startDaemon(sources, dataDir);
    const { sizeOfOne, idleShare } = await measureSessions(holding).finally(() => holding.stop());
    process.stdout.write(
      `a session: ${(sizeOfOne / 1024).toFixed(1)} KB; ${String(FIRST_SESSIONS)} idle ones: ${(100 * idleShare).toFixed(2)}% of a core\n`,
    );
  } finally {
    if (given === undefined) rmSync(dataDir, { recursive: true, force: true });
  }
}

await main(process.argv.slice(2));
