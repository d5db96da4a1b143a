// A file in a real browser: what it is shown as, hostile documents, names and where they lead, the finder, steps through
// matches, panels, links that last.
// tier: ci (browser)

import assert from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import path from 'node:path';
import { before, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import type { Locator, Page } from 'playwright-core';
import { eventually, search, serve } from '../e2e/daemon.ts';
import type { Served } from '../e2e/daemon.ts';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { NO_BROWSER, findingsOf, hasCount, shows, until, visit } from './browser.ts';

const HOSTILE_README = `# Hostile <b onclick="alert(1)">bold</b>

<img src=missing onerror="alert(1)"> ![ours](pic.png) ![tracked](https://evil.example/track.png)
<img src="//evil.example/a.png" srcset="https://evil.example/b.png 2x" style="width:9999px">
[js](javascript:alert(1)) <a href="javascript:alert(2)">raw</a> <a href="JaVaScRiPt:alert(3)">mixed</a>
<a href="&#106;avascript:alert(4)">encoded</a> <a href="data:text/html,<script>alert(5)</script>">data</a>
[file](src/plum.ts) [folder](src/) [web](https://example.com/) [heading](#hostile-bold)
[lines](src/plum.ts#L2-L3) [line](/src/plum.ts#L2C3) [there](src/guide.md#a-b)

<form action="https://evil.example/"><input name="q"><button>go</button></form>
<iframe src="https://evil.example/"></iframe><svg onload="alert(6)"></svg><style>* { display: none }</style>
<script>alert(7)</script><div style="position:fixed;inset:0" class="backdrop" id="root">styled</div>
<math><mi xlink:href="javascript:alert(8)">m</mi></math><details open ontoggle=alert(9)>details</details>
<a href="x" onmouseover="alert(10)" title=">">quoted</a><img alt=">" src="x" onerror="alert(11)">

| left | right |
|:-----|------:|
| 1    | 2     |

- [x] done
`;

/** A picture of one red dot. */
function dot(): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(4);
    frame.writeUInt32BE(data.length);
    // Browsers show pictures with wrong checksums of what they need not have; this one is right.
    const sum = Buffer.alloc(4);
    sum.writeUInt32BE(checksum(body));
    return Buffer.concat([frame, body, sum]);
  };
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    chunk('IHDR', Buffer.from('00000001000000010802000000', 'hex')),
    chunk('IDAT', deflateSync(Buffer.from([0, 255, 0, 0]))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function checksum(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0xedb88320 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}

const USE = 'import { plumTree } from "./plum";\n\nexport const sum = plumTree(5) + plumTree(6);\n';

let served: Served;
let name = '';
let otherName = '';
let first = '';
let commit = '';
before(async () => {
  if (NO_BROWSER !== false) return;
  const other = makeRepo({ 'far.ts': 'const far = plumTree(9);\n' });
  const repo = makeRepo({
    'src/plum.ts': 'export function plumTree() {}\nconst e = "plumTree";\n',
  });
  first = git(repo, 'rev-parse', 'HEAD');
  writeFiles(repo, {
    'README.md': HOSTILE_README,
    'src/plum.ts':
      '// the tree\nexport function plumTree(count: number) {\n  return count;\n}\nconst e = "plumTree";\n',
    'src/use.ts': USE,
    'src/deep/er/file-view.tsx': 'export const View = 1;\n',
    'odd.txt': 'one \u202Ereversed\u202C\r\ntwo\u200B\rthree \u001B[31m\nfour\n',
    'pic.png': dot(),
    'drawing.svg':
      '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><script>alert(1)</script><rect width="40" height="30"/></svg>\n',
    'src/guide.md': '# Guide\n\n## A b\n',
    'src/deep/README.rst': 'Deep\n====\n\nSays *little*.\n',
    'bin.dat': Buffer.from('a\0b'.repeat(1000)),
  });
  commitAll(repo, 'all of it');
  commit = git(repo, 'rev-parse', 'HEAD');
  git(repo, 'checkout', '-q', '-b', 'linked');
  symlinkSync('../../src/guide.md', path.join(repo, 'src/deep/README.md'));
  commitAll(repo, 'a link');
  git(repo, 'update-index', '--add', '--cacheinfo', `160000,${first},libs/inner`);
  git(repo, 'commit', '-q', '-m', 'a submodule');
  git(repo, 'checkout', '-q', 'main');
  served = await serve(temporaryFolder(), [repo, other]);
  await served.process.until(/ symbols found /, 2);
  const answer = await fetch(`${served.url}/api/repos`);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- other tests hold it to its schema
  const repos = (await answer.json()) as readonly { readonly repoName: string }[];
  const names = repos.map(({ repoName }) => repoName);
  name = names.find((one) => one.endsWith(repo.split('/').at(-1) ?? '')) ?? '';
  otherName = names.find((one) => one !== name) ?? '';
});

function addressOf(path: string, more = '', at = ''): string {
  return `/browse/${name}${at}/-/blob/${path}${more}`;
}

/** Opens a file and waits for its text. */
async function openCode(page: Page, address: string): Promise<void> {
  await page.goto(address);
  await page.locator('.cm-content').waitFor();
}

void test(
  'a hostile README is a document that runs, asks and styles nothing',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await page.goto(addressOf('README.md'));
    const text = page.locator('.markdown-text');
    await text.getByRole('heading', { name: 'Hostile bold' }).waitFor();
    await text.getByText('☑ done').waitFor();
    assert.equal(await text.getByRole('cell', { name: '2' }).getAttribute('align'), 'right');
    await page.waitForLoadState('networkidle');
    const refused =
      'form, input, button, iframe, svg, math, style, script, [style], [class], [srcset]';
    assert.equal(await text.locator(refused).count(), 0);
    const attributes = await text
      .locator('*')
      .evaluateAll((all) => all.flatMap((one) => one.getAttributeNames()));
    assert.deepEqual(
      attributes.filter((one) => one.startsWith('on')),
      [],
    );
    const links = await text
      .locator('a[href]')
      .evaluateAll((all) => all.map((one) => `${one.textContent} ${one.getAttribute('href')}`));
    assert.deepEqual(links, [
      'Image at evil.example (not loaded) https://evil.example/track.png',
      'Image at evil.example (not loaded) http://evil.example/a.png',
      `file /browse/${name}/-/blob/src/plum.ts`,
      `folder /browse/${name}/-/tree/src`,
      'web https://example.com/',
      'heading #user-content-hostile-bold',
      `lines /browse/${name}/-/blob/src/plum.ts?highlightRange=2-3`,
      `line /browse/${name}/-/blob/src/plum.ts?highlightRange=2`,
      `there /browse/${name}/-/blob/src/guide.md#user-content-a-b`,
      `quoted /browse/${name}/-/blob/x`,
    ]);
    await until(page, 'document.querySelector(".markdown-text img[alt=ours]").naturalWidth === 1');
    await hasCount(page.locator('#root'), 1);
    // Two pictures of the repository are not there.
    assert.deepEqual(
      complaints.filter((said) => !/404/.test(said)),
      [],
    );
    await page.getByRole('button', { name: 'Code', exact: true }).click();
    await page.locator('.cm-content').waitFor();
    assert.match(page.url(), /view=code/);
    await page.goBack();
  },
);

