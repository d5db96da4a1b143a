// Endpoints of every shape: parameters in the path and in the query of any method, bodies, answers without a body or
// with a custom status.

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { z } from 'zod';
import { answer, endpoint, noContent, ok } from '../../daemon/api/shapes/endpoint.ts';
import type { Endpoint, Method } from '../../daemon/api/shapes/endpoint.ts';
import { integerText, requiredText } from '../../daemon/api/shapes/input.ts';
import { makeDocument } from '../../daemon/api/instance/openapi.ts';
import { Router } from '../../daemon/http/router.ts';
import type { RawReply } from './raw-client.ts';
import { closeWorlds } from './harness.ts';
import { sendInProcess } from './in-process.ts';
import { mountEndpoints } from './mounted.ts';

afterEach(closeWorlds);

const HEAD = { access: 'none', tag: 'System', summary: 'A test' } as const;
const DONE = { 200: { description: 'Done.', body: z.object({}) } };

const name = z.object({ name: z.string() });

const ENDPOINTS: readonly Endpoint[] = [
  ...(['POST', 'PUT', 'PATCH', 'DELETE'] as const).map((method) =>
    endpoint(
      {
        ...HEAD,
        operationId: method,
        method,
        path: '/api/body',
        input: { body: name },
        responses: DONE,
      },
      ({ body }) => ok({ method, body }),
    ),
  ),
  endpoint(
    {
      ...HEAD,
      operationId: 'strict',
      method: 'POST',
      path: '/api/strict',
      input: { body: z.strictObject({ name: z.string() }) },
      responses: DONE,
    },
    ({ body }) => ok({ body }),
  ),
  endpoint(
    {
      ...HEAD,
      operationId: 'remove',
      method: 'DELETE',
      path: '/api/user',
      input: { query: z.object({ userId: requiredText(), page: integerText(1, 9).optional() }) },
      missingQueryCode: 'MISSING_REQUIRED_QUERY_PARAMETER',
      responses: DONE,
    },
    ({ query }) => ok({ query }),
  ),
  endpoint(
    {
      ...HEAD,
      operationId: 'all',
      method: 'PATCH',
      path: '/api/user/{userId}/keys/{id}',
      input: {
        path: z.object({ userId: z.string(), id: integerText(1, 99) }),
        query: z.object({ force: z.enum(['yes']).optional() }),
        body: name,
      },
      responses: DONE,
    },
    (input) => ok(input),
  ),
  endpoint(
    { ...HEAD, operationId: 'mine', method: 'PATCH', path: '/api/user/me/keys/1', responses: DONE },
    () => ok({ isMine: true }),
  ),
  endpoint(
    {
      ...HEAD,
      operationId: 'sign',
      method: 'POST',
      path: '/api/sign/{status}',
      input: { path: z.object({ status: z.string() }) },
      responses: { 201: { description: 'Made.' } },
    },
    ({ path: { status } }) => {
      const headers = { 'Set-Cookie': 'trawl_session=x; HttpOnly; SameSite=Lax; Path=/' };
      if (status === '204') return noContent(headers);
      if (status === '302')
        return { status: 302, headers: { Location: '/x' }, content: { nothing: true } };
      return answer(Number(status), { status }, headers);
    },
  ),
];

