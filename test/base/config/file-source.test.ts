// Where a configuration file comes from: an address on a real server, and a file that appears late.

import assert from 'node:assert/strict';
import {
  chmodSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { test, type TestContext } from 'node:test';
import { openConfiguration } from '../../../daemon/base/config/configuration.ts';
import { ConfigError } from '../../../daemon/base/config/error.ts';
import { awaitSource, openSource } from '../../../daemon/base/config/file-source.ts';
import { makeCertificates, startProxy, startServer as startHost } from '../../hosts/servers.ts';
import { temporaryFolder } from '../../sources/git/fixture.ts';

type Answer = (response: ServerResponse, request: IncomingMessage) => void;

interface Server {
  origin: string;
  /** Of the requests so far: path, and the tag that they had. */
  readonly requested: string[];
  answer: Answer;
  close(): void;
}

async function startServer(t: TestContext, answer: Answer): Promise<Server> {
  const requested: string[] = [];
  const started: Server = { origin: '', requested, answer, close: () => server.close() };
  const server = createServer((request, response) => {
    requested.push(`${request.url} ${request.headers['if-none-match'] ?? '-'}`);
    started.answer(response, request);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  started.origin = `http://127.0.0.1:${port}`;
  return started;
}

function says(text: string, headers: Record<string, string> = {}): Answer {
  return (response) => response.writeHead(200, headers).end(text);
}

function redirects(url: string): Answer {
  return (response) => response.writeHead(302, { location: url }).end('elsewhere');
}

async function refusal(url: string): Promise<string> {
  try {
    await openSource(url, '/').refresh();
  } catch (error) {
    assert.ok(error instanceof ConfigError, String(error));
    return error.message;
  }
  return assert.fail('not refused');
}

void test('an address: the stored copy is used and revalidated with its tag', async (t) => {
  const server = await startServer(t, says('{"settings": {"memory": 1}}', { etag: '"one"' }));
  const source = openSource(`${server.origin}/trawl.json?key=hunter2`, '/');
  assert.equal(source.name, `${server.origin}/trawl.json`);
  assert.throws(() => source.read(), /not fetched yet/);
  assert.equal(await source.refresh(), true);
  assert.equal(source.read(), '{"settings": {"memory": 1}}');
  server.answer = (response) => response.writeHead(304).end();
  assert.equal(await source.refresh(), false);
  server.answer = says('\uFEFF{}');
  assert.equal(await source.refresh(), true);
  assert.equal(await source.refresh(), false, 'the same without a tag');
  assert.equal(source.read(), '{}');
  server.answer = (response) => response.writeHead(500).end('{"settings": {}}');
  await assert.rejects(source.refresh(), /status 500/);
  assert.equal(source.read(), '{}');
  const target = '/trawl.json?key=hunter2';
  assert.deepEqual(server.requested.slice(0, 4), [
    `${target} -`,
    `${target} "one"`,
    `${target} "one"`,
    `${target} -`,
  ]);
});

void test('an address: redirects within the host are followed, others and too many are not', async (t) => {
  const other = await startServer(t, says('{}'));
  const server = await startServer(t, (response, { url }) =>
    (url === '/new.json' ? says('{"apps": []}') : redirects('/new.json'))(response, undefined!),
  );
  const source = openSource(`${server.origin}/old.json`, '/');
  await source.refresh();
  assert.equal(source.read(), '{"apps": []}');
  server.answer = redirects(`${other.origin}/x.json?key=hunter2`);
  const reported = await refusal(`${server.origin}/old.json`);
  assert.ok(reported.includes(`redirects to ${other.origin}; give that address`), reported);
  assert.ok(!reported.includes('hunter2'));
  assert.deepEqual(other.requested, []);
  server.answer = redirects('/old.json');
  assert.match(await refusal(`${server.origin}/old.json`), /redirects more than 5 times/);
  server.answer = redirects('http://[');
  assert.match(await refusal(`${server.origin}/old.json`), /an invalid address/);
});

void test('an address: oversized, truncated and missing files are refused', async (t) => {
  const server = await startServer(t, (response) => {
    // Endless: who reads to its end never ends.
    const write = (): boolean => response.write(' '.repeat(65_536)) && setImmediate(write) && true;
    response.on('drain', write);
    write();
  });
  assert.match(await refusal(server.origin), /too large; allowed: 4194304 bytes/);
  server.answer = (response) => {
    response.writeHead(200, { 'content-length': '100' }).write('{');
    setImmediate(() => response.destroy());
  };
  assert.match(await refusal(server.origin), /configuration file: "http:\/\/127/);
  server.answer = (response) => response.writeHead(404).end();
  assert.match(await refusal(server.origin), /status 404/);
  server.close();
  assert.match(await refusal(server.origin), /ECONNREFUSED/);
});

void test('an address is fetched through the proxy of the environment, with its certificates', async (t) => {
  const certificates = makeCertificates(t);
  const server = await startHost(t, () => ({ body: '{"apps": []}' }), certificates);
  const proxy = await startProxy(t);
  const trusted = { NODE_EXTRA_CA_CERTS: certificates.caFile };
  const env = { ...trusted, HTTPS_PROXY: proxy.url };
  const source = openSource(`${server.url}/trawl.json`, '/', env);
  assert.equal(await source.refresh(), true);
  assert.equal(source.read(), '{"apps": []}');
  assert.deepEqual(proxy.requested, [`CONNECT ${new URL(server.url).host}`]);
  await openSource(server.url, '/', { ...env, NO_PROXY: '127.0.0.0/8' }).refresh();
  assert.equal(proxy.requested.length, 1);
  await assert.rejects(openSource(server.url, '/').refresh(), /configuration file: .*CERT|UNABLE/);
  const bad = openSource(server.url, '/', { HTTPS_PROXY: 'ftp://pass-word@x' });
  await assert.rejects(bad.refresh(), /^ConfigError: HTTPS_PROXY: (?!.*pass-word)|HTTPS_PROXY/);
});

void test('an address that does not respond is given up at the time limit', async (t) => {
  const server = await startServer(t, () => {});
  const ending = new AbortController();
  const source = openSource(server.origin, '/');
  const requested = source.refresh(ending.signal);
  ending.abort(new Error('over'));
  await assert.rejects(requested, { message: 'over' });
});

void test('an invalid address, or one with a user and password, is refused and not printed', () => {
  for (const url of [
    'https://ann:hunter2@host/x',
    'https://hunter2@host/',
    'http://',
    'https://[hunter2',
  ])
    assert.throws(
      () => openSource(url, '/'),
      (error) => error instanceof ConfigError && !error.message.includes('hunter2'),
    );
});

void test('a missing file is waited for at the start, with the reason; an invalid one is not', async (t) => {
  const file = path.join(temporaryFolder(), 'late.json');
  const waits: string[] = [];
  const source = openSource('late.json', path.dirname(file));
  await awaitSource(
    source,
    (reason) => {
      waits.push(reason);
      if (waits.length === 2) writeFileSync(file, '{}');
    },
    1,
  );
  assert.equal(waits.length, 2);
  assert.match(waits[1]!, /late\.json"; ENOENT; .*\(2 of 5\)$/);

  const server = await startServer(t, (response) => response.writeHead(503).end());
  const late = openSource(server.origin, '/');
  await assert.rejects(
    awaitSource(late, (reason) => waits.push(reason), 1),
    /status 503/,
  );
  assert.equal(server.requested.length, 6);
  assert.equal(waits.length, 2 + 5);
  const folder = openSource('.', path.dirname(file));
  await assert.rejects(
    awaitSource(folder, () => assert.fail('waited'), 1),
    /no file/,
  );
});

void test('a configuration can come from an address', async (t) => {
  const server = await startServer(t, says('{"settings": {"maxMatchCount": 7}}'));
  const env = { TRAWL_CONFIG: `${server.origin}/trawl.json` };
  const configuration = await openConfiguration({ env });
  assert.equal(configuration.settings.maxMatchCount, 7);
  server.answer = says('{"settings": {"maxMatchCount": 8}}');
  assert.deepEqual(configuration.readAgain(), []);
  await configuration.source?.refresh();
  assert.deepEqual(configuration.readAgain(), ['maxMatchCount']);
  assert.equal(configuration.source?.name, `${server.origin}/trawl.json`);
  const other = await openConfiguration({ env: {}, flags: { config: `${server.origin}/a` } });
  assert.equal(other.settings.maxMatchCount, 8);

  // While it does not answer, its stored copy is used, and that of no other address.
  const flags = { dataDir: temporaryFolder() };
  configuration.source?.keep(flags.dataDir);
  server.answer = (response) => response.writeHead(500).end();
  const kept = await openConfiguration({ env: { ...env }, flags });
  assert.equal(kept.settings.maxMatchCount, 8);
  assert.match(kept.notices.join(), /status 500.*the stored copy is used/);
  const elsewhere = { TRAWL_CONFIG: `${server.origin}/trawl.json?key=2` };
  await assert.rejects(openConfiguration({ env: elsewhere, flags }), /status 500/);
  server.answer = says('{}');
  await kept.source?.refresh();
  assert.deepEqual(kept.readAgain(), ['maxMatchCount']);
  assert.deepEqual(kept.notices, []);
});

void test('a file: a refresh notices writing, replacing, removing and linking, once, and ignores its neighbours', async () => {
  const folder = temporaryFolder();
  const [file, link] = [path.join(folder, 'one', 'trawl.json'), path.join(folder, 'trawl.json')];
  const replace = (text: string): void => {
    writeFileSync(`${file}~`, text);
    renameSync(`${file}~`, file);
  };
  for (const name of ['one', 'two']) {
    mkdirSync(path.join(folder, name));
    writeFileSync(path.join(folder, name, 'trawl.json'), name);
  }
  // As volumes of configuration are mounted into containers.
  symlinkSync('one', path.join(folder, '..data'));
  symlinkSync(path.join('..data', 'trawl.json'), link);
  const source = openSource(link, '/');
  assert.equal(await source.refresh(), true);
  for (const change of [
    () => writeFileSync(file, 'two'),
    () => replace('six'),
    () => rmSync(file),
    () => chmodSync(file, 0o600),
    () =>
      symlinkSync('two', path.join(folder, '..new')) ??
      renameSync(path.join(folder, '..new'), path.join(folder, '..data')),
  ]) {
    writeFileSync(file, 'one');
    for (const name of ['one', 'two']) utimesSync(path.join(folder, name, 'trawl.json'), 1, 1);
    await source.refresh();
    writeFileSync(path.join(folder, 'one', 'other.json'), 'x');
    assert.equal(await source.refresh(), false);
    change();
    assert.equal(await source.refresh(), true, String(change));
  }
});

void test('a file written just now may change again with the same time: it is read once more', async () => {
  const file = path.join(temporaryFolder(), 'trawl.json');
  writeFileSync(file, 'a');
  const source = openSource(file, '/');
  assert.equal(await source.refresh(), true);
  assert.equal(await source.refresh(), true);
});
