// Settings of users and of the instance in a real browser: passwords, roles, access, scoped tokens, themes, a browser
// shared by several users, and the settings for agents.
// tier: ci (browser)

import assert from 'node:assert/strict';
import type { Page } from 'playwright-core';
import { licenceEnvironment } from '../accounts/licences.ts';
import { serveIndexed, type Served } from '../e2e/daemon.ts';
import { toolClient } from '../api/mcp/tool-client.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { once } from '../base/once.ts';
import { findingsOf, hasCount, pageTests, until, visit } from './browser.ts';
import type { Visitor } from './browser.ts';
import {
  OWNER,
  OWNER_ENV,
  OWNER_KEY,
  PASSWORD,
  addMember,
  make,
  send,
  signIn,
  signInStatus,
} from './people.ts';

const OTHER_PASSWORD = 'another horse battery';

let served: Served;
const start = once(async (): Promise<string> => {
  const repo = makeRepo({ 'one.txt': 'quince\n' });
  served = await serveIndexed(temporaryFolder(), [repo], {
    env: { ...OWNER_ENV, ...licenceEnvironment() },
  });
  return served.url;
});
const test = pageTests(start, { as: OWNER, allowed: /status of 40[0139]/ });

/** A new person, and a window in which it has signed in. */
async function visitAsNew(email: string): Promise<Visitor> {
  await addMember(served.url, email);
  const visitor = await visit({ url: served.url });
  await signIn(visitor.page, email);
  return visitor;
}

async function statusWith(key: string): Promise<number> {
  return (await send(`${served.url}/api/repos`, 'GET', undefined, key)).status;
}

test('a password is changed', async () => {
  const EMAIL = 'pass@example.com';
  const { page } = await visitAsNew(EMAIL);
  const elsewhere = await visit({ url: served.url });
  await signIn(elsewhere.page, EMAIL);
  const change = async (now: string, next: string) => {
    await page.getByLabel('Current password').fill(now);
    await page.getByLabel('New password').fill(next);
    await page.getByRole('button', { name: 'Change password' }).click();
  };
  await page.goto('/settings/general');
  await change('wrong horse battery', OTHER_PASSWORD);
  await page.locator('.notice-danger').waitFor();
  assert.equal(await signInStatus(elsewhere.page, EMAIL, OTHER_PASSWORD), 401);
  await change(PASSWORD, OTHER_PASSWORD);
  await page.getByText('Password changed. Your other sessions have ended.').waitFor();
  assert.equal(await page.getByLabel('New password').inputValue(), '');
  // This session goes on, the other one does not.
  await page.reload();
  await page.getByRole('button', { name: 'Sign out' }).waitFor();
  const { user } = (await (await elsewhere.page.request.get('/api/user')).json()) as {
    user: unknown;
  };
  assert.equal(user, null);
  assert.equal(await signInStatus(elsewhere.page, EMAIL), 401);
  assert.equal(await signInStatus(elsewhere.page, EMAIL, OTHER_PASSWORD), 200);
});

test('a member becomes an owner and a member again, is suspended and restored', async (owner) => {
  const EMAIL = 'role@example.com';
  const { page } = owner;
  const member = await visitAsNew(EMAIL);
  await page.goto('/settings/members');
  const row = page.getByRole('row', { name: new RegExp(EMAIL) });
  const doing = (name: string) => row.getByRole('button', { name }).click();
  await row.getByRole('cell', { name: 'Member', exact: true }).waitFor();
  await member.page.goto('/settings/health');
  await member.page.getByText('Only owners can see this page.').waitFor();

  await doing('Make owner');
  await row.getByRole('cell', { name: 'Owner', exact: true }).waitFor();
  await member.page.reload();
  await member.page.getByText(/^Healthy/).waitFor();
  await doing('Make member');
  await row.getByRole('cell', { name: 'Member', exact: true }).waitFor();
  await member.page.reload();
  await member.page.getByText('Only owners can see this page.').waitFor();

  await doing('Suspend');
  await row.getByRole('cell', { name: 'Suspended' }).waitFor();
  await member.page.getByRole('dialog', { name: 'Your session ended.' }).waitFor();
  assert.notEqual(await signInStatus(member.page, EMAIL), 200);
  await doing('Reactivate');
  await row.getByRole('cell', { name: 'Active' }).waitFor();
  assert.equal(await signInStatus(member.page, EMAIL), 200);
});

