// Keys and what is said of what they do: nothing that is typed is lost, whatever the page does meanwhile, the browser keeps its
// keys, and who cannot see the page hears a count once.

import assert from 'node:assert/strict';
import { findingsOf, hasCount, until } from '../browser.ts';
import { browsed, openStart, queryBox, search, test } from './searched.ts';

test('no key is lost while the page loads, completes, searches and shows results', async ({
  page,
}) => {
  const typed = 'figtree file:fig.txt -file:sought one two three four five six';
  await page.goto('/', { waitUntil: 'commit' });
  await page.locator('.box-input:focus').waitFor();
  for (const key of typed) await page.keyboard.press(key === ' ' ? 'Space' : key);
  assert.equal(await queryBox(page).inputValue(), typed);
  await search(page, 'query=figtree');
  await queryBox(page).focus();
  await page.keyboard.press('End');
  // Previews come and go between these keys.
  for (const key of ' -file:tall.txt row 1') {
    await page.keyboard.press(key === ' ' ? 'Space' : key);
    await page.waitForTimeout(40);
  }
  assert.equal(await queryBox(page).inputValue(), 'figtree -file:tall.txt row 1');
});

test('composed text stays whole, also during completion; nothing is requested before its end', async ({
  page,
  context,
}) => {
  const queries: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/stream_search'))
      queries.push(String(Object(request.postDataJSON()).query));
  });
  const session = await context.newCDPSession(page);
  const compose = (text: string) =>
    session.send('Input.imeSetComposition', {
      text,
      selectionStart: text.length,
      selectionEnd: text.length,
    });
  await page.goto('/search', { waitUntil: 'commit' });
  await queryBox(page).focus();
  for (const text of ['k', 'か', 'かk', 'かき']) {
    await compose(text);
    await page.waitForTimeout(300);
  }
  await session.send('Input.insertText', { text: 'かき' });
  await page.locator('.box-input[aria-haspopup]').waitFor();
  assert.equal(await queryBox(page).inputValue(), 'かき');
  assert.deepEqual(queries, []);
  // Accents of dead keys come as composed text too.
  await session.send('Input.insertText', { text: ' ' });
  await compose('´');
  await compose('é');
  await session.send('Input.insertText', { text: 'é' });
  assert.equal(await queryBox(page).inputValue(), 'かき é');
  await queryBox(page).fill('かき');
  await page.keyboard.press('Enter');
  await page.getByText('1 match in 1 file of 1 repository · that is all').waitFor();
});

test('finding in a file keeps the search of the browser, and its other keys', async ({ page }) => {
  await page.goto(`${browsed}/blob/tall.txt`);
  const content = page.locator('.cm-content');
  await content.click();
  await page.evaluate(
    `addEventListener('keydown', (event) => (self.isTaken = event.defaultPrevented))`,
  );
  const isTaken = async (key: string): Promise<boolean> => {
    await page.keyboard.press(key);
    return await page.evaluate<boolean>('self.isTaken');
  };
  const field = page.getByRole('textbox', { name: 'Find' });
  assert.equal(await isTaken('Control+f'), true);
  await field.waitFor();
  await page.keyboard.type('row 299');
  await page.keyboard.press('Enter');
  await page.locator('.cm-searchMatch-selected').waitFor();
  const outline = `getComputedStyle(document.querySelector('.cm-searchMatch-selected')).outlineStyle`;
  // Told by more than its colour.
  assert.equal(await page.evaluate(outline), 'solid');
  assert.deepEqual(await findingsOf(page), []);
  assert.equal(await isTaken('Control+f'), false);
  await content.focus();
  for (const key of ['Control+f', 'Control+g', 'Control+d', 'F3'])
    assert.equal(await isTaken(key), false, key);
  await page.keyboard.press('Escape');
  await field.waitFor({ state: 'detached' });
});

test('the box is cleared, recent queries are offered, a facet is searched, a result opens in another tab', async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openStart(page);
  // What is asked before the page knows whose it is, is not kept.
  await page.getByText('1 repository').waitFor();
  await queryBox(page).fill('figtree');
  await page.keyboard.press('Enter');
  await page.getByText('that is all').waitFor();
  const folders = page.getByRole('group', { name: /^Folder/ });
  await folders.getByRole('button', { name: 'Show all 11' }).waitFor();
  await folders.getByRole('searchbox', { name: 'Find in Folder' }).fill('SOUGHT');
  await until(page, `document.querySelectorAll('.facet [aria-label^="sought/"]').length === 1`);
  assert.equal(await folders.getByRole('checkbox').count(), 1);
  await folders.getByRole('checkbox', { name: /^sought\// }).check();
  await page.getByText('1 file after filtering').waitFor();
  await hasCount(page.getByRole('article'), 1);
  await page.keyboard.press('j');
  const [tab] = await Promise.all([
    context.waitForEvent('page'),
    page.keyboard.press('Control+Enter'),
  ]);
  await tab.locator('.linked-line').waitFor();
  assert.match(tab.url(), /sought\/fig\.txt\?highlightRange=1&query=figtree$/);
  await tab.close();
  await page.getByRole('button', { name: 'Copy path' }).click();
  await page.getByText('Path copied').waitFor();
  const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
  assert.equal(await copied(), 'sought/fig.txt');
  await page.getByRole('button', { name: 'Plan' }).click();
  await page.locator('.plan-condition').first().waitFor();
  await page.getByRole('button', { name: 'Copy as JSON' }).click();
  await page.getByText('Plan copied').waitFor();
  assert.ok('plan' in Object(JSON.parse(await copied())));
  await page.getByRole('button', { name: 'Clear query' }).click();
  assert.equal(await queryBox(page).inputValue(), '');
  assert.equal(await page.evaluate('document.activeElement?.ariaLabel'), 'Query');
  await page.keyboard.press('Control+Space');
  await page.getByRole('option', { name: 'figtree' }).click();
  assert.equal(await queryBox(page).inputValue(), 'figtree');
});

test('a recent search has its switches; of a text that is stored alone both are off', async ({
  page,
}) => {
  await openStart(page);
  await page.getByText('1 repository').waitFor();
  await page.getByRole('button', { name: 'Regular expressions' }).click();
  await page.getByRole('button', { name: 'Match case' }).click();
  await queryBox(page).fill('fig.*row');
  await page.keyboard.press('Enter');
  await page.getByText('that is all').waitFor();
  await page.evaluate(`(() => {
    const name = Object.keys(localStorage).find((one) => one.endsWith(':remembered'));
    const stored = JSON.parse(localStorage.getItem(name));
    stored.state.queries.push('fig');
    localStorage.setItem(name, JSON.stringify(stored));
  })()`);
  await page.goto('/');
  const recent = page.getByRole('link', { name: /^fig/ });
  await hasCount(recent, 2);
  const addresses = await recent.evaluateAll((all) => all.map((one) => one.getAttribute('href')));
  assert.deepEqual(addresses, [
    '/search?query=fig.*row&isRegexEnabled=true&isCaseSensitivityEnabled=true',
    '/search?query=fig',
  ]);
  await queryBox(page).fill('fig');
  await page.getByRole('option', { name: 'fig.*row' }).waitFor();
});
