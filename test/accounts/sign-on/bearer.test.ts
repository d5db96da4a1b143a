// Access tokens of an issuer as Bearer: which are accepted, and which are refused.
// tier: ci (long)

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { OPERATOR } from '../../../daemon/accounts/audit-log.ts';
import { Issuer } from '../../../daemon/accounts/sign-on/issuer.ts';
import { tokenIdentity } from '../../../daemon/accounts/sign-on/issuer-token.ts';
import { fileSchema } from '../../../daemon/base/config/file-schema.ts';
import { closeWorlds } from '../../http/harness.ts';
import { CLAIMS as LICENCE, HEADER, token } from '../licences.ts';
import { type Claims, type FalseIssuer, startFalseIssuer } from './false-issuer.ts';
import { AUDIENCE, CLIENT } from './real-issuer.ts';
import { providerAt, signOnAt, type SignOnWorld, startSignOn } from './world.ts';

afterEach(closeWorlds);

const ACCEPTING = { acceptBearer: true, audience: AUDIENCE };
const seconds = (): number => Math.floor(Date.now() / 1000);

interface Scene {
  readonly world: SignOnWorld;
  readonly issuer: FalseIssuer;
}

type Options = Parameters<typeof startSignOn>[1];

async function start(more: object = ACCEPTING, options: Options = {}): Promise<Scene> {
  const issuer = await startFalseIssuer();
  return { issuer, world: await startSignOn({ test: providerAt(issuer.url, more) }, options) };
}

function claimsOf(issuer: FalseIssuer, more: Claims = {}): Claims {
  const claims = {
    iss: issuer.url,
    aud: AUDIENCE,
    sub: 'account-1',
    iat: seconds(),
    exp: seconds() + 300,
    email: 'member@example.com',
    email_verified: true,
    ...more,
  };
  return JSON.parse(JSON.stringify(claims)) as Claims;
}

/** The status of a request that needs a caller. */
async function statusOf(world: SignOnWorld, value: string): Promise<number> {
  return (await world.send('GET', '/api/user/usage', value)).status;
}

async function withClaims({ world, issuer }: Scene, more: Claims, header: Claims = {}) {
  return statusOf(world, await issuer.sign(claimsOf(issuer, more), header));
}

test('a token of a user counts like an OAuth token', async () => {
  const { world, issuer } = await start(ACCEPTING, {});
  const value = await issuer.sign(claimsOf(issuer), { typ: 'at+jwt' });
  const account = await world.send('GET', '/api/user', value);
  assert.equal(account.json()['source'], 'oauth');
  assert.equal((account.json()['user'] as { email: string }).email, 'member@example.com');
  const repos = await world.send('GET', '/api/repos', value);
  assert.equal(repos.status, 200);
  assert.equal(repos.headers['x-ratelimit-remaining'], '9999');
  assert.equal((await world.send('GET', '/api/user/api_keys', value)).status, 403);
  assert.equal((await world.send('GET', '/api/license', value)).status, 403);
  assert.ok(!JSON.stringify(world.lines).includes(value));
});

test('a valid token causes one request to the issuer and one query to the store', async () => {
  const { world, issuer } = await start();
  const value = await issuer.sign(claimsOf(issuer));
  for (let i = 0; i < 5; i++) assert.equal(await statusOf(world, value), 200);
  assert.deepEqual(issuer.requested, ['/.well-known/openid-configuration', '/keys']);
});

test('without the entitlement, or once it has ended, tokens are refused', async () => {
  const claims = { ...LICENCE, iat: seconds(), exp: seconds() + 600, entitlements: ['audit'] };
  const env = { TRAWL_LICENSE_KEY: token(HEADER, claims) };
  const { world, issuer } = await start(ACCEPTING, { env });
  assert.equal(await withClaims({ world, issuer }, {}), 401);
  assert.deepEqual(issuer.requested, []);
  assert.ok(world.lines.some(({ message }) => String(message).includes('"oauth"')));
  const ending = { ...LICENCE, iat: seconds(), exp: seconds() + 600, entitlements: ['oauth'] };
  const scene = await start(ACCEPTING, { env: { TRAWL_LICENSE_KEY: token(HEADER, ending) } });
  const value = await scene.issuer.sign(claimsOf(scene.issuer, { exp: seconds() + 3600 }));
  assert.equal(await statusOf(scene.world, value), 200);
  scene.world.clock.nowMs += 700_000;
  assert.equal(await statusOf(scene.world, value), 401);
});

