// Account endpoints: signing in and out, keys, scoped tokens, members, licence, settings, audit. Access to them is
// tested by test/api/permissions.test.ts.
// tier: ci (long)

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { closeWorlds, repo, SEARCH_BODY } from '../http/harness.ts';
import { DAY_MS } from './licences.ts';
import { cookieOf, licenceKey, PASSWORD, startAccounts } from './world.ts';

afterEach(closeWorlds);

const HOUR_MS = 3_600_000;
const NO_KEY = `svk_${'0'.repeat(64)}`;

test('the setup link creates the first owner, once', async () => {
  const { startWorld } = await import('../http/harness.ts');
  const world = await startWorld({});
  const token = new URL(world.server.setupUrl!).searchParams.get('token')!;
  const setUp = (body: object) =>
    world.call({ method: 'POST', path: '/api/auth/setup', body: JSON.stringify(body) });
  const setup = { token, email: 'Ann@Example.com', name: 'Ann', password: PASSWORD };
  assert.equal((await world.call({ path: '/api/repos' })).status, 200);
  assert.equal((await setUp({ ...setup, password: 'short' })).status, 400);
  assert.equal((await setUp({ ...setup, token: 'f'.repeat(64) })).status, 401);
  const made = await setUp(setup);
  assert.equal(made.status, 201);
  assert.equal(made.json()['email'], 'ann@example.com');
  assert.equal(made.json()['role'], 'OWNER');
  assert.equal((await setUp({ ...setup, email: 'b@example.com' })).status, 401);
  assert.equal((await world.call({ path: '/api/repos' })).status, 401);
  const cookie = cookieOf(made);
  assert.equal((await world.call({ path: '/api/repos', headers: { cookie } })).status, 200);
});

test('a new password ends all links of the user; the link of a suspended user sets none', async () => {
  const { send, control, member } = await startAccounts({});
  const { store, accounts } = control;
  const { signIn, members } = accounts;
  const use = async (token: string, password = PASSWORD) => {
    const body = { token, email: 'x@example.com', name: 'M', password };
    return (await send('POST', '/api/auth/setup', undefined, body)).status;
  };
  const makeLinks = () => Promise.all([1, 2].map(() => signIn.makeLink(member.id)));
  const [first, second] = await makeLinks();
  assert.deepEqual([await use(second!), await use(first!), await use(second!)], [201, 401, 401]);
  const [newest] = (await store.audit.list({ offset: 0, limit: 1 })).rows;
  assert.deepEqual([newest?.action, newest?.targetId], ['user.signed_in', member.id]);
  const change = { currentPassword: PASSWORD, newPassword: 'another long one', address: '::1' };
  for (const set of [
    () => signIn.setPassword(member.id, PASSWORD),
    () => signIn.changePassword(member, '', change),
  ]) {
    const [token] = await makeLinks();
    await set();
    assert.equal(await use(token!), 401);
  }
  const [token] = await makeLinks();
  const link = `/api/auth/link?token=${token}`;
  const { status } = await send('GET', '/api/auth/link?token=x');
  await members.change(undefined, member.id, { suspended: true });
  assert.equal((await send('GET', link)).status, status);
  assert.equal(await use(token!), 401);
  await members.change(undefined, member.id, { suspended: false });
  assert.equal((await send('GET', link)).status, 200);
  assert.equal(await use(token!), 201);
});

test('invalid links cost no password hash, so nobody with an account is refused', async () => {
  const { send } = await startAccounts({});
  const body = { token: 'f'.repeat(64), email: 'x@example.com', name: 'X', password: PASSWORD };
  const floods = Array.from({ length: 60 }, () => send('POST', '/api/auth/setup', undefined, body));
  const login = { email: 'owner@example.com', password: PASSWORD };
  assert.equal((await send('POST', '/api/auth/login', undefined, login)).status, 200);
  for (const { code } of await Promise.all(floods)) assert.equal(code, 'INVALID_CREDENTIALS');
});

