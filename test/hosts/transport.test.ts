// The transport against real servers on loopback: rate limits of hosts, failures, and where credentials are sent.
// tier: ci (long)

import assert from 'node:assert/strict';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { test, type TestContext } from 'node:test';
import { ConfigError } from '../../daemon/base/config/error.ts';
import { deferred } from '../../daemon/base/deferred.ts';
import { awaitedByGit, awaitedOf, awaitedSentence } from '../../daemon/hosts/awaited-answers.ts';
import { HostError } from '../../daemon/hosts/host.ts';
import { HostTransport, type TransportOptions } from '../../daemon/hosts/transport.ts';
import { type EndedCall, observeCalls, wholeOf } from '../../daemon/base/observed-calls.ts';
import {
  makeCertificates,
  recordingLog,
  startProxy,
  startServer,
  type StandInReply,
} from './servers.ts';

const TOKEN = 'ghp_0123456789abcdef';
const HEADERS = { authorization: `Bearer ${TOKEN}`, 'private-token': TOKEN };
const QUICK = { retryMs: 1 };

function transportTo(
  t: TestContext,
  url: string,
  options: Partial<TransportOptions> = {},
): HostTransport {
  const { log } = recordingLog();
  const transport = new HostTransport({ url, log, env: {}, limits: QUICK, ...options });
  t.after(() => transport.close());
  return transport;
}

/** One of the answers after the other; the last one again and again. */
function inOrder(...answers: StandInReply[]): () => StandInReply {
  let count = 0;
  return () => answers[Math.min(count++, answers.length - 1)]!;
}

function failsWith(code: string, ...words: RegExp[]) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof HostError, String(error));
    assert.equal(error.code, code, error.message);
    for (const word of words) assert.match(error.message, word);
    assert.doesNotMatch(error.message, new RegExp(TOKEN));
    return true;
  };
}

test('each request is told to an observer, with its host, and the failure as a word', async (t) => {
  const calls: EndedCall[] = [];
  observeCalls((call) => calls.push(call));
  t.after(() => observeCalls(undefined));
  const server = await startServer(t, inOrder({ status: 503 }, { body: {} }));
  const { fetch, fetchUntil, host } = transportTo(t, server.url);
  const request = new AbortController();
  await fetchUntil(request.signal)(`${server.url}/a`);
  await server.close();
  await assert.rejects(fetch(`${server.url}/b`), HostError);
  assert.deepEqual(
    calls.slice(0, 3).map(({ system, name, host: to, fault }) => [system, name, to, fault]),
    [undefined, undefined, 'ECONNREFUSED'].map((fault) => ['host', 'GET', host, fault]),
  );
  assert.ok(calls.every(({ startMs, endMs }) => endMs >= startMs));
  let whole: object | undefined = calls[0]!.signal;
  while (whole !== undefined && whole !== request.signal) whole = wholeOf(whole);
  assert.equal(whole, request.signal);
});

test('the request arrives, and the answer comes back whole', async (t) => {
  const server = await startServer(t, () => ({
    status: 404,
    headers: { link: '<next>' },
    body: { a: [1] },
  }));
  const { fetch, host } = transportTo(t, server.url);
  const response = await fetch(`${server.url}/v3/repos?page=2`, {
    method: 'POST',
    headers: HEADERS,
    body: '{}',
  });
  assert.equal(response.status, 404);
  assert.equal(response.headers.get('link'), '<next>');
  assert.equal(response.url, `${server.url}/v3/repos?page=2`);
  assert.deepEqual(await response.json(), { a: [1] });
  const [requested] = server.requested;
  assert.equal(requested?.headers.authorization, `Bearer ${TOKEN}`);
  assert.equal(requested?.query.get('page'), '2');
  assert.equal(requested?.body, '{}');
  assert.equal(host, new URL(server.url).host);
});

for (const status of [500, 502, 503, 504]) {
  test(`${status} is retried three times`, async (t) => {
    const server = await startServer(
      t,
      inOrder({ status }, { status }, { status }, { body: 'here' }),
    );
    const { fetch } = transportTo(t, server.url);
    assert.equal(await (await fetch(server.url)).text(), 'here');
    assert.equal(server.requested.length, 4);
  });
}

test('a failing host is reported after four requests', async (t) => {
  const server = await startServer(t, () => ({ status: 502, body: 'bad gateway' }));
  const response = await transportTo(t, server.url).fetch(server.url);
  assert.equal(response.status, 502);
  assert.equal(server.requested.length, 4);
});

