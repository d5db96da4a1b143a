// A search that streams, in a real browser: what comes in moves nothing, a search that is stopped goes on, a limit is said.

import assert from 'node:assert/strict';
import { setTimeout } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { hasCount, pageTests, until } from '../browser.ts';
import { openProxy } from '../proxy.ts';
import {
  proxy,
  locationsOf,
  search,
  settledLocations,
  slowTest,
  start as started,
  summary,
  test,
  url,
} from './streamed.ts';

/** Looks further down, if there is more. */
async function scrollWheel(page: Page): Promise<void> {
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
    const locations = await settledLocations(page);
    assert.ok(Object.keys(locations).length > 0);
    assert.ok(steps < 100);
    proxy.letPass(1);
    await page.waitForTimeout(100);
    const after = await locationsOf(page);
    for (const [key, position] of Object.entries(locations))
      assert.equal(after[key], position, key);
    await scrollWheel(page);
    steps++;
  }
  return steps;
}

slowTest('streaming results move nothing already painted', async ({ page }) => {
  await page.addInitScript(`
    self.shifts = [];
    new PerformanceObserver((list) => {
      for (const { value, sources } of list.getEntries())
        for (const { node } of sources)
          if (node?.parentElement?.closest('.result-scroller, .facets')) self.shifts.push(value);
    }).observe({ type: 'layout-shift', buffered: true });
  `);
  proxy.letPass(1);
  await page.goto('/search?query=plumtree&matches=20000');
  await page.getByRole('article').first().waitFor();
  const steps = await letAllCome(page, /that is all/);
  assert.ok(steps >= 4, `${steps} steps`);
  assert.match(await summary(page), /^18,000 matches in 300 files of 1 repository · that is all$/);
  assert.deepEqual(await page.evaluate('self.shifts'), []);
});

