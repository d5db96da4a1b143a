// Details of the page in a real browser: kinds of files, contexts, a selection as a link, the tree's filter and width, marks in
// the preview, and a new key that is not left behind unseen.

import assert from 'node:assert/strict';
import { findingsOf, hasCount, pageTests, shows } from '../browser.ts';
import { search, searched } from './searched.ts';

let url = '';
let browsed = '';
const test = pageTests(async () => {
  ({ url, browsed } = await searched());
  return url;
});

test('what was all stays all until another answer is there', async ({ page }) => {
  await search(page, 'query=medlar');
  let letAnswer = (): void => {};
  const mayAnswer = new Promise<void>((resolve) => (letAnswer = resolve));
  await page.route('**/api/stream_search', async (route) => {
    await mayAnswer;
    await route.continue();
  });
  const lookupText = page.waitForRequest('**/api/stream_search');
  await page.getByRole('combobox', { name: 'Query' }).fill('medlar lang:md');
  await page.keyboard.press('Enter');
  await lookupText;
  const kinds = page.getByRole('group', { name: /^Kind of file/ });
  await hasCount(kinds.getByRole('checkbox', { name: /^code, 2 matches$/ }), 1);
  const { length } = await page.getByRole('article').all();
  await hasCount(page.locator(`article[aria-setsize="${length}"]`), length);
  letAnswer();
  await hasCount(kinds.getByRole('checkbox', { name: /^code/ }), 0);
  await hasCount(kinds.getByRole('checkbox', { name: /^docs, \d+ match(?:es)?$/ }), 1);
});

test('results are narrowed by the kind of file', async ({ page }) => {
  await search(page, 'query=medlar');
  const kinds = page.getByRole('group', { name: /^Kind of file/ });
  // Filters are counted behind the results, and a moment later known to be all.
  await kinds.getByRole('checkbox', { name: 'code, 2 matches', exact: true }).waitFor();
  assert.deepEqual(
    (
      await kinds
        .getByRole('checkbox')
        .evaluateAll((boxes) => boxes.map((box) => box.getAttribute('aria-label') ?? ''))
    ).toSorted((a, b) => (a < b ? -1 : 1)),
    [
      'code, 2 matches',
      'docs, 2 matches',
      'generated, 1 match',
      'test, 1 match',
      'vendored, 1 match',
    ],
  );
  await kinds.getByRole('checkbox', { name: /^vendored/ }).check();
  await hasCount(page.getByRole('article'), 1);
  assert.match(page.url(), /kind=vendored/);
  // No query says what a kind is.
  await hasCount(page.getByRole('button', { name: 'Add to query' }), 0);
  assert.deepEqual(await findingsOf(page), []);
});

test('the preview marks the matches, and the one that one is at', async ({ page }) => {
  await search(page, 'query=smile');
  await page.keyboard.press('v');
  const marks = page.locator('.preview mark');
  await hasCount(marks, 2);
  assert.deepEqual(await marks.allInnerTexts(), ['smile', 'smile']);
  await hasCount(page.locator('.preview mark.match-current'), 1);
});

test('selected text is a link with columns', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto(`${browsed}/blob/src/tree.ts`);
  await page.locator('.cm-line').first().waitFor();
  await page.locator('.cm-line span', { hasText: /^return$/ }).dblclick();
  const menu = page.getByRole('button', { name: 'Line 1:20-1:26' });
  await menu.click();
  await page.getByRole('menuitem', { name: 'Copy link' }).click();
  await page.getByText('Link copied').waitFor();
  const link = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.match(link, /\/src\/tree\.ts\?highlightRange=1:20-1:26$/);
  await page.goto(link);
  await page.locator('.linked-part').waitFor();
  await shows(page.locator('.linked-part'), 'return');
});

test('the tree is filtered by all paths, and as wide as was chosen', async ({ page }) => {
  await page.goto(`${browsed}/blob/README.md`);
  await page.getByRole('treeitem', { name: 'src', exact: true }).waitFor();
  await page.getByRole('searchbox', { name: 'Filter files' }).fill('LEAF');
  await page.getByRole('treeitem', { name: 'leaf.ts' }).waitFor();
  assert.deepEqual(await page.getByRole('treeitem').allInnerTexts(), ['src', 'deep', 'leaf.ts']);
  await page.getByRole('searchbox', { name: 'Filter files' }).fill('nowhere');
  await page.getByText('No matching files.').waitFor();
  assert.deepEqual(await findingsOf(page), []);
  const border = page.getByRole('separator', { name: 'Width of the tree' });
  await border.press('ArrowRight');
  assert.equal(await border.getAttribute('aria-valuenow'), '276');
  await page.reload();
  const tree = page.getByRole('complementary', { name: 'Files' });
  await tree.waitFor();
  assert.equal((await tree.boundingBox())?.width, 276);
  const box = await border.boundingBox();
  assert.ok(box !== null);
  await page.mouse.move(box.x + 2, box.y + 100);
  await page.mouse.down();
  await page.mouse.move(900, box.y + 100);
  await page.mouse.up();
  assert.equal((await tree.boundingBox())?.width, 480);
});

test('a context is chosen beside the query, and stands in it', async ({ page }) => {
  await search(page, 'query=medlar');
  const choice = page.getByRole('combobox', { name: 'Search context' });
  await choice.selectOption('both');
  await page.waitForURL(/query=context%3Aboth\+medlar$/);
  await choice.selectOption('ours');
  await page.waitForURL(/query=context%3Aours\+medlar$/);
  await page.getByText('that is all').waitFor();
  await hasCount(page.getByRole('article'), 6);
  assert.equal(await choice.inputValue(), 'ours');
  assert.deepEqual(await findingsOf(page), []);
  await choice.selectOption('All repositories');
  await page.waitForURL(/query=medlar$/);
});

test('code blocks of a document have the colours of their language', async ({ page }) => {
  await page.goto(`${browsed}/blob/README.md`);
  const block = page.locator('.markdown pre');
  await block.locator('.code-keyword', { hasText: 'const' }).waitFor();
  assert.equal(await block.innerText(), 'const medlar = 1;\n');
  assert.equal(await block.getAttribute('lang'), null);
});

test('results of no query say so, with a next step', async ({ page }) => {
  await page.goto('/search');
  await page.getByText('No query yet.').waitFor();
  await page.getByRole('link', { name: 'start with an example' }).click();
  await page.waitForURL(`${url}/`);
});
