// All responses: request id, safety headers, compression, MessagePack.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { Unpackr } from 'msgpackr';
import { jsonToMessagePack } from '../../daemon/http/message-pack.ts';
import { chooseCoding, prefersMessagePack } from '../../daemon/http/negotiation.ts';
import { answerOf, resultOf } from './answers.ts';
import { closeWorlds, SEARCH_BODY, searchWith, startWorld } from './harness.ts';

afterEach(closeWorlds);

const unpackr = new Unpackr({ int64AsType: 'number', mapsAsObjects: true });

test('every response has a request id and the safety headers', async () => {
  const world = await startWorld({});
  const requests = [
    { path: '/api/health' },
    { path: '/api/none' },
    { path: '/api/health', headers: { Host: 'evil.example' } },
    { method: 'OPTIONS', path: '/api/health' },
    { method: 'POST', path: '/api/search', body: 'x' },
  ];
  for (const request of requests) {
    const { headers } = await world.call(request);
    assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
    assert.equal(headers['x-content-type-options'], 'nosniff');
    assert.equal(headers['x-frame-options'], 'SAMEORIGIN');
    assert.equal(headers['referrer-policy'], 'strict-origin-when-cross-origin');
    assert.equal(headers['permissions-policy'], 'camera=(), microphone=(), geolocation=()');
    assert.equal(headers['content-security-policy'], "frame-ancestors 'self'");
    assert.equal(headers['strict-transport-security'], undefined);
  }
});

test('a valid request id is kept and logged, an invalid one replaced', async () => {
  const world = await startWorld({});
  const kept = await world.call({ path: '/api/health', headers: { 'X-Request-Id': 'a.B_1-' } });
  assert.equal(kept.headers['x-request-id'], 'a.B_1-');
  assert.ok(world.lines.some((line) => line['requestId'] === 'a.B_1-'));
  for (const id of ['a b', 'x'.repeat(65), 'é']) {
    const { headers } = await world.call({ path: '/api/health', headers: { 'X-Request-Id': id } });
    assert.match(String(headers['x-request-id']), /^[0-9a-f-]{36}$/);
  }
});

test('Strict-Transport-Security comes with an https base URL only', async () => {
  const world = await startWorld({ env: { TRAWL_BASE_URL: 'https://code.example/' } });
  const { headers } = await world.call({ path: '/api/health' });
  assert.equal(headers['strict-transport-security'], 'max-age=63072000; includeSubDomains');
});

test('bodies above 1 KiB are compressed as the client allows, smaller ones never', async () => {
  const padding = 1024 - JSON.stringify(answerOf([resultOf('')])).length;
  let isLarger = false;
  const search = async () => answerOf([resultOf('a'.repeat(padding + (isLarger ? 1 : 0)))]);
  const world = await startWorld({ search });
  const send = (coding: string) =>
    world.call(searchWith(SEARCH_BODY, { 'Accept-Encoding': coding }));
  const small = await send('gzip, br');
  assert.equal(small.body.length, 1024);
  assert.equal(small.headers['content-encoding'], undefined);
  isLarger = true;
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync, identity: (b: Buffer) => b };
  for (const [requested, coding] of [
    ['gzip, deflate, br', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0.5, gzip', 'gzip'],
    ['deflate', 'identity'],
    ['', 'identity'],
  ] as const) {
    const reply = await send(requested);
    assert.equal(reply.headers['content-encoding'] ?? 'identity', coding, requested);
    assert.equal(reply.headers['content-length'], String(reply.body.length));
    assert.match(String(reply.headers.vary), /Accept-Encoding/);
    const text = decoders[coding](reply.body).toString();
    assert.equal(text.length, 1025);
    assert.deepEqual(JSON.parse(text), await search());
  }
});

test('MessagePack carries the same object, errors too, and varies by Accept', async () => {
  const value = answerOf([resultOf('é')], { duration: 2 ** 40, fileCount: 3 });
  const world = await startWorld({ search: async () => value });
  const Accept = 'application/x-msgpack';
  const json = await world.call(searchWith(SEARCH_BODY));
  assert.equal(json.headers['content-type'], 'application/json');
  assert.match(String(json.headers.vary), /^Accept,/);
  const packed = await world.call(searchWith(SEARCH_BODY, { Accept }));
  assert.equal(packed.headers['content-type'], 'application/x-msgpack');
  assert.deepEqual(unpackr.unpack(packed.body), json.json());
  const missing = await world.call({ path: '/api/none', headers: { Accept } });
  assert.equal(missing.status, 404);
  assert.deepEqual(unpackr.unpack(missing.body), {
    statusCode: 404,
    errorCode: 'NOT_FOUND',
    message: 'Not found: /api/none. GET /api/openapi.json lists all paths.',
  });
  const repos = await world.call({ path: '/api/repos', headers: { Accept } });
  assert.deepEqual(unpackr.unpack(repos.body), []);
});

test('Accept selects MessagePack only by name and never below JSON', () => {
  const cases: [string | undefined, boolean][] = [
    [undefined, false],
    ['*/*', false],
    ['application/*', false],
    ['application/x-msgpack', true],
    ['application/msgpack', true],
    ['Application/X-MsgPack', true],
    ['application/x-msgpack;q=0', false],
    ['application/x-msgpack, application/json', true],
    ['application/x-msgpack;q=0.5, application/json', false],
    ['application/x-msgpack;q=0.5, application/json;q=0.4', true],
    ['application/x-msgpack;q=0.9, */*;q=0.8', true],
    ['application/x-msgpack;q=0.5, */*', false],
    ['application/x-msgpack;q=0.5, */*, application/json;q=0.1', true],
    ['application/x-msgpack;q=high', false],
  ];
  for (const [accept, isCompressed] of cases)
    assert.equal(prefersMessagePack(accept), isCompressed, accept);
});

test('Accept-Encoding chooses a coding', () => {
  const cases: [string | undefined, string | undefined][] = [
    [undefined, undefined],
    ['', undefined],
    ['identity', undefined],
    ['*', 'br'],
    ['*;q=0', undefined],
    ['gzip;q=0, br;q=0', undefined],
    ['gzip;q=0, *', 'br'],
    ['br;q=0, *', 'gzip'],
    ['identity;q=1, gzip;q=0.5', undefined],
    ['GZIP', 'gzip'],
  ];
  for (const [header, coding] of cases) assert.equal(chooseCoding(header), coding, header);
});

test('MessagePack bytes: shortest integers, uint64 above 32 bits, no float, no extension', () => {
  const cases: [string, string][] = [
    ['null', 'c0'],
    ['true', 'c3'],
    ['127', '7f'],
    ['128', 'cc80'],
    ['65535', 'cdffff'],
    ['65536', 'ce00010000'],
    ['4294967295', 'ceffffffff'],
    ['4294967296', 'cf0000000100000000'],
    ['9007199254740991', 'cf001fffffffffffff'],
    ['-1', 'ff'],
    ['-200', 'd1ff38'],
    ['"é"', 'a2c3a9'],
    ['[1,[]]', '920190'],
    ['{"a":{"b":4294967296}}', '81a16181a162cf0000000100000000'],
    ['[4294967296,{"k":""}]', '92cf000000010000000081a16ba0'],
  ];
  for (const [json, hex] of cases) {
    assert.equal(Buffer.from(jsonToMessagePack(Buffer.from(json))).toString('hex'), hex, json);
  }
  const many = Array.from({ length: 20000 }, (_, i) => 2 ** 33 + i);
  const packed = jsonToMessagePack(Buffer.from(JSON.stringify(many)));
  assert.deepEqual(unpackr.unpack(packed), many);
});
