// What the pages say where something is refused or cannot be had: in the place where it was asked for, with the words of the
// daemon, and only until something else is done. What was there stays.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { licenceEnvironment } from '../../accounts/licences.ts';
import { eventually, serve, type Served } from '../../e2e/daemon.ts';
import { CodeHost } from '../../e2e/hosted.ts';
import { commitAll, makeRepo, temporaryFolder, writeFiles } from '../../sources/git/fixture.ts';
import { findingsOf, goTo, hasCount, pageTests, shows } from '../browser.ts';
import { addMember, MEMBER, OWNER, OWNER_ENV, send, signIn } from '../people.ts';

/** One more than a page of a difference has. */
const FILE_COUNT = 26;
const config = path.join(temporaryFolder(), 'trawl.json');

let host: CodeHost;
let served: Served;
let name = '';
let commit = '';

/** The daemon has these connections from now on, or at its start. */
function writeConnections(names: readonly string[]): void {
  const of = (url: string) => ({
    type: 'github',
    url,
    orgs: ['acme'],
    token: { env: 'HOST_TOKEN' },
  });
  // Nobody listens at the address of `dead`.
  const connections = names.map((one) => [
    one,
    of(one === 'dead' ? 'http://127.0.0.1:9' : host.url),
  ]);
  writeFileSync(config, JSON.stringify({ connections: Object.fromEntries(connections) }));
}

async function setConnections(...names: readonly string[]): Promise<void> {
  const from = served.process.stderr.length;
  writeConnections(names);
  served.process.child.kill('SIGHUP');
  await eventually(async () => served.process.stderr.slice(from).includes('read again'));
}

const start = async (): Promise<string> => {
  host = await CodeHost.start();
  host.add('one', { 'a b.txt': 'plumtree\n' });
  writeConnections(['kept']);
  const paths = Array.from({ length: FILE_COUNT }, (_, index) => `many/f${index + 10}.ts`);
  const texts = (text: string) => Object.fromEntries(paths.map((file) => [file, text]));
  const repo = makeRepo({ ...texts('export const quince = 1;\n'), 'some.bin': '\0' });
  writeFiles(repo, texts('export const quince = 2;\n'));
  commit = commitAll(repo, 'all of them');
  name = `local/${path.basename(repo)}`;
  served = await serve(temporaryFolder(), [repo], {
    flags: ['--config', config],
    env: { ...OWNER_ENV, HOST_TOKEN: 'ghp_of-the-operator', ...licenceEnvironment(2) },
  });
  await served.process.until(/ repo indexed /, 2);
  return served.url;
};
/** What the browser itself notes of an answer. */
const allowed = /status of [45]/;
const test = pageTests(start, { as: OWNER, allowed });

after(() => host?.stop());

/** It says this, and only this. */
async function refuses(scope: Page | Locator, text: string | RegExp): Promise<void> {
  const alert = scope.getByRole('alert');
  await alert.filter({ hasText: text }).waitFor();
  await hasCount(alert, 1);
}