for (const status of [400, 401, 403, 404, 422, 501]) {
  test(`${status} is not retried`, async (t) => {
    const server = await startServer(t, () => ({ status, body: { message: 'Bad credentials' } }));
    assert.equal((await transportTo(t, server.url).fetch(server.url)).status, status);
    assert.equal(server.requested.length, 1);
  });
}

test('a broken answer or connection is retried', async (t) => {
  let count = 0;
  const whole = { repos: 'x'.repeat(100_000) };
  const server = await startServer(t, () => {
    count++;
    if (count === 1) return 'hang up';
    return count === 2 ? { body: whole, cutAt: 5_000 } : { body: whole };
  });
  const response = await transportTo(t, server.url).fetch(server.url);
  assert.deepEqual(await response.json(), whole);
  assert.equal(server.requested.length, 3);
});

test('a refused connection: host, path, cause and next step, without the query', async (t) => {
  const server = await startServer(t, () => ({}));
  await server.close();
  const { log, lines } = recordingLog();
  const { fetch } = transportTo(t, server.url, { log });
  await assert.rejects(
    fetch(`${server.url}/orgs/acme?private_token=${TOKEN}`, { headers: HEADERS }),
    failsWith(
      'HOST_UNAVAILABLE',
      /127\.0\.0\.1:\d+: GET \/orgs\/acme: .*ECONNREFUSED.*HTTPS_PROXY/,
    ),
  );
  assert.equal(lines.length, 3);
  assert.ok(!lines.join('').includes(TOKEN));
});

test('a host without an address is reported by its name', async (t) => {
  const { fetch } = transportTo(t, 'http://no-such-host.invalid');
  await assert.rejects(
    fetch('http://no-such-host.invalid/x'),
    failsWith('HOST_UNAVAILABLE', /^no-such-host\.invalid: GET \/x: .*no-such-host/),
  );
});

test('a silent or too slow host is given up', async (t) => {
  const server = await startServer(t, () => 'silence');
  const limits = { ...QUICK, retries: 1, silenceMs: 50 };
  await assert.rejects(
    transportTo(t, server.url, { limits }).fetch(server.url),
    failsWith('HOST_UNAVAILABLE', /no data for 50 ms; check that the host/),
  );
  // The server may read the last one later than it was given up.
  while (server.requested.length < 2) await sleep(5);
  assert.equal(server.requested.length, 2);
  const whole = { ...QUICK, retries: 0, attemptMs: 50 };
  await assert.rejects(
    transportTo(t, server.url, { limits: whole }).fetch(server.url),
    failsWith('HOST_UNAVAILABLE', /no complete answer within 50 ms; check/),
  );
});

test('waiting for git is reported for the connections with the repository, and no others', async (t) => {
  const server = await startServer(t, () => 'silence');
  const limits = { ...QUICK, silenceMs: 60_000, noticeMs: 5 };
  const { fetch } = transportTo(t, server.url, { limits });
  const ending = new AbortController();
  const [one, other] = ['one.git', 'one.git-two.git'].map((name) => `${server.url}/acme/${name}`);
  const { signal } = ending;
  const fetching = assert.rejects(fetch(`${other!}/info/refs?service=git-upload-pack`, { signal }));
  while (awaitedByGit(() => [one!, other!]) === undefined) await sleep(5);
  assert.equal(awaitedByGit(() => [other!])?.what, 'GET /acme/one.git-two.git/info/refs');
  assert.equal(
    awaitedByGit(() => [one!]),
    undefined,
  );
  ending.abort();
  await fetching;
});

