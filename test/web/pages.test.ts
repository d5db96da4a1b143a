// The pages in a real browser, against a real daemon: from the first address to a file, set-up and signing in, settings, and
// hostile names and contents, which are shown and never run.
// tier: ci (browser)

import assert from 'node:assert/strict';
import path from 'node:path';
import { before, test } from 'node:test';
import { serveIndexed } from '../e2e/daemon.ts';
import type { Served } from '../e2e/daemon.ts';
import { commitAll, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { NO_BROWSER, findingsOf, hasCount, shows, visit } from './browser.ts';

const HOSTILE_NAME = '<img src=x onerror=alert(1)>.txt';
const HOSTILE_TEXT = [
  '<script>alert("plumtree")</script> plumtree',
  '\u202Eplumtree\u202C reversed',
  '\u001B[31mplumtree',
  'zero\u200Bwidth plumtree',
].join('\n');

const FILES = {
  'src/plum.ts':
    'export function plumTree(count: number) {\n  return count + 1;\n}\n\n// plumtree\n',
  'src/deep/er/pear.py': 'def pear():\n    return "plumtree"\n',
  [HOSTILE_NAME]: HOSTILE_TEXT,
  'long.txt': `plumtree ${'x'.repeat(200_000)}\n`,
  'many.txt': Array.from({ length: 1000 }, (_, row) => `row ${row}\n`).join(''),
  'words.txt': 'eat all the apples\n',
  'space.txt': 'two words\n',
  'tabs.txt': '\tmedlar\t= 1;\n',
};

let served: Served;
/** Name of the repository, behind `local/`. */
let repoName = '';
before(async () => {
  if (NO_BROWSER !== false) return;
  const repo = makeRepo({});
  writeFiles(repo, FILES);
  commitAll(repo);
  writeFiles(repo, { 'src/plum.ts': `${FILES['src/plum.ts']}// changedtree\n` });
  commitAll(repo, 'second change');
  writeFiles(repo, {
    'words.txt': 'eat all the pears\n',
    'space.txt': 'two   words\n',
    'many.txt': FILES['many.txt'].replace('row 500\n', 'another\n'),
  });
  commitAll(repo, 'third');
  repoName = path.basename(repo);
  served = await serveIndexed(temporaryFolder(), [repo]);
  await served.process.until(/ symbols found /);
});

void test(
  'from the start page to a line of a file and back, by keys alone',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await page.goto('/');
    await page.locator('.box-input:focus').waitFor();
    await page.keyboard.type('plumTree');
    await page.keyboard.press('Enter');
    await page.getByText('that is all').waitFor();
    assert.match(page.url(), /\/search\?query=plumTree$/);
    const results = page.getByRole('article');
    await hasCount(results, 4);
    // The box of the header has the focus that the box of the start page had, and leads to the results.
    await page.locator('.header .box-input:focus').waitFor();
    await page.keyboard.press('ArrowDown');
    await page.locator('.result-line:focus').waitFor();
    await shows(
      page.locator('#search-summary [role=status]'),
      /^\d+ matches in 4 files of 1 repository · that is all$/,
    );
    await page.getByRole('link', { name: /^line 1: export function/ }).click();
    await page.locator('.linked-line').waitFor();
    assert.match(page.url(), /-\/blob\/src\/plum\.ts\?highlightRange=1&query=plumTree$/);
    await shows(page.locator('.linked-line'), 'export function plumTree(count: number) {');
    await page.getByText('2 matches').waitFor();
    await page.keyboard.press('n');
    await page.getByText('match 2 of 2').waitFor();
    await page.goBack();
    await page.getByText('that is all').waitFor();
    await page.keyboard.press('/');
    assert.equal(
      await page.evaluate('document.activeElement?.getAttribute("aria-label")'),
      'Query',
    );
    assert.deepEqual(complaints, []);
  },
);

void test(
  'results of symbols say what kind each is, and it is not copied',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await page.goto('/search?query=sym:plumTree');
    await page.getByText('that is all').waitFor();
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
    assert.deepEqual(complaints, []);
  },
);

