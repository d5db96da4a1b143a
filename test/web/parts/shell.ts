// What is around every page: keys and dialogs, a daemon that goes and comes back, a session that ends.

import assert from 'node:assert/strict';
import { serve, serveIndexed } from '../../e2e/daemon.ts';
import { makeRepo, temporaryFolder } from '../../sources/git/fixture.ts';
import { PASSWORD, findingsOf, once, pageTests } from '../browser.ts';

const OWNER = 'ada@example.com';
const ENV = { TRAWL_OWNER_EMAIL: OWNER, TRAWL_OWNER_PASSWORD: PASSWORD };

const started = once(async () => {
  const repo = makeRepo({ 'a.txt': 'plumtree\n', 'b.txt': 'quince\n' });
  const dataDir = temporaryFolder();
  return { repo, dataDir, served: await serveIndexed(dataDir, [repo], { env: ENV }) };
});
const test = pageTests(async () => (await started()).served.url, { as: OWNER });

test('keys, dialogs of keys and of the syntax, and the way to any page', async ({ page }) => {
  await page.goto('/search?query=plumtree');
  await page.getByText('that is all').waitFor();
  await page.keyboard.press('?');
  await page
    .getByRole('dialog', { name: 'Keyboard shortcuts' })
    .getByText('Next match')
    .first()
    .waitFor();
  assert.deepEqual(await findingsOf(page), []);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+/');
  const syntax = page.getByRole('dialog', { name: 'Query syntax' });
  await syntax.waitFor();
  assert.deepEqual(await findingsOf(page), []);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Query syntax' }).click();
  await syntax.getByRole('button', { name: 'Keyboard shortcuts' }).click();
  await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog', { name: 'Go to' }).waitFor();
  assert.deepEqual(await findingsOf(page), []);
  await page.keyboard.type('health');
  await page.keyboard.press('Enter');
  await page.waitForURL(/settings\/health$/);
  await page.goBack();
  await page.getByText('that is all').waitFor();
});

test('a session that ends while the page is open', async ({ page, context, allow }) => {
  allow(/status of 401/);
  await page.goto('/settings/apiKeys');
  await page.getByLabel('Name of the new key').fill('ci');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session ended.' });
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  assert.deepEqual(await findingsOf(page), []);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.secret code').waitFor();
});

test('a daemon that is away, and its search when it is back', async ({ page, allow }) => {
  allow(/ERR_CONNECTION_REFUSED/);
  const { repo, dataDir, served } = await started();
  await page.goto('/search?query=plumtree');
  await page.getByText('that is all').waitFor();
  const { port } = new URL(served.url);
  await served.process.stop('SIGKILL');
  await page.getByRole('combobox', { name: 'Query' }).fill('quince');
  await page.keyboard.press('Enter');
  await page.getByText('Trawl cannot be reached.').first().waitFor();
  await page.getByRole('article').getByText('plumtree').first().waitFor();
  const again = await serve(dataDir, [repo], { env: ENV, flags: ['--port', port] });
  await page.getByRole('article').getByText('quince').first().waitFor();
  await page.getByText('1 match in 1 file of 1 repository · that is all').waitFor();
  assert.equal(again.url, served.url);
});
