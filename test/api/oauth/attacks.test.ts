// Attacks on OAuth with the required result (RFC 9700, RFC 9449): injected and replayed codes, mixed-up servers, open
// redirects, confusion on loopback, missing PKCE, tokens for another resource, replayed refresh tokens,
// replayed proofs and wrong clocks, framed or forged consent, endless registration.
// tier: ci (long)

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { REGISTER_PATH, REVOKE_PATH, TOKEN_PATH } from '../../../daemon/api/oauth/addresses.ts';
import { sendRaw } from '../../http/raw-client.ts';
import { startAccounts } from '../../accounts/world.ts';
import {
  requestedBy,
  beginTools,
  browse,
  challengeOf,
  clientOf,
  codeFor,
  decide,
  tokensIn,
  hashOf,
  post,
  provingKey,
  redeem,
  REDIRECT,
  refresh,
  refusalOf,
  register,
  requestOf,
  statusWith,
  tokensFor,
  VERIFIER,
} from './flow.ts';
import { closeWorlds } from '../../http/harness.ts';

afterEach(closeWorlds);

const MEMBER = 'member@example.com';
const BAD_GRANT = [400, 'invalid_grant'];

async function start(more: object = {}) {
  const world = await startAccounts({ ...more });
  const cookie = await world.signIn(MEMBER);
  return { world, cookie, clientId: await clientOf(world) };
}

test('code injection: a stolen code is useless without the verifier, or to another client', async () => {
  const { world, cookie, clientId } = await start();
  const thief = await clientOf(world);
  const code = await codeFor(world, cookie, clientId);
  const own = 'w'.repeat(43);
  for (const [requester, more] of [
    [clientId, { code_verifier: own }],
    [clientId, { code_verifier: challengeOf(VERIFIER) }],
    [clientId, { code_verifier: '' }],
    [clientId, { code_verifier: 'v' }],
    [thief, {}],
    [thief, { code_verifier: own }],
    [clientId, { redirect_uri: 'https://evil.example/' }],
  ] as const) {
    const [status] = refusalOf(await redeem(world, requester, code, more));
    assert.equal(status, 400, JSON.stringify(more));
  }
  // The client of the victim gets a code of the thief's flow, but sends the verifier of the victim.
  const injected = await codeFor(world, cookie, clientId, { code_challenge: challengeOf(own) });
  assert.deepEqual(refusalOf(await redeem(world, clientId, injected)), BAD_GRANT);
  tokensIn(await redeem(world, clientId, code));
});

test('code replay: the second use revokes all tokens of the first', async () => {
  const { world, cookie, clientId } = await start();
  // Whoever shows it knows it, with or without what else is needed.
  for (const more of [
    {},
    { code_verifier: 'w'.repeat(43) },
    { client_id: await clientOf(world) },
  ]) {
    const code = await codeFor(world, cookie, clientId);
    const tokens = tokensIn(await redeem(world, clientId, code));
    assert.equal(await statusWith(world, `Bearer ${tokens.access}`), 200);
    assert.deepEqual(refusalOf(await redeem(world, clientId, code, more)), BAD_GRANT);
    assert.equal(await statusWith(world, `Bearer ${tokens.access}`), 401);
    assert.deepEqual(refusalOf(await refresh(world, clientId, tokens.refresh)), BAD_GRANT);
  }
});

test('mix-up: every response names its issuer', async () => {
  const { world, cookie, clientId } = await start();
  for (const decision of ['allow', 'deny']) {
    const id = await requestOf(world, cookie, clientId);
    const back = await decide(world, cookie, id, decision);
    assert.deepEqual(back.searchParams.getAll('iss'), [world.server.url]);
  }
  // A client cannot put its own answer before ours.
  const sly = `${REDIRECT}?iss=https://evil.example`;
  const refused = await register(world, { redirect_uris: [sly] });
  assert.deepEqual(refusalOf(refused), [400, 'invalid_redirect_uri']);
});

