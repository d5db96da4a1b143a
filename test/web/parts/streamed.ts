// A daemon with results that stream in several events, and helpers that say where rows are.

import { isDeepStrictEqual } from 'node:util';
import type { Page } from 'playwright-core';
import { serveIndexed } from '../../e2e/daemon.ts';
import { commitAll, makeRepo, temporaryFolder, writeFiles } from '../../sources/git/fixture.ts';
import { once } from '../../base/once.ts';
import { pageTests, until } from '../browser.ts';
import { openSlowProxy, type SlowProxy } from '../slow-stream.ts';

/** A line of each of many files, and the name of the best. */
export const LONG_WORD = 'x'.repeat(90);
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

export async function search(page: Page, query: string): Promise<void> {
  await page.goto(`/search?${query}`);
  await page.getByText('that is all').waitFor();
}

export function summary(page: Page): Promise<string> {
  return page.locator('#search-summary [role=status]').innerText();
}

/** Where each painted file is. */
export function locationsOf(page: Page): Promise<Record<string, string>> {
  return page.evaluate(`Object.fromEntries(
    [...document.querySelectorAll('article')].map((article) => {
      const { left, top, width, height } = article.getBoundingClientRect();
      return [article.dataset.key, [left, top, width, height].join()];
    }),
  )`);
}

/** As `locationsOf`, once what is drawn in the next frames is there too. */
export async function settledLocations(page: Page): ReturnType<typeof locationsOf> {
  for (let last = await locationsOf(page); ;) {
    await page.waitForTimeout(200);
    const locations = await locationsOf(page);
    if (isDeepStrictEqual(locations, last)) return locations;
    last = locations;
  }
}

/** Until the history has what the list shows: where it is, and the file that has the focus. */
export async function positionKept(page: Page): Promise<void> {
  await until(
    page,
    `(({ offset, key }) =>
      offset === document.querySelector('.result-scroller').scrollTop &&
      key === document.activeElement.closest('article')?.dataset.key)(history.state.results)`,
  );
}

/** Address of the daemon, and the proxy before it. */
export let url = '';
export let proxy: SlowProxy;

export const start = once(async () => {
  const repo = makeRepo({});
  writeFiles(repo, {
    ...manyFiles(),
    'wide.ts': WIDE,
    [`${LONG_WORD}.txt`]: `${LONG_WORD}\n`,
    'dozen.txt': DOZEN,
    'formula.csv': '=damson(1),"damson"\n',
    'two.ts': 'quince\n',
    'tall.txt': `${FILLER.repeat(100)}loquat\n${FILLER.repeat(100)}`,
  });
  commitAll(repo);
  ({ url } = await serveIndexed(temporaryFolder(), [repo]));
  proxy = await openSlowProxy(url);
});

export const test = pageTests(async () => (await start(), url));
export const slowTest = pageTests(async () => (await start(), proxy.url));
