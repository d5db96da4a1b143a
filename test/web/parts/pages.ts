// The pages in a real browser, against a real daemon: from the first address to a file and its history, completion, filters, and
// what every page is held to.

import assert from 'node:assert/strict';
import { areTidy, findingsOf, goTo, hasCount, shows } from '../browser.ts';
import { FILES, queryBox, repoName, search, test, url } from './searched.ts';

test('from the start page to a line of a file and back, by keys only', async ({ page }) => {
  await page.goto('/');
  await page.locator('.box-input:focus').waitFor();
  await page.keyboard.type('plumTree');
  await page.keyboard.press('Enter');
  await page.getByText('that is all').waitFor();
  assert.match(page.url(), /\/search\?query=plumTree$/);
  const results = page.getByRole('article');
  await hasCount(results, 3);
  // The box of the header has the focus that the box of the start page had, and leads to the results.
  await page.locator('.header .box-input:focus').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.locator('.result-line:focus').waitFor();
  await shows(
    page.locator('#search-summary [role=status]'),
    /^\d+ matches in 3 files of 1 repository · that is all$/,
  );
  await page.getByRole('link', { name: /^line 1: export function/ }).click();
  await page.locator('.linked-line').waitFor();
  assert.match(page.url(), /-\/blob\/src\/plum\.ts\?highlightRange=1&query=plumTree$/);
  await shows(page.locator('.linked-line'), 'export function plumTree(count: number) {');
  await page.goBack();
  await page.getByText('that is all').waitFor();
  await page.keyboard.press('/');
  assert.equal(await page.evaluate('document.activeElement?.getAttribute("aria-label")'), 'Query');
});