test('cookies are hardened; sessions end by logout, password change, suspension and age', async () => {
  const world = await startAccounts({});
  const { send, clock } = world;
  const login = await send('POST', '/api/auth/login', undefined, {
    email: ' MEMBER@example.com',
    password: PASSWORD,
  });
  assert.match(
    login.headers['set-cookie']![0]!,
    /^trawl_session=[0-9a-f]{64}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
  );
  const status = async (cookie: string) => (await send('GET', '/api/repos', cookie)).status;
  const first = cookieOf(login);
  const second = await world.signIn('member@example.com');
  assert.deepEqual([await status(first), await status(second)], [200, 200]);
  assert.equal((await send('POST', '/api/auth/logout', first)).status, 204);
  assert.deepEqual([await status(first), await status(second)], [401, 200]);
  const third = await world.signIn('member@example.com');
  const change = { currentPassword: PASSWORD, newPassword: 'another long one' };
  const wrong = await send('POST', '/api/auth/password', third, {
    ...change,
    currentPassword: 'no',
  });
  assert.equal(wrong.code, 'INVALID_CREDENTIALS');
  const short = await send('POST', '/api/auth/password', third, {
    ...change,
    newPassword: 'short',
  });
  assert.equal(short.code, 'INVALID_REQUEST_BODY');
  assert.equal((await send('POST', '/api/auth/password', third, change)).status, 204);
  assert.deepEqual([await status(second), await status(third)], [401, 200]);
  clock.nowMs += 2 * DAY_MS;
  const renewed = await send('GET', '/api/repos', third);
  assert.equal(cookieOf(renewed), third);
  assert.equal((await send('GET', '/api/repos', third)).headers['set-cookie'], undefined);
  clock.nowMs += 29 * DAY_MS;
  assert.equal(await status(third), 200);
  clock.nowMs += 30 * DAY_MS;
  assert.equal(await status(third), 401);
  const fourth = await world.signIn('member@example.com', 'another long one');
  await world.control.accounts.members.change(undefined, world.member.id, { suspended: true });
  assert.equal(await status(fourth), 401);
  assert.equal((await send('GET', '/api/repos', world.memberKey)).status, 401);
  await world.control.accounts.members.change(undefined, world.member.id, { suspended: false });
  assert.equal((await send('GET', '/api/repos', world.memberKey)).status, 200);
  assert.equal(await status(fourth), 401);
});

test('a session that is gone when it would be renewed is over', async () => {
  const { control, clock, signIn } = await startAccounts({});
  const { store, accounts } = control;
  const headers = new Map([['cookie', await signIn('member@example.com')]]);
  const find = accounts.callers.finder(headers, () => assert.fail('no token'));
  const { expiresAt } = (await store.sessions.byHash((await find())!.sessionHash!))!;
  clock.nowMs = expiresAt - 1;
  const caller = (await find())!;
  clock.nowMs = expiresAt;
  // As it happens now and then, without a report of a change.
  assert.equal(await store.users.pruneExpired(expiresAt), 1);
  assert.equal(await accounts.callers.renewed(caller, headers), undefined);
  assert.equal(await find(), undefined);
});

test('a password that was reset during its change stays', async (t) => {
  const { control, member, signIn } = await startAccounts({});
  const { users } = control.store;
  const { signIn: service } = control.accounts;
  const get = users.get.bind(users);
  // The reset comes after the old password was read.
  t.mock.method(users, 'get', async (id: string) => {
    const user = await get(id);
    t.mock.restoreAll();
    await service.setPassword(id, 'set by the operator');
    return user;
  });
  const change = { currentPassword: PASSWORD, newPassword: 'set too late', address: '::1' };
  await assert.rejects(service.changePassword(member, 'session', change), /password is wrong/);
  await signIn('member@example.com', 'set by the operator');
});

test('sign-in: unknown user and wrong password look alike; ten failures block for a while', async () => {
  const { send, clock } = await startAccounts({});
  const tryIt = (email: string, password: string) =>
    send('POST', '/api/auth/login', undefined, { email, password });
  const unknown = await tryIt('nobody@example.com', PASSWORD);
  const wrong = await tryIt('member@example.com', 'wrong password');
  assert.deepEqual(unknown.json(), wrong.json());
  assert.equal(wrong.code, 'INVALID_CREDENTIALS');
  for (let i = 0; i < 8; i++) assert.equal((await tryIt('x@example.com', 'no')).status, 401);
  const closed = await tryIt('member@example.com', PASSWORD);
  assert.equal(closed.code, 'TOO_MANY_SIGN_IN_ATTEMPTS');
  const seconds = Number(closed.headers['retry-after']);
  assert.ok(seconds > 800 && seconds <= 900, String(seconds));
  clock.nowMs += seconds * 1000;
  assert.equal((await tryIt('member@example.com', PASSWORD)).status, 200);
});