void test(
  'links of a document stay in the page; a path that is a folder is one',
  { skip: NO_BROWSER },
  async () => {
    const { page } = await visit({ url: served.url });
    await page.goto(addressOf('README.md'));
    await page.locator('.markdown-text').getByRole('link', { name: 'file' }).click();
    await page.locator('.cm-content').waitFor();
    assert.match(page.url(), /-\/blob\/src\/plum\.ts$/);
    await page.goBack();
    await page.locator('.markdown-text').getByRole('link', { name: 'lines' }).click();
    await hasCount(page.locator('.linked-line'), 2);
    await page.goto(addressOf('src'));
    await page.locator('.folder-list').getByRole('link', { name: 'use.ts' }).waitFor();
  },
);

void test('pictures, drawings and what is no text', { skip: NO_BROWSER }, async () => {
  const { page, complaints } = await visit({ url: served.url });
  await page.goto(addressOf('pic.png'));
  await page.getByText('image/png').waitFor();
  await hasCount(page.getByRole('img', { name: 'pic.png' }), 1);
  await page.goto(addressOf('drawing.svg'));
  await page.getByText('image/svg+xml').waitFor();
  await page.getByRole('button', { name: 'Code', exact: true }).click();
  await page.locator('.cm-content').waitFor();
  await page.goto(addressOf('bin.dat'));
  await page.getByText('3.0 KB · binary').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Blame' }).count(), 0);
  const raw = await page
    .getByRole('link', { name: 'Raw', exact: true })
    .first()
    .getAttribute('href');
  assert.equal(
    (await fetch(`${served.url}${raw}`)).headers.get('content-type'),
    'application/octet-stream',
  );
  assert.deepEqual(complaints, []);
});

