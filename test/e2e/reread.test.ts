// The configuration file reloaded at SIGHUP (API.md 19.1, 21.3): changes apply without a restart, and an invalid file
// changes nothing.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { mkdirSync, renameSync, writeFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { before, test } from 'node:test';
import { connectionSchema } from '../../daemon/base/config/connections.ts';
import { SUGGESTION_KINDS } from '../../daemon/engine/query/request.ts';
import { licenceEnvironment } from '../accounts/licences.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import {
  eventually,
  get,
  pathsOf,
  post,
  serve,
  serveIndexed,
  trawl,
  type Served,
} from './daemon.ts';

const KEY = `svk_${'0123456789abcdef'.repeat(4)}`;
const OWNER = { authorization: `Bearer ${KEY}` };

const sharedFile = path.join(temporaryFolder(), 'trawl.json');
let shared: Served;

/** Writes the file, has the daemon read it, and waits until its log says so. */
async function reread(content: unknown, expected: RegExp): Promise<void> {
  const from = shared.process.stderr.length;
  writeFileSync(sharedFile, typeof content === 'string' ? content : JSON.stringify(content));
  shared.process.child.kill('SIGHUP');
  await eventually(async () => expected.test(shared.process.stderr.slice(from)));
}

before(async () => {
  writeFileSync(sharedFile, '{"settings": {"maxMatchCount": 2}}');
  const repo = makeRepo({ 'a.txt': 'plum\nplum\nplum\n', 'long.txt': `plum ${'x'.repeat(500)}\n` });
  shared = await serveIndexed(temporaryFolder(), [repo], {
    env: { TRAWL_OWNER_EMAIL: 'ann@example.com', TRAWL_OWNER_API_KEY: KEY },
    flags: ['--config', sharedFile],
  });
  // A printed key would end up in logs and histories.
  assert.match(shared.process.stderr, /^Try: curl .*\$TRAWL_API_KEY/m);
});

void test('reloadable settings apply at SIGHUP, and nothing else changes', async () => {
  const rangeCount = async (): Promise<number> =>
    (await post(shared.url, { query: 'plum' }, OWNER)).body.stats['actualMatchCount'];
  const statusOfGuest = async (): Promise<number> => (await get(`${shared.url}/api/repos`)).status;
  assert.equal(await rangeCount(), 2);
  assert.equal(await statusOfGuest(), 401);

  await reread(
    { settings: { maxMatchCount: 3, anonymousAccess: true, maxQueuedSearches: 1, memory: 1 } },
    /read again .*maxMatchCount.*/,
  );
  assert.equal(await statusOfGuest(), 200);
  assert.equal((await post(shared.url, { query: 'plum' }, OWNER)).status, 503, 'no memory');

  await reread({}, /read again .*"memory".*/);
  assert.equal(await rangeCount(), 4);
  assert.equal(await statusOfGuest(), 401);
});

interface Change {
  readonly actorId: string;
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The records of changed settings, oldest first; not that the repository came in. */
async function changes(dataDir: string): Promise<Change[]> {
  const { stdout } = await trawl(['audit', '--json', '--data-dir', dataDir]);
  const records = stdout.split('\n').slice(0, -1).reverse();
  return records
    .map((line): Change & { action: string } => JSON.parse(line))
    .filter(({ action, metadata }) => action === 'settings.changed' && metadata['from'] !== null)
    .map(({ actorId, metadata }) => ({ actorId, metadata }));
}

/** The members by their whole keys; an empty list counts as absent. */
function under(head: string, members: object): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(members)
      .filter(([, value]) => !(Array.isArray(value) && value.length === 0))
      .map(([key, value]: [string, unknown]) => [`${head}.${key}`, value]),
  );
}

function nulls(members: object): Record<string, null> {
  return Object.fromEntries(Object.keys(members).map((key) => [key, null]));
}

