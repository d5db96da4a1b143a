// The daemon under systemd: the units of daemon/deploy/ by systemd's own judgement; and, with a socket held by the test as
// systemd holds it, restarts that fail no request, notices, and credentials.
// tier: ci (whole programs; Debian's package systemd)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { eventually, get, index } from './daemon.ts';
import { holdSocket, openNoticeSocket, startOn } from './service-manager.ts';

const UNIT = path.resolve('daemon/deploy/trawl.service');
const hasSystemd = spawnSync('systemd-analyze', ['--version']).status === 0;
const options = { skip: process.platform !== 'linux' && 'Linux only' };

test(
  'systemd rates the exposure of the unit at 1.5 at most',
  {
    skip: hasSystemd ? false : 'needs the Debian package systemd',
  },
  () => {
    const { status, stdout } = spawnSync(
      'systemd-analyze',
      ['security', '--offline=true', '--threshold=15', '--no-pager', UNIT],
      { encoding: 'utf8' },
    );
    assert.match(stdout, /Overall exposure level/);
    assert.equal(status, 0, stdout);
  },
);

/** Status of the answer, or the error. */
function ask(port: number, agent: Agent | undefined): Promise<string> {
  return new Promise((resolve) => {
    const headers = { 'content-type': 'application/json' };
    const call = request(
      { host: '127.0.0.1', port, path: '/api/search', method: 'POST', headers, agent },
      (answer) => {
        answer.resume();
        answer.on('end', () => resolve(String(answer.statusCode)));
        answer.on('error', (error) => resolve(error.message));
      },
    );
    call.on('error', (error) => resolve(error.message));
    call.end('{"query":"plum","matches":1}');
  });
}

test(
  'a restart on a held socket fails no request, and the daemon says what it does',
  options,
  async () => {
    const repo = makeRepo({ 'a.txt': 'plum\n' });
    const dataDir = temporaryFolder();
    await index(dataDir, [repo]);
    const socket = await holdSocket();
    const notices = openNoticeSocket();
    const env = { NOTIFY_SOCKET: notices.address, WATCHDOG_USEC: '200000' };
    const start = () => startOn(socket, ['--data-dir', dataDir, repo], { env });
    const counts = new Map<string, number>();
    const over = new AbortController();
    const client = async (agent: Agent | undefined): Promise<void> => {
      while (!over.signal.aborted) {
        const outcome = await ask(socket.port, agent);
        counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
      }
    };
    // They wait in the socket: nobody accepts yet.
    const agents = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true }), undefined];
    const clients = agents.map(client);
    const answered = async (): Promise<void> => {
      const before = counts.get('200') ?? 0;
      await eventually(async () => (counts.get('200') ?? 0) > before + 20);
    };
    const first = start();
    const hasTold = (pattern: RegExp, count = 1): Promise<void> =>
      eventually(async () => notices.received().filter((one) => pattern.test(one)).length >= count);
    await hasTold(/^WATCHDOG=1$/, 2);
    assert.equal(notices.received()[0], 'READY=1');
    await answered();
    first.child.kill('SIGHUP');
    await hasTold(/^RELOADING=1\nMONOTONIC_USEC=\d+$/);
    await hasTold(/^READY=1$/, 2);
    const { code, stderr } = await first.stop();
    assert.equal(code, 0, stderr);
    await hasTold(/^STOPPING=1$/);
    const last = start();
    await answered();
    over.abort();
    await Promise.all(clients);
    assert.deepEqual([...counts.keys()], ['200']);
    for (const agent of agents) agent?.destroy();
    await last.stop();
  },
);

test('secrets are taken from the folder of credentials', options, async () => {
  const credentials = temporaryFolder();
  const key = `svk_${'0123456789abcdef'.repeat(4)}`;
  writeFileSync(path.join(credentials, 'TRAWL_OWNER_API_KEY'), `${key}\n`);
  const socket = await holdSocket();
  const env = { CREDENTIALS_DIRECTORY: credentials, TRAWL_OWNER_EMAIL: 'o@example.com' };
  const daemon = startOn(socket, ['--data-dir', temporaryFolder(), makeRepo({ 'a.txt': 'x' })], {
    env,
  });
  await daemon.until(/^Serving on /m);
  const url = `http://127.0.0.1:${socket.port}/api/repos`;
  assert.equal((await get(url)).status, 401);
  assert.equal((await get(url, { 'X-Service-Api-Key': key })).status, 200);
  await daemon.stop();
});

test(
  'a socket of another kind ends the start, and the message says what to change',
  options,
  async () => {
    const folder = temporaryFolder();
    const server = createServer().listen(path.join(folder, 'socket'));
    await once(server, 'listening');
    const { _handle: handle } = server as unknown as { readonly _handle: { readonly fd: number } };
    const args = ['--data-dir', temporaryFolder(), makeRepo({ 'a.txt': 'x' })];
    const { code, stderr } = await startOn({ fd: handle.fd, port: 0 }, args).ended;
    server.close();
    assert.equal(code, 2);
    assert.match(
      stderr,
      /LISTEN_FDS: .*; allowed: a TCP socket; give the socket unit a ListenStream=/,
    );
  },
);