test('symbol results show their kind, which is not copied', async ({ page }) => {
  await search(page, 'query=sym:plumTree');
  const line = page.getByRole('link', { name: /^line 1, function: export function/ });
  await shows(line.locator('.line-kind'), 'function');
  await page.evaluate(`getSelection().selectAllChildren(document.querySelector('.result-code'))`);
  const copied = await page.evaluate(`new Promise((resolve) => {
      const data = new DataTransfer();
      const event = new ClipboardEvent('copy', { clipboardData: data, bubbles: true, cancelable: true });
      document.querySelector('.result-code').dispatchEvent(event);
      resolve(data.getData('text/plain'));
    })`);
  assert.match(String(copied), /^export function plumTree\(count: number\) \{$/m);
  assert.deepEqual(await findingsOf(page), []);
});

test('a search that does not parse says where; the last good results stay', async ({ page }) => {
  await search(page, 'query=plumtree');
  await queryBox(page).fill('plumtree file:');
  await page.keyboard.press('Enter');
  await page.getByText('In the query: missing value at character 15').waitFor();
  assert.equal(await queryBox(page).getAttribute('aria-invalid'), 'true');
  await hasCount(page.getByRole('article'), 3);
  assert.equal(await page.locator('.query-fault').innerText(), '\u00A0');
  await queryBox(page).fill('plumtree file:a( or b');
  await page.keyboard.press('Enter');
  await page.getByText('at character 16').waitFor();
  await shows(page.locator('.query-fault'), 'a(');
  assert.equal(
    await page.evaluate('document.activeElement.selectionStart'),
    'plumtree file:a'.length,
  );
});

test('the switches of the box are those of the address', async ({ page }) => {
  await search(page, 'query=return%20.');
  const regex = page.getByRole('button', { name: 'Regular expressions' });
  const isPressed = (pressed: boolean) =>
    hasCount(page.locator(`[aria-label="Regular expressions"][aria-pressed=${pressed}]`), 1);
  await isPressed(false);
  await regex.click();
  await page.waitForURL(/isRegexEnabled=true/);
  await isPressed(true);
  await page.goBack();
  await isPressed(false);
  await queryBox(page).press('Enter');
  await page.getByText('that is all').waitFor();
  assert.doesNotMatch(page.url(), /isRegexEnabled/);
  await page.goForward();
  await isPressed(true);
  await goTo(page, '/search?query=plumTree%28&isCaseSensitivityEnabled=true');
  await hasCount(page.locator('[aria-label="Match case"][aria-pressed=true]'), 1);
  await isPressed(false);
});

test('the query is completed at the caret: prefixes, names of the index', async ({ page }) => {
  await page.goto('/');
  const box = queryBox(page);
  const option = (name: string | RegExp) => page.getByRole('option', { name });
  await page.locator('.box-input[aria-haspopup]').waitFor();
  await page.keyboard.type('plumtree fi');
  await option('file: file path').waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Tab');
  assert.equal(await box.inputValue(), 'plumtree file:');
  await page.keyboard.type('PLU');
  await option(/^src\/plum\.ts/).waitFor();
  assert.deepEqual(await findingsOf(page), []);
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  assert.equal(await box.inputValue(), String.raw`plumtree file:^src/plum\.ts$ `);
  await hasCount(page.getByRole('listbox'), 0);
  // Of what is offered nothing is chosen.
  await box.fill('sym:plumt');
  await option(/^plumTree function, src\/plum\.ts/).waitFor();
  await page.keyboard.press('Enter');
  await page.getByText('that is all').waitFor();
  // What is still being asked for does not come behind the search.
  const suggestionsRequested = page.waitForRequest(/\/api\/suggestions/);
  let letSuggest = (): void => {};
  const mayCome = new Promise<void>((resolve) => (letSuggest = resolve));
  await page.route('**/api/suggestions?*', async (route) => {
    await mayCome;
    await route.continue();
  });
  await box.fill('sym:plumTr');
  await suggestionsRequested;
  const answered = page.waitForResponse(/\/api\/suggestions/);
  await page.keyboard.press('Enter');
  await page.getByText('that is all').waitFor();
  letSuggest();
  await (await answered).finished();
  await page.waitForTimeout(100);
  await hasCount(page.locator('.suggestions'), 0);
});

test('facets filter the results and are part of the address', async ({ page }) => {
  await search(page, 'query=plumtree');
  await page.getByRole('checkbox', { name: /^Python/ }).check();
  await hasCount(page.getByRole('article'), 1);
  assert.match(page.url(), /lang=Python/);
  await page.reload();
  await page.getByText('that is all').waitFor();
  await hasCount(page.getByRole('article'), 1);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await hasCount(page.getByRole('article'), 3);
  await page.getByRole('checkbox', { name: /^Python/ }).check();
  await page.getByRole('button', { name: 'Add to query' }).click();
  await page.waitForURL(/query=plumtree\+lang%3APython$/);
  await page.getByText('that is all').waitFor();
  await hasCount(page.getByRole('article'), 1);
  // No query says what a kind of file is.
  await search(page, 'query=medlar');
  await page.getByRole('checkbox', { name: 'vendored, 1 match', exact: true }).check();
  await hasCount(page.getByRole('article'), 1);
  assert.match(page.url(), /kind=vendored/);
  await hasCount(page.getByRole('button', { name: 'Add to query' }), 0);
  assert.deepEqual(await findingsOf(page), []);
});

test('with a partial answer the daemon gets the chosen facets; counts are lower bounds meanwhile', async ({
  page,
}) => {
  const bodies: unknown[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/stream_search')) bodies.push(request.postDataJSON());
  });
  await page.goto('/search?query=plumtree&matches=2');
  await page.getByText('there are at least').waitFor();
  const atLeast = page.getByRole('checkbox', { name: /, at least \d+ match/ });
  await atLeast.nth(1).waitFor();
  // Another page would end it before it has asked.
  const isNarrowed = page.waitForRequest(
    (request) => request.postData()?.includes('"filter":"repo:') === true,
  );
  await page.getByRole('checkbox', { name: /^local/ }).check();
  await isNarrowed;
  await page.goto('/search?query=plumtree&matches=2&lang=Python');
  await page.getByText('1 match in 1 file of 1 repository · that is all').waitFor();
  await hasCount(page.getByRole('article'), 1);
  const filters = bodies.map((body) => Object(body).filter as string | undefined);
  assert.equal(filters.at(-1), 'lang:Python');
  assert.match(filters.find((filter) => filter?.startsWith('repo:')) ?? '', /^repo:\^local\/.*\$$/);
});

test('the plan is a picture, with a table of excluded parts', async ({ page }) => {
  await page.goto('/search?query=plumtree');
  await page.getByRole('button', { name: 'Plan' }).click();
  const plan = page.getByRole('region', { name: 'Plan' });
  await plan.getByText('text:"plumtree"').waitFor();
  assert.match(page.url(), /plan=1/);
  await shows(plan, /Files\n+\d+ searched.*3 match/);
  assert.deepEqual(await findingsOf(page), []);
  await plan.getByRole('button', { name: 'Show as table' }).click();
  await hasCount(plan.getByRole('row'), 5);
  await shows(plan.getByRole('row', { name: /^Bytes/ }), /read of/);
});