test('a page of another origin cannot act with a cookie; reads and API keys are not affected', async () => {
  const world = await startAccounts({});
  const cookie = await world.signIn('owner@example.com');
  const search = (headers: Record<string, string>, as: string = cookie) =>
    world.call({
      method: 'POST',
      path: '/api/search',
      headers: { ...(as === cookie ? { cookie } : { authorization: `Bearer ${as}` }), ...headers },
      body: JSON.stringify(SEARCH_BODY),
    });
  const cases: [Record<string, string>, number][] = [
    [{ origin: world.origin() }, 200],
    [{ 'sec-fetch-site': 'same-origin' }, 200],
    [{}, 403],
    [{ 'sec-fetch-site': 'cross-site' }, 403],
    [{ origin: 'https://evil.example' }, 403],
    [{ origin: 'null' }, 403],
    [{ origin: `${world.origin()}.evil.example` }, 403],
    [{ origin: 'https://evil.example', 'sec-fetch-site': 'same-origin' }, 403],
  ];
  for (const [headers, status] of cases) {
    const reply = await search(headers);
    assert.equal(reply.status, status, JSON.stringify(headers));
    if (status === 200) continue;
    assert.equal(reply.json()['errorCode'], 'CROSS_ORIGIN_REQUEST');
    // Nothing is said of a page where none is known.
    const { origin } = headers;
    const text = origin === undefined ? `add "Origin: ${world.origin()}"` : `a page of ${origin},`;
    assert.ok(String(reply.json()['message']).includes(text), String(reply.json()['message']));
  }
  const evil = { origin: 'https://evil.example' };
  assert.equal((await search(evil, world.memberKey)).status, 200);
  const read = await world.call({ path: '/api/repos', headers: { cookie, ...evil } });
  assert.equal(read.status, 200);
  assert.equal(read.headers['access-control-allow-origin'], undefined);
  const login = await world.send('POST', '/api/auth/login', undefined, {}, evil);
  assert.equal(login.code, 'CROSS_ORIGIN_REQUEST');
});

test('API keys: shown once, listed, accepted in both headers, revoked at once with their tokens', async () => {
  const world = await startAccounts({ repos: [repo(1, 'a')] });
  const { send } = world;
  const cookie = await world.signIn('member@example.com');
  const made = await send('POST', '/api/user/api_keys', cookie, { name: 'ci' });
  assert.equal(made.status, 201);
  const { id, key } = made.json() as { id: string; key: string };
  assert.match(key, /^svk_[0-9a-f]{64}$/);
  for (const name of ['ci', '', ' ', 'x'.repeat(65), '🔑'.repeat(65)])
    assert.equal(
      (await send('POST', '/api/user/api_keys', cookie, { name })).code,
      'API_KEY_ALREADY_EXISTS',
    );
  const longest = { name: '🔑'.repeat(64) };
  assert.equal((await send('POST', '/api/user/api_keys', cookie, longest)).status, 201);
  const listed = await send('GET', '/api/user/api_keys', cookie);
  assert.deepEqual(
    (listed.json() as unknown as { name: string }[]).map(({ name }) => name),
    ['first', 'ci', longest.name],
  );
  assert.ok(!listed.body.toString().includes(key));
  for (const headers of [{ authorization: `bearer ${key}` }, { 'X-Service-Api-Key': key }])
    assert.equal((await world.call({ path: '/api/repos', headers })).status, 200);
  const both = { authorization: `Bearer ${NO_KEY}`, 'x-service-api-key': key };
  assert.equal((await world.call({ path: '/api/repos', headers: both })).status, 200);
  const minted = await send('POST', '/api/ee/scoped_access_token', key, { repoIds: [1] });
  const { token } = minted.json() as { token: string };
  assert.equal((await send('GET', '/api/repos', token)).status, 200);
  const tokenFirst = { authorization: `Bearer svst_${'0'.repeat(64)}`, 'x-service-api-key': key };
  assert.equal((await world.call({ path: '/api/repos', headers: tokenFirst })).status, 401);
  const others = await world.signIn('owner@example.com');
  assert.equal(
    (await send('DELETE', `/api/user/api_keys/${id}`, others)).code,
    'API_KEY_NOT_FOUND',
  );
  assert.equal((await send('DELETE', `/api/user/api_keys/${id}`, cookie)).status, 204);
  assert.equal((await send('GET', '/api/repos', key)).status, 401);
  assert.equal((await send('GET', '/api/repos', token)).status, 401);
});