void test(
  'characters that cannot be seen are boxes, lines are those of the daemon',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await openCode(page, addressOf('odd.txt'));
    await page.getByText('This file has characters that change the order of the text.').waitFor();
    assert.deepEqual(await page.locator('.hidden-character').allInnerTexts(), [
      'U+202E',
      'U+202C',
      'U+200B',
      'U+000D',
      'U+001B',
    ]);
    await page.getByText('3 lines').waitFor();
    assert.deepEqual(complaints, []);
  },
);

void test(
  'names: card, definition, references here and everywhere',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await openCode(page, addressOf('src/use.ts'));
    // Its colours are there: they exchange the words under the pointer.
    const coloured = () =>
      page.locator('.cm-line', { hasText: 'import' }).locator('.code-keyword').first().waitFor();
    await coloured();
    const use = page.locator('.cm-line').nth(2).getByText('plumTree').first();
    await use.hover();
    const card = page.locator('.name-card');
    await card.getByText('export function plumTree(count: number) {').waitFor();
    await shows(card, /src\/plum\.ts line 2/);
    await use.click({ modifiers: ['Control'] });
    await page.waitForURL(/src\/plum\.ts\?highlightRange=2$/);
    await page.locator('.linked-line').waitFor();
    await page.goBack();
    await coloured();
    await use.click();
    await page.keyboard.press('Alt+F12');
    await page.waitForURL(/src\/plum\.ts\?highlightRange=2$/);
    await page.goBack();
    await coloured();
    await use.click();
    await page.keyboard.press('Alt+Shift+F12');
    const panel = page.getByRole('region', { name: 'plumTree', exact: true });
    await panel.getByRole('button', { name: 'References 5' }).waitFor();
    assert.match(page.url(), /explore=references%3AplumTree/);
    await hasCount(panel.locator('.explore-row'), 4);
    await page.keyboard.press('j');
    await page.keyboard.press('Shift+A');
    await panel.getByText(otherName).waitFor();
    await page.keyboard.press('Escape');
    await panel.waitFor({ state: 'detached' });
    assert.doesNotMatch(page.url(), /explore|scope/);
    assert.deepEqual(complaints, []);
  },
);

void test('the caret goes by keys, and the card opens at it', { skip: NO_BROWSER }, async () => {
  const { page } = await visit({ url: served.url });
  await openCode(page, addressOf('src/use.ts'));
  await page.locator('.cm-content').focus();
  for (const key of [
    'ArrowDown',
    'ArrowDown',
    'End',
    'ArrowLeft',
    'ArrowLeft',
    'ArrowLeft',
    'ArrowLeft',
  ])
    await page.keyboard.press(key);
  await page.keyboard.press('i');
  await page.locator('.name-card').getByText('src/plum.ts').waitFor();
  await page.keyboard.press('r');
  await page.getByRole('region', { name: 'plumTree', exact: true }).waitFor();
});

