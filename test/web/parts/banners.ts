// What the pages say above or in place of what they show, where no other test comes by: the daemon that comes back, jobs that
// left something, addresses that lead nowhere, who may not, a page that fails.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page, Route } from 'playwright-core';
import { PAIR, licenceEnvironment } from '../../accounts/licences.ts';
import { jobsEnded, serve, serveIndexed } from '../../e2e/daemon.ts';
import {
  commitAll,
  git,
  makeRepo,
  temporaryFolder,
  writeFiles,
} from '../../sources/git/fixture.ts';
import { once } from '../../base/once.ts';
import { findingsOf, goTo, pageTests } from '../browser.ts';
import { OWNER, OWNER_ENV, signIn, signInByPage } from '../people.ts';

const ENV = {
  ...OWNER_ENV,
  TRAWL_ANONYMOUS_ACCESS: 'true',
  TRAWL_LICENSE_PUBLIC_KEY: PAIR.publicKey,
};
const SOURCE_MAX = 1000;

let browsed = '';
let firstCommit = '';
let lastCommit = '';

function configWith(settings: object): string {
  const file = path.join(temporaryFolder(), 'trawl.json');
  writeFileSync(file, JSON.stringify({ settings }));
  return file;
}

const start = once(async (): Promise<string> => {
  const repo = makeRepo({
    'one.txt': 'one\n',
    'two.txt': 'two\n',
    'large.txt': 'x\n'.repeat(SOURCE_MAX),
  });
  firstCommit = git(repo, 'rev-parse', 'HEAD');
  writeFiles(repo, { 'one.txt': 'changed\n' });
  commitAll(repo);
  writeFiles(repo, { 'one.txt': 'changed again\n', 'two.txt': 'changed\n' });
  lastCommit = commitAll(repo);
  browsed = `/browse/local/${path.basename(repo)}`;
  const flags = ['--config', configWith({ maxSourceBytes: SOURCE_MAX })];
  return (await serveIndexed(temporaryFolder(), [repo], { env: ENV, flags })).url;
});
/** What the browser itself notes of an answer. */
const allowed = /status of|ERR_FAILED/;
const test = pageTests(start, { as: OWNER, allowed });
const guestTest = pageTests(start, { allowed });

async function says(page: Page, text: string | RegExp): Promise<void> {
  await page.getByText(text).waitFor();
}

/** For one of each kind: bars, notices and alerts are the same components on all pages. */
async function saysTidily(page: Page, text: string | RegExp): Promise<void> {
  await says(page, text);
  assert.deepEqual(await findingsOf(page), []);
}

const json = (status: number, body: object) => ({
  status,
  contentType: 'application/json',
  body: JSON.stringify(body),
});

/** What a browser gets in place of an answer: nothing, or what a proxy says. */
const NO_ANSWERS = {
  'without an answer': (route: Route) => route.abort(),
  'behind a proxy': (route: Route) =>
    route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>Bad Gateway</h1>' }),
  'behind a gateway': (route: Route) =>
    route.fulfill(json(503, { message: 'no healthy upstream' })),
};

for (const [how, answerInstead] of Object.entries(NO_ANSWERS))
  test(`a daemon that is down, starts, and is back: ${how}`, async ({ page }) => {
    await page.goto('/');
    await page.getByText('1 repository').waitFor();
    await page.route('**/api/**', answerInstead);
    await page.getByRole('link', { name: 'Repositories' }).click();
    const bar = page.locator('.bar');
    await bar.getByText('Trawl cannot be reached.').waitFor();
    // The second try comes behind the answer to the first.
    for (let tries = 0; tries < 2; tries++) await page.waitForRequest('**/api/ready');
    await bar.getByText('Trawl cannot be reached.').waitFor();
    await page.route('**/api/ready', (route) =>
      route.fulfill(json(503, { statusCode: 503, errorCode: 'NOT_READY', message: 'Loading.' })),
    );
    await bar.getByRole('button', { name: 'Try now' }).click();
    await bar.getByText('Trawl is starting.').waitFor();
    assert.deepEqual(await findingsOf(page), []);
    // Held until the button is pressed: the next try by itself would take it away.
    let letAnswer = (): void => {};
    const isPressed = new Promise<void>((resolve) => (letAnswer = resolve));
    await page.route('**/api/ready', async (route) => {
      await isPressed;
      await route.continue();
    });
    await page.unroute('**/api/**');
    await bar.getByRole('button', { name: 'Try now' }).click();
    letAnswer();
    await bar.getByText('Trawl is back.').waitFor();
    await page.getByRole('row', { name: /Ready/ }).waitFor();
    await bar.waitFor({ state: 'detached' });
  });