test('scoped tokens: valid for exactly one hour, created by keys only, never exceed their user', async () => {
  const enforced = { enforcement: 'all', visibility: 'private' } as const;
  const repos = [repo(1, 'open'), repo(2, 'shut', enforced), repo(3, 'closed', enforced)];
  const sizes = { docs: 1, contentBytes: 1, shardBytes: 1, skipped: {} };
  const world = await startAccounts({ repos, jobs: { sizesOf: () => sizes } });
  const { send, clock, memberKey, ownerKey } = world;
  const mint = (as: string | undefined, body: unknown) =>
    send('POST', '/api/ee/scoped_access_token', as, body);
  const visibleTo = world.repoIds;
  const isRefused = async (as: string) => (await send('GET', '/api/repos', as)).status === 401;
  const cookie = await world.signIn('member@example.com');
  const cases: [string | undefined, unknown, string][] = [
    [undefined, { repoIds: [] }, 'INVALID_REQUEST_BODY'],
    [memberKey, { repoIds: [1], more: 1 }, 'INVALID_REQUEST_BODY'],
    [memberKey, { repoIds: [1.5] }, 'INVALID_REQUEST_BODY'],
    [memberKey, { repoIds: [0] }, 'INVALID_REQUEST_BODY'],
    [memberKey, { repoIds: Array.from({ length: 10_001 }, () => 1) }, 'INVALID_REQUEST_BODY'],
    [memberKey, { repoIds: [2] }, 'INVALID_REPOSITORY_SCOPE'],
    [memberKey, { repoIds: [99] }, 'INVALID_REPOSITORY_SCOPE'],
  ];
  for (const [as, body, code] of cases) assert.equal((await mint(as, body)).code, code, code);
  const [hidden, unknown] = [
    await mint(memberKey, { repoIds: [2] }),
    await mint(memberKey, { repoIds: [99] }),
  ];
  assert.deepEqual(hidden.json(), unknown.json());
  await world.control.store.grants.add(world.member.id, [2]);
  assert.deepEqual(await visibleTo(memberKey), [1, 2]);
  const made = await mint(memberKey, { repoIds: [2, 1, 2] });
  assert.equal(made.status, 201);
  const { id, token, createdAt, expiresAt, repoIds } = made.json() as Record<string, string>;
  assert.deepEqual(repoIds, [2, 1]);
  assert.equal(Date.parse(expiresAt!) - Date.parse(createdAt!), HOUR_MS);
  assert.deepEqual(await visibleTo(token), [1, 2]);
  assert.equal(
    (await world.call({ path: '/api/repos', headers: { 'x-service-api-key': token! } })).status,
    401,
  );
  const ownToken = (await mint(ownerKey, { repoIds: [1, 3] })).json()['token'] as string;
  assert.deepEqual(await visibleTo(ownToken), [3, 1]);
  for (const [as, seesShards] of [
    [ownToken, false],
    [memberKey, false],
    [ownerKey, true],
  ] as const) {
    const explained = await send('POST', '/api/explain', as, SEARCH_BODY);
    assert.equal(explained.status, 200);
    assert.equal('shards' in explained.json(), seesShards);
    const [listed] = (await send('GET', '/api/repos', as)).json() as unknown as [object];
    assert.equal('shardBytes' in listed, seesShards);
  }
  await world.control.store.grants.remove(world.member.id, [2]);
  assert.deepEqual(await visibleTo(token), [1]);
  const tokens = await send('GET', '/api/user/scoped_access_tokens', cookie);
  assert.equal((tokens.json() as unknown as unknown[]).length, 1);
  assert.ok(!tokens.body.toString().includes(token!));
  clock.nowMs = Date.parse(expiresAt!) - 1;
  assert.deepEqual(await visibleTo(token), [1]);
  clock.nowMs += 1;
  assert.ok(await isRefused(token!));
  const gone = await send('DELETE', `/api/ee/scoped_access_token/${id}`, memberKey);
  assert.equal(gone.code, 'SCOPED_ACCESS_TOKEN_NOT_FOUND');
  const next = (await mint(memberKey, { repoIds: [1] })).json() as Record<string, string>;
  const path = `/api/ee/scoped_access_token/${next['id']}`;
  assert.equal((await send('DELETE', path, ownerKey)).code, 'SCOPED_ACCESS_TOKEN_NOT_FOUND');
  assert.equal((await send('DELETE', path, memberKey)).status, 204);
  assert.ok(await isRefused(next['token']!));
  assert.equal((await send('DELETE', path, memberKey)).code, 'SCOPED_ACCESS_TOKEN_NOT_FOUND');
});

