// The first account: the link of the start leads to the page, the page to an owner, the owner to keys; signing out and in.

import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { test } from 'node:test';
import { serveIndexed } from '../../e2e/daemon.ts';
import { licenceEnvironment } from '../../accounts/licences.ts';
import { commitAll, makeRepo, temporaryFolder } from '../../sources/git/fixture.ts';
import { NO_BROWSER, SETTINGS, findingsOf, goTo, hasCount, until, visit } from '../browser.ts';
import { PASSWORD, signInByPage } from '../people.ts';

const PERSON = { name: 'Ada', email: 'ada@example.com', password: PASSWORD };

void test('set up, create a key, sign out, sign in', { skip: NO_BROWSER }, async () => {
  const repo = makeRepo({ 'a.txt': 'plumtree\n', 'the.bin': 'a\0b' });
  commitAll(repo);
  const served = await serveIndexed(temporaryFolder(), [repo], { env: licenceEnvironment() });
  const { page, complaints } = await visit({ url: served.url });
  await page.goto('/login');
  await page.getByText('There is no account yet.').waitFor();
  const [, path = ''] = (await served.process.until(/(\/setup\?token=\S+)/)) ?? [];
  await page.goto(path);
  // The token is in no history.
  await page.waitForURL(/\/setup$/);
  await page.reload();
  await page.getByText('Open the link again.').waitFor();
  await page.goto(path);
  await page.waitForURL(/\/setup$/);
  await page.getByLabel('Name').fill(PERSON.name);
  await page.getByLabel('E-mail').fill(PERSON.email);
  await page.getByLabel('Password', { exact: true }).fill(PERSON.password);
  await page.getByRole('button', { name: 'Create account' }).click();
  await page.getByRole('link', { name: `Settings of ${PERSON.email}` }).waitFor();

  await page.goto('/settings/general');
  await page.getByRole('link', { name: 'API keys' }).click();
  await page.getByLabel('Name of the new key').fill('ci');
  await page.getByRole('button', { name: 'Create key' }).click();
  const value = await page.locator('.secret code').innerText();
  assert.match(value, /^svk_[0-9a-f]{64}$/);
  const answer = await fetch(`${served.url}/api/repos`, {
    headers: { Authorization: `Bearer ${value}` },
  });
  assert.equal(answer.status, 200);
  // Whoever leaves with the key still there is asked, in whatever way.
  const question = page.getByRole('dialog', { name: 'Leave without copying the key?' });
  const actions = [
    () => page.getByRole('link', { name: 'Repositories' }).first().click(),
    () => page.evaluate('history.back()'),
    async () => {
      await page.keyboard.press('Control+k');
      await page.getByRole('option', { name: 'Repositories', exact: true }).click();
    },
    async () => {
      await page.getByRole('combobox', { name: 'Query' }).fill('plumtree');
      await page.keyboard.press('Enter');
    },
  ];
  for (const leave of actions) {
    await leave();
    await question.waitFor();
    await question.getByRole('button', { name: 'Cancel' }).click();
    await question.waitFor({ state: 'detached' });
    assert.match(page.url(), /\/settings\/apiKeys$/);
    assert.equal(await page.locator('.secret code').innerText(), value);
  }
  await page.evaluate('history.back()');
  await question.waitFor();
  assert.deepEqual(await findingsOf(page), []);
  await question.getByRole('button', { name: 'Leave' }).click();
  await page.waitForURL(/\/settings\/general$/);
  await page.goForward();
  await page.getByRole('cell', { name: 'ci' }).waitFor();
  assert.equal((await page.content()).includes(value), false);
  await page.getByLabel('Name of the new key').fill('other');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.locator('.secret').waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.locator('.secret').waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('cell', { name: 'ci' }).waitFor();
  assert.equal((await page.content()).includes(value), false);

  for (const section of SETTINGS) {
    await goTo(page, `/settings/${section}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await hasCount(page.locator('.waiting-line'), 0);
    assert.deepEqual(await findingsOf(page), [], section);
  }

  await goTo(page, '/settings/audit');
  await page.getByRole('button', { name: 'api_key.created' }).first().click();
  await page.waitForURL(/\?action=api_key\.created$/);
  await page.getByLabel('Action or group').fill('nothing');
  await page.getByText('No events in this period.').waitFor();

  await goTo(page, '/settings/health');
  await page.getByText(/^Healthy · \d+ shards?, 1 repository$/).waitFor();
  await page.getByRole('img', { name: /^Memory\. private memory of the daemon: now \d/ }).waitFor();
  // What stands beside the lines is drawn: the axis at the left is not empty.
  await until(
    page,
    `(() => {
      const canvas = document.querySelector('.chart-place canvas');
      const { width, height } = canvas;
      const axis = canvas.getContext('2d').getImageData(0, 0, Math.floor(width / 6), height);
      return axis.data.some((value, index) => index % 4 === 3 && value > 0);
    })()`,
  );
  await page.getByRole('button', { name: 'Show as table' }).first().click();
  await page.getByRole('columnheader', { name: 'p50' }).waitFor();
  await page.getByRole('button', { name: '24 h' }).click();
  await page.waitForURL(/window=86400$/);
  assert.deepEqual(await findingsOf(page), []);

  // A repository of this machine is watched: there is nothing to be synced.
  await goTo(page, '/settings/connections');
  await page.getByRole('row', { name: /^local\/.* this machine Watched/ }).waitFor();
  assert.equal(await page.getByRole('button', { name: /^Sync now/ }).count(), 0);

  await goTo(page, '/repos');
  await page.getByRole('button', { name: /^Index now/ }).click();
  await page.getByRole('button', { name: /^About/ }).click();
  const log = page.getByRole('log');
  await log.getByText('repo indexed').waitFor();
  await page.getByLabel('Filter lines').fill('nothing like it');
  await log.getByText('No matching lines.').waitFor();
  await page.getByText('the.bin').waitFor();
  await page.getByRole('button', { name: 'binary 1' }).click();
  await page.getByRole('button', { name: 'larger than the limit 0' }).click();
  await page.getByText('All files are searched by content.').waitFor();
  assert.deepEqual(await findingsOf(page), []);
  await page.getByLabel('State', { exact: true }).selectOption('failed');
  await page.getByText('No repositories in this state.').waitFor();
  assert.match(page.url(), /\?state=failed&open=/);
  await page.goBack();
  await page.getByRole('row', { name: /Ready/ }).waitFor();
  await goTo(page, '/repos?query=nothinglikeit');
  await page.getByText('No visible repository has “nothinglikeit” in its name.').waitFor();
  assert.equal(await page.getByRole('combobox', { name: 'Query' }).inputValue(), '');
  await goTo(page, '/repos');
  await page.getByRole('row', { name: /Ready/ }).waitFor();

  // What fails says why, and how to go on.
  renameSync(repo, `${repo}-away`);
  // The daemon may have seen it by itself.
  await page.getByRole('button', { name: /^(?:Index now|Try again): / }).click();
  await page.getByText('1 repository failed.').waitFor();
  await page.getByRole('link', { name: 'Show' }).click();
  await page.waitForURL(/\?state=failed$/);
  await page.getByRole('row', { name: /Failed/ }).waitFor();
  await page.getByRole('button', { name: /^About/ }).click();
  await page.getByRole('log').getByText('indexing failed').first().waitFor();
  renameSync(`${repo}-away`, repo);
  await page.getByRole('button', { name: /^(?:Try again|Index now)$/ }).click();
  await page.getByText('1 repository failed.').waitFor({ state: 'detached' });

  await page.goto(path);
  await page.getByText('This link was already used or has expired.').waitFor();
  await page.getByText('An account exists already').getByRole('link').click();
  await page.waitForURL(/\/login$/);
  await page.getByRole('heading', { name: 'Sign in to Trawl' }).waitFor();
  assert.deepEqual(await findingsOf(page), []);
  await goTo(page, '/settings/general');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${served.url}/`);
  // Nothing is asked for that would be refused.
  const before = complaints.length;
  await page.getByText('Sign in to search.').waitFor();
  await page.waitForLoadState('networkidle');
  assert.deepEqual(complaints.slice(before), []);
  await page.goto('/search?query=plumtree');
  await page.locator('#search-summary').getByRole('link', { name: 'Sign in' }).click();
  await page.waitForURL(/\/login\?return=%2Fsearch%3Fquery%3Dplumtree$/);
  await signInByPage(page, PERSON.email);
  await page.getByText('1 match in 1 file of 1 repository · that is all').waitFor();
  // What was refused on purpose is noted by the browser: a used link, what is asked without a session.
  assert.deepEqual(
    complaints.filter((text) => !/40[134]/.test(text)),
    [],
  );
});
