// Sends one request for a configuration file at an address, through the environment's proxies and certificates, as requests
// to code hosts. Loaded only if there is such an address.

import { type Dispatcher, request } from 'undici';
import { openSingleUseDispatcher, type Environment } from './dispatcher.ts';

export interface AddressAnswer {
  readonly status: number;
  /** Target of a redirect. */
  readonly location: string | undefined;
  readonly tag: string | undefined;
  /** Undefined: larger than `sizeMax`. */
  readonly text: string | undefined;
}

export interface AddressQuestion {
  readonly url: URL;
  /** ETag of the stored copy; the answer may be "not modified". */
  readonly tag: string | undefined;
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Bytes. */
  readonly sizeMax: number;
  /** Of connecting, of headers, and between two chunks of a body, ms. */
  readonly silenceMs: number;
}

/** The answer; redirects are not followed. Errors: ConfigError of a proxy; network errors. */
export async function fetchAddress(question: AddressQuestion): Promise<AddressAnswer> {
  const { url, env, silenceMs } = question;
  const dispatcher = openSingleUseDispatcher(url, env, silenceMs);
  try {
    return await send(question, dispatcher);
  } finally {
    await dispatcher.destroy();
  }
}

async function send(question: AddressQuestion, dispatcher: Dispatcher): Promise<AddressAnswer> {
  const { url, tag, signal, sizeMax } = question;
  const { statusCode, headers, body } = await request(url, {
    headers: {
      accept: '*/*',
      'user-agent': 'trawl',
      ...(tag === undefined ? {} : { 'if-none-match': tag }),
    },
    signal,
    dispatcher,
    // Safety: as in hosts/transport.ts.
    highWaterMark: 2 * sizeMax,
  });
  return {
    status: statusCode,
    location: firstOf(headers.location),
    tag: firstOf(headers['etag']),
    text: await textOf(body, sizeMax),
  };
}

async function textOf(
  body: AsyncIterable<Uint8Array>,
  sizeMax: number,
): Promise<string | undefined> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of body) {
    size += part.length;
    // Leaving the loop closes the answer.
    if (size > sizeMax) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
