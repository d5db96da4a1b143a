// Results in a real browser: their order, more lines in place, keys, back and forward, what is copied, kept and printed.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { search as searchByApi } from '../../e2e/daemon.ts';
import { findingsOf, hasCount, shows, until } from '../browser.ts';
import { positionKept, search, settledLocations, test, url } from './streamed.ts';

test('each load shows the same files first, those of the API', async ({ page }) => {
  const first = () =>
    page.locator('article').evaluateAll((all) => all.slice(0, 4).map((card) => card.ariaLabel));
  await search(page, 'query=plumtree&matches=20000');
  await page.getByRole('article').nth(3).waitFor();
  const before = await first();
  await search(page, 'query=plumtree&matches=20000');
  await page.getByRole('article').nth(3).waitFor();
  assert.deepEqual(await first(), before);
  const { files } = await searchByApi(url, 'damson');
  await search(page, 'query=damson&matches=1000');
  await hasCount(page.getByRole('article'), 2);
  assert.deepEqual(
    await first(),
    files.map(({ fileName }) => fileName.text),
  );
});

test('more lines in place: of a gap, around a match, of a file', async ({ page }) => {
  await search(page, 'query=quince');
  const card = page.getByRole('article').filter({ hasText: 'wide.ts' });
  await hasCount(card.locator('.result-line'), 4);
  await card.getByRole('button', { name: '20 below' }).click();
  await card.getByText('const filler20 = 20;').waitFor();
  await hasCount(card.locator('.result-line'), 24);
  await card.getByText('48 lines').waitFor();
  await card.getByRole('button', { name: '20 above' }).click({ modifiers: ['Alt'] });
  await card.getByText('const filler40 = 40;').waitFor();
  assert.equal(await card.locator('.result-gap').count(), 0);
  // The key does the same around the match that has the focus, which stays where it is.
  await page.keyboard.press('x');
  await page.getByRole('link', { name: /^line 1: quince/ }).focus();
  await search(page, 'query=damson');
  const dozen = page.getByRole('article').filter({ hasText: 'dozen.txt' });
  await hasCount(dozen.locator('.result-line'), 8);
  await dozen.getByRole('button', { name: 'Show 4 more matches in this file' }).click();
  await hasCount(dozen.locator('.result-line'), 12);
  await dozen.getByRole('button', { name: 'Show fewer' }).click();
  await hasCount(dozen.locator('.result-line'), 8);
});

test('a key shows more around a match, which does not move', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 400 });
  await search(page, 'query=loquat');
  await hasCount(page.getByRole('article'), 1);
  await page.keyboard.press('j');
  const top = 'Math.round(document.activeElement.getBoundingClientRect().top)';
  const before = await page.evaluate<number>(top);
  for (const [lines, last] of [
    [43, 122],
    [83, 142],
  ]) {
    await page.keyboard.press('e');
    await page.locator(`.result-line[data-line="${last}"]`).waitFor({ state: 'attached' });
    await until(page, `document.querySelectorAll('.result-line').length === ${lines}`);
    // The list takes in its new height some frames later.
    await page.waitForTimeout(100);
    await until(page, `${top} === ${before}`);
  }
});

