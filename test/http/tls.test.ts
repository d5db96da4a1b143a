// The daemon's own TLS: the same answers and limits as without, a new certificate without a restart, and bad files that change nothing.
// tier: ci (openssl)

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { connect as connectPlain, type Socket } from 'node:net';
import { connect, type ConnectionOptions, type TLSSocket } from 'node:tls';
import { after, test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { DAY_MS } from '../../daemon/base/durations.ts';
import { createLog } from '../../daemon/base/log.ts';
import { HEAD_TIMEOUT_MS, type HttpHandler } from '../../daemon/http/adapters/adapter.ts';
import { HANDSHAKES_MAX, NodeAdapter } from '../../daemon/http/adapters/node-adapter.ts';
import { Certificate } from '../../daemon/http/certificate.ts';
import { makeCertificates } from '../hosts/servers.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

const atEnd: (() => void)[] = [];
after(() => atEnd.forEach((end) => end()));
const made = [0, 1].map(() =>
  makeCertificates({ after: (end) => void atEnd.push(end as () => void) }),
);

const handle: HttpHandler = async ({ remoteAddress }) => ({
  status: 200,
  headers: {},
  body: Buffer.from(`for ${remoteAddress}`),
});

function filesOf({ cert, key }: { readonly cert: string; readonly key: string }) {
  const folder = temporaryFolder();
  const files = { cert: path.join(folder, 'cert.pem'), key: path.join(folder, 'key.pem') };
  writeFileSync(files.cert, cert);
  writeFileSync(files.key, key);
  return files;
}

const [first, second] = made as [(typeof made)[0], (typeof made)[0]];

async function start() {
  const lines: string[] = [];
  const log = createLog({ level: 'info', format: 'text', write: (line) => lines.push(line) });
  const files = filesOf(first);
  const certificate = new Certificate(files, log);
  const adapter = new NodeAdapter({ handle, isTls: true });
  certificate.onChange((pair) => adapter.useCertificate(pair));
  const { port } = await adapter.listen('127.0.0.1', 0);
  const close = async () => {
    certificate.close();
    await adapter.close(5_000);
  };
  return { lines, files, certificate, port, close };
}

/** Errors: the server's certificate is not `cert`. */
async function open(port: number, options: ConnectionOptions = {}): Promise<TLSSocket> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false, ...options });
  await new Promise((resolve, reject) => {
    socket.once('secureConnect', () => resolve(undefined));
    socket.once('error', reject);
  });
  return socket;
}

async function ask(socket: TLSSocket): Promise<string> {
  socket.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  return new Promise((resolve) => {
    socket.once('data', (data: Buffer) => resolve(data.toString()));
  });
}

function pemOf(socket: TLSSocket): string {
  return socket.getPeerX509Certificate()?.toString() ?? '';
}

test('a new certificate is for new connections, and old connections live on', async () => {
  const { files, certificate, port, close, lines } = await start();
  const old = await open(port);
  assert.equal(pemOf(old), first.cert);
  assert.match(await ask(old), /^HTTP\/1\.1 200 .*for 127\.0\.0\.1$/s);
  writeFileSync(files.cert, second.cert);
  certificate.check();
  certificate.check();
  const [refusal = ''] = certificate.degradations;
  assert.match(
    refusal,
    /^the TLS certificate is refused, and the previous one stays in force: .*mismatch/,
  );
  assert.equal(lines.filter((line) => line.includes('is refused')).length, 1);
  assert.equal(pemOf(await open(port)), first.cert);
  writeFileSync(files.key, second.key);
  certificate.check();
  assert.deepEqual(certificate.degradations, []);
  const fresh = await open(port);
  assert.equal(pemOf(fresh), second.cert);
  assert.match(await ask(fresh), /^HTTP\/1\.1 200 /);
  assert.match(await ask(old), /^HTTP\/1\.1 200 /);
  assert.equal(lines.filter((line) => line.includes('was replaced')).length, 1);
  await close();
});

test('a certificate that ends under way is in the log, once', async (t) => {
  const { certificate, close, lines } = await start();
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 2 * DAY_MS });
  certificate.check();
  certificate.check();
  assert.equal(lines.filter((line) => /ERROR .* ended at .*; renew it/.test(line)).length, 1);
  t.mock.timers.reset();
  await close();
});