test('a provider that does not accept tokens, or no longer does', async () => {
  const { world, issuer } = await start({});
  const value = await issuer.sign(claimsOf(issuer));
  assert.equal(await statusOf(world, value), 401);
  assert.deepEqual(issuer.requested, []);
  world.configure({ test: providerAt(issuer.url, ACCEPTING) });
  assert.equal(await statusOf(world, value), 200);
  world.configure({ test: providerAt(issuer.url) });
  assert.equal(await statusOf(world, value), 401);
});

test('unknown, suspended and removed users', async () => {
  const scene = await start({ ...ACCEPTING, allowSignUp: true });
  const { world, issuer } = scene;
  assert.equal(await withClaims(scene, { email: 'new@example.com' }), 401);
  assert.equal(await world.control.store.users.byEmail('new@example.com'), undefined);
  const { members } = world.control.accounts;
  const value = await issuer.sign(claimsOf(issuer));
  assert.equal(await statusOf(world, value), 200);
  await members.change(OPERATOR, world.member.id, { suspended: true });
  assert.equal(await statusOf(world, value), 401);
  await members.change(OPERATOR, world.member.id, { suspended: false });
  assert.equal(await statusOf(world, value), 200);
  await members.remove(OPERATOR, world.member.id);
  assert.equal(await statusOf(world, value), 401);
});

test('an unverified address; without an address the linked account counts', async () => {
  const scene = await start();
  const { world, issuer } = scene;
  for (const verified of [false, undefined, 'true'])
    assert.equal(await withClaims(scene, { email_verified: verified }), 401, String(verified));
  assert.equal(await withClaims(scene, { email: undefined }), 401);
  assert.equal(await signOnAt(world, issuer), 'signed in');
  assert.equal(await withClaims(scene, { email: undefined, email_verified: undefined }), 200);
  assert.equal(await withClaims(scene, { sub: 'account-2' }), 401);
  assert.equal(await withClaims(scene, { email: 'owner@example.com' }), 401);
});

test('aud: a token for another audience', async () => {
  const scene = await start();
  for (const aud of [undefined, CLIENT.id, `${AUDIENCE}/`, 'https://other.test'])
    assert.equal(await withClaims(scene, { aud }), 401, aud);
  assert.equal(await withClaims(scene, { aud: ['https://other.test', AUDIENCE] }), 200);
});

test('iss: a token of another issuer, even with our keys', async () => {
  const scene = await start();
  for (const iss of [undefined, 'https://evil.example', 'evil', `${scene.issuer.url}/`])
    assert.equal(await withClaims(scene, { iss }), 401, iss);
});

test('exp and nbf: a tolerance of 60 s', async () => {
  const scene = await start();
  assert.equal(await withClaims(scene, { exp: seconds() - 50 }), 200);
  assert.equal(await withClaims(scene, { exp: seconds() - 61 }), 401);
  assert.equal(await withClaims(scene, { exp: undefined }), 401);
  assert.equal(await withClaims(scene, { exp: 'later' }), 401);
  assert.equal(await withClaims(scene, { nbf: seconds() + 50 }), 200);
  assert.equal(await withClaims(scene, { nbf: seconds() + 70 }), 401);
  const { world, issuer } = scene;
  const value = await issuer.sign(claimsOf(issuer, { exp: seconds() + 30 }));
  assert.equal(await statusOf(world, value), 200);
  world.clock.nowMs += 95_000;
  assert.equal(await statusOf(world, value), 401);
});

test('alg: none, HMAC with the published key, another key, a key of its own', async () => {
  const { world, issuer } = await start();
  const claims = claimsOf(issuer);
  const other = await startFalseIssuer();
  assert.equal(await statusOf(world, issuer.unsigned(claims)), 401);
  assert.equal(await statusOf(world, await issuer.signByPublicKey(claims)), 401);
  assert.equal(await statusOf(world, await other.sign(claims)), 401);
  const own = await other.sign(claims, { jwk: other.key.jwk, kid: 'x', jku: `${other.url}/keys` });
  assert.equal(await statusOf(world, own), 401);
  assert.deepEqual(other.requested, []);
  const [head = '', , signature = ''] = (await issuer.sign(claims)).split('.');
  const forged = Buffer.from(JSON.stringify({ ...claims, email: 'owner@example.com' }));
  assert.equal(await statusOf(world, `${head}.${forged.toString('base64url')}.${signature}`), 401);
});

