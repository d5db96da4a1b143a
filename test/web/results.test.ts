// The page of results in a real browser: what streams in stands still, more of a file is shown in place, the keys, the way
// back, files to keep, a look into a file; and what somebody may not see is nowhere.
// tier: ci (browser)

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { before, test } from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { serveIndexed } from '../e2e/daemon.ts';
import type { Served } from '../e2e/daemon.ts';
import { commitAll, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { NO_BROWSER, findingsOf, hasCount, shows, until, visit } from './browser.ts';
import { openSlowDoor } from './slow-stream.ts';
import type { SlowDoor } from './slow-stream.ts';

/** A line of each of many files, and the name of the best. */
const LONG_WORD = 'x'.repeat(90);
const FILLER = 'nothing to be found in this line of the file\n';

/** Enough text for several events of a stream, which has one for each 256 KiB. */
function manyFiles(): Record<string, string> {
  const files: Record<string, string> = {};
  for (let number = 0; number < 300; number++) {
    const name = `many/${String(number).padStart(3, '0')}.txt`;
    files[name] = `${`plumtree ${number} ${LONG_WORD}\n`.repeat(60)}${FILLER.repeat(3)}`;
  }
  return files;
}

const WIDE = [
  '// begins here: quince',
  ...Array.from({ length: 70 }, (_, index) => `const filler${index} = ${index};`),
  '// ends here: quince',
  '',
].join('\n');
const DOZEN = 'damson\n'.repeat(12);

let served: Served;
let door: SlowDoor;
before(async () => {
  if (NO_BROWSER !== false) return;
  const repo = makeRepo({});
  writeFiles(repo, {
    ...manyFiles(),
    'wide.ts': WIDE,
    [`${LONG_WORD}.txt`]: `${LONG_WORD}\n`,
    'dozen.txt': DOZEN,
    'formula.csv': '=damson(1),"damson"\n',
    'long.txt': `${'y'.repeat(1_500_000)} medlar ${'z'.repeat(300_000)}\n`,
    'two.ts': 'quince\n',
    'tall.txt': `${FILLER.repeat(100)}loquat\n${FILLER.repeat(100)}`,
  });
  commitAll(repo);
  served = await serveIndexed(temporaryFolder(), [repo]);
  door = await openSlowDoor(served.url);
});

async function search(page: Page, query: string): Promise<void> {
  await page.goto(`/search?${query}`);
  await page.getByText('that is all').waitFor();
}

function summary(page: Page): Promise<string> {
  return page.locator('#search-summary [role=status]').innerText();
}

/** Where each painted file is. */
function placesOf(page: Page): Promise<Record<string, string>> {
  return page.evaluate(`Object.fromEntries(
    [...document.querySelectorAll('article')].map((article) => {
      const { left, top, width, height } = article.getBoundingClientRect();
      return [article.dataset.key, [left, top, width, height].join()];
    }),
  )`);
}

/** As `placesOf`, once what is drawn in the next frames is there too. */
async function settledPlaces(page: Page): ReturnType<typeof placesOf> {
  for (let last = await placesOf(page); ;) {
    await page.waitForTimeout(200);
    const places = await placesOf(page);
    if (isDeepStrictEqual(places, last)) return places;
    last = places;
  }
}

/** Until the history has what the list shows: where it is, and the file that has the focus. */
async function placeKept(page: Page): Promise<void> {
  await until(
    page,
    `(({ offset, key }) =>
      offset === document.querySelector('.result-scroller').scrollTop &&
      key === document.activeElement.closest('article')?.dataset.key)(history.state.results)`,
  );
}

/** Looks further down, if there is more. */
async function turnWheel(page: Page): Promise<void> {
  const scroller = 'document.querySelector(".result-scroller")';
  const top = await page.evaluate<number>(`${scroller}.scrollTop`);
  await page.mouse.move(640, 500);
  await page.mouse.wheel(0, 700);
  // What the wheel does comes some frames later.
  await until(
    page,
    `(({ scrollTop, scrollHeight, clientHeight }) =>
      scrollTop > ${top} || scrollTop + clientHeight > scrollHeight - 1)(${scroller})`,
  );
}

/** Lets one event after the other through, looking further down meanwhile: nothing moves. Returns how many. */
async function letAllCome(page: Page, end: RegExp): Promise<number> {
  let steps = 0;
  while (!end.test(await summary(page))) {
    const places = await settledPlaces(page);
    assert.ok(Object.keys(places).length > 0);
    assert.ok(steps < 100);
    door.letPass(1);
    await page.waitForTimeout(100);
    const after = await placesOf(page);
    for (const [key, place] of Object.entries(places)) assert.equal(after[key], place, key);
    await turnWheel(page);
    steps++;
  }
  return steps;
}

void test(
  'three loads show the same files first, those of the API',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    const response = await fetch(`${served.url}/api/search`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ query: 'damson', matches: 1000 }),
    });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the shape is what the test checks
    const { files } = (await response.json()) as { files: { fileName: { text: string } }[] };
    const first = (): Promise<string[]> =>
      page.evaluate(
        `[...document.querySelectorAll('article')].slice(0, 5).map(({ dataset }) => dataset.key)`,
      );
    const loads = [];
    for (let load = 0; load < 3; load++) {
      await search(page, 'query=plumtree&matches=20000');
      loads.push(await first());
    }
    assert.ok(loads[0]!.length >= 4);
    for (const load of loads) assert.deepEqual(load, loads[0]);
    await search(page, 'query=damson&matches=1000');
    const paths = (await first()).map((key) => key.split(':').at(-1));
    assert.deepEqual(
      paths,
      files.slice(0, paths.length).map(({ fileName }) => fileName.text),
    );
    assert.deepEqual(complaints, []);
  },
);