test('who may sign in, and who may use keys', async (owner) => {
  const EMAIL = 'keys@example.com';
  const { page } = owner;
  const member = await visitAsNew(EMAIL);
  const guest = await visit({ url: served.url });
  await member.page.goto('/settings/apiKeys');
  await member.page.getByLabel('Name of the new key').fill('mine');
  await member.page.getByRole('button', { name: 'Create key' }).click();
  const key = await member.page.locator('.secret code').innerText();
  await member.page.getByRole('button', { name: 'Done' }).click();
  assert.equal(await statusWith(key), 200);

  await page.goto('/settings/security');
  const switchTo = async (name: RegExp, isOn: boolean) => {
    await page.getByRole('checkbox', { name }).click();
    await page.getByRole('checkbox', { name, checked: isOn }).waitFor();
  };
  assert.equal((await guest.page.request.get('/api/repos')).status(), 401);
  await switchTo(/^Guests/, true);
  await guest.page.goto('/search?query=quince');
  await guest.page.getByText('1 match in 1 file of 1 repository · that is all').waitFor();
  await switchTo(/^Guests/, false);
  await guest.page.reload();
  await guest.page.locator('#search-summary').getByRole('link', { name: 'Sign in' }).waitFor();

  await switchTo(/create API keys/, false);
  await member.page.reload();
  await member.page.getByText('Only owners may create keys here.').waitFor();
  assert.equal(await statusWith(key), 200);
  await switchTo(/use API keys/, false);
  assert.notEqual(await statusWith(key), 200);
  await switchTo(/use API keys/, true);
  await switchTo(/create API keys/, true);
});

test('a session that ends where guests may search: the next search says so, and is repeated after the sign-in', async () => {
  const flags = ['--anonymous', '--visibility', 'private', '--enforce-permissions'];
  const repo = makeRepo({ 'one.txt': 'quince plum\n' });
  const { url } = await serveIndexed(temporaryFolder(), [repo], { env: OWNER_ENV, flags });
  const { page, context, complaints } = await visit({ url });
  await signIn(page, OWNER);
  await page.goto('/search?query=quince');
  await page.getByText('that is all').waitFor();
  await context.clearCookies();
  await page.getByRole('combobox', { name: 'Query' }).fill('plum');
  await page.keyboard.press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Your session ended.' });
  await dialog.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await dialog.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('1 match in 1 file of 1 repository · that is all').waitFor();
  assert.deepEqual(complaints, []);
});

test('an invited person joins by the link', async (owner) => {
  const EMAIL = 'new@example.com';
  const { page } = owner;
  await page.goto('/settings/members');
  await page.getByLabel('E-mail of a new member').fill(EMAIL);
  await page.getByRole('button', { name: 'Invite' }).click();
  const link = await page.locator('.secret code').innerText();
  assert.deepEqual(await findingsOf(page), []);
  const joining = await visit({ url: served.url });
  await joining.page.goto(link);
  await joining.page.getByRole('heading', { name: 'Join Trawl' }).waitFor();
  await joining.page.getByText(`Your account is ${EMAIL}.`).waitFor();
  await joining.page.getByLabel('Name').fill('New');
  await joining.page.getByLabel('Password', { exact: true }).fill(PASSWORD);
  await joining.page.getByRole('button', { name: 'Create account' }).click();
  await joining.page.getByRole('link', { name: `Settings of ${EMAIL}` }).click();
  const facts = joining.page.locator('.facts').first();
  assert.equal(await facts.innerText(), `Name\nNew\nE-mail\n${EMAIL}\nRole\nMember`);
  await page.reload();
  await page
    .getByRole('row', { name: new RegExp(EMAIL) })
    .getByText('Active')
    .waitFor();
  assert.deepEqual(joining.complaints, []);
});