void test('a line is called by its text, without the tabs', { skip: NO_BROWSER }, async () => {
  const { page, complaints } = await visit({ url: served.url });
  await page.goto('/search?query=medlar');
  await page.getByRole('link', { name: 'line 1: medlar = 1;', exact: true }).waitFor();
  assert.deepEqual(complaints, []);
});

void test(
  'a search that does not parse says where; the last good results stay',
  { skip: NO_BROWSER },
  async () => {
    const { page } = await visit({ url: served.url });
    await page.goto('/search?query=plumtree');
    await page.getByText('that is all').waitFor();
    await page.getByRole('combobox', { name: 'Query' }).fill('plumtree file:');
    await page.keyboard.press('Enter');
    await page.getByText('In the query: missing value at character 15').waitFor();
    assert.equal(
      await page.getByRole('combobox', { name: 'Query' }).getAttribute('aria-invalid'),
      'true',
    );
    await hasCount(page.getByRole('article'), 4);
    assert.equal(await page.locator('.query-fault').innerText(), '\u00A0');
    await page.getByRole('combobox', { name: 'Query' }).fill('plumtree file:a( or b');
    await page.keyboard.press('Enter');
    await page.getByText('at character 16').waitFor();
    await shows(page.locator('.query-fault'), 'a(');
    assert.equal(
      await page.evaluate('document.activeElement.selectionStart'),
      'plumtree file:a'.length,
    );
  },
);

void test(
  'the query is completed at the caret: prefixes, names of the index, queries of before',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await page.goto('/');
    const box = page.getByRole('combobox', { name: 'Query' });
    const option = (name: string | RegExp) => page.getByRole('option', { name });
    // Completion is there when suggestions are: the field took keys before.
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
    // Those for `lang:p` go when there is another letter.
    const isNamed = page.waitForResponse(/\/api\/suggestions\?.*prefix=py/);
    await page.keyboard.type('lang:py');
    await isNamed;
    await option(/^Python/).click();
    assert.equal(await box.inputValue(), String.raw`plumtree file:^src/plum\.ts$ lang:Python `);
    await box.fill('plumtree sym:plumt');
    await option(/^plumTree function, src\/plum\.ts/).waitFor();
    await page.keyboard.press('Escape');
    await hasCount(page.getByRole('listbox'), 0);
    await page.keyboard.press('Enter');
    await page.getByText('that is all').waitFor();
    await page.goto('/');
    await page.locator('.box-input[aria-haspopup]').waitFor();
    await page.keyboard.press('Control+Space');
    await option('plumtree sym:plumt').waitFor();
    // Of what is offered nothing is chosen.
    await box.fill('sym:plumt');
    await option(/^plumTree function, src\/plum\.ts/).waitFor();
    await page.keyboard.press('Enter');
    await page.getByText('that is all').waitFor();
    // What is still being asked for does not come behind the search.
    const isAsked = page.waitForRequest(/\/api\/suggestions/);
    let letSuggest = (): void => {};
    const mayCome = new Promise<void>((resolve) => (letSuggest = resolve));
    await page.route('**/api/suggestions?*', async (route) => {
      await mayCome;
      await route.continue();
    });
    await box.fill('sym:plumTr');
    await isAsked;
    const answered = page.waitForResponse(/\/api\/suggestions/);
    await page.keyboard.press('Enter');
    await page.getByText('that is all').waitFor();
    letSuggest();
    await (await answered).finished();
    await page.waitForTimeout(100);
    await hasCount(page.locator('.suggestions'), 0);
    await page.unrouteAll();
    await page.goto('/');
    await page.locator('.box-input[aria-haspopup]').waitFor();
    await box.fill('img');
    // A hostile name is text.
    await option(/^<img src=x onerror=alert\(1\)>\.txt/).click();
    assert.match(await box.inputValue(), /^file:"\^<img src=x onerror=alert\\\(1\\\)>\\\.txt\$" $/);
    await page.keyboard.press('Enter');
    await page.getByText('1 match in 1 file').waitFor();
    assert.deepEqual(complaints, []);
  },
);