test('from match to match and file to file, by keys only', async ({ page }) => {
  const focused = () => page.evaluate<string>('document.activeElement.getAttribute("aria-label")');
  const file = () =>
    page.evaluate<string>('document.activeElement.closest("article")?.getAttribute("aria-label")');
  await search(page, 'query=quince');
  await hasCount(page.getByRole('article'), 2);
  await page.keyboard.press('j');
  const [first, second] =
    (await file()) === 'two.ts' ? ['two.ts', 'wide.ts'] : ['wide.ts', 'two.ts'];
  await page.keyboard.press('Shift+J');
  assert.equal(await file(), second);
  await page.keyboard.press('k');
  assert.equal(await file(), first);
  await page.getByRole('link', { name: 'line 1: // begins here: quince' }).focus();
  await page.keyboard.press('ArrowDown');
  assert.equal(await focused(), 'line 72: // ends here: quince');
  await page.keyboard.press('x');
  await page.getByText('// ends here: quince').waitFor({ state: 'detached' });
  assert.equal(await file(), 'wide.ts');
  await page.keyboard.press('x');
  await page.keyboard.press('g');
  await page.keyboard.press('g');
  assert.equal(await file(), first);
  await page.keyboard.press('Shift+G');
  assert.equal(await file(), second);
  // The preview follows the focus, and steps on its own.
  await page.getByRole('link', { name: 'line 72: // ends here: quince' }).focus();
  await page.keyboard.press('v');
  const preview = page.getByRole('complementary', { name: 'Preview' });
  await preview.locator('.linked-line').waitFor();
  await shows(preview.locator('.linked-line'), '// ends here: quince');
  await hasCount(preview.locator('mark.match-current'), 1);
  assert.match(page.url(), /preview=/);
  await preview.getByRole('button', { name: 'Previous match' }).click();
  await shows(preview.locator('.linked-line'), '// begins here: quince');
  assert.deepEqual(await findingsOf(page), []);
  await preview.getByRole('button', { name: 'Close preview' }).click();
  await preview.waitFor({ state: 'detached' });
  assert.equal(await focused(), 'line 72: // ends here: quince');
  await page.keyboard.press('Enter');
  await page.waitForURL(/wide\.ts\?highlightRange=72&query=quince/);
});

test('back and forward restore rows, scroll and focus, without a request; a reload sends one', async ({
  page,
}) => {
  let requests = 0;
  page.on('request', (request) => {
    if (request.url().endsWith('/api/stream_search')) requests++;
  });
  const offset = () =>
    page.evaluate<number>('document.querySelector(".result-scroller").scrollTop');
  await search(page, 'query=plumtree&matches=20000&sort=path');
  const actions = [
    async () => {
      await page.getByRole('combobox', { name: 'Query' }).fill('quince');
      await page.keyboard.press('Enter');
    },
    () => page.keyboard.press('Enter'),
  ];
  const others = [page.getByText(/^3 matches in 2 files/), page.locator('.cm-content')];
  let was = 0;
  for (const [index, leave] of actions.entries()) {
    await page.evaluate(
      `document.querySelector(".result-scroller").scrollTop = ${4000 - 2000 * index}`,
    );
    const card = page.locator(`article[aria-posinset="${['19', '13'][index]}"]`);
    const line = card.locator('.result-line').nth(2);
    // What is not drawn yet takes no focus.
    await line.waitFor();
    await line.focus();
    const key = await card.getAttribute('data-key');
    await positionKept(page);
    was = await offset();
    assert.ok(was > 1000);
    const locations = await settledLocations(page);
    await leave();
    await others[index]?.waitFor();
    const count = requests;
    await page.goBack();
    await page.getByText(/^18,000 matches/).waitFor();
    await until(page, `document.activeElement.closest('article')?.dataset.key === '${key}'`);
    // How far rows are drawn beyond the window differs.
    const after = Object.entries(await settledLocations(page)).filter(
      ([name]) => name in locations,
    );
    assert.equal(await offset(), was);
    assert.ok(after.length >= 3);
    for (const [name, position] of after) assert.equal(position, locations[name], name);
    await page.goForward();
    await others[index]?.waitFor();
    await page.goBack();
    await page.getByText(/^18,000 matches/).waitFor();
    assert.equal(requests, count);
    // The list goes to its place again for a moment, while rows get their heights.
    await page.waitForTimeout(300);
  }
  const count = requests;
  await page.reload();
  await page.getByText(/^18,000 matches/).waitFor();
  assert.equal(requests, count + 1);
  // The list goes there once it has measured its frame.
  await until(page, `document.querySelector(".result-scroller").scrollTop === ${was}`);
  await page.keyboard.press('/');
  await page.keyboard.type('plumtree 1');
  await page.getByText(/^First 100 matches/).waitFor();
  assert.equal(await offset(), 0);
});

