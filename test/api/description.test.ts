// The API description as it is served: the document, the page that shows it, and caching.
// tier: ci (long)

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';
import { runInNewContext } from 'node:vm';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { ENDPOINTS } from '../../daemon/api/endpoints.ts';
import { makeDocument } from '../../daemon/api/instance/openapi.ts';
import { closeWorlds, startWorld } from '../http/harness.ts';

afterEach(closeWorlds);

const DOCUMENT = '/api/openapi.json';
const PAGE = '/api/reference';

/** Addresses that the page loads, resolved as a browser does. */
function loadedBy(html: string, base: string): string[] {
  return [...html.matchAll(/ (?:src|href)="([^"]+)"/g)]
    .map(([, address]) => new URL(address ?? '', `http://localhost${base}`))
    .filter(({ protocol }) => protocol !== 'data:')
    .map(({ href }) => href.replace('http://localhost', ''));
}

test('the document describes all endpoints, with this address and version', async () => {
  const world = await startWorld({ env: { TRAWL_BASE_URL: 'http://code.example/x' } });
  const { headers, json, status } = await world.call({ path: `/x${DOCUMENT}` });
  assert.equal(status, 200);
  assert.equal(headers['content-type'], 'application/vnd.oai.openapi+json;version=3.1.0');
  const options = { baseUrl: 'http://code.example/x', version: '0.1.0' };
  assert.deepEqual(json(), makeDocument(ENDPOINTS, options));
  assert.deepEqual(json()['servers'], [{ url: 'http://code.example/x' }]);
});

test('the page sends its requests below the base URL that its own address has', async () => {
  for (const base of ['', '/x']) {
    const world = await startWorld({ env: { TRAWL_BASE_URL: `http://localhost${base}` } });
    const { body } = await world.call({ path: `${base}${PAGE}/page.js` });
    const shown = new Promise((resolve) => {
      runInNewContext(body.toString(), {
        URL,
        location: new URL(`http://localhost${base}${PAGE}`),
        document: { getElementById: () => null },
        fetch: async () => new Response('{}'),
        SwaggerUIBundle: ({ spec }: { spec: { servers: unknown } }) => resolve(spec.servers),
      });
    });
    assert.equal(JSON.stringify(await shown), `[{"url":"http://localhost${base}"}]`);
  }
});

test('it is never MessagePack, and is compressed like other bodies', async () => {
  const world = await startWorld({});
  const plain = await world.call({ path: DOCUMENT, headers: { Accept: 'application/x-msgpack' } });
  assert.match(String(plain.headers['content-type']), /openapi\+json/);
  assert.equal(plain.headers['vary'], 'Accept-Encoding');
  const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
  for (const coding of ['br', 'gzip', 'gzip'] as const) {
    const packed = await world.call({ path: DOCUMENT, headers: { 'Accept-Encoding': coding } });
    assert.equal(packed.headers['content-encoding'], coding);
    assert.ok(packed.body.length < plain.body.length / 3);
    assert.deepEqual(decoders[coding](packed.body), plain.body);
  }
});

test('a cached document gets 304 on a persistent connection; HEAD has its size', async () => {
  const world = await startWorld({});
  for (const path of [DOCUMENT, PAGE, '/api/reference/swagger-ui-bundle.js']) {
    const first = await world.call({ path });
    const etag = String(first.headers['etag']);
    assert.match(etag, /^W\/"[\w-]+"$/);
    assert.equal(first.headers['cache-control'], 'no-cache');
    for (const tag of [etag, `"x", ${etag}`, etag.slice(2), '*']) {
      const again = await world.call({ path, headers: { 'If-None-Match': tag } });
      assert.equal(again.status, 304, tag);
      assert.equal(again.headers['etag'], etag);
    }
    const other = await world.call({ path, headers: { 'If-None-Match': '"x"' } });
    assert.equal(other.status, 200);
    const head = await world.call({ method: 'HEAD', path });
    assert.equal(head.headers['content-length'], String(first.body.length));
  }
});

test('the page loads everything from the daemon, below any base URL', async () => {
  for (const prefix of ['', '/code']) {
    const env = prefix === '' ? {} : { TRAWL_BASE_URL: `http://code.example${prefix}` };
    const world = await startWorld({ env });
    const page = await world.call({ path: `${prefix}${PAGE}` });
    assert.equal(page.headers['content-type'], 'text/html; charset=utf-8');
    const html = page.body.toString();
    const loaded = loadedBy(html, `${prefix}${PAGE}`);
    assert.ok(loaded.includes(`${prefix}${DOCUMENT}`));
    assert.equal(new Set(loaded).size, 5);
    for (const path of loaded) {
      assert.equal((await world.call({ path })).status, 200, path);
    }
    assert.doesNotMatch(html, /<script(?![^>]* src=)|<style| on\w+=|style=/, 'nothing inline');
    await world.close();
  }
});

test('the policy of the page forbids inline code and other hosts', async () => {
  const world = await startWorld({});
  const { headers } = await world.call({ path: PAGE });
  const policy = String(headers['content-security-policy']);
  assert.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/);
  assert.match(policy, /frame-ancestors 'self'/);
  assert.doesNotMatch(policy, /unsafe|https?:|\*/);
});