test('history of a file, a commit with its changes, blame beside the code', async ({ page }) => {
  await page.goto('/search?query=changedtree');
  await page
    .getByRole('link', { name: /plum\.ts/ })
    .first()
    .click();
  await page.locator('.cm-content').waitFor();
  await page.getByRole('button', { name: 'Blame' }).click();
  await page.locator('.blame-mark').first().waitFor();
  await hasCount(page.locator('.blame-mark'), 2);
  assert.match(page.url(), /blame=1/);
  await page.getByRole('button', { name: 'History' }).click();
  await page.getByRole('link', { name: 'All commits, with more filters' }).click();
  await page.getByRole('cell', { name: 'second change' }).waitFor();
  await hasCount(page.getByRole('row'), 3);
  await page.getByLabel('Message contains').fill('second');
  await page.waitForURL(/query=second/);
  await page.getByRole('row').nth(2).waitFor({ state: 'detached' });
  await page.getByRole('row').nth(1).getByRole('link').click();
  await page.getByText('1 file +1 −0').waitFor();
  await shows(page.locator('.diff-added .diff-text'), '// changedtree');
  await hasCount(page.locator('.diff-pair'), 4);
  await page.keyboard.press('u');
  await page.waitForURL(/diff=unified/);
  assert.equal(await page.locator('.diff-pair').count(), 0);
  await hasCount(page.locator('.diff-line'), 4);
  await shows(page.locator('.diff-added .code-comment'), '// changedtree');
  await page.getByText('2 unchanged lines').waitFor();
  await page.keyboard.press('e');
  await page.getByText('2 unchanged lines').waitFor({ state: 'detached' });
  await page.locator('.diff-line .code-keyword', { hasText: 'function' }).waitFor();
  const numbers = await page.locator('.diff-number').allInnerTexts();
  assert.equal(numbers.join(), '1,1,2,2,3,3,4,4,5,5,,6');
  assert.deepEqual(await findingsOf(page), []);
});

test('a commit of new files, large ones folded; changed words; white space; the first commit', async ({
  page,
}) => {
  const commits = await fetch(`${url}/api/commits?repo=${encodeURIComponent(repoName)}`);
  const hashes = ((await commits.json()) as { hash: string }[]).map(({ hash }) => hash);
  const [changed = '', , first = ''] = hashes;
  await page.goto(`/browse/${repoName}/-/commit/${first}`);
  await page.getByText(`${Object.keys(FILES).length} files`).waitFor();
  const fold = page.getByRole('button', { name: 'Show changes (1,000 lines)' });
  await page.getByRole('button', { name: /^many\.txt/ }).click();
  // Why no click: the list still moves.
  await fold.press('Enter');
  await page.getByText('row 0', { exact: true }).waitFor();
  // What is far from the window is not drawn.
  assert.ok((await page.locator('.diff-added').count()) < 500);
  await page.keyboard.press('n');
  assert.deepEqual(await findingsOf(page), []);

  await goTo(page, `/browse/${repoName}/-/commit/${changed}`);
  await page.getByText('3 files +3 −3').waitFor();
  const marks = page.locator('.diff-added mark');
  await shows(marks.nth(0), '   ');
  await shows(marks.nth(1), 'pears');
  await hasCount(marks, 2);
  // 497 lines before the change; behind it nobody knows how many.
  const sides = page.locator('.diff-pair').filter({ hasText: /row \d/ });
  await hasCount(sides, 7);
  await page.getByText('497 unchanged lines').waitFor();
  await page.getByRole('button', { name: 'Show 20 lines above' }).focus();
  await page.keyboard.press('Enter');
  await page.getByText('477 unchanged lines').waitFor();
  await page.getByText('row 477', { exact: true }).first().waitFor();
  assert.ok(await page.locator('.diff-more:focus').count());
  // Why no clicks: the list still moves.
  await page.getByRole('button', { name: 'Show 20 lines below' }).press('Enter');
  await page.getByText('row 523', { exact: true }).last().waitFor();
  await page.getByLabel('Ignore white space').press('Space');
  await page.getByText('3 files +2 −2').waitFor();
  await page
    .getByText('No line differs. Only the name, the mode or white space changed.')
    .waitFor();
  assert.match(page.url(), /\?ws=1$/);
  // What makes repositories begins with an empty commit.
  await goTo(page, `/browse/${repoName}/-/commit/${hashes.at(-1) ?? ''}`);
  await page.getByText('the first commit: all files are new').waitFor();
  await page.getByText('No differences.').waitFor();
});

const PAGES = [
  '/',
  '/search?query=plumtree',
  '/search?query=plumtree&matches=2',
  '/repos',
  '/settings/general',
  '/login',
  '/nowhere',
];

test('every page: no finding of the checker, no sideways scroll', async ({ page, allow }) => {
  // The unknown page is a 404, which the browser notes.
  allow(/404/);
  await areTidy(page, PAGES);
});
