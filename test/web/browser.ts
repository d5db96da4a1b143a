// A real browser for tests of the pages: the Chromium of Debian, driven from outside, headless where that is
// installed. Every complaint of a page is recorded: errors, policy reports, requests to other hosts.

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { after, afterEach, beforeEach, test, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { chromium } from 'playwright-core';
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core';
import { once } from '../base/once.ts';
import { signIn } from './people.ts';

/** The first that is there. Measured: 2026-11-25: the second takes half as much of a core again. */
const CHROMIUM = ['/usr/bin/chromium-headless-shell', '/usr/bin/chromium'].find(existsSync);
/** The limit: no process is made in advance for a page that may come; each would take a tenth of a second. */
const ARGUMENTS = ['--no-sandbox', '--renderer-process-limit=1'];

/** Why tests of pages are skipped; false: they are not. */
export const NO_BROWSER: string | false =
  CHROMIUM === undefined ? 'Chromium is not installed' : false;

/** Sections of the settings. */
export const SETTINGS =
  'general,apiKeys,tokens,mcp,usage,security,members,connections,license,audit,health'.split(',');

let browser: Promise<Browser> | undefined;

after(async () => {
  await (await browser)?.close();
});

/** Windows of the test that runs, and how each is closed. Those that a file opens before its tests stay. */
const opened: (Visitor & { readonly close: () => Promise<void> })[] = [];

beforeEach(() => {
  opened.length = 0;
});

/** What a window shows: a wait that never ends says only what it waited for. */
async function described({ page, complaints }: Visitor): Promise<string> {
  const text = await page.locator('body').innerText({ timeout: 2000 });
  return [page.url(), ...complaints, text.slice(0, 2000)].join('\n');
}

afterEach(async (test) => {
  const hasFailed = !('passed' in test && test.passed);
  for (const window of opened.splice(0)) {
    if (hasFailed) (test as TestContext).diagnostic(await described(window).catch(String));
    // Why: its page would go on working beside later tests.
    await window.close();
  }
});

/** A window of somebody with nothing remembered. */
export interface Visitor {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the pages complained about so far. */
  readonly complaints: string[];
}

export interface VisitorOptions {
  /** Address of the daemon: requests to any other place are complaints. */
  readonly url: string;
  readonly theme?: 'light' | 'dark';
  /** px. */
  readonly width?: number;
  /** Sent with each request: those of a caller that has no session. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a browser keeps of one user: cookies, storage, cache. */
async function openContext({
  url,
  theme = 'light',
  width = 1280,
  headers = {},
}: VisitorOptions): Promise<BrowserContext> {
  browser ??= chromium.launch({ executablePath: CHROMIUM!, args: ARGUMENTS });
  return await (
    await browser
  ).newContext({
    baseURL: url,
    colorScheme: theme,
    viewport: { width, height: 800 },
    extraHTTPHeaders: headers,
  });
}

/** Opens a window. It is closed behind the test, or at the end of the file. */
export async function visit(options: VisitorOptions): Promise<Visitor> {
  const context = await openContext(options);
  return await windowOf(context, options.url, () => context.close());
}

async function windowOf(
  context: BrowserContext,
  url: string,
  close: () => Promise<void>,
): Promise<Visitor> {
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('dialog', (dialog) => {
    complaints.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${new URL(url).origin}/`))
      complaints.push(`asks ${request.url()}`);
  });
  const visitor = { page, context, complaints };
  opened.push({ ...visitor, close });
  return visitor;
}

/** The window of a test. */
export interface Tested extends Visitor {
  /** Complaints that match are expected. */
  readonly allow: (pattern: RegExp) => void;
}

interface PageTestOptions extends Omit<VisitorOptions, 'url'> {
  /** E-mail address of the user who is signed in; default: nobody. */
  readonly as?: string;
  /** Complaints that every test may have. */
  readonly allowed?: RegExp;
}

/**
 * Opens a page that stays open: with it stays the process of the pages, which keeps their compiled scripts from test to test.
 * Returns what closes all other pages and forgets what they have stored; the browser keeps its cache.
 */
async function openAnchorPage(context: BrowserContext, url: string): Promise<() => Promise<void>> {
  const anchor = await context.newPage();
  await anchor.goto(`${url}/api/version`);
  const session = await context.newCDPSession(anchor);
  const { origin } = new URL(url);
  return async () => {
    const others = context.pages().filter((page) => page !== anchor);
    await Promise.all(others.map(closePage));
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'all' });
    await context.unrouteAll({ behavior: 'ignoreErrors' });
    await context.clearPermissions();
    await context.clearCookies();
  };
}

/** Why a bound: now and then Chromium never confirms that a page is closed which has just navigated. */
async function closePage(page: Page): Promise<void> {
  await Promise.race([page.close(), setTimeout(5000, undefined)]);
}

/**
 * Makes a function that declares tests of pages. Each test has a window of its own, in which nothing is remembered, and
 * fails if its page complains.
 *
 * @param start  starts the daemon, for the first test; returns its address
 */
export function pageTests(
  start: () => Promise<string>,
  { as, allowed, ...options }: PageTestOptions = {},
): (name: string, run: (window: Tested) => Promise<void>) => void {
  const started = once(async () => {
    const url = await start();
    const context = await openContext({ ...options, url });
    return { url, context, forget: await openAnchorPage(context, url) };
  });
  return (name, run) =>
    void test(name, { skip: NO_BROWSER }, async () => {
      const { url, context, forget } = await started();
      const visitor = await windowOf(context, url, forget);
      const patterns = allowed === undefined ? [] : [allowed];
      if (as !== undefined) await signIn(visitor.page, as);
      await run({ ...visitor, allow: (pattern) => patterns.push(pattern) });
      const isExpected = (text: string) => patterns.some((pattern) => pattern.test(text));
      assert.deepEqual(
        visitor.complaints.filter((text) => !isExpected(text)),
        [],
      );
    });
}

/**
 * Goes there as a link of the page does, for tests that are not about loading it: a load costs three times as much, and more
 * where requests are intercepted, as the browser then uses no cache. A dialog that is open would stay.
 */
export async function goTo(page: Page, address: string): Promise<void> {
  await page.keyboard.press('Escape');
  await page.evaluate(`history.pushState(null, '', ${JSON.stringify(address)})`);
}

/** For what comes a frame or some behind what was waited for. */
const SOON_MS = 10_000;

/** There are so many of it, soon: what the page says of its results may be there a frame before their rows. */
export async function hasCount(found: Locator, count: number): Promise<void> {
  const until = Date.now() + SOON_MS;
  // Why not counted again behind it: rows of a search before may be there, and go.
  let current = await found.count();
  while (current !== count && Date.now() < until) {
    await found.page().waitForTimeout(20);
    current = await found.count();
  }
  assert.equal(current, count);
}

/** What is shown is this, soon: the text of a row that has no place in its list yet is empty. */
export async function shows(found: Locator, text: string | RegExp): Promise<void> {
  const until = Date.now() + SOON_MS;
  const isThere = (current: string): boolean =>
    typeof text === 'string' ? current === text : text.test(current);
  let current = await found.innerText();
  while (!isThere(current) && Date.now() < until) {
    await found.page().waitForTimeout(20);
    current = await found.innerText();
  }
  assert.ok(isThere(current), `shows ${JSON.stringify(current)}, not ${String(text)}`);
}

/** Waits until an expression holds; the policy of the page lets no text be run in it in other ways. */
export async function until(page: Page, expression: string): Promise<void> {
  // What it looks at may not be there yet.
  const isTrue = () => page.evaluate<boolean>(expression).catch(() => false);
  for (let tries = 0; !(await isTrue()); tries++) {
    assert.ok(tries < 500, expression);
    await page.waitForTimeout(20);
  }
}

/** The accessibility checker, as a script. */
const CHECKER = new URL(import.meta.resolve('axe-core/axe.min.js'));

/** Findings of the accessibility checker on what the page shows now. @param rules  default: all */
export async function findingsOf(page: Page, ...rules: readonly string[]): Promise<string[]> {
  // A page that is still being made may ask for nothing for a while.
  await page.locator('h1').first().waitFor({ state: 'attached' });
  // Read once for each load of the page.
  if (!(await page.evaluate<boolean>('"axe" in self')))
    await page.evaluate(readFileSync(CHECKER, 'utf8'));
  // Only faults come back: what passed is most of the report, and of its cost.
  const options = {
    resultTypes: ['violations'],
    ...(rules.length > 0 ? { runOnly: { type: 'rule', values: rules } } : {}),
  };
  return await page.evaluate<string[]>(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) =>
      violations.map(({ id, nodes }) =>
        id + ': ' + nodes.map(({ html }) => html.slice(0, 120)).join(' | ')))`,
  );
}

/** Sideways scroll; texts that are cut without a way to see them whole; figures that do not stand below each other. */
const UNTIDY = `[
  ...(document.documentElement.scrollWidth > innerWidth ? ['sideways scroll'] : []),
  ...[...document.querySelectorAll('body *')].flatMap((one) => {
    const { textOverflow, fontVariantNumeric } = getComputedStyle(one);
    const isCut = textOverflow === 'ellipsis' && one.scrollWidth > one.clientWidth + 1;
    const isShown = one.offsetParent !== null && one.tagName !== 'INPUT';
    const hasFigures = fontVariantNumeric === 'tabular-nums' || one.closest('.markdown, svg') !== null;
    return [
      ...(isCut && isShown && one.closest('[title]') === null ? ['cut: ' + one.textContent] : []),
      ...(hasFigures ? [] : ['figures: ' + one.outerHTML.slice(0, 100)]),
    ];
  }),
]`;

/** Each page, in both themes and in windows of any width: no finding of the checker, and nothing untidy. */
export async function areTidy(page: Page, addresses: readonly string[]): Promise<void> {
  for (const address of addresses) {
    await page.emulateMedia({ colorScheme: 'light' });
    await page.goto(address);
    await page.getByRole('main').waitFor();
    await page.waitForLoadState('networkidle');
    assert.deepEqual(await findingsOf(page), [], address);
    for (const width of [360, 768, 1920, 1280]) {
      await page.setViewportSize({ width, height: 800 });
      // The page hears of it with the next frame.
      await page.evaluate('new Promise(requestAnimationFrame)');
      assert.deepEqual(await page.evaluate(UNTIDY), [], `${address} at ${width}`);
    }
    // Themes differ by their colours alone.
    await page.emulateMedia({ colorScheme: 'dark' });
    assert.deepEqual(await findingsOf(page, 'color-contrast'), [], `${address}, dark`);
  }
}