test('open redirect: nobody is redirected to a client before a user has answered', async () => {
  const { world, cookie, clientId } = await start();
  const evil = 'https://evil.example/';
  const wrong = [
    [{ client_id: 'nobody' }, 'invalid_client'],
    [{ client_id: undefined }, 'invalid_request'],
    [{ redirect_uri: evil }, 'invalid_redirect_uri'],
    [{ redirect_uri: undefined }, 'invalid_request'],
    [{ redirect_uri: `${REDIRECT}/../x` }, 'invalid_redirect_uri'],
    [{ redirect_uri: `${REDIRECT}@evil.example` }, 'invalid_redirect_uri'],
    [{ redirect_uri: `//evil.example` }, 'invalid_redirect_uri'],
    // Reporting these to a client by redirect would be an open redirect.
    [{ response_type: 'token' }, 'invalid_request'],
    [{ response_type: 'code token' }, 'invalid_request'],
    [{ resource: evil }, 'invalid_target'],
    [{ code_challenge: undefined }, 'invalid_request'],
    [{ state: 'x'.repeat(4097) }, 'invalid_request'],
  ] as const;
  for (const [more, error] of wrong)
    for (const who of [cookie, undefined]) {
      const requested = requestedBy(clientId, more);
      const reply = await browse(world, requested, who);
      assert.deepEqual(refusalOf(reply), [400, error], JSON.stringify(more));
      assert.equal(reply.headers.location, undefined);
      const page = await browse(world, requested, who, { accept: 'text/html' });
      assert.deepEqual([page.status, page.headers.location], [400, undefined]);
      assert.match(String(page.headers['content-type']), /^text\/html/);
      assert.ok(!page.body.toString().includes('evil'));
    }
  const twice = `${requestedBy(clientId)}&redirect_uri=${encodeURIComponent(evil)}`;
  assert.deepEqual(refusalOf(await browse(world, twice, cookie)), [400, 'invalid_request']);
});

test('redirect confusion on loopback: only the port may differ', async () => {
  const { world, cookie } = await start();
  const clientId = await clientOf(world, {
    redirect_uris: ['http://127.0.0.1/cb', 'http://[::1]:1/x'],
  });
  for (const uri of ['http://127.0.0.1:5/cb', 'http://127.0.0.1/cb', 'http://[::1]:7/x']) {
    const code = await codeFor(world, cookie, clientId, { redirect_uri: uri });
    // And the one that was used holds, not another one that would have done.
    const other = { redirect_uri: 'http://127.0.0.1:6/cb' };
    assert.deepEqual(refusalOf(await redeem(world, clientId, code, other)), BAD_GRANT);
    tokensIn(await redeem(world, clientId, code, { redirect_uri: uri }));
  }
  for (const uri of [
    'http://127.0.0.1:5@evil.example/cb',
    'http://127.0.0.1:5/cb/../evil',
    'http://localhost:5/cb',
  ]) {
    const reply = await browse(world, requestedBy(clientId, { redirect_uri: uri }), cookie);
    assert.deepEqual(refusalOf(reply), [400, 'invalid_redirect_uri'], uri);
  }
});

test('PKCE downgrade: no challenge, another method, no verifier', async () => {
  const { world, cookie, clientId } = await start();
  for (const more of [
    { code_challenge: undefined },
    { code_challenge: '' },
    { code_challenge_method: undefined },
    { code_challenge_method: 'plain' },
    { code_challenge: VERIFIER, code_challenge_method: 'plain' },
    { code_challenge_method: 's256' },
    { code_challenge: 'short' },
    { code_challenge: `${challengeOf(VERIFIER)}=` },
  ])
    assert.deepEqual(
      refusalOf(await browse(world, requestedBy(clientId, more), cookie)),
      [400, 'invalid_request'],
      JSON.stringify(more),
    );
  const code = await codeFor(world, cookie, clientId);
  const none = await redeem(world, clientId, code, { code_verifier: undefined });
  assert.deepEqual(refusalOf(none), [400, 'invalid_request']);
  tokensIn(await redeem(world, clientId, code));
});