test('members: list, get, add, change, remove; the last owner cannot go', async () => {
  const world = await startAccounts({ seats: 3 });
  const { send, ownerKey, owner, member } = world;
  const one = (id: string) => `/api/ee/user?userId=${id}`;
  const listed = (await send('GET', '/api/ee/users', ownerKey)).json() as unknown as object[];
  assert.equal(listed.length, 2);
  assert.deepEqual(Object.keys(listed[0]!).sort(), [
    'createdAt',
    'email',
    'id',
    'lastActivityAt',
    'name',
    'requestsPerDay',
    'role',
    'suspendedAt',
    'updatedAt',
  ]);
  const cases: [string, string, string | undefined, unknown, string][] = [
    ['GET', '/api/ee/user', undefined, undefined, 'MISSING_REQUIRED_QUERY_PARAMETER'],
    ['GET', one('nobody'), ownerKey, undefined, 'NOT_FOUND'],
    ['DELETE', one('nobody'), ownerKey, undefined, 'NOT_FOUND'],
    ['DELETE', one(owner.id), ownerKey, undefined, 'LAST_OWNER_CANNOT_BE_REMOVED'],
    ['PATCH', one(owner.id), ownerKey, { role: 'MEMBER' }, 'LAST_OWNER_CANNOT_BE_DEMOTED'],
    ['PATCH', one(owner.id), ownerKey, { suspended: true }, 'LAST_OWNER_CANNOT_BE_REMOVED'],
    ['PATCH', one(member.id), ownerKey, { requestsPerDay: -1 }, 'INVALID_REQUEST_BODY'],
    ['PATCH', one(member.id), ownerKey, { requestsPerDay: 2 ** 53 }, 'INVALID_REQUEST_BODY'],
    ['PATCH', one(member.id), ownerKey, { role: null }, 'INVALID_REQUEST_BODY'],
    ['PATCH', one('nobody'), ownerKey, {}, 'NOT_FOUND'],
    ['POST', '/api/ee/users', ownerKey, { email: 'MEMBER@example.com' }, 'USER_ALREADY_EXISTS'],
    ['POST', '/api/ee/users', ownerKey, { email: 'nonsense' }, 'INVALID_REQUEST_BODY'],
  ];
  for (const [method, path, as, body, code] of cases)
    assert.equal((await send(method, path, as, body)).code, code, `${method} ${path} ${code}`);
  const added = await send('POST', '/api/ee/users', ownerKey, {
    email: 'new@example.com',
    name: 'N',
  });
  assert.equal(added.status, 201);
  const { setupUrl, id } = added.json() as Record<string, string>;
  const token = new URL(setupUrl!).searchParams.get('token');
  const body = { token, email: 'new@example.com', name: 'New', password: PASSWORD };
  assert.equal((await send('POST', '/api/auth/setup', undefined, body)).json()['role'], 'MEMBER');
  assert.equal(
    (await send('POST', '/api/auth/setup', undefined, body)).code,
    'INVALID_CREDENTIALS',
  );
  await world.signIn('new@example.com');
  const full = await send('POST', '/api/ee/users', ownerKey, { email: 'more@example.com' });
  assert.equal(full.code, 'ORG_SEAT_COUNT_REACHED');
  assert.equal((await send('GET', one('NEW@example.com'), ownerKey)).json()['id'], id);
  const promoted = await send('PATCH', one(id!), ownerKey, { role: 'OWNER', name: 'Boss' });
  assert.deepEqual([promoted.json()['role'], promoted.json()['name']], ['OWNER', 'Boss']);
  assert.equal((await send('DELETE', one(owner.id), ownerKey)).json()['success'], true);
  assert.equal((await send('GET', '/api/ee/users', ownerKey)).code, 'NOT_AUTHENTICATED');
});