test('TLS 1.1 and plain HTTP are refused, and unfinished handshakes do not delay the end', async () => {
  const { port, close } = await start();
  await assert.rejects(
    open(port, { minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'ALL:@SECLEVEL=0' }),
    /alert|version|protocol/i,
  );
  for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const)
    assert.equal((await open(port, { maxVersion })).getProtocol(), maxVersion);
  const plain = connectPlain(port, '127.0.0.1');
  const text = await new Promise((resolve) => {
    let received = '';
    plain.on('data', (data: Buffer) => (received += data.toString('latin1')));
    plain.on('error', () => {});
    plain.on('close', () => resolve(received));
    plain.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n');
  });
  assert.doesNotMatch(String(text), /HTTP/);
  const silent = connectPlain(port, '127.0.0.1');
  await new Promise((resolve) => silent.once('connect', resolve));
  const ended = new Promise((resolve) => silent.once('close', resolve));
  silent.resume();
  // Before its handshake is late.
  const late = setTimeout(HEAD_TIMEOUT_MS - 1_000, 'late', { ref: false });
  assert.equal(await Promise.race([close(), late]), undefined);
  await ended;
});

test('a handshake that does not go on is ended, also by a client that has left', async () => {
  const { port, close } = await start();
  const record = Buffer.from([0x16, 3, 1, 2, 0, 1]);
  const ends = [Buffer.alloc(0), record].map(async (bytes) => {
    const socket = connectPlain({ port, host: '127.0.0.1', allowHalfOpen: true });
    socket.write(bytes);
    socket.end();
    socket.resume();
    await new Promise((resolve) => socket.once('end', resolve));
    socket.destroy();
  });
  await Promise.all(ends);
  await close();
});

test('of too many unfinished handshakes the oldest end', async () => {
  const { port, close } = await start();
  const oldest: Socket[] = [];
  for (let i = 0; i < 5; i++) {
    const socket = silent(port);
    await new Promise((resolve) => socket.once('connect', resolve));
    oldest.push(socket);
  }
  const ends = oldest.map((socket) => new Promise((resolve) => socket.once('close', resolve)));
  // Before their handshakes are late.
  const late = setTimeout(HEAD_TIMEOUT_MS - 1_000, 'late', { ref: false });
  const others = Array.from({ length: HANDSHAKES_MAX }, () => silent(port));
  assert.notEqual(await Promise.race([Promise.all(ends), late]), 'late');
  assert.equal((await open(port)).encrypted, true);
  for (const socket of others) socket.destroy();
  await close();
});

function silent(port: number): Socket {
  return connectPlain(port, '127.0.0.1')
    .on('error', () => {})
    .resume();
}

test('files that are missing or no pair are refused at the start', () => {
  const log = createLog({ level: 'info', format: 'text', write: () => {} });
  const refused = (files: { cert: string; key: string }) => {
    assert.throws(
      () => new Certificate(files, log),
      /TRAWL_TLS_CERT and TRAWL_TLS_KEY: .*allowed: PEM files/,
    );
  };
  const files = filesOf(first);
  refused({ ...files, key: '/nowhere/key.pem' });
  refused({ ...files, key: files.cert });
  refused({ cert: filesOf(second).cert, key: files.key });
  refused({ cert: files.cert, key: ofRsa().key });
  refused({ cert: ofRsa().cert, key: files.key });
  writeFileSync(files.cert, '');
  refused(files);
  writeFileSync(files.cert, first.cert);
  writeFileSync(files.key, '');
  refused(files);
});

/** Files of another kind of key. */
function ofRsa() {
  const folder = temporaryFolder();
  const subject = '-newkey rsa:2048 -nodes -keyout key.pem -subj /CN=localhost';
  execFileSync('openssl', `req -x509 ${subject} -out cert.pem -days 1`.split(' '), {
    cwd: folder,
    stdio: 'pipe',
  });
  return { cert: path.join(folder, 'cert.pem'), key: path.join(folder, 'key.pem') };
}
