// A hidden repository and callers who may not see it: a guest, a member without a grant, a scoped token. No page, and
// no answer fetched by a page, contains its name, a file, a word or a count of it; an address in it looks like a
// missing one. An owner takes the same steps and sees it, so the steps can fail.
// tier: ci (browser)

import assert from 'node:assert/strict';
import { before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { licenceEnvironment } from '../accounts/licences.ts';
import { eventually, get, post as searchAs, serve, trawl, type Served } from '../e2e/daemon.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { NO_BROWSER, SETTINGS, goTo, hasCount, until, visit, type Visitor } from './browser.ts';
import { openRecordingDoor, type Recorded } from './door.ts';
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
let openHead = '';
let hushedHead = '';
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
  openHead = git(open, 'rev-parse', 'HEAD');
  const hushed = makeHushed();
  hushedHead = git(hushed, 'rev-parse', 'HEAD');
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
  const { url, answers, settled } = await openRecordingDoor(served.url);
  const visitor = await visit({ url, headers: { ...headers } });
  if (who.includes('@')) await signIn(visitor.page, who);
  // What came before is not of the pages.
  answers.splice(0);
  return { ...visitor, answers, settled };
}

async function summaryOf(page: Page): Promise<string> {
  await page.getByText('that is all').waitFor();
  return page.locator('#search-summary [role=status]').innerText();
}

const ADDRESS = `/browse/${OPEN}/-/blob/plain.ts`;

/** Goes to a place; what it gives back is a text of the page that counts something. */
type Step = (page: Page) => Promise<string>;

interface Location {
  readonly go: Step;
  /** What others than owners see. */
  readonly others: string;
}

/** What is suggested while one types. */
function suggestionsFor(kind: string, prefix: string): Location {
  const go: Step = async (page) => {
    const [answer] = await Promise.all([
      page.waitForResponse(new RegExp(`suggestions\\?kind=${kind}&prefix=\\w`)),
      page.locator('.box-input').fill(`${kind}:${prefix}`),
    ]);
    await answer.finished();
    return '';
  };
  return { go, others: '' };
}

/** Where an owner sees something of the hidden repository, and others what the texts say. */
const STEPS: Readonly<Record<string, Location>> = {
  results: {
    async go(page) {
      await page.goto('/search?query=sharedName');
      return summaryOf(page);
    },
    others: '2 matches in 2 files of 1 repository · that is all',
  },
  facets: {
    async go(page) {
      // They are counted behind the results, and a moment later known to be all.
      await page.locator('.facet').nth(3).waitFor();
      await hasCount(page.locator('.facet-count', { hasText: '+' }), 0);
      const labels = await page.locator('.facet label').allInnerTexts();
      return labels.map((label) => label.replaceAll(/\s+/g, ' ')).join(', ');
    },
    others: `${OPEN} 2, TypeScript 2, repository root 1, folder/ 1, code 2`,
  },
  plan: {
    async go(page) {
      await page.getByRole('button', { name: 'Plan' }).click();
      const plan = page.getByRole('region', { name: 'Plan' });
      await plan.getByRole('button', { name: 'Show as table' }).click();
      return plan.getByRole('row', { name: /^Files/ }).innerText();
    },
    others: '',
  },
  'revisions of all': {
    async go(page) {
      await page.goto('/search?query=sharedName+rev:*');
      return summaryOf(page);
    },
    others: '2 matches in 2 files of 1 repository · that is all',
  },
  'what has no match': {
    async go(page) {
      await page.goto('/search?query=whisp');
      return summaryOf(page);
    },
    others: 'No matches in 2 files · that is all',
  },
  'start page': {
    async go(page) {
      await goTo(page, '/');
      await page.locator('.start .box-input[aria-haspopup]').waitFor();
      return '';
    },
    others: '',
  },
  'suggestions, repo': suggestionsFor('repo', 'hush'),
  'suggestions, file': suggestionsFor('file', 'whisp'),
  'suggestions, sym': suggestionsFor('sym', 'whisp'),
  'suggestions, lang': suggestionsFor('lang', 'zi'),
  palette: {
    async go(page) {
      await page.keyboard.press('Control+k');
      const palette = page.getByRole('dialog', { name: 'Go to' });
      await palette.getByRole('option', { name: OPEN }).waitFor();
      const [answer] = await Promise.all([
        page.waitForResponse(/repos\?query=hush/),
        page.keyboard.type('hush'),
      ]);
      await answer.finished();
      return '';
    },
    others: '',
  },
  repositories: {
    async go(page) {
      await goTo(page, '/repos');
      await page.getByRole('row', { name: OPEN }).waitFor();
      return `${await page.getByRole('row').count()} rows`;
    },
    others: '2 rows',
  },
  'references everywhere': {
    async go(page) {
      await goTo(page, `${ADDRESS}?explore=references:sharedName&scope=all`);
      const count = page.getByRole('button', { name: /^References \d/ });
      await count.waitFor();
      return count.innerText();
    },
    others: 'References 2',
  },
};

