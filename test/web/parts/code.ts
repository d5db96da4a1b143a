// A file in a real browser: what it is displayed as, names and where they lead, the finder, steps through matches, panels, links
// that last.

import assert from 'node:assert/strict';
import { eventually, search } from '../../e2e/daemon.ts';
import { areTidy, findingsOf, goTo, hasCount, shows } from '../browser.ts';
import { addressOf, commit, first, name, openCode, otherName, test, url } from './browsed.ts';

test('images, drawings and binary files', async ({ page }) => {
  await page.goto(addressOf('pic.gif'));
  await page.getByText('image/gif').waitFor();
  await hasCount(page.getByRole('img', { name: 'pic.gif' }), 1);
  await goTo(page, addressOf('drawing.svg'));
  await page.getByText('image/svg+xml').waitFor();
  await page.getByRole('button', { name: 'Code', exact: true }).click();
  await page.locator('.cm-content').waitFor();
  await goTo(page, addressOf('bin.dat'));
  await page.getByText('3.0 KB · binary').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Blame' }).count(), 0);
  const raw = await page
    .getByRole('link', { name: 'Raw', exact: true })
    .first()
    .getAttribute('href');
  assert.equal(
    (await fetch(`${url}${raw}`)).headers.get('content-type'),
    'application/octet-stream',
  );
});

test('invisible characters are boxes, line numbers are those of the daemon', async ({ page }) => {
  await openCode(page, addressOf('odd.txt'));
  await page.getByText('This file has characters that change the order of the text.').waitFor();
  assert.deepEqual(await page.locator('.hidden-character').allInnerTexts(), [
    'U+202E',
    'U+202C',
    'U+200B',
    'U+000D',
    'U+001B',
  ]);
  await page.getByText('3 lines').waitFor();
});

test('names: card, definition, references here and everywhere', async ({ page }) => {
  await openCode(page, addressOf('src/use.ts'));
  // Its colours are there: they exchange the words under the pointer.
  const coloured = () =>
    page.locator('.cm-line', { hasText: 'import' }).locator('.code-keyword').first().waitFor();
  await coloured();
  const use = page.locator('.cm-line').nth(2).getByText('plumTree').first();
  await use.hover();
  const card = page.locator('.name-card');
  await card.getByText('export function plumTree(count: number) {').waitFor();
  await shows(card, /src\/plum\.ts line 2/);
  await use.click({ modifiers: ['Control'] });
  await page.waitForURL(/src\/plum\.ts\?highlightRange=2$/);
  await page.locator('.linked-line').waitFor();
  await page.goBack();
  await coloured();
  await use.click();
  await page.keyboard.press('Alt+F12');
  await page.waitForURL(/src\/plum\.ts\?highlightRange=2$/);
  await page.goBack();
  await coloured();
  await use.click();
  await page.keyboard.press('Alt+Shift+F12');
  const panel = page.getByRole('region', { name: 'plumTree', exact: true });
  await panel.getByRole('button', { name: 'References 5' }).waitFor();
  assert.match(page.url(), /explore=references%3AplumTree/);
  await hasCount(panel.locator('.explore-row'), 4);
  await page.keyboard.press('j');
  await page.keyboard.press('Shift+A');
  await panel.getByText(otherName).waitFor();
  await page.keyboard.press('Escape');
  await panel.waitFor({ state: 'detached' });
  assert.doesNotMatch(page.url(), /explore|scope/);
});

test('the finder opens files by parts of their paths', async ({ page }) => {
  await openCode(page, addressOf('src/use.ts'));
  await page.keyboard.press('Control+p');
  const finder = page.getByRole('dialog', { name: 'Find a file' });
  await finder.getByText('10 files').waitFor();
  const box = await finder.boundingBox();
  assert.ok(box !== null && box.y > 0 && box.y < 100 && box.width > 500, JSON.stringify(box));
  await page.keyboard.type('fileview');
  await finder.getByText('1 file', { exact: true }).waitFor();
  assert.deepEqual(await findingsOf(page), []);
  await page.keyboard.press('Enter');
  await page.waitForURL(/src\/deep\/er\/file-view\.tsx$/);
  await finder.waitFor({ state: 'detached' });
  await page.keyboard.press('t');
  await page.keyboard.type('zzzz');
  await finder.getByText('No matching files.').waitFor();
  await page.keyboard.press('Escape');
  await finder.waitFor({ state: 'detached' });
});

test('from match to match of the search that led here', async ({ page }) => {
  await openCode(page, addressOf('src/use.ts', '?query=plumTree'));
  await page.getByText('3 matches').waitFor();
  await hasCount(page.locator('.cm-content mark'), 3);
  const current = page.locator('.cm-line:has(mark.match-current)');
  await page.keyboard.press('n');
  await page.getByText('match 1 of 3').waitFor();
  await shows(current, /^import/);
  await page.keyboard.press('n');
  await page.keyboard.press('n');
  await page.getByText('match 3 of 3').waitFor();
  await page.keyboard.press('n');
  await page.getByText('match 1 of 3').waitFor();
  await page.keyboard.press('p');
  await page.getByText('match 3 of 3').waitFor();
  // The query is the one that was searched for, also where its parentheses or quotes have no partner.
  for (const [query, count] of [
    ['plumTree(', '2 matches'],
    ['"./plum', '1 match'],
    ['none) or plumTree(', '2 matches'],
  ] as const) {
    await openCode(page, addressOf('src/use.ts', `?query=${encodeURIComponent(query)}`));
    await page.getByText(count, { exact: true }).waitFor();
  }
});

