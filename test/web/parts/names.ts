// Names that are made to deceive: of files, folders, branches, people, keys, in messages of commits. Wherever a page shows one,
// characters that cannot be seen stand as codes, nothing of it runs, and the page is no wider than its window.

import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import path from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { licenceEnvironment } from '../../accounts/licences.ts';
import { serveIndexed } from '../../e2e/daemon.ts';
import { git, makeRepo, temporaryFolder, writeFiles } from '../../sources/git/fixture.ts';
import { PASSWORD, pageTests } from '../browser.ts';

const OWNER = 'owner@example.com';
const ENV = {
  TRAWL_OWNER_EMAIL: OWNER,
  TRAWL_OWNER_PASSWORD: PASSWORD,
  ...licenceEnvironment(),
};

/** Turns what follows round. */
const TURN = '\u202E';
const HOSTILE = `<img src=x onerror=alert(1)>${TURN}gnp\u200B\u001B[31m`;
const SHOWN = '<img src=x onerror=alert(1)>U+202EgnpU+200BU+001B[31m';
const LONG = 'long'.repeat(55);
const FILES = [
  `${HOSTILE}.ts`,
  'tab\tline\nend.ts',
  `${LONG}.ts`,
  `${TURN}folder/plain.ts`,
  '100%.ts',
  '%41 # ?.ts',
];
const BRANCH = `turned${TURN}branch`;

let name = '';
let head = '';