void test('level and format of the log follow the file, unless a flag sets them', async () => {
  await reread({ settings: { logLevel: 'debug' } }, /read again .*logLevel/);
  await post(shared.url, { query: 'first' }, OWNER);
  await shared.process.until(/DEBUG .* body=.*first/);
  await reread({ settings: { logLevel: 'info' } }, /read again .*logLevel/);
  await post(shared.url, { query: 'second' }, OWNER);
  await reread({ settings: { logFormat: 'json', logLevel: 'debug' } }, /read again/);
  await post(shared.url, { query: 'third' }, OWNER);
  await shared.process.until(/^\{"level":"debug".*third/m);
  assert.doesNotMatch(shared.process.stderr, /second/);
  await reread({}, /read again/);

  const ownFile = path.join(temporaryFolder(), 'trawl.json');
  writeFileSync(ownFile, '{"settings": {"logLevel": "debug"}}');
  const flags = ['--config', ownFile, '--log-level', 'info', '--anonymous'];
  const other = await serve(temporaryFolder(), [makeRepo({ 'a.txt': 'plum\n' })], { flags });
  await post(other.url, { query: 'fourth' });
  const { stderr } = await other.process.stop();
  assert.match(stderr, /INFO .*search/);
  assert.doesNotMatch(stderr, /DEBUG/);
});

void test('changes of the file are audited: at the start, at SIGHUP, and after downtime; no change is not', async () => {
  const dataDir = temporaryFolder();
  const file = path.join(temporaryFolder(), 'trawl.json');
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const start = (content: unknown): Promise<Served> => {
    writeFileSync(file, JSON.stringify(content));
    return serve(dataDir, [repo], { flags: ['--config', file] });
  };
  const said = (metadata: object): Change => ({
    actorId: 'configuration-file',
    metadata: { file, ...metadata },
  });
  const first = said({ from: { 'settings.memory': null }, to: { 'settings.memory': 1e9 } });
  const settings = { settings: { memory: 1e9 } };
  let served = await start(settings);
  assert.deepEqual(await changes(dataDir), [first]);

  writeFileSync(file, `${JSON.stringify(settings)} // the same`);
  served.process.child.kill('SIGHUP');
  await served.process.until(/read again/, 1);
  const permissions = {
    groups: { crew: ['ann@example.com'] },
    grants: [{ to: ['group:crew'], repos: ['local/*'] }],
  };
  const host = { type: 'github', url: 'http://127.0.0.1:9', orgs: ['acme'] };
  const connections = { tools: { ...host, token: { env: 'FIRST' } } };
  writeFileSync(file, JSON.stringify({ settings: { maxMatchCount: 5 }, permissions, connections }));
  served.process.child.kill('SIGHUP');
  await served.process.until(/read again/, 2);
  const crew = 'permissions.groups.crew';
  const grants = 'permissions.grants';
  const maxMatchCount = 'settings.maxMatchCount';
  const tool = (token: object): object =>
    under('connections.tools', connectionSchema.parse({ ...host, token }));
  const second = said({
    from: {
      'settings.memory': 1e9,
      [grants]: null,
      [crew]: null,
      [maxMatchCount]: null,
      ...nulls(tool({ env: 'FIRST' })),
    },
    to: {
      'settings.memory': null,
      [grants]: permissions.grants,
      [crew]: ['ann@example.com'],
      [maxMatchCount]: 5,
      ...tool({ env: 'FIRST' }),
    },
  });
  await eventually(async () => (await changes(dataDir)).length > 1);
  assert.deepEqual(await changes(dataDir), [first, second]);
  await served.process.stop();

  const tools = { ...host, token: { env: 'SECOND' } };
  const sso = {
    type: 'oidc',
    issuer: 'https://id.example.com',
    clientId: 'trawl',
    clientSecret: { env: 'SSO' },
    scopes: 'openid email',
    allowSignUp: true,
    acceptBearer: false,
  };
  const identityProviders = { sso };
  served = await start({
    settings: { maxMatchCount: 5 },
    connections: { tools },
    identityProviders,
  });
  const provider = under('identityProviders.sso', sso);
  const token = 'connections.tools.token';
  const third = said({
    from: {
      [crew]: ['ann@example.com'],
      [grants]: permissions.grants,
      [token]: { env: 'FIRST' },
      ...nulls(provider),
    },
    to: { [crew]: null, [grants]: null, [token]: { env: 'SECOND' }, ...provider },
  });
  assert.deepEqual(await changes(dataDir), [first, second, third]);
  await served.process.stop();

  served = await serve(dataDir, [repo]);
  const gone = { [maxMatchCount]: 5, ...tool({ env: 'SECOND' }), ...provider };
  const last = said({ from: gone, to: nulls(gone) });
  assert.deepEqual(await changes(dataDir), [first, second, third, last]);
  await served.process.stop();
});

void test('settings that change docs cause a rebuild', async () => {
  const found = async (): Promise<string[]> =>
    pathsOf((await post(shared.url, { query: 'plum' }, OWNER)).body);
  assert.deepEqual(await found(), ['a.txt', 'long.txt']);
  await reread({ settings: { maxFileSize: 100 } }, /read again .*maxFileSize/);
  await eventually(async () => (await found()).length === 1);
  assert.deepEqual(await found(), ['a.txt']);
});

void test('without a file there is nothing to reload, and the daemon continues', async () => {
  const served = await serveIndexed(temporaryFolder(), [makeRepo({ 'a.txt': 'plum\n' })]);
  served.process.child.kill('SIGHUP');
  await served.process.until(/no configuration file/);
  assert.equal((await post(served.url, { query: 'plum' })).status, 200);
  await served.process.stop();
});

void test('a rotated log file is recreated at SIGHUP; at debug it has the searches', async () => {
  const file = path.join(temporaryFolder(), 'trawl.log');
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const served = await serve(temporaryFolder(), [repo], {
    env: { TRAWL_LOG_FILE: file },
    flags: ['--anonymous', '--log-level', 'debug'],
  });
  const fileMatches = (name: string, expected: RegExp): Promise<boolean> =>
    readFile(name, 'utf8').then(
      (text) => expected.test(text),
      () => false,
    );
  await post(served.url, { query: 'first .*word' });
  await eventually(() => fileMatches(file, /DEBUG .* body=.*first \.\*word/));
  renameSync(file, `${file}.1`);
  await post(served.url, { query: 'second' });
  await eventually(() => fileMatches(`${file}.1`, /second/));
  served.process.child.kill('SIGHUP');
  await eventually(() => fileMatches(file, /\[configuration\]/));
  await post(served.url, { query: 'third' });
  await eventually(() => fileMatches(file, /third/));
  assert.equal(await fileMatches(`${file}.1`, /third/), false);
  await served.process.stop();
});

void test('a replaced file is reloaded automatically, repeatedly, and no request is dropped', async () => {
  const file = path.join(temporaryFolder(), 'trawl.json');
  const replace = (content: unknown): void => {
    writeFileSync(`${file}.new`, typeof content === 'string' ? content : JSON.stringify(content));
    renameSync(`${file}.new`, file);
  };
  replace({ settings: { maxMatchCount: 1, anonymousAccess: true } });
  const repo = makeRepo({ 'a.txt': 'plum\n'.repeat(50) });
  const served = await serveIndexed(temporaryFolder(), [repo], { flags: ['--config', file] });
  const over = new AbortController();
  const counts = new Set<number>();
  const searchAgain = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const { status, body } = await post(served.url, { query: 'plum' });
      assert.equal(status, 200);
      counts.add(body.stats['actualMatchCount']);
    }
  };
  const polling = searchAgain();
  await eventually(async () => counts.has(1));
  for (let round = 2; round <= 7; round++) {
    replace(
      round % 3 === 0
        ? '{"settings": {'
        : { settings: { maxMatchCount: round, anonymousAccess: true } },
    );
    if (round % 3 === 0) await served.process.until(/is refused/, round / 3);
    else await eventually(async () => counts.has(round));
  }
  over.abort();
  await polling;
  // What was refused never counted.
  assert.deepEqual(
    [...counts].sort((left, right) => left - right),
    [1, 2, 4, 5, 7],
  );
  const { stderr } = await served.process.stop();
  assert.equal(stderr.match(/is refused/g)?.length, 2);
});

