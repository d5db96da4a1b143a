// Links to the code host in a real browser: beside a result, above a file, beside a repository. What a host says of its own
// address becomes a link where it is one of the web, and nothing otherwise.
// tier: ci (browser)

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { jobsEnded, serve } from '../e2e/daemon.ts';
import type { Served } from '../e2e/daemon.ts';
import { CodeHost } from '../e2e/hosted.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { NO_BROWSER, findingsOf, visit } from './browser.ts';
import { openDoor } from './door.ts';

let host: CodeHost;
let served: Served;
before(async () => {
  if (NO_BROWSER !== false) return;
  host = await CodeHost.start();
  host.add('one', { 'a b.txt': 'plumtree\n' });
  const file = path.join(temporaryFolder(), 'trawl.json');
  const acme = { type: 'github', url: host.url, orgs: ['acme'], token: { env: 'HOST_TOKEN' } };
  writeFileSync(file, JSON.stringify({ connections: { acme } }));
  served = await serve(temporaryFolder(), [], {
    flags: ['--config', file],
    env: { TRAWL_ANONYMOUS_ACCESS: 'true', HOST_TOKEN: 'ghp_of-the-operator' },
  });
  await jobsEnded(served, 1);
});

after(() => host?.stop());

/** The pages that have such a link, each open and with all that it shows. */
async function* pagesWithLink(page: Page) {
  const name = host.nameOf('one');
  await page.goto('/search?query=plumtree');
  await page.getByText('that is all').waitFor();
  await page.getByRole('article').waitFor();
  yield 'result';
  await page.getByRole('article').getByRole('link', { name: 'a b.txt' }).click();
  await page.locator('.cm-content').waitFor();
  yield 'file';
  await page.goto(`/repos?open=${encodeURIComponent(name)}`);
  await page
    .getByRole('region', { name: `About ${name}` })
    .getByText('Last checked at host')
    .waitFor();
  yield 'repository';
}

void test('a link to the page of the host', { skip: NO_BROWSER }, async () => {
  const { page, complaints } = await visit({ url: served.url });
  const link = page.getByRole('link', { name: 'Open at code host' });
  const seen: string[] = [];
  for await (const where of pagesWithLink(page)) {
    assert.equal(await link.getAttribute('rel'), 'noopener noreferrer', where);
    assert.equal(await link.getAttribute('target'), '_blank', where);
    assert.equal(await link.getAttribute('title'), `Open at ${new URL(host.url).host}`);
    assert.deepEqual(await findingsOf(page), [], where);
    seen.push((await link.getAttribute('href')) ?? '');
  }
  const repo = `${host.url}/acme/one`;
  assert.deepEqual(seen, [`${repo}/blob/main/a%20b.txt`, `${repo}/blob/main/a%20b.txt`, repo]);
  await page.goto(`/browse/${host.nameOf('one')}/-/blob/a%20b.txt?highlightRange=1`);
  await page.locator('.cm-content').waitFor();
  assert.equal(await link.getAttribute('href'), `${repo}/blob/main/a%20b.txt#L1`);
  assert.deepEqual(complaints, []);
});

/** A daemon whose host calls all its pages so. */
async function openWith(address: string): Promise<string> {
  const external = /"externalWebUrl":"[^"]*"/g;
  return await openDoor({
    url: served.url,
    pass: async (lookupText, reply, response) => {
      const isApi = lookupText.startsWith('/api/');
      if (isApi) reply.setEncoding('utf8');
      let text = '';
      for await (const lineColours of reply) {
        if (typeof lineColours === 'string') text += lineColours;
        else response.write(lineColours);
      }
      response.end(text.replaceAll(external, () => `"externalWebUrl":${JSON.stringify(address)}`));
    },
  });
}

for (const address of [
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)//https://host.example/',
  'data:text/html,<script>alert(1)</script>',
  'blob:https://host.example/1',
  'file:///etc/passwd',
  '//evil.example/',
  'no address at all',
  '',
])
  void test(
    `an address that is none of the web is no link: ${address}`,
    { skip: NO_BROWSER },
    async () => {
      const url = await openWith(address);
      const { page, complaints } = await visit({ url });
      for await (const where of pagesWithLink(page)) {
        assert.equal(await page.getByRole('link', { name: 'Open at code host' }).count(), 0, where);
        const hrefs = await page
          .locator('[href]')
          .evaluateAll((all) => all.map((one) => one.getAttribute('href') ?? ''));
        if (address !== '') assert.ok(!hrefs.includes(address), where);
      }
      assert.deepEqual(complaints, []);
    },
  );