test('members: no seat left, an address in use, one owner must remain', async ({ page }) => {
  await page.goto('/settings/members');
  const invite = async (email: string): Promise<void> => {
    await page.getByLabel('E-mail of a new member').fill(email);
    await page.getByRole('button', { name: 'Invite' }).click();
  };
  await invite(MEMBER);
  const member = page.getByRole('row', { name: new RegExp(MEMBER) });
  await member.waitFor();
  await invite('third@example.com');
  await refuses(page, /seat/);
  assert.deepEqual(await findingsOf(page), []);
  await page.reload();

  const own = page.getByRole('row', { name: new RegExp(OWNER) });
  await own.getByRole('button', { name: 'Make member' }).click();
  await refuses(page, 'the last active owner cannot be demoted');
  await member.getByRole('button', { name: 'Suspend' }).click();
  await member.getByRole('cell', { name: 'Suspended' }).waitFor();
  await member.getByRole('combobox').selectOption('unlimited');
  await hasCount(page.getByRole('alert'), 0);
  await own.getByRole('button', { name: 'Suspend' }).click();
  await refuses(page, 'the last active owner cannot be suspended');
  await own.getByRole('cell', { name: 'Active' }).waitFor();
  await invite(MEMBER);
  await page.getByRole('alert').filter({ hasText: 'already exists' }).waitFor();
  await page.reload();
  await own.getByRole('button', { name: 'Remove' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel(`Type ${OWNER}`).fill(OWNER);
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await refuses(page, 'the last active owner cannot be removed');
  // What is done next does not stand below it.
  await member.getByRole('button', { name: 'Remove' }).click();
  await dialog.getByLabel(`Type ${MEMBER}`).fill(MEMBER);
  await dialog.getByRole('button', { name: 'Remove' }).click();
  await member.waitFor({ state: 'detached' });
  await hasCount(page.getByRole('alert'), 0);
});

test('an owner who becomes a member sees the pages of members', async ({ page }) => {
  await addMember(served.url, MEMBER);
  const users = (await (await send(`${served.url}/api/ee/users`, 'GET')).json()) as {
    id: string;
    email: string;
  }[];
  const user = `${served.url}/api/ee/user?userId=${users.find(({ email }) => email === MEMBER)?.id}`;
  const become = async (role: string): Promise<void> => {
    assert.equal((await send(user, 'PATCH', { role })).status, 200);
  };
  await become('OWNER');
  await signIn(page, MEMBER);
  await page.goto('/settings/members');
  const own = page.getByRole('row', { name: new RegExp(MEMBER) });
  await own.getByRole('button', { name: 'Make member' }).click();
  await page.getByText('Only owners can see this page.').waitFor();
  await become('OWNER');
  await page.goto('/settings/health');
  await page.getByText(/\d shard/).waitFor();
  await become('MEMBER');
  await page.getByText('Only owners can see this page.').waitFor();
  assert.equal((await send(user, 'DELETE')).status, 200);
});

test('requests that are refused one after the other ask for the account once', async ({ page }) => {
  await page.goto('/settings/general');
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  const answer = {
    statusCode: 403,
    errorCode: 'INSUFFICIENT_PERMISSIONS',
    message: 'Refused here.',
  };
  const calls = ['**/api/health/series*', '**/api/jobs?*', '**/api/ready'];
  for (const [index, call] of calls.entries())
    await page.route(call, async (route) => {
      await page.waitForTimeout(index * 500);
      await route.fulfill({ status: 403, json: answer });
    });
  const asked: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/user')) asked.push(request.url());
  });
  const last = page.waitForResponse('**/api/ready');
  await page.getByRole('link', { name: 'Health' }).click();
  await last;
  await page.getByRole('alert').first().waitFor();
  assert.equal(asked.length, 1);
  for (const call of calls) await page.unroute(call);
});

test('security: the last way to sign in cannot be disabled, with the reason, until something else changes', async ({
  page,
}) => {
  await page.goto('/settings/security');
  const password = page.getByRole('checkbox', { name: 'Sign-in with password' });
  await password.click();
  await refuses(page, 'way to sign in');
  assert.equal(await password.isChecked(), true);
  const guests = /^Guests/;
  for (const checked of [true, false]) {
    await page.getByRole('checkbox', { name: guests }).click();
    await page.getByRole('checkbox', { name: guests, checked }).waitFor();
  }
  await hasCount(page.getByRole('alert'), 0);
});

test('a removed connection is not listed again', async ({ page }) => {
  await setConnections('kept', 'gone');
  await page.goto('/settings/connections');
  const gone = page.getByRole('row', { name: /^gone/ });
  await gone.getByText('Up to date').waitFor();
  await setConnections('kept');
  await gone.getByRole('button', { name: 'Sync now: gone' }).click();
  await refuses(page, /connection/i);
  await gone.waitFor({ state: 'detached' });
  await page.getByRole('row', { name: /^kept/ }).waitFor();
});

test('a key deleted elsewhere: the others are still listed', async ({ page, context }) => {
  await page.goto('/settings/apiKeys');
  for (const key of ['first', 'second']) {
    await page.getByLabel('Name of the new key').fill(key);
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByRole('button', { name: 'Done' }).click();
  }
  const row = page.getByRole('row', { name: /^first/ });
  await row.getByRole('button', { name: 'Delete' }).click();
  const elsewhere = await context.newPage();
  await elsewhere.goto('/settings/apiKeys');
  const there = elsewhere.getByRole('row', { name: /^first/ });
  await there.getByRole('button', { name: 'Delete' }).click();
  await elsewhere.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await there.waitFor({ state: 'detached' });
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await refuses(page, /key/);
  await row.waitFor({ state: 'detached' });
  await page.getByRole('row', { name: /^second/ }).waitFor();
});

/** The daemon refuses what fits, until it is called. */
async function refuseAll(page: Page, calls: string): Promise<() => Promise<void>> {
  await page.route(calls, (route) => {
    const answer = { statusCode: 500, errorCode: 'UNEXPECTED_ERROR', message: 'Refused here.' };
    const body = JSON.stringify(answer);
    return route.fulfill({ status: 500, contentType: 'application/json', body });
  });
  return () => page.unroute(calls);
}

