// What is around every page: keys and dialogs, a daemon that goes and comes back, a session that ends, two tabs.
// tier: ci (browser)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serve, serveIndexed } from '../e2e/daemon.ts';
import { commitAll, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { NO_BROWSER, findingsOf, visit } from './browser.ts';

const PERSON = { name: 'Ada', email: 'ada@example.com', password: 'correct horse battery' };

void test(
  'around the page, by keys and with a daemon that goes',
  { skip: NO_BROWSER },
  async () => {
    const repo = makeRepo({ 'a.txt': 'plumtree\n', 'b.txt': 'quince\n' });
    commitAll(repo);
    const dataDir = temporaryFolder();
    const served = await serveIndexed(dataDir, [repo]);
    const { page, context, complaints } = await visit({ url: served.url });
    const [, path = ''] = (await served.process.until(/(\/setup\?token=\S+)/)) ?? [];
    await page.goto(path);
    await page.getByLabel('Name').fill(PERSON.name);
    await page.getByLabel('E-mail').fill(PERSON.email);
    await page.getByLabel('Password', { exact: true }).fill(PERSON.password);
    await page.getByRole('button', { name: 'Create account' }).click();
    await page.getByRole('link', { name: `Settings of ${PERSON.email}` }).waitFor();

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

    // The theme that one tab chooses is that of the other.
    const other = await context.newPage();
    await other.goto('/settings/general');
    await other.getByRole('radio', { name: 'dark' }).check();
    for (let tries = 0; (await page.locator('html[data-theme="dark"]').count()) === 0; tries++) {
      assert.ok(tries < 500);
      await page.waitForTimeout(20);
    }
    await other.close();

    // A daemon that is away, and its search when it is back.
    const { port } = new URL(served.url);
    await served.process.stop('SIGKILL');
    await page.getByRole('combobox', { name: 'Query' }).fill('quince');
    await page.keyboard.press('Enter');
    await page.getByText('Trawl cannot be reached.').first().waitFor();
    await page.getByRole('article').getByText('plumtree').first().waitFor();
    const again = await serve(dataDir, [repo], { flags: ['--port', port] });
    await page.getByRole('article').getByText('quince').first().waitFor();
    await page.getByText('1 match in 1 file of 1 repository · that is all').waitFor();
    assert.equal(again.url, served.url);

    // A session that ends while the page is open.
    await page.goto('/settings/apiKeys');
    await page.getByLabel('Name of the new key').fill('ci');
    await context.clearCookies();
    await page.getByRole('button', { name: 'Create key' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session ended.' });
    await dialog.getByLabel('Password', { exact: true }).fill(PERSON.password);
    assert.deepEqual(await findingsOf(page), []);
    await dialog.getByRole('button', { name: 'Sign in' }).click();
    await page.locator('.secret code').waitFor();
    // What the browser notes by itself: the daemon that was away, a used link, the call that was refused.
    assert.deepEqual(
      complaints.filter((text) => !/ERR_CONNECTION_REFUSED|40[134]/.test(text)),
      [],
    );
  },
);
