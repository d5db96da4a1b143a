// The page in a real browser (Debian's Chromium) against a real daemon. On large files: how long a file takes to be there, and
// the longest frame while it is opened and scrolled to its end; blame whose answer the daemon has already. With the Linux tree
// as well: what page-search.ts measures.
//   node build/bench/page.js [ROUNDS [TREE]]
// The files are made in a temporary place. Rounds are in turn, and the median of each figure is shown.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chromium } from 'playwright-core';
import type { Page } from 'playwright-core';
import { buildIndex, findSymbols, startDaemon } from './daemon.ts';
import { searchRows } from './page-search.ts';
import { formatMs, formatTable, median } from '../daemon/cli/bench/statistics.ts';

const [roundCount = '5', tree] = process.argv.slice(2);

const CHROMIUM = '/usr/bin/chromium';
const BLAMED_LINES = 3000;
const BLAMED_COMMITS = 30;
const WHEEL_MS = 1000 / 60;
const WHEELS = 240;

const FILES: Readonly<Record<string, string>> = {
  'small.ts': linesOf(20),
  'lines.ts': linesOf(50_000),
  'large.ts': linesOf(116_000),
  'line.js': `var a=[${'0x1f,"text",'.repeat(400_000)}];\n`,
};

function lineAt(index: number): string {
  return index % 10 === 0
    ? `/** Adds ${index} to what it is given. */`
    : `export const add${index} = (value: number) => value + ${index};`;
}

function linesOf(count: number): string {
  return `${Array.from({ length: count }, (_, index) => lineAt(index)).join('\n')}\n`;
}

function makeRepository(folder: string): void {
  const git = (...args: string[]): void => {
    const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@example.com'];
    const { status, stderr } = spawnSync('git', [...identity, ...args], { cwd: folder });
    if (status !== 0) throw new Error(`git ${args.join(' ')}: ${stderr.toString()}`);
  };
  mkdirSync(folder);
  git('init', '-q', '-b', 'main');
  for (const [name, text] of Object.entries(FILES)) writeFileSync(path.join(folder, name), text);
  const blamed = linesOf(BLAMED_LINES).split('\n');
  for (let commit = 0; commit < BLAMED_COMMITS; commit++) {
    for (let line = commit; line < BLAMED_LINES; line += BLAMED_COMMITS)
      blamed[line] = `${blamed[line] ?? ''} // ${commit}`;
    writeFileSync(path.join(folder, 'blamed.ts'), blamed.join('\n'));
    git('add', '-A');
    git('commit', '-q', '-m', `change ${commit}`);
  }
}

const PAGE_SCRIPT = `
  window.frames_ = { longest: 0, last: 0 };
  const tick = (now) => {
    if (frames_.last > 0) frames_.longest = Math.max(frames_.longest, now - frames_.last);
    frames_.last = now;
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
  window.afterClick = (button, isThere) => new Promise((resolve) => {
    frames_.longest = 0;
    const start = performance.now();
    button.click();
    const look = () => {
      if (!isThere()) { requestAnimationFrame(look); return; }
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => resolve(performance.now() - start);
      port2.postMessage(0);
    };
    requestAnimationFrame(look);
  });
`;

interface Figures {
  readonly openMs: number;
  readonly openFrameMs: number;
  readonly scrollFrameMs: number;
}

async function longestFrame(page: Page): Promise<number> {
  return Number(await page.evaluate('frames_.longest'));
}

/** Wheel events at 60 Hz until the end is in the window. */
async function scrollToEnd(page: Page, lineCount: number): Promise<number> {
  const session = await page.context().newCDPSession(page);
  const deltaY = Math.ceil((lineCount * 20) / WHEELS);
  await page.evaluate('frames_.longest = 0');
  for (let wheel = 0; wheel < WHEELS + 10; wheel++) {
    const start = performance.now();
    const event = { type: 'mouseWheel', x: 700, y: 400, deltaX: 0, deltaY } as const;
    await session.send('Input.dispatchMouseEvent', event);
    const rest = WHEEL_MS - (performance.now() - start);
    if (rest > 0) await new Promise((resolve) => setTimeout(resolve, rest));
  }
  const isAtEnd = await page.evaluate(
    '(({ scrollTop, clientHeight, scrollHeight }) => scrollHeight - scrollTop - clientHeight < 4)(document.querySelector(".cm-scroller"))',
  );
  if (isAtEnd !== true) throw new Error('the end was not reached');
  return await longestFrame(page);
}

