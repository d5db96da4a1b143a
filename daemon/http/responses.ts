// Turns an answer into a response: encoding, compression, revalidation (ETag), and the headers of every response.

import { omitUndefined } from '../base/omit-undefined.ts';
import { type Asset, isUnchanged } from '../api/shapes/asset.ts';
import type { Answer, TypedBytes } from '../api/shapes/endpoint.ts';
import { gatherBytes, type LazyBytes } from '../base/lazy-bytes.ts';
import type { EventStream } from '../api/shapes/endpoint-services.ts';
import type { HttpRequest, HttpResponse } from './adapters/adapter.ts';
import {
  EventBody,
  FRAME_SIZE_MAX,
  MESSAGE_PACK_FRAMES,
  SERVER_SENT_EVENTS,
} from './event-body.ts';
import type { EventBodyOptions } from './event-body.ts';
import { StreamCoder, compressors } from './coding.ts';
import { type Reservation, noMemoryError } from './adapters/memory-budget.ts';
import { chooseCoding, type ContentCoding, prefersMessagePack } from './negotiation.ts';
import { pack } from './packer.ts';

/** Bodies up to this many bytes are not compressed. */
const COMPRESS_ABOVE_SIZE = 1024;

/** Security headers for browsers, on every response. */
export function safetyHeaders(baseUrl: string): Readonly<Record<string, string>> {
  const headers = {
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'SAMEORIGIN',
    'Referrer-Policy': 'strict-origin-when-cross-origin',
    'Permissions-Policy': 'camera=(), microphone=(), geolocation=()',
    'Content-Security-Policy': "frame-ancestors 'self'",
  };
  if (!baseUrl.startsWith('https:')) return headers;
  return { ...headers, 'Strict-Transport-Security': 'max-age=63072000; includeSubDomains' };
}

export type PlainAnswer = Omit<Answer, 'content'> & {
  readonly content: Exclude<
    Answer['content'],
    { readonly events: EventStream } | { readonly response: Response }
  >;
};

/** Bytes of JSON that an event may have in the accepted format. */
export function eventSizeMaxOf(request: HttpRequest): number {
  return prefersMessagePack(request.headers.get('accept')) ? FRAME_SIZE_MAX : Infinity;
}

export function toStreamResponse(
  events: EventStream,
  request: HttpRequest,
  common: Readonly<Record<string, string>>,
  options: Omit<EventBodyOptions, 'framing' | 'coder'>,
): HttpResponse {
  const isPacked = prefersMessagePack(request.headers.get('accept'));
  const framing = isPacked ? MESSAGE_PACK_FRAMES : SERVER_SENT_EVENTS;
  const coding = chooseCoding(request.headers.get('accept-encoding'));
  const headers = {
    ...common,
    'Content-Type': framing.contentType,
    'Cache-Control': 'no-cache, no-transform',
    'X-Accel-Buffering': 'no',
    Vary: 'Accept, Accept-Encoding',
    ...omitUndefined({ 'Content-Encoding': coding }),
  };
  const coder = coding === undefined ? undefined : new StreamCoder(coding);
  return { status: 200, headers, body: new EventBody(events, { ...options, framing, coder }) };
}

export interface ResponseContext {
  readonly clientKey: string;
  readonly tryTake: (size: number) => Reservation | undefined;
}

/** Without `context` there are no limits. Errors: SERVER_OVERLOADED. */
export async function toResponse(
  answer: PlainAnswer,
  request: HttpRequest,
  common: Readonly<Record<string, string>>,
  context?: ResponseContext,
): Promise<HttpResponse> {
  const { content } = answer;
  if ('asset' in content) return await toAssetResponse(answer, content.asset, request, common);
  if ('nothing' in content) return emptyResponse(answer, common);
  if ('bytes' in content) return bytesResponse(answer, content, common);
  const isPacked = prefersMessagePack(request.headers.get('accept'));
  const body = await encode(content, isPacked, context);
  const headers: Record<string, string> = {
    ...common,
    ...answer.headers,
    'Content-Type': isPacked ? 'application/x-msgpack' : 'application/json',
    Vary: 'Accept, Accept-Encoding',
  };
  const coding = codingFor(request, body.byteLength);
  if (coding === undefined) return { status: answer.status, headers, body };
  const compressed = await compress(body, coding, context);
  if (compressed === undefined) return { status: answer.status, headers, body };
  headers['Content-Encoding'] = coding;
  return { status: answer.status, headers, body: compressed };
}

