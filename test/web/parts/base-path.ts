// The page of an instance whose base URL has a path, in a real browser: everything that it asks for and leads to is below it,
// from its workers too.

import assert from 'node:assert/strict';
import path from 'node:path';
import { serveIndexed } from '../../e2e/daemon.ts';
import { makeRepo, temporaryFolder } from '../../sources/git/fixture.ts';
import { freePort } from '../../hosts/mirrors/git-server.ts';
import { findingsOf, hasCount, pageTests } from '../browser.ts';

const FILES = {
  'src/plum.ts': 'export const plum = 1;\n',
  'README.md': '# Plums\n\n[plum](src/plum.ts)\n',
};

let url = '';
let name = '';
const test = pageTests(async () => {
  const port = await freePort();
  url = `http://localhost:${port}/browse/code`;
  const repo = makeRepo(FILES);
  name = `local/${path.basename(repo)}`;
  await serveIndexed(temporaryFolder(), [repo], {
    flags: ['--anonymous', '--base-url', url, '--port', String(port)],
  });
  return url;
});

test('from the bare base URL to results, a file and back', async ({ page, complaints }) => {
  const addresses: string[] = [];
  page.on('request', (request) => addresses.push(request.url()));
  await page.goto(url);
  const box = page.getByRole('combobox', { name: 'Query' });
  await page.locator('.box-input[aria-haspopup]').waitFor();
  await page.keyboard.type('plum file:plu');
  await page.getByRole('option', { name: /^src\/plum\.ts/ }).waitFor();
  await page.keyboard.press('Escape');
  await box.fill('plum');
  await page.keyboard.press('Enter');
  await page.waitForURL(`${url}/search?query=plum`);
  await page.getByText('that is all').waitFor();
  await hasCount(page.getByRole('article'), 2);
  await page.reload();
  await page.getByRole('article').locator('.result-line').first().click();
  await page.locator('.cm-content').waitFor();
  assert.ok(page.url().startsWith(`${url}/browse/`), page.url());
  await page.getByRole('button', { name: 'Blame' }).click();
  await page.locator('.blame-mark').first().waitFor();
  await page.goBack();
  await hasCount(page.getByRole('article'), 2);
  assert.deepEqual(await findingsOf(page), []);
  assert.deepEqual(complaints, []);
  const outside = addresses.filter((address) => address !== url && !address.startsWith(`${url}/`));
  assert.deepEqual(outside, []);
  assert.ok(addresses.some((address) => address.startsWith(`${url}/api/stream_search`)));
});

test('links of a document and the finder lead to files', async ({ page }) => {
  await page.goto(`${url}/browse/${name}/-/blob/README.md`);
  await page.getByRole('link', { name: 'plum', exact: true }).click();
  await page.waitForURL(/\/browse\/code\/browse\/.*\/src\/plum\.ts$/);
  await page.locator('.cm-content').waitFor();
  await page.keyboard.press('t');
  const finder = page.getByRole('dialog', { name: 'Find a file' });
  await finder.getByText('2 files').waitFor();
  await page.keyboard.type('readme');
  await finder.getByText('1 file', { exact: true }).waitFor();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/browse\/code\/browse\/.*\/README\.md$/);
  await page.reload();
  await page.getByRole('heading', { name: 'Plums' }).waitFor();
});

test('a proxy that strips the path gets a message instead of a blank page', async () => {
  for (const [below, accept] of [
    ['/search?query=plum', 'text/html'],
    ['/browse/codex', 'text/html'],
    ['/api/health', '*/*'],
  ] as const) {
    const reply = await fetch(new URL(below, url), { headers: { accept } });
    assert.equal(reply.status, 404, below);
    assert.match(
      await reply.text(),
      /Not found: paths begin with \/browse\/code here, as the base URL/,
    );
  }
  const inside = await fetch(`${url}/nowhere`, { headers: { accept: 'text/html' } });
  assert.match(await inside.text(), /<html/);
});