async function openFile(page: Page, base: string, name: string): Promise<Figures> {
  // Loads the code of the view, so that only the file is measured.
  await page.goto(`${base}/small.ts`);
  await page.locator('.cm-content').waitFor();
  await page.getByRole('treeitem', { name }).waitFor();
  const openMs = Number(
    await page.evaluate(`afterClick(
      [...document.querySelectorAll('.tree-link')].find((link) => link.title === '${name}'),
      () => document.querySelector('.cm-content')?.getAttribute('aria-label') === '${name}, read only',
    )`),
  );
  await page.waitForTimeout(500);
  const openFrameMs = await longestFrame(page);
  const lineCount = FILES[name]?.split('\n').length ?? 0;
  return { openMs, openFrameMs, scrollFrameMs: await scrollToEnd(page, lineCount) };
}

/** The daemon has already cached the answer. */
async function blameFile(page: Page, base: string): Promise<number> {
  await page.goto(`${base}/blamed.ts?blame=1`);
  await page.locator('.blame-mark').first().waitFor();
  await page.goto(`${base}/blamed.ts`);
  await page.locator('.cm-content').waitFor();
  await page.waitForTimeout(500);
  return Number(
    await page.evaluate(`afterClick(
      [...document.querySelectorAll('button')].find((one) => one.textContent === 'Blame'),
      () => document.querySelector('.blame-mark') !== null,
    )`),
  );
}

const work = mkdtempSync(path.join(tmpdir(), 'trawl-page-'));
process.once('exit', () => rmSync(work, { recursive: true, force: true }));
const repository = path.join(work, 'page');
makeRepository(repository);
const dataDir = path.join(work, 'data');
const sources = tree === undefined ? [repository] : [repository, tree];
await buildIndex(sources, dataDir);
// Before, as it takes a core for a minute.
await findSymbols(sources, dataDir);
const daemon = await startDaemon(sources, dataDir);
const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
const page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
await page.addInitScript(PAGE_SCRIPT);
const base = `${daemon.url}/browse/local/page/-/blob`;
const opened = new Map<string, Figures[]>();
const blamed: number[] = [];
for (let round = 0; round < Number(roundCount); round++) {
  for (const name of ['lines.ts', 'large.ts', 'line.js'])
    opened.set(name, [...(opened.get(name) ?? []), await openFile(page, base, name)]);
  blamed.push(await blameFile(page, base));
}
const searches =
  tree === undefined ? [] : await searchRows(browser, daemon.url, Number(roundCount));
await browser.close();
await daemon.stop();

const middle = (all: readonly Figures[], figure: keyof Figures): string =>
  formatMs(median(all.map((one) => one[figure])));
const rows = [...opened].map(([name, all]) => [
  `${name}, ${((FILES[name]?.length ?? 0) / 1e6).toFixed(1)} MB`,
  middle(all, 'openMs'),
  middle(all, 'openFrameMs'),
  middle(all, 'scrollFrameMs'),
]);
rows.push([`blame of ${BLAMED_LINES} lines`, formatMs(median(blamed)), '', '']);
const columns = [
  { title: 'file', align: 'left' },
  { title: 'shown ms', align: 'right' },
  { title: 'longest frame, opening', align: 'right' },
  { title: 'scrolling', align: 'right' },
] as const;
process.stdout.write(formatTable(columns, rows));
if (searches.length > 0) {
  const titles = [
    { title: 'results', align: 'left' },
    { title: 'to land; goal', align: 'right' },
    { title: 'measured', align: 'right' },
  ] as const;
  process.stdout.write(`\n${formatTable(titles, searches)}`);
}