void test('the finder opens files by parts of their paths', { skip: NO_BROWSER }, async () => {
  const { page, complaints } = await visit({ url: served.url });
  await openCode(page, addressOf('src/use.ts'));
  await page.keyboard.press('Control+p');
  const finder = page.getByRole('dialog', { name: 'Find a file' });
  await finder.getByText('10 files').waitFor();
  const box = await finder.boundingBox();
  assert.ok(box !== null && box.y > 0 && box.y < 100 && box.width > 500, JSON.stringify(box));
  await page.keyboard.type('fileview');
  await finder.getByText('1 file', { exact: true }).waitFor();
  assert.deepEqual(await findingsOf(page), []);
  await page.keyboard.press('Enter');
  await page.waitForURL(/src\/deep\/er\/file-view\.tsx$/);
  await finder.waitFor({ state: 'detached' });
  await page.keyboard.press('t');
  await page.keyboard.type('zzzz');
  await finder.getByText('No matching files.').waitFor();
  await page.keyboard.press('Escape');
  await finder.waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

void test(
  'matches of the search that led here, one after the other',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await openCode(page, addressOf('src/use.ts', '?query=plumTree'));
    await page.getByText('3 matches').waitFor();
    await hasCount(page.locator('.cm-content mark'), 3);
    const current = page.locator('.cm-line:has(mark.match-current)');
    await page.keyboard.press('n');
    await page.getByText('match 1 of 3').waitFor();
    await shows(current, /^import/);
    await page.keyboard.press('n');
    await page.keyboard.press('n');
    await page.getByText('match 3 of 3').waitFor();
    await page.keyboard.press('n');
    await page.getByText('match 1 of 3').waitFor();
    await page.keyboard.press('p');
    await page.getByText('match 3 of 3').waitFor();
    assert.deepEqual(complaints, []);
  },
);

void test(
  'lines are chosen by dragging over their numbers, and there is a menu of them',
  { skip: NO_BROWSER },
  async () => {
    const { page, context, complaints } = await visit({ url: served.url });
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await openCode(page, addressOf('src/plum.ts'));
    const number = (line: number) =>
      page.locator('.cm-lineNumbers .cm-gutterElement', { hasText: new RegExp(`^${line}$`) });
    await number(4).hover();
    await page.mouse.down();
    await number(3).hover();
    await number(2).hover();
    await hasCount(page.locator('.linked-line'), 3);
    // A last line that ends is not followed by another.
    await hasCount(number(6), 0);
    await page.mouse.up();
    await page.waitForURL(/highlightRange=2-4$/);
    await number(5).click({ modifiers: ['Shift'] });
    await page.waitForURL(/highlightRange=4-5$/);
    await page.getByRole('button', { name: 'Lines 4-5' }).click();
    await page.getByRole('menuitem', { name: 'Copy text' }).click();
    await page.getByText('Text copied').waitFor();
    assert.equal(await page.evaluate('navigator.clipboard.readText()'), '}\nconst e = "plumTree";');
    // Columns count code points, and the last one is not in it.
    await openCode(page, addressOf('src/plum.ts', '?highlightRange=2:17-2:25'));
    await shows(page.locator('.linked-part'), 'plumTree');
    await page.getByRole('button', { name: 'Line 2:17-2:25' }).click();
    assert.deepEqual(await findingsOf(page), []);
    await page.getByRole('menuitem', { name: 'References to plumTree' }).click();
    await page.getByRole('button', { name: 'References 5' }).waitFor();
    await page.getByRole('button', { name: 'Line 2:17-2:25' }).click();
    await page.getByRole('menuitem', { name: 'Search for this text' }).click();
    await page.getByText('that is all').waitFor();
    assert.match(page.url(), /query=%22plumTree%22/);
    assert.deepEqual(complaints, []);
  },
);

void test(
  'names and blame of an older revision are of that revision',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    // It is not indexed: its symbols are found behind the first answer.
    await eventually(async () => {
      const { isSearchExhaustive } = await search(served.url, `sym:plumTree rev:${first}`);
      return isSearchExhaustive;
    });
    await openCode(page, addressOf('src/plum.ts', '?blame=1'));
    const before = page.locator('.blame-before').first();
    await before.focus();
    await before.click();
    await page.waitForURL(new RegExp(`@${first}/-/blob/src/plum\\.ts\\?blame=1$`));
    await hasCount(page.locator('.blame-mark'), 1);
    await page.locator('.cm-line').first().getByText('plumTree', { exact: true }).click();
    await page.keyboard.press('r');
    await page.getByRole('button', { name: 'References 2' }).waitFor();
    await page.locator('.explore-row').first().click();
    await page.waitForURL(new RegExp(`@${first}/-/blob/.*highlightRange=1`));
    await page.getByRole('button', { name: 'Definitions 1' }).click();
    const definition = await page.locator('.explore-row').first().getAttribute('href');
    assert.match(definition ?? '', new RegExp(`@${first}/-/blob/src/plum\\.ts.*highlightRange=1`));
    await hasCount(page.locator('.explore-remark'), 0);
    assert.deepEqual(complaints, []);
  },
);

void test('the panel says that symbols are missing', { skip: NO_BROWSER }, async () => {
  const { page } = await visit({ url: served.url });
  await page.route('**/api/find_definitions', async (route) => {
    const response = await route.fetch();
    const found: { stats: object } = await response.json();
    const stats = { ...found.stats, matchCount: 0 };
    const lacking = { isSearchExhaustive: false, incompleteReasons: ['symbols_missing'] };
    await route.fulfill({ response, json: { ...found, ...lacking, stats, files: [] } });
  });
  await openCode(page, addressOf('src/plum.ts', '?explore=references:plumTree'));
  await page.getByRole('button', { name: 'Definitions (symbols missing)' }).waitFor();
  await page.getByRole('button', { name: 'References 5' }).waitFor();
  await page.getByText('Some definitions may be missing.').waitFor();
});