void test(
  'names that a busy daemon had no time for are asked for again',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    let lookupText = 0;
    await page.route(/kind=sym/, (route) =>
      ++lookupText < 3 ? route.fulfill({ json: [] }) : route.continue(),
    );
    await page.goto('/');
    await page.locator('.box-input[aria-haspopup]').waitFor();
    await page.getByRole('combobox', { name: 'Query' }).fill('sym:plumt');
    await page.getByRole('option', { name: /^plumTree function, src\/plum\.ts/ }).waitFor();
    assert.deepEqual(complaints, []);
  },
);

void test(
  'where nothing is found there is nothing to filter, to order and to keep',
  {
    skip: NO_BROWSER,
  },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await page.goto('/search?query=nosuchword');
    await page.getByText('that is all').waitFor();
    const tools = page.getByRole('toolbar', { name: 'Results' });
    await tools.getByRole('button', { name: 'Plan' }).waitFor();
    await hasCount(tools.getByRole('button'), 2);
    await hasCount(page.getByRole('combobox', { name: 'Order' }), 0);
    await hasCount(page.getByRole('complementary', { name: 'Filters' }), 0);
    assert.deepEqual(complaints, []);
  },
);

void test('facets narrow what is shown and live in the address', { skip: NO_BROWSER }, async () => {
  const { page } = await visit({ url: served.url });
  await page.goto('/search?query=plumtree');
  await page.getByText('that is all').waitFor();
  await page.getByRole('checkbox', { name: /^Python/ }).check();
  await hasCount(page.getByRole('article'), 1);
  assert.match(page.url(), /lang=Python/);
  await page.reload();
  await page.getByText('that is all').waitFor();
  await hasCount(page.getByRole('article'), 1);
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await hasCount(page.getByRole('article'), 4);
  await page.getByRole('checkbox', { name: /^Python/ }).check();
  await page.getByRole('button', { name: 'Add to query' }).click();
  await page.waitForURL(/query=plumtree\+lang%3APython$/);
  await page.getByText('that is all').waitFor();
  await hasCount(page.getByRole('article'), 1);
  await page.goto('/search?query=plumtree+or+nosuchword&lang=Python');
  await page.getByRole('button', { name: 'Add to query' }).click();
  await page.waitForURL(/query=%28plumtree\+or\+nosuchword%29\+lang%3APython$/);
  await hasCount(page.getByRole('article'), 1);
});

void test(
  'results are narrowed by folder, here and by the daemon',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await page.goto('/search?query=plumtree');
    await page.getByText('that is all').waitFor();
    const folders = page.getByRole('group', { name: /^Folder/ });
    // Filters are counted behind the results.
    await hasCount(folders.getByRole('checkbox'), 3);
    const labels = await folders
      .getByRole('checkbox')
      .evaluateAll((boxes) => boxes.map((box) => box.getAttribute('aria-label') ?? ''));
    assert.deepEqual(
      labels.map((label) => label.split(',')[0]!).toSorted((a, b) => (a < b ? -1 : 1)),
      ['repository root', 'src/', 'src/deep/'],
    );
    for (const [name, count, put] of [
      ['src/,', 1, /file%3A%5Esrc%2F%5B%5E%2F%5D\*%24$/],
      ['src/deep/', 1, /file%3A%5Esrc%2Fdeep%2F$/],
      ['repository root', 2, /file%3A%5E%5B%5E%2F%5D\*%24$/],
    ] as const) {
      await page.goto('/search?query=plumtree');
      await page.getByText('that is all').waitFor();
      await folders.getByRole('checkbox', { name: new RegExp(`^${name}`) }).check();
      await hasCount(page.getByRole('article'), count);
      await page.getByRole('button', { name: 'Add to query' }).click();
      await page.waitForURL(put);
      await page.getByText('that is all').waitFor();
      await hasCount(page.getByRole('article'), count);
    }
    assert.deepEqual(complaints, []);
  },
);

