// Load generator: kept-alive connections, each sending the next prepared request after an answer. It shares the
// processor with the daemon, so it parses only heads; its own cost is measured.

import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import type { Socket } from 'node:net';
import { summarizeLatency } from '../daemon/cli/bench/statistics.ts';
import type { Latency } from '../daemon/cli/bench/statistics.ts';

export interface LoadFigure {
  readonly connectionCount: number;
  readonly requestsPerSecond: number;
  readonly latency: Latency;
  /** Share of the processor time of generator and daemon; undefined without /proc. */
  readonly generatorShare: number | undefined;
}

const HEAD_END = '\r\n\r\n';

/** User and system time in ms, of the process or of its children that ended; undefined without /proc. */
export function processorMs(pid: number, ofChildren = false): number | undefined {
  try {
    const text = readFileSync(`/proc/${String(pid)}/stat`, 'utf8');
    // The program's name stands in parentheses and may contain blanks.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    // 100 clock ticks a second in /proc; fixed on Linux for user space.
    const [user, system] = fields.slice(ofChildren ? 13 : 11);
    return ((Number(user) + Number(system)) * 1000) / 100;
  } catch {
    return undefined;
  }
}

function requestBytes(url: URL, body: string): Buffer {
  const head = [
    'POST /api/search HTTP/1.1',
    `Host: ${url.host}`,
    'Content-Type: application/json',
    `Content-Length: ${String(Buffer.byteLength(body))}`,
  ];
  return Buffer.from(`${head.join('\r\n')}${HEAD_END}${body}`);
}

/** The function returns whether the bytes complete an answer. Throws if an answer is not 200 or has no size. */
export function createAnswerReader(): (data: Buffer) => boolean {
  let head = '';
  let missingSize = 0;
  return (data) => {
    if (missingSize > 0) {
      missingSize -= data.length;
    } else {
      // Latin-1: an offset in the text is one in the data.
      head += data.toString('latin1');
      const end = head.indexOf(HEAD_END);
      if (end === -1) return false;
      if (!head.startsWith('HTTP/1.1 200')) throw new Error(`answered ${head.slice(0, 300)}`);
      const size = /\r\ncontent-length: *(\d+)/i.exec(head.slice(0, end + 2))?.[1];
      if (size === undefined) throw new Error(`no size in ${head.slice(0, end)}`);
      missingSize = end + HEAD_END.length + Number(size) - head.length;
      head = '';
    }
    if (missingSize < 0) throw new Error('more bytes than the answer has');
    return missingSize === 0;
  };
}

interface Driver {
  readonly requests: readonly Buffer[];
  readonly latenciesMs: number[];
  /** No request is sent after this time. */
  readonly endMs: number;
  readonly buffer: Buffer;
}

/** `first`: number of the first request. */
function drive(url: URL, { requests, latenciesMs, endMs, buffer }: Driver, first: number) {
  return new Promise<void>((resolve, reject) => {
    const isComplete = createAnswerReader();
    let next = first;
    let sentMs = 0;
    let isOver = false;
    const send = (): void => {
      sentMs = performance.now();
      isOver = sentMs >= endMs;
      if (isOver) socket.destroy();
      else socket.write(requests[next++ % requests.length] ?? '');
    };
    const callback = (size: number): boolean => {
      try {
        if (isComplete(buffer.subarray(0, size))) {
          latenciesMs.push(performance.now() - sentMs);
          send();
        }
      } catch (error) {
        socket.destroy(error instanceof Error ? error : new Error(String(error)));
      }
      return true;
    };
    const onread = { buffer, callback };
    const socket: Socket = connect({ host: url.hostname, port: Number(url.port), onread }, send);
    socket.setNoDelay(true);
    socket.on('error', reject);
    socket.on('close', () => {
      if (isOver) resolve();
      else reject(new Error('the daemon closed a connection'));
    });
  });
}

/**
 * Each connection begins at another place of `bodies` (of `POST /api/search`, at least one); `pid`: of the daemon.
 * Rejects if an answer is not 200, or a connection fails.
 */
export async function measureLoad(
  { url, pid }: { readonly url: string; readonly pid: number },
  bodies: readonly string[],
  connectionCount: number,
  timeMs: number,
): Promise<LoadFigure> {
  const address = new URL(url);
  const requests = bodies.map((body) => requestBytes(address, body));
  const before = [processorMs(process.pid), processorMs(pid)];
  const startMs = performance.now();
  const driver: Driver = {
    requests,
    latenciesMs: [],
    endMs: startMs + timeMs,
    buffer: Buffer.alloc(65_536),
  };
  const all = Array.from({ length: connectionCount }, (_, i) => drive(address, driver, i));
  await Promise.all(all);
  const durationMs = performance.now() - startMs;
  const after = [processorMs(process.pid), processorMs(pid)];
  const [own = NaN, daemon = NaN] = after.map((ms, i) => (ms ?? NaN) - (before[i] ?? NaN));
  const share = own / (own + daemon);
  return {
    connectionCount,
    requestsPerSecond: (1000 * driver.latenciesMs.length) / durationMs,
    latency: summarizeLatency(driver.latenciesMs),
    generatorShare: Number.isFinite(share) ? share : undefined,
  };
}