void test('links that last, and the history beside the file', { skip: NO_BROWSER }, async () => {
  const { page, context, complaints } = await visit({ url: served.url });
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openCode(page, addressOf('src/use.ts', '?highlightRange=3'));
  await page.keyboard.press('Shift+C');
  await page.getByText('Path copied').waitFor();
  const copied = () => page.evaluate('navigator.clipboard.readText()');
  assert.equal(await copied(), 'src/use.ts:3');
  await page.keyboard.press('y');
  await page.waitForURL(new RegExp(`@${commit}/-/blob/src/use\\.ts\\?highlightRange=3$`));
  await page.locator('.linked-line').waitFor();
  await page.keyboard.press('c');
  await page.getByText('Link copied').waitFor();
  assert.equal(await copied(), page.url());
  await page.keyboard.press('h');
  await page.getByRole('region', { name: 'History', exact: true }).getByText('all of it').waitFor();
  assert.match(page.url(), /panel=history/);
  await page.reload();
  await page.getByRole('region', { name: 'History', exact: true }).getByText('all of it').waitFor();
  assert.deepEqual(await findingsOf(page), []);
  assert.deepEqual(complaints, []);
});

void test(
  'keys of files are in the one table, and single ones can be switched off',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await openCode(page, addressOf('src/use.ts'));
    await page.keyboard.press('?');
    const keys = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
    const row = (does: string) => keys.getByRole('row').filter({ hasText: does }).first();
    for (const [does, chords] of [
      ['Blame', 'b'],
      ['Go to the definition', 'dAltF12'],
      ['Unified or split', 'u'],
      ['Find a file', 'tCtrlP'],
    ] as const)
      assert.equal(
        (await row(does).getByRole('rowheader').innerText()).replaceAll(/\s/g, ''),
        chords,
      );
    await page.keyboard.press('Escape');
    await keys.waitFor({ state: 'detached' });
    await page.goto('/settings/general');
    await page.getByLabel(/^Single-key shortcuts/).uncheck();
    await openCode(page, addressOf('src/use.ts'));
    await page.keyboard.press('b');
    await page.keyboard.press('Control+Shift+H');
    await page.getByRole('region', { name: 'History', exact: true }).waitFor();
    assert.doesNotMatch(page.url(), /blame/);
    await page.keyboard.press('Escape');
    await page.waitForURL(/use\.ts$/);
    assert.deepEqual(complaints, []);
  },
);

void test(
  'tabs, long lines and keys of files are as their reader has chosen them; what was looked at is found again',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await page.goto('/settings/general');
    await page.getByLabel('Tab width').selectOption('8');
    await page.getByLabel('Vim keys in files').check();
    await openCode(page, addressOf('src/use.ts'));
    const content = page.locator('.cm-content');
    const style = (property: string) =>
      page.evaluate(`getComputedStyle(document.querySelector('.cm-content'))['${property}']`);
    assert.equal(await style('tab-size'), '8');
    assert.equal(await style('white-space-collapse'), 'preserve');
    assert.equal(await style('text-wrap-mode'), 'nowrap');
    await page.getByRole('button', { name: 'Wrap' }).click();
    await page.locator('.cm-lineWrapping').waitFor();
    assert.equal(await style('text-wrap-mode'), 'wrap');
    await page.locator('.cm-vim-panel').waitFor();
    await content.focus();
    // Down two lines and a word on, in the way of vim.
    await page.keyboard.press('2');
    await page.keyboard.press('j');
    await page.keyboard.press('w');
    await page.keyboard.press('w');
    await page.keyboard.press('w');
    await page.keyboard.press('w');
    await page.keyboard.press('*');
    await page.keyboard.press('Alt+F12');
    await page.waitForURL(/src\/plum\.ts\?highlightRange=2$/);
    await page.locator('.cm-lineWrapping').waitFor();
    await page.goto('/');
    await page.getByRole('heading', { name: 'Recently viewed' }).waitFor();
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('link', { name: 'README.md' }).first().waitFor();
    await page.keyboard.press('t');
    await page.locator('.finder .popover-item').first().waitFor();
    assert.deepEqual((await page.locator('.finder .popover-item').allInnerTexts()).slice(0, 2), [
      'src/plum.ts',
      'src/use.ts',
    ]);
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+k');
    await page.locator('.palette input:focus').waitFor();
    await page.keyboard.type('plum.ts');
    await page.getByRole('option', { name: `src/plum.ts · ${name}` }).click();
    await page.waitForURL(/src\/plum\.ts$/);
    // Two pictures of the README are not there.
    assert.deepEqual(
      complaints.filter((said) => !said.includes('404')),
      [],
    );
  },
);