test('an entitlement ends with its licence; tokens are refused then', async () => {
  const world = await startAccounts({ repos: [repo(1, 'a')] });
  const { send, clock, memberKey, ownerKey } = world;
  clock.nowMs += 30 * DAY_MS - 60_000;
  const minted = await send('POST', '/api/ee/scoped_access_token', memberKey, { repoIds: [1] });
  const token = minted.json()['token'] as string;
  assert.equal((await send('GET', '/api/repos', token)).status, 200);
  clock.nowMs += 59_999;
  assert.equal((await send('GET', '/api/repos', token)).status, 200);
  clock.nowMs += 1;
  assert.equal((await send('GET', '/api/repos', token)).status, 401);
  assert.equal((await send('GET', '/api/ee/users', ownerKey)).status, 403);
  assert.equal((await send('GET', '/api/license', ownerKey)).json()['state'], 'expired');
  const refused = await send('PUT', '/api/license', ownerKey, { key: licenceKey(['audit']) });
  assert.equal(refused.code, 'LICENSE_CONTROLLED_BY_ENV');
});

test('owners set the licence and the settings; values fixed by the environment cannot be changed', async () => {
  const world = await startAccounts({ entitlements: 'none' });
  const { send, ownerKey, memberKey } = world;
  assert.equal((await send('GET', '/api/license', ownerKey)).json()['state'], 'none');
  const bad = await send('PUT', '/api/license', ownerKey, { key: `${licenceKey(['audit'])}x` });
  assert.equal(bad.code, 'INVALID_LICENSE');
  const good = await send('PUT', '/api/license', ownerKey, { key: licenceKey(['audit'], 9) });
  assert.deepEqual(
    [good.json()['state'], good.json()['seats'], good.json()['seatsUsed']],
    ['valid', 9, 2],
  );
  const repos = async (as?: string) => (await send('GET', '/api/repos', as)).status;
  assert.equal(await repos(), 401);
  const change = (body: object) => send('PATCH', '/api/instance', ownerKey, body);
  assert.equal((await change({ anonymousAccess: true })).json()['anonymousAccess'], true);
  assert.equal(await repos(), 200);
  assert.equal(await repos(NO_KEY), 200);
  assert.equal((await change({ passwordLogin: false })).code, 'EMAIL_LOGIN_CANNOT_BE_DISABLED');
  await change({ anonymousAccess: false, apiKeyUsage: 'owners', apiKeyCreation: 'owners' });
  const disabled = await send('GET', '/api/repos', memberKey);
  assert.deepEqual([disabled.status, disabled.code], [403, 'API_KEY_USAGE_DISABLED']);
  assert.equal(await repos(ownerKey), 200);
  const cookie = await world.signIn('member@example.com');
  const refused = await send('POST', '/api/user/api_keys', cookie, { name: 'x' });
  assert.equal(refused.code, 'INSUFFICIENT_PERMISSIONS');
  const env = { TRAWL_ANONYMOUS_ACCESS: 'true' };
  const fixed = await startAccounts({ env, settings: { apiKeyUsage: 'all' } });
  const state = (await fixed.send('GET', '/api/instance', fixed.ownerKey)).json();
  assert.deepEqual(state['controlledBy'], {
    anonymousAccess: 'env',
    passwordLogin: 'ui',
    apiKeyCreation: 'ui',
    apiKeyUsage: 'file',
  });
  const patch = (body: object) => fixed.send('PATCH', '/api/instance', fixed.ownerKey, body);
  assert.equal(
    (await patch({ anonymousAccess: false })).code,
    'ANONYMOUS_ACCESS_CONTROLLED_BY_ENV',
  );
  assert.equal((await patch({ apiKeyUsage: 'owners' })).code, 'SETTING_CONTROLLED_BY_CONFIG');
});