/** Where nobody sees anything of it: the pages of the open repository. */
const QUIET: Readonly<Record<string, (page: Page) => Promise<void>>> = {
  async finder(page) {
    await goTo(page, ADDRESS);
    await page.locator('.cm-content').waitFor();
    await page.keyboard.press('t');
    await page.getByRole('dialog', { name: 'Find a file' }).getByText('2 files').waitFor();
  },
  async 'blame and history'(page) {
    await goTo(page, `${ADDRESS}?blame=1&panel=history`);
    await page.locator('.blame-mark').first().waitFor();
    await page.getByRole('region', { name: 'History', exact: true }).getByText('change').waitFor();
  },
  async commits(page) {
    await goTo(page, `/browse/${OPEN}/-/commits`);
    await page.getByRole('cell', { name: 'change' }).waitFor();
  },
  async commit(page) {
    await goTo(page, `/browse/${OPEN}/-/commit/${openHead}`);
    await page.getByText('2 files').waitFor();
  },
};

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

for (const who of ['guest', 'token', MEMBER]) {
  void test(`nothing of a hidden repository: ${who}`, { skip: NO_BROWSER }, async () => {
    const looker = await openAs(who);
    const { page } = looker;
    for (const [name, { go, others }] of Object.entries(STEPS)) {
      const text = await go(page);
      if (others !== '') assert.equal(text, others, name);
      assertNothing(await contentOf(looker), name);
    }
    // A member sees more of these than others do.
    for (const [name, go] of Object.entries(who === MEMBER ? QUIET : {})) {
      await go(page);
      assertNothing(await contentOf(looker), name);
    }
    for (const section of who === MEMBER ? SETTINGS : ['health']) {
      await goTo(page, `/settings/${section}`);
      await page.waitForURL(new RegExp(section));
      await page.locator('.settings-body h1').waitFor();
      assertNothing(await contentOf(looker), section);
    }
  });
}

/** Hints have a time limit: on a busy machine an answer has some of their sentences, or none. */
const HINTS = /,"hints":\[.*\](?=\}$)/;

function hintOf(body: string): string {
  return /"message":"(.*)"\}\]$/.exec(HINTS.exec(body)?.[0] ?? '')?.[1] ?? '';
}

/** Times differ between two searches. */
function timeless(body: string): string {
  return body.replaceAll(/"(duration|wait|matchTree\w+)":\d+/g, '"$1":0').replace(HINTS, '');
}

for (const who of ['guest', 'token']) {
  void test(
    `an address in a hidden repository looks like a missing one: ${who}`,
    { skip: NO_BROWSER },
    async () => {
      const looker = await openAs(who);
      const { page, answers } = looker;
      const load = async (address: string): Promise<{ text: string; hint: string }> => {
        answers.splice(0);
        await page.goto(address);
        await page.locator('.notice').first().waitFor();
        await page.waitForLoadState('networkidle');
        // What suggests nothing may be asked again.
        const said = new Set(answers.map(({ url, body }) => `${url} ${timeless(body)}`).toSorted());
        const hint = answers.map(({ body }) => hintOf(body)).find((one) => one !== '') ?? '';
        const displayed = [await page.title(), await page.locator('main').innerText()];
        return { text: [...displayed, ...said].join('\n'), hint };
      };
      const file = 'blob/whisperfile.ts?blame=1&panel=history';
      const others = ['tree/whisper', 'commits', `commit/${hushedHead}`];
      // Who may see what is one code for all callers.
      for (const route of who === 'guest' ? [file, ...others] : [file]) {
        const hidden = await load(`/browse/${HUSHED}/-/${route}`);
        const absent = await load(`/browse/${HUSHED.replace('hushed', 'absent')}/-/${route}`);
        assert.equal(hidden.text.replaceAll('hushed', 'absent'), absent.text);
        const [hint, other] = [hidden.hint.replaceAll('hushed', 'absent'), absent.hint];
        assert.ok(hint.startsWith(other) || other.startsWith(hint), `${hint}\n${other}`);
      }
    },
  );
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
    await page.waitForURL((url) => url.pathname === '/');
    await page.getByRole('link', { name: `Settings of ${MEMBER}` }).waitFor();
    looker.answers.splice(0);
    assertNothing(await contentOf(looker), 'start page');
    assertNothing(await page.evaluate<string>('JSON.stringify({ ...localStorage })'), 'storage');
    for (const route of ['/settings/members', '/settings/general']) {
      await page.goBack();
      await page.waitForURL((url) => url.pathname === route);
      assertNothing(await contentOf(looker), route);
    }
    await page.goBack();
    await page.getByText('whisperfile.ts does not exist').waitFor();
    assert.equal(await page.getByText('whisperName').count(), 0);
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

void test('an owner sees it where others see nothing', { skip: NO_BROWSER }, async () => {
  const looker = await openAs(OWNER);
  for (const [name, { go, others }] of Object.entries(STEPS)) {
    const text = await go(looker.page);
    if (others !== '') assert.notEqual(text, others, name);
    let content = await contentOf(looker);
    // A daemon that is busy suggests nothing, and is asked again.
    for (let tries = 0; name.startsWith('suggestions') && !HIDDEN_WORDS.test(content); tries++) {
      assert.ok(tries < 5, name);
      await looker.page.waitForTimeout(1000);
      content += await contentOf(looker);
    }
    if (name !== 'start page') assert.match(content, HIDDEN_WORDS, name);
  }
  await looker.page.goto(`/browse/${HUSHED}/-/blob/whisperfile.ts`);
  await looker.page.locator('.cm-content').getByText('whisperName').waitFor();
});
