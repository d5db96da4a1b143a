// Signing in by an identity provider in a browser: from the page to a real OpenID Connect server and back, and what the page
// says where it came to nothing.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { serveIndexed, trawl } from '../../e2e/daemon.ts';
import { providerAt } from '../../accounts/sign-on/world.ts';
import { startGithubSignOn } from '../../accounts/sign-on/github-server.ts';
import { startIssuer } from '../../accounts/sign-on/real-issuer.ts';
import { commitAll, makeRepo, temporaryFolder } from '../../sources/git/fixture.ts';
import { findingsOf, NO_BROWSER, visit } from '../browser.ts';

void test('sign in with a provider', { skip: NO_BROWSER }, async () => {
  const repo = makeRepo({ 'a.txt': 'plumtree\n' });
  commitAll(repo);
  const issuer = await startIssuer();
  const file = path.join(temporaryFolder(), 'trawl.json');
  const acme = providerAt(issuer.url, { displayName: 'Acme' });
  const gone = providerAt('http://127.0.0.1:9', { displayName: 'Gone' });
  const hub = await startGithubSignOn();
  const github = { ...providerAt(''), type: 'github', issuer: undefined, url: hub.url };
  writeFileSync(file, JSON.stringify({ identityProviders: { acme, gone, github } }));
  const dataDir = temporaryFolder();
  const served = await serveIndexed(dataDir, [repo], { env: { TRAWL_CONFIG: file } });
  issuer.serve([`${served.url}/api/auth/oidc/acme/callback`]);
  const person = ['ada@example.com', '--role', 'owner', '--data-dir', dataDir];
  const added = await trawl(['user', 'add', ...person]);
  assert.equal(added.code, 0, added.stderr);

  const { page, context, complaints } = await visit({ url: served.url });
  const query = new URLSearchParams({ query: 'plumtree -"&%41#"' }).toString();
  const returnQuery = new URLSearchParams({ return: `/search?${query}` }).toString();
  const signOut = async () => {
    await page.goto('/settings/general');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.waitForURL(`${served.url}/`);
  };
  await page.goto(`/login?${returnQuery}`);
  const acmeLink = page.getByRole('link', { name: 'Continue with Acme' });
  await acmeLink.waitFor();
  assert.deepEqual(await findingsOf(page), []);

  await page.getByRole('link', { name: 'Continue with Gone' }).click();
  await page.getByText('The identity provider did not answer correctly.').waitFor();
  assert.equal(new URL(page.url()).searchParams.get('failed'), 'unreachable');
  assert.deepEqual(await findingsOf(page), []);
  await acmeLink.click();
  await page.getByText('The identity provider did not sign you in.').waitFor();

  issuer.account = { sub: 'e', email: 'eve@example.com', email_verified: true };
  await acmeLink.click();
  await page.getByText('There is no active account with your e-mail address.').waitFor();
  // Else the issuer knows who was there.
  await context.clearCookies();
  issuer.account = { sub: 'a', email: 'ada@example.com', email_verified: false };
  await acmeLink.click();
  await page.getByText('reports no verified e-mail address of yours').waitFor();

  await context.clearCookies();
  issuer.account = { sub: 'a', email: 'ada@example.com', email_verified: true };
  // It still knows where to go on.
  await acmeLink.click();
  await page.waitForURL(`${served.url}/search?${query}`);
  assert.equal(
    await page.getByRole('combobox', { name: 'Query' }).inputValue(),
    'plumtree -"&%41#"',
  );
  await page.getByRole('link', { name: 'Settings of ada@example.com' }).waitFor();
  await signOut();

  // GitHub calls her the same.
  hub.account = { id: 1, login: 'ada', emails: [{ email: 'ada@example.com', verified: true }] };
  await page.goto('/login');
  await page.getByRole('link', { name: 'Continue with GitHub' }).click();
  await page.getByRole('link', { name: 'Settings of ada@example.com' }).waitFor();
  await signOut();

  // What anybody may write into an address is not shown.
  await page.goto('/login?failed=__proto__&failed=x');
  await acmeLink.waitFor();
  assert.equal(await page.getByRole('alert').count(), 0);

  // A session that ends offers the ways in that there are.
  await acmeLink.click();
  await page.getByRole('link', { name: 'Settings of ada@example.com' }).waitFor();
  await page.goto('/settings/security');
  await page.getByRole('checkbox', { name: 'Sign-in with password' }).click();
  await page.getByRole('checkbox', { name: 'Sign-in with password', checked: false }).waitFor();
  await page.goto('/settings/apiKeys');
  await page.getByLabel('Name of the new key').fill('ci');
  await context.clearCookies();
  await page.getByRole('button', { name: 'Create key' }).click();
  const dialog = page.getByRole('dialog', { name: 'Your session ended.' });
  await dialog.getByRole('link', { name: 'Continue with Acme' }).waitFor();
  assert.equal(await dialog.getByLabel('Password').count(), 0);
  const expected = new RegExp(`asks (${issuer.url}|${hub.url})/|40[134]`);
  assert.deepEqual(
    complaints.filter((text) => !expected.test(text)),
    [],
  );
});
