// Large files: a line of 5 MB and 50,000 lines. Of either so much stands in the page as is seen, and there is a way to all of it.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { serveIndexed } from '../../e2e/daemon.ts';
import { commitAll, makeRepo, temporaryFolder, writeFiles } from '../../sources/git/fixture.ts';
import { findingsOf, goTo, pageTests, shows, until } from '../browser.ts';

const HALF = '1234,"text",'.repeat(220_000);
/** In JSON, which has colours and no symbols: to find those of such a line takes ten seconds of a processor. */
const longLine = (middle: string) => `[0,\n["first",${HALF}${middle},${HALF}"last"]]\n`;
const SIZE = /line of 5\.3 MB, show/;
/** Characters of code that the page may hold at a time. */
const VISIBLE_MAX = 100_000;
const LINES = 50_000;
const SCROLLER = `document.querySelector('.cm-scroller')`;

let base = '';
let head = '';

const test = pageTests(async () => {
  const lines = Array.from(
    { length: LINES },
    (_, index) => `export const plum${index} = ${index};`,
  );
  const repo = makeRepo({ 'line.json': longLine('1'), 'lines.ts': `${lines.join('\n')}\n` });
  writeFiles(repo, { 'line.json': longLine('"medlar"') });
  head = commitAll(repo);
  const config = path.join(temporaryFolder(), 'trawl.json');
  writeFileSync(config, JSON.stringify({ settings: { maxFileSize: 10_000_000 } }));
  const served = await serveIndexed(temporaryFolder(), [repo], { flags: ['--config', config] });
  await served.process.until(/ symbols found /);
  base = `/browse/local/${path.basename(repo)}/-`;
  return served.url;
});

/** Characters that stand in the elements of a kind. */
function sizeOf(page: Page, selector: string): Promise<number> {
  return page.evaluate<number>(
    `[...document.querySelectorAll('${selector}')].reduce((sum, one) => sum + one.textContent.length, 0)`,
  );
}

async function isBounded(page: Page, selector: string): Promise<void> {
  const size = await sizeOf(page, selector);
  assert.ok(size > 0 && size < VISIBLE_MAX, `${selector}: ${size}`);
}

test('a line of 5 MB in results is cut, and links to all of it', async ({ page }) => {
  await page.goto('/search?query=medlar');
  const line = page.locator('.result-line[data-match]');
  await shows(line.locator('mark'), 'medlar');
  await shows(line, SIZE);
  await isBounded(page, 'main');
  assert.deepEqual(await findingsOf(page), []);
  await page.keyboard.press('j');
  await page.keyboard.press('v');
  const preview = page.getByRole('complementary', { name: 'Preview' });
  await preview.locator('.cm-content').waitFor();
  await isBounded(page, '.preview');
  await line.getByText(SIZE).click();
  await page.waitForURL(/line\.json\?highlightRange=2/);
  await page.getByText('Syntax colours are off because the file is large.').waitFor();
  await isBounded(page, '.cm-content');
  const raw = page.getByRole('link', { name: 'Raw', exact: true });
  const answer = await page.request.get((await raw.getAttribute('href')) ?? '');
  assert.equal((await answer.body()).length, longLine('"medlar"').length);
});

test('a line of 5 MB in a file: scrollable to its end, highlighted, never wrapped', async ({
  page,
}) => {
  await page.goto('/');
  for (const isWrapped of [false, true]) {
    await goTo(page, '/settings/general');
    await page.getByLabel('Wrap long lines').setChecked(isWrapped);
    await goTo(page, `${base}/blob/line.json`);
    const content = page.locator('.cm-content');
    await content.getByText('"first",').waitFor();
    // Wrapped it would stop the page for seconds.
    const wrap = page.getByRole('button', { name: 'Wrap', exact: true });
    assert.equal(await wrap.getAttribute('aria-disabled'), 'true');
    await isBounded(page, '.cm-content');
    await page.getByRole('button', { name: 'Colour anyway' }).click();
    await page.locator('.cm-content .code-number').first().waitFor();
    await content.focus();
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await until(
      page,
      `document.querySelector('.cm-content').textContent.includes('"text","last"]]')`,
    );
    await isBounded(page, '.cm-content');
  }
});

test('a changed line of 5 MB', async ({ page }) => {
  await page.goto(`${base}/commit/${head}`);
  await page.locator('.line-cut').getByText(SIZE).first().waitFor();
  await isBounded(page, '.diff-text');
  await isBounded(page, 'main');
});

test('a file of 50,000 lines, scrolled to its end and to a line', async ({ page }) => {
  await page.goto(`${base}/blob/lines.ts`);
  const content = page.locator('.cm-content');
  await content.getByText('plum0').waitFor();
  await page.evaluate(`${SCROLLER}.scrollTop = ${SCROLLER}.scrollHeight`);
  await content.getByText(`plum${LINES - 1} `).waitFor();
  await isBounded(page, '.cm-content');
  await page.locator('.cm-content .code-keyword').first().waitFor();
  await page.goto(`${base}/blob/lines.ts?highlightRange=25000`);
  await page.locator('.linked-line').getByText('plum24999').waitFor();
  await isBounded(page, '.cm-content');
  await goTo(page, `${base}/blob/lines.ts?query=plum`);
  await page.getByText('first 1,000 matches').waitFor();
  await page.keyboard.press('n');
  await page.getByText('match 1 of the first 1,000').waitFor();
  await page.keyboard.press('p');
  await page.getByText('Only the first 1,000 matches of this file are loaded').waitFor();
});