test('a further page of a diff that cannot be loaded: the reason, and a retry', async ({
  page,
}) => {
  const giveAgain = await refuseAll(page, '**/api/diff?*page=2*');
  await page.goto(`/browse/${name}/-/commit/${commit}`);
  const files = page.getByRole('list', { name: 'Files' }).getByRole('listitem');
  await hasCount(files, FILE_COUNT - 1);
  const changes = page.getByRole('region', { name: 'Changes' });
  await changes.focus();
  await page.keyboard.press('End');
  await refuses(changes, 'Refused here.');
  assert.deepEqual(await findingsOf(page), []);
  await giveAgain();
  await changes.getByRole('button', { name: 'Try again' }).click();
  await hasCount(files, FILE_COUNT);
  await hasCount(page.getByRole('alert'), 0);
});

test('references that cannot be loaded', async ({ page }) => {
  const file = `/browse/${name}/-/blob/many/f10.ts`;
  await page.goto(`${file}?explore=references:${'x'.repeat(1025)}`);
  await page.locator('.cm-content').waitFor();
  await refuses(page, /symbolName/);
  await goTo(page, `${file}?explore=references:quince`);
  await page.locator('.explore-row').first().waitFor();
  await hasCount(page.getByRole('alert'), 0);
});

/** Calls that are refused, and the first page that makes them: what was answered a moment ago is not asked for again. */
const CALLS: readonly (readonly [calls: string, address: () => string])[] = [
  ['**/api/user/usage', () => '/settings/usage'],
  ['**/api/instance', () => '/settings/security'],
  ['**/api/license', () => '/settings/license'],
  ['**/api/health/series*', () => '/settings/health'],
  ['**/api/ee/audit?*', () => '/settings/audit'],
  ['**/api/jobs?*', () => '/settings/health'],
  ['**/api/ee/users', () => '/settings/members'],
  ['**/api/connections', () => '/settings/connections'],
  ['**/api/repo-index-status', () => `/repos?open=${encodeURIComponent(name)}`],
  ['**/api/connection-sync-status', () => '/settings/connections'],
  ['**/api/user/api_keys', () => '/settings/apiKeys'],
  ['**/api/repos?*', () => '/repos?sort=pushed'],
  // Why another page between two of the repositories: their list would keep its error until it is polled.
  ['**/api/folder_contents?*path=many', () => `/browse/${name}/-/tree/many`],
  ['**/api/job-logs', () => `/repos?open=${encodeURIComponent(name)}`],
  ['**/api/repos/*/skipped*', () => `/repos?open=${encodeURIComponent(host.nameOf('one'))}`],
  ['**/api/commits?*', () => `/browse/${name}/-/blob/many/f10.ts?panel=history`],
  ['**/api/commits?*', () => `/browse/${name}/-/commits/`],
  ['**/api/source?*', () => `/browse/${name}/-/blob/many/f11.ts`],
  [
    '**/api/source?*',
    () => `/search?query=quince&preview=${encodeURIComponent(`${name}@HEAD:many/f12.ts`)}`,
  ],
  ['**/api/diff?*', () => `/browse/${name}/-/commit/${commit}`],
  ['**/api/repos/*/index', () => `/repos?open=${encodeURIComponent(name)}`],
];

test('failing requests show the reason', async ({ page }) => {
  await page.goto('/');
  const checked = new Set<string>();
  for (const [calls, address] of CALLS) {
    const giveAgain = await refuseAll(page, calls);
    await goTo(page, address());
    if (calls.endsWith('/index'))
      await page
        .getByRole('region', { name: /^About/ })
        .getByRole('button', { name: /^Index now/ })
        .click();
    await refuses(page, 'Refused here.');
    // All notices are one component: the checker reads one in each part of the page.
    const part = address().split(/[/?]/)[1] ?? '';
    if (!checked.has(part)) assert.deepEqual(await findingsOf(page), [], `${calls} of ${part}`);
    checked.add(part);
    await giveAgain();
  }
});

test('an account that cannot be read, an answer without a body, and one of a proxy', async ({
  page,
}) => {
  await refuseAll(page, '**/api/user');
  await page.goto('/');
  await refuses(page, 'Refused here.');
  await page.route('**/api/raw?*', (route) => route.fulfill({ status: 500 }));
  await page.goto(`/browse/${name}/-/blob/some.bin`);
  await refuses(page, 'The answer was 500.');
  assert.equal(await page.getByText('binary').count(), 0);
  await page.route('**/api/repos?*', (route) =>
    route.fulfill({ contentType: 'text/html', body: '<h1>Sign in</h1>' }),
  );
  await page.goto('/repos');
  await refuses(page, 'A proxy answered 200 in place of Trawl.');
});