test('a key shows when it was used, counts, and is revoked', async () => {
  const EMAIL = 'ends@example.com';
  const { page, complaints } = await visitAsNew(EMAIL);
  await page.goto('/settings/apiKeys');
  await page.getByText('No keys yet.').waitFor();
  await page.getByLabel('Name of the new key').fill('ci');
  await page.getByRole('button', { name: 'Create key' }).click();
  const key = await page.locator('.secret code').innerText();
  await page.getByRole('button', { name: 'Done' }).click();
  const row = page.getByRole('row', { name: /^ci/ });
  await row.getByRole('cell', { name: 'never' }).waitFor();
  for (let use = 0; use < 3; use++) assert.equal(await statusWith(key), 200);
  await page.reload();
  await row.waitFor();
  await row.getByRole('cell', { name: 'never' }).waitFor({ state: 'detached' });
  await page.getByRole('link', { name: 'Usage' }).click();
  const facts = await page.locator('.facts').innerText();
  assert.match(facts, /^Used today\n3\nLimit\n10,000\nRemaining\n9,997\n/);
  await page.goBack();
  await row.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete the key “ci”?' });
  assert.deepEqual(await findingsOf(page), []);
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('No keys yet.').waitFor();
  assert.equal(await statusWith(key), 401);
  assert.deepEqual(complaints, []);
});

test('a key can be created in a browser without the navigation API', async ({ page }) => {
  await page.addInitScript(`Object.defineProperty(self, 'navigation', { value: undefined })`);
  await page.goto('/settings/apiKeys');
  await page.getByLabel('Name of the new key').fill('older browser');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.locator('.secret code').waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await page.getByRole('link', { name: 'Usage' }).click();
  await page.getByText('Used today').waitFor();
});

test('a key on display is not replaced by another one', async ({ page }) => {
  await page.goto('/settings/apiKeys');
  const name = page.getByLabel('Name of the new key');
  await name.fill('shown once');
  await page.getByRole('button', { name: 'Create key' }).click();
  await page.locator('.secret code').waitFor();
  await hasCount(name, 0);
  await page.getByRole('button', { name: 'Done' }).click();
  assert.equal(await name.inputValue(), '');
});

test('scoped tokens are listed until they are revoked', async ({ page }) => {
  const answer = await send(`${served.url}/api/repos`, 'GET');
  const repoIds = ((await answer.json()) as { repoId: number }[]).map(({ repoId }) => repoId);
  const tokens = `${served.url}/api/ee/scoped_access_token`;
  const { id = '', token = '' } = await make(tokens, { repoIds });
  await page.goto('/settings/tokens');
  const row = page.getByRole('row', { name: new RegExp(id) });
  await row.getByRole('cell', { name: '1 repository' }).waitFor();
  assert.equal((await page.content()).includes(token), false);
  assert.deepEqual(await findingsOf(page), []);
  assert.equal((await send(`${tokens}/${id}`, 'DELETE')).status, 204);
  await page.reload();
  await page.getByText('No active tokens.').waitFor();
});

const GROUND = 'getComputedStyle(document.documentElement).backgroundColor';
const DARK = 'rgb(16, 20, 25)';
const LIGHT = 'rgb(255, 255, 255)';

test('a theme is chosen, stored, and the same in all tabs; the system has its own', async ({
  page,
  context,
}) => {
  const other = await context.newPage();
  await other.goto('/repos');
  await page.goto('/settings/general');
  await page.getByRole('radio', { name: 'dark' }).check();
  for (const one of [page, other]) await until(one, `${GROUND} === '${DARK}'`);
  await page.reload();
  assert.equal(await page.evaluate(GROUND), DARK);
  assert.equal(await page.getByRole('radio', { name: 'dark' }).isChecked(), true);
  await page.getByRole('button', { name: 'Theme: dark. Change to system' }).click();
  for (const one of [page, other]) await until(one, `${GROUND} === '${LIGHT}'`);
  await page.emulateMedia({ colorScheme: 'dark' });
  await until(page, `${GROUND} === '${DARK}'`);
  await page.getByRole('button', { name: 'Theme: system. Change to light' }).click();
  await until(page, `${GROUND} === '${LIGHT}'`);
  await page.reload();
  assert.equal(await page.evaluate(GROUND), LIGHT);
});