const start = async (): Promise<string> => {
  const texts = FILES.map((file, index) => [file, `export const plum${index} = 1;\n`]);
  const copied = makeRepo(Object.fromEntries(texts));
  git(copied, 'config', 'user.name', 'x');
  writeFiles(copied, { [FILES[0] ?? '']: 'export const plum0 = 2;\n' });
  git(copied, 'add', '-A');
  head = commitAs(copied, HOSTILE);
  git(copied, 'branch', BRANCH);
  const repo = path.join(temporaryFolder(), `na${TURN}me`);
  renameSync(copied, repo);
  const served = await serveIndexed(temporaryFolder(), [repo], { env: ENV });
  await served.process.until(/ symbols found /);
  name = `local/na${TURN}me`;
  const send = (address: string, body: object, cookie = '') =>
    fetch(`${served.url}${address}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: served.url, cookie },
      body: JSON.stringify(body),
    });
  const signedIn = await send('/api/auth/login', { email: OWNER, password: PASSWORD });
  const [cookie] = signedIn.headers.getSetCookie();
  const made = await send('/api/user/api_keys', { name: HOSTILE }, cookie?.split(';')[0]);
  assert.equal(made.status, 201);
  return served.url;
};

function commitAs(repo: string, author: string): string {
  git(
    repo,
    'commit',
    '-q',
    '-m',
    `${author}\n\nbody ${author}`,
    '--author',
    `${author.replaceAll(/[<>]/g, '')} <a@b.c>`,
  );
  return git(repo, 'rev-parse', 'HEAD');
}

// A file that is not there is refused, and the browser notes it.
const test = pageTests(start, { as: OWNER, allowed: /40[04]/ });

/** What of hidden characters is left in texts, labels and titles of the page; '' is as it should be. */
const LEFT = `(() => {
  const hidden = /[\\u0000-\\u0008\\u000B-\\u001F\\u007F-\\u009F\\u00AD\\u061C\\u200B-\\u200F\\u2028-\\u202E\\u2060-\\u2069\\uFEFF]/;
  const left = hidden.test(document.title) ? ['title: ' + document.title] : [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode())
    if (hidden.test(texts.currentNode.data) && texts.currentNode.parentElement.closest('script, .box-layer') === null)
      left.push(texts.currentNode.parentElement.outerHTML.slice(0, 300));
  for (const one of document.querySelectorAll('[title], [aria-label], [alt]'))
    for (const label of ['title', 'aria-label', 'alt'])
      if (hidden.test(one.getAttribute(label) ?? '')) left.push(label + ': ' + one.outerHTML.slice(0, 300));
  return left.join('\\n');
})()`;

async function assertShown(page: Page, where: string): Promise<void> {
  assert.equal(await page.evaluate(LEFT), '', where);
  const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
  assert.equal(await page.evaluate(isWide), false, `${where}: as wide as the window`);
}

function browse(kind: string, place: string, revision = ''): string {
  const encoded = (text: string): string => text.split('/').map(encodeURIComponent).join('/');
  const at = revision === '' ? '' : `@${encoded(revision)}`;
  return `/browse/${encoded(name)}${at}/-/${kind}${place === '' ? '' : `/${encoded(place)}`}`;
}

const [FIRST = '', SECOND = ''] = FILES;

/** Each leads to a place with such names; what is given back holds one of them. */
const PLACES: Readonly<Record<string, (page: Page) => Promise<Locator>>> = {
  async repositories(page) {
    await page.goto('/repos');
    return page.getByRole('cell').getByText('naU+202Eme');
  },
  async 'about a repository'(page) {
    await page.goto(`/repos?open=${encodeURIComponent(name)}`);
    return page.getByRole('region', { name: 'About local/naU+202Eme' });
  },
  async 'folder, tree, crumbs'(page) {
    await page.goto(browse('tree', `${TURN}folder`));
    return page.locator('.crumbs').getByText('U+202Efolder');
  },
  async 'file and history'(page) {
    await page.goto(`${browse('blob', FIRST)}?panel=history&blame=1`);
    await page.locator('.blame-mark').first().waitFor();
    return page.getByRole('region', { name: 'History', exact: true }).getByText(SHOWN).first();
  },
  async 'tabs and newlines'(page) {
    await page.goto(browse('blob', SECOND));
    return page.locator('.crumbs').getByText('tabU+0009lineU+000Aend.ts');
  },
  async 'signs of addresses'(page) {
    for (const [index, file] of FILES.entries()) {
      await page.goto(browse('blob', file));
      await page.locator('.cm-content').getByText(`plum${index}`).waitFor();
    }
    return page.locator('.crumbs').getByText('%41 # ?.ts');
  },
  async 'no such file'(page) {
    await page.goto(browse('blob', `no${HOSTILE}`));
    return page.getByText(`no${SHOWN} does not exist in`);
  },
  async revisions(page) {
    await page.goto(browse('tree', '', BRANCH));
    await page.getByRole('button', { name: 'turnedU+202Ebranch' }).click();
    return page.getByRole('option', { name: 'turnedU+202Ebranch' });
  },
  async finder(page) {
    await page.goto(browse('blob', FIRST));
    await page.locator('.cm-content').waitFor();
    await page.keyboard.press('t');
    return page.getByRole('dialog', { name: 'Find a file' }).getByText(`${SHOWN}.ts`).first();
  },
  async commits(page) {
    await page.goto(browse('commits', ''));
    return page.getByRole('cell').getByText(SHOWN).first();
  },
  async commit(page) {
    await page.goto(browse('commit', head));
    return page.locator('.diff-head').getByText(`${SHOWN}.ts`);
  },
  async results(page) {
    await page.goto('/search?query=plum0');
    return page.getByRole('article').getByText(`${SHOWN}.ts`);
  },
  async references(page) {
    await page.goto(`${browse('blob', FIRST)}?explore=references:plum0&scope=all`);
    return page.locator('.explore-file').getByText(`${SHOWN}.ts`);
  },
  async suggestions(page) {
    await page.goto('/');
    await page.locator('.box-input[aria-haspopup]').waitFor();
    await page.locator('.box-input').fill('file:img');
    return page.getByRole('option', { name: /U\+202EgnpU\+200B/ });
  },
  async palette(page) {
    await page.goto('/repos');
    // Before the page is there nobody listens to its keys.
    await page.getByRole('row', { name: 'naU+202Eme' }).waitFor({ state: 'attached' });
    await page.keyboard.press('Control+k');
    return page.getByRole('option', { name: 'naU+202Eme' }).first();
  },
  async 'start page'(page) {
    await page.goto('/');
    return page.getByRole('link', { name: 'naU+202Eme' });
  },
  async keys(page) {
    await page.goto('/settings/apiKeys');
    const row = page.getByRole('row', { name: SHOWN }).first();
    await row.getByRole('button', { name: 'Delete' }).click();
    return page.getByRole('dialog', { name: `Delete the key “${SHOWN}”?` });
  },
  async audit(page) {
    await page.goto('/settings/audit?action=api_key.created');
    return page.getByRole('button', { name: 'api_key.created' }).first();
  },
};

for (const width of [1280, 360])
  test(`names that deceive are shown as they are, ${width} px`, async ({ page }) => {
    await page.setViewportSize({ width, height: 800 });
    for (const [where, go] of Object.entries(PLACES)) {
      const found = await go(page);
      await found.first().waitFor({ state: width === 360 ? 'attached' : 'visible' });
      await assertShown(page, where);
    }
  });
