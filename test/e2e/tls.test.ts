// TLS of a running daemon: its address, a new certificate on SIGHUP, bad files in its status, and what cannot serve it.
// tier: ci (whole programs, openssl)

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { request } from 'node:https';
import path from 'node:path';
import test from 'node:test';
import type { TLSSocket } from 'node:tls';
import { adapters } from '../http/adapters.ts';
import { makeCertificates } from '../hosts/servers.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { eventually, serve, trawl } from './daemon.ts';

/** Body of `/api/ready`, and the certificate of the connection. */
function ask(url: string): Promise<{ readonly body: string; readonly cert: string | undefined }> {
  return new Promise((resolve, reject) => {
    const options = { rejectUnauthorized: false, agent: false };
    const call = request(`${url}/api/ready`, options, (answer) => {
      let body = '';
      // Safety: https has no other sockets.
      const cert = (answer.socket as TLSSocket).getPeerX509Certificate()?.toString();
      answer.on('data', (data: Buffer) => (body += data.toString()));
      answer.on('end', () => resolve({ body, cert }));
    });
    call.on('error', reject);
    call.end();
  });
}

test('a daemon with a certificate serves https, and takes a new one on SIGHUP', async (t) => {
  const [first, second] = [makeCertificates(t), makeCertificates(t)];
  const folder = temporaryFolder();
  const [certFile, keyFile] = ['cert.pem', 'key.pem'].map((name) => path.join(folder, name));
  const write = ({ cert, key }: { readonly cert: string; readonly key: string }): void => {
    writeFileSync(path.join(folder, 'cert.pem'), cert);
    writeFileSync(path.join(folder, 'key.pem'), key);
  };
  write(first);
  const dataDir = temporaryFolder();
  const env = { TRAWL_TLS_CERT: certFile ?? '', TRAWL_TLS_KEY: keyFile ?? '' };
  const { url, process: running } = await serve(dataDir, [makeRepo({ 'a.txt': 'x' })], { env });
  assert.match(url, /^https:\/\/localhost:/);
  assert.equal((await ask(url)).cert, first.cert);
  write(second);
  running.child.kill('SIGHUP');
  await running.until(/the TLS certificate was replaced/);
  assert.equal((await ask(url)).cert, second.cert);
  write({ cert: first.cert, key: second.key });
  running.child.kill('SIGHUP');
  await running.until(/the TLS certificate is refused/);
  assert.equal((await ask(url)).cert, second.cert);
  const status = async () => (await trawl(['status', '--data-dir', dataDir])).stdout;
  assert.match(
    await status(),
    /the TLS certificate is refused, and the previous one stays in force/,
  );
  write(second);
  running.child.kill('SIGHUP');
  await eventually(async () => !/certificate/.test(await status()));
  assert.equal((await running.stop()).code, 0);
});

test(
  'uWebSockets.js is refused with a certificate',
  { skip: !adapters().includes('uws') },
  async (t) => {
    const folder = temporaryFolder();
    const { cert, key } = makeCertificates(t);
    writeFileSync(path.join(folder, 'pair.pem'), cert + key);
    const env = { TRAWL_HTTP: 'uws', TRAWL_TLS_CERT: 'pair.pem', TRAWL_TLS_KEY: 'pair.pem' };
    const args = ['serve', '--data-dir', temporaryFolder(), '--port', '0', folder];
    const { code, stderr } = await trawl(args, { env, cwd: folder });
    assert.equal(code, 2, stderr);
    assert.match(stderr, /TRAWL_HTTP: uws serves without TLS; use node/);
  },
);

test('a certificate without a key is refused at the start', async () => {
  const env = { TRAWL_TLS_CERT: 'cert.pem' };
  const { code, stderr } = await trawl(['serve', '--data-dir', temporaryFolder(), '.'], { env });
  assert.equal(code, 2);
  assert.match(stderr, /TRAWL_TLS_CERT: set without TRAWL_TLS_KEY; set both/);
});

test('an expired certificate serves, and status and doctor say that it ended', async () => {
  const folder = temporaryFolder();
  const openssl = (args: string): unknown =>
    execFileSync('openssl', args.split(' '), { cwd: folder, stdio: 'pipe' });
  openssl('req -newkey rsa:2048 -nodes -keyout key.pem -subj /CN=localhost -out request.pem');
  const sign = (days: number): unknown =>
    openssl(`x509 -req -in request.pem -signkey key.pem -days ${days} -out cert.pem`);
  sign(-1);
  const [certFile, keyFile] = ['cert.pem', 'key.pem'].map((name) => path.join(folder, name));
  const env = { TRAWL_TLS_CERT: certFile ?? '', TRAWL_TLS_KEY: keyFile ?? '' };
  const dataDir = temporaryFolder();
  const doctor = async () =>
    (await trawl(['doctor', '--data-dir', dataDir], { env })).stdout
      .split('\n')
      .filter((line) => /^\w+ +tls /.test(line))
      .join();
  const { process: running } = await serve(dataDir, [makeRepo({ 'a.txt': 'x' })], { env });
  assert.match(running.stderr, /ERROR .*the TLS certificate .*cert\.pem ended at 20/);
  const status = await trawl(['status', '--data-dir', dataDir]);
  assert.match(status.stdout, /the TLS certificate .* ended at 20.*; renew it/);
  assert.match(await doctor(), /^failure .*cert\.pem ended at 20/);
  sign(5);
  assert.match(await doctor(), /^warning .*valid until 20/);
  sign(90);
  assert.match(await doctor(), /^ok .*valid until 20/);
  writeFileSync(certFile ?? '', '');
  assert.match(await doctor(), /^failure .*cert\.pem: /);
  await running.stop();
});