async function searchAndLeave(page: Page): Promise<void> {
  await page.goto('/search?query=quince');
  await page.getByText('that is all').waitFor();
  await page
    .getByRole('link', { name: /one\.txt/ })
    .first()
    .click();
  await page.locator('.cm-content').waitFor();
  await page.goto('/');
  await page.locator('.box-input[aria-haspopup]').waitFor();
  // What is asked before the page knows whose it is, is not kept.
  await page.getByText('1 repository').waitFor();
  await page.keyboard.type('quince');
  await page.keyboard.press('Enter');
  await page.getByText('that is all').waitFor();
}

test('users of one browser in turn keep their settings; their queries are removed', async (owner) => {
  const EMAIL = 'turn@example.com';
  await addMember(served.url, EMAIL);
  const { page, context } = owner;
  const tabs = page.getByLabel('Tab width');
  const stored = () => page.evaluate<string>('JSON.stringify({ ...localStorage })');
  await page.goto('/settings/general');
  await tabs.selectOption('8');
  await searchAndLeave(page);
  assert.match(await stored(), /quince/);
  assert.match(await stored(), /one\.txt/);
  // The session ends, and another person signs in.
  await context.clearCookies();
  assert.equal(await signInStatus(page, EMAIL), 200);
  await page.goto('/settings/general');
  await page.getByText(EMAIL, { exact: true }).first().waitFor();
  assert.equal(await tabs.inputValue(), '4');
  assert.doesNotMatch(await stored(), /quince|one\.txt/);
  await tabs.selectOption('2');
  await searchAndLeave(page);
  const other = await context.newPage();
  await other.goto('/search?query=quince');
  await other.getByText('that is all').waitFor();
  await page.goto('/settings/general');
  await page.getByRole('button', { name: 'Sign out' }).click();
  await page.getByText('Sign in to search.').waitFor();
  // Another tab shows nothing more either.
  await other.getByRole('navigation').getByRole('link', { name: 'Sign in' }).waitFor();
  await hasCount(other.getByRole('article'), 0);
  // Whoever may not search yet sees what queries look like, and no tools for results that do not come.
  await page.getByRole('link', { name: /"not found" lang:go/ }).click();
  await page.getByRole('link', { name: 'Sign in' }).last().waitFor();
  await page.waitForURL(/query=/);
  await hasCount(page.getByRole('toolbar', { name: 'Results' }), 0);
  await page.goBack();
  assert.doesNotMatch(await stored(), /quince|one\.txt/);
  for (const [email, columns] of [
    [OWNER, '8'],
    [EMAIL, '2'],
  ] as const) {
    assert.equal(await signInStatus(page, email), 200);
    await page.goto('/settings/general');
    await page.getByText(email, { exact: true }).first().waitFor();
    assert.equal(await tabs.inputValue(), columns);
  }
});

/** What the snippet of an agent holds, as the page copies it. */
async function copied(page: Page, name: string): Promise<string> {
  await page.getByRole('button', { name, exact: true }).click();
  await page.getByRole('button', { name: `Copy: Configuration of ${name}` }).click();
  await page.getByText(`Configuration of ${name} copied`).waitFor();
  return await page.evaluate<string>('navigator.clipboard.readText()');
}

test('the address of the tool server leads to the tools', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await page.goto('/settings/mcp');
  await page.getByRole('heading', { name: 'Address' }).waitFor();
  const address = `${served.url}/api/mcp`;
  assert.equal(await page.getByLabel('Address', { exact: true }).innerText(), address);
  await page.getByText('An agent that supports OAuth needs no key').waitFor();
  const claude = await copied(page, 'Claude Code');
  const configuration = JSON.parse(claude) as {
    mcpServers: { trawl: { url: string; headers: { Authorization: string } } };
  };
  const { url, headers } = configuration.mcpServers.trawl;
  const key = headers.Authorization.replace('Bearer ${TRAWL_API_KEY}', OWNER_KEY);
  const client = await toolClient(url.replace(/\/api\/mcp$/, ''), key);
  assert.equal((await client.listTools()).tools.length, 10);
  await client.close();
  // On a phone nothing of it is beside the window.
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole('button', { name: 'Claude Code', exact: true }).click();
  assert.equal(
    await page.evaluate(`(({ scrollWidth }) => scrollWidth)(document.querySelector('main'))`),
    360,
  );
  assert.deepEqual(await findingsOf(page), []);
});
