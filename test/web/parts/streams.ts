// A search that streams, in a real browser: what comes in moves nothing, a search that is stopped goes on, a limit is said.

import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { hasCount, pageTests, until } from '../browser.ts';
import { openSlowDoor } from '../slow-stream.ts';
import type { SlowDoor } from '../slow-stream.ts';
import {
  LONG_WORD,
  placeKept,
  placesOf,
  search,
  settledPlaces,
  streamed,
  summary,
} from './streamed.ts';

let door: SlowDoor;
const test = pageTests(async () => (await streamed()).url);
const slowTest = pageTests(async () => {
  ({ door } = await streamed());
  return door.url;
});
let turnedDoor: SlowDoor;
const turnedTest = pageTests(async () => {
  turnedDoor = await openSlowDoor((await streamed()).url, true);
  return turnedDoor.url;
});

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

slowTest('what streams in moves nothing that was painted', async ({ page }) => {
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
});

turnedTest(
  'nor does what streams in behind another search move files of both',
  async ({ page }) => {
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
  },
);

test('an answer to what was typed that was all stands when it is asked for; a part of it does not', async ({
  page,
}) => {
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
});

slowTest(
  'a search that is stopped keeps what is there, and goes on when asked',
  async ({ page }) => {
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

slowTest(
  'what is shown is said until there is something else; a wait is shown after a moment',
  async ({ page }) => {
    door.letPass(Infinity);
    await search(page, 'query=plumtree&matches=20000');
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

test('a limit is said, and more comes below what is there', async ({ page }) => {
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

test('a narrow window has room for all of the limit', async ({ page }) => {
  await page.setViewportSize({ width: 360, height: 800 });
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

test('whether that is all is read before the times, also where texts are larger', async ({
  page,
}) => {
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
});

slowTest(
  'loaded anew, an answer that the daemon narrows behind another one is where it was',
  async ({ page }) => {
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
  },
);