void test('what streams in moves nothing that was painted', { skip: NO_BROWSER }, async () => {
  const { page, complaints } = await visit({ url: door.url });
  await page.addInitScript(`
    self.shifts = [];
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries())
        for (const { node } of sources)
          if (node?.parentElement?.closest('.result-scroller, .facets')) self.shifts.push(value);
    }).observe({ type: 'layout-shift', buffered: true });
  `);
  door.letPass(1);
  await page.goto('/search?query=plumtree&matches=20000');
  await page.getByRole('article').first().waitFor();
  const steps = await letAllCome(page, /that is all/);
  assert.ok(steps >= 4, `${steps} steps`);
  assert.match(await summary(page), /^18,000 matches in 300 files of 1 repository · that is all$/);
  assert.deepEqual(await page.evaluate('self.shifts'), []);
  assert.deepEqual(complaints, []);
});

void test(
  'nor does what streams in behind another search move files that both have',
  { skip: NO_BROWSER },
  async () => {
    const turnedDoor = await openSlowDoor(served.url, true);
    const { page, complaints } = await visit({ url: turnedDoor.url });
    turnedDoor.letPass(1);
    await page.goto(`/search?query=${LONG_WORD}`);
    await page.getByRole('article').first().waitFor();
    const before = Object.keys(await settledPlaces(page));
    await page.getByRole('combobox', { name: 'Query' }).fill(LONG_WORD.toUpperCase());
    await page.keyboard.press('Enter');
    // What the search before still waits for passes as well.
    for (let tries = 0; !/so far/.test(await summary(page)); tries++) {
      assert.ok(tries < 50);
      turnedDoor.letPass(1);
      await page.waitForTimeout(200);
    }
    const places = await settledPlaces(page);
    // Another event may have passed meanwhile: what it brought is below.
    assert.deepEqual(Object.keys(places).slice(0, before.length), before);
    turnedDoor.letPass(Infinity);
    await page.getByText(/^First 10,000 matches/).waitFor();
    await page.waitForTimeout(300);
    const after = await placesOf(page);
    for (const [key, place] of Object.entries(places)) assert.equal(after[key], place, key);
    assert.deepEqual(complaints, []);
  },
);

void test(
  'an answer to what was typed that was all stands when it is asked for; a part of it does not',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    const lookupText: number[] = [];
    page.on('request', (request) => {
      if (!request.url().endsWith('/api/stream_search')) return;
      lookupText.push(Number(Object(request.postDataJSON()).matches));
    });
    await search(page, 'query=loquat');
    const box = page.getByRole('combobox', { name: 'Query' });
    await box.fill('quince');
    await page.getByText('3 matches in 2 files of 1 repository · that is all').waitFor();
    const places = await settledPlaces(page);
    await page.keyboard.press('Enter');
    await page.waitForURL(/query=quince$/);
    await page.waitForTimeout(300);
    assert.match(await summary(page), /^3 matches in 2 files/);
    assert.deepEqual(await placesOf(page), places);
    assert.deepEqual(lookupText, [10_000, 100]);
    await box.fill('plumtree');
    await page.getByText('press return for all').waitFor();
    await page.keyboard.press('Enter');
    await page.getByText(/^First 10,000 matches/).waitFor();
    assert.deepEqual(lookupText.slice(2), [100, 10_000]);
    // Typed anew after it was changed: the address is the same, the answer is asked for.
    await box.fill('plumtre');
    await page.getByText('press return for all').waitFor();
    await box.fill('plumtree');
    await page.keyboard.press('Enter');
    await page.getByText(/^First 10,000 matches/).waitFor();
    // The way back has what was not asked for again.
    await page.goBack();
    await page.getByText('3 matches in 2 files of 1 repository · that is all').waitFor();
    assert.deepEqual(complaints, []);
  },
);

