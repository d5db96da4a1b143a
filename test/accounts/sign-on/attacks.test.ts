// Attacks on single sign-on, one test each, with an issuer that can answer anything; and failures of the issuer.
// tier: ci (long)

import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { afterEach, test } from 'node:test';
import { SignJWT } from 'jose';
import { closeWorlds } from '../../http/harness.ts';
import { type Claims, type FalseIssuer, startFalseIssuer } from './false-issuer.ts';
import { startIssuer } from './real-issuer.ts';
import {
  beginAt,
  Browser,
  comeBack,
  outcomeOf,
  PAGE,
  providerAt,
  signOnAt,
  type SignOnWorld,
  startSignOn,
} from './world.ts';

afterEach(closeWorlds);

interface Scene {
  readonly world: SignOnWorld;
  readonly issuer: FalseIssuer;
}

async function start(more: object = {}): Promise<Scene> {
  const issuer = await startFalseIssuer();
  return { issuer, world: await startSignOn({ test: providerAt(issuer.url, more) }) };
}

const seconds = (): number => Math.floor(Date.now() / 1000);

// The way there and back.

test('login CSRF: a callback in a browser that started nothing', async () => {
  const { world, issuer } = await start();
  const { address } = await beginAt(world, issuer);
  assert.equal(outcomeOf(await comeBack(world, { address, cookie: '' })), 'stale');
  assert.equal(issuer.forms.length, 0);
});

test('login CSRF: a callback with the state of another sign-on', async () => {
  const { world, issuer } = await start();
  const mine = await beginAt(world, issuer);
  const theirs = await beginAt(world, issuer);
  const crossed = { address: theirs.address, cookie: mine.cookie };
  assert.equal(outcomeOf(await comeBack(world, crossed)), 'stale');
  assert.equal(issuer.forms.length, 0);
});

test('a repeated callback, or two at once, succeeds once', async () => {
  const { world, issuer } = await start();
  const first = await beginAt(world, issuer);
  assert.equal(outcomeOf(await comeBack(world, first)), 'signed in');
  assert.equal(outcomeOf(await comeBack(world, first)), 'stale');
  assert.equal(issuer.forms.length, 1);
  const started = await beginAt(world, issuer);
  const both = await Promise.all([comeBack(world, started), comeBack(world, started)]);
  assert.deepEqual(both.map(outcomeOf).sort(), ['signed in', 'stale']);
});

test('an authorization code that was used before, at a real issuer', async () => {
  const issuer = await startIssuer();
  const world = await startSignOn({ acme: providerAt(issuer.url) });
  issuer.serve([`${world.server.url}/api/auth/oidc/acme/callback`]);
  issuer.account = { sub: 'm', email: 'member@example.com', email_verified: true };
  const isBack = (url: string): boolean => url.startsWith(world.server.url);
  const begin = `${world.server.url}/api/auth/oidc/acme`;
  const first = new Browser();
  const used = await first.follow(begin, isBack);
  assert.match((await first.get(used.location)).location, /\/$/);
  const second = new Browser();
  const other = new URL((await second.follow(begin, isBack)).location);
  other.searchParams.set('code', new URL(used.location).searchParams.get('code') ?? '');
  assert.match((await second.get(other.href)).location, /\/login\?failed=stale$/);
});

test('a sign-on that took more than ten minutes', async () => {
  const { world, issuer } = await start();
  const started = await beginAt(world, issuer);
  world.clock.nowMs += 601_000;
  assert.equal(outcomeOf(await comeBack(world, started)), 'stale');
});

test('a forged cookie', async () => {
  const { world, issuer } = await start();
  const { address, cookie } = await beginAt(world, issuer);
  const changed = cookie.at(-9) === 'A' ? 'B' : 'A';
  for (const one of [
    `${cookie.slice(0, -9)}${changed}${cookie.slice(-8)}`,
    'trawl_sign_on=e30.e30.e30',
    'trawl_sign_on=',
  ])
    assert.equal(outcomeOf(await comeBack(world, { address, cookie: one })), 'stale', one);
});