test('results can be exported as JSON and as a table', async ({ page }) => {
  const saved = async (format: string): Promise<readonly [string, string]> => {
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: `Download the results as ${format}` }).click(),
    ]);
    return [download.suggestedFilename(), readFileSync(await download.path(), 'utf8')];
  };
  await search(page, 'query=damson+file%3Aformula');
  const [name, table] = await saved('CSV');
  assert.equal(name, 'trawl-damson-file-formula-all.csv');
  const [head, first, second, end] = table.split('\r\n');
  assert.equal(head, 'repository,revision,path,line,column,end line,end column,text,link');
  assert.match(first ?? '', /,HEAD|,refs\/heads\/main/);
  assert.match(first ?? '', /,formula\.csv,1,2,1,8,"'=damson\(1\),""damson""",http:/);
  assert.match(second ?? '', /,formula\.csv,1,13,1,19,/);
  assert.equal(end, '');
  await page.goto('/search?query=damson&matches=3');
  await page.getByText(/^First 3 matches/).waitFor();
  const [cutName, json] = await saved('JSON');
  assert.equal(cutName, 'trawl-damson-first-3.json');
  const { files, isSearchExhaustive } = JSON.parse(json) as {
    files: unknown[];
    isSearchExhaustive: boolean;
  };
  assert.equal(isSearchExhaustive, false);
  assert.ok(files.length > 0);
});

test('only code is copied', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await search(page, 'query=quince+file%3Awide');
  const clipboard = () => page.evaluate<string>('navigator.clipboard.readText()');
  await page.locator('.result-line').nth(3).waitFor();
  await page.evaluate(`
    const lines = document.querySelectorAll('.result-line');
    getSelection().setBaseAndExtent(lines[0], 0, lines[3], lines[3].childNodes.length);
    document.execCommand('copy');
  `);
  assert.equal(
    await clipboard(),
    '// begins here: quince\nconst filler0 = 0;\n⋯\nconst filler69 = 69;\n// ends here: quince',
  );
  await page.evaluate('getSelection().removeAllRanges()');
  await page.getByRole('link', { name: 'line 72: // ends here: quince' }).focus();
  await page.keyboard.press('Shift+C');
  await page.getByText('Place copied').waitFor();
  assert.equal(await clipboard(), 'wide.ts:72');
  await page.keyboard.press('c');
  await page.getByText('Link copied').waitFor();
  assert.match(await clipboard(), /^http:.*\/wide\.ts\?highlightRange=72&query=quince/);
});

test('order by path; filters in a drawer in narrow windows', async ({ page }) => {
  await search(page, 'query=quince');
  await hasCount(page.getByRole('article'), 2);
  await page.getByLabel('Order').selectOption('path');
  const titles = () =>
    page.evaluate<string[]>(
      `[...document.querySelectorAll('article')].map((one) => one.getAttribute('aria-label'))`,
    );
  assert.deepEqual(await titles(), ['two.ts', 'wide.ts']);
  assert.match(page.url(), /sort=path/);
  await page.reload();
  await hasCount(page.getByRole('article'), 2);
  assert.deepEqual(await titles(), ['two.ts', 'wide.ts']);
  await page.setViewportSize({ width: 360, height: 800 });
  await page.getByRole('button', { name: 'Filters' }).click();
  const drawer = page.getByRole('dialog', { name: 'Filters' });
  await drawer.getByRole('checkbox', { name: /^TypeScript/ }).check();
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
  assert.deepEqual(await findingsOf(page), []);
});

test('printing includes everything loaded', async ({ page }) => {
  await search(page, 'query=plumtree&matches=20000');
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
  await hasCount(page.locator('.printed section'), 300);
  await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
  await page.locator('.printed').waitFor({ state: 'detached' });
});

test('a search worker that cannot be loaded is reported, and requested again', async ({ page }) => {
  await page.route(/search-worker/, (route) => route.abort());
  await page.goto('/search?query=quince');
  await page.getByText('A part of this page could not be loaded').waitFor();
  await page.unroute(/search-worker/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.getByText('that is all').waitFor();
});
