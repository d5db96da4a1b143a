// The page on which a user lets an application in: what it shows, what its buttons do, where the browser goes; that a
// name does not become markup. And the list of what was let in.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { licenceEnvironment } from '../../accounts/licences.ts';
import { serveIndexed } from '../../e2e/daemon.ts';
import { startPlainServer } from '../../http/plain-server.ts';
import { commitAll, makeRepo, temporaryFolder } from '../../sources/git/fixture.ts';
import { NO_BROWSER, findingsOf, visit } from '../browser.ts';
import { OWNER, OWNER_ENV, send, signInByPage } from '../people.ts';

const NAME = 'Tool <img src=x>';
/** What an application wants to have back, as it is. */
const STATE = 'a+b/c= &d=#e%26%41\u00e9';

void test(
  'an application is authorized, declined, and revoked',
  { skip: NO_BROWSER },
  async (context) => {
    const repo = makeRepo({ 'a.txt': 'plumtree\n' });
    commitAll(repo);
    const env = { ...OWNER_ENV, ...licenceEnvironment() };
    const { url } = await serveIndexed(temporaryFolder(), [repo], { env });
    // The application that waits for its answer.
    const waiting = await startPlainServer((_, __, reply) => {
      reply.setHeader('content-type', 'text/html').end('<h1>Back</h1>');
    });
    context.after(() => waiting.close());
    const back = waiting.url;
    const redirects = [`${back}/cb`, 'com.example.trawl-test:/cb'];
    const reply = await fetch(`${url}/register`, {
      method: 'POST',
      body: JSON.stringify({ client_name: NAME, redirect_uris: redirects }),
    });
    const { client_id: clientId } = (await reply.json()) as { readonly client_id: string };
    const requestAddress = (more: object = {}): string =>
      `/oauth/authorize?${new URLSearchParams({
        response_type: 'code',
        client_id: clientId,
        redirect_uri: `${back}/cb`,
        code_challenge: 'x'.repeat(43),
        code_challenge_method: 'S256',
        state: STATE,
        ...more,
      }).toString()}`;

    // Signing in comes first, and leads back.
    const { page, complaints } = await visit({ url });
    await page.goto(requestAddress());
    await page.waitForURL(/\/login\?/);
    await signInByPage(page, OWNER);
    await page.waitForURL(/\/oauth\/authorize\?request=[0-9a-f]{64}$/);
    await page.getByRole('heading', { level: 1, name: /Authorize .*\?/ }).waitFor();
    const words = await page.locator('.card').innerText();
    assert.ok(words.includes(NAME), words);
    assert.ok(words.includes(new URL(back).host), words);
    assert.ok(words.includes(url), words);
    assert.ok(words.includes(`do everything that ${OWNER} can`), words);
    assert.ok(words.includes('Allow this only if you started the sign-in yourself'), words);
    assert.deepEqual(await findingsOf(page), []);

    // Somebody who comes to it by a link has to sign in.
    const other = await visit({ url });
    await other.page.goto(page.url());
    await other.page.getByRole('alert').getByRole('link', { name: 'Sign in' }).click();
    await other.page.waitForURL(/\/login\?return=/);

    await page.getByRole('button', { name: 'Deny' }).click();
    const denied = new URLSearchParams({ error: 'access_denied', state: STATE, iss: url });
    await page.waitForURL(`${back}/cb?${denied.toString()}`);
    // The way back leads to a request that is answered.
    await page.goBack();
    await page.getByText('This request was already answered, or has expired.').waitFor();
    assert.deepEqual(await findingsOf(page), []);
    await page.goto(requestAddress({ resource: `${url}/api/mcp` }));
    await page.getByText(`search and read everything that ${OWNER} can`).waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(/\/cb\?code=[0-9a-f]{64}&state=[^&]+&iss=/);
    assert.equal(new URL(page.url()).searchParams.get('state'), STATE);

    // What is wrong is told, and leads nowhere.
    await page.goto(requestAddress({ redirect_uri: 'https://evil.example/' }));
    await page.getByText('redirect_uri: not registered by this client').waitFor();
    await page.getByText('This application cannot be authorized.').waitFor();
    assert.deepEqual(await findingsOf(page), []);
    assert.match(page.url(), /\/oauth\/authorize\?/);
    const expected = complaints.filter((text) => !/status of 40[04]|asks http:\/\/127/.test(text));
    assert.deepEqual(expected, []);

    // What was let in is listed, and ends. Codes that nobody used give nothing to list.
    await page.goto('/settings/tokens');
    await page.getByText('No authorized applications.').waitFor();
    await page.goto(
      requestAddress({ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' }),
    );
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.waitForURL(/\/cb\?code=/);
    const code = new URL(page.url()).searchParams.get('code') ?? '';
    const tokens = await fetch(`${url}/api/ee/oauth/token`, {
      method: 'POST',
      body: new URLSearchParams({
        grant_type: 'authorization_code',
        client_id: clientId,
        code,
        code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
      }),
    });
    const { access_token: token } = (await tokens.json()) as { readonly access_token: string };
    const status = async () => (await send(`${url}/api/repos`, 'GET', undefined, token)).status;
    assert.equal(await status(), 200);
    await page.goto('/settings/tokens');
    const row = page.getByRole('row', { name: /Tool <img src=x>/ });
    await row.getByRole('button', { name: 'Revoke' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click();
    await page.getByText('No authorized applications.').waitFor();
    assert.equal(await status(), 401);

    // An application without a page; the last, as the browser's question whether to open it takes the clicks of this window.
    await page.goto(requestAddress({ redirect_uri: redirects[1] }));
    await page.getByText('com.example.trawl-test:').waitFor();
    await page.getByRole('button', { name: 'Allow' }).click();
    await page.getByRole('heading', { level: 1, name: 'Done' }).waitFor();
    assert.match(page.url(), /\/oauth\/complete$/);
    await page.getByText('Continue in the application. You can close this window.').waitFor();
    assert.deepEqual(await findingsOf(page), []);
  },
);
