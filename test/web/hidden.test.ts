// A hidden repository and a browser that people use in turn: what an owner saw of it is not shown to the next one.
// That no answer names it to others: api/leak.test.ts.
// tier: ci (browser)

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { licenceEnvironment } from '../accounts/licences.ts';
import { eventually, get, post as searchAs, serve, trawl, type Served } from '../e2e/daemon.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { NO_BROWSER, until, visit, type Visitor } from './browser.ts';
import { openRecordingProxy, type Recorded } from './proxy.ts';
import {
  MEMBER,
  OWNER,
  OWNER_ENV,
  OWNER_KEY,
  addMember,
  make,
  signIn,
  signInByPage,
} from './people.ts';

const ENV = { ...OWNER_ENV, TRAWL_ANONYMOUS_ACCESS: 'true', ...licenceEnvironment() };

const OPEN = 'host.example/acme/open';
const HUSHED = 'host.example/acme/hushed';
/** What is of the hidden repository alone; nobody here types a whole word of it. */
const HIDDEN_WORDS = /whisper|hushed|\bzig\b/i;

function repoNamed(name: string, files: Record<string, string>): string {
  const repo = makeRepo(files);
  git(repo, 'remote', 'add', 'origin', `https://${name}.git`);
  return repo;
}

function makeHushed(): string {
  const repo = repoNamed(HUSHED, {
    'whisperfile.ts': 'export function sharedName() {}\nexport function whisperName() {}\n',
    'whisper/deep.ts': 'sharedName();\nsharedName(); // whisperword\n',
    'whisper.zig': 'const sharedName = 1;\n',
  });
  writeFiles(repo, { 'whispermore.ts': 'sharedName();\n' });
  commitAll(repo, 'whisper of a change');
  git(repo, 'branch', 'whisper-branch');
  return repo;
}

let served: Served;
let scopedToken = '';

/** They come behind the index. */
async function symbolsFound(): Promise<void> {
  await eventually(async () => {
    const headers = { authorization: `Bearer ${OWNER_KEY}` };
    const { body } = await searchAs(served.url, { query: 'sym:sharedName' }, headers);
    return body.isSearchExhaustive && body.files.length === 3;
  });
}

before(async () => {
  if (NO_BROWSER !== false) return;
  const open = repoNamed(OPEN, {
    'plain.ts': 'export function sharedName() {}\n',
    'folder/use.ts': 'sharedName();\n',
  });
  const hushed = makeHushed();
  const dataDir = temporaryFolder();
  const hiding = ['--enforce-permissions', '--visibility', 'private', '--branches', '*'];
  for (const source of [[open], [hushed, ...hiding]]) {
    const flags = ['--mode', 'commits', '--data-dir', dataDir];
    const made = await trawl(['index', ...source, ...flags], { env: ENV });
    assert.equal(made.code, 0, made.stderr);
  }
  served = await serve(dataDir, [open, hushed], { env: ENV, flags: ['--mode', 'commits'] });
  await symbolsFound();
  await addMember(served.url, MEMBER);
  const { body: repos } = await get<{ repoId: number }[]>(`${served.url}/api/repos`);
  const repoIds = repos.map(({ repoId }) => repoId);
  assert.equal(repoIds.length, 1, 'a guest sees the open one');
  const scoped = await make(`${served.url}/api/ee/scoped_access_token`, { repoIds });
  scopedToken = scoped['token'] ?? '';
});

/** One who looks at the pages: a guest, the holder of the token, or the person of an address; and what the daemon answered. */
interface Looker extends Visitor {
  readonly answers: Recorded[];
  readonly settled: () => Promise<void>;
}

async function openAs(who: string): Promise<Looker> {
  const headers = who === 'token' ? { Authorization: `Bearer ${scopedToken}` } : {};
  const { url, answers, settled } = await openRecordingProxy(served.url);
  const visitor = await visit({ url, headers: { ...headers } });
  if (who.includes('@')) await signIn(visitor.page, who);
  // What came before is not of the pages.
  answers.splice(0);
  return { ...visitor, answers, settled };
}

/** What the window shows and what was answered since the last time. */
async function contentOf({ page, answers, settled }: Looker): Promise<string> {
  await settled();
  const parts = [await page.title(), await page.content()];
  return [...parts, ...answers.splice(0).map(({ url, body }) => `${url}\n${body}`)].join('\n');
}