void test(
  'a folder says what its README does, and leads to its history and to a search in it',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await page.goto(`/browse/${name}/-/tree/`);
    const content = page.locator('.browse-content');
    await content.getByText('1 folder, 5 files').waitFor();
    await content.getByRole('heading', { name: /^Hostile/ }).waitFor();
    await content.getByRole('link', { name: 'file', exact: true }).click();
    await page.waitForURL(/-\/blob\/src\/plum\.ts$/);
    await page.goto(`/browse/${name}/-/tree/src`);
    await content.getByRole('link', { name: 'Search here' }).click();
    await page.getByText('that is all').waitFor();
    await hasCount(page.getByRole('article'), 5);
    await page.goBack();
    await content.getByRole('link', { name: 'History' }).click();
    await page.getByRole('cell', { name: 'all of it' }).waitFor();
    assert.deepEqual(
      complaints.filter((complaint) => !complaint.includes('404')),
      [],
    );
  },
);

void test(
  'the address of a repository without more is its root',
  { skip: NO_BROWSER },
  async () => {
    const { page } = await visit({ url: served.url });
    for (const end of ['', '/', '/-', '/-/']) {
      await page.goto(`/browse/${name}${end}`);
      await page.locator('.browse-content').getByRole('link', { name: 'src' }).waitFor();
    }
  },
);

void test('in a narrow window messages of commits stay legible', { skip: NO_BROWSER }, async () => {
  const { page } = await visit({ url: served.url, width: 360 });
  await page.goto(addressOf('', '', '').replace('/blob/', '/commits/'));
  await page.locator('.commit-id').first().waitFor();
  const box = await page.getByRole('cell').nth(1).boundingBox();
  assert.ok(box !== null && box.width > 200, String(box?.width));
});

void test('where nothing is: the next steps', { skip: NO_BROWSER }, async () => {
  const { page } = await visit({ url: served.url });
  await page.goto(addressOf('nowhere/use.ts', '', '@main'));
  await page
    .getByText(`nowhere/use.ts does not exist in ${name} at main, or you may not see it.`)
    .waitFor();
  const steps = page.locator('.next-steps');
  await steps.getByRole('link', { name: 'src/use.ts' }).waitFor();
  await steps.getByRole('link', { name: 'The same path at the default revision' }).waitFor();
  await steps.getByRole('link', { name: 'Search for use.ts' }).click();
  await page.getByText('that is all').waitFor();
  await hasCount(page.getByRole('article'), 1);
});

void test('the tree goes by keys', { skip: NO_BROWSER }, async () => {
  const { page, complaints } = await visit({ url: served.url });
  await openCode(page, addressOf('src/use.ts'));
  const tree = page.getByRole('tree', { name: 'Files' });
  const items = tree.getByRole('treeitem');
  const names = 'src,deep,guide.md,plum.ts,use.ts,bin.dat,drawing.svg,odd.txt,pic.png,README.md';
  await hasCount(items, names.split(',').length);
  assert.equal((await items.allInnerTexts()).join(), names);
  const at = () => page.evaluate('document.activeElement.title');
  await tree.getByRole('treeitem', { name: 'use.ts' }).focus();
  for (const [key, path] of [
    ['ArrowLeft', 'src'],
    ['ArrowDown', 'src/deep'],
    ['ArrowRight', 'src/deep'],
    ['ArrowRight', 'src/deep/er'],
    ['ArrowLeft', 'src/deep'],
    ['ArrowLeft', 'src/deep'],
    ['ArrowDown', 'src/guide.md'],
    ['End', 'README.md'],
    ['ArrowDown', 'README.md'],
    ['Home', 'src'],
    ['ArrowUp', 'src'],
  ] as const) {
    await page.keyboard.press(key);
    await until(page, `document.activeElement.title === ${JSON.stringify(path)}`);
    // What a folder holds is there before the next key.
    if (key === 'ArrowRight')
      await tree.getByRole('treeitem', { name: 'er', exact: true }).waitFor();
    assert.equal(await at(), path);
  }
  assert.equal(await tree.locator('[tabindex="0"]').count(), 1);
  await page.keyboard.press('ArrowLeft');
  await hasCount(items, 6);
  await page.keyboard.press('End');
  await page.keyboard.press('ArrowUp');
  await page.keyboard.press('Enter');
  await page.waitForURL(/pic\.png$/);
  assert.equal(await at(), 'pic.png');
  assert.deepEqual(await findingsOf(page), []);
  assert.deepEqual(complaints, []);
});

