// Files of a folder: listed ones are served, cached and compressed, and nothing else.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, test } from 'node:test';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import type { Endpoint } from '../../daemon/api/shapes/endpoint.ts';
import { assetEndpoint, folderFiles } from '../../daemon/api/shapes/static-files.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { sendInProcess } from '../http/in-process.ts';
import { mountEndpoints } from '../http/mounted.ts';
import type { RawCall, RawReply } from '../http/raw-client.ts';
import { closeWorlds } from '../http/harness.ts';

afterEach(closeWorlds);

interface StaticFilesOptions {
  readonly folder: string;
  /** Path below which the files are found, such as `/assets`; '': below the base URL. */
  readonly prefix: string;
  /** As for `folderFiles`. */
  readonly hashed?: RegExp | undefined;
}

/** Serves `folderFiles`. Errors: as there. */
function staticFiles({ folder, prefix, hashed }: StaticFilesOptions): Endpoint {
  const files = folderFiles(folder, hashed);
  return assetEndpoint(`${prefix}/*file`, (name) => files.get(name));
}

const SCRIPT = 'const a = 1;\n'.repeat(200);

/** A folder with a page beside what must stay out of reach. */
function pageFolder(): string {
  const above = temporaryFolder();
  const folder = path.join(above, 'page');
  mkdirSync(path.join(folder, 'assets/deep'), { recursive: true });
  mkdirSync(path.join(above, 'other'));
  for (const name of ['secret.txt', 'other/secret.txt', 'page-secret'])
    writeFileSync(path.join(above, name), 'secret');
  writeFileSync(path.join(folder, 'index.html'), '<!doctype html>');
  writeFileSync(path.join(folder, 'assets/main-Ab12Cd34.js'), SCRIPT);
  writeFileSync(path.join(folder, 'assets/deep/a b.css'), 'a{}');
  writeFileSync(path.join(folder, 'assets/odd.xyz'), Buffer.from([0, 255]));
  symlinkSync('../secret.txt', path.join(folder, 'link.txt'));
  symlinkSync('../other', path.join(folder, 'linked'));
  return folder;
}

type Get = (path: string, more?: Omit<RawCall, 'path'>) => Promise<RawReply>;

const withFiles = async (
  options: Omit<StaticFilesOptions, 'folder'> & { readonly folder?: string },
  run: (get: Get) => Promise<void>,
) => {
  const served = await mountEndpoints([staticFiles({ folder: pageFolder(), ...options })]);
  await run((url, more = {}) => sendInProcess(served, { path: url, ...more }));
};

test('each file under its path, with its type, tag and length; HEAD, OPTIONS, other methods', async () => {
  await withFiles({ prefix: '/page' }, async (get) => {
    const types = [
      ['index.html', 'text/html; charset=utf-8'],
      ['assets/main-Ab12Cd34.js', 'text/javascript; charset=utf-8'],
      ['assets/deep/a%20b.css', 'text/css; charset=utf-8'],
      ['assets/odd.xyz', 'application/octet-stream'],
    ];
    for (const [name, type] of types) {
      const reply = await get(`/page/${name}`);
      assert.equal(reply.status, 200, name);
      assert.equal(reply.headers['content-type'], type);
      assert.equal(reply.headers['cache-control'], 'no-cache');
      assert.equal(reply.headers['x-content-type-options'], 'nosniff');
      const conditional = { headers: { 'If-None-Match': String(reply.headers.etag) } };
      assert.equal((await get(`/page/${name}`, conditional)).status, 304);
      const head = await get(`/page/${name}`, { method: 'HEAD' });
      assert.equal(head.headers['content-length'], String(reply.body.length));
      assert.equal(head.body.length, 0);
    }
    assert.deepEqual((await get('/page/assets/odd.xyz')).body, Buffer.from([0, 255]));
    const options = await get('/page/index.html', { method: 'OPTIONS' });
    assert.deepEqual([options.status, options.headers.allow], [204, 'GET, HEAD, OPTIONS']);
    assert.equal((await get('/page/index.html', { method: 'POST' })).status, 405);
  });
});

test('files are compressed like other bodies; names with a hash are cached for good', async () => {
  await withFiles({ prefix: '', hashed: /-\w{8}\.js$/ }, async (get) => {
    const decoders = { br: brotliDecompressSync, gzip: gunzipSync };
    for (const coding of ['br', 'gzip'] as const) {
      const headers = { 'Accept-Encoding': coding };
      const reply = await get('/assets/main-Ab12Cd34.js', { headers });
      assert.equal(reply.headers['content-encoding'], coding);
      assert.equal(decoders[coding](reply.body).toString(), SCRIPT);
      const kept = 'public, max-age=31536000, immutable';
      assert.equal(reply.headers['cache-control'], kept);
      const again = { ...headers, 'If-None-Match': String(reply.headers.etag) };
      const unchanged = await get('/assets/main-Ab12Cd34.js', { headers: again });
      assert.deepEqual([unchanged.status, unchanged.headers['cache-control']], [304, kept]);
    }
    assert.equal((await get('/index.html')).headers['cache-control'], 'no-cache');
  });
});

test('nothing outside of the folder, no folder, no link, no file added later', async () => {
  const folder = pageFolder();
  await withFiles({ prefix: '/page', folder }, async (get) => {
    writeFileSync(path.join(folder, 'later.txt'), 'later');
    const names = ['../secret.txt', '..%2Fsecret.txt', '%2e%2e/secret.txt', '%2e%2e%2fsecret.txt'];
    names.push('assets/../../secret.txt', '..\\secret.txt', '..%5Csecret.txt', '/secret.txt');
    names.push('link.txt', 'linked/secret.txt', 'linked', 'later.txt', '', 'assets', 'assets/');
    names.push('index.html%00', '%00', 'index.html%00.css', './index.html', '//index.html', '.');
    names.push('INDEX.HTML', 'index.html/', '__proto__', 'constructor', '..', '../page-secret');
    names.push(
      path.join(folder, 'index.html'),
      encodeURIComponent(path.join(folder, '../secret.txt')),
    );
    for (const name of names) {
      const reply = await get(`/page/${name}`);
      assert.equal(reply.status, 404, name);
      assert.match(reply.body.toString(), /"errorCode":"NOT_FOUND","message":"Not found\."/);
    }
  });
});

test('a listed file that became a link, a pipe or a folder is not served', async () => {
  const folder = pageFolder();
  await withFiles({ prefix: '', folder }, async (get) => {
    const file = path.join(folder, 'index.html');
    const makers = [
      () => symlinkSync('../secret.txt', file),
      () => void execFileSync('mkfifo', [file]),
      () => mkdirSync(file),
    ];
    for (const make of makers) {
      rmSync(file, { recursive: true });
      make();
      assert.equal((await get('/index.html')).status, 500);
    }
  });
});

test('an unreadable file is an error, and served again once it can be read', async () => {
  const folder = pageFolder();
  const file = path.join(folder, 'index.html');
  await withFiles({ prefix: '', folder }, async (get) => {
    rmSync(file);
    assert.equal((await get('/index.html')).status, 500);
    writeFileSync(file, 'back');
    assert.equal((await get('/index.html')).body.toString(), 'back');
  });
});
