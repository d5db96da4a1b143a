// A client that calls the pipeline without a socket: for tests of endpoints, which do not depend on the adapter.

import { setImmediate } from 'node:timers/promises';
import { allBytes } from '../../daemon/base/lazy-bytes.ts';
import { bodySize, isBodyStream, RequestFault } from '../../daemon/http/adapters/adapter.ts';
import type {
  BodyAllowance,
  BodyStream,
  HttpHandler,
  HttpResponse,
} from '../../daemon/http/adapters/adapter.ts';
import { LazySignal } from '../../daemon/base/cancellation.ts';
import {
  BodyCollector,
  declaredSize,
  HeaderMap,
} from '../../daemon/http/adapters/exchange-parts.ts';
import { faultOf, parseTarget } from '../../daemon/http/adapters/request-head.ts';
import { checkReply } from '../api/checker.ts';
import type { RawCall, RawReply } from './raw-client.ts';

export interface Target {
  readonly handle: HttpHandler;
}

/** The answer to a request. Its signal is that of a client that leaves. */
export async function sendInProcess({ handle }: Target, call: RawCall): Promise<RawReply> {
  const { method = 'GET', path, body, signal } = call;
  const headers = headersOf({ ...lengthOf(body), ...call.headers });
  if (headers.get('host') === undefined) headers.append('host', '127.0.0.1');
  const gone = new LazySignal();
  signal?.addEventListener('abort', () => gone.abort());
  const collector = new BodyCollector(declaredSize(headers));
  if (body !== undefined) collector.push(Buffer.from(body));
  collector.end();
  const target = parseTarget(path);
  const { path: route, rawQuery } =
    target instanceof RequestFault ? { path: '', rawQuery: '' } : target;
  const fault = target instanceof RequestFault ? target : faultOf(headers, '1.1');
  const request = {
    method,
    path: route,
    rawQuery,
    remoteAddress: '127.0.0.1',
    fault,
    headers,
    signal: gone,
    body: (allowance: BodyAllowance) => collector.read(allowance),
  };
  return replyOf(await handle(request), method);
}

/** As `fetch`, through the pipeline; the answer must be one that the API description allows. */
export async function fetchInProcess(
  target: Target,
  path: string,
  init: RequestInit = {},
): Promise<Response> {
  const { method = 'GET', signal } = init;
  const headers = Object.fromEntries(new Headers(init.headers));
  const body = (init.body ?? undefined) as string | undefined;
  const call = { method, path, headers, body, signal: signal ?? undefined };
  const reply = await sendInProcess(target, call);
  signal?.throwIfAborted();
  checkReply({ method, path, accept: headers['accept'] }, reply);
  return new Response(reply.body.length > 0 ? new Uint8Array(reply.body) : null, {
    status: reply.status,
    headers: Object.entries(reply.headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((one): [string, string] => [name, one]),
    ),
  });
}

function lengthOf(body: RawCall['body']): Record<string, string> {
  return body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
}

function headersOf(values: Readonly<Record<string, string | readonly string[]>>): HeaderMap {
  const headers = new HeaderMap();
  for (const [name, value] of Object.entries(values))
    for (const one of [value].flat()) headers.append(name, one);
  return headers;
}

async function replyOf(response: HttpResponse, method: string): Promise<RawReply> {
  const { status, body, onOver } = response;
  const isStream = isBodyStream(body);
  const isEmpty = body === undefined || method === 'HEAD';
  const sent = isEmpty ? Buffer.alloc(0) : await (isStream ? drain(body) : allBytes(body));
  const length = isStream || body === undefined ? {} : { 'content-length': bodySize(body) };
  const headers = Object.entries({ ...length, ...response.headers }).map(([name, value]) => {
    const key = name.toLowerCase();
    return [key, key === 'set-cookie' ? [value].flat() : String(value)];
  });
  const reply = { status, headers: Object.fromEntries(headers), body: Buffer.from(sent) };
  onOver?.();
  // The request is logged in the next tick.
  await setImmediate();
  return reply;
}

async function drain(body: BodyStream): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  try {
    for (;;) {
      const chunk = await body.next();
      if (chunk === undefined) return Buffer.concat(chunks);
      chunks.push(Uint8Array.from(chunk));
    }
  } finally {
    body.close();
  }
}