test('a token for the tool server is useless elsewhere, and cannot be extended', async () => {
  const { world, cookie, clientId } = await start();
  const { url } = world.server;
  const resource = `${url}/api/mcp`;
  const tokens = await tokensFor(world, cookie, clientId, { resource });
  assert.equal((await beginTools(world, `Bearer ${tokens.access}`)).status, 200);
  for (const path of ['/api/repos', '/api/mcp/../repos', '/api/user/usage'])
    assert.notEqual(await statusWith(world, `Bearer ${tokens.access}`, path), 200, path);
  for (const wider of [url, `${url}/`]) {
    const reply = await refresh(world, clientId, tokens.refresh, { resource: wider });
    assert.deepEqual(refusalOf(reply), [400, 'invalid_target']);
  }
  const code = await codeFor(world, cookie, clientId, { resource });
  const wider = await redeem(world, clientId, code, { resource: url });
  assert.deepEqual(refusalOf(wider), [400, 'invalid_target']);
  // A token for everything can be limited, for one use.
  const whole = await tokensFor(world, cookie, clientId, { resource: `${url}/` });
  assert.equal(await statusWith(world, `Bearer ${whole.access}`), 200);
  const narrow = tokensIn(await refresh(world, clientId, whole.refresh, { resource }));
  assert.equal(await statusWith(world, `Bearer ${narrow.access}`), 401);
  assert.equal((await beginTools(world, `Bearer ${narrow.access}`)).status, 200);
  const again = tokensIn(await refresh(world, clientId, narrow.refresh));
  assert.equal(await statusWith(world, `Bearer ${again.access}`), 200);
  for (const other of ['https://other.example/api/mcp', `${url}/api`, `${url}.evil.example`, 'x'])
    assert.deepEqual(
      refusalOf(await browse(world, requestedBy(clientId, { resource: other }), cookie)),
      [400, 'invalid_target'],
    );
});

test('refresh replay: an old token revokes its family, and no other', async () => {
  const { world, cookie, clientId } = await start();
  const kept = await tokensFor(world, cookie, clientId);
  const first = await tokensFor(world, cookie, clientId);
  const second = tokensIn(await refresh(world, clientId, first.refresh));
  const third = tokensIn(await refresh(world, clientId, second.refresh));
  assert.deepEqual(refusalOf(await refresh(world, clientId, first.refresh)), BAD_GRANT);
  for (const { access } of [first, second, third])
    assert.equal(await statusWith(world, `Bearer ${access}`), 401);
  assert.deepEqual(refusalOf(await refresh(world, clientId, third.refresh)), BAD_GRANT);
  assert.equal(await statusWith(world, `Bearer ${kept.access}`), 200);
  tokensIn(await refresh(world, clientId, kept.refresh));
});

test('a refresh token is useless to another client, and stays valid', async () => {
  const { world, cookie, clientId } = await start();
  const tokens = await tokensFor(world, cookie, clientId);
  const thief = await clientOf(world);
  assert.deepEqual(refusalOf(await refresh(world, thief, tokens.refresh)), BAD_GRANT);
  const forged = tokens.refresh.replace(/.{4}$/, '0000');
  assert.equal(await statusWith(world, `Bearer ${tokens.refresh}`), 401);
  tokensIn(await refresh(world, clientId, tokens.refresh));
  assert.deepEqual(refusalOf(await refresh(world, clientId, forged)), BAD_GRANT);
});