void test(
  'a search that is stopped keeps what is there, and goes on when asked',
  { skip: NO_BROWSER },
  async () => {
    const { page } = await visit({ url: door.url });
    door.letPass(2);
    await page.goto('/search?query=plumtree&matches=20000');
    await page.getByRole('article').first().waitFor();
    const ended = door.left.count;
    await page.getByRole('button', { name: 'Stop' }).click();
    assert.match(
      await summary(page),
      /^[\d,]+ matches so far in \d+ files · you stopped the search/,
    );
    const places = await settledPlaces(page);
    while (door.left.count === ended) await page.waitForTimeout(20);
    door.letPass(Infinity);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText('that is all').waitFor();
    assert.match(await summary(page), /^18,000 matches in 300 files/);
    assert.deepEqual(await settledPlaces(page), places);
  },
);

void test(
  'what is shown is said until there is something else; a wait is shown after a moment',
  { skip: NO_BROWSER },
  async () => {
    const { page } = await visit({ url: door.url });
    door.letPass(Infinity);
    await page.goto('/search?query=plumtree&matches=20000');
    await page.getByText('that is all').waitFor();
    const said = await summary(page);
    await page.evaluate(`
      self.said = [];
      new MutationObserver(() => {
        self.said.push(document.querySelector('#search-summary [role=status]').innerText);
      }).observe(document.querySelector('#search-summary'), { subtree: true, childList: true, characterData: true });
    `);
    door.letPass(0);
    const box = page.getByRole('combobox', { name: 'Query' });
    await box.fill('plumtree or quince');
    await box.press('Enter');
    await page.getByText('Searching').waitFor();
    await page.locator('.waiting-line').waitFor();
    const texts = (await page.evaluate('self.said')) as string[];
    assert.deepEqual([...new Set(texts)], [said, 'Searching']);
    door.letPass(Infinity);
    await page.getByText(/^First 10,000 matches/).waitFor();
    await hasCount(page.locator('.waiting-line'), 0);
  },
);

void test('a limit is said, and more comes below what is there', { skip: NO_BROWSER }, async () => {
  const { page } = await visit({ url: served.url });
  await page.goto('/search?query=plumtree&matches=5000');
  await page.getByText(/^First 5,000 matches in \d+ files · there/).waitFor();
  const places = await settledPlaces(page);
  await page.getByRole('button', { name: 'Show 10,000' }).click();
  // What was looked at stays, also where this answer found others in its stead: then they are some more.
  await page.getByText(/^First 1[01],\d{3} matches/).waitFor();
  assert.match(page.url(), /matches=10000|query=plumtree$/);
  const after = await settledPlaces(page);
  for (const [key, place] of Object.entries(places)) assert.equal(after[key], place, key);
});

