// What happens to an open page meanwhile: it is loaded again in the midst of a stream, left and come back to, opened twice, its
// session ends, the daemon goes and comes back, or is restarted as another build. And the keys and dialogs around every page.

import assert from 'node:assert/strict';
import {
  cpSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { brotliDecompressSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { MAIN, serve, serveIndexed, type Served } from '../../e2e/daemon.ts';
import { makeRepo, temporaryFolder } from '../../sources/git/fixture.ts';
import { once } from '../../base/once.ts';
import { findingsOf, pageTests, until, visit } from '../browser.ts';
import { OWNER, OWNER_ENV, PASSWORD, signIn } from '../people.ts';
import { openSlowProxy, type SlowProxy } from '../slow-stream.ts';

const ALL = /^3,600 matches in 60 files of 1 repository · that is all$/;

let dataDir = '';
let repo = '';
let served: Served;
let proxy: SlowProxy;
const started = once(async () => {
  // Enough text for several events of a stream, which has one for each 256 KiB.
  const tall = (number: number) => `plumtree ${number} ${'x'.repeat(200)}\n`.repeat(60);
  const names = Array.from({ length: 60 }, (_, number) => [`many/${number}.txt`, tall(number)]);
  repo = makeRepo({ ...Object.fromEntries(names), 'one.txt': 'quince\n' });
  dataDir = temporaryFolder();
  served = await serveIndexed(dataDir, [repo], { env: OWNER_ENV });
  proxy = await openSlowProxy(served.url);
});
const test = pageTests(async () => (await started(), served.url), { as: OWNER });
const slowTest = pageTests(async () => (await started(), proxy.url), { as: OWNER });

function summaryOf(page: Page) {
  return page.locator('#search-summary [role=status]');
}

const STREAM = '/search?query=plumtree&matches=20000';

/** A search of which something has come, and not all. */
async function openHalf(page: Page): Promise<void> {
  proxy.letPass(1);
  await page.goto(STREAM);
  await page.getByRole('article').first().waitFor();
  await page.getByText('matches so far').first().waitFor();
}

/** The daemon hears that nobody reads a stream any more. */
async function untilAbandoned(page: Page, count: number): Promise<void> {
  while (proxy.abandoned.count < count) await page.waitForTimeout(20);
}

slowTest('a reload ends a stream, and begins it again', async ({ page }) => {
  await openHalf(page);
  const abandoned = proxy.abandoned.count;
  await page.reload();
  await untilAbandoned(page, abandoned + 1);
  proxy.letPass(Infinity);
  await summaryOf(page).getByText(ALL).waitFor();
});

slowTest(
  'back and forward during a stream: each address shows its own search',
  async ({ page }) => {
    await openHalf(page);
    const abandoned = proxy.abandoned.count;
    const box = page.getByRole('combobox', { name: 'Query' });
    await box.fill('quince');
    await page.keyboard.press('Enter');
    await untilAbandoned(page, abandoned + 1);
    // Nothing of the new search has come when one goes back.
    await page.goBack();
    await untilAbandoned(page, abandoned + 2);
    // What was asked for while one typed may be one of those that were left.
    await until(page, `document.querySelector('.box-input').value === 'plumtree'`);
    await page.goForward();
    await untilAbandoned(page, abandoned + 3);
    proxy.letPass(Infinity);
    await summaryOf(page).getByText('1 match in 1 file of 1 repository · that is all').waitFor();
    assert.deepEqual(await page.locator('article').evaluateAll((all) => all.length), 1);
    await page.goBack();
    await summaryOf(page).getByText(ALL).waitFor();
    await until(page, `document.querySelector('.box-input').value === 'plumtree'`);
  },
);

test('two tabs share settings and recent queries', async ({ page, context }) => {
  await page.goto('/settings/general');
  await page.getByLabel('Context lines around a match').waitFor();
  const other = await context.newPage();
  await other.goto('/settings/general');
  await other.getByLabel('Context lines around a match').selectOption('10');
  await until(page, `document.querySelector('select').value === '10'`);
  // What this one remembers now does not undo what the other has changed.
  await page.getByLabel('Tab width').selectOption('8');
  await other.reload();
  await other.getByLabel('Context lines around a match').waitFor();
  assert.equal(await other.getByLabel('Context lines around a match').inputValue(), '10');
  assert.equal(await other.getByLabel('Tab width').inputValue(), '8');
});

test('a session that ends while the page is open', async ({ page, context, allow }) => {
  allow(/status of (?:401|500)/);
  await page.goto('/settings/apiKeys');
  await page.getByLabel('Name of the new key').fill('ci');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session ended.' });
  await dialog.waitFor();
  await until(page, `document.activeElement.type === 'password'`);
  await page.keyboard.type(PASSWORD);
  assert.deepEqual(await findingsOf(page), []);
  // Signed in, but the account cannot be read.
  const failure = { statusCode: 500, errorCode: 'UNEXPECTED_ERROR', message: 'Refused here.' };
  await page.route('**/api/user', (route) => route.fulfill({ status: 500, json: failure }));
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await dialog.getByRole('alert').getByText('Refused here.').waitFor();
  await page.unroute('**/api/user');
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.secret code').waitFor();
});

test('a session that ends, and a sign-in in another tab', async ({ page, context, allow }) => {
  allow(/status of 401/);
  await page.goto('/settings/apiKeys');
  await page.getByLabel('Name of the new key').fill('other');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session ended.' });
  await dialog.waitFor();
  await signIn(page, OWNER);
  // Back in this tab.
  await page.evaluate(`window.dispatchEvent(new Event('visibilitychange'))`);
  await page.locator('.secret code').waitFor();
  await dialog.waitFor({ state: 'detached' });
});

test('keys, dialogs of keys and syntax, and navigation to any page', async ({ page }) => {
  await page.goto('/search?query=quince');
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

/** A copy of what runs, as another version would be: other names of files, another number. */
function otherBuild(): string {
  const build = path.dirname(path.dirname(path.dirname(MAIN)));
  const folder = temporaryFolder();
  const root = path.dirname(build);
  for (const name of readdirSync(build))
    if (name !== 'bundle' && name !== 'web') {
      mkdirSync(path.join(folder, 'build'), { recursive: true });
      symlinkSync(path.join(build, name), path.join(folder, 'build', name));
    }
  for (const name of ['bundle', 'web'])
    cpSync(path.join(build, name), path.join(folder, 'build', name), { recursive: true });
  symlinkSync(path.join(root, 'node_modules'), path.join(folder, 'node_modules'));
  const manifest = readFileSync(path.join(root, 'package.json'), 'utf8');
  const newer = manifest.replace(/"version": "[^"]*"/, '"version": "77.0.0"');
  writeFileSync(path.join(folder, 'package.json'), newer);
  renameParts(path.join(folder, 'build', 'web'));
  return path.join(folder, 'build', 'bundle', 'cli', 'main.js');
}

/** What the page consists of gets other names. */
function renameParts(web: string): void {
  // None keeps its name: what a browser has under it is not asked for again.
  const otherName = (_: string, first: string, rest: string) =>
    `-${first === '_' ? '0' : '_'}${rest}`;
  const renamed = (text: string) => text.replaceAll(/-([\w-])([\w-]{7}\.js)/g, otherName);
  const assets = path.join(web, 'assets');
  for (const name of readdirSync(assets).filter((one) => one.endsWith('.js.br'))) {
    const file = path.join(assets, name);
    const text = brotliDecompressSync(readFileSync(file)).toString();
    rmSync(file);
    const plain = renamed(name.slice(0, -'.br'.length));
    writeFileSync(path.join(assets, plain), renamed(text));
  }
  const manifest = path.join(web, '.vite', 'manifest.json');
  writeFileSync(manifest, renamed(readFileSync(manifest, 'utf8')));
}

test('a daemon restarted as another build: the page says so, and works after a reload', async () => {
  // A browser that has no part of the page yet.
  const { page } = await visit({ url: served.url });
  await signIn(page, OWNER);
  await page.goto('/search?query=quince');
  await page.getByText('that is all').waitFor();
  const { port } = new URL(served.url);
  await served.process.stop('SIGKILL');
  const options = { env: OWNER_ENV, flags: ['--port', port], main: otherBuild() };
  served = await serve(dataDir, [repo], options);
  // A page that it has not: of the new build, under another name.
  await page.getByRole('link', { name: `Settings of ${OWNER}` }).click();
  await page.getByText('This page needs the new version. Reload to see it.').waitFor();
  await page.getByText('Trawl was updated.').waitFor();
  // What it has goes on.
  await page.goBack();
  await page.getByText('that is all').waitFor();
  await page.goForward();
  await page.getByRole('button', { name: 'Reload' }).click();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  assert.equal(await page.getByText('Trawl was updated.').count(), 0);
});
