// What a page says when the daemon could not do all: a deadline, no room, a damaged part of the index that fails under a search
// and stays out of service. All of it happens for real: small limits by the configuration file, a changed byte, a source
// that is away.

import assert from 'node:assert/strict';
import {
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import type { Page } from 'playwright-core';
import { eventually, serve, type Served } from '../../e2e/daemon.ts';
import { makeRepo, temporaryFolder } from '../../sources/git/fixture.ts';
import { findingsOf, pageTests } from '../browser.ts';
import { OWNER, OWNER_ENV } from '../people.ts';

/** Matched lines of each repository. */
const LINES = 60 * 301;

let dataDir = '';
let served: Served;
let plums = '';
const config = path.join(temporaryFolder(), 'trawl.json');

function textOf(word: string): Record<string, string> {
  const lines = `filler line of ${word}\n`.repeat(300);
  return Object.fromEntries(
    Array.from({ length: 60 }, (_, number) => [`d/f${number}.txt`, `${word} ${number}\n${lines}`]),
  );
}

const start = async (): Promise<string> => {
  plums = makeRepo(textOf('plum'));
  dataDir = temporaryFolder();
  writeFileSync(config, '{}');
  served = await serve(dataDir, [plums, makeRepo(textOf('pear'))], {
    env: OWNER_ENV,
    flags: ['--config', config],
  });
  await served.process.until(/ symbols found /, 2);
  return served.url;
};
// What the browser itself notes of a search that was refused.
const test = pageTests(start, { as: OWNER, allowed: /status of 50[03]/ });

/** The daemon has these settings from now on. */
async function setTo(settings: object): Promise<void> {
  const from = served.process.stderr.length;
  writeFileSync(config, JSON.stringify({ settings }));
  served.process.child.kill('SIGHUP');
  await eventually(async () => served.process.stderr.slice(from).includes('read again'));
}

function summaryOf(page: Page) {
  return page.locator('#search-summary');
}

/** Changes a byte of the content in the shard that holds the word; noticed when the page is first read. */
function damage(word: string): void {
  const folder = path.join(dataDir, 'shards');
  const files = readdirSync(folder).filter((name) => name.endsWith('.shard'));
  const [file = ''] = files
    .map((name) => path.join(folder, name))
    .filter((file) => readFileSync(file).includes(`filler line of ${word}`));
  const offset = 4096 + 200_000;
  const byte = readFileSync(file)[offset] ?? 0;
  const handle = openSync(file, 'r+');
  writeSync(handle, Uint8Array.of(byte ^ 1), 0, 1, offset);
  closeSync(handle);
}

// First: what other tests read is known to be intact for two minutes.
test('a failing part of the index, and one out of service until it is rebuilt', async ({
  page,
}) => {
  const summary = summaryOf(page);
  // It cannot be built again while its source is away.
  renameSync(plums, `${plums}-away`);
  damage('plum');
  await page.goto('/search?query=filler&matches=100000');
  // The daemon may have met it before the search did.
  await summary.getByText(/1 shard failed during this search|shards are quarantined/).waitFor();
  assert.equal(await summary.getByText('that is all').count(), 0);
  assert.deepEqual(await findingsOf(page), []);
  await page.reload();
  await summary
    .getByText('Some shards are quarantined. Their files are being indexed again.')
    .waitFor();
  await page.getByRole('article').first().waitFor();
  await summary.getByRole('link', { name: 'Health' }).click();
  await page.getByText('1 shard quarantined. Affected files are being indexed again.').waitFor();
  const table = page.getByRole('region', { name: 'Quarantined shards' });
  await table.getByText(/page \d+ is damaged/).waitFor();
  assert.deepEqual(await findingsOf(page), []);
  renameSync(`${plums}-away`, plums);
  await page.goto('/repos');
  const row = page.getByRole('row', { name: new RegExp(path.basename(plums)) });
  await row.getByRole('button', { name: /^Try again: |^Index now: / }).click();
  await served.process.until(/ repo indexed .*/, 3);
  await page.goto('/search?query=filler&matches=100000');
  const all = new Intl.NumberFormat('en').format(2 * (LINES - 60));
  await summary.getByText(`${all} matches in 120 files of 2 repositories · that is all`).waitFor();
});

test('a deadline is reported, and repeating the search may complete it', async ({ page }) => {
  await setTo({ searchTimeoutMs: 1 });
  await page.goto('/search?query=f.*l&matches=100000&isRegexEnabled=true');
  const summary = summaryOf(page);
  const again = summary.getByRole('button', { name: 'Search again' });
  await again.or(summary.getByText('that is all')).waitFor();
  // One that was in time is asked for once more.
  for (let tries = 0; (await again.count()) === 0; tries++) {
    assert.ok(tries < 50);
    await page.reload();
    await again.or(summary.getByText('that is all')).waitFor();
  }
  assert.match(await summary.innerText(), /Stopped after \d+(?:\.\d+)? ms\./);
  assert.equal(await summary.getByText('that is all').count(), 0);
  await setTo({});
  await again.click();
  await summary.getByText('that is all').waitFor();
  assert.equal(await summary.getByText('Stopped').count(), 0);
});

test('a busy daemon is reported and retried, and the previous results stay meanwhile', async ({
  page,
}) => {
  await page.goto('/search?query=%22plum+1%22');
  await page.getByText('that is all').waitFor();
  await setTo({ memory: 1 });
  await page.getByRole('combobox', { name: 'Query' }).fill('"pear 1"');
  await page.keyboard.press('Enter');
  await page.getByText(/Trawl is busy\. Trying again in \d+ s\./).waitFor();
  assert.equal((await page.getByRole('article').count()) > 0, true);
  // After some tries it is up to the person.
  await page.getByText('Trawl is busy.', { exact: true }).waitFor();
  assert.deepEqual(await findingsOf(page), []);
  await setTo({});
  await summaryOf(page).getByRole('button', { name: 'Try again' }).click();
  await page.getByText('that is all').waitFor();
  await page.getByRole('article').getByText('pear 1').first().waitFor();
});
