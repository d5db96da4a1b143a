// Checks the daemon's answers against the API description: listed status, its headers, a body that fits its schema
// without unknown members. The harnesses of the HTTP and end-to-end tests pass every answer through it.

import assert from 'node:assert/strict';
import { brotliDecompressSync, constants, gunzipSync } from 'node:zlib';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { Unpackr } from 'msgpackr';
import { prefersMessagePack } from '../../daemon/http/negotiation.ts';
import { headerOf, operationsOf, wholeDocument } from './document.ts';
import type { NamedOperation, Response, Schema } from './document.ts';

export interface SentRequest {
  readonly method: string;
  /** With query. */
  readonly path: string;
  readonly accept?: string | undefined;
}

export interface ReceivedReply {
  readonly status: number;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
  /** As sent. */
  readonly body: Uint8Array;
}

/** Headers that say how any answer is sent and kept; which of them is for other tests to say. */
const TRANSPORT_HEADERS = new Set([
  'cache-control',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'keep-alive',
  'transfer-encoding',
  'vary',
]);

const SAFETY_HEADERS = [
  'content-security-policy',
  'permissions-policy',
  'referrer-policy',
  'x-content-type-options',
  'x-frame-options',
];

const unpackr = new Unpackr({ int64AsType: 'number', mapsAsObjects: true });

const document = wholeDocument();
const operations = operationsOf(document).map((item) => ({ ...item, form: formOf(item.path) }));

