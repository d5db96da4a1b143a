// The tool server over both adapters, without the official client: sessions and their owners, versions, batches,
// counting and admission, progress, cancellation, and disconnecting clients.
// tier: ci (long)

import assert from 'node:assert/strict';
import test, { afterEach } from 'node:test';
import type { SearchEnvironment } from '../../../daemon/engine/search/prepare.ts';
import { sendRaw, type RawReply } from '../../http/raw-client.ts';
import { answerOf, resultOf } from '../../http/answers.ts';
import { PROTOCOL_VERSIONS } from '../../../daemon/api/mcp/tool-server.ts';
import {
  closeWorlds,
  eventually,
  gate,
  openWire,
  OTHER_KEY,
  OWNER_KEY,
  startWorld,
  type World,
} from '../../http/harness.ts';

afterEach(closeWorlds);

const PATH = '/api/mcp';
const OWNER = { TRAWL_OWNER_EMAIL: 'o@example.com', TRAWL_OWNER_API_KEY: OWNER_KEY };
const GUESTS = { ...OWNER, TRAWL_ANONYMOUS_ACCESS: 'true' };
const ACCEPT = { accept: 'application/json, text/event-stream' };

interface Message {
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, unknown>;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly code: number };
}

interface Client {
  readonly session: string;
  send(message: unknown, headers?: Record<string, string>): Promise<RawReply>;
  /** The messages that answer. */
  answers(message: unknown, headers?: Record<string, string>): Promise<Message[]>;
}

function credential(key: string | undefined): Record<string, string> {
  return key === undefined ? {} : { authorization: `Bearer ${key}` };
}