test('mix-up: the response names another issuer', async () => {
  const { world, issuer } = await start();
  const started = await beginAt(world, issuer);
  const reply = await comeBack(world, started, { iss: 'https://evil.example' });
  assert.equal(outcomeOf(reply), 'invalid');
  assert.equal(issuer.forms.length, 0);
});

test('mix-up: an issuer that announces `iss` omits it', async () => {
  const { world, issuer } = await start();
  issuer.metadata = { authorization_response_iss_parameter_supported: true };
  const started = await beginAt(world, issuer);
  assert.equal(outcomeOf(await comeBack(world, started)), 'invalid');
  assert.equal(issuer.forms.length, 0);
  const again = await beginAt(world, issuer);
  assert.equal(outcomeOf(await comeBack(world, again, { iss: issuer.url })), 'signed in');
});

test('mix-up: a sign-on with one provider returns as one with another', async () => {
  const issuer = await startFalseIssuer();
  const other = await startFalseIssuer();
  const world = await startSignOn({ test: providerAt(issuer.url), two: providerAt(other.url) });
  const { address, cookie } = await beginAt(world, issuer);
  address.searchParams.set('redirect_uri', `${world.server.url}/api/auth/oidc/two/callback`);
  assert.equal(outcomeOf(await comeBack(world, { address, cookie })), 'stale');
  assert.equal(other.forms.length, 0);
});

test('open redirect: only own paths are followed', async () => {
  const { world, issuer } = await start();
  const home = world.server.url;
  const goesTo = async (target: string): Promise<unknown> => {
    const path = `/api/auth/oidc/test?return=${encodeURIComponent(target)}`;
    const reply = await comeBack(world, await beginAt(world, issuer, path));
    return reply.headers.location;
  };
  for (const target of [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '\\\\evil.example',
    '/\t/evil.example',
    '/..//evil.example',
    'javascript:alert(1)',
    '@evil.example',
    '.evil.example',
    `/${'a'.repeat(2400)}`,
  ])
    assert.equal(await goesTo(target), `${home}/`, target);
  assert.equal(await goesTo('/repos?state=failed'), `${home}/repos?state=failed`);
  const longest = `/${'a'.repeat(2399)}`;
  assert.equal(await goesTo(longest), home + longest);
  const { cookie } = await beginAt(world, issuer, `/api/auth/oidc/test?return=${longest}`);
  assert.ok(cookie.length <= 4096, String(cookie.length));
});

test('open redirect: nothing in a response sets the target', async () => {
  const { world, issuer } = await start();
  const started = await beginAt(world, issuer);
  const reply = await comeBack(world, started, { return: 'https://evil.example/' });
  assert.equal(reply.headers.location, `${world.server.url}/`);
  const refused = await comeBack(world, started, { error: 'x', error_description: '<script>' });
  assert.equal(refused.headers.location, `${world.server.url}/login?failed=stale`);
});

test('session fixation: a planted session is not adopted', async () => {
  const { world, issuer } = await start();
  const planted = `trawl_session=${randomBytes(32).toString('hex')}`;
  const started = await beginAt(world, issuer);
  const reply = await comeBack(world, { ...started, cookie: `${planted}; ${started.cookie}` });
  const [cookie] = (reply.headers['set-cookie'] ?? []).map((line) => line.split(';')[0]);
  assert.match(String(cookie), /^trawl_session=[0-9a-f]{64}$/);
  assert.notEqual(cookie, planted);
  assert.equal((await world.send('GET', '/api/user/usage', planted)).status, 401);
});

test('cookies of an instance with https and a path are limited to it', async () => {
  const issuer = await startFalseIssuer();
  const env = { TRAWL_BASE_URL: 'https://code.example/search' };
  const world = await startSignOn({ test: providerAt(issuer.url) }, { env });
  const reply = await world.call({
    path: '/search/api/auth/oidc/test',
    headers: { ...PAGE, host: 'code.example' },
  });
  assert.match(
    reply.headers['set-cookie']?.[0] ?? '',
    /; Path=\/search; Max-Age=600; HttpOnly; SameSite=Lax; Secure$/,
  );
  const address = new URL(String(reply.headers.location));
  assert.equal(
    address.searchParams.get('redirect_uri'),
    'https://code.example/search/api/auth/oidc/test/callback',
  );
});