test('a silent host is reported while it is waited for, and since when; a responsive one is not', async (t) => {
  let isFrozen = true;
  const server = await startServer(t, () => (isFrozen ? 'silence' : { body: 'here' }));
  const { log, lines } = recordingLog();
  const limits = { ...QUICK, silenceMs: 300, retries: 1, noticeMs: 20 };
  const { fetch, host } = transportTo(t, server.url, { log, limits, connection: 'acme' });
  const startedAt = Date.now();
  const failed = assert.rejects(fetch(`${server.url}/orgs/acme`));
  assert.equal(awaitedOf('acme'), undefined);
  while (awaitedOf('acme') === undefined) await sleep(5);
  const first = awaitedOf('acme')!;
  // Between the request and the report, 20 ms later.
  assert.ok(first.since >= startedAt - 5 && first.since <= Date.now() - 15, String(first.since));
  assert.match(awaitedSentence(first), /has not answered since 20.*waiting for GET \/orgs\/acme/);
  for (let attempt = 0; attempt < 20; attempt++) {
    await sleep(3);
    const now = awaitedOf('acme');
    // On a busy machine it may have been given up meanwhile.
    if (now !== undefined) assert.equal(now.since, first.since, 'the same at each look');
  }
  await failed;
  assert.equal(awaitedOf('acme'), undefined);
  const again = assert.rejects(fetch(`${server.url}/orgs/other`));
  while (awaitedOf('acme')?.failure === undefined) await sleep(5);
  const second = awaitedOf('acme')!;
  assert.ok(second.since - first.since < 5, 'since the first question');
  assert.match(
    awaitedSentence(second),
    /orgs\/other: no data for 300 ms; check that the host can be reached/,
  );
  isFrozen = false;
  await again.catch(() => undefined);
  assert.equal(await (await fetch(server.url)).text(), 'here');
  assert.equal(awaitedOf('acme'), undefined);
  const notice = lines.filter((line) => line.includes('does not answer'));
  assert.ok(notice.length >= 2);
  assert.match(notice[0]!, new RegExp(`WARN.*${host}.*orgs/acme`, 'i'));
});

test('an answer above the limit is refused, also when it grows by decompression', async (t) => {
  const { gzipSync } = await import('node:zlib');
  const bomb = gzipSync(Buffer.alloc(1_000_000));
  const headers = { 'content-encoding': 'gzip' };
  const server = await startServer(t, ({ path }) =>
    path === '/bomb' ? { body: bomb, headers } : { body: 'x'.repeat(20_000) },
  );
  const limits = { ...QUICK, bytes: 10_000 };
  const { fetch } = transportTo(t, server.url, { limits });
  assert.ok(bomb.length < 10_000);
  for (const where of ['/bomb', '/long'])
    await assert.rejects(fetch(server.url + where), failsWith('ANSWER_TOO_LARGE', /10000 bytes/));
  assert.equal(server.requested.length, 2, 'asked once each');
});

test('an invalid status is refused', async (t) => {
  const server = await startServer(t, () => ({ status: 999, body: 'x' }));
  const { fetch } = transportTo(t, server.url);
  await assert.rejects(fetch(server.url), failsWith('HOST_ANSWER_INVALID', /status 999/));
});

test('an aborted request ends with the reason of its signal: running, queued or paused', async (t) => {
  const reason = new Error('stopped');
  for (const answer of [
    'silence',
    { status: 503 },
    { status: 429, headers: { 'retry-after': '60' } },
  ] as const) {
    const controller = new AbortController();
    const server = await startServer(t, () => {
      setTimeout(() => controller.abort(reason), 5);
      return answer;
    });
    const { fetchUntil } = transportTo(t, server.url, { limits: { retryMs: 60_000 } });
    await assert.rejects(fetchUntil(controller.signal)(server.url), reason);
    await assert.rejects(fetchUntil(controller.signal)(server.url), reason);
    assert.equal(server.requested.length, 1);
  }
});

const nowS = (): number => Math.floor(Date.now() / 1000);
const LIMITED: Readonly<Record<string, () => StandInReply>> = {
  'GitHub, primary': () => ({
    status: 403,
    headers: { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(nowS()) },
    body: { message: 'API rate limit exceeded for user ID 1.' },
  }),
  'GitHub, secondary': () => ({
    status: 403,
    headers: { 'retry-after': '1', 'x-ratelimit-remaining': '4000' },
    body: { message: 'You have exceeded a secondary rate limit.' },
  }),
  'GitHub, 429': () => ({ status: 429, headers: { 'retry-after': '0' } }),
  GitLab: () => ({
    status: 429,
    headers: { 'ratelimit-remaining': '0', 'ratelimit-reset': String(nowS()) },
    body: 'Retry later',
  }),
  'a pause in seconds': () => ({ status: 429, headers: { 'ratelimit-reset': '0' } }),
  'Azure DevOps': () => ({ status: 503, headers: { 'retry-after': '0' } }),
  'a date': () => ({
    status: 429,
    headers: { 'retry-after': new Date(Date.now() + 500).toUTCString() },
  }),
  'a host whose clock is an hour ahead': () => ({
    status: 403,
    headers: {
      date: new Date(Date.now() + 3_600_000).toUTCString(),
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': String(nowS() + 3_600),
    },
  }),
};