test('the audit log records who did what, in pages; no guests and no secrets', async () => {
  const world = await startAccounts({ repos: [repo(1, 'a')] });
  const { send, ownerKey, memberKey, member } = world;
  const cookie = await world.signIn('member@example.com');
  const made = await send('POST', '/api/user/api_keys', cookie, { name: 'ci' });
  await send('POST', '/api/search', memberKey, SEARCH_BODY, {
    'x-service-client-source': 'editor'.repeat(20),
  });
  await send('GET', '/api/source?repo=a&path=b', memberKey);
  for (let i = 0; i < 3; i++)
    await send('POST', '/api/files', memberKey, { repoName: 'a', revisionName: 'HEAD' });
  await world.control.accounts.auditLog.flush();
  for (let i = 0; i < 2; i++)
    await send('PATCH', '/api/instance', ownerKey, {
      apiKeyCreation: 'owners',
      apiKeyUsage: 'all',
    });
  const reply = await send('GET', '/api/ee/audit?perPage=100', ownerKey);
  const records = reply.json() as unknown as Record<string, unknown>[];
  const actions = records.map(({ action }) => action);
  for (const action of [
    'user.signed_in',
    'api_key.created',
    'user.performed_code_search',
    'user.fetched_file_source',
    'user.fetched_file_tree',
  ])
    assert.ok(actions.includes(action), action);
  const search = records.find(({ action }) => action === 'user.performed_code_search')!;
  assert.equal(search['actorType'], 'api_key');
  assert.match(String(search['actorName']), /^member@example\.com \(key .+\)$/);
  const fetched = actions.filter((action) => action === 'user.fetched_file_tree');
  assert.equal(fetched.length, 1, 'once an hour');
  assert.equal(search['orgId'], 1);
  assert.deepEqual(search['metadata'], { source: 'editor'.repeat(20).slice(0, 64) });
  assert.equal(records.find(({ action }) => action === 'user.signed_in')!['actorId'], member.id);
  const changes = records.filter(({ action }) => action === 'settings.changed');
  assert.deepEqual(
    changes.map(({ metadata }) => metadata),
    [
      {
        settings: ['apiKeyCreation'],
        from: { apiKeyCreation: 'all' },
        to: { apiKeyCreation: 'owners' },
      },
    ],
  );
  const { key } = made.json() as { key: string };
  for (const secret of [key, memberKey, ownerKey, PASSWORD, cookie.split('=')[1]!])
    assert.ok(
      !reply.body.toString().includes(secret) && !JSON.stringify(world.lines).includes(secret),
    );
  const page = await send('GET', '/api/ee/audit?perPage=2&page=2', ownerKey);
  assert.equal((page.json() as unknown as unknown[]).length, 2);
  assert.match(page.headers['link'] as string, /rel="prev".*rel="next"/);
  for (const query of [
    'since=x',
    'since=2026-02-02&until=2026-02-01',
    'since=2026-02-30',
    'perPage=101',
  ])
    assert.equal(
      (await send('GET', `/api/ee/audit?${query}`, ownerKey)).code,
      'INVALID_QUERY_PARAMS',
    );
  assert.deepEqual((await send('GET', '/api/ee/audit?until=2020-01-01', ownerKey)).json(), []);
  const chosen = await send('GET', `/api/ee/audit?action=user&actor=${member.id}&page=1`, ownerKey);
  assert.deepEqual(
    chosen.json(),
    records.filter(
      ({ action, actorId }) => actorId === member.id && String(action).startsWith('user.'),
    ),
  );
  assert.equal((chosen.json() as unknown as unknown[]).length > 0, true);
  const none = await send('GET', '/api/ee/audit?action=nothing', ownerKey);
  assert.deepEqual(none.json(), []);
});

test('background requests of the page leave one record an hour; programs leave one each', async () => {
  const world = await startAccounts({ repos: [repo(1, 'a')] });
  const { send, clock, control, member, memberKey, ownerKey } = world;
  const recorded = async (action: string, actorType: string) => {
    await control.accounts.auditLog.flush();
    const answer = await send('GET', `/api/ee/audit?action=${action}`, ownerKey);
    const rows = answer.json() as unknown as { actorType: string; actorName: string }[];
    const own = rows.filter(({ actorName }) => actorName.startsWith(member.email));
    return own.filter((row) => row.actorType === actorType).length;
  };
  const list = (as: string) => send('GET', '/api/repos', as);
  const search = (source: string) => (as: string) =>
    send('POST', '/api/search', as, SEARCH_BODY, { 'x-service-client-source': source });
  const cookie = await world.signIn('member@example.com');
  const owner = await world.signIn('owner@example.com');
  for (const [action, act] of [
    ['user.listed_repos', list],
    ['user.performed_code_search', search('web-preview')],
  ] as const) {
    for (const as of [cookie, cookie, owner, cookie, memberKey, memberKey])
      assert.equal((await act(as)).status, 200);
    assert.equal(await recorded(action, 'user'), 1);
    clock.nowMs += HOUR_MS;
    for (const as of [cookie, cookie]) await act(as);
    assert.equal(await recorded(action, 'user'), 2);
    assert.equal(await recorded(action, 'api_key'), 2);
  }
  for (let round = 0; round < 2; round++) await search('web')(cookie);
  assert.equal(await recorded('user.performed_code_search', 'user'), 4);
});