test('running jobs, and jobs with warnings', async ({ page }) => {
  const answer = (body: object) => ({
    contentType: 'application/json',
    body: JSON.stringify(body),
  });
  await page.route('**/api/repository-sync-counts', (route) =>
    route.fulfill(answer({ firstTimeIndexingCount: 2, failedCount: 3, warningCount: 1 })),
  );
  await page.route('**/api/connection-sync-counts', (route) =>
    route.fulfill(answer({ firstTimeSyncingCount: 1, failedCount: 2, warningCount: 1 })),
  );
  await page.goto('/repos');
  await page.getByText('3 repositories failed.').waitFor();
  await page.getByText('Indexing 2 repositories for the first time.').waitFor();
  await saysTidily(page, 'The last jobs of 1 repository reported warnings.');
  await goTo(page, '/');
  await says(
    page,
    /^Indexing 2 of 1 repository for the first time\. You can search what is ready\.$/,
  );
  await goTo(page, '/settings/connections');
  await page.getByText('2 connections failed.').waitFor();
  await page.getByText('1 connection synced only in part').waitFor();
  await says(page, 'Syncing 1 connection for the first time.');
});

test('comparing a commit, and one of its files', async ({ page, complaints }) => {
  const commit = `${browsed}/-/commit/${lastCommit}`;
  await page.goto(`${commit}?base=${firstCommit}&path=one.txt`);
  await page.getByText(`Compared with ${firstCommit}, not with the parent commit.`).waitFor();
  await saysTidily(page, 'Only one.txt.');
  await page.getByText('1 file', { exact: false }).first().waitFor();
  await page.getByRole('button', { name: 'Show all files' }).click();
  await page.waitForURL(`**${commit}?base=${firstCommit}`);
  await page.getByRole('button', { name: 'Compare with the parent' }).click();
  await page.waitForURL(`**${commit}`);
  await page.getByText('Compared with').waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
  await goTo(page, `${browsed}/-/commit/nosuchcommit`);
  await page
    .getByRole('alert')
    .getByText(/nosuchcommit/)
    .waitFor();
});

test('a page past the end of a list leads back', async ({ page }) => {
  await page.goto('/repos?page=7');
  await says(page, 'There is nothing on this page.');
  await says(page, 'Page 7 of 1');
  await page.getByRole('button', { name: 'Previous' }).click();
  await page.waitForURL(/\/repos$/);
  await page.getByRole('button', { name: /^About / }).waitFor();
});

test('a sign-out that fails says why', async ({ page }) => {
  await page.route('**/api/auth/logout', (route) => route.abort());
  await page.goto('/settings/general');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByRole('alert').getByText('Trawl cannot be reached.').waitFor();
});

test('unknown addresses', async ({ page }) => {
  await page.goto(`${browsed}/-/nothing/x`);
  await says(page, 'This address does not name a file or folder.');
  await goTo(page, `${browsed}/-/tree/nowhere`);
  await says(page, /Folder nowhere does not exist or is empty in .* at this revision\./);
  await goTo(page, `${browsed}/-/blob/large.txt`);
  await saysTidily(page, /Too large to show \(2\.0 KB\)\./);
  await goTo(page, '/settings/nothing');
  await says(page, 'These settings do not exist.');
});

guestTest('pages a guest cannot open', async ({ page }) => {
  await page.goto('/settings/general');
  await says(page, 'You are not signed in.');
  await goTo(page, '/settings/apiKeys');
  await says(page, 'Sign in to see this page.');
  await page.getByRole('link', { name: 'Sign in' }).last().click();
  await page.waitForURL(/\/login\?return=/);
  await signInByPage(page, OWNER, 'another one');
  await saysTidily(page, 'The e-mail address or the password is wrong.');
  await signInByPage(page, OWNER);
  await page.waitForURL(/\/settings\/apiKeys$/);
});