for (const [name, limited] of Object.entries(LIMITED)) {
  test(`a rate limit is waited for as the host demands: ${name}`, async (t) => {
    let count = 0;
    const server = await startServer(t, () => (count++ < 2 ? limited() : { body: 'here' }));
    const { log, lines } = recordingLog();
    const { fetch } = transportTo(t, server.url, { log, limits: { ...QUICK, retries: 0 } });
    assert.equal(await (await fetch(`${server.url}/repos`, { headers: HEADERS })).text(), 'here');
    assert.equal(server.requested.length, 3, 'pauses are no failures');
    assert.ok(!lines.join('').includes(TOKEN));
  });
}

test('a secondary limit without a time counts as a minute', async (t) => {
  const message = 'You have exceeded a secondary rate limit. Please wait a few minutes.';
  const server = await startServer(t, () => ({ status: 403, body: { message } }));
  const { fetch } = transportTo(t, server.url, { limits: { ...QUICK, waitMs: 1_000 } });
  await assert.rejects(fetch(server.url), (error: unknown) => {
    failsWith('RATE_LIMITED', /takes no more requests until 20/)(error);
    const pause = Date.parse((error as HostError).retryAt ?? '') - Date.now();
    assert.ok(pause > 55_000 && pause <= 60_000, String(pause));
    return true;
  });
});

test('a host that demands too long a pause is not waited for, and not asked again during it', async (t) => {
  for (const retryAfter of ['86400', '1e999', '999999999999999999999', 'soon']) {
    const server = await startServer(t, () => ({
      status: 429,
      headers: { 'retry-after': retryAfter },
    }));
    const { fetch } = transportTo(t, server.url, { limits: { ...QUICK, waitMs: 30_000 } });
    await assert.rejects(fetch(server.url), failsWith('RATE_LIMITED'));
    await assert.rejects(fetch(server.url), failsWith('RATE_LIMITED'));
    assert.equal(server.requested.length, 1);
  }
});

test('a host that limits for ever is given up', async (t) => {
  const server = await startServer(t, () => ({ status: 429, headers: { 'retry-after': '0.05' } }));
  const { fetch } = transportTo(t, server.url, { limits: { ...QUICK, waitMs: 3_000 } });
  await assert.rejects(fetch(server.url), failsWith('RATE_LIMITED'));
  assert.ok(server.requested.length > 2);
});

for (const [name, headers] of Object.entries({
  'no seconds': { 'retry-after': '0' },
  'a time in the past': { 'retry-after': 'Wed, 21 Oct 2015 07:28:00 GMT' },
  'a reset now': { 'ratelimit-remaining': '0', 'ratelimit-reset': '0' },
}))
  test(`a host that limits for ever and asks for no pause gets few requests: ${name}`, async (t) => {
    let count = 0;
    const server = await startServer(t, () =>
      count++ < 100 ? { status: 429, headers } : { body: 'here' },
    );
    const { fetch } = transportTo(t, server.url, { limits: { retryMs: 20, waitMs: 1_000 } });
    await assert.rejects(fetch(server.url), failsWith('RATE_LIMITED'));
    // The pauses double from 20 ms on: the sixth would end after the whole wait.
    assert.ok(server.requested.length <= 6, String(server.requested.length));
  });

test('the last request of a limit counts, and the next one waits before it is sent', async (t) => {
  const headers = { 'x-ratelimit-remaining': '0', 'x-ratelimit-reset': String(nowS() + 3_600) };
  const server = await startServer(t, () => ({ body: 'here', headers }));
  const { fetch } = transportTo(t, server.url, { limits: { ...QUICK, waitMs: 1_000 } });
  assert.equal(await (await fetch(server.url)).text(), 'here');
  await assert.rejects(fetch(server.url), failsWith('RATE_LIMITED'));
  assert.equal(server.requested.length, 1);
});

test('a paused request delays those queued behind it', async (t) => {
  const server = await startServer(t, () => ({ status: 429, headers: { 'retry-after': '3600' } }));
  const { fetch } = transportTo(t, server.url, { limits: { ...QUICK, waitMs: 1_000 } });
  const outcomes = await Promise.allSettled(Array.from({ length: 40 }, () => fetch(server.url)));
  assert.ok(outcomes.every(({ status }) => status === 'rejected'));
  assert.ok(server.requested.length <= 8, String(server.requested.length));
});