test('configured grants apply once read again; without the entitlement there is a warning', async () => {
  const repos = [
    repo(1, 'for-all', { enforcement: 'all' }),
    repo(2, 'private', { enforcement: 'restricted', visibility: 'private' }),
  ];
  const file = path.join(temporaryFolder(), 'trawl.json');
  const grant = (repos: string): void =>
    writeFileSync(
      file,
      JSON.stringify({ permissions: { grants: [{ to: ['everyone'], repos: [repos] }] } }),
    );
  const env = { TRAWL_ANONYMOUS_ACCESS: 'true', TRAWL_CONFIG: file };
  for (const entitlements of [['permissions'], 'none'] as const) {
    grant('for-*');
    const world = await startAccounts({ repos, env, entitlements });
    const isEntitled = entitlements !== 'none';
    const visibleTo = world.repoIds;
    assert.deepEqual(await visibleTo(), isEntitled ? [1] : []);
    assert.deepEqual(await visibleTo(world.memberKey), isEntitled ? [1] : []);
    const isWarned = JSON.stringify(world.lines).includes('grants have no effect');
    assert.equal(isWarned, !isEntitled);
    grant('private');
    assert.deepEqual(world.configuration.readAgain(), ['permissions']);
    world.control.accounts.applyConfiguration();
    assert.deepEqual(await visibleTo(), isEntitled ? [2] : []);
    assert.deepEqual(await visibleTo(world.memberKey), isEntitled ? [2] : []);
  }
});

test('grants: add, list, remove; unknown users and repositories change nothing', async () => {
  const enforced = { enforcement: 'all' } as const;
  const world = await startAccounts({ repos: [1, 2, 3].map((id) => repo(id, `r${id}`, enforced)) });
  const { send, ownerKey, member } = world;
  const path = '/api/ee/grants';
  const list = async () =>
    (await send('GET', `${path}?userId=${member.id}`, ownerKey)).json() as unknown as object[];
  const change = (method: string, repoIds: number[], userId = member.id) =>
    send(method, path, ownerKey, { userId, repoIds });
  assert.deepEqual((await change('POST', [1, 2])).json(), { added: 2 });
  assert.deepEqual((await change('POST', [2, 3, 3])).json(), { added: 1 });
  assert.equal((await change('POST', [1], 'nobody')).code, 'NOT_FOUND');
  assert.equal((await change('POST', [1, 9])).code, 'NOT_FOUND');
  assert.equal((await change('DELETE', [1, 9])).code, 'NOT_FOUND');
  assert.equal((await list()).length, 3);
  assert.deepEqual((await change('DELETE', [1])).json(), { removed: 1 });
  const ofRepo = await send('GET', `${path}?repoId=2`, ownerKey);
  const { id: userId, email } = member;
  const grant = { userId, email, repoId: 2, repoName: 'r2', source: 'store' };
  assert.deepEqual(ofRepo.json(), [grant]);
  // An e-mail address stands for the user's id, a name for that of the repository.
  const byNames = { userId: email.toUpperCase(), repoIds: ['r2', '#3', 1] };
  assert.deepEqual((await send('DELETE', path, ownerKey, byNames)).json(), { removed: 2 });
  assert.deepEqual((await send('POST', path, ownerKey, byNames)).json(), { added: 3 });
  const byName = await send('GET', `${path}?repoId=r2`, ownerKey);
  assert.deepEqual(byName.json(), [grant]);
  assert.match(String((await send('GET', `${path}?repoId=r9`, ownerKey)).json()['message']), /r9/);
  assert.equal((await send('GET', path, ownerKey)).code, 'INVALID_QUERY_PARAMS');
});

test('the current caller and its number of requests today', async () => {
  const world = await startAccounts({});
  const { send, memberKey } = world;
  const who = async (as?: string) => (await send('GET', '/api/user', as)).json();
  assert.deepEqual([(await who())['user'], (await who())['source']], [null, 'none']);
  assert.equal((await who(memberKey))['source'], 'api_key');
  await send('POST', '/api/search', memberKey, SEARCH_BODY);
  const usage = (await send('GET', '/api/user/usage', memberKey)).json();
  assert.deepEqual([usage['limit'], usage['used'], usage['remaining']], [10_000, 1, 9_999]);
  assert.equal(usage['resetsAt'], '2026-06-02T00:00:00.000Z');
});