/** A page, the call that it repeats in the background, and what stays if that fails. */
const KEPT: readonly (readonly [address: () => string, calls: string, kept: string])[] = [
  [() => '/settings/apiKeys', '**/api/user', '.settings-body input'],
  [() => '/settings/license', '**/api/license', '.settings-body input'],
  [() => '/settings/security', '**/api/instance', '.settings-body input'],
  [() => '/settings/usage', '**/api/user/usage', '.facts'],
  [() => `/browse/${name}/-/blob/many/f13.ts`, '**/api/source?*', '.cm-content'],
  [() => `/browse/${name}/-/tree/many`, '**/api/folder_contents?*', '.folder-list'],
  [() => `/browse/${name}/-/commit/${commit}`, '**/api/commit?*', '.commit-title'],
];

test('what is on display stays if it cannot be loaded again', async ({ page }) => {
  await page.goto('/');
  for (const [address, calls, kept] of KEPT) {
    await goTo(page, address());
    const element = await page.locator(kept).first().elementHandle();
    const giveAgain = await refuseAll(page, calls);
    const answered = page.waitForResponse(calls);
    // Half a minute later the user comes back to the window.
    await page.evaluate(`{
      const start = Date.now() + 60_000 - performance.now();
      Date.now = () => start + performance.now();
      document.dispatchEvent(new Event('visibilitychange', { bubbles: true }));
    }`);
    await answered;
    await page.evaluate('new Promise((done) => setTimeout(() => requestAnimationFrame(done), 50))');
    assert.equal(await element?.evaluate((one) => one.isConnected), true, address());
    await giveAgain();
  }
});

test('connections: the result of each listing, the reason of a failure, and a retry with its log', async ({
  page,
}) => {
  await setConnections('kept', 'dead');
  try {
    await page.goto('/settings/connections');
    const acme = page.getByRole('row', { name: /^kept/ });
    const dead = page.getByRole('row', { name: /^dead/ });
    await acme.getByText('Up to date').waitFor();
    await dead.getByText('Failed, will be retried').waitFor();
    await page.getByText('1 connection failed.').waitFor();
    // What needs somebody stands first.
    await shows(page.getByRole('row').nth(1), /^dead/);
    await dead.getByRole('button', { name: 'About dead' }).click();
    const about = page.getByRole('region', { name: 'About dead' });
    await about.getByText('Trawl retries automatically.').waitFor();
    await about
      .getByRole('log')
      .getByText(/127\.0\.0\.1:9/)
      .first()
      .waitFor();
    await about.getByRole('button', { name: 'Copy log' }).click();
    await page.getByText('Log copied').waitFor();
    assert.deepEqual(await findingsOf(page), []);
    await about.getByRole('button', { name: 'Close' }).click();
    assert.match(page.url(), /\/settings\/connections$/);

    host.add('two', { 'b.txt': 'secondword\n' });
    await acme.getByRole('button', { name: 'About kept' }).click();
    const other = page.getByRole('region', { name: 'About kept' });
    await other.getByText('1 repository', { exact: true }).waitFor();
    await acme.getByRole('button', { name: 'Sync now: kept' }).click();
    await other.getByText('2 repositories', { exact: true }).waitFor();
    await other.getByRole('link', { name: 'Repositories' }).click();
    await page.waitForURL(/\/repos\?connectionId=\d+$/);
    await page.getByRole('row', { name: new RegExp(host.nameOf('two')) }).waitFor();
    assert.equal(await page.getByRole('row').count(), 3);
  } finally {
    // What failed is said on other pages too.
    await setConnections('kept');
  }
});

test('more connections than one request asks for: each has its state', async ({ page }) => {
  const names = Array.from({ length: 101 }, (_, index) => `kept${index}`);
  await setConnections('kept', ...names);
  try {
    await page.goto('/settings/connections');
    const state = /Up to date|Waiting|Syncing/;
    await page.getByRole('row').filter({ hasText: state }).nth(101).waitFor();
  } finally {
    await setConnections('kept');
  }
});

test('a link to the page of the host', async ({ page }) => {
  await page.goto('/');
  const name = host.nameOf('one');
  const repo = `${host.url}/acme/one`;
  for (const [address, lastPart, target] of [
    ['/search?query=plumtree', '.result-line', `${repo}/blob/main/a%20b.txt`],
    [
      `/browse/${name}/-/blob/a%20b.txt?highlightRange=1`,
      '.cm-content',
      `${repo}/blob/main/a%20b.txt#L1`,
    ],
    [`/repos?open=${encodeURIComponent(name)}`, '[role=log]', repo],
  ] as const) {
    await goTo(page, address);
    await page.locator(lastPart).first().waitFor();
    const link = page.getByRole('link', { name: 'Open at code host' });
    assert.equal(await link.getAttribute('href'), target);
    assert.equal(await link.getAttribute('rel'), 'noopener noreferrer', address);
    assert.equal(await link.getAttribute('target'), '_blank', address);
    assert.equal(await link.getAttribute('title'), `Open at ${new URL(host.url).host}`);
  }
  assert.deepEqual(await findingsOf(page), []);
});