test('DPoP: a bound token needs a fresh proof of its key', async () => {
  const { world, cookie, clientId } = await start();
  const { url } = world.server;
  const now = () => world.clock.nowMs;
  const [key, thief] = [await provingKey(now), await provingKey(now)];
  const token = { htm: 'POST', htu: url + TOKEN_PATH };
  const code = await codeFor(world, cookie, clientId);
  const reply = await redeem(world, clientId, code, {}, { dpop: await key.proof(token) });
  const tokens = tokensIn(reply);
  assert.equal(tokens.type, 'DPoP');
  const about = { htm: 'GET', htu: `${url}/api/repos`, ath: hashOf(tokens.access) };
  const status = (dpop?: string, scheme = 'DPoP') =>
    statusWith(
      world,
      `${scheme} ${tokens.access}`,
      '/api/repos?page=1',
      dpop === undefined ? {} : { dpop },
    );
  const good = await key.proof(about);
  assert.equal(await status(good), 200);
  assert.equal(await status(good), 401, 'the same proof again');
  assert.equal(await status(), 401, 'no proof');
  assert.equal(await status(await key.proof(about), 'Bearer'), 401, 'as a bearer token');
  assert.equal(await status(undefined, 'Bearer'), 401, 'as a bearer token without proof');
  const iat = Math.floor(now() / 1000);
  for (const [what, claims, header] of [
    ['another method', { htm: 'POST' }],
    ['another path', { htu: `${url}/api/user` }],
    ['another origin', { htu: 'https://evil.example/api/repos' }],
    ['no address', { htu: 7 }],
    ['another token', { ath: hashOf('svoa_x') }],
    ['no token', { ath: undefined }],
    ['no id', { jti: undefined }],
    ['an empty id', { jti: '' }],
    ['a long id', { jti: 'x'.repeat(300) }],
    ['no time', { iat: undefined }],
    ['too old', { iat: iat - 61 }],
    ['too far ahead', { iat: iat + 61 }],
    ['another type', {}, { typ: 'jwt' }],
    ['no key', {}, { jwk: undefined }],
  ] as const)
    assert.equal(await status(await key.proof({ ...about, ...claims }, header)), 401, what);
  assert.equal(await status(await thief.proof(about)), 401, 'another key');
  const signed = await thief.proof(about, { jwk: jwkOf(await key.proof(about)) });
  assert.equal(await status(signed), 401, 'the key of another signature');
  const unsigned = (await key.proof(about)).replace(/\.[^.]*$/, '.');
  assert.equal(await status(unsigned), 401, 'no signature');
  const [one, two] = [await key.proof(about), await key.proof(about)];
  assert.equal(await status(`${one}, ${two}`), 401, 'two proofs');
  for (const skew of [-59, 59])
    assert.equal(await status(await key.proof({ ...about, iat: iat + skew })), 200, String(skew));
  const withQuery = await key.proof({ ...about, htu: `${url}/api/repos?page=2#x` });
  assert.equal(await status(withQuery), 200, 'the query does not matter');
  const tools = { htm: 'POST', htu: `${url}/api/mcp`, ath: hashOf(tokens.access) };
  const opened = await beginTools(world, `DPoP ${tokens.access}`, { dpop: await key.proof(tools) });
  assert.equal(opened.status, 200);
  // A bearer token stays one.
  const bearer = await tokensFor(world, cookie, clientId);
  const proof = await key.proof({ ...about, ath: hashOf(bearer.access) });
  assert.equal(
    await statusWith(world, `DPoP ${bearer.access}`, '/api/repos', { dpop: proof }),
    401,
  );
});

test('DPoP: a proof used concurrently succeeds once, and its id is remembered while it is valid', async () => {
  const { world, cookie, clientId } = await start();
  const { url } = world.server;
  const key = await provingKey(() => world.clock.nowMs);
  const proof = await key.proof({ htm: 'POST', htu: url + TOKEN_PATH });
  const code = await codeFor(world, cookie, clientId);
  const tokens = tokensIn(await redeem(world, clientId, code, {}, { dpop: proof }));
  const about = { htm: 'GET', htu: `${url}/api/repos`, ath: hashOf(tokens.access) };
  const status = (dpop: string) =>
    statusWith(world, `DPoP ${tokens.access}`, '/api/repos', { dpop });
  const raced = await key.proof(about);
  const statuses = await Promise.all(Array.from({ length: 8 }, () => status(raced)));
  assert.deepEqual(
    statuses.filter((one) => one === 200),
    [200],
  );
  const startSeconds = Math.floor(world.clock.nowMs / 1000);
  const ahead = await key.proof({ ...about, iat: startSeconds + 60 });
  assert.equal(await status(ahead), 200);
  for (const seconds of [1, 60, 119, 120]) {
    world.clock.nowMs = (startSeconds + seconds) * 1000;
    assert.equal(await status(ahead), 401, `${seconds} s later`);
  }
});

test('DPoP: token requests; refresh tokens are bound to the key', async () => {
  const { world, cookie, clientId } = await start();
  const now = () => world.clock.nowMs;
  const [key, thief, other] = [
    await provingKey(now),
    await provingKey(now),
    await provingKey(now, 'ES384'),
  ];
  const about = { htm: 'POST', htu: world.server.url + TOKEN_PATH };
  const code = await codeFor(world, cookie, clientId);
  const used = await key.proof(about);
  for (const dpop of [
    'x',
    'a.b.c',
    'x'.repeat(5000),
    await other.proof(about),
    await key.proof({ ...about, htm: 'GET' }),
    await key.proof({ ...about, htu: `${world.server.url}/api/ee/oauth/revoke` }),
    await key.proof({ ...about, iat: Math.floor(now() / 1000) - 61 }),
  ])
    assert.deepEqual(refusalOf(await redeem(world, clientId, code, {}, { dpop })), [
      400,
      'invalid_dpop_proof',
    ]);
  const first = tokensIn(await redeem(world, clientId, code, {}, { dpop: used }));
  const again = { dpop: await key.proof(about) };
  for (const headers of [{}, { dpop: used }, { dpop: await thief.proof(about) }]) {
    const reply = await refresh(world, clientId, first.refresh, {}, headers);
    assert.deepEqual(refusalOf(reply), [400, 'invalid_dpop_proof']);
  }
  const second = tokensIn(await refresh(world, clientId, first.refresh, {}, again));
  assert.equal(second.type, 'DPoP');
  assert.deepEqual(refusalOf(await refresh(world, clientId, first.refresh, {}, {})), BAD_GRANT);
});