/** All of it is in the window, soon: the list scrolls a moment behind the focus. */
async function isInWindow(row: Locator, what: string): Promise<void> {
  const { height } = row.page().viewportSize()!;
  const isWithin = async (): Promise<boolean> => {
    const box = await row.boundingBox();
    return box !== null && box.y >= 0 && box.y + box.height <= height;
  };
  for (let tries = 0; !(await isWithin()); tries++) {
    assert.ok(tries < 500, what);
    await row.page().waitForTimeout(20);
  }
}

void test(
  'the tree shows where one is, and goes along with the keys',
  { skip: NO_BROWSER },
  async () => {
    const { page } = await visit({ url: served.url });
    await page.setViewportSize({ width: 1280, height: 220 });
    await openCode(page, addressOf('src/use.ts'));
    const item = (path: string) =>
      page.getByRole('treeitem').and(page.getByTitle(path, { exact: true }));
    await until(page, 'document.querySelector(".tree-rows").scrollTop > 0');
    await isInWindow(item('src/use.ts'), 'where one is');
    await item('src/use.ts').focus();
    for (const path of ['bin.dat', 'drawing.svg', 'odd.txt', 'pic.png', 'README.md']) {
      await page.keyboard.press('ArrowDown');
      await until(page, `document.activeElement.title === '${path}'`);
      await page.waitForTimeout(50);
      await isInWindow(item(path), path);
    }
    await page.setViewportSize({ width: 768, height: 130 });
    await page.keyboard.press('Control+b');
    await page.getByRole('dialog', { name: 'Files' }).waitFor();
    await until(page, 'document.querySelector(".drawer .tree-rows").scrollTop > 0');
    const inDrawer = page.getByRole('dialog').getByTitle('src/use.ts', { exact: true });
    await isInWindow(inDrawer, 'where one is, in the drawer');
  },
);

void test('a folder shows who changed it last, and its README', { skip: NO_BROWSER }, async () => {
  const { page, complaints } = await visit({ url: served.url });
  await page.goto(`/browse/${name}/-/tree/src/deep`);
  await page.getByText('Says *little*.').waitFor();
  const last = page.locator('.last-commit');
  await last.getByText('all of it').waitFor();
  await last.getByRole('link', { name: commit.slice(0, 7) }).click();
  await page.waitForURL(new RegExp(`/-/commit/${commit}$`));
  assert.deepEqual(complaints, []);
});

void test(
  'a README that is a symbolic link shows what it links to, a submodule says that it is one',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await page.goto(`/browse/${name}@linked/-/tree/src/deep`);
    await page.getByRole('heading', { name: 'Guide' }).waitFor();
    await page.goto(`/browse/${name}@linked/-/tree/libs`);
    await page.getByText('0 folders, 0 files, 1 submodule').waitFor();
    assert.deepEqual(complaints, []);
    await page.locator('.folder-list').getByRole('link', { name: 'inner' }).click();
    await page.getByText(`libs/inner is a submodule: ${name} refers to a commit`).waitFor();
    await page.getByText('The submodule is not indexed').waitFor();
  },
);