function post(
  { server }: World,
  message: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<RawReply> {
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  return sendRaw(server, {
    method: 'POST',
    path: PATH,
    body,
    headers: { ...ACCEPT, ...headers },
    signal,
  });
}

/** The messages of a stream of events. */
function messagesIn({ body }: RawReply): Message[] {
  return [...body.toString().matchAll(/^data: (.*)$/gm)].map(
    ([, json = '']) => JSON.parse(json) as Message,
  );
}

function initialize(protocolVersion = PROTOCOL_VERSIONS[0]) {
  const clientInfo = { name: 'test', version: '1' };
  const params = { protocolVersion, capabilities: {}, clientInfo };
  return { jsonrpc: '2.0', id: 0, method: 'initialize', params };
}

function call(id: number, name: string, args: object, meta?: object) {
  const params = { name, arguments: args, ...(meta === undefined ? {} : { _meta: meta }) };
  return { jsonrpc: '2.0', id, method: 'tools/call', params };
}

const GREP = { pattern: 'x' };
async function open(world: World, key: string | undefined, version?: string): Promise<Client> {
  const reply = await post(world, initialize(version), credential(key));
  assert.equal(reply.status, 200, reply.body.toString());
  const session = String(reply.headers['mcp-session-id']);
  const own = { ...credential(key), 'mcp-session-id': session };
  const send: Client['send'] = (message, headers) => post(world, message, { ...own, ...headers });
  assert.equal((await send({ jsonrpc: '2.0', method: 'notifications/initialized' })).status, 202);
  return {
    session,
    send,
    answers: async (message, headers) => messagesIn(await send(message, headers)),
  };
}

function codeOf({ body }: RawReply): unknown {
  const error = JSON.parse(body.toString()) as Record<string, unknown>;
  assert.deepEqual(Object.keys(error).sort(), ['errorCode', 'message', 'statusCode']);
  return error['errorCode'];
}

function textOf({ result }: Message): unknown {
  const content = result?.['content'] as readonly { readonly text: string }[];
  return content[0]?.text;
}

test('GET is not allowed; without guest access nobody is let in anonymously', async () => {
  const world = await startWorld({ env: OWNER });
  const got = await sendRaw(world.server, { path: PATH, headers: credential(OWNER_KEY) });
  assert.deepEqual([got.status, got.headers.allow], [405, 'POST, DELETE, OPTIONS']);
  assert.equal((await post(world, initialize())).status, 401);
  assert.equal((await post(world, initialize(), credential(OTHER_KEY))).status, 401);
  const page = { ...credential(OWNER_KEY), origin: 'http://evil.example' };
  assert.equal(codeOf(await post(world, initialize(), page)), 'CROSS_ORIGIN_REQUEST');
});

test('a session: its id, its owner, its end', async () => {
  const world = await startWorld({ env: GUESTS });
  const client = await open(world, OWNER_KEY);
  assert.match(client.session, /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  assert.deepEqual(await client.answers(ping), [{ jsonrpc: '2.0', id: 1, result: {} }]);
  const withId = { 'mcp-session-id': client.session };
  assert.equal(codeOf(await post(world, ping, credential(OWNER_KEY))), 'INVALID_REQUEST_BODY');
  assert.equal(codeOf(await post(world, ping, withId)), 'INSUFFICIENT_PERMISSIONS');
  const nowhere = { 'mcp-session-id': '1', ...credential(OWNER_KEY) };
  assert.equal(codeOf(await post(world, ping, nowhere)), 'NOT_FOUND');
  const end = (headers: Record<string, string>) =>
    sendRaw(world.server, { method: 'DELETE', path: PATH, headers });
  assert.equal(codeOf(await end(withId)), 'INSUFFICIENT_PERMISSIONS');
  assert.equal(codeOf(await end({})), 'INVALID_REQUEST_BODY');
  assert.equal((await end({ ...withId, ...credential(OWNER_KEY) })).status, 204);
  assert.equal(codeOf(await client.send(ping)), 'NOT_FOUND');
});

test('versions: the requested one, or our newest; batches in the older one only', async () => {
  const world = await startWorld({ env: GUESTS });
  for (const [requested, answered] of [
    ['2025-06-18', '2025-06-18'],
    ['2025-03-26', '2025-03-26'],
    ['2024-11-05', '2025-06-18'],
    ['2099-01-01', '2025-06-18'],
  ]) {
    const [message] = messagesIn(await post(world, initialize(requested)));
    assert.equal(message?.result?.['protocolVersion'], answered);
  }
  const early = { 'mcp-protocol-version': '2099-01-01' };
  const [opened] = messagesIn(await post(world, initialize('2099-01-01'), early));
  assert.equal(opened?.result?.['protocolVersion'], '2025-06-18');
  const client = await open(world, undefined);
  const pings = [1, 2].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' }));
  const version = (text: string) => ({ 'mcp-protocol-version': text });
  assert.equal(codeOf(await client.send(pings[0], version('2024-11-05'))), 'INVALID_REQUEST_BODY');
  assert.equal(codeOf(await client.send(pings, version('2025-06-18'))), 'INVALID_REQUEST_BODY');
  const ids = (messages: Message[]) => messages.map(({ id }) => Number(id)).sort((a, b) => a - b);
  assert.deepEqual(ids(await client.answers(pings, version('2025-03-26'))), [1, 2]);
  assert.deepEqual(ids(await client.answers(pings)), [1, 2]);
});

test('a batch of hundreds is refused, one of a hundred is answered', async () => {
  const world = await startWorld({ env: GUESTS });
  const client = await open(world, undefined);
  const calls = (count: number) =>
    Array.from({ length: count }, (_, id) => call(id, 'list_repos', {}));
  assert.equal(codeOf(await client.send(calls(500))), 'INVALID_REQUEST_BODY');
  assert.equal(codeOf(await client.send(calls(101))), 'INVALID_REQUEST_BODY');
  assert.equal((await client.answers(calls(100))).length, 100);
});

test('a slow body blocks nobody, and is aborted', async () => {
  const world = await startWorld({ env: GUESTS, requestTimeoutMs: 300 });
  const client = await open(world, undefined);
  const wire = openWire(world.server);
  wire.socket.write(`POST ${PATH} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n{`);
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  assert.equal((await client.answers(ping)).length, 1);
  assert.match(await wire.closed(), /^HTTP\/1\.1 408 /);
  assert.equal((await client.answers(ping)).length, 1);
});

test('an invalid message is an error of ours; JSON needs no content type', async () => {
  const world = await startWorld({ env: GUESTS });
  const client = await open(world, undefined);
  for (const bad of ['{', '1', '{}', '[]', '{"jsonrpc":"1.0","id":1,"method":"ping"}'])
    assert.equal(codeOf(await client.send(bad)), 'INVALID_REQUEST_BODY', bad);
  assert.equal(codeOf(await post(world, { ...initialize(), params: 1 })), 'INVALID_REQUEST_BODY');
  const large = await client.send(
    JSON.stringify(call(1, 'grep', { pattern: 'x'.repeat(2 << 20) })),
  );
  assert.equal(codeOf(large), 'REQUEST_BODY_TOO_LARGE');
  const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
  assert.equal((await client.answers(ping, { 'content-type': 'text/plain' })).length, 1);
  const [unknown] = await client.answers({ jsonrpc: '2.0', id: 1, method: 'resources/list' });
  assert.equal(unknown?.error?.code, -32601);
});

test('arguments that are not an object fail the tool; null counts as none', async () => {
  const world = await startWorld({ env: GUESTS });
  const client = await open(world, undefined);
  const requested = async (args: unknown) => {
    const params = { name: 'list_repos', arguments: args };
    const [answer] = await client.answers({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
    return String(textOf(answer!));
  };
  for (const bad of [[], 'x', 5, true])
    assert.match(await requested(bad), /^Tool "list_repos" failed: arguments: .*expected object/);
  assert.match(await requested({ x: 1 }), /^Tool "list_repos" failed: arguments: .*"x"/);
  assert.match(await requested(null), /^\{"repos":/);
  const params = { name: 5 };
  const [wrong] = await client.answers({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  assert.equal(wrong?.error?.code, -32602);
});

test('each tool call counts; other messages and headers do not', async () => {
  const settings = { rateLimit: { requestsPerDay: 3 } };
  const world = await startWorld({ env: OWNER, settings });
  const client = await open(world, OWNER_KEY);
  await client.send({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
  const batch = [1, 2, 3, 4].map((id) => call(id, 'list_repos', {}));
  const reply = await client.send(batch);
  assert.deepEqual(
    Object.keys(reply.headers).filter((name) => /ratelimit/.test(name)),
    [],
  );
  const results = messagesIn(reply);
  assert.equal(results.length, 4);
  const refused = results.filter(({ result }) => result?.['isError'] === true);
  assert.equal(refused.length, 1);
  assert.match(String(textOf(refused[0]!)), /^Tool "list_repos" failed: .*3 requests per day/);
});

test('a call of an unknown tool counts, and one with too long arguments', async () => {
  const settings = { rateLimit: { requestsPerDay: 2 } };
  const world = await startWorld({ env: OWNER, settings });
  const client = await open(world, OWNER_KEY);
  const textsOf = async (name: string, args: object) =>
    (await client.answers(call(1, name, args))).map(textOf).join('');
  assert.match(await textsOf('none', {}), /there is no such tool; there are grep, /);
  assert.match(await textsOf('grep', { pattern: 'x'.repeat(5000) }), /4096 bytes/);
  assert.match(await textsOf('none', {}), /2 requests per day/);
});

test('a cut result suggests a limit only where a larger one gives more', async () => {
  const chunk = {
    content: `${'y'.repeat(1000)}\n`,
    contentStart: { byteOffset: 0, lineNumber: 1, column: 1 },
    matchRanges: [{ start: { lineNumber: 1, column: 1 }, end: { lineNumber: 1, column: 2 } }],
  };
  const found = (fileCount: number) => {
    const files = Array.from({ length: fileCount }, (_, i) =>
      resultOf('', { fileName: { text: `${i}.txt`, matchRanges: [] }, chunks: [chunk] }),
    );
    const stats = { actualMatchCount: fileCount, totalMatchCount: 400, fileCount: 300 };
    const cut = { isSearchExhaustive: false, incompleteReasons: ['match_limit'] };
    return { ...answerOf(files, stats), ...cut };
  };
  const settings = { maxMatchCount: 250 };
  const search = async (request: unknown) => found((request as { matches: number }).matches);
  const world = await startWorld({ env: GUESTS, settings, search });
  const client = await open(world, undefined);
  const lastOf = async (name: string, args: object) => {
    const [answer] = await client.answers(call(1, name, args));
    const text = String(textOf(answer!));
    assert.ok(text.length <= 60_000, String(text.length));
    return text.split('\n').at(-1);
  };
  const of400 = 'of at least 400 matches in 300 files';
  assert.equal(
    await lastOf('grep', { ...GREP, limit: 10 }),
    `(cut at limit 10 ${of400}: call again with limit 250, or narrow by path, include or repo)`,
  );
  // The text is full.
  assert.equal(
    await lastOf('grep', { ...GREP, limit: 100 }),
    `(cut at limit 100 ${of400}: narrow by path, include or repo)`,
  );
  assert.equal(
    await lastOf('grep', { ...GREP, groupByRepo: true }),
    `(cut at limit 250 ${of400}: this is the largest limit; narrow by path, include or repo)`,
  );
  assert.equal(
    await lastOf('glob', { pattern: '*', limit: 1000 }),
    '(cut at limit 250 of at least 300 files: this is the largest limit; narrow by path or repo)',
  );
  // No more context lines are requested than fit into a text.
  assert.equal(
    await lastOf('grep', { ...GREP, limit: 10_000, contextLines: 20 }),
    `(cut at limit 244 ${of400}: narrow by path, include or repo)`,
  );
});

test('an answer too small for its first file is not reported as empty', async () => {
  const requested: { readonly maxBytes?: number }[] = [];
  const search = async (request: unknown) => {
    requested.push(request as { readonly maxBytes?: number });
    const cut = { isSearchExhaustive: false, incompleteReasons: ['size_limit'] };
    return { ...answerOf([], { totalMatchCount: 1, fileCount: 1 }), ...cut };
  };
  const world = await startWorld({ env: GUESTS, search });
  const client = await open(world, undefined);
  const [byFile] = await client.answers(call(1, 'grep', GREP));
  assert.match(
    String(textOf(byFile!)),
    /^Found 0 matches in 0 files\n\(cut: the text is full, at least 1 more files are not shown; narrow/,
  );
  const [byRepo] = await client.answers(call(1, 'grep', { ...GREP, groupByRepo: true }));
  assert.match(String(textOf(byRepo!)), /\n\(cut: only matches of the first files were counted/);
  assert.ok(requested.every(({ maxBytes = Infinity }) => maxBytes <= 8_000_000));
});

test('a search without a permit is a failed result', async () => {
  const release = gate();
  const settings = { maxConcurrentSearches: 1, maxQueuedSearches: 1 };
  const search = async () => {
    await release.opened;
    return answerOf();
  };
  const world = await startWorld({ env: GUESTS, settings, search });
  const client = await open(world, undefined);
  const first = client.answers(call(1, 'grep', GREP));
  await eventually(() => world.calls.length === 1);
  const waiting = client.answers(call(2, 'grep', GREP));
  await eventually(() => world.server.searchCounts().waiting === 1);
  const [refused] = await client.answers(call(3, 'grep', GREP));
  assert.equal(textOf(refused!), 'Tool "grep" failed: Too many searches; call again in a second');
  assert.equal((await client.answers(call(4, 'list_repos', {}))).length, 1);
  release.open();
  for (const [answer] of [await first, await waiting])
    assert.match(String(textOf(answer!)), /^No matches found/);
  await eventually(() => world.server.searchCounts().running === 0);
});

test('a call without memory for its answer is refused before it runs', async () => {
  const release = gate();
  const search = async () => {
    await release.opened;
    return answerOf();
  };
  // A guest has an eighth: two answers.
  const world = await startWorld({ env: GUESTS, settings: { memory: 8 * 524_288 }, search });
  const client = await open(world, undefined);
  const both = [1, 2].map((id) => client.answers(call(id, 'grep', GREP)));
  await eventually(() => world.calls.length === 2);
  const refused = await client.send(call(3, 'grep', GREP));
  assert.deepEqual([refused.status, codeOf(refused)], [503, 'SERVER_OVERLOADED']);
  assert.equal(world.calls.length, 2);
  release.open();
  for (const answers of await Promise.all(both)) assert.equal(answers.length, 1);
  assert.equal((await client.answers(call(3, 'grep', GREP))).length, 1);
});

test('progress is sent to clients that request it', async () => {
  const search = async (_: unknown, { onProgress }: SearchEnvironment) => {
    onProgress?.({ shardsDone: 1, shardsEligible: 4 });
    return answerOf();
  };
  const world = await startWorld({ env: GUESTS, search });
  const client = await open(world, undefined);
  const [reported, answer] = await client.answers(call(1, 'grep', GREP, { progressToken: 'p' }));
  assert.deepEqual(reported?.params, { progressToken: 'p', progress: 1, total: 4 });
  assert.equal(answer?.id, 1);
  assert.equal((await client.answers(call(2, 'grep', GREP))).length, 1);
});

test('a search ends when it is cancelled, and when its client disconnects', async () => {
  let endedCount = 0;
  const search = (_: unknown, { signal }: SearchEnvironment) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => {
        endedCount++;
        reject(new Error('aborted'));
      });
    });
  const world = await startWorld({ env: GUESTS, search });
  const client = await open(world, undefined);
  const cancelled = client.answers(call(1, 'grep', GREP));
  await eventually(() => world.calls.length === 1);
  const params = { requestId: 1 };
  await client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
  assert.deepEqual(await cancelled, []);
  assert.equal(endedCount, 1);
  const leaving = new AbortController();
  const headers = { 'mcp-session-id': client.session };
  const aborted = post(world, call(2, 'grep', GREP), headers, leaving.signal);
  await eventually(() => world.calls.length === 2);
  leaving.abort();
  await assert.rejects(aborted);
  await eventually(() => endedCount === 2);
  await eventually(() => world.server.searchCounts().running === 0);
  await eventually(() => world.lines.some(({ status }) => status === 499));
  assert.ok(!world.lines.some(({ level }) => level === 'error'));
  // Both ids are free again.
  for (const id of [1, 2, 3])
    assert.equal((await client.answers({ jsonrpc: '2.0', id, method: 'ping' })).length, 1);
});

test('a cancelled call of a batch takes no other answers with it', async () => {
  const search = (_: unknown, { signal }: SearchEnvironment) =>
    new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('aborted')));
    });
  const world = await startWorld({ env: GUESTS, search });
  const client = await open(world, undefined);
  const batch = client.answers([call(1, 'grep', GREP), call(2, 'list_repos', {})]);
  await eventually(() => world.calls.length === 1);
  const params = { requestId: 1 };
  await client.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params });
  const answers = await batch;
  assert.equal(answers.find(({ id }) => id === 1)?.error?.code, -32000);
  assert.match(String(textOf(answers.find(({ id }) => id === 2)!)), /^\{"repos":/);
  for (const id of [1, 2])
    assert.equal((await client.answers({ jsonrpc: '2.0', id, method: 'ping' })).length, 1);
});

test('a request id in use is refused, and free again after the answer', async () => {
  const release = gate();
  const search = async () => {
    await release.opened;
    return answerOf();
  };
  const world = await startWorld({ env: GUESTS, search });
  const client = await open(world, undefined);
  const first = client.answers(call(1, 'grep', GREP));
  await eventually(() => world.calls.length === 1);
  const ping = (id: number) => ({ jsonrpc: '2.0', id, method: 'ping' });
  const refused = await client.send(ping(1));
  assert.equal(refused.status, 400);
  assert.match(
    refused.body.toString(),
    /id: 1 is already used by a pending request of this session/,
  );
  const batch = { 'mcp-protocol-version': '2025-03-26' };
  assert.equal((await client.send([ping(4), ping(4)], batch)).status, 400);
  assert.equal((await client.answers([ping(4), ping(5)], batch)).length, 2);
  release.open();
  assert.equal((await first).length, 1);
  assert.equal((await client.answers(ping(1))).length, 1);
});

test('an internal error discloses nothing, and is logged', async () => {
  const search = async () => {
    throw new Error('a secret of the machine');
  };
  const world = await startWorld({ env: GUESTS, search });
  const client = await open(world, undefined);
  const [answer] = await client.answers(call(1, 'grep', GREP));
  assert.equal(
    textOf(answer!),
    'Tool "grep" failed: an unexpected error occurred; call again; if it fails again, see the log of Trawl',
  );
  assert.ok(world.lines.some(({ message }) => message === 'a tool failed unexpectedly'));
});