function assertNothing(content: string, where: string): void {
  const at = HIDDEN_WORDS.exec(content)?.index;
  if (at !== undefined) assert.fail(`${where}: ${content.slice(Math.max(0, at - 200), at + 200)}`);
}

async function searchFor(page: Page, query: string): Promise<void> {
  await page.locator('.box-input').fill(query);
  await page.keyboard.press('Enter');
  await page.waitForURL((url) => url.searchParams.get('query') === query);
}

const ALL_OF_OWNER = '7 matches in 6 files of 2 repositories · that is all';
const ALL_OF_MEMBER = '2 matches in 2 files of 1 repository · that is all';

void test(
  'a tab whose session ended shows the next person nothing of the previous one',
  { skip: NO_BROWSER },
  async () => {
    const looker = await openAs(OWNER);
    const { page, context } = looker;
    await page.goto('/search?query=sharedName');
    await page.getByText(ALL_OF_OWNER).waitFor();
    await searchFor(page, 'sharedName lang:TypeScript');
    // Another list takes the place of the one before.
    await page.getByText('6 matches in 5 files').waitFor();
    await page.locator('article').getByText('whisperfile.ts').click();
    await page.locator('.cm-content').getByText('whisperName').waitFor();
    await page.getByRole('link', { name: /^Settings of/ }).click();
    // As it is when it ends: what is asked for now is refused.
    await context.clearCookies();
    await page.getByRole('link', { name: 'Members' }).click();
    const dialog = page.getByRole('dialog', { name: 'Your session ended.' });
    await dialog.waitFor();
    await until(page, `getComputedStyle(document.querySelector('.backdrop-full')).opacity === '1'`);
    await until(page, `document.querySelector('main').closest('[inert]') !== null`);
    await dialog.getByRole('button', { name: 'Continue without signing in' }).click();
    const signIn = page.getByRole('navigation').getByRole('link', { name: 'Sign in' });
    await signIn.waitFor();
    await signIn.click();
    await signInByPage(page, MEMBER);
    await page.waitForURL((url) => url.pathname === '/settings/members');
    await page.getByRole('link', { name: `Settings of ${MEMBER}` }).waitFor();
    looker.answers.splice(0);
    assertNothing(await contentOf(looker), 'the page of the sign-in');
    assertNothing(await page.evaluate<string>('JSON.stringify({ ...localStorage })'), 'storage');
    for (const route of ['/settings/members', '/settings/general']) {
      await page.goBack();
      await page.waitForURL((url) => url.pathname === route);
      assertNothing(await contentOf(looker), route);
    }
    await page.goBack();
    await page.getByText('whisperfile.ts does not exist').waitFor();
    assert.equal(await page.getByText('whisperName').count(), 0);
    // The last answer names the repository, as the request did.
    await looker.settled();
    looker.answers.splice(0);
    for (const _ of ['lang:TypeScript', 'sharedName']) {
      await page.goBack();
      await page.getByText(ALL_OF_MEMBER).waitFor();
      assertNothing(await contentOf(looker), page.url());
    }
  },
);

void test(
  'a tab shows nothing more of its user when another one signs in elsewhere, or when it was in the background',
  { skip: NO_BROWSER },
  async () => {
    const { page, context } = await openAs(OWNER);
    await page.goto('/search?query=sharedName');
    await page.getByText(ALL_OF_OWNER).waitFor();
    // As a browser does that keeps pages whole for the way back.
    const transition = (name: string) =>
      `dispatchEvent(new PageTransitionEvent('${name}', { persisted: true }))`;
    await page.evaluate(transition('pagehide'));
    assert.equal(await page.locator('article').first().isVisible(), false);
    await page.evaluate(transition('pageshow'));
    await page.getByText(ALL_OF_OWNER).waitFor();
    await page.locator('article').first().waitFor();
    const other = await context.newPage();
    await context.clearCookies();
    await other.goto('/login');
    await page.getByRole('dialog', { name: 'Your session ended.' }).waitFor();
    await signInByPage(other, MEMBER);
    await page.getByText(ALL_OF_MEMBER).waitFor();
    assertNothing(await page.content(), 'the other tab');
  },
);
