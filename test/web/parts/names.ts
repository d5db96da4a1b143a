// Names that are made to deceive: of files, folders, branches, people, keys, in messages of commits. Wherever a page shows one,
// characters that cannot be seen stand as codes, nothing of it runs, and the page is no wider than its window.

import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { licenceEnvironment } from '../../accounts/licences.ts';
import { serveIndexed } from '../../e2e/daemon.ts';
import { git, makeRepo, temporaryFolder, writeFiles } from '../../sources/git/fixture.ts';
import { goTo, pageTests } from '../browser.ts';
import { OWNER, OWNER_ENV } from '../people.ts';

const ENV = { ...OWNER_ENV, ...licenceEnvironment() };

/** Turns what follows round. */
const RIGHT_TO_LEFT = '\u202E';
const HOSTILE = `<img src=x onerror=alert(1)>${RIGHT_TO_LEFT}gnp\u200B\u001B[31m`;
const ESCAPED = '<img src=x onerror=alert(1)>U+202EgnpU+200BU+001B[31m';
const LONG = 'long'.repeat(55);
const FILES = [
  `${HOSTILE}.ts`,
  'tab\tline\nend.ts',
  `${LONG}.ts`,
  `${RIGHT_TO_LEFT}folder/plain.ts`,
  '100%.ts',
  '%41 # ?.ts',
];
const BRANCH = `turned${RIGHT_TO_LEFT}branch`;
/** The button of the revisions. */
const BRANCHES = 'role=button[name=/turnedU.202Ebranch/]';

let name = '';
let head = '';

const start = async (): Promise<string> => {
  const texts = FILES.map((file, index) => [
    file,
    `export const plum${index} = 1; // ${HOSTILE}<script>alert(1)</script>\n`,
  ]);
  const copied = makeRepo(Object.fromEntries(texts));
  git(copied, 'config', 'user.name', 'x');
  writeFiles(copied, { [FILES[0] ?? '']: `export const plum0 = 2; // ${HOSTILE}\n` });
  git(copied, 'add', '-A');
  head = commitAs(copied, HOSTILE);
  git(copied, 'branch', BRANCH);
  const repo = path.join(temporaryFolder(), `na${RIGHT_TO_LEFT}me`);
  renameSync(copied, repo);
  const served = await serveIndexed(temporaryFolder(), [repo], { env: ENV });
  await served.process.until(/ symbols found /);
  name = `local/na${RIGHT_TO_LEFT}me`;
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
const REMAINING = `(() => {
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

async function assertVisible(page: Page, where: string): Promise<void> {
  assert.equal(await page.evaluate(REMAINING), '', where);
  const isWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
  assert.equal(await page.evaluate(isWide), false, `${where}: as wide as the window`);
}

function browse(kind: string, file: string, revision = ''): string {
  const encoded = (text: string): string => text.split('/').map(encodeURIComponent).join('/');
  const at = revision === '' ? '' : `@${encoded(revision)}`;
  return `/browse/${encoded(name)}${at}/-/${kind}${file === '' ? '' : `/${encoded(file)}`}`;
}

const [FIRST = '', SECOND = ''] = FILES;

type Location = readonly [
  address: string,
  /** Holds one of the names. */
  found: string,
  /** Has to be there before anything is pressed. */
  first?: string,
  act?: (page: Page) => Promise<void>,
];

/** Places with such names. */
function locations(): readonly Location[] {
  const file = browse('blob', FIRST);
  const about = `/repos?open=${encodeURIComponent(name)}`;
  const press = (key: string) => (page: Page) => page.keyboard.press(key);
  const click = (selector: string) => (page: Page) => page.locator(selector).first().click();
  return [
    ['/repos', 'role=cell >> text=naU+202Eme'],
    [about, 'role=region[name="About local/naU+202Eme"]'],
    [browse('tree', `${RIGHT_TO_LEFT}folder`), '.crumbs >> text=U+202Efolder'],
    [
      `${file}?panel=history&blame=1`,
      `role=region[name="History"] >> text=${ESCAPED}`,
      '.blame-mark',
    ],
    [browse('blob', SECOND), '.crumbs >> text=tabU+0009lineU+000Aend.ts'],
    [browse('blob', `no${HOSTILE}`), `text=no${ESCAPED} does not exist in`],
    [
      browse('tree', '', BRANCH),
      'role=option[name=/turnedU.202Ebranch/]',
      BRANCHES,
      click(BRANCHES),
    ],
    [file, `role=dialog >> text=${ESCAPED}.ts`, '.cm-content', press('t')],
    [browse('commits', ''), `role=cell >> text=${ESCAPED}`],
    [browse('commit', head), `.diff-head >> text=${ESCAPED}.ts`],
    ['/search?query=plum0', `.result-line >> text=${ESCAPED}`],
    [`${file}?explore=references:plum0&scope=all`, `.explore-file >> text=${ESCAPED}.ts`],
    [
      '/',
      'role=option >> text=U+202EgnpU+200B',
      '.box-input[aria-haspopup]',
      (page) => page.locator('.box-input').fill('file:img'),
    ],
    // Before the page is there nobody listens to its keys.
    ['/repos', 'role=option >> text=naU+202Eme', 'role=cell', press('Control+k')],
    ['/', 'role=link >> text=naU+202Eme'],
    [
      '/settings/apiKeys',
      'role=dialog[name=/^Delete the key .*U.202EgnpU.200BU.001B/]',
      'role=row[name=/gnp/]',
      click('role=row[name=/gnp/] >> role=button[name="Delete"]'),
    ],
    ['/settings/audit?action=api_key.created', 'role=button[name="api_key.created"]'],
  ];
}

test('deceptive names are shown escaped', async ({ page }) => {
  await page.goto('/settings/apiKeys');
  await page.getByLabel('Name of the new key').fill(HOSTILE);
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.getByRole('button', { name: 'Done' }).click();
  for (const [address, found, first = 'main', act] of locations()) {
    await goTo(page, address);
    await page.locator(first).first().waitFor({ state: 'attached' });
    await act?.(page);
    await page.locator(found).first().waitFor();
    await assertVisible(page, address);
    await page.setViewportSize({ width: 360, height: 800 });
    await page.evaluate('new Promise(requestAnimationFrame)');
    await page.locator(found).first().waitFor({ state: 'attached' });
    await assertVisible(page, `${address} at 360`);
    await page.setViewportSize({ width: 1280, height: 800 });
  }
  // Loaded: the daemon reads these addresses too.
  for (const [index, file] of FILES.entries()) {
    await page.goto(`${browse('blob', file)}?query=plum${index}`);
    await page.locator('.cm-content mark').getByText(`plum${index}`).waitFor();
  }
});