void test(
  'the symbols of a file stand beside it, and a link opens it in an editor',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visit({ url: served.url });
    await page.goto('/settings/general');
    await page.getByRole('combobox', { name: 'Open files in' }).selectOption('VS Code');
    await page.getByRole('textbox', { name: /^Folder of your clones/ }).fill('/src/{name}');
    await openCode(page, addressOf('src/plum.ts'));
    await page.keyboard.press('o');
    const outline = page.getByRole('navigation', { name: 'Outline' });
    await outline.getByRole('link', { name: 'plumTree function' }).click();
    await page.waitForURL(/highlightRange=2$/);
    const folder = name.split('/').at(-1) ?? '';
    assert.equal(
      await page.getByRole('link', { name: 'Open in editor' }).getAttribute('href'),
      `vscode://file/src/${folder}/src/plum.ts:2:1`,
    );
    // Where it covers the text it is shown only when it is opened, and goes with the choice.
    await page.setViewportSize({ width: 360, height: 740 });
    await outline.waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Outline' }).click();
    await outline.getByRole('link', { name: 'plumTree function' }).click();
    await outline.waitFor({ state: 'hidden' });
    await page.setViewportSize({ width: 1280, height: 800 });
    await outline.waitFor();
    assert.deepEqual(await findingsOf(page), []);
    assert.deepEqual(complaints, []);
  },
);

void test('below 1,100 px the tree is a drawer', { skip: NO_BROWSER }, async () => {
  const { page, complaints } = await visit({ url: served.url, width: 768 });
  await openCode(page, addressOf('src/use.ts'));
  assert.equal(await page.getByRole('treeitem').count(), 0);
  await page.keyboard.press('Control+b');
  const drawer = page.getByRole('dialog', { name: 'Files' });
  await drawer.getByRole('treeitem', { name: 'plum.ts' }).click();
  await page.waitForURL(/src\/plum\.ts$/);
  await drawer.waitFor({ state: 'detached' });
  assert.deepEqual(complaints, []);
});

for (const theme of ['light', 'dark'] as const) {
  void test(
    `files, ${theme}: nothing for the accessibility checker, no sideways scroll`,
    { skip: NO_BROWSER },
    async () => {
      const { page } = await visit({ url: served.url, theme });
      const addresses = [
        addressOf('README.md'),
        addressOf('odd.txt', '?blame=1&query=one'),
        addressOf('src/use.ts', '?explore=references:plumTree&scope=all'),
        addressOf('pic.png'),
        addressOf('nowhere'),
      ];
      for (const address of addresses) {
        await page.goto(address);
        await page.waitForLoadState('networkidle');
        assert.deepEqual(await findingsOf(page), [], address);
        for (const width of [360, 768, 1920]) {
          await page.setViewportSize({ width, height: 800 });
          // The page hears of it with the next frame.
          await page.evaluate('new Promise(requestAnimationFrame)');
          const size = Number(await page.evaluate('document.documentElement.scrollWidth'));
          assert.ok(size <= width, `${address} at ${width}: ${size}`);
        }
        await page.setViewportSize({ width: 1280, height: 800 });
      }
    },
  );
}

void test(
  'a card on a word that is no name goes when colours come, the pointer at rest',
  { skip: NO_BROWSER },
  async () => {
    const { page, context } = await visit({ url: served.url });
    let come = (): void => {};
    const colours = new Promise<void>((resolve) => {
      come = resolve;
    });
    await context.route('**/colour-worker*', async (route) => {
      await colours;
      await route.continue();
    });
    await openCode(page, addressOf('src/plum.ts'));
    const card = page.locator('.name-card');
    const lines = page.locator('.cm-line');
    // In the comment, which nobody knows to be one yet.
    await lines.first().hover({ position: { x: 70, y: 8 } });
    await card.getByText('tree', { exact: true }).waitFor();
    come();
    await card.waitFor({ state: 'detached' });
    await lines.nth(1).getByText('plumTree').hover();
    await card.getByText('plumTree', { exact: true }).waitFor();
  },
);

void test(
  'folders of a tree that is filtered close and open by keys',
  { skip: NO_BROWSER },
  async () => {
    const { page } = await visit({ url: served.url });
    await openCode(page, addressOf('src/plum.ts'));
    const filter = page.getByRole('searchbox', { name: 'Filter files' });
    await filter.fill('er/file');
    const item = (name: string) => page.getByRole('treeitem', { name, exact: true });
    await item('file-view.tsx').waitFor();
    await item('deep').focus();
    await page.keyboard.press('ArrowLeft');
    await item('file-view.tsx').waitFor({ state: 'detached' });
    assert.equal(await item('deep').getAttribute('aria-expanded'), 'false');
    await page.keyboard.press('ArrowRight');
    await item('file-view.tsx').waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    assert.equal(
      await item('src').evaluate((one) => one === one.ownerDocument.activeElement),
      true,
    );
    // Another filter begins with all of them open.
    await filter.fill('er/file-v');
    await item('file-view.tsx').waitFor();
  },
);