test('a wildcard path has the same method rules as others', async () => {
  const rest = endpoint(
    {
      ...HEAD,
      operationId: 'rest',
      method: 'GET',
      path: '/browse/*rest',
      input: { path: z.object({ rest: z.string() }) },
      responses: DONE,
    },
    ({ path }) => ok(path),
  );
  const served = await mountEndpoints([rest, at('/browse/mine', 'POST')]);
  const send = async (method: string, path: string) => {
    const { status, headers, body } = await sendInProcess(served, { method, path });
    return [status, headers.allow, body.toString()];
  };
  const path = '/browse/a/b@c/-/blob/%C3%B6?x';
  const found = '{"rest":"a/b@c/-/blob/ö"}';
  const allow = 'GET, HEAD, OPTIONS';
  assert.deepEqual(await send('GET', path), [200, undefined, found]);
  assert.deepEqual(await send('HEAD', path), [200, undefined, '']);
  assert.deepEqual(await send('OPTIONS', path), [204, allow, '']);
  assert.deepEqual((await send('DELETE', path)).slice(0, 2), [405, allow]);
  // The path that comes first is the one that is asked for, whatever its methods.
  assert.deepEqual((await send('GET', '/browse/mine')).slice(0, 2), [405, 'POST, OPTIONS']);
  for (const none of ['/browse', '/browse%2Fa', '/browse/%ff'])
    assert.equal((await send('GET', none))[0], 404, none);
});

type Send = (method: Method, path: string, body?: string) => Promise<Reply>;

interface Reply extends Omit<RawReply, 'body'> {
  readonly text: string;
}

async function start(): Promise<Send> {
  const mounted = await mountEndpoints(ENDPOINTS, { maxRequestBodyBytes: 1000 });
  return async (method, path, body) => {
    const { body: bytes, ...reply } = await sendInProcess(mounted, { method, path, body });
    return { ...reply, text: bytes.toString() };
  };
}

test('bodies on POST, PUT, PATCH and DELETE', async () => {
  const send = await start();
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'] as const) {
    const reply = await send(method, '/api/body', '{"name":"ö","more":1}');
    assert.deepEqual(JSON.parse(reply.text), { method, body: { name: 'ö' } });
    assert.match((await send(method, '/api/body', '{}')).text, /INVALID_REQUEST_BODY.*name: /);
    assert.equal((await send(method, '/api/body', 'x'.repeat(1001))).status, 413);
  }
  assert.match((await send('POST', '/api/strict', '{"name":"a","b":1}')).text, /INVALID_REQ/);
});

