// A client over node:http that sends paths unchanged and checks nothing.

import { request, type ClientRequest, type IncomingHttpHeaders } from 'node:http';
import type { BoundAddress } from '../../daemon/http/adapters/adapter.ts';

export interface RawCall {
  readonly method?: string;
  /** Sent as it is. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>> | undefined;
  readonly body?: string | Uint8Array | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface RawReply {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Sends a request on a connection of its own. */
export function sendRaw(
  { address }: { readonly address: BoundAddress },
  call: RawCall,
): Promise<RawReply> {
  const { body, ...head } = call;
  const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) };
  const headers = { ...length, ...call.headers };
  return replyTo(request({ ...address, agent: false, ...head, headers } as object), body);
}

/** Sends the body of a request that was begun, and waits for the answer. */
export function replyTo(sent: ClientRequest, body: RawCall['body']): Promise<RawReply> {
  return new Promise((resolve, reject) => {
    sent.on('response', (reply) => {
      const chunks: Buffer[] = [];
      reply.on('data', (chunk: Buffer) => chunks.push(chunk));
      reply.on('error', reject);
      reply.on('end', () =>
        resolve({
          status: reply.statusCode ?? 0,
          headers: reply.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    sent.on('error', reject);
    sent.end(body);
  });
}