/** Smaller bodies are not counted twice during encoding. */
const COUNTED_SIZE_MIN = 65_536;

/** Undefined: no memory for a second form, so the body is sent uncompressed. */
async function compress(
  body: Uint8Array | LazyBytes,
  coding: ContentCoding,
  context?: ResponseContext,
): Promise<Buffer | undefined> {
  if (context === undefined || body.byteLength < COUNTED_SIZE_MIN)
    return await compressors[coding](await wholeOf(body, context));
  const reservation = context.tryTake(body.byteLength);
  if (reservation === undefined) return undefined;
  try {
    return await compressors[coding](await wholeOf(body, context));
  } finally {
    reservation.release();
  }
}

async function wholeOf(
  body: Uint8Array | LazyBytes,
  context?: ResponseContext,
): Promise<Uint8Array> {
  return body instanceof Uint8Array ? body : await gatherBytes(body, context?.clientKey ?? '');
}

type Encodable = Extract<
  Answer['content'],
  { readonly value: unknown } | { readonly json: unknown }
>;

async function encode(
  content: Encodable,
  isPacked: boolean,
  context?: ResponseContext,
): Promise<Uint8Array | LazyBytes> {
  const json = 'json' in content ? content.json : Buffer.from(JSON.stringify(content.value));
  if (!isPacked) return json;
  if (context === undefined || json.byteLength < COUNTED_SIZE_MIN)
    return await pack(json, context?.clientKey);
  const reservation = context.tryTake(json.byteLength);
  if (reservation === undefined) throw noMemoryError();
  try {
    return await pack(json, context?.clientKey);
  } finally {
    reservation.release();
  }
}

function codingFor(request: HttpRequest, size: number): ContentCoding | undefined {
  return size > COMPRESS_ABOVE_SIZE
    ? chooseCoding(request.headers.get('accept-encoding'))
    : undefined;
}

const compressedAssets = new WeakMap<Asset, Map<ContentCoding, Promise<Buffer>>>();

function compressAsset(asset: Asset, coding: ContentCoding): Promise<Buffer> {
  const forms = compressedAssets.get(asset) ?? new Map<ContentCoding, Promise<Buffer>>();
  compressedAssets.set(asset, forms);
  if (coding === 'br' && asset.br !== undefined) {
    const { buffer, byteOffset, byteLength } = asset.br;
    return Promise.resolve(Buffer.from(buffer, byteOffset, byteLength));
  }
  const form = forms.get(coding) ?? compressors[coding](asset.bytes);
  forms.set(coding, form);
  return form;
}

async function toAssetResponse(
  { status, headers: more }: PlainAnswer,
  asset: Asset,
  request: HttpRequest,
  common: Readonly<Record<string, string>>,
): Promise<HttpResponse> {
  const headers: Record<string, string> = {
    ...common,
    'Cache-Control': 'no-cache',
    ...asset.headers,
    ...more,
    ...omitUndefined({ ETag: asset.etag }),
    Vary: 'Accept-Encoding',
  };
  if (isUnchanged(asset.etag, request.headers.get('if-none-match'))) {
    return { status: 304, headers, body: undefined };
  }
  headers['Content-Type'] = asset.contentType;
  const coding = codingFor(request, asset.bytes.byteLength);
  if (coding === undefined) return { status, headers, body: asset.bytes };
  headers['Content-Encoding'] = coding;
  return { status, headers, body: await compressAsset(asset, coding) };
}

function emptyResponse(
  { status, headers }: PlainAnswer,
  common: Readonly<Record<string, string>>,
): HttpResponse {
  // Only these statuses imply an empty body; others need a Content-Length of 0.
  const body = status === 204 || status === 304 ? undefined : new Uint8Array();
  return { status, headers: { ...common, ...headers }, body };
}

function bytesResponse(
  { status, headers }: PlainAnswer,
  { bytes, contentType }: TypedBytes,
  common: Readonly<Record<string, string>>,
): HttpResponse {
  return { status, headers: { ...common, ...headers, 'Content-Type': contentType }, body: bytes };
}