test('query parameters on DELETE; a missing one has its own code', async () => {
  const send = await start();
  const reply = await send('DELETE', '/api/user?userId=&page=2');
  assert.deepEqual(JSON.parse(reply.text), { query: { userId: '', page: 2 } });
  assert.match(
    (await send('DELETE', '/api/user')).text,
    /"statusCode":400,"errorCode":"MISSING_REQUIRED_QUERY_PARAMETER","message":"userId: /,
  );
  const wrong = await send('DELETE', '/api/user?userId=1&page=x');
  assert.match(wrong.text, /"INVALID_QUERY_PARAMS","message":"page: /);
});

test('path parameters are decoded, limited, and part of links', async () => {
  const send = await start();
  const body = '{"name":"n"}';
  const value = encodeURIComponent('a/b {ö}?');
  const all = await send('PATCH', `/api/user/${value}/keys/7?force=yes`, body);
  assert.deepEqual(JSON.parse(all.text), {
    path: { userId: 'a/b {ö}?', id: 7 },
    query: { force: 'yes' },
    body: { name: 'n' },
  });
  assert.match((await send('PATCH', '/api/user/me/keys/1')).text, /"isMine":true/);
  const nowhere = ['//keys/7', '/%zz/keys/7', '/u/keys/7/', '/u/keys', '/u/keys/0', '/u/keys/x'];
  for (const rest of [...nowhere, `/${'u'.repeat(1025)}/keys/7`]) {
    const reply = await send('PATCH', `/api/user${rest}`, body);
    assert.equal(reply.status, 404, rest);
    assert.match(reply.text, /"NOT_FOUND"/);
  }
  assert.equal((await send('PATCH', `/api/user/${'u'.repeat(1024)}/keys/7`, body)).status, 200);
  const wrong = await send('GET', '/api/user/u/keys/7');
  assert.equal(wrong.status, 405);
  assert.equal(wrong.headers['allow'], 'PATCH, OPTIONS');
});

test('custom statuses, with cookies, with and without a body', async () => {
  const send = await start();
  const cookie = ['trawl_session=x; HttpOnly; SameSite=Lax; Path=/'];
  for (const status of ['201', '202', '200']) {
    const reply = await send('POST', `/api/sign/${status}`);
    assert.deepEqual([String(reply.status), JSON.parse(reply.text)], [status, { status }]);
    assert.deepEqual(reply.headers['set-cookie'], cookie);
  }
  const none = await send('POST', '/api/sign/204');
  assert.deepEqual([none.status, none.text], [204, '']);
  assert.deepEqual(none.headers['set-cookie'], cookie);
  assert.equal(none.headers['content-length'], undefined);
  assert.equal(none.headers['content-type'], undefined);
  const moved = await send('POST', '/api/sign/302');
  assert.deepEqual([moved.status, moved.text, moved.headers['location']], [302, '', '/x']);
  assert.equal(moved.headers['content-length'], '0');
});

test('the API description has them', () => {
  const { paths } = makeDocument(ENDPOINTS, { baseUrl: 'http://x', version: '0' }) as {
    paths: Record<string, Record<string, { parameters?: object[]; requestBody?: unknown }>>;
  };
  const all = paths['/api/user/{userId}/keys/{id}']?.['patch'];
  assert.deepEqual(
    all?.parameters?.map((one) => ({ ...one, schema: 0 })),
    [
      { in: 'path', name: 'userId', required: true, schema: 0 },
      { in: 'path', name: 'id', required: true, schema: 0 },
      { in: 'query', name: 'force', schema: 0 },
    ],
  );
  assert.deepEqual(Object.keys(paths['/api/body'] ?? {}), ['post', 'put', 'patch', 'delete']);
  assert.match(JSON.stringify(paths['/api/strict']), /"additionalProperties":false/);
  assert.match(JSON.stringify(paths['/api/user']), /MISSING_REQUIRED_QUERY_PARAMETER/);
});

function at(path: string, method: Method = 'GET'): Endpoint {
  return endpoint({ ...HEAD, operationId: path, method, path, responses: DONE }, () => ok({}));
}

test('two names for one path parameter, and wildcards before the end, are refused', () => {
  assert.throws(() => new Router([at('/x/{id}'), at('/x/{key}')], 'http://x'), /two names/);
  assert.throws(() => new Router([at('/x/*a'), at('/x/*b')], 'http://x'), /two names/);
  assert.throws(() => new Router([at('/x/*rest/y')], 'http://x'), /not at the end/);
});

test('exact paths precede parameters, these precede wildcards, and the longest wildcard wins', () => {
  const paths = ['/*page', '/a/*rest', '/a/{one}', '/a/b', '/a/b/*rest', '/{one}/c'];
  const router = new Router(
    paths.map((path) => at(path)),
    'http://x/base',
  );
  const cases: [string, string | undefined, Record<string, string>][] = [
    ['/a/b', '/a/b', {}],
    ['/a/c', '/a/{one}', { one: 'c' }],
    ['/a/b/', '/a/b/*rest', { rest: '' }],
    ['/a/b/c/d', '/a/b/*rest', { rest: 'c/d' }],
    ['/a/', '/a/*rest', { rest: '' }],
    ['/a/c/d%2Fe//f', '/a/*rest', { rest: 'c/d/e//f' }],
    [`/a/${'x'.repeat(2000)}`, '/a/*rest', { rest: 'x'.repeat(2000) }],
    ['/b/c', '/{one}/c', { one: 'b' }],
    ['/', '/*page', { page: '' }],
    ['/a', '/*page', { page: 'a' }],
    ['/a/%zz', undefined, {}],
    ['', '/*page', { page: '' }],
  ];
  for (const [path, expected, values] of cases) {
    const found = router.find(`/base${path}`);
    assert.equal(found?.route.get('GET')?.path, expected, path);
    assert.deepEqual(found?.pathValues ?? {}, values, path);
  }
  assert.equal(router.find('/based'), undefined);
});
