// Sends one request to an address of the configuration (its file, an identity provider), through the environment's proxies
// and certificates, as requests to code hosts. Loaded only if there is such an address.

import { type Dispatcher, request } from 'undici';
import { openDispatcher, type Environment } from './dispatcher.ts';

export interface AddressAnswer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData['headers'];
  /** Undefined: larger than `sizeMax`. */
  readonly body: Buffer<ArrayBuffer> | undefined;
}

export interface AddressQuestion {
  readonly url: URL;
  readonly method?: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | null;
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Bytes of the answer. */
  readonly sizeMax: number;
  /** Of connecting, of headers, and between two chunks of a body, ms. */
  readonly silenceMs: number;
}

/** The answer; redirects are not followed. Errors: ConfigError of a proxy; network errors. */
export async function fetchAddress(question: AddressQuestion): Promise<AddressAnswer> {
  const { url, method = 'GET', headers, body = null, env, signal, sizeMax, silenceMs } = question;
  const dispatcher = openDispatcher(url.protocol, {
    hostname: url.hostname,
    caFile: undefined,
    env,
    connectMs: silenceMs,
    silenceMs,
    connectionsMax: 1,
  });
  try {
    const answer = await request(url, {
      method,
      headers: { ...headers, 'user-agent': 'trawl' },
      body,
      signal,
      dispatcher,
      // Safety: as in hosts/transport.ts.
      highWaterMark: 2 * sizeMax,
    });
    return {
      status: answer.statusCode,
      headers: answer.headers,
      body: await bytesOf(answer.body, sizeMax),
    };
  } finally {
    await dispatcher.destroy();
  }
}

async function bytesOf(
  body: AsyncIterable<Uint8Array>,
  sizeMax: number,
): Promise<Buffer<ArrayBuffer> | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    // Leaving the loop closes the answer.
    if (size > sizeMax) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts);
}