// The id token.

test('tokens with a wrong signature: none, HMAC with the published key, another key', async () => {
  const { world, issuer } = await start();
  const other = await startFalseIssuer();
  const tokens: [string, (claims: Claims) => Promise<string>][] = [
    ['unsigned', async (claims) => issuer.unsigned(claims)],
    ['public key as a secret', (claims) => issuer.signByPublicKey(claims)],
    ['another key', (claims) => other.sign(claims)],
    [
      'a key of its own',
      (claims) =>
        new SignJWT(claims)
          .setProtectedHeader({ alg: 'RS256', jwk: other.key.jwk })
          .sign(other.key.privateKey),
    ],
  ];
  for (const [name, idToken] of tokens) {
    issuer.idToken = idToken;
    assert.equal(await signOnAt(world, issuer), 'invalid', name);
  }
});

test('the same, with metadata that announces these algorithms', async () => {
  const { world, issuer } = await start();
  issuer.metadata = { id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'] };
  issuer.idToken = (claims) => issuer.signByPublicKey(claims);
  assert.equal(await signOnAt(world, issuer), 'invalid');
  issuer.idToken = async (claims) => issuer.unsigned(claims);
  assert.equal(await signOnAt(world, issuer), 'invalid');
});

test('claims: wrong client, issuer, nonce or time, an unverified address', async () => {
  const { world, issuer } = await start();
  const CLAIMS: [Claims, string][] = [
    [{}, 'signed in'],
    [{ aud: 'another' }, 'invalid'],
    [{ aud: ['trawl', 'another'], azp: 'another' }, 'invalid'],
    [{ iss: 'https://evil.example' }, 'invalid'],
    [{ nonce: 'another' }, 'invalid'],
    [{ nonce: undefined }, 'invalid'],
    // Clocks may differ by 60 s.
    [{ exp: seconds() - 40 }, 'signed in'],
    [{ exp: seconds() - 70 }, 'invalid'],
    [{ nbf: seconds() + 50 }, 'signed in'],
    [{ nbf: seconds() + 90 }, 'invalid'],
    [{ exp: undefined }, 'invalid'],
    ...[false, undefined, 'true', 1, null].map((verified): [Claims, string] => [
      { sub: 'account-2', email_verified: verified },
      'unverified',
    ]),
    [{ sub: 'account-2', email: undefined }, 'unverified'],
  ];
  for (const [claims, outcome] of CLAIMS) {
    issuer.claims = claims;
    assert.equal(await signOnAt(world, issuer), outcome, JSON.stringify(claims));
  }
});

// The address.

test('an address that resembles another one, with characters outside of ASCII', async () => {
  const { world, issuer } = await start({ allowSignUp: true });
  // The sign of Kelvin, whose lower case is the letter k; and a letter of another alphabet.
  for (const email of [
    '\u212Aate@example.com',
    'm\u0435mber@example.com',
    ' member@example.com ',
  ]) {
    issuer.claims = { email };
    assert.equal(await signOnAt(world, issuer), 'unverified', email);
  }
});

test('an address that now belongs to another account of the issuer', async () => {
  const { world, issuer } = await start();
  assert.equal(await signOnAt(world, issuer), 'signed in');
  issuer.claims = { sub: 'account-2' };
  assert.equal(await signOnAt(world, issuer), 'linked');
});

test('an account that presents the address of another user', async () => {
  const { world, issuer } = await start({ allowSignUp: true });
  assert.equal(await signOnAt(world, issuer), 'signed in');
  for (const email of ['owner@example.com', 'new@example.com']) {
    issuer.claims = { email };
    assert.equal(await signOnAt(world, issuer), 'linked', email);
  }
  assert.equal(await world.control.store.users.byEmail('new@example.com'), undefined);
});

test('sign-up before there is an owner', async () => {
  const { world, issuer } = await start({ allowSignUp: true });
  const { users } = world.control.store;
  // Removed without the rule of the last owner: an empty instance.
  await world.control.store.load(emptyDump(), { isReplacing: true });
  assert.equal(await users.count(), 0);
  assert.equal(await signOnAt(world, issuer), 'unknown');
  assert.equal(await users.count(), 0);
});

async function* emptyDump() {
  yield { table: 'store', rows: [{ version: '0010' }] };
}

// The issuer's troubles.

test('an unavailable issuer is reported to people and programs; passwords still work', async () => {
  const world = await startSignOn({ test: providerAt('http://127.0.0.1:9') });
  const path = '/api/auth/oidc/test';
  const displayed = await world.call({ path, headers: PAGE });
  assert.equal(displayed.headers.location, `${world.server.url}/login?failed=unreachable`);
  const reported = await world.send('GET', path);
  assert.equal(reported.status, 503);
  assert.equal(reported.code, 'NOT_READY');
  assert.ok(
    world.lines.some(
      ({ message, provider }) => message === 'a sign-on failed' && provider === 'test',
    ),
  );
  assert.match(await world.signIn('member@example.com'), /^trawl_session=/);
});

test('an unresponsive issuer is waited for 5 s, once for all requests, then skipped for a while', async () => {
  const { world, issuer } = await start();
  issuer.delayMs = 20_000;
  const startMs = performance.now();
  const many = Array.from({ length: 10 }, () => world.send('GET', '/api/auth/oidc/test'));
  for (const { code } of await Promise.all(many)) assert.equal(code, 'NOT_READY');
  const tookMs = performance.now() - startMs;
  assert.ok(tookMs > 4_000 && tookMs < 12_000, String(tookMs));
  await world.send('GET', '/api/auth/oidc/test');
  assert.deepEqual(issuer.requested, ['/.well-known/openid-configuration']);
});

test('an issuer that reports another name', async () => {
  const { world, issuer } = await start();
  issuer.metadata = { issuer: 'https://evil.example' };
  assert.equal((await world.send('GET', '/api/auth/oidc/test')).code, 'NOT_READY');
});

test('an issuer with an endless response', async () => {
  const { world, issuer } = await start();
  issuer.answers.set('/.well-known/openid-configuration', (response) => {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.on('error', () => {});
    const more = (): void => {
      while (!response.destroyed && response.write(' '.repeat(65_536)));
    };
    response.on('drain', more);
    more();
  });
  assert.equal((await world.send('GET', '/api/auth/oidc/test')).code, 'NOT_READY');
});

test('an issuer that redirects, or names forbidden addresses', async () => {
  const elsewhere = await startFalseIssuer();
  const { world, issuer } = await start();
  issuer.answers.set('/token', (response) =>
    response.writeHead(307, { location: `${elsewhere.url}/token` }).end(),
  );
  assert.equal(await signOnAt(world, issuer), 'unreachable');
  issuer.answers.clear();
  for (const base of [elsewhere.url, 'http://169.254.169.254', 'http://user:password@127.0.0.1']) {
    const { world, issuer } = await start();
    issuer.metadata = { token_endpoint: `${base}/token` };
    assert.equal(await signOnAt(world, issuer), 'unreachable', base);
  }
  assert.deepEqual(elsewhere.requested, []);
});

test('discovery and keys are fetched once', async () => {
  const { world, issuer } = await start();
  assert.equal(await signOnAt(world, issuer), 'signed in');
  assert.equal(await signOnAt(world, issuer), 'signed in');
  assert.equal(issuer.countOf('/keys'), 1);
  assert.equal(issuer.countOf('/.well-known/openid-configuration'), 1);
});

test('a missing secret is logged with its path', async () => {
  const issuer = await startFalseIssuer();
  const clientSecret = { file: '/nowhere/secret' };
  const world = await startSignOn({ test: { ...providerAt(issuer.url), clientSecret } });
  assert.equal((await world.send('GET', '/api/auth/oidc/test')).code, 'NOT_READY');
  assert.ok(world.lines.some(({ reason }) => String(reason).includes('/nowhere/secret')));
});