test('at most eight requests at a time to a host, over all connections', async (t) => {
  let running = 0;
  let most = 0;
  const together = deferred();
  const server = await startServer(t, async () => {
    most = Math.max(most, ++running);
    // On a slow machine the first would be answered before the last has come.
    if (most === 8) together.resolve();
    await together.promise;
    await sleep(20);
    running--;
    return { body: 'here' };
  });
  const fetches = [transportTo(t, server.url), transportTo(t, server.url)].map(
    ({ fetch }) => fetch,
  );
  await Promise.all(Array.from({ length: 40 }, (_, at) => fetches[at % 2]!(server.url)));
  assert.equal(most, 8);
});

test('a redirect within the host is followed with credentials, five at most', async (t) => {
  const server = await startServer(t, ({ path }) => {
    const step = Number(path.slice(1));
    return step === 0 ? { body: 'here' } : { status: 301, headers: { location: `/${step - 1}` } };
  });
  const { fetch } = transportTo(t, server.url);
  assert.equal(await (await fetch(`${server.url}/5`, { headers: HEADERS })).text(), 'here');
  assert.ok(
    server.requested.every(({ headers }) => headers.authorization === HEADERS.authorization),
  );
  await assert.rejects(
    fetch(`${server.url}/6`),
    failsWith('REDIRECT_REFUSED', /GET \/6: redirects/),
  );
});

test('no other host gets a request: another name, port, private address, or an address with a credential', async (t) => {
  const other = await startServer(t, () => ({ body: 'secrets of the cloud' }));
  const port = new URL(other.url).port;
  let target = '';
  const server = await startServer(t, () => ({ status: 302, headers: { location: target } }));
  const { fetch } = transportTo(t, server.url);
  const targets = [
    `${other.url}/latest/meta-data?token=${TOKEN}`,
    `http://localhost:${port}/`,
    `http://[::1]:${port}/`,
    'http://169.254.169.254/latest/meta-data',
    'http://10.0.0.1/',
    `//127.0.0.1:${port}/`,
    server.url.replace('//', '//user:password@'),
    'file:///etc/passwd',
    'ftp://127.0.0.1/',
    'javascript:0',
  ];
  for (target of targets)
    await assert.rejects(
      fetch(server.url, { headers: HEADERS }),
      failsWith('REDIRECT_REFUSED', /^127\.0\.0\.1:\d+: GET \/: the host points to/),
    );
  assert.equal(server.requested.length, targets.length);
  assert.deepEqual(other.requested, []);
  await assert.rejects(
    fetch(`${other.url}/page/2`, { headers: HEADERS }),
    failsWith('REDIRECT_REFUSED'),
  );
  assert.deepEqual(other.requested, []);
});

test('a redirect from http to https is followed, one from https to http is not', async (t) => {
  const certificates = makeCertificates(t);
  const secure = await startServer(t, () => ({ body: 'here' }), certificates);
  const plain = await startServer(t, () => ({
    status: 301,
    headers: { location: `${secure.url}/x` },
  }));
  const { caFile } = certificates;
  const upwards = transportTo(t, plain.url, { caFile });
  assert.equal(await (await upwards.fetch(plain.url, { headers: HEADERS })).text(), 'here');
  assert.equal(secure.requested[0]?.headers.authorization, HEADERS.authorization);
  const back = await startServer(
    t,
    () => ({ status: 301, headers: { location: plain.url } }),
    certificates,
  );
  await assert.rejects(
    transportTo(t, back.url, { caFile }).fetch(back.url),
    failsWith('REDIRECT_REFUSED'),
  );
  assert.equal(plain.requested.length, 1);
});

test('certificates of a private authority are trusted where configured, and requested once where missing', async (t) => {
  const certificates = makeCertificates(t);
  const server = await startServer(t, () => ({ body: 'here' }), certificates);
  const { caFile } = certificates;
  const withCaFile = transportTo(t, server.url, { caFile });
  assert.equal(await (await withCaFile.fetch(server.url)).text(), 'here');
  const extra = transportTo(t, server.url, { env: { NODE_EXTRA_CA_CERTS: caFile } });
  assert.equal(await (await extra.fetch(server.url)).text(), 'here');
  await assert.rejects(
    transportTo(t, server.url).fetch(server.url),
    failsWith('CERTIFICATE_REFUSED', /UNABLE_TO_VERIFY_LEAF_SIGNATURE|SELF_SIGNED/, /tls\.caFile/),
  );
  const byName = server.url.replace('127.0.0.1', 'localhost');
  await assert.rejects(
    transportTo(t, byName, { caFile }).fetch(byName),
    failsWith('CERTIFICATE_REFUSED', /ALTNAME/),
  );
  assert.equal(server.requested.length, 2);
});