void test(
  'where the answer was not all the daemon is asked for what is chosen; counts are lower bounds meanwhile',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    const lookupText: unknown[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/api/stream_search')) lookupText.push(request.postDataJSON());
    });
    await page.goto('/search?query=plumtree&matches=2');
    await page.getByText('there are at least').waitFor();
    const displayed = page.getByRole('checkbox', { name: /, at least \d+ match/ });
    await displayed.nth(1).waitFor();
    // Another page would end it before it has asked.
    const isNarrowed = page.waitForRequest(
      (request) => request.postData()?.includes('"filter":"repo:') === true,
    );
    await page.getByRole('checkbox', { name: /^local/ }).check();
    await isNarrowed;
    await page.goto('/search?query=plumtree&matches=2&lang=Python');
    await page.getByText('1 match in 1 file of 1 repository · that is all').waitFor();
    await hasCount(page.getByRole('article'), 1);
    const filters = lookupText.map((body) => Object(body).filter as string | undefined);
    assert.equal(filters.at(-1), 'lang:Python');
    assert.match(
      filters.find((filter) => filter?.startsWith('repo:')) ?? '',
      /^repo:\^local\/.*\$$/,
    );
    // The answer to what is typed stays.
    await page.getByRole('combobox', { name: 'Query' }).fill('plumtree print');
    await page.getByText(/^No matches in/).waitFor();
    await page.waitForTimeout(300);
    assert.match(await page.locator('#search-summary').innerText(), /^No matches in/);
    assert.deepEqual(complaints, []);
  },
);

void test(
  'the plan is a picture and a table of what was left out',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await page.goto('/search?query=plumtree');
    await page.getByRole('button', { name: 'Plan' }).click();
    const plan = page.getByRole('region', { name: 'Plan' });
    await plan.getByText('text:"plumtree"').waitFor();
    assert.match(page.url(), /plan=1/);
    await shows(plan, /Files\n+\d+ searched.*4 match/);
    assert.deepEqual(await findingsOf(page), []);
    await plan.getByRole('button', { name: 'Show as table' }).click();
    await hasCount(plan.getByRole('row'), 5);
    await shows(plan.getByRole('row', { name: /^Bytes/ }), /read of/);
    assert.deepEqual(await findingsOf(page), []);
    assert.deepEqual(complaints, []);
  },
);

void test(
  'the start page offers queries of this index, which find something',
  { skip: NO_BROWSER },
  async () => {
    const { page } = await visit({ url: served.url });
    await page.goto('/');
    const examples = page.locator('section', { hasText: 'Try' }).getByRole('link');
    await examples.nth(2).waitFor();
    const queries = await examples.locator('code').allInnerTexts();
    assert.equal(queries.length, 3);
    for (const query of queries) {
      await page.goto(`/search?query=${encodeURIComponent(query)}`);
      await page.getByText('that is all').waitFor();
      // Rows come a moment after the sentence.
      await page.getByRole('article').first().waitFor();
    }
  },
);

void test(
  'history of a file, a commit with its changes, blame beside the code',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
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
    assert.deepEqual(complaints, []);
  },
);

void test(
  'a commit of new files, large ones folded; words that changed; white space; the first commit',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    const commits = await fetch(`${served.url}/api/commits?repo=local%2F${repoName}`);
    const hashes = ((await commits.json()) as { hash: string }[]).map(({ hash }) => hash);
    const [changed = '', , first = ''] = hashes;
    await page.goto(`/browse/local/${repoName}/-/commit/${first}`);
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

    await page.goto(`/browse/local/${repoName}/-/commit/${changed}`);
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
    await page.goto(`/browse/local/${repoName}/-/commit/${hashes.at(-1) ?? ''}`);
    await page.getByText('the first commit: all files are new').waitFor();
    await page.getByText('No differences.').waitFor();
    await page.goto(`/browse/local/${repoName}/-/commit/${changed}?path=words.txt&base=${first}`);
    await page.getByText('Only words.txt.').waitFor();
    await page.getByText('1 file +1 −1').waitFor();
    assert.deepEqual(complaints, []);
  },
);

