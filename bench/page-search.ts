// The page of results in a real browser: first load, time to the first painted result, longest frame, memory, and back.

import type { Browser, CDPSession, Page } from 'playwright-core';
import { formatMs, median, quantile } from '../daemon/cli/bench/statistics.ts';

/** Two words that few files have, so that each search replaces another, and one that most have. */
const RARE = ['PM_RESUME', 'PM_FREEZE'] as const;
const FREQUENT = 'return';
const SEARCHES = 30;
const REST_MS = 500;
/** Ranges and ms of an answer. */
const MATCHES = 10_000;

const SCRIPT = `
  window.bench_ = { interactive: 0, longest: 0, last: 0 };
  const painted = (then) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => then(performance.now());
    port2.postMessage(0);
  };
  const tick = (now) => {
    if (bench_.last > 0) bench_.longest = Math.max(bench_.longest, now - bench_.last);
    bench_.last = now;
    if (bench_.interactive === 0 && document.activeElement?.matches('.box-input'))
      bench_.interactive = performance.now();
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  window.awaitFirst = (word) => void (bench_.first = new Promise((resolve) => {
    addEventListener('keydown', ({ timeStamp }) => {
      const look = () => {
        const mark = document.querySelector('article mark');
        if (mark?.textContent.toLowerCase() === word.toLowerCase()) painted((at) => resolve(at - timeStamp));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    }, { once: true, capture: true });
  }));
  window.backAgain = () => new Promise((resolve) => {
    const start = performance.now();
    const look = () => {
      if (document.querySelector('article .result-line') === null) requestAnimationFrame(look);
      else painted((at) => resolve(at - start));
    };
    history.back();
    requestAnimationFrame(look);
  });
`;

async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  const page = await context.newPage();
  await page.addInitScript(SCRIPT);
  return page;
}

interface FirstLoad {
  readonly bytes: number;
  readonly interactiveMs: number;
}

