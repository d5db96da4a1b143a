// Connections and the licence in a real browser: a listing that goes well and one that does not, listed again at the press of a
// button, with its log; and what needs a licence before there is one.
// tier: ci (browser)

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { PAIR, licenceEnvironment } from '../accounts/licences.ts';
import { serve } from '../e2e/daemon.ts';
import type { Served } from '../e2e/daemon.ts';
import { CodeHost } from '../e2e/hosted.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { NO_BROWSER, findingsOf, shows, visit } from './browser.ts';
import type { Visitor } from './browser.ts';

const OWNER = 'owner@example.com';
const PASSWORD = 'correct horse battery';

let host: CodeHost;
let served: Served;
before(async () => {
  if (NO_BROWSER !== false) return;
  host = await CodeHost.start();
  host.add('one', { 'a.txt': 'firstword\n' });
  const file = path.join(temporaryFolder(), 'trawl.json');
  const token = { env: 'HOST_TOKEN' };
  const connections = {
    acme: { type: 'github', url: host.url, orgs: ['acme'], token },
    // Nobody listens there.
    gone: { type: 'github', url: 'http://127.0.0.1:9', orgs: ['acme'], token },
  };
  writeFileSync(file, JSON.stringify({ connections }));
  served = await serve(temporaryFolder(), [], {
    flags: ['--config', file],
    env: {
      TRAWL_OWNER_EMAIL: OWNER,
      TRAWL_OWNER_PASSWORD: PASSWORD,
      TRAWL_LICENSE_PUBLIC_KEY: PAIR.publicKey,
      HOST_TOKEN: 'ghp_of-the-operator',
    },
  });
});

after(() => host?.stop());

async function visitAsOwner(): Promise<Visitor> {
  const visitor = await visit({ url: served.url });
  const data = { email: OWNER, password: PASSWORD };
  assert.equal((await visitor.page.request.post('/api/auth/login', { data })).status(), 200);
  return visitor;
}

void test(
  'connections: how each listing went, why one failed, listed again with its log',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visitAsOwner();
    await page.goto('/settings/connections');
    const acme = page.getByRole('row', { name: /^acme/ });
    const gone = page.getByRole('row', { name: /^gone/ });
    await acme.getByText('Up to date').waitFor();
    await gone.getByText('Failed, will be retried').waitFor();
    await page.getByText('1 connection failed.').waitFor();
    // What needs somebody stands first.
    await shows(page.getByRole('row').nth(1), /^gone/);
    await gone.getByRole('button', { name: 'About gone' }).click();
    const about = page.getByRole('region', { name: 'About gone' });
    await about.getByText('Trawl retries automatically.').waitFor();
    await about
      .getByRole('log')
      .getByText(/127\.0\.0\.1:9/)
      .first()
      .waitFor();
    assert.deepEqual(await findingsOf(page), []);
    await about.getByRole('button', { name: 'Close' }).click();
    assert.match(page.url(), /\/settings\/connections$/);

    host.add('two', { 'b.txt': 'secondword\n' });
    await acme.getByRole('button', { name: 'About acme' }).click();
    const other = page.getByRole('region', { name: 'About acme' });
    await other.getByText('1 repository', { exact: true }).waitFor();
    await acme.getByRole('button', { name: 'Sync now: acme' }).click();
    await other.getByText('2 repositories', { exact: true }).waitFor();
    await other.getByRole('link', { name: 'Repositories' }).click();
    await page.waitForURL(/\/repos\?connectionId=\d+$/);
    await page.getByRole('row', { name: new RegExp(host.nameOf('two')) }).waitFor();
    assert.equal(await page.getByRole('row').count(), 3);
    assert.deepEqual(complaints, []);
  },
);

void test(
  'what needs a licence says so, until a key is set that is good',
  { skip: NO_BROWSER },
  async () => {
    const { page, complaints } = await visitAsOwner();
    await page.goto('/settings/members');
    await page.getByText('This page needs a licence that includes org-management.').waitFor();
    assert.deepEqual(await findingsOf(page), []);
    await page.goto('/settings/audit');
    await page.getByText('This page needs a licence that includes audit.').waitFor();
    await page.getByRole('link', { name: 'Licence' }).last().click();
    const facts = page.locator('.facts');
    await facts.getByText('only the free features').waitFor();
    const set = async (key: string) => {
      await page.getByLabel('Licence key').fill(key);
      await page.getByRole('button', { name: 'Save key' }).click();
    };
    const { TRAWL_LICENSE_KEY: key = '' } = licenceEnvironment();
    await set(`${key}x`);
    await page.locator('.notice-danger').waitFor();
    await set(key);
    await facts.getByText('Acme').waitFor();
    assert.match(await facts.innerText(), /Seats\n1 used\n/);
    await page.getByText('The licence expires soon').waitFor();
    await page.getByRole('link', { name: 'Members' }).click();
    await page.getByRole('row', { name: new RegExp(OWNER) }).waitFor();
    await page.getByRole('link', { name: 'Audit log' }).click();
    await page.getByText('license.changed').first().waitFor();
    assert.deepEqual(
      complaints.filter((text) => !/400/.test(text)),
      [],
    );
  },
);
