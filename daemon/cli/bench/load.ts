// Asks an instance in loops. Closed: each connection asks again after its answer. Open: requests start at a fixed rate
// whether answers come or not, and count from the time they were due, so that a stall delays all that fall into it.

import { Agent as HttpAgent, request as httpRequest, type RequestOptions } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { setTimeout } from 'node:timers/promises';

export interface Reply {
  readonly status: number;
  readonly body: Buffer;
}

/** A request by its number; rejects if the connection fails. */
export type Ask = (index: number) => Promise<Reply>;

export interface Asker {
  readonly ask: (body: string) => Promise<Reply>;
  readonly close: () => void;
}

/** Bound: open connections; what exceeds it waits, and its time runs. */
const CONNECTIONS_MAX = 1000;

export function openAsker(address: URL, apiKey: string | undefined): Asker {
  const settings = { keepAlive: true, maxSockets: CONNECTIONS_MAX };
  const isSecure = address.protocol === 'https:';
  const agent = isSecure ? new HttpsAgent(settings) : new HttpAgent(settings);
  const key = apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` };
  const headers = { 'content-type': 'application/json', ...key };
  return {
    ask: (body) => send(address, { agent, method: 'POST', headers }, body),
    close: () => {
      agent.destroy();
    },
  };
}

/** The whole answer, not parsed: that would measure this process. Rejects if the connection fails. */
export function send(address: URL, options: RequestOptions, body?: string): Promise<Reply> {
  const request = address.protocol === 'https:' ? httpsRequest : httpRequest;
  return new Promise((resolve, reject) => {
    const call = request(address, options, (reply) => {
      const parts: Buffer[] = [];
      reply.on('data', (part: Buffer) => parts.push(part));
      reply.on('error', reject);
      reply.on('end', () => {
        resolve({ status: reply.statusCode ?? 0, body: Buffer.concat(parts) });
      });
    });
    call.on('error', reject);
    call.end(body);
  });
}

/** `onReply` gets the number of the request; `isOver` is asked before each. */
export async function closedLoop(
  ask: Ask,
  connectionCount: number,
  isOver: (index: number) => boolean,
  onReply: (index: number, reply: Reply, ms: number) => void,
): Promise<void> {
  let next = 0;
  const connect = async (): Promise<void> => {
    while (!isOver(next)) {
      const index = next++;
      const startMs = performance.now();
      const reply = await ask(index);
      onReply(index, reply, performance.now() - startMs);
    }
  };
  await Promise.all(Array.from({ length: connectionCount }, connect));
}

/** `rate`: requests a second. Resolves after the last answer. */
export async function openLoop(
  ask: Ask,
  rate: number,
  count: number,
  onReply: (index: number, reply: Reply, ms: number) => void,
): Promise<void> {
  const startMs = performance.now();
  const pending: Promise<void>[] = [];
  const send = async (index: number, dueMs: number): Promise<void> => {
    // A lost connection is counted, as an answer that is not 200; the others still go on.
    const reply = await ask(index).catch((error: unknown): Reply => ({
      status: 0,
      body: Buffer.from(String(error)),
    }));
    onReply(index, reply, performance.now() - dueMs);
  };
  for (let index = 0; index < count; index++) {
    const dueMs = startMs + (index * 1000) / rate;
    const restMs = dueMs - performance.now();
    if (restMs > 0) await setTimeout(restMs);
    pending.push(send(index, dueMs));
  }
  await Promise.all(pending);
}
