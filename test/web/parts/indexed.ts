// What searches do not find in a file, or find in another text than the one that is shown, is said where one looks at it: in
// results, in the preview, in the file, in what is known of its repository.

import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { serveIndexed } from '../../e2e/daemon.ts';
import { makeRepo, temporaryFolder, writeFiles } from '../../sources/git/fixture.ts';
import { findingsOf, goTo, hasCount, pageTests } from '../browser.ts';

const ENV = { TRAWL_ANONYMOUS_ACCESS: 'true' };
const LINES = Array.from(
  { length: 40 },
  (_, index) => `${index % 10 === 0 ? 'plum' : 'pear'} ${index}`,
);
const TEXT = `${LINES.join('\n')}\n`;
const GRAMS_MAX = 2000;

let repo = '';
let name = '';
const test = pageTests(async () => {
  repo = makeRepo({
    '.gitignore': '*.log\n',
    'large.ts': 'export const large = 1;\n'.repeat(200_000),
    'grams.txt': Array.from({ length: GRAMS_MAX }, (_, index) => (index * 7919).toString(36)).join(
      '\n',
    ),
    'binary.dat': 'a\0b',
    'order.ts': 'const a = 1; // \u202e order\n',
    'empty.txt': '',
    'moved.ts': TEXT,
    'blamed.ts': TEXT,
    'gone.ts': 'export const gone = 1;\n',
    'Twin.txt': 'a quince\n',
    'twin.txt': 'quince, and\nquince\0',
    'TWIN.txt': 'two lines\nof a quince\n',
  });
  writeFileSync(path.join(repo, 'latin.txt'), Buffer.from('caf\xe9\n', 'latin1'));
  writeFiles(repo, { 'left.log': 'left out\n' });
  name = `local/${path.basename(repo)}`;
  const config = path.join(temporaryFolder(), 'trawl.json');
  writeFileSync(config, JSON.stringify({ settings: { maxTrigramCount: GRAMS_MAX } }));
  const options = { env: ENV, flags: ['--config', config] };
  return (await serveIndexed(temporaryFolder(), [repo], options)).url;
});

function fileAt(file: string, parameters = ''): string {
  return `/browse/${name}/-/blob/${file}${parameters}`;
}

test('a file whose name differs only by case is another one', async ({ page }) => {
  await page.goto(fileAt('Twin.txt', '?query=quince'));
  await page.locator('.code-view mark').first().waitFor();
  await page.waitForLoadState('networkidle');
  await hasCount(page.locator('.code-view mark'), 1);
  await hasCount(page.locator('.notice'), 0);
  await goTo(page, fileAt('twin.txt'));
  await page.getByText('found by name only').waitFor();
});

/** What searches find stays what it is now, as it does where an index is behind. */
async function keepAnswer(page: Page): Promise<void> {
  const kept = new Map<string, string>();
  await page.route('**/api/search', async (route) => {
    const body = route.request().postData() ?? '';
    const before = kept.get(body);
    if (before !== undefined) {
      await route.fulfill({ contentType: 'application/json', body: before });
      return;
    }
    const answer = await route.fetch();
    kept.set(body, await answer.text());
    await route.fulfill({ response: answer });
  });
}

test('a file that is not searched says so, and why', async ({ page }) => {
  await page.goto('/');
  for (const [file, why] of [
    ['large.ts', 'Not searched: larger than the limit.'],
    ['grams.txt', 'Not searched: too many distinct trigrams.'],
  ] as const) {
    await goTo(page, fileAt(file));
    await page.getByText(why).waitFor();
    await page.locator('.cm-content').waitFor();
  }
  assert.deepEqual(await findingsOf(page), []);
  await goTo(page, fileAt('binary.dat'));
  await page.getByText('3 bytes · binary · found by name only').waitFor();
  await goTo(page, fileAt('blamed.ts'));
  await page.locator('.cm-content').waitFor();
  await hasCount(page.locator('.notice'), 0);
});

test('its folder marks it, and files searched despite the rules', async ({ page }) => {
  await page.goto(`/browse/${name}/-/tree/`);
  const rows = page.locator('.folder-row');
  for (const [file, why] of [
    ['binary.dat', 'binary'],
    ['grams.txt', 'too many distinct trigrams'],
    ['large.ts', 'larger than the limit'],
    ['twin.txt', 'binary'],
  ] as const) {
    const row = rows.filter({ has: page.getByText(file, { exact: true }) });
    await row.getByTitle(`Not searched: ${why}.`).waitFor();
  }
  await hasCount(page.locator('.folder-mark'), 4);
  assert.deepEqual(await findingsOf(page), []);
});

