// Sign-on with GitHub: who is signed in or refused, and that lists of readers match by account number.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { OPERATOR } from '../../../daemon/accounts/audit-log.ts';
import { probeProviders } from '../../../daemon/cli/probe-providers.ts';
import { fileSchema } from '../../../daemon/base/config/file-schema.ts';
import { closeWorlds } from '../../http/harness.ts';
import { temporaryFolder } from '../../sources/git/fixture.ts';
import { type GithubAccount, type GithubSignOnServer, startGithubSignOn } from './github-server.ts';
import { CLIENT } from './real-issuer.ts';
import {
  Browser,
  LISTED_REPOS,
  listedConnection,
  listReaders,
  type SignOnWorld,
  startSignOn,
} from './world.ts';

afterEach(closeWorlds);

const MEMBER: GithubAccount = {
  id: 583231,
  login: 'octocat',
  name: 'Octo Cat',
  emails: [
    { email: 'octo@home.example', verified: true },
    { email: 'not.verified@example.com', verified: false },
    { email: 'Member@Example.com', verified: true },
  ],
};

function providerAt(url: string, secret = CLIENT.secret): object {
  const file = path.join(temporaryFolder(), 'secret');
  writeFileSync(file, `${secret}\n`);
  return { type: 'github', url: `${url}/`, clientId: CLIENT.id, clientSecret: { file } };
}

interface Started {
  readonly world: SignOnWorld;
  readonly github: GithubSignOnServer;
}

async function start(): Promise<Started> {
  const github = await startGithubSignOn();
  const world = await startSignOn({ hub: providerAt(github.url) }, { repos: LISTED_REPOS });
  const hub = { type: 'github', url: github.url, orgs: ['acme'] };
  const rules = { enforcePermissions: true, syncPermissions: true };
  world.configure({ hub: providerAt(github.url) }, { hub: { ...hub, ...rules } });
  github.account = MEMBER;
  return { world, github };
}

/** The page where a sign-on ends, below the base URL. */
async function signOn({ world }: Started, browser = new Browser()): Promise<string> {
  const { url } = await browser.follow(`${world.server.url}/api/auth/oidc/hub?return=%2Frepos`);
  assert.ok(url.startsWith(world.server.url), url);
  return url.slice(world.server.url.length);
}

function refused(reason: string): string {
  return `/login?failed=${reason}&return=%2Frepos`;
}

test('the account is its number: a renamed account keeps its access', async () => {
  const started = await start();
  const { world, github } = started;
  const { store, accounts } = world.control;
  const visibleIds = (): Promise<number[]> => world.repoIds(world.memberKey);
  await listReaders(world, 'hub', 1, '583231', '7');
  await listReaders(world, 'hub', 2, '7');
  assert.deepEqual(await visibleIds(), []);
  const counts = () => store.hostReaders.counts(listedConnection(world, 'hub'), [github.url]);
  assert.deepEqual(await counts(), { count: 2, known: 0 });
  const state = await world.call({ path: '/api/auth/state' });
  assert.deepEqual(state.json()['providers'], [
    { name: 'GitHub', url: `${world.server.url}/api/auth/oidc/hub` },
  ]);
  const browser = new Browser();
  assert.equal(await signOn(started, browser), '/repos');
  assert.match(browser.cookie(world.server.url, 'trawl_session') ?? '', /^[0-9a-f]{64}$/);
  assert.deepEqual(await visibleIds(), [1]);
  assert.deepEqual(await counts(), { count: 2, known: 1 });
  assert.deepEqual(await store.signOnAccounts.of(world.member.id), [
    { issuer: github.url, subject: '583231' },
  ]);
  // It has another name, and another main address.
  github.account = { ...MEMBER, login: 'tentacle', emails: MEMBER.emails.toReversed() };
  assert.equal(await signOn(started), '/repos');
  // Somebody else has its name, and says to have its address.
  github.account = { ...MEMBER, id: 7 };
  assert.equal(await signOn(started), refused('linked'));
  await accounts.members.unlink(OPERATOR, world.member.id);
  assert.deepEqual(await visibleIds(), []);
  assert.equal(await signOn(started), '/repos');
  assert.deepEqual(await visibleIds(), [1, 2]);
  assert.ok(!JSON.stringify(world.lines).includes('gho_'));
});

test('unknown accounts, unverified addresses and declined requests are refused; no user is created', async () => {
  const started = await start();
  const { world, github } = started;
  const emailed = (email: string, verified = true): void => {
    github.account = { ...MEMBER, emails: [{ email, verified }] };
  };
  emailed('eve@example.com');
  assert.equal(await signOn(started), refused('unknown'));
  assert.equal(await world.control.store.users.byEmail('eve@example.com'), undefined);
  emailed('member@example.com', false);
  assert.equal(await signOn(started), refused('unverified'));
  // Lower-case letters of this are those of the member.
  emailed('Member@Example.com'.replace('M', '\u041c'));
  assert.equal(await signOn(started), refused('unverified'));
  github.account = undefined;
  assert.equal(await signOn(started), refused('declined'));
});

test('an old code, a code of another browser, a wrong secret, and a failing GitHub', async () => {
  const started = await start();
  const { world, github } = started;
  const home = world.server.url;
  const browser = new Browser();
  const back = (url: string): boolean => url.startsWith(home);
  const led = await browser.follow(`${home}/api/auth/oidc/hub`, back);
  const there = new Browser();
  assert.match((await there.follow(led.location)).url, /failed=stale/);
  assert.doesNotMatch((await browser.follow(led.location)).url, /failed/);
  assert.match((await browser.follow(led.location)).url, /failed=stale/);
  const again = await browser.follow(`${home}/api/auth/oidc/hub`, back);
  const spent = new URL(again.location);
  spent.searchParams.set('code', 'spent');
  assert.match((await browser.follow(spent.href)).url, /failed=stale/);
  for (const [path, status, body, reason] of [
    ['/login/oauth/access_token', 502, {}, 'unreachable'],
    ['/api/v3/user', 503, {}, 'unreachable'],
    ['/api/v3/user', 403, { message: 'suspended' }, 'invalid'],
    ['/api/v3/user', 200, { id: '583231' }, 'invalid'],
    ['/api/v3/user/emails', 404, { message: 'Not Found' }, 'invalid'],
    ['/api/v3/user/emails', 200, [{ email: 'member@example.com' }], 'invalid'],
  ] as const) {
    // A failed address is not retried for a while: another one.
    const fresh = await startGithubSignOn();
    fresh.account = MEMBER;
    fresh.instead = (requested) => (requested === path ? { status, body } : undefined);
    world.configure({ hub: providerAt(fresh.url) });
    assert.equal(await signOn({ world, github: fresh }), refused(reason), `${path} ${status}`);
  }
  world.configure({ hub: providerAt(github.url, 'another secret') });
  assert.equal(await signOn(started), refused('invalid'));
});

test('`trawl config check --online` checks that a GitHub is reachable', async () => {
  const github = await startGithubSignOn();
  const { identityProviders } = fileSchema.parse({
    identityProviders: { hub: providerAt(github.url) },
  });
  const says = `people sign in at ${github.url}/login/oauth/authorize`;
  assert.deepEqual(await probeProviders(identityProviders, {}), [
    { provider: 'hub', state: 'reached', says },
  ]);
  github.instead = () => ({ status: 404, body: 'other' });
  const [probed] = await probeProviders(identityProviders, {});
  assert.equal(probed?.state, 'failed');
});
