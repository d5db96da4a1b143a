// Single sign-on with a real OpenID Connect server: the redirects, who is signed in, created or refused, and what is
// audited.
// tier: ci (long)

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { OPERATOR } from '../../../daemon/accounts/audit-log.ts';
import { temporaryFolder } from '../../sources/git/fixture.ts';
import { CLAIMS, HEADER, token } from '../licences.ts';
import { closeWorlds } from '../../http/harness.ts';
import { type Account, CLIENT, type RealIssuer, startIssuer } from './real-issuer.ts';
import { Browser, providerAt, type SignOnWorld, startSignOn } from './world.ts';

const MEMBER: Account = {
  sub: 'm-1',
  email: 'Member@Example.com',
  email_verified: true,
  name: 'M',
};
const NEW: Account = {
  sub: 'n-1',
  email: 'new@example.com',
  email_verified: true,
  name: 'New One',
};

afterEach(closeWorlds);

type Options = Parameters<typeof startSignOn>[1];

async function start(
  more: object = {},
  options: Options = {},
): Promise<{ readonly world: SignOnWorld; readonly issuer: RealIssuer }> {
  const issuer = await startIssuer();
  const world = await startSignOn({ acme: providerAt(issuer.url, more) }, options);
  issuer.serve([`${world.server.url}/api/auth/oidc/acme/callback`]);
  return { world, issuer };
}

/** The page where a sign-on ends, below the base URL. */
async function signOn(
  world: SignOnWorld,
  browser = new Browser(),
  returnTo = '/repos',
): Promise<string> {
  const home = world.server.url;
  const begin = `${home}/api/auth/oidc/acme?return=${encodeURIComponent(returnTo)}`;
  const end = await browser.follow(begin);
  assert.ok(end.url.startsWith(home), end.url);
  return end.url.slice(home.length);
}

async function who(world: SignOnWorld, browser: Browser): Promise<unknown> {
  const session = browser.cookie(world.server.url, 'trawl_session');
  if (session === undefined) return undefined;
  const reply = await world.send('GET', '/api/user', `trawl_session=${session}`);
  return (reply.json()['user'] as { email?: string } | null)?.email;
}

async function records(world: SignOnWorld, action: string) {
  await world.control.accounts.auditLog.flush();
  const { rows } = await world.control.store.audit.list({ action, offset: 0, limit: 20 });
  return rows;
}

test('sign-on: the verified address identifies the user, who returns to the requested page', async () => {
  const { world, issuer } = await start({}, {});
  issuer.account = MEMBER;
  const browser = new Browser();
  assert.equal(await signOn(world, browser, '/search?query=a%20b#x'), '/search?query=a%20b#x');
  assert.equal(await who(world, browser), 'member@example.com');
  assert.equal(browser.cookie(world.server.url, 'trawl_sign_on'), undefined);
  const [record] = await records(world, 'user.signed_in');
  assert.equal(record?.actorId, world.member.id);
  assert.deepEqual(record?.metadata, { provider: 'acme' });
  const accounts = await world.control.store.signOnAccounts.of(world.member.id);
  assert.deepEqual(accounts, [{ issuer: issuer.url, subject: 'm-1' }]);
});

test('PKCE, state and nonce are sent; cookies are hardened', async () => {
  const { world, issuer } = await start({}, {});
  const reply = await world.call({ path: '/api/auth/oidc/acme', headers: { accept: 'text/html' } });
  const address = new URL(String(reply.headers.location));
  assert.equal(address.origin, issuer.url);
  const { searchParams } = address;
  assert.equal(searchParams.get('code_challenge_method'), 'S256');
  assert.equal(searchParams.get('response_type'), 'code');
  assert.equal(searchParams.get('scope'), 'openid email profile');
  for (const name of ['code_challenge', 'state', 'nonce'])
    assert.match(searchParams.get(name) ?? '', /^[\w-]{43}$/);
  assert.match(
    reply.headers['set-cookie']?.[0] ?? '',
    /^trawl_sign_on=[\w.-]+; Path=\/; Max-Age=600; HttpOnly; SameSite=Lax$/,
  );
  assert.equal(reply.headers['cache-control'], 'no-store');
});