test('a search without results reports what was not searched', async ({ page, complaints }) => {
  await page.goto('/search?query=nosuchword');
  await page.getByText(/^No matches in 13 files$/).waitFor();
  await page.getByText(`1 file is not searched: too large; in ${name}.`).waitFor();
  await page.getByRole('link', { name: 'Show' }).click();
  await page.getByRole('row', { name: /^large\.ts/ }).waitFor();
  assert.deepEqual(complaints, []);
  // Of a repository that is not searched nothing is said.
  await goTo(page, `/search?query=nosuchword+-repo:${encodeURIComponent(name)}`);
  await page.getByText('No matches in 0 files · that is all').waitFor();
  // A hint that needs a switch of the query box names it, and the link of any hint turns it on.
  await goTo(page, `/search?query=${encodeURIComponent('/plu[m]/ && file:.')}`);
  await page.getByText('and set the switch “Regular expressions”.').waitFor();
  const hint = page.getByRole('listitem').filter({ hasText: 'All words' });
  await hint.getByRole('link', { name: 'plu[m] file:.' }).click();
  await page.waitForURL(/isRegexEnabled=true/);
  await page.getByRole('article').first().waitFor();
});

test('its search result and preview say so too', async ({ page }) => {
  await page.goto(
    `/search?query=file:binary&preview=${encodeURIComponent(`${name}@HEAD:binary.dat`)}`,
  );
  await page.getByRole('article').getByText('Not searched: binary.').waitFor();
  const preview = page.getByRole('complementary', { name: 'Preview' });
  await preview.getByText('Not searched: binary.').waitFor();
  assert.equal(await preview.locator('.cm-content').count(), 0);
});

test('a repository shows what is searched, and what is excluded', async ({ page }) => {
  await page.goto(`/repos?open=${encodeURIComponent(name)}`);
  const about = page.getByRole('region', { name: `About ${name}` });
  await about.getByText('from the files on disk').waitFor();
  await about.getByText('.gitignore: *.log: 1').waitFor();
  await about.getByRole('link', { name: 'grams.txt' }).waitFor();
  assert.equal(await about.getByText('Last checked at host').count(), 0);
});

test('invalid bytes, order, and lines beyond the end', async ({ page }) => {
  await page.goto(fileAt('latin.txt'));
  await page.getByText('may stand for bytes that are not UTF-8').waitFor();
  await goTo(page, fileAt('order.ts', '?highlightRange=99'));
  await page.getByText('The address names line 99, but the file has 1 line.').waitFor();
  assert.deepEqual(await findingsOf(page), []);
  await goTo(page, fileAt('empty.txt'));
  await page.locator('.bar-fact', { hasText: 'empty' }).waitFor();
});

test('a file that changed after the search: old and new content are not mixed', async ({
  page,
}) => {
  const changed = 'The file changed since it was indexed';
  await keepAnswer(page);
  await page.goto(fileAt('moved.ts', '?query=plum'));
  await page.getByText('4 matches').waitFor();
  await hasCount(page.locator('.cm-content mark'), 4);
  await hasCount(page.getByText(changed), 0);
  await goTo(page, '/search?query=plum+file:moved');
  await page.getByText('that is all').waitFor();
  writeFiles(repo, { 'moved.ts': `inserted\n${TEXT}` });
  await page.keyboard.press('v');
  const preview = page.getByRole('complementary', { name: 'Preview' });
  await preview.getByText(changed).waitFor();
  await preview.locator('.cm-content').getByText('inserted').waitFor();
  assert.equal(await preview.locator('.cm-content mark').count(), 0);
  assert.equal(await preview.getByRole('button', { name: 'Next match' }).count(), 0);
  await page.goto(fileAt('moved.ts', '?query=plum'));
  await page.getByText(changed).waitFor();
  assert.equal(await page.locator('.cm-content mark').count(), 0);
  assert.equal(await page.getByText('4 matches').count(), 0);
  assert.deepEqual(await findingsOf(page), []);
});

test('a removed file, and a new one', async ({ page, allow }) => {
  allow(/404/);
  await keepAnswer(page);
  for (const file of ['gone.ts', 'came.ts']) {
    const answer = page.waitForResponse(/\/api\/search$/);
    await page.goto(fileAt(file));
    await answer;
  }
  rmSync(path.join(repo, 'gone.ts'));
  writeFiles(repo, { 'came.ts': 'export const came = 1;\n' });
  await page.goto(fileAt('gone.ts'));
  await page.getByText('It was moved or removed since it was indexed').waitFor();
  await page.goto(fileAt('came.ts'));
  await page.getByText('Searches do not find this file').waitFor();
  await page.getByRole('button', { name: 'Blame' }).click();
  await page.getByText('This file is not committed.').waitFor();
});

test('blame of a file on disk that differs from its commit', async ({ page }) => {
  await page.goto(fileAt('blamed.ts', '?blame=1'));
  await page.locator('.blame-mark').first().waitFor();
  writeFiles(repo, { 'blamed.ts': `inserted\n${TEXT}` });
  await page.reload();
  await page.getByText('The file on disk differs from the committed one').waitFor();
  assert.equal(await page.locator('.blame-mark').count(), 0);
  assert.deepEqual(await findingsOf(page), []);
  await page.getByRole('button', { name: 'Show the committed file' }).click();
  await page.waitForURL(/@[0-9a-f]{40}\/-\/blob\/blamed\.ts\?blame=1$/);
  await page.locator('.blame-mark').first().waitFor();
  assert.equal(await page.locator('.cm-content').getByText('inserted').count(), 0);
});