test('lines are selected by dragging over their numbers, and have a menu', async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openCode(page, addressOf('src/plum.ts'));
  const number = (line: number) =>
    page.locator('.cm-lineNumbers .cm-gutterElement', { hasText: new RegExp(`^${line}$`) });
  await number(4).hover();
  await page.mouse.down();
  await number(3).hover();
  await number(2).hover();
  await hasCount(page.locator('.linked-line'), 3);
  // A last line that ends is not followed by another.
  await hasCount(number(6), 0);
  await page.mouse.up();
  await page.waitForURL(/highlightRange=2-4$/);
  await number(5).click({ modifiers: ['Shift'] });
  await page.waitForURL(/highlightRange=4-5$/);
  await page.getByRole('button', { name: 'Lines 4-5' }).click();
  await page.getByRole('menuitem', { name: 'Copy text' }).click();
  await page.getByText('Text copied').waitFor();
  assert.equal(await page.evaluate('navigator.clipboard.readText()'), '}\nconst e = "plumTree";');
  // Columns count code points, and the last one is not in it.
  await openCode(page, addressOf('src/plum.ts', '?highlightRange=2:17-2:25'));
  await shows(page.locator('.linked-part'), 'plumTree');
  await page.getByRole('button', { name: 'Line 2:17-2:25' }).click();
  assert.deepEqual(await findingsOf(page), []);
  await page.getByRole('menuitem', { name: 'References to plumTree' }).click();
  await page.getByRole('button', { name: 'References 5' }).waitFor();
  await page.getByRole('button', { name: 'Line 2:17-2:25' }).click();
  await page.getByRole('menuitem', { name: 'Search for this text' }).click();
  await page.getByText('that is all').waitFor();
  assert.match(page.url(), /query=%22plumTree%22/);
});

test('names and blame of an older revision are of that revision', async ({ page }) => {
  // It is not indexed: its symbols are found behind the first answer.
  await eventually(async () => {
    const { isSearchExhaustive } = await search(url, `sym:plumTree rev:${first}`);
    return isSearchExhaustive;
  });
  await openCode(page, addressOf('src/plum.ts', '?blame=1'));
  const before = page.locator('.blame-before').first();
  await before.focus();
  await before.click();
  await page.waitForURL(new RegExp(`@${first}/-/blob/src/plum\\.ts\\?blame=1$`));
  await hasCount(page.locator('.blame-mark'), 1);
  await page.locator('.cm-line').first().getByText('plumTree', { exact: true }).click();
  await page.keyboard.press('r');
  await page.getByRole('button', { name: 'References 2' }).waitFor();
  await page.locator('.explore-row').first().click();
  await page.waitForURL(new RegExp(`@${first}/-/blob/.*highlightRange=1`));
  await page.getByRole('button', { name: 'Definitions 1' }).click();
  const definition = await page.locator('.explore-row').first().getAttribute('href');
  assert.match(definition ?? '', new RegExp(`@${first}/-/blob/src/plum\\.ts.*highlightRange=1`));
  await hasCount(page.locator('.explore-remark'), 0);
});

test('a definition that is only at the default revision is announced', async ({ page }) => {
  await page.route('**/api/find_definitions', async (route) => {
    const response = await route.fetch();
    const isOfRevision = route.request().postData()?.includes('revisionName') === true;
    const found: object = await response.json();
    await route.fulfill({ response, json: isOfRevision ? { ...found, files: [] } : found });
  });
  await openCode(page, addressOf('src/plum.ts', '', `@${first}`));
  await page.locator('.cm-line').first().getByText('plumTree', { exact: true }).click();
  await page.keyboard.press('d');
  await page.waitForURL(/@HEAD\/-\/blob\/src\/plum\.ts\?highlightRange=2$/);
  await page.getByText(`Nothing was found at ${first}, or`).waitFor();
});

test('the panel reports missing symbols', async ({ page }) => {
  await page.route('**/api/find_definitions', async (route) => {
    const response = await route.fetch();
    const found: { stats: object } = await response.json();
    const stats = { ...found.stats, matchCount: 0 };
    const lacking = { isSearchExhaustive: false, incompleteReasons: ['symbols_missing'] };
    await route.fulfill({ response, json: { ...found, ...lacking, stats, files: [] } });
  });
  await openCode(page, addressOf('src/plum.ts', '?explore=references:plumTree'));
  await page.getByRole('button', { name: 'Definitions (symbols missing)' }).waitFor();
  await page.getByRole('button', { name: 'References 5' }).waitFor();
  await page.getByText('Some definitions may be missing.').waitFor();
});