void test('a narrow window has room for all of the limit', { skip: NO_BROWSER }, async () => {
  const { page } = await visit({ url: served.url, width: 360 });
  await page.goto('/search?query=plumtree&matches=5000');
  const said = page.getByText(/^First 5,000 matches in \d+ files · there/);
  await said.waitFor();
  for (const one of [said, page.locator('#search-summary')])
    assert.ok(
      await one.evaluate(
        ({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>
          scrollWidth <= clientWidth && scrollHeight <= clientHeight,
      ),
    );
});

void test(
  'whether that is all is read before the times, also where texts are larger',
  { skip: NO_BROWSER },
  async () => {
    const { page } = await visit({ url: served.url });
    await search(page, 'query=plumtree&matches=20000');
    await page.evaluate('void (document.documentElement.style.fontSize = "20px")');
    const widths = `(() => {
      const said = document.querySelector('.summary-status > span');
      const { clientWidth } = document.querySelector('.summary-times');
      const text = document.createRange();
      text.selectNodeContents(said);
      // A part of a px is enough to cut it.
      const isCut = text.getBoundingClientRect().width > said.getBoundingClientRect().width;
      return { isCut, times: clientWidth };
    })()`;
    let cutCount = 0;
    let before: number | undefined;
    for (let width = 1400; width >= 1100; width -= 10) {
      await page.setViewportSize({ width, height: 800 });
      const { isCut, times } = await page.evaluate<{ isCut: boolean; times: number }>(widths);
      assert.ok(!isCut || times === 0, `${width}`);
      if (before !== undefined && times < before) cutCount++;
      before = times;
    }
    assert.ok(cutCount > 0);
  },
);

void test(
  'more lines, in place: of a gap, around a match, of a file',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
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
    assert.deepEqual(complaints, []);
  },
);

void test(
  'a key shows more around a match, which stays where it is',
  { skip: NO_BROWSER },
  async () => {
    const { page } = await visit({ url: served.url });
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
  },
);

/** Lists hear of the heights of their rows 100 ms late: until then rows are in the page, and cannot have the focus. */
async function measureLate(page: Page): Promise<void> {
  await page.addInitScript(`
    self.ResizeObserver = class extends ResizeObserver {
      constructor(heard) {
        super((entries, observer) => setTimeout(() => heard(entries, observer), 100));
      }
    };
  `);
}

void test(
  'keys lead to a row that is not measured yet, in results and in the tree',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await measureLate(page);
    await search(page, 'query=plumtree&matches=20000');
    await page.getByRole('article').first().waitFor();
    await page.keyboard.press('Shift+G');
    const place = 'document.activeElement.closest("article")?.getAttribute("aria-posinset")';
    await until(page, `${place} === '300'`);
    await page.keyboard.press('Enter');
    const active = 'document.activeElement.getAttribute("title")';
    const row = page.getByRole('treeitem').first();
    await row.focus();
    await page.keyboard.press('End');
    await until(page, `${active} === '${LONG_WORD}.txt'`);
    await page.keyboard.press('Home');
    await until(page, `${active} === 'many'`);
    assert.deepEqual(complaints, []);
  },
);

void test('a long line is cut around its match', { skip: NO_BROWSER }, async () => {
  const { page } = await visit({ url: served.url });
  await search(page, 'query=medlar');
  const line = page.locator('.result-line[data-match]');
  await shows(line.locator('mark'), 'medlar');
  await shows(line, /line of 1\.8 MB, show$/);
  assert.ok((await line.innerText()).length < 700);
});

void test('from match to match, file to file, by keys alone', { skip: NO_BROWSER }, async () => {
  const { page, complaints } = await visit({ url: served.url });
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
  assert.match(page.url(), /preview=/);
  await preview.getByRole('button', { name: 'Previous match' }).click();
  await shows(preview.locator('.linked-line'), '// begins here: quince');
  assert.deepEqual(await findingsOf(page), []);
  await preview.getByRole('button', { name: 'Close preview' }).click();
  await preview.waitFor({ state: 'detached' });
  assert.equal(await focused(), 'line 72: // ends here: quince');
  await page.keyboard.press('Enter');
  await page.waitForURL(/wide\.ts\?highlightRange=72&query=quince/);
  assert.deepEqual(complaints, []);
});

