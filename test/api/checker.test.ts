// The checker of answers detects wrong answers.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pack } from 'msgpackr';
import { answerOf, chunkEvent, FINAL_EVENT, resultOf } from '../http/answers.ts';
import { checkReply, type ReceivedReply } from './checker.ts';

const COMMON = {
  'x-request-id': 'id',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'SAMEORIGIN',
  'referrer-policy': 'strict-origin-when-cross-origin',
  'permissions-policy': 'camera=()',
  'content-security-policy': "frame-ancestors 'self'",
  'content-type': 'application/json',
};

const SEARCH = { method: 'POST', path: '/api/search' };
const STREAM = { method: 'POST', path: '/api/stream_search' };
const REPOS = { method: 'GET', path: '/api/repos?page=1' };
const STREAM_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

function replyOf(
  value: unknown,
  headers: Record<string, string | undefined> = {},
  status = 200,
): ReceivedReply {
  const body = typeof value === 'string' ? value : JSON.stringify(value);
  return { status, headers: { ...COMMON, ...headers }, body: Buffer.from(body) };
}

function errorOf(statusCode: number, errorCode: string, more: object = {}): object {
  return { statusCode, errorCode, message: 'm', ...more };
}

function eventsOf(...events: object[]): string {
  return `${events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')}data: [DONE]\n\n`;
}

test('valid answers pass', () => {
  const search = answerOf([resultOf('text')]);
  checkReply(SEARCH, replyOf(search));
  checkReply({ ...SEARCH, path: '/code/api/search' }, replyOf(search), '/code');
  checkReply(REPOS, replyOf([], { 'x-total-count': '0' }));
  checkReply(STREAM, replyOf(eventsOf(chunkEvent(), FINAL_EVENT), STREAM_HEADERS));
  checkReply(SEARCH, replyOf(errorOf(400, 'INVALID_REQUEST_BODY'), {}, 400));
  checkReply({ ...SEARCH, path: '/api/x' }, replyOf(errorOf(404, 'NOT_FOUND'), {}, 404));
  const allow = { allow: 'POST, OPTIONS' };
  checkReply({ ...SEARCH, method: 'GET' }, replyOf(errorOf(405, 'METHOD_NOT_ALLOWED'), allow, 405));
  checkReply({ ...SEARCH, method: 'OPTIONS' }, replyOf('', allow, 204));
  checkReply(
    { ...SEARCH, accept: 'application/x-msgpack' },
    { ...replyOf('', { 'content-type': 'application/x-msgpack' }), body: pack(search) },
  );
});

const { stats, ...withoutStats } = answerOf() as { stats: object };
const rate = { 'x-ratelimit-limit': 'many' };

const WRONG: readonly [string, { method: string; path: string }, ReceivedReply, RegExp][] = [
  ['a member too many', SEARCH, replyOf({ ...answerOf(), took: 1 }), /"took"/],
  ['one too many below', SEARCH, replyOf(answerOf([resultOf('', { points: 1 })])), /"points"/],
  ['a member missing', SEARCH, replyOf(withoutStats), /stats/],
  ['a type', SEARCH, replyOf(answerOf([resultOf('', { repositoryId: '1' })])), /repositoryId/],
  ['null', SEARCH, replyOf(answerOf([resultOf('', { skipReason: null })])), /skipReason/],
  ['a fraction', SEARCH, replyOf(answerOf([], { wait: 0.5 })), /wait/],
  ['a status', SEARCH, replyOf(errorOf(409, 'NOT_FOUND'), {}, 409), /status is not described/],
  ['a code', SEARCH, replyOf(errorOf(400, 'INVALID_GIT_REF'), {}, 400), /INVALID_GIT_REF/],
  ['an unknown code', SEARCH, replyOf(errorOf(400, 'NONE'), {}, 400), /errorCode/],
  ['another status', SEARCH, replyOf(errorOf(403, 'INVALID_REQUEST_BODY'), {}, 400), /403/],
  [
    'an error with more',
    SEARCH,
    replyOf(errorOf(500, 'UNEXPECTED_ERROR', { at: 1 }), {}, 500),
    /at/,
  ],
  ['a header', SEARCH, replyOf(answerOf(), { 'x-took': '1' }), /x-took is not described/],
  ['no number', SEARCH, replyOf(answerOf(), rate), /x-ratelimit-limit/],
  ['no id', SEARCH, replyOf(answerOf(), { 'x-request-id': undefined }), /X-Request-Id/],
  ['no total', REPOS, replyOf([]), /x-total-count is missing/],
  ['a content type', SEARCH, replyOf('', { 'content-type': 'text/html' }), /text\/html/],
  ['unknown path', { ...SEARCH, path: '/api/x' }, replyOf({ status: 'ok' }), /200/],
  ['wrong method', { ...SEARCH, method: 'PUT' }, replyOf({}, { allow: 'OPTIONS' }), /200/],
  ['no Allow', { ...SEARCH, method: 'PUT' }, replyOf({}, {}, 405), /Allow/],
  ['an event', STREAM, replyOf(eventsOf({ type: 'x' }, FINAL_EVENT), STREAM_HEADERS), /body/],
  ['no final', STREAM, replyOf(eventsOf(chunkEvent()), STREAM_HEADERS), /last event/],
  ['no end', STREAM, replyOf('data: {}\n', STREAM_HEADERS), /end of the stream/],
];

for (const [name, request, reply, message] of WRONG) {
  test(`detected: ${name}`, () => {
    assert.throws(
      () => checkReply(request, reply),
      (error: Error) => error instanceof assert.AssertionError && message.test(error.message),
    );
  });
}

test('MessagePack that was not requested, or was requested and is missing', () => {
  const packed = { ...replyOf('', { 'content-type': 'application/x-msgpack' }), body: pack(stats) };
  assert.throws(() => checkReply(SEARCH, packed), /x-msgpack/);
  assert.throws(() => checkReply({ ...SEARCH, accept: 'application/x-msgpack' }, replyOf({})));
});