test('permanent links, and the history beside the file', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openCode(page, addressOf('src/use.ts', '?highlightRange=3'));
  await page.keyboard.press('Shift+C');
  await page.getByText('Path copied').waitFor();
  const copied = () => page.evaluate('navigator.clipboard.readText()');
  assert.equal(await copied(), 'src/use.ts:3');
  await page.keyboard.press('y');
  await page.waitForURL(new RegExp(`@${commit}/-/blob/src/use\\.ts\\?highlightRange=3$`));
  await page.locator('.linked-line').waitFor();
  await page.keyboard.press('c');
  await page.getByText('Link copied').waitFor();
  assert.equal(await copied(), page.url());
  await page.keyboard.press('h');
  await page.getByRole('region', { name: 'History', exact: true }).getByText('all of it').waitFor();
  assert.match(page.url(), /panel=history/);
  await page.reload();
  await page.getByRole('region', { name: 'History', exact: true }).getByText('all of it').waitFor();
  assert.deepEqual(await findingsOf(page), []);
});

test('tabs, long lines and keys of files follow the settings; recent files are found again', async ({
  page,
  allow,
}) => {
  allow(/404/);
  await page.goto('/settings/general');
  await page.getByLabel('Tab width').selectOption('8');
  await page.getByLabel('Vim keys in files').check();
  await openCode(page, addressOf('src/use.ts'));
  const content = page.locator('.cm-content');
  const style = (property: string) =>
    page.evaluate(`getComputedStyle(document.querySelector('.cm-content'))['${property}']`);
  assert.equal(await style('tab-size'), '8');
  assert.equal(await style('white-space-collapse'), 'preserve');
  assert.equal(await style('text-wrap-mode'), 'nowrap');
  await page.getByRole('button', { name: 'Wrap' }).click();
  await page.locator('.cm-lineWrapping').waitFor();
  assert.equal(await style('text-wrap-mode'), 'wrap');
  await page.locator('.cm-vim-panel').waitFor();
  await content.focus();
  // Down two lines and a word on, in the way of vim.
  await page.keyboard.press('2');
  await page.keyboard.press('j');
  await page.keyboard.press('w');
  await page.keyboard.press('w');
  await page.keyboard.press('w');
  await page.keyboard.press('w');
  await page.keyboard.press('*');
  await page.keyboard.press('Alt+F12');
  await page.waitForURL(/src\/plum\.ts\?highlightRange=2$/);
  await page.locator('.cm-lineWrapping').waitFor();
  await page.goto('/');
  await page.getByRole('heading', { name: 'Recently viewed' }).waitFor();
  await page.getByRole('link', { name, exact: true }).click();
  await page.getByRole('link', { name: 'README.md' }).first().waitFor();
  await page.keyboard.press('t');
  await page.locator('.finder .popover-item').first().waitFor();
  assert.deepEqual((await page.locator('.finder .popover-item').allInnerTexts()).slice(0, 2), [
    'src/plum.ts',
    'src/use.ts',
  ]);
  await page.keyboard.press('Escape');
  await page.keyboard.press('Control+k');
  await page.locator('.palette input:focus').waitFor();
  await page.keyboard.type('plum.ts');
  await page.getByRole('option', { name: `src/plum.ts · ${name}` }).click();
  await page.waitForURL(/src\/plum\.ts$/);
});

test('symbols are listed beside a file, and a link opens it in an editor', async ({ page }) => {
  await page.goto('/settings/general');
  await page.getByRole('combobox', { name: 'Open files in' }).selectOption('VS Code');
  await page.getByRole('textbox', { name: /^Folder of your clones/ }).fill('/src/{name}');
  await openCode(page, addressOf('src/plum.ts'));
  await page.keyboard.press('o');
  const outline = page.getByRole('navigation', { name: 'Outline' });
  await outline.getByRole('link', { name: 'plumTree function' }).click();
  await page.waitForURL(/highlightRange=2$/);
  const folder = name.split('/').at(-1) ?? '';
  assert.equal(
    await page.getByRole('link', { name: 'Open in editor' }).getAttribute('href'),
    `vscode://file/src/${folder}/src/plum.ts:2:1`,
  );
  // Where it covers the text it is shown only when it is opened, and goes with the choice.
  await page.setViewportSize({ width: 360, height: 740 });
  await outline.waitFor({ state: 'hidden' });
  await page.getByRole('button', { name: 'Outline' }).click();
  await outline.getByRole('link', { name: 'plumTree function' }).click();
  await outline.waitFor({ state: 'hidden' });
  await page.setViewportSize({ width: 1280, height: 800 });
  await outline.waitFor();
  assert.deepEqual(await findingsOf(page), []);
});

test('files: no finding of the accessibility checker, no sideways scroll', async ({
  page,
  allow,
}) => {
  allow(/404/);
  await areTidy(page, [
    addressOf('README.md'),
    addressOf('odd.txt', '?blame=1&query=one'),
    addressOf('src/use.ts', '?explore=references:plumTree&scope=all'),
    addressOf('pic.gif'),
    addressOf('nowhere'),
  ]);
});