void test(
  'back and forward bring rows, scroll and focus, without a request; a reload asks again',
  { skip: NO_BROWSER },
  async () => {
    const { page } = await visit({ url: served.url });
    const lookupText: string[] = [];
    page.on('request', (request) => {
      if (request.url().endsWith('/api/stream_search')) lookupText.push(request.url());
    });
    await search(page, 'query=plumtree&matches=20000&sort=path');
    const offset = () =>
      page.evaluate<number>('document.querySelector(".result-scroller").scrollTop');
    await page.evaluate('document.querySelector(".result-scroller").scrollTop = 4000');
    const card = page.locator('article[aria-posinset="19"]');
    const line = card.locator('.result-line').nth(2);
    // What is not drawn yet takes no focus.
    await line.waitFor();
    await line.focus();
    await placeKept(page);
    const was = await offset();
    assert.ok(was > 3000);
    const places = await settledPlaces(page);
    const key = () =>
      page.evaluate<string>('document.activeElement.closest("article")?.dataset.key');
    const focused = await key();
    await page.getByRole('combobox', { name: 'Query' }).fill('quince');
    await page.keyboard.press('Enter');
    await page.getByText(/^3 matches in 2 files/).waitFor();
    const count = lookupText.length;
    await page.goBack();
    await page.getByText(/^18,000 matches/).waitFor();
    await until(page, `document.activeElement.closest('article') !== null`);
    // How far rows are drawn beyond the window differs.
    const after = Object.entries(await settledPlaces(page)).filter(([name]) => name in places);
    assert.equal(await offset(), was);
    assert.ok(after.length >= 4);
    for (const [name, place] of after) assert.equal(place, places[name], name);
    assert.equal(await key(), focused);
    await page.goForward();
    await page.getByText(/^3 matches in 2 files/).waitFor();
    await page.getByRole('link', { name: /two\.ts$/ }).click();
    await page.locator('.cm-content').waitFor();
    await page.goBack();
    await page.getByText(/^3 matches in 2 files/).waitFor();
    assert.equal(lookupText.length, count);
    await page.goBack();
    await page.getByText(/^18,000 matches/).waitFor();
    assert.equal(lookupText.length, count);
    await page.reload();
    await page.getByText(/^18,000 matches/).waitFor();
    assert.equal(lookupText.length, count + 1);
    // The list goes there once it has measured its frame.
    await until(page, `document.querySelector(".result-scroller").scrollTop === ${was}`);
  },
);

void test(
  'back from a file: rows, scroll and focus as they were; what is typed then begins at its top',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await search(page, 'query=plumtree&matches=20000&sort=path');
    const offset = () =>
      page.evaluate<number>('document.querySelector(".result-scroller").scrollTop');
    for (const [place, fewer] of [
      ['19', 3000],
      ['13', 1000],
    ] as const) {
      await page.evaluate(`document.querySelector(".result-scroller").scrollTop = ${fewer + 1000}`);
      const link = page.locator(`article[aria-posinset="${place}"] .result-line`).nth(2);
      const key = await page.locator(`article[aria-posinset="${place}"]`).getAttribute('data-key');
      // What is not drawn yet takes no focus.
      await link.waitFor();
      await link.focus();
      await placeKept(page);
      const was = await offset();
      assert.ok(was > fewer);
      const places = await settledPlaces(page);
      await page.keyboard.press('Enter');
      await page.locator('.cm-content').waitFor();
      await page.goBack();
      await until(page, `document.activeElement.closest('article')?.dataset.key === '${key}'`);
      assert.equal(await offset(), was);
      // How far rows are drawn beyond the window differs.
      const after = Object.entries(await placesOf(page)).filter(([name]) => name in places);
      assert.ok(after.length >= 3);
      for (const [name, at] of after) assert.equal(at, places[name], name);
      // The list goes to its place again for a moment, while rows get their heights.
      await page.waitForTimeout(300);
    }
    await page.keyboard.press('/');
    await page.keyboard.type('plumtree 1');
    await page.getByText(/^First 100 matches/).waitFor();
    assert.equal(await offset(), 0);
    assert.deepEqual(complaints, []);
  },
);

void test(
  'the way back leaves the focus where it has been put since',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await search(page, 'query=quince');
    await page.getByRole('link', { name: /two\.ts$/ }).focus();
    await placeKept(page);
    await page.keyboard.press('Enter');
    await page.locator('.cm-content').waitFor();
    // Frames that wait until they are let go, as on a machine that has much to do.
    await page.evaluate(`
    const ask = requestAnimationFrame;
    globalThis.held = [];
    globalThis.requestAnimationFrame = (run) => held.push(run);
    globalThis.letGo = () => { globalThis.requestAnimationFrame = ask; for (const run of held) ask(run); };
  `);
    await page.goBack();
    await page.getByText(/^3 matches in 2 files/).waitFor();
    const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")');
    await page.keyboard.press('/');
    await page.evaluate('letGo()');
    await page.waitForTimeout(300);
    assert.equal(await focused(), 'Query');
    // Another list with the same file comes while one types.
    await page.getByRole('combobox', { name: 'Query' }).fill('quince file:two');
    await page.getByText(/^1 match in 1 file/).waitFor();
    await page.waitForTimeout(300);
    assert.equal(await focused(), 'Query');
    assert.deepEqual(complaints, []);
  },
);

