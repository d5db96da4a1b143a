// The attacking clients: requests over HTTP, read at full speed or 1 KB a second, and bare connections. An answer that
// is no success must be a proper refusal.

import { Agent, type IncomingMessage, request } from 'node:http';
import { connect } from 'node:net';
import { addAbortSignal } from 'node:stream';

export interface Call {
  readonly path: string;
  readonly body?: string;
  /** Default: any type. */
  readonly accept?: string;
}

const JSON_TYPE = { 'content-type': 'application/json' };

export function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
  });
}

/** The problem of a refusal; '' if there is none. */
function faultOf(answer: IncomingMessage, text: string): string {
  if (answer.statusCode === 503 && !/^\d+$/.test(answer.headers['retry-after'] ?? ''))
    return ' without Retry-After';
  try {
    const body: unknown = JSON.parse(text);
    const isError = typeof body === 'object' && body !== null && 'errorCode' in body;
    return isError ? '' : ' without errorCode';
  } catch {
    return ' without error object';
  }
}

/** Keeps only the first bytes. */
function readAll(answer: IncomingMessage): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = '';
    answer.on('data', (part: Buffer) => {
      if (text.length < 65_536) text += part.toString('latin1');
    });
    answer.on('end', () => {
      resolve(text);
    });
    answer.on('close', () => {
      reject(new Error('cut'));
    });
  });
}

/** Reads a little at a time until the answer ends or the signal aborts. Rejects if the answer is cut. */
function readSlowly(answer: IncomingMessage, signal: AbortSignal): Promise<void> {
  addAbortSignal(signal, answer);
  return new Promise((resolve, reject) => {
    const timer = setInterval(() => answer.read(1024) as unknown, 1000);
    answer.on('end', resolve);
    answer.on('close', () => {
      clearInterval(timer);
      reject(new Error('cut'));
    });
    answer.pause();
  });
}

interface SendOptions {
  readonly isSlow?: boolean;
  /** Default: a connection of its own. */
  readonly agent?: Agent;
  /** Ends this request early. */
  readonly end?: AbortSignal;
}

export class Crew {
  readonly #url: URL;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #signal: AbortSignal;
  /** By status, by fault, or by the kind of failure. */
  readonly counts = new Map<string, number>();

  /** The signal ends all requests, connections and loops. */
  constructor(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal) {
    this.#url = new URL(url);
    this.#headers = headers;
    this.#signal = signal;
  }

  get signal(): AbortSignal {
    return this.#signal;
  }

  #count(outcome: string): void {
    this.counts.set(outcome, (this.counts.get(outcome) ?? 0) + 1);
  }

  /** True: a success. */
  async send(call: Call, { isSlow = false, agent, end }: SendOptions = {}): Promise<boolean> {
    const signal = end === undefined ? this.#signal : AbortSignal.any([end, this.#signal]);
    let answer: IncomingMessage;
    try {
      answer = await this.#send(call, agent, signal);
    } catch {
      this.#count(signal.aborted ? 'no answer at the end' : 'closed without answer');
      return false;
    }
    const status = answer.statusCode ?? 0;
    try {
      if (status === 200) {
        this.#count('200');
        if (isSlow) await readSlowly(answer, signal);
        else await readAll(answer);
        return true;
      }
      this.#count(`${status}${faultOf(answer, await readAll(answer))}`);
    } catch {
      if (!signal.aborted) this.#count(`${status} cut`);
    }
    return false;
  }

  #send({ path, body, accept }: Call, agent: Agent | undefined, signal: AbortSignal) {
    return new Promise<IncomingMessage>((resolve, reject) => {
      const options = {
        agent: agent ?? false,
        method: body === undefined ? 'GET' : 'POST',
        headers: {
          ...this.#headers,
          ...(body === undefined ? {} : JSON_TYPE),
          ...(accept === undefined ? {} : { accept }),
        },
        signal,
      };
      const call = request(new URL(path, this.#url), options, (answer) => {
        answer.on('error', () => {}); // 'close' follows
        resolve(answer);
      });
      call.on('error', reject);
      call.end(body);
    });
  }

  /** `connectionCount` clients that each send the next call after the last answer, until the end. */
  async loop(connectionCount: number, next: (index: number) => Call): Promise<void> {
    let index = 0;
    const drive = async (): Promise<void> => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      while (!this.#signal.aborted) {
        const isFine = await this.send(next(index++), { agent });
        // Shorter than `Retry-After` says, as an attacker waits.
        if (!isFine) await pause(20, this.#signal);
      }
      agent.destroy();
    };
    await Promise.all(Array.from({ length: connectionCount }, drive));
  }

  /** `connectionCount` slow readers, one call each; waits until the end. */
  async readSlowly(connectionCount: number, next: (index: number) => Call): Promise<void> {
    const sendSlowly = (_: unknown, i: number): Promise<boolean> =>
      this.send(next(i), { isSlow: true });
    await Promise.all(Array.from({ length: connectionCount }, sendSlowly));
    await this.untilEnd();
  }

  untilEnd(): Promise<void> {
    return pause(2 ** 31 - 1, this.#signal);
  }

  /** A connection that sends bytes as they are and no more, to the end; the status of an early answer is counted. */
  keepOpen(bytes: readonly (string | Buffer)[]): void {
    const socket = connect(Number(this.#url.port), this.#url.hostname);
    let head = '';
    socket.on('error', () => {});
    socket.on('data', (part: Buffer) => {
      head = (head + part.toString('latin1')).slice(0, 20);
    });
    socket.on('close', () => {
      const status = /^HTTP\/1\.1 (\d{3})/.exec(head)?.[1];
      this.#count(status ?? (this.#signal.aborted ? 'held to the end' : 'closed without answer'));
    });
    for (const part of bytes) socket.write(part);
    this.#signal.addEventListener('abort', () => socket.destroy());
  }
}