void test('hostile names and contents are shown, never run', { skip: NO_BROWSER }, async () => {
  const { page, complaints } = await visit({ url: served.url });
  await page.goto('/search?query=plumtree');
  await page.getByText('that is all').waitFor();
  const card = page.getByRole('article').filter({ hasText: HOSTILE_NAME });
  await card.waitFor();
  await shows(card, /<script>alert\("plumtree"\)<\/script>/);
  assert.match(await card.innerText(), /U\+202E/);
  assert.match(await card.innerText(), /U\+200B/);
  assert.match(await card.innerText(), /U\+001B/);
  await card
    .getByRole('link', { name: /onerror/ })
    .first()
    .click();
  await page.locator('.cm-content').waitFor();
  assert.match(await page.title(), /<img src=x/);
  assert.equal(await page.locator('img[src]').count(), 0);
  assert.deepEqual(complaints, []);
});

/** Texts that are cut without a way to see them whole, and figures that do not stand below each other. */
const UNTIDY = `[...document.querySelectorAll('body *')].flatMap((one) => {
  const { textOverflow, fontVariantNumeric } = getComputedStyle(one);
  const isCut = textOverflow === 'ellipsis' && one.scrollWidth > one.clientWidth + 1;
  const isShown = one.offsetParent !== null && one.tagName !== 'INPUT';
  return [
    ...(isCut && isShown && one.closest('[title]') === null ? ['cut: ' + one.textContent] : []),
    ...(fontVariantNumeric === 'tabular-nums' ? [] : ['figures: ' + one.outerHTML.slice(0, 100)]),
  ];
})`;

const PAGES = ['/', '/search?query=plumtree', '/repos', '/settings/general', '/login', '/nowhere'];

for (const theme of ['light', 'dark'] as const) {
  void test(
    `every page, ${theme}: nothing for the accessibility checker, no sideways scroll from 360 px on`,
    { skip: NO_BROWSER },
    async () => {
      const { page, complaints } = await visit({ url: served.url, theme });
      for (const address of PAGES) {
        await page.goto(address);
        await page.getByRole('main').waitFor();
        await page.waitForLoadState('networkidle');
        assert.deepEqual(await findingsOf(page), [], address);
        for (const width of [360, 768, 1280, 1920]) {
          await page.setViewportSize({ width, height: 800 });
          // The page hears of it with the next frame.
          await page.evaluate('new Promise(requestAnimationFrame)');
          const size = Number(await page.evaluate('document.documentElement.scrollWidth'));
          assert.ok(size <= width, `${address} at ${width}: ${size}`);
          assert.deepEqual(await page.evaluate(UNTIDY), [], `${address} at ${width}`);
        }
        await page.setViewportSize({ width: 1280, height: 800 });
      }
      // The unknown page is a 404, which the browser notes.
      assert.deepEqual(
        complaints.filter((text) => !/404/.test(text)),
        [],
      );
    },
  );
}

void test('the policy of a page: only what is ours, a fresh nonce each time', async () => {
  const url =
    NO_BROWSER === false
      ? served.url
      : (await serveIndexed(temporaryFolder(), [makeRepo({ a: 'a' })])).url;
  const policies = await Promise.all(
    [1, 2].map(async () => (await fetch(`${url}/`)).headers.get('content-security-policy') ?? ''),
  );
  for (const policy of policies) {
    assert.match(policy, /^default-src 'none'; script-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|\*|http:/);
  }
  assert.notEqual(policies[0], policies[1]);
  assert.equal((await fetch(`${url}/`)).headers.get('etag'), null);
  const page = await fetch(`${url}/nowhere`, { headers: { Accept: 'text/html' } });
  assert.equal(page.status, 404);
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
  const api = await fetch(`${url}/api/nowhere`, { headers: { Accept: 'text/html' } });
  assert.match(api.headers.get('content-type') ?? '', /^application\/json/);
  const document = await (await fetch(`${url}/`)).text();
  const [main = ''] = /\/assets\/main-[\w-]+\.js/.exec(document) ?? [];
  const script = await fetch(`${url}${main}`, { headers: { 'Accept-Encoding': 'br' } });
  assert.equal(script.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.equal(script.headers.get('content-encoding'), 'br');
});