test('consent cannot be framed', async () => {
  const { world, cookie, clientId } = await start();
  const id = await requestOf(world, cookie, clientId);
  for (const path of [`/oauth/authorize?request=${id}`, requestedBy('nobody')]) {
    const page = await browse(world, path, cookie, { accept: 'text/html' });
    const { headers } = page;
    assert.match(String(headers['content-security-policy']), /; frame-ancestors 'none'$/);
    assert.match(
      String(headers['content-security-policy']),
      /^default-src 'none'; script-src 'self';/,
    );
    assert.equal(headers['x-frame-options'], 'DENY');
    assert.equal(headers['referrer-policy'], 'no-referrer');
    assert.equal(headers['cache-control'], 'no-store');
  }
});

test('consent cannot be forged: another origin, no origin, a form, a request of another user', async () => {
  const { world, cookie, clientId } = await start();
  const id = await requestOf(world, cookie, clientId);
  const path = `/api/ee/oauth/request/${id}`;
  const body = JSON.stringify({ decision: 'allow' });
  const decideAs = async (headers: Record<string, string>) => {
    const reply = await sendRaw(world.server, { method: 'POST', path, body, headers });
    return [
      reply.status,
      (JSON.parse(reply.body.toString()) as Record<string, unknown>)['errorCode'],
    ];
  };
  for (const headers of [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    {},
    { 'sec-fetch-site': 'cross-site' },
    { 'sec-fetch-site': 'same-site' },
    { origin: 'https://evil.example', 'content-type': 'text/plain' },
  ])
    assert.deepEqual(await decideAs({ cookie, ...headers }), [403, 'CROSS_ORIGIN_REQUEST']);
  // A request by the attacker is not one of the victim.
  const attacker = await world.signIn('owner@example.com');
  const theirs = await requestOf(world, attacker, clientId);
  const lured = await world.send('POST', `/api/ee/oauth/request/${theirs}`, cookie, {
    decision: 'allow',
  });
  assert.equal(lured.code, 'NOT_FOUND');
  // A link that a victim follows asks; it gives nothing.
  const before = await world.control.store.oauthConsents.list(world.member.id, 0);
  await browse(world, requestedBy(clientId, { prompt: 'none', decision: 'allow' }), cookie);
  assert.deepEqual(await world.control.store.oauthConsents.list(world.member.id, 0), before);
  await decide(world, cookie, id, 'deny');
});

test('pages of other origins can neither register clients nor use tokens', async () => {
  const { world, clientId } = await start();
  const headers = { origin: 'https://evil.example', 'content-type': 'text/plain' };
  const body = JSON.stringify({ client_name: 'x', redirect_uris: [REDIRECT] });
  for (const path of ['/register', REGISTER_PATH, REVOKE_PATH]) {
    const reply = await sendRaw(world.server, { method: 'POST', path, body, headers });
    assert.equal(reply.status, 403, path);
  }
  const reply = await refresh(world, clientId, 'x', {}, { origin: world.origin() });
  assert.deepEqual(refusalOf(reply), BAD_GRANT);
});