guestTest('a sign-in returns to the address with its parameters', async ({ page }) => {
  const linkIn = (place: string) => page.locator(place).getByRole('link', { name: 'Sign in' });
  await page.goto('/settings/health?state=FAILED');
  await linkIn('.settings-body').click();
  await signInByPage(page, OWNER);
  await page.waitForURL(/\/settings\/health\?state=FAILED$/);
  await page.context().clearCookies();
  await page.goto(`${browsed}/-/blob/one.txt`);
  await page.locator('.cm-content').waitFor();
  await goTo(page, `${browsed}/-/blob/one.txt?highlightRange=1`);
  await linkIn('header').click();
  await signInByPage(page, OWNER);
  await page.waitForURL(/\/one\.txt\?highlightRange=1$/);
  await page.context().clearCookies();
  await page.goto(`${browsed}/-/blob/one.txt`);
  await linkIn('header').waitFor();
  await page.evaluate("location.hash = '#heading'");
  await linkIn('header').click();
  await signInByPage(page, OWNER);
  await page.waitForURL(/\/one\.txt#heading$/);
});

test('a failing page says so, and the rest works', async ({ page, allow }) => {
  allow(/^TypeError: Cannot /);
  await page.route('**/api/repos?*', (route) =>
    route.fulfill({ contentType: 'application/json', body: '[null]' }),
  );
  await page.goto('/repos');
  await saysTidily(page, 'This page failed.');
  await page.getByRole('link', { name: 'Trawl', exact: true }).click();
  await page.getByText('This page failed.').waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByText('This page failed.').waitFor();
  await page.unroute('**/api/repos?*');
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('row', { name: /Ready/ }).waitFor();
});

let failing = '';
const failingTest = pageTests(
  async () => {
    const repo = makeRepo({ 'one.txt': 'one\n' });
    failing = `local/${path.basename(repo)}`;
    const flags = ['--config', configWith({ repoIndexTimeoutMs: 1 })];
    const served = await serve(temporaryFolder(), [repo], { env: ENV, flags });
    await jobsEnded(served, 1);
    return served.url;
  },
  { allowed },
);

failingTest(
  'a repository that was never indexed: the reason, and its files can be read',
  async ({ page }) => {
    await page.goto(`/browse/${failing}/-/blob/one.txt`);
    await page.locator('.cm-content').getByText('one').waitFor();
    await saysTidily(page, 'This repository is not indexed yet. Searches find nothing in it.');
    await signIn(page, OWNER);
    await page.goto(`/repos?open=${encodeURIComponent(failing)}`);
    const about = page.getByRole('region', { name: `About ${failing}` });
    await about.getByText('Trawl retries automatically, with growing delays.').waitFor();
  },
);

test('features that need a licence say so, until a valid key is set', async ({ page, allow }) => {
  allow(/400/);
  await page.goto('/settings/members');
  await saysTidily(page, 'This page needs a licence that includes org-management.');
  await goTo(page, '/settings/audit');
  await says(page, 'This page needs a licence that includes audit.');
  await page.getByRole('link', { name: 'Licence' }).last().click();
  const facts = page.locator('.facts');
  await facts.getByText('only the free features').waitFor();
  const set = async (key: string) => {
    await page.getByLabel('Licence key').fill(key);
    await page.getByRole('button', { name: 'Save key' }).click();
  };
  const { TRAWL_LICENSE_KEY: key = '' } = licenceEnvironment();
  await set(`${key}x`);
  await page.locator('.notice-danger').waitFor();
  await set(key);
  await facts.getByText('Acme').waitFor();
  assert.match(await facts.innerText(), /Seats\n1 used\n/);
  await page.getByText('The licence expires soon').waitFor();
  await page.getByRole('link', { name: 'Members' }).click();
  await page.getByRole('row', { name: new RegExp(OWNER) }).waitFor();
  await page.getByRole('link', { name: 'Audit log' }).click();
  await page.getByText('license.changed').first().waitFor();
});
