// One question to an address that a configuration file comes from: by the proxies and certificates of the environment, as code
// hosts are asked. Loaded when there is such an address.

import { type Dispatcher, request } from 'undici';
import { openBriefWay, type Environment } from './way.ts';

export interface AskedAddress {
  readonly status: number;
  /** Where a redirect leads. */
  readonly location: string | undefined;
  readonly tag: string | undefined;
  /** Undefined: it is larger than `sizeMax`. */
  readonly text: string | undefined;
}

export interface AddressQuestion {
  readonly url: URL;
  /** Of what is known; the answer may be that nothing has changed. */
  readonly tag: string | undefined;
  readonly env: Environment;
  readonly signal: AbortSignal;
  /** Bytes. */
  readonly sizeMax: number;
  /** Of a connection, of headers, and between two pieces of a body, ms. */
  readonly silenceMs: number;
}

/** The answer, which is no redirect that was followed. Errors: ConfigError of a proxy; those of the network. */
export async function askAddress(question: AddressQuestion): Promise<AskedAddress> {
  const { url, env, silenceMs } = question;
  const way = openBriefWay(url, env, silenceMs);
  try {
    return await ask(question, way);
  } finally {
    await way.destroy();
  }
}

async function ask(question: AddressQuestion, dispatcher: Dispatcher): Promise<AskedAddress> {
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
    // Leaving the loop ends the answer.
    if (size > sizeMax) return undefined;
    parts.push(part);
  }
  return Buffer.concat(parts).toString('utf8');
}

function firstOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}
