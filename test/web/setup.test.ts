// The first account: the link of the start leads to the page, the page to an owner, the owner to keys; signing out and in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveIndexed } from '../e2e/daemon.ts';
import { commitAll, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { NO_BROWSER, findingsOf, visit } from './browser.ts';

const PERSON = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };

void test('set up, make a key, sign out, sign in', { skip: NO_BROWSER }, async () => {
  const repo = makeRepo({ 'a.txt': 'plumtree\n' });
  commitAll(repo);
  const served = await serveIndexed(temporaryFolder(), [repo]);
  const { page, complaints } = await visit({ url: served.url });
  const [, path = ''] = (await served.process.until(/(\/setup\?token=\S+)/)) ?? [];
  await page.goto(path);
  // The token is in no history.
  await page.waitForURL(/\/setup$/);
  await page.getByLabel('Name').fill(PERSON.name);
  await page.getByLabel('E-mail').fill(PERSON.email);
  await page.getByLabel('Password', { exact: true }).fill(PERSON.password);
  await page.getByRole('button', { name: 'Make account and search' }).click();
  await page.getByRole('link', { name: `Settings of ${PERSON.email}` }).waitFor();

  await page.goto('/settings/apiKeys');
  await page.getByLabel('Name of a new key').fill('ci');
  await page.getByRole('button', { name: 'Make key' }).click();
  const value = await page.locator('.secret code').innerText();
  assert.match(value, /^svk_[0-9a-f]{64}$/);
  const answer = await fetch(`${served.url}/api/repos`, {
    headers: { Authorization: `Bearer ${value}` },
  });
  assert.equal(answer.status, 200);
  await page.reload();
  await page.getByRole('cell', { name: 'ci' }).waitFor();
  assert.equal((await page.content()).includes(value), false);

  for (const section of [
    'general',
    'apiKeys',
    'tokens',
    'usage',
    'security',
    'connections',
    'license',
    'audit',
    'health',
  ]) {
    await page.goto(`/settings/${section}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.waitForLoadState('networkidle');
    assert.deepEqual(await findingsOf(page), [], section);
  }

  await page.goto(path);
  await page.getByText('This link was used or is too old.').waitFor();
  await page.goto('/settings/general');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.waitForURL(`${served.url}/`);
  await page.goto('/login?return=/repos');
  await page.getByLabel('E-mail').fill(PERSON.email);
  await page.getByLabel('Password', { exact: true }).fill('wrong password');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The e-mail address or the password is wrong.').waitFor();
  await page.getByLabel('Password', { exact: true }).fill(PERSON.password);
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.waitForURL(`${served.url}/repos`);
  // What was refused on purpose is noted by the browser: one wrong password, a used link, what needs a licence.
  assert.deepEqual(
    complaints.filter((text) => !/40[134]/.test(text)),
    [],
  );
});