test('a replaced certificate file applies from the next request on', async (t) => {
  const certificates = makeCertificates(t);
  const server = await startServer(t, () => ({ body: 'here' }), certificates);
  const file = path.join(path.dirname(certificates.caFile), 'named.pem');
  const exchangeFor = (text: string): void => {
    writeFileSync(`${file}.new`, text);
    renameSync(`${file}.new`, file);
  };
  exchangeFor(readFileSync(makeCertificates(t).caFile, 'utf8'));
  const { fetch } = transportTo(t, server.url, { caFile: file });
  await assert.rejects(fetch(server.url), failsWith('CERTIFICATE_REFUSED'));
  exchangeFor(readFileSync(certificates.caFile, 'utf8'));
  assert.equal(await (await fetch(server.url)).text(), 'here');
  exchangeFor('no certificate');
  await assert.rejects(fetch(server.url), (error) => error instanceof ConfigError);
});

test('a missing or invalid certificate file is refused when the transport is opened', (t) => {
  const { caFile } = makeCertificates(t);
  const none = path.join(path.dirname(caFile), 'none.pem');
  for (const file of [`${caFile}.missing`, none]) {
    writeFileSync(none, 'no certificate');
    assert.throws(
      () => transportTo(t, 'https://127.0.0.1', { caFile: file }),
      (error) => error instanceof ConfigError && error.message.includes(file),
    );
  }
});

test('a proxy is used for the addresses of its variable, with its credential, and not for NO_PROXY', async (t) => {
  const certificates = makeCertificates(t);
  const { caFile } = certificates;
  const secure = await startServer(t, () => ({ body: 'secure' }), certificates);
  const plain = await startServer(t, () => ({ body: 'plain' }));
  const proxy = await startProxy(t);
  const fetchText = async (url: string, env: Record<string, string>): Promise<string> =>
    (await transportTo(t, url, { caFile, env }).fetch(`${url}/a?b=c`, { headers: HEADERS })).text();
  const address = `http://name:word@${proxy.url}`;
  const both = { HTTP_PROXY: address, HTTPS_PROXY: address };
  assert.equal(await fetchText(secure.url, both), 'secure');
  assert.equal(await fetchText(plain.url, both), 'plain');
  assert.equal(await fetchText(plain.url, { http_proxy: proxy.url }), 'plain');
  assert.equal(await fetchText(secure.url, { ALL_PROXY: `http://${proxy.url}` }), 'secure');
  const expected = [
    `CONNECT ${new URL(secure.url).host}`,
    `GET ${plain.url}/a?b=c`,
    `GET ${plain.url}/a?b=c`,
    `CONNECT ${new URL(secure.url).host}`,
  ];
  assert.deepEqual(proxy.requested, expected);
  const basic = `Basic ${Buffer.from('name:word').toString('base64')}`;
  assert.deepEqual(proxy.credentials, [basic, basic, undefined, undefined]);
  assert.equal(await fetchText(secure.url, { HTTP_PROXY: address }), 'secure');
  for (const noProxy of ['127.0.0.1', '*', 'example.com, 127.0.0.1', 'example.com,127.0.0.0/8'])
    assert.equal(await fetchText(secure.url, { ...both, NO_PROXY: noProxy }), 'secure');
  assert.equal(proxy.requested.length, expected.length);
  for (const noProxy of ['10.0.0.0/8', '127.0.0.1/99', '::/0'])
    assert.equal(await fetchText(secure.url, { ...both, NO_PROXY: noProxy }), 'secure');
  assert.equal(proxy.requested.length, expected.length + 3);
  for (const { requested } of [secure, plain])
    assert.ok(requested.every(({ headers }) => headers['proxy-authorization'] === undefined));
});

test('an unavailable or useless proxy is reported, without its password', async (t) => {
  const away = await startServer(t, () => ({}));
  await away.close();
  const env = { HTTPS_PROXY: away.url.replace('//', '//name:pass-word@') };
  await assert.rejects(
    transportTo(t, 'https://127.0.0.1:1', { env }).fetch('https://127.0.0.1:1/x'),
    (error) => {
      assert.doesNotMatch(String(error), /pass-word/);
      return failsWith('HOST_UNAVAILABLE', /HTTPS_PROXY/)(error);
    },
  );
  assert.throws(
    () => transportTo(t, 'https://127.0.0.1', { env: { HTTPS_PROXY: 'socks4://a:pass-word@b' } }),
    (error) => error instanceof ConfigError && /^HTTPS_PROXY: (?!.*pass-word)/.test(error.message),
  );
});