void test(
  'results that are loaded anew get the focus only where it has not been put elsewhere',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await search(page, 'query=quince');
    await page.getByRole('link', { name: /two\.ts$/ }).focus();
    await placeKept(page);
    const inList = `document.activeElement.closest('article') !== null`;
    await page.reload();
    await until(page, inList);
    let letGo = (): void => {};
    const held = new Promise<void>((resolve) => {
      letGo = resolve;
    });
    await page.route('**/api/stream_search', async (route) => {
      await held;
      await route.continue();
    });
    await page.reload();
    await page.getByRole('combobox', { name: 'Query' }).focus();
    letGo();
    await page.getByText(/^3 matches in 2 files/).waitFor();
    await page.waitForTimeout(300);
    assert.equal(await page.evaluate('document.activeElement.getAttribute("aria-label")'), 'Query');
    assert.deepEqual(complaints, []);
  },
);

void test(
  'loaded anew, an answer that the daemon narrows behind another one is where it was',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: door.url });
    const scroller = 'document.querySelector(".result-scroller")';
    const scrollTop = `${scroller}.scrollTop`;
    const narrowed = async (): Promise<void> => {
      await page.waitForRequest((request) => request.postData()?.includes('"filter"') === true);
      // The answer before says the same.
      await page.locator('.summary-stop:disabled').waitFor({ state: 'attached' });
      await page.getByText(/^First 5,000 matches/).waitFor();
    };
    door.letPass(Infinity);
    const opened = narrowed();
    await page.goto('/search?query=plumtree&matches=5000&lang=Text');
    await opened;
    await page.evaluate(`${scrollTop} = 2000`);
    await placeKept(page);
    door.letPass(1);
    const again = narrowed();
    await page.reload();
    // How many files come first differs: until there are enough to go there.
    for (let tries = 0; (await page.evaluate(`${scroller}?.scrollTop`)) !== 2000; tries++) {
      assert.ok(tries < 20);
      await page.waitForTimeout(500);
      door.letPass(1);
    }
    // The list of the first answer is at its place, and has said so.
    await page.waitForTimeout(300);
    door.letPass(Infinity);
    await again;
    await page.waitForTimeout(300);
    await until(page, `${scrollTop} === 2000`);
    assert.deepEqual(complaints, []);
  },
);

void test('results can be kept as JSON and as a table', { skip: NO_BROWSER }, async () => {
  const { page } = await visit({ url: served.url });
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

void test('what is copied is code alone', { skip: NO_BROWSER }, async () => {
  const { page, context } = await visit({ url: served.url });
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

void test(
  'order by path; filters in a drawer where there is little room',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await search(page, 'query=quince');
    await hasCount(page.getByRole('article'), 2);
    await page.getByLabel('Order').selectOption('path');
    const titles = () =>
      page.evaluate<string[]>(
        `[...document.querySelectorAll('article')].map((one) => one.getAttribute('aria-label'))`,
      );
    assert.deepEqual(await titles(), ['two.ts', 'wide.ts']);
    assert.match(page.url(), /sort=path/);
    await page.setViewportSize({ width: 360, height: 800 });
    await page.getByRole('button', { name: 'Filters' }).click();
    const drawer = page.getByRole('dialog', { name: 'Filters' });
    await drawer.getByRole('checkbox', { name: /^TypeScript/ }).check();
    await page.keyboard.press('Escape');
    await drawer.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Filters (1)' }).waitFor();
    assert.deepEqual(await findingsOf(page), []);
    assert.deepEqual(complaints, []);
  },
);

void test('what is printed is all that is loaded', { skip: NO_BROWSER }, async () => {
  const { page } = await visit({ url: served.url });
  await search(page, 'query=plumtree&matches=20000');
  await page.emulateMedia({ media: 'print' });
  await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
  await hasCount(page.locator('.printed section'), 300);
  await page.evaluate(`dispatchEvent(new Event('afterprint'))`);
  await page.locator('.printed').waitFor({ state: 'detached' });
});

void test(
  'a search worker that cannot be loaded is told, and asked for again',
  { skip: NO_BROWSER },
  async () => {
    const { page } = await visit({ url: served.url });
    await page.route(/search-worker/, (route) => route.abort());
    await page.goto('/search?query=quince');
    await page.getByText('A part of this page could not be loaded').waitFor();
    await page.unroute(/search-worker/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('that is all').waitFor();
  },
);