test('sign-up creates a member only where allowed, and is recorded', async () => {
  const { world, issuer } = await start();
  issuer.account = NEW;
  const browser = new Browser();
  assert.equal(await signOn(world, browser), '/login?failed=unknown&return=%2Frepos');
  assert.equal(await who(world, browser), undefined);
  const [refused] = await records(world, 'user.sign_in_failed');
  assert.equal(refused?.actorId, 'identity-provider:acme');
  assert.deepEqual(refused?.metadata, { provider: 'acme', email: NEW.email, reason: 'unknown' });
  world.configure({ acme: providerAt(issuer.url, { allowSignUp: true }) });
  assert.equal(await signOn(world, browser), '/repos');
  assert.equal(await who(world, browser), NEW.email);
  const user = await world.control.store.users.byEmail('new@example.com');
  assert.equal(user?.role, 'MEMBER');
  assert.equal(user?.name, 'New One');
  assert.equal(user?.passwordHash, null);
  const added = await records(world, 'org.member_added');
  assert.equal(added[0]?.actorId, 'identity-provider:acme');
  assert.equal(added[0]?.targetId, user?.id);
});

test('seats of the licence apply to sign-up', async () => {
  const seconds = Math.floor(Date.now() / 1000);
  const claims = { ...CLAIMS, iat: seconds, exp: seconds + 600, seats: 2 };
  const env = { TRAWL_LICENSE_KEY: token(HEADER, claims) };
  const { world, issuer } = await start({ allowSignUp: true }, { env });
  issuer.account = NEW;
  assert.equal(await signOn(world), '/login?failed=seats&return=%2Frepos');
  assert.equal(await world.control.store.users.byEmail('new@example.com'), undefined);
});

test('suspended users are refused; suspending ends the session', async () => {
  const { world, issuer } = await start();
  issuer.account = MEMBER;
  const { members } = world.control.accounts;
  const browser = new Browser();
  await signOn(world, browser);
  await members.change(OPERATOR, world.member.id, { suspended: true });
  assert.equal(await who(world, browser), undefined);
  assert.equal(await signOn(world), '/login?failed=unknown&return=%2Frepos');
  await members.change(OPERATOR, world.member.id, { suspended: false });
  assert.equal(await signOn(world), '/repos');
});

test('declining at the provider shows a message', async () => {
  const { world } = await start();
  assert.equal(await signOn(world), '/login?failed=declined&return=%2Frepos');
});

test('the page and the API list the providers; an unknown one does not exist', async () => {
  const { world, issuer } = await start({ displayName: 'Acme Corp' });
  const state = await world.call({ path: '/api/auth/state' });
  assert.deepEqual(state.json()['providers'], [
    { name: 'Acme Corp', url: `${world.server.url}/api/auth/oidc/acme` },
  ]);
  for (const id of ['other', '__proto__', 'constructor'])
    assert.equal((await world.send('GET', `/api/auth/oidc/${id}`)).code, 'NOT_FOUND', id);
  world.configure({});
  assert.equal((await world.send('GET', '/api/auth/oidc/acme')).code, 'NOT_FOUND');
  assert.ok(issuer.url.length > 0);
});

test('sign-in by password can be disabled where another way exists', async () => {
  const { world } = await start();
  const owner = await world.signIn('owner@example.com');
  const off = { passwordLogin: false };
  world.configure({});
  const refused = await world.send('PATCH', '/api/instance', owner, off);
  assert.equal(refused.code, 'EMAIL_LOGIN_CANNOT_BE_DISABLED');
  world.configure({ acme: providerAt('http://127.0.0.1:9') });
  assert.equal((await world.send('PATCH', '/api/instance', owner, off)).status, 200);
});

test('the secret can come from a variable, and its file can be replaced', async () => {
  const clientSecret = { env: 'ACME_SECRET' };
  const { world, issuer } = await start({ clientSecret }, { env: { ACME_SECRET: CLIENT.secret } });
  issuer.account = MEMBER;
  assert.equal(await signOn(world), '/repos');
  const file = path.join(temporaryFolder(), 'secret');
  writeFileSync(file, 'another one');
  world.configure({ acme: providerAt(issuer.url, { clientSecret: { file } }) });
  assert.equal(await signOn(world), '/login?failed=invalid&return=%2Frepos');
  writeFileSync(file, CLIENT.secret);
  assert.equal(await signOn(world), '/repos');
});

test('no secret is in the log or the audit', async () => {
  const { world, issuer } = await start();
  issuer.account = MEMBER;
  const browser = new Browser();
  await signOn(world, browser);
  const code = browser.visited.flatMap((url) => new URL(url).searchParams.get('code') ?? []);
  assert.equal(code.length, 1);
  const session = browser.cookie(world.server.url, 'trawl_session') ?? '';
  const log = JSON.stringify(world.lines) + JSON.stringify(await records(world, 'user'));
  for (const secret of [CLIENT.secret, ...code, session]) assert.ok(!log.includes(secret));
});