void test('an invalid file is logged once, however often it is touched', async () => {
  const file = path.join(temporaryFolder(), 'trawl.json');
  writeFileSync(file, '{}');
  const served = await serveIndexed(temporaryFolder(), [makeRepo({ 'a.txt': 'plum\n' })], {
    flags: ['--config', file],
    env: { TRAWL_OWNER_EMAIL: 'ann@example.com', TRAWL_OWNER_API_KEY: KEY },
  });
  const wrong = '{"setings": {},\n"conections": {}}';
  writeFileSync(file, wrong);
  await served.process.until(/is refused/);
  const degraded = async (): Promise<readonly string[]> => {
    const { body } = await get<{ degraded?: string[] }>(`${served.url}/api/ready`, OWNER);
    return (body.degraded ?? []).filter((sentence) => !sentence.startsWith('symbols of '));
  };
  const reported = await degraded();
  assert.deepEqual(
    reported.map((line) => line.replace(/ \S*trawl/, ' trawl')),
    [
      'the configuration file is refused: trawl.json:1: setings: no such key; did you mean settings?',
      'the configuration file is refused: trawl.json:2: conections: no such key; did you mean connections?',
    ],
  );
  writeFileSync(file, wrong);
  writeFileSync(`${file}.new`, wrong);
  renameSync(`${file}.new`, file);
  await new Promise((resolve) => setTimeout(resolve, 400));
  writeFileSync(file, '{}');
  await served.process.until(/read again/);
  assert.deepEqual(await degraded(), []);
  const { stderr } = await served.process.stop();
  assert.equal(stderr.match(/is refused/g)?.length, 1);
});