/** Bytes until the network is idle, and when the box took keys, with an empty cache. */
async function firstLoad(browser: Browser, url: string): Promise<FirstLoad> {
  const page = await openPage(browser);
  const sizes: Promise<number>[] = [];
  page.on('requestfinished', (request) => {
    const size = request
      .sizes()
      .then(({ responseBodySize, responseHeadersSize }) => responseBodySize + responseHeadersSize);
    sizes.push(size);
  });
  await page.goto(`${url}/`, { waitUntil: 'networkidle' });
  await page.locator('.box-input:focus').waitFor();
  const interactiveMs = Number(await page.evaluate('bench_.interactive'));
  const bytes = (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
  await page.context().close();
  return { bytes, interactiveMs };
}

async function search(page: Page, query: string): Promise<void> {
  const box = page.getByRole('combobox', { name: 'Query' });
  await box.fill(query);
  await box.press('Enter');
}

/** Until the frame after the first result. */
async function keyToResult(page: Page): Promise<number[]> {
  const samples: number[] = [];
  for (let run = 0; run < SEARCHES + 2; run++) {
    const word = RARE[run % RARE.length] ?? RARE[0];
    await page.getByRole('combobox', { name: 'Query' }).fill(word);
    // Two calls: the key must not come before the page waits for it.
    await page.evaluate(`awaitFirst(${JSON.stringify(word)})`);
    await page.keyboard.press('Enter');
    samples.push(Number(await page.evaluate('bench_.first')));
    await page.locator('#search-summary').getByText('that is all').waitFor();
    await page.waitForTimeout(REST_MS);
  }
  // The first search of each word finds nothing in memory.
  return samples.slice(RARE.length);
}

interface HeapUsage {
  readonly usedSize: number;
  readonly embedderHeapUsedSize?: number;
  readonly backingStorageSize?: number;
}

function sizeOf({ usedSize, embedderHeapUsedSize = 0, backingStorageSize = 0 }: HeapUsage): number {
  return usedSize + embedderHeapUsedSize + backingStorageSize;
}

async function workerHeaps(session: CDPSession): Promise<number> {
  const sessions: string[] = [];
  session.on('Target.attachedToTarget', ({ sessionId }) => sessions.push(sessionId));
  const options = { autoAttach: true, waitForDebuggerOnStart: false, flatten: false };
  await session.send('Target.setAutoAttach', options);
  let total = 0;
  for (const sessionId of sessions)
    total += await new Promise<number>((resolve) => {
      session.on('Target.receivedMessageFromTarget', (event) => {
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an answer to what is asked below
        const answer = JSON.parse(event.message) as { id?: number; result?: HeapUsage };
        const isAnswer = event.sessionId === sessionId && answer.id === 2;
        if (isAnswer && answer.result !== undefined) resolve(sizeOf(answer.result));
      });
      for (const [index, method] of [
        'HeapProfiler.collectGarbage',
        'Runtime.getHeapUsage',
      ].entries()) {
        const message = JSON.stringify({ id: index + 1, method });
        void session.send('Target.sendMessageToTarget', { sessionId, message });
      }
    });
  return total;
}

async function memoryOf(page: Page): Promise<number> {
  const session = await page.context().newCDPSession(page);
  await session.send('HeapProfiler.collectGarbage');
  const own = await session.send('Runtime.getHeapUsage');
  return sizeOf(own) + (await workerHeaps(session));
}

interface Stream {
  readonly longestFrameMs: number;
  readonly memorySize: number;
}

async function streamMany(page: Page): Promise<Stream> {
  await page.evaluate('bench_.longest = 0');
  await search(page, FREQUENT);
  const summary = page.locator('#search-summary');
  await summary
    .getByText(`First ${MATCHES.toLocaleString('en')} matches`)
    .waitFor({ timeout: 120_000 });
  await page.waitForTimeout(REST_MS);
  const longestFrameMs = Number(await page.evaluate('bench_.longest'));
  return { longestFrameMs, memorySize: await memoryOf(page) };
}

/** Until the frame after the results. */
async function backToResults(page: Page): Promise<number> {
  await page.locator('article .result-line').nth(1).click();
  await page.locator('.cm-content').waitFor();
  await page.waitForTimeout(REST_MS);
  return Number(await page.evaluate('backAgain()'));
}

function middle<Of>(all: readonly Of[], figure: (one: Of) => number): number {
  return median(all.map(figure));
}

/** Label, targets, measurement. */
export async function searchRows(
  browser: Browser,
  url: string,
  rounds: number,
): Promise<string[][]> {
  const loads: FirstLoad[] = [];
  const streams: Stream[] = [];
  const backs: number[] = [];
  let keys: number[] = [];
  for (let round = 0; round < rounds; round++) {
    loads.push(await firstLoad(browser, url));
    const page = await openPage(browser);
    await page.goto(`${url}/search?query=${RARE[1]}`);
    await page.locator('article').first().waitFor();
    await page.waitForTimeout(REST_MS);
    if (round === 0) keys = await keyToResult(page);
    streams.push(await streamMany(page));
    backs.push(await backToResults(page));
    await page.context().close();
  }
  const sorted = keys.toSorted((a, b) => a - b);
  return [
    [
      'first load',
      '250 KB; 150 KB',
      `${(middle(loads, ({ bytes }) => bytes) / 1000).toFixed(0)} KB`,
    ],
    [
      '  interactive',
      '1,000 ms; 400 ms',
      `${formatMs(middle(loads, (one) => one.interactiveMs))} ms`,
    ],
    ['key to first result', '60 ms; 25 ms', `${formatMs(median(keys))} ms`],
    ['  p95', '', `${formatMs(quantile(sorted, 0.95))} ms`],
    [
      `${MATCHES.toLocaleString('en')} results, longest frame`,
      '100 ms; 32 ms',
      `${formatMs(middle(streams, (one) => one.longestFrameMs))} ms`,
    ],
    [
      '  memory',
      '300 MB; 120 MB',
      `${(middle(streams, (one) => one.memorySize) / 1e6).toFixed(0)} MB`,
    ],
    ['back to them', '50 ms', `${formatMs(middle(backs, (one) => one))} ms`],
  ];
}
