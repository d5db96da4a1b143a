// The headers of pages: what a page may load, a nonce of its own for each answer, how long parts are kept.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { serveIndexed } from '../e2e/daemon.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';

void test('the policy of a page: only own content, a fresh nonce each time', async () => {
  const { url } = await serveIndexed(temporaryFolder(), [makeRepo({ a: 'a' })]);
  const policies = await Promise.all(
    [1, 2].map(async () => (await fetch(`${url}/`)).headers.get('content-security-policy') ?? ''),
  );
  for (const policy of policies) {
    assert.match(policy, /^default-src 'none'; script-src 'self';/);
    assert.doesNotMatch(policy, /unsafe|\*|http:/);
  }
  assert.notEqual(policies[0], policies[1]);
  assert.equal((await fetch(`${url}/`)).headers.get('etag'), null);
  const page = await fetch(`${url}/nowhere`, { headers: { Accept: 'text/html' } });
  assert.equal(page.status, 404);
  assert.match(page.headers.get('content-type') ?? '', /^text\/html/);
  const api = await fetch(`${url}/api/nowhere`, { headers: { Accept: 'text/html' } });
  assert.match(api.headers.get('content-type') ?? '', /^application\/json/);
  const document = await (await fetch(`${url}/`)).text();
  const [main = ''] = /\/assets\/main-[\w-]+\.js/.exec(document) ?? [];
  const script = await fetch(`${url}${main}`, { headers: { 'Accept-Encoding': 'br' } });
  assert.equal(script.headers.get('cache-control'), 'public, max-age=31536000, immutable');
  assert.equal(script.headers.get('content-encoding'), 'br');
});