/** Asks with a token that sees one repository: a context of others must be answered as one that does not exist. */
async function assertSameAsUnknown(url: string, name: string): Promise<void> {
  const send = async (endpoint: string, headers: object, body?: object): Promise<string> => {
    const reply = await fetch(`${url}/api/${endpoint}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return `${reply.status} ${await reply.text()}`;
  };
  const made = await send('ee/scoped_access_token', OWNER, { repoIds: [1] });
  const token = { authorization: `Bearer ${/"token":"([^"]+)"/.exec(made)?.[1]}` };
  const answers = async (context: string): Promise<string[]> => {
    const query = `context:${context}`;
    const all = await Promise.all([
      ...['search', 'stream_search', 'explain'].map((endpoint) =>
        send(endpoint, token, { query: `${query} plum`, matches: 10 }),
      ),
      ...SUGGESTION_KINDS.map((kind) =>
        send(`suggestions?kind=${kind}&prefix=&query=${query}`, token),
      ),
    ]);
    return all.map((text) => text.replaceAll(context, 'NAME'));
  };
  const unknown = await answers('nosuch');
  for (const text of unknown) assert.match(text, /^404 .*SEARCH_CONTEXT_NOT_FOUND/);
  assert.deepEqual(await answers(name), unknown);
}

void test('contexts select among visible repositories, with the entitlement only', async () => {
  const file = path.join(temporaryFolder(), 'trawl.json');
  const contexts = {
    mine: { include: ['local/*'], exclude: ['local/c'], description: 'what is mine' },
    ofHidden: { include: ['local/b'] },
  };
  writeFileSync(file, JSON.stringify({ contexts, settings: { anonymousAccess: true } }));
  const folder = temporaryFolder();
  const sources = ['a', 'b', 'c'].map((name) => path.join(folder, name));
  for (const source of sources) {
    mkdirSync(source);
    writeFileSync(path.join(source, 'x.txt'), 'plum\n');
  }
  const dataDir = temporaryFolder();
  const licence = licenceEnvironment();
  const owner = { TRAWL_OWNER_EMAIL: 'ann@example.com', TRAWL_OWNER_API_KEY: KEY };
  const start = (env: Record<string, string>): Promise<Served> =>
    serve(dataDir, sources, { env: { ...owner, ...env }, flags: ['--config', file] });
  const first = await serveIndexed(dataDir, sources, {
    env: { ...owner, ...licence },
    flags: ['--config', file],
  });
  const hide = ['repo', 'set', '--visibility', 'private', '--enforce-permissions', 'local/b'];
  assert.equal((await trawl([...hide, '--data-dir', dataDir])).code, 0);
  const found = async (query: string, headers = {}): Promise<string> => {
    const { status, body } = await post(first.url, { query }, headers);
    if (status !== 200) return (body as unknown as { errorCode: string }).errorCode;
    return body.files
      .map(({ repository }) => repository)
      .sort()
      .join(' ');
  };
  assert.equal(await found('context:mine plum', OWNER), 'local/a local/b');
  assert.equal(await found('context:mine plum'), 'local/a');
  assert.equal(await found('-context:mine plum', OWNER), 'local/c');
  assert.equal(await found('context:other plum', OWNER), 'SEARCH_CONTEXT_NOT_FOUND');
  const suggested = async (headers = {}): Promise<unknown> => {
    const answer = await fetch(`${first.url}/api/suggestions?kind=context&prefix=`, { headers });
    return answer.json();
  };
  const mine = { value: 'mine', description: 'what is mine' };
  assert.deepEqual(await suggested(), [mine]);
  assert.deepEqual(await suggested(OWNER), [mine, { value: 'ofHidden' }]);
  assert.equal(await found('context:other (', OWNER), 'SEARCH_CONTEXT_NOT_FOUND');
  assert.equal(await found('context:ofHidden plum', OWNER), 'local/b');
  await assertSameAsUnknown(first.url, 'ofHidden');
  const fetchText = (endpoint: string): Promise<string> =>
    fetch(`${first.url}/api/${endpoint}`, {
      method: 'POST',
      headers: { ...OWNER, 'content-type': 'application/json' },
      body: JSON.stringify({ query: 'context:mine plum', matches: 10 }),
    }).then((answer) => answer.text());
  assert.match(
    await fetchText('explain'),
    /"canonical":"and\(context:\\"mine\\", text:\\"plum\\"\)"/,
  );
  assert.match(await fetchText('stream_search'), /local\/b/);
  writeFileSync(file, JSON.stringify({ contexts: { other: contexts.mine } }));
  await first.process.until(/read again .*contexts\.mine.*contexts\.other/);
  assert.equal(await found('context:other plum', OWNER), 'local/a local/b');
  assert.equal(await found('context:mine plum', OWNER), 'SEARCH_CONTEXT_NOT_FOUND');
  await first.process.stop();

  const second = await start({});
  await second.process.until(
    /contexts of the configuration file are ignored without the entitlement/,
  );
  const { status, body } = await post<unknown>(second.url, { query: 'context:other plum' }, OWNER);
  assert.equal(status, 403);
  assert.match(JSON.stringify(body), /INSUFFICIENT_PERMISSIONS.*search-contexts/);
  await second.process.stop();
});
