// OAuth over both adapters as in API.md 16: documents, registration, consent, tokens and their lifetimes, resources,
// revocation, the entitlement, removal of users, audit and log.
// tier: ci (long)

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import {
  RESOURCE_PATH,
  REVOKE_PATH,
  SERVER_PATH,
  TOKEN_PATH,
} from '../../../daemon/api/oauth/addresses.ts';
import { sendRaw } from '../../http/raw-client.ts';
import { DAY_MS } from '../../accounts/licences.ts';
import { type AccountsWorld, startAccounts } from '../../accounts/world.ts';
import {
  requestedBy,
  beginTools,
  browse,
  clientOf,
  codeFor,
  decide,
  tokensIn,
  post,
  redeem,
  REDIRECT,
  refresh,
  refusalOf,
  register,
  requestOf,
  statusWith,
  tokensFor,
} from './flow.ts';
import { closeWorlds } from '../../http/harness.ts';

afterEach(closeWorlds);

const MEMBER = 'member@example.com';

async function letIn(settings: Record<string, unknown> = {}) {
  const world = await startAccounts({ settings });
  const cookie = await world.signIn(MEMBER);
  return { world, cookie, clientId: await clientOf(world) };
}

async function auditOf(world: AccountsWorld, action: string) {
  const { rows } = await world.control.store.audit.list({ offset: 0, limit: 100, action });
  return rows;
}