test('registration abuse: sizes, counts, and rates from one address and in total', async () => {
  const { world } = await start({ settings: { trustedProxies: ['127.0.0.1', '::1'] } });
  const from = async (address: string, more: object = {}) => {
    const body = JSON.stringify({ client_name: 'Tool', redirect_uris: [REDIRECT], ...more });
    const headers = { 'x-forwarded-for': address };
    const reply = await sendRaw(world.server, { method: 'POST', path: '/register', body, headers });
    return { ...reply, json: JSON.parse(reply.body.toString()) as Record<string, unknown> };
  };
  const many = Array.from({ length: 11 }, (_, index) => `https://c.example/${index}`);
  const long = [`https://c.example/${'x'.repeat(1000)}`];
  assert.deepEqual(refusalOf(await from('10.0.0.1', { redirect_uris: many })), [
    400,
    'invalid_redirect_uri',
  ]);
  assert.deepEqual(refusalOf(await from('10.0.0.1', { redirect_uris: long })), [
    400,
    'invalid_redirect_uri',
  ]);
  const big = await from('10.0.0.1', { more: 'x'.repeat(20_000) });
  assert.deepEqual(refusalOf(big), [400, 'invalid_request']);
  const huge = await from('10.0.0.1', { more: 'x'.repeat(70_000) });
  assert.deepEqual(refusalOf(huge), [413, 'invalid_request']);
  // Those that are refused for what they say are not counted.
  for (let i = 0; i < 60; i++) assert.equal((await from('10.0.0.1')).status, 201, String(i));
  const refused = await from('10.0.0.1');
  assert.deepEqual(refusalOf(refused), [429, 'temporarily_unavailable']);
  assert.equal(refused.json['errorCode'], 'TOO_MANY_SIGN_IN_ATTEMPTS');
  assert.equal(refused.headers['retry-after'], '3600');
  // An IPv6 network is one client, whichever of its addresses it uses; 600 further registrations are enough for all.
  for (let network = 1; network <= 10; network++)
    for (let i = 0; i < 60 - (network === 10 ? 5 : 0); i++)
      assert.equal((await from(`2001:db8:0:${network}::${i}`)).status, 201, `${network} ${i}`);
  assert.equal((await from('2001:db8:0:1::ffff')).status, 429);
  // They stop nobody who comes with a few.
  for (let i = 0; i < 5; i++) assert.equal((await from('10.0.2.1')).status, 201, String(i));
  assert.equal((await from('10.0.2.1')).status, 429);
  world.clock.nowMs += 3_600_000;
  assert.equal((await from('10.0.2.1')).status, 201);
});

test('a flood from one address does not block its authenticated users', async () => {
  const { world, cookie, clientId } = await start();
  const mine = await tokensFor(world, cookie, clientId);
  const owner = await world.signIn('owner@example.com');
  const theirs = await tokensFor(world, owner, clientId);
  const junk = `svor_${'0'.repeat(64)}`;
  for (let i = 0; i < 300; i++) await refresh(world, clientId, junk);
  const refused = await refresh(world, clientId, junk);
  assert.deepEqual(refusalOf(refused), [429, 'temporarily_unavailable']);
  assert.equal((await register(world)).status, 429);
  const { refresh: next } = tokensIn(await refresh(world, clientId, mine.refresh));
  assert.equal((await browse(world, requestedBy(clientId), cookie)).status, 303);
  // A known user is counted, too, and stops nobody else.
  const wrong = { resource: 'https://evil.example/' };
  for (let i = 0; i < 300; i++) await refresh(world, clientId, next, wrong);
  assert.equal((await refresh(world, clientId, next)).status, 429);
  const { refresh: last } = tokensIn(await refresh(world, clientId, theirs.refresh));
  assert.equal((await post(world, REVOKE_PATH, { token: last })).status, 200);
  world.clock.nowMs += 60_000;
  tokensIn(await refresh(world, clientId, next));
});

test('repeated and oversized parameters are refused', async () => {
  const { world, cookie, clientId } = await start();
  const code = await codeFor(world, cookie, clientId);
  const fields = `grant_type=authorization_code&client_id=${clientId}&code_verifier=${VERIFIER}`;
  for (const body of [
    `${fields}&code=${code}&code=${code}`,
    `${fields}&code=${'x'.repeat(5000)}`,
    `${fields}&code=${code}&${'x=&'.repeat(6000)}`,
    JSON.stringify({ grant_type: 'authorization_code', client_id: clientId, code }),
  ]) {
    const reply = await sendRaw(world.server, { method: 'POST', path: TOKEN_PATH, body });
    const json = JSON.parse(reply.body.toString()) as Record<string, unknown>;
    assert.deepEqual(refusalOf({ ...reply, json }), [400, 'invalid_request'], body.slice(0, 200));
  }
  tokensIn(await redeem(world, clientId, code));
});

/** The key in the head of a proof. */
function jwkOf(proof: string): unknown {
  const [head = ''] = proof.split('.');
  return (JSON.parse(Buffer.from(head, 'base64url').toString()) as Record<string, unknown>)['jwk'];
}