test('other kinds of tokens: id tokens, tokens of keys, logout tokens', async () => {
  const scene = await start();
  for (const more of [{ nonce: 'n' }, { at_hash: 'h' }, { cnf: { jkt: 'k' } }, { events: {} }])
    assert.equal(await withClaims(scene, more), 401, JSON.stringify(more));
  for (const typ of ['logout+jwt', 'dpop+jwt', 'secevent+jwt'])
    assert.equal(await withClaims(scene, {}, { typ }), 401, typ);
  assert.equal(await withClaims(scene, {}, { typ: 'JWT' }), 200);
  const { world, issuer } = scene;
  const headers = { authorization: `DPoP ${await issuer.sign(claimsOf(issuer))}` };
  assert.equal(
    (await world.send('GET', '/api/user/usage', undefined, undefined, headers)).status,
    401,
  );
});

test('a bad token falls back to an API key, as a bad API key does', async () => {
  const { world, issuer } = await start();
  const value = await issuer.sign(claimsOf(issuer, { aud: 'x' }));
  const headers = { 'x-service-api-key': world.ownerKey };
  const reply = await world.send('GET', '/api/user', value, undefined, headers);
  assert.equal(reply.json()['source'], 'api_key');
});

test('many tokens do not cause many requests to the issuer', async () => {
  const scene = await start();
  const { world, issuer } = scene;
  assert.equal(await withClaims(scene, {}), 200);
  const strange = await Promise.all(
    Array.from({ length: 50 }, (_, i) => issuer.sign(claimsOf(issuer), { kid: `k${i}` })),
  );
  for (const value of strange) assert.equal(await statusOf(world, value), 401);
  for (const value of ['a.b.c', '...', `${'a'.repeat(9_000)}.b.c`, 'e30.e30.e30'])
    assert.equal(await statusOf(world, value), 401);
  assert.equal(issuer.countOf('/keys'), 1);
});

test('with an unavailable issuer nobody is authenticated, and other callers are served', async () => {
  const { world, issuer } = await start();
  issuer.answers.set('/keys', (response) => response.writeHead(500).end());
  const value = await issuer.sign(claimsOf(issuer));
  for (let i = 0; i < 5; i++) assert.equal(await statusOf(world, value), 401);
  assert.equal(issuer.countOf('/keys'), 1);
  const [line] = world.lines.filter(
    ({ message }) => message === 'tokens of an identity provider could not be verified',
  );
  assert.match(String(line?.['reason']), /did not answer correctly.*: an answer with status 500$/);
  assert.equal(await statusOf(world, world.memberKey), 200);
});

test('rotated keys of the issuer are accepted soon, and the old ones no longer', async () => {
  const server = await startFalseIssuer();
  const { identityProviders } = fileSchema.parse({
    identityProviders: { test: providerAt(server.url, ACCEPTING) },
  });
  const limits = { restMs: 50, keysMs: 3_000 };
  const settings = identityProviders['test'];
  assert.ok(settings?.type === 'oidc');
  const issuer = new Issuer({ settings, env: {}, limits });
  const isGood = async (value: string): Promise<boolean> =>
    (await tokenIdentity(value, issuer, Date.now())) !== undefined;
  const before = await server.sign(claimsOf(server));
  assert.equal(await isGood(before), true);
  await server.rotate();
  const after = await server.sign(claimsOf(server));
  // The next key is made before the time of the keys runs: that may take longer.
  const { published } = server;
  await server.rotate();
  const { published: next } = server;
  server.published = published;
  await sleep(60);
  assert.equal(await isGood(after), true);
  assert.equal(await isGood(before), false);
  server.published = next;
  assert.equal(await isGood(after), true);
  await sleep(3_050);
  assert.equal(await isGood(after), false);
});