test('a complete answer while typing is reused on submit; a partial one is not', async ({
  page,
}) => {
  const limits: number[] = [];
  page.on('request', (request) => {
    if (!request.url().endsWith('/api/stream_search')) return;
    limits.push(Number(Object(request.postDataJSON()).matches));
  });
  await search(page, 'query=loquat');
  const box = page.getByRole('combobox', { name: 'Query' });
  await box.fill('quince');
  await page.getByText('3 matches in 2 files of 1 repository · that is all').waitFor();
  const locations = await settledLocations(page);
  await page.keyboard.press('Enter');
  await page.waitForURL(/query=quince$/);
  await page.waitForTimeout(300);
  assert.match(await summary(page), /^3 matches in 2 files/);
  assert.deepEqual(await locationsOf(page), locations);
  assert.deepEqual(limits, [10_000, 100]);
  await box.fill('plumtree');
  await page.getByText('press return for all').waitFor();
  await page.keyboard.press('Enter');
  await page.getByText(/^First 10,000 matches/).waitFor();
  assert.deepEqual(limits.slice(2), [100, 10_000]);
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

slowTest('a stopped search keeps its results, and continues on request', async ({ page }) => {
  proxy.letPass(2);
  await page.goto('/search?query=plumtree&matches=20000');
  await page.getByRole('article').first().waitFor();
  const ended = proxy.abandoned.count;
  await page.getByRole('button', { name: 'Stop' }).click();
  assert.match(await summary(page), /^[\d,]+ matches so far in \d+ files · you stopped the search/);
  const locations = await settledLocations(page);
  while (proxy.abandoned.count === ended) await page.waitForTimeout(20);
  proxy.letPass(Infinity);
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByText('that is all').waitFor();
  assert.match(await summary(page), /^18,000 matches in 300 files/);
  assert.deepEqual(await settledLocations(page), locations);
});

slowTest(
  'a search stopped before its first result shows none of the previous one',
  async ({ page }) => {
    proxy.letPass(Infinity);
    await search(page, 'query=quince');
    proxy.letPass(0);
    await page.getByRole('combobox', { name: 'Query' }).fill('plumtree');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Stop' }).click();
    assert.match(await summary(page), /^0 matches so far in 0 files · you stopped the search/);
    await hasCount(page.getByRole('article'), 0);
    proxy.letPass(Infinity);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.getByText(/^First 10,000 matches/).waitFor();
  },
);

test('results of the search before one that failed look old and are not downloaded', async ({
  page,
  allow,
}) => {
  allow(/status of 400/);
  await search(page, 'query=quince&isRegexEnabled=true');
  await page.getByRole('combobox', { name: 'Query' }).fill('quince [');
  await page.keyboard.press('Enter');
  await page.getByText(/In the query: /).waitFor();
  await hasCount(page.locator('.results-old'), 1);
  await page.getByText('below: results of the previous search').waitFor();
  await page.getByRole('feed', { name: 'Results of the previous search' }).waitFor();
  await hasCount(page.getByRole('article'), 2);
  for (const format of ['JSON', 'CSV'])
    await page.locator(`[aria-label="Download the results as ${format}"]:disabled`).waitFor();
});

test('results of typing get an address when a link is copied or followed', async ({
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  const box = page.getByRole('combobox', { name: 'Query' });
  await search(page, 'query=loquat&sort=path');
  await box.fill('quince');
  await page.getByText('3 matches in 2 files of 1 repository · that is all').waitFor();
  await page.locator('.result-line[data-match]').first().click();
  await page.locator('.cm-content').waitFor();
  await page.goBack();
  await page.waitForURL(/\/search\?query=quince&sort=path$/);
  await page.getByText('3 matches in 2 files of 1 repository · that is all').waitFor();
  assert.equal(await box.inputValue(), 'quince');
  await page.goBack();
  await page.waitForURL(/\/search\?query=loquat&sort=path$/);
  await box.fill('damson');
  await page.getByRole('article').filter({ hasText: 'dozen.txt' }).waitFor();
  await page.getByRole('button', { name: 'Copy a link to this search' }).click();
  await page.getByText('Link copied').waitFor();
  const copied = await page.evaluate<string>('navigator.clipboard.readText()');
  assert.match(copied, /\/search\?query=damson&sort=path$/);
  assert.match(page.url(), /\/search\?query=loquat&sort=path$/);
});

slowTest(
  'a screen reader announces new results, a wait after a moment, and the count once',
  async ({ page }) => {
    proxy.letPass(Infinity);
    await search(page, 'query=plumtree&matches=20000');
    // What such a reader is told: the text of the status without what is hidden from it.
    await page.evaluate(`{
      self.said = [];
      const heard = () => {
        const copy = document.querySelector('#search-summary [role=status]').cloneNode(true);
        for (const hidden of copy.querySelectorAll('[aria-hidden]')) hidden.remove();
        const text = copy.textContent.trim();
        if (text !== '' && text !== self.said.at(-1)) self.said.push(text);
      };
      heard();
      const changes = { subtree: true, childList: true, characterData: true };
      new MutationObserver(heard).observe(document.querySelector('#search-summary'), changes);
    }`);
    proxy.letPass(0);
    const box = page.getByRole('combobox', { name: 'Query' });
    await box.fill('plumtree or quince');
    await box.press('Enter');
    await page.getByText('Searching').waitFor();
    await page.locator('.waiting-line').waitFor();
    const said = () => page.evaluate<string[]>('self.said');
    const before = await said();
    assert.equal(before.length, 2);
    assert.match(before[0] ?? '', /^18,000 matches in 300 files/);
    assert.match(before[1] ?? '', /^Searching.*below: results of the previous search$/);
    proxy.letPass(Infinity);
    await page.getByText(/^First 10,000 matches/).waitFor();
    await page.waitForTimeout(500);
    const [count = '', ...more] = (await said()).slice(2);
    assert.match(count, /^First 10,000 matches/);
    assert.deepEqual(more, []);
    await hasCount(page.locator('.waiting-line'), 0);
  },
);

const cut = { isOn: true, count: 0 };
const cutTest = pageTests(async () => {
  await started();
  return await openProxy({
    url,
    pass: async (path, reply, response) => {
      const isCut = cut.isOn && path === '/api/stream_search';
      if (isCut) cut.count++;
      for await (const chunk of reply) {
        response.write(chunk);
        if (!isCut) continue;
        await setTimeout(50);
        response.destroy();
        return;
      }
      response.end();
    },
  });
});

cutTest(
  'a stream that is cut: it says so, and searches again on request',
  async ({ page, allow }) => {
    allow(/ERR_INCOMPLETE_CHUNKED_ENCODING/);
    await page.goto('/search?query=plumtree&matches=20000');
    await page.getByText('The answer ended early.').waitFor();
    // Longer than the first pause before a daemon that is away is asked again.
    await page.waitForTimeout(1500);
    assert.equal(cut.count, 1);
    await hasCount(page.locator('.bar'), 0);
    cut.isOn = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('that is all').waitFor();
  },
);

test('a limit is reported, and more results load below', async ({ page }) => {
  await page.goto('/search?query=plumtree&matches=5000');
  await page.getByText(/^First 5,000 matches in \d+ files · there/).waitFor();
  const locations = await settledLocations(page);
  await page.getByRole('button', { name: 'Show 10,000' }).click();
  // What was looked at stays, also where this answer found others in its stead: then they are some more.
  await page.getByText(/^First 1[01],\d{3} matches/).waitFor();
  assert.match(page.url(), /matches=10000|query=plumtree$/);
  const after = await settledLocations(page);
  for (const [key, position] of Object.entries(locations)) assert.equal(after[key], position, key);
});
