// Folders and documents in a real browser: a hostile README, the tree and its keys, folders and where they lead, narrow windows.

import assert from 'node:assert/strict';
import type { Locator } from 'playwright-core';
import { findingsOf, goTo, hasCount, until } from '../browser.ts';
import { addressOf, documentTest as test, name, openCode } from './browsed.ts';

test('a hostile README runs, requests and styles nothing', async ({ page }) => {
  await page.goto(addressOf('README.md'));
  const text = page.locator('.markdown-text');
  await text.getByRole('heading', { name: 'Hostile bold' }).waitFor();
  await text.getByText('☑ done').waitFor();
  // Its language has the name of what every object has.
  await text.getByText('no language').waitFor();
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
  await page.getByRole('button', { name: 'Code', exact: true }).click();
  await page.locator('.cm-content').waitFor();
  assert.match(page.url(), /view=code/);
});

test('links of a document stay in the page; a path of a folder works', async ({ page }) => {
  await page.goto(addressOf('README.md'));
  await page.locator('.markdown-text').getByRole('link', { name: 'file' }).click();
  await page.locator('.cm-content').waitFor();
  assert.match(page.url(), /-\/blob\/src\/plum\.ts$/);
  await page.goBack();
  await page.locator('.markdown-text').getByRole('link', { name: 'lines' }).click();
  await hasCount(page.locator('.linked-line'), 2);
  await goTo(page, addressOf('src'));
  await page.locator('.folder-list').getByRole('link', { name: 'use.ts' }).waitFor();
});

test('a folder shows its README, history, and a search in it', async ({ page }) => {
  await page.goto(`/browse/${name}/-/tree/`);
  const content = page.locator('.browse-content');
  await content.getByText('1 folder, 5 files').waitFor();
  await content.getByRole('heading', { name: /^Hostile/ }).waitFor();
  await content.getByRole('link', { name: 'file', exact: true }).click();
  await page.waitForURL(/-\/blob\/src\/plum\.ts$/);
  await goTo(page, `/browse/${name}/-/tree/src`);
  await content.getByRole('link', { name: 'Search here' }).click();
  await page.getByText('that is all').waitFor();
  await hasCount(page.getByRole('article'), 5);
  await page.goBack();
  await content.getByRole('link', { name: 'History' }).click();
  await page.getByRole('cell', { name: 'all of it' }).waitFor();
});

test('a branch and a tag of one name: each opens itself, and is not indexed for it', async ({
  page,
}) => {
  const searches: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/api/search')) searches.push(request.postData() ?? '');
  });
  for (const [kind, lines] of [
    ['branch', 5],
    ['tag', 2],
  ] as const) {
    await openCode(page, addressOf('src/plum.ts', '', '@linked'));
    await page.getByRole('button', { name: 'linked' }).click();
    await page.getByRole('option', { name: new RegExp(`^same\\s*${kind}`) }).click();
    await page.waitForURL(/same/);
    await page.locator('.cm-content').waitFor();
    await hasCount(page.locator('.cm-line:not(:empty)').filter({ hasText: /./ }), lines);
    await page.waitForLoadState('networkidle');
  }
  assert.deepEqual(searches, []);
});

test('return opens the revision whose name was typed in full', async ({ page }) => {
  await openCode(page, addressOf('src/plum.ts', '', '@linked'));
  await page.getByRole('button', { name: 'linked' }).click();
  await page.keyboard.type('same');
  await page.getByRole('option', { name: 'default' }).waitFor({ state: 'detached' });
  await page.getByRole('option', { name: /^a-same/ }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/@refs\/(?:heads|tags)\/same\//);
});

test('the history of another revision is never shown as that of this one', async ({ page }) => {
  let letAnswer = (): void => {};
  const mayAnswer = new Promise<void>((resolve) => (letAnswer = resolve));
  await page.route('**/api/commits?*ref=linked*', async (route) => {
    await mayAnswer;
    await route.continue();
  });
  await page.goto(`/browse/${name}/-/commits/`);
  const last = page.getByRole('cell', { name: 'all of it' });
  await last.waitFor();
  const requested = page.waitForRequest('**/api/commits?*ref=linked*');
  await goTo(page, `/browse/${name}@linked/-/commits/`);
  await requested;
  await hasCount(last, 0);
  letAnswer();
  await page.getByRole('cell', { name: 'a submodule' }).waitFor();
});

test('the address of a repository is its root folder', async ({ page }) => {
  for (const end of ['', '/', '/-', '/-/']) {
    await page.goto(`/browse/${name}${end}`);
    await page.locator('.browse-content').getByRole('link', { name: 'src' }).waitFor();
  }
});

test('empty folders and lists show next steps', async ({ page }) => {
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

test('the tree works by keys', async ({ page }) => {
  await openCode(page, addressOf('src/use.ts'));
  const tree = page.getByRole('tree', { name: 'Files' });
  const items = tree.getByRole('treeitem');
  const names = 'src,deep,guide.md,plum.ts,use.ts,bin.dat,drawing.svg,odd.txt,pic.gif,README.md';
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
  await page.waitForURL(/pic\.gif$/);
  assert.equal(await at(), 'pic.gif');
  assert.deepEqual(await findingsOf(page), []);
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

test('the tree shows the current file, and follows the keys', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 220 });
  await openCode(page, addressOf('src/use.ts'));
  const item = (path: string) =>
    page.getByRole('treeitem').and(page.getByTitle(path, { exact: true }));
  await until(page, 'document.querySelector(".tree-rows").scrollTop > 0');
  await isInWindow(item('src/use.ts'), 'where one is');
  await item('src/use.ts').focus();
  await page.keyboard.press('End');
  await until(page, "document.activeElement.title === 'README.md'");
  await isInWindow(item('README.md'), 'where the keys lead');
  await page.setViewportSize({ width: 768, height: 130 });
  await page.keyboard.press('Control+b');
  await page.getByRole('dialog', { name: 'Files' }).waitFor();
  await until(page, 'document.querySelector(".drawer .tree-rows").scrollTop > 0');
  const inDrawer = page.getByRole('dialog').getByTitle('src/use.ts', { exact: true });
  await isInWindow(inDrawer, 'where one is, in the drawer');
  await page.setViewportSize({ width: 768, height: 800 });
  const drawer = page.getByRole('dialog', { name: 'Files' });
  await drawer.getByRole('treeitem', { name: 'plum.ts' }).click();
  await page.waitForURL(/src\/plum\.ts$/);
  await drawer.waitFor({ state: 'detached' });
});

test('a README that is a symbolic link shows its target, a submodule is marked as one', async ({
  page,
  complaints,
}) => {
  await page.goto(`/browse/${name}@linked/-/tree/src/deep`);
  await page.getByRole('heading', { name: 'Guide' }).waitFor();
  await goTo(page, `/browse/${name}@linked/-/tree/libs`);
  await page.getByText('0 folders, 0 files, 1 submodule').waitFor();
  assert.deepEqual(complaints, []);
  await page.locator('.folder-list').getByRole('link', { name: 'inner' }).click();
  await page.getByText(`libs/inner is a submodule: ${name} refers to a commit`).waitFor();
  await page.getByText('The submodule is not indexed').waitFor();
});
