// Details of the page in a real browser: contexts, a selection as a link, the tree's filter and width, colours of a document.

import assert from 'node:assert/strict';
import { findingsOf, hasCount, shows } from '../browser.ts';
import { browsed, search, test, url } from './searched.ts';

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

test('the tree is filtered by all paths, and keeps its width', async ({ page }) => {
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

test('a context is chosen beside the query, and added to it', async ({ page }) => {
  await search(page, 'query=medlar');
  const choice = page.getByRole('combobox', { name: 'Search context' });
  await choice.selectOption('ours');
  await page.waitForURL(/query=context%3Aours\+medlar$/);
  await page.getByText('that is all').waitFor();
  await hasCount(page.getByRole('article'), 6);
  assert.equal(await choice.inputValue(), 'ours');
  assert.deepEqual(await findingsOf(page), []);
  await choice.selectOption('All repositories');
  await page.waitForURL(/query=medlar$/);
});

test('an empty query shows a next step', async ({ page }) => {
  await page.goto('/search');
  await page.getByText('No query yet.').waitFor();
  await page.getByRole('link', { name: 'start with an example' }).click();
  await page.waitForURL(`${url}/`);
});