test('the metadata documents name all addresses', async () => {
  const world = await startAccounts({});
  const { url } = world.server;
  const server = await browse(world, SERVER_PATH);
  assert.equal(server.status, 200);
  assert.deepEqual(server.json, {
    issuer: url,
    authorization_endpoint: `${url}/oauth/authorize`,
    token_endpoint: `${url}/api/ee/oauth/token`,
    registration_endpoint: `${url}/api/ee/oauth/register`,
    revocation_endpoint: `${url}/api/ee/oauth/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256'],
    token_endpoint_auth_methods_supported: ['none'],
    revocation_endpoint_auth_methods_supported: ['none'],
    dpop_signing_alg_values_supported: ['ES256'],
    authorization_response_iss_parameter_supported: true,
  });
  const packed = await browse(world, RESOURCE_PATH, undefined, { accept: 'application/msgpack' });
  assert.deepEqual(packed.json, {
    resource: `${url}/api/mcp`,
    authorization_servers: [url],
    bearer_methods_supported: ['header'],
    dpop_signing_alg_values_supported: ['ES256'],
  });
});

test('below a path the documents are also at the standard addresses', async () => {
  const env = { TRAWL_BASE_URL: 'https://x.example/code' };
  const world = await startAccounts({ env });
  const headers = { host: 'x.example' };
  for (const path of [`/code${SERVER_PATH}`, `${SERVER_PATH}/code`]) {
    const reply = await browse(world, path, undefined, headers);
    assert.equal(reply.json['token_endpoint'], `https://x.example/code${TOKEN_PATH}`, path);
  }
  const resource = '/.well-known/oauth-protected-resource/code/api/mcp';
  assert.equal((await browse(world, resource, undefined, headers)).status, 200);
  assert.equal((await browse(world, SERVER_PATH, undefined, headers)).status, 404);
  assert.equal((await browse(world, '/.well-known/x/codeapi/mcp', undefined, headers)).status, 404);
});

test('the tool server tells unauthenticated callers where to get tokens', async () => {
  const world = await startAccounts({});
  const where = `resource_metadata="${world.server.url}${RESOURCE_PATH}"`;
  const nobody = await beginTools(world);
  assert.equal(nobody.status, 401);
  assert.equal(nobody.headers['www-authenticate'], `Bearer ${where}, DPoP ${where}, algs="ES256"`);
  const elsewhere = await sendRaw(world.server, { path: '/api/repos' });
  assert.deepEqual([elsewhere.status, elsewhere.headers['www-authenticate']], [401, undefined]);
});

test('a tool client with an old or a wrong credential is no guest: it learns that it has to renew it', async () => {
  const { world, cookie, clientId } = await letIn({ anonymousAccess: true });
  const tokens = await tokensFor(world, cookie, clientId);
  const old = `Bearer ${tokens.access}`;
  world.clock.nowMs += 3_600_000;
  const refused = await beginTools(world, old);
  assert.equal(refused.status, 401);
  assert.match(String(refused.headers['www-authenticate']), /^Bearer resource_metadata=/);
  const next = tokensIn(await refresh(world, clientId, tokens.refresh));
  assert.equal((await beginTools(world, `Bearer ${next.access}`)).status, 200);
  for (const wrong of [`svst_${'0'.repeat(64)}`, 'svky_short', 'e30.e30.e30'])
    assert.equal((await beginTools(world, `Bearer ${wrong}`)).status, 401, wrong);
  assert.equal((await beginTools(world)).status, 200);
  assert.equal((await beginTools(world, 'Basic YTpi')).status, 200);
  assert.equal((await beginTools(world, undefined, { 'x-service-api-key': '' })).status, 200);
  assert.equal(await statusWith(world, old), 200);
});

test('registration: what is stored and what is returned', async () => {
  const world = await startAccounts({});
  const logo = 'https://client.example/logo.png';
  const more = { logo_uri: logo, token_endpoint_auth_method: 'client_secret_basic', scope: 'x' };
  const reply = await register(world, more, '/register');
  const { client_id: id, client_id_issued_at: at, ...rest } = reply.json;
  assert.match(String(id), /^[0-9a-f-]{36}$/);
  assert.equal(at, Math.floor(world.clock.nowMs / 1000));
  assert.deepEqual(rest, {
    client_name: 'Tool',
    redirect_uris: [REDIRECT],
    logo_uri: logo,
    token_endpoint_auth_method: 'none',
    grant_types: ['authorization_code', 'refresh_token'],
    response_types: ['code'],
  });
  assert.equal(reply.status, 201);
  assert.equal(reply.headers['cache-control'], 'no-store');
  for (const [wrong, error] of [
    [{ redirect_uris: undefined }, 'invalid_redirect_uri'],
    [{ redirect_uris: [] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [7] }, 'invalid_redirect_uri'],
    [{ redirect_uris: [REDIRECT, 'javascript:alert(1)'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['https://*.example/'] }, 'invalid_redirect_uri'],
    [{ redirect_uris: ['https://a.example/#x'] }, 'invalid_redirect_uri'],
    [{ client_name: undefined }, 'invalid_request'],
    [{ client_name: ' ' }, 'invalid_request'],
    [{ client_name: 'x'.repeat(129) }, 'invalid_request'],
    ...['a\0b', 'a\nb', 'a\u202eb', 'a\u200bb', 'a\u2028b', 'a\ud800'].map(
      (name) => [{ client_name: name }, 'invalid_request'] as const,
    ),
    [{ logo_uri: 7 }, 'invalid_request'],
  ] as const)
    assert.deepEqual(refusalOf(await register(world, wrong)), [400, error], JSON.stringify(wrong));
  const noJson = await post(world, '/register', { a: 'b' });
  assert.deepEqual(refusalOf(noJson), [400, 'invalid_request']);
});

test('a user authorizes a client; the token is a credential of the user', async () => {
  const { world, cookie, clientId } = await letIn();
  const id = await requestOf(world, cookie, clientId);
  const displayed = await world.send('GET', `/api/ee/oauth/request/${id}`, cookie);
  assert.deepEqual(displayed.json(), {
    clientName: 'Tool',
    redirectHost: '127.0.0.1:33418',
    resource: world.server.url,
  });
  const page = await browse(world, `/oauth/authorize?request=${id}`, cookie);
  assert.deepEqual([page.status, page.headers['content-type']], [200, 'text/html; charset=utf-8']);
  const back = await decide(world, cookie, id, 'allow');
  assert.equal(back.origin + back.pathname, REDIRECT);
  assert.equal(back.searchParams.get('state'), 'some state');
  assert.equal(back.searchParams.get('iss'), world.server.url);
  const tokens = tokensIn(await redeem(world, clientId, back.searchParams.get('code') ?? ''));
  assert.deepEqual([tokens.type, tokens.seconds], ['Bearer', 3600]);
  assert.equal(await statusWith(world, `bearer ${tokens.access}`), 200);
  assert.equal((await beginTools(world, `Bearer ${tokens.access}`)).status, 200);
  const who = await world.send('GET', '/api/user', tokens.access);
  assert.equal(who.json()['source'], 'oauth');
  // It is a program: its requests count.
  const counted = await world.send('GET', '/api/repos', tokens.access);
  assert.equal(counted.headers['x-ratelimit-limit'], '10000');
});

test('a user declines; a request is answered once, in time, and only by its user', async () => {
  const { world, cookie, clientId } = await letIn();
  const other = await world.signIn('owner@example.com');
  const id = await requestOf(world, cookie, clientId);
  const path = `/api/ee/oauth/request/${id}`;
  const allow = { decision: 'allow' };
  assert.equal((await world.send('GET', path, other)).code, 'NOT_FOUND');
  assert.equal((await world.send('POST', path, other, allow)).code, 'NOT_FOUND');
  assert.equal((await world.send('POST', path, cookie, {})).code, 'INVALID_REQUEST_BODY');
  const back = await decide(world, cookie, id, 'deny');
  assert.deepEqual(Object.fromEntries(back.searchParams), {
    error: 'access_denied',
    state: 'some state',
    iss: world.server.url,
  });
  assert.equal((await world.send('POST', path, cookie, allow)).code, 'NOT_FOUND');
  const late = await requestOf(world, cookie, clientId);
  world.clock.nowMs += 600_000;
  const latePath = `/api/ee/oauth/request/${late}`;
  assert.equal((await world.send('GET', latePath, cookie)).code, 'NOT_FOUND');
  assert.equal((await world.send('POST', latePath, cookie, allow)).code, 'NOT_FOUND');
  const gone = await world.send('GET', `/api/ee/oauth/request/${'f'.repeat(64)}`, cookie);
  assert.equal(gone.code, 'NOT_FOUND');
});

test('an unauthenticated user signs in first and returns with the whole request', async () => {
  const { world, clientId } = await letIn();
  const requested = requestedBy(clientId, { state: 'a&b=c#d' });
  for (const credential of [{}, { authorization: `Bearer ${world.ownerKey}` }]) {
    const reply = await browse(world, requested, undefined, credential);
    assert.equal(reply.status, 303);
    const to = new URL(String(reply.headers.location));
    assert.equal(to.origin + to.pathname, `${world.server.url}/login`);
    assert.equal(to.searchParams.get('return'), requested);
  }
});

test('lifetimes follow the settings', async () => {
  const oauth = { codeTtlSeconds: 5, accessTokenTtlSeconds: 7, refreshTokenTtlSeconds: 11 };
  const { world, cookie, clientId } = await letIn({ oauth });
  const first = await tokensFor(world, cookie, clientId);
  assert.equal(first.seconds, 7);
  world.clock.nowMs += 6_999;
  assert.equal(await statusWith(world, `Bearer ${first.access}`), 200);
  world.clock.nowMs += 1;
  assert.equal(await statusWith(world, `Bearer ${first.access}`), 401);
  world.clock.nowMs += 3_999;
  const second = tokensIn(await refresh(world, clientId, first.refresh));
  world.clock.nowMs += 10_999;
  const third = tokensIn(await refresh(world, clientId, second.refresh));
  world.clock.nowMs += 11_000;
  assert.deepEqual(refusalOf(await refresh(world, clientId, third.refresh)), [
    400,
    'invalid_grant',
  ]);
  const code = await codeFor(world, cookie, clientId);
  world.clock.nowMs += 5_000;
  assert.deepEqual(refusalOf(await redeem(world, clientId, code)), [400, 'invalid_grant']);
});

test('refresh: new tokens, the old refresh token is replaced', async () => {
  const { world, cookie, clientId } = await letIn();
  const first = await tokensFor(world, cookie, clientId);
  world.clock.nowMs += 1000;
  const second = tokensIn(await refresh(world, clientId, first.refresh));
  assert.notEqual(second.access, first.access);
  assert.notEqual(second.refresh, first.refresh);
  // A request that was sent with the old access token is not refused.
  for (const { access } of [first, second])
    assert.equal(await statusWith(world, `Bearer ${access}`), 200);
  let last = second;
  for (let i = 0; i < 6; i++) {
    world.clock.nowMs += 1000;
    last = tokensIn(await refresh(world, clientId, last.refresh));
  }
  // Of many the newest are good.
  assert.equal(await statusWith(world, `Bearer ${last.access}`), 200);
  assert.equal(await statusWith(world, `Bearer ${first.access}`), 401);
});

test('errors of a token request name the missing or wrong parameter', async () => {
  const { world, cookie, clientId } = await letIn();
  const code = await codeFor(world, cookie, clientId);
  for (const [fields, error] of [
    [{}, 'invalid_request'],
    [{ grant_type: 'password' }, 'unsupported_grant_type'],
    [{ grant_type: 'client_credentials' }, 'unsupported_grant_type'],
    [{ grant_type: 'refresh_token' }, 'invalid_request'],
    [{ grant_type: 'refresh_token', client_id: clientId }, 'invalid_request'],
    [{ grant_type: 'refresh_token', client_id: 'x', refresh_token: 'y' }, 'invalid_client'],
    [{ grant_type: 'refresh_token', client_id: clientId, refresh_token: 'y' }, 'invalid_grant'],
  ] as const)
    assert.deepEqual(
      refusalOf(await post(world, TOKEN_PATH, fields)),
      [400, error],
      JSON.stringify(fields),
    );
  for (const [more, error] of [
    [{ client_id: undefined }, 'invalid_request'],
    [{ client_id: 'nobody' }, 'invalid_client'],
    [{ code: undefined }, 'invalid_request'],
    [{ code: 'f'.repeat(64) }, 'invalid_grant'],
    [{ redirect_uri: 'http://127.0.0.1:1/callback' }, 'invalid_grant'],
    [{ resource: 'https://other.example' }, 'invalid_target'],
  ] as const)
    assert.deepEqual(
      refusalOf(await redeem(world, clientId, code, more)),
      [400, error],
      JSON.stringify(more),
    );
  // None of that has used the code up.
  tokensIn(await redeem(world, clientId, code, { redirect_uri: undefined }));
});

test('revocation: an access token only, a refresh token with its family; anything else is 200 too', async () => {
  const { world, cookie, clientId } = await letIn();
  const tokens = await tokensFor(world, cookie, clientId);
  const other = await clientOf(world);
  for (const fields of [
    {},
    { token: 'x' },
    { token: `svoa_${'0'.repeat(64)}` },
    { token: `svor_${'0'.repeat(64)}` },
    { token: world.ownerKey },
    { token: tokens.refresh, client_id: other },
    { token: tokens.access, client_id: other },
  ])
    assert.equal((await post(world, REVOKE_PATH, fields)).status, 200);
  assert.equal(await statusWith(world, `Bearer ${tokens.access}`), 200);
  assert.equal(await statusWith(world, `Bearer ${world.ownerKey}`), 200);
  await post(world, REVOKE_PATH, { token: tokens.access });
  assert.equal(await statusWith(world, `Bearer ${tokens.access}`), 401);
  const next = tokensIn(await refresh(world, clientId, tokens.refresh));
  await post(world, REVOKE_PATH, { token: next.refresh, client_id: clientId });
  assert.equal(await statusWith(world, `Bearer ${next.access}`), 401);
  assert.deepEqual(refusalOf(await refresh(world, clientId, next.refresh)), [400, 'invalid_grant']);
});

test('a user lists authorized clients and revokes them', async () => {
  const { world, cookie, clientId } = await letIn();
  const tokens = await tokensFor(world, cookie, clientId);
  const unused = await codeFor(world, cookie, clientId);
  const listed = await world.send('GET', '/api/user/applications', cookie);
  const [one, ...none] = JSON.parse(listed.body.toString()) as Record<string, unknown>[];
  assert.deepEqual(none, []);
  const { id, ...rest } = one!;
  const at = new Date(world.clock.nowMs).toISOString();
  assert.deepEqual(rest, {
    name: 'Tool',
    redirectHost: '127.0.0.1:33418',
    resource: world.server.url,
    createdAt: at,
    lastUsedAt: at,
  });
  const other = await world.signIn('owner@example.com');
  const path = `/api/user/applications/${String(id)}`;
  assert.equal((await world.send('DELETE', path, other)).code, 'NOT_FOUND');
  assert.equal(await statusWith(world, `Bearer ${tokens.access}`), 200);
  assert.equal((await world.send('DELETE', path, cookie)).status, 204);
  assert.equal(await statusWith(world, `Bearer ${tokens.access}`), 401);
  assert.deepEqual(refusalOf(await refresh(world, clientId, tokens.refresh)), [
    400,
    'invalid_grant',
  ]);
  assert.equal((await world.send('DELETE', path, cookie)).code, 'NOT_FOUND');
  tokensIn(await redeem(world, clientId, unused));
});

test('without the entitlement: no documents, 403 elsewhere, tokens are refused until it is back', async () => {
  const { world, cookie, clientId } = await letIn();
  const tokens = await tokensFor(world, cookie, clientId);
  const id = await requestOf(world, cookie, clientId);
  // The licence of these tests ends after 30 days.
  world.clock.nowMs += 31 * DAY_MS;
  for (const path of [SERVER_PATH, RESOURCE_PATH]) {
    const reply = await browse(world, path);
    assert.deepEqual([reply.status, reply.json['errorCode']], [404, 'NOT_FOUND']);
  }
  for (const reply of [
    await register(world),
    await register(world, { redirect_uris: 7 }),
    await post(world, TOKEN_PATH, {}),
    await post(world, REVOKE_PATH, {}),
    await browse(world, requestedBy(clientId), cookie),
    await browse(world, `/oauth/authorize?request=${id}`, cookie),
  ]) {
    assert.deepEqual(refusalOf(reply), [403, 'access_denied']);
    assert.equal(reply.json['errorCode'], 'INSUFFICIENT_PERMISSIONS');
    assert.match(String(reply.json['message']), /"oauth"/);
  }
  const nobody = await beginTools(world);
  assert.deepEqual([nobody.status, nobody.headers['www-authenticate']], [401, undefined]);
  assert.equal(await statusWith(world, `Bearer ${tokens.access}`), 401);
  world.clock.nowMs -= 31 * DAY_MS;
  assert.equal(await statusWith(world, `Bearer ${tokens.access}`), 200);
});

test('tokens end when their user is suspended, for good, or removed', async () => {
  const { world, cookie, clientId } = await letIn();
  const { members } = world.control.accounts;
  const tokens = await tokensFor(world, cookie, clientId);
  const code = await codeFor(world, cookie, clientId);
  await members.change(undefined, world.member.id, { suspended: true });
  assert.equal(await statusWith(world, `Bearer ${tokens.access}`), 401);
  await members.change(undefined, world.member.id, { suspended: false });
  assert.equal(await statusWith(world, `Bearer ${tokens.access}`), 401);
  assert.deepEqual(refusalOf(await refresh(world, clientId, tokens.refresh)), [
    400,
    'invalid_grant',
  ]);
  assert.deepEqual(refusalOf(await redeem(world, clientId, code)), [400, 'invalid_grant']);
  const again = await tokensFor(world, await world.signIn(MEMBER), clientId);
  assert.equal(await statusWith(world, `Bearer ${again.access}`), 200);
  await members.remove(undefined, world.member.id);
  assert.equal(await statusWith(world, `Bearer ${again.access}`), 401);
  assert.deepEqual(refusalOf(await refresh(world, clientId, again.refresh)), [
    400,
    'invalid_grant',
  ]);
});

test('the audit names clients and users; audit, log and store contain no secret', async () => {
  const { world, cookie, clientId } = await letIn();
  const code = await codeFor(world, cookie, clientId);
  const tokens = tokensIn(await redeem(world, clientId, code));
  const next = tokensIn(await refresh(world, clientId, tokens.refresh));
  await refresh(world, clientId, tokens.refresh);
  const [registered] = await auditOf(world, 'oauth.client_registered');
  assert.deepEqual([registered?.actorId, registered?.targetId], ['anonymous', clientId]);
  const issued = await auditOf(world, 'oauth.token_issued');
  assert.deepEqual(
    issued.map(({ actorId, targetId, targetType, metadata }) => [
      actorId,
      targetId,
      targetType,
      metadata?.['grantType'],
    ]),
    ['refresh_token', 'authorization_code'].map((grantType) => [
      world.member.id,
      clientId,
      'oauth_client',
      grantType,
    ]),
  );
  const [revoked] = await auditOf(world, 'oauth.token_revoked');
  assert.equal(revoked?.metadata?.['reason'], 'a refresh token was used twice');
  await world.control.accounts.auditLog.flush();
  const { rows } = await world.control.store.audit.list({ offset: 0, limit: 1000 });
  const parts: unknown[] = [];
  for await (const part of world.control.store.dump()) parts.push(part);
  const reported = JSON.stringify([rows, world.lines, parts]);
  for (const secret of [code, tokens.access, tokens.refresh, next.access, next.refresh])
    assert.ok(!reported.includes(secret.replace(/^svo._/, '')));
  assert.ok(reported.includes('a refresh token was used twice'));
});

test('expired records are removed', async () => {
  const { world, cookie, clientId } = await letIn();
  const { accounts, store } = world.control;
  await tokensFor(world, cookie, clientId);
  await codeFor(world, cookie, clientId);
  await requestOf(world, cookie, clientId);
  const count = async () => {
    const counts: Record<string, number> = {};
    for await (const { table, rows } of store.dump())
      if (table.startsWith('oauth_')) counts[table] = (counts[table] ?? 0) + rows.length;
    return counts;
  };
  const prune = async (): Promise<void> => {
    await store.users.pruneExpired(accounts.now());
    await accounts.oauth.clients.prune(accounts.now());
  };
  const all = { oauth_clients: 1, oauth_requests: 1, oauth_consents: 2, oauth_tokens: 1 };
  assert.deepEqual(await count(), all);
  await prune();
  assert.deepEqual(await count(), all);
  world.clock.nowMs += 3_600_000;
  await prune();
  assert.deepEqual(await count(), { oauth_clients: 1, oauth_consents: 1 });
  world.clock.nowMs += 90 * DAY_MS;
  await prune();
  assert.deepEqual(await count(), {});
});