/** Fits the paths of a template. */
function formOf(template: string): RegExp {
  return new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`);
}

/** A copy in which schemas of objects forbid members that they do not name. */
function closed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(closed);
  if (typeof value !== 'object' || value === null) return value;
  const copy = Object.fromEntries(Object.entries(value).map(([key, one]) => [key, closed(one)]));
  const isObjectSchema = copy['type'] === 'object' && 'properties' in copy;
  return isObjectSchema ? { additionalProperties: false, ...copy } : copy;
}

const ajv = new Ajv2020({ strict: false, validateFormats: false, validateSchema: false });
ajv.addSchema(closed(document) as object, 'document');

const validators = new Map<Schema, ValidateFunction>();

/** Asserts that the value fits the closed schema, which is part of the document. */
function checkValue(value: unknown, schema: Schema, label: string): void {
  let validate = validators.get(schema);
  if (validate === undefined) {
    const local = JSON.stringify(closed(schema)).replaceAll('"#/', '"document#/');
    validate = ajv.compile(JSON.parse(local) as object);
    validators.set(schema, validate);
  }
  if (validate(value)) return;
  const why = ajv.errorsText(validate.errors, { dataVar: 'body' });
  const details = JSON.stringify(validate.errors?.[0]?.params);
  assert.fail(`${label}: ${why} ${details} in ${JSON.stringify(value)?.slice(0, 600)}`);
}

/**
 * Asserts that the answer is one that the description allows.
 *
 * @param prefix  path of the base URL
 */
export function checkReply(request: SentRequest, reply: ReceivedReply, prefix = ''): void {
  const label = `${request.method} ${request.path.slice(0, 200)} -> ${reply.status}`;
  const requestId = reply.headers['x-request-id'];
  assert.match(String(requestId ?? ''), /^[A-Za-z0-9._-]{1,64}$/, `${label}: X-Request-Id`);
  for (const name of SAFETY_HEADERS)
    assert.ok(reply.headers[name] !== undefined, `${label}: ${name}`);
  const path = request.path.split('?')[0] ?? '';
  const found = path.startsWith(prefix) ? operationsAt(path.slice(prefix.length)) : [];
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const operation = found.find((one) => one.method === method);
  if (operation !== undefined) checkOperation(operation, request, reply, label);
  else checkRefusal(found.length > 0, request, reply, label);
}

function operationsAt(path: string): readonly NamedOperation[] {
  const exact = operations.filter((one) => one.path === path);
  if (exact.length > 0) return exact;
  return path.split('/').every(isParameter) ? operations.filter(({ form }) => form.test(path)) : [];
}

/** Can a parameter of a path have this value? */
function isParameter(segment: string): boolean {
  try {
    decodeURIComponent(segment);
    return segment.length <= 1024;
  } catch {
    return false;
  }
}

/** The answer to a path or method that does not exist, or to OPTIONS. */
function checkRefusal(
  hasPath: boolean,
  request: SentRequest,
  reply: ReceivedReply,
  label: string,
): void {
  const extra = Object.keys(reply.headers).filter((name) => !isAlwaysAllowed(name));
  assert.deepEqual(
    extra.filter((name) => name !== 'allow'),
    [],
    label,
  );
  if (hasPath && reply.status !== 403) {
    assert.match(String(reply.headers['allow']), /\bOPTIONS$/, `${label}: Allow`);
  }
  if (hasPath && request.method === 'OPTIONS' && reply.status === 204) {
    assert.equal(reply.body.length, 0, label);
    return;
  }
  const code = hasPath ? 'METHOD_NOT_ALLOWED' : 'NOT_FOUND';
  const status = hasPath ? 405 : 404;
  const allowed = reply.status === 403 ? ['HOST_NOT_ALLOWED'] : [code];
  assert.ok(reply.status === status || reply.status === 403, label);
  if (request.method === 'HEAD') return;
  const error = readBody(reply, label);
  checkValue(error, { $ref: '#/components/schemas/Error' }, label);
  checkError(error, reply.status, allowed, label);
}

function checkOperation(
  { operation }: NamedOperation,
  request: SentRequest,
  reply: ReceivedReply,
  label: string,
): void {
  const response = operation.responses[reply.status];
  assert.ok(response !== undefined, `${label}: status is not described`);
  checkHeaders(response, reply, label);
  if (response.content === undefined) {
    assert.equal(reply.body.length, 0, `${label}: body is not described`);
    assert.equal(reply.headers['content-type'], undefined, `${label}: type without body`);
    return;
  }
  const type = String(reply.headers['content-type']);
  const essence = type.split(';')[0] ?? '';
  const media = response.content[type] ?? response.content[essence];
  assert.ok(media !== undefined, `${label}: type ${type} is not described`);
  if ('application/x-msgpack' in response.content) {
    const isPacked = essence === 'application/x-msgpack';
    assert.equal(isPacked, prefersMessagePack(request.accept), `${label}: ${type}`);
  }
  if (request.method === 'HEAD') assert.equal(reply.body.length, 0, `${label}: body of HEAD`);
  else checkBody(response, media.schema, reply, label);
}

function checkBody(response: Response, schema: Schema, reply: ReceivedReply, label: string): void {
  for (const value of readValues(reply, label)) {
    checkValue(value, schema, label);
    const codes = response['x-error-codes'];
    if (codes !== undefined) checkError(value, reply.status, codes, label);
  }
}

function checkError(value: unknown, status: number, codes: readonly string[], label: string): void {
  const { statusCode, errorCode } = value as { statusCode: number; errorCode: string };
  assert.equal(statusCode, status, label);
  assert.ok(codes.includes(errorCode), `${label}: ${errorCode} is not described`);
}

function isAlwaysAllowed(name: string): boolean {
  const always = ['x-request-id', 'strict-transport-security', ...SAFETY_HEADERS];
  return TRANSPORT_HEADERS.has(name) || always.includes(name);
}

function checkHeaders({ headers }: Response, reply: ReceivedReply, label: string): void {
  const described = new Map(
    Object.entries(headers).map(([name, header]) => [
      name.toLowerCase(),
      headerOf(document, header),
    ]),
  );
  for (const [name, { required, schema }] of described) {
    const value = reply.headers[name];
    assert.ok(!required || value !== undefined, `${label}: ${name} is missing`);
    if (value !== undefined && schema.type === 'integer')
      assert.match(String(value), /^[0-9]+$/, `${label}: ${name}`);
  }
  for (const name of Object.keys(reply.headers)) {
    const isDescribed = described.has(name) || isAlwaysAllowed(name);
    assert.ok(isDescribed, `${label}: header ${name} is not described`);
  }
}

/** The value of the body, or those of the events of a stream. */
function readValues(reply: ReceivedReply, label: string): unknown[] {
  const type = String(reply.headers['content-type']);
  if (type === 'text/event-stream') return eventsOf(decodeStream(reply).toString(), label);
  if (type.includes('framing=')) return framesOf(decodeStream(reply), label);
  return [readBody(reply, label)];
}

function readBody(reply: ReceivedReply, label: string): unknown {
  const bytes = decode(reply);
  const type = String(reply.headers['content-type']);
  if (type === 'application/x-msgpack') return unpackr.unpack(bytes);
  if (type.startsWith('text/')) return bytes.toString();
  if (/^image\/|\/octet-stream$/.test(type)) return bytes.toString('latin1');
  assert.match(type, /json/, label);
  return JSON.parse(bytes.toString());
}

function decode({ headers, body }: ReceivedReply): Buffer {
  switch (headers['content-encoding']) {
    case 'br':
      return brotliDecompressSync(body);
    case 'gzip':
      return gunzipSync(body);
    default:
      return Buffer.from(body);
  }
}

/** What there is of a stream: one that failed has no end. */
function decodeStream(reply: ReceivedReply): Buffer {
  const { BROTLI_OPERATION_FLUSH, Z_SYNC_FLUSH } = constants;
  const coding = reply.headers['content-encoding'];
  if (coding === 'br')
    return brotliDecompressSync(reply.body, { finishFlush: BROTLI_OPERATION_FLUSH });
  if (coding === 'gzip') return gunzipSync(reply.body, { finishFlush: Z_SYNC_FLUSH });
  return Buffer.from(reply.body);
}

/** Events of a stream, which came to its end or failed and said so. */
function eventsOf(text: string, label: string): unknown[] {
  const frames = text.split('\n\n');
  assert.equal(frames.pop(), '', `${label}: end of the stream`);
  const isWhole = frames.at(-1) === 'data: [DONE]';
  if (isWhole) frames.pop();
  const events = frames.map((frame): unknown => {
    assert.match(frame, /^data: \{[^\n]*\}$/, label);
    return JSON.parse(frame.slice(6));
  });
  checkEnd(events, isWhole, label);
  return events;
}

function framesOf(body: Buffer, label: string): unknown[] {
  const events: unknown[] = [];
  let offset = 0;
  let size = -1;
  while (offset < body.length && size !== 0) {
    size = body.readUInt32BE(offset);
    offset += 4;
    if (size > 0) events.push(unpackr.unpack(body.subarray(offset, offset + size)));
    offset += size;
  }
  assert.equal(offset, body.length, `${label}: end of the stream`);
  checkEnd(events, size === 0, label);
  return events;
}

/** Asserts that a whole stream ends with its last event, and that another one tells an error. */
function checkEnd(events: readonly unknown[], isWhole: boolean, label: string): void {
  const types = events.map((event) => (event as { type: string }).type);
  const expected = isWhole ? 'final' : 'error';
  assert.equal(types.at(-1), expected, `${label}: last event`);
  assert.ok(!types.slice(0, -1).includes('final'), `${label}: events behind the last one`);
}
