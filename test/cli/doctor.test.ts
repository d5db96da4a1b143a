// `trawl doctor`: what it finds in good and in bad surroundings, with the remedy, without secrets, and without waiting for ever.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import test from 'node:test';
import { createLog } from '../../daemon/base/log.ts';
import { type Finding, Findings } from '../../daemon/cli/doctor.ts';
import { openStore } from '../../daemon/store/store.ts';
import { index, shardNames, trawl, type StartOptions } from '../e2e/daemon.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';

const CHECKS =
  'node,git,symbols,limits,configuration,hosts,store,disk,rights,index,mappings,daemon'.split(',');

interface Diagnosed {
  readonly code: number | undefined;
  readonly text: string;
  readonly of: (check: string) => readonly Finding[];
}

/** Every line has a remedy unless it is fine, and the exit code is that of the worst line. */
async function doctor(args: readonly string[], options: StartOptions = {}): Promise<Diagnosed> {
  const { code, stdout } = await trawl(['doctor', '--json', ...args], options);
  const findings = stdout
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Finding);
  for (const { level, remedy } of findings) assert.equal(remedy === null, level === 'ok');
  const levels = findings.map(({ level }) => ['ok', 'warning', 'failure'].indexOf(level));
  assert.equal(code, Math.max(...levels));
  return { code, text: stdout, of: (name) => findings.filter(({ check }) => check === name) };
}

const summary = (findings: readonly Finding[]): string[] =>
  findings.map(({ level, says, remedy }) => `${level}: ${says} -> ${String(remedy)}`);

void test('without a daemon, an index and a configuration every check has its line', async () => {
  const dataDir = path.join(temporaryFolder(), 'data');
  const { of } = await doctor(['--data-dir', dataDir]);
  for (const check of CHECKS.filter((name) => name !== 'hosts'))
    assert.equal(of(check).length, 1, check);
  assert.deepEqual(summary(of('daemon')), ['ok: none runs on this data directory -> null']);
  assert.deepEqual(summary(of('index')), ['ok: none yet -> null']);
  assert.deepEqual(summary(of('store')), ['ok: embedded; none yet -> null']);
  assert.deepEqual(summary(of('rights')), [
    `ok: ${dataDir} is not there yet, and can be made -> null`,
  ]);
});

void test('each mistake of a refused file has one line, and a port that is taken is named', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const folder = temporaryFolder();
  const config = path.join(folder, 'trawl.json');
  writeFileSync(config, '{"settings": {"maxFileSize": -1}, "bogus": 1}');
  const refused = await doctor(['--data-dir', folder, '--config', config]);
  assert.equal(refused.of('configuration').length, 2);
  assert.equal(refused.of('hosts').length, 0);
  const { of } = await doctor(['--data-dir', folder], { env: { TRAWL_PORT: String(port) } });
  server.close();
  assert.match(
    summary(of('daemon')).join(),
    /^warning: TRAWL_HOST, TRAWL_PORT: cannot listen on 127\.0\.0\.1 port \d+ \(EADDRINUSE\) -> .*free port$/,
  );
});

void test('rights, unknown variables, missing secrets and a refused value are named, secrets are not', async () => {
  const folder = temporaryFolder();
  const [dataDir, secret, config] = ['data', 'secret', 'trawl.json'].map((name) =>
    path.join(folder, name),
  ) as [string, string, string];
  mkdirSync(dataDir);
  chmodSync(dataDir, 0o755);
  writeFileSync(secret, 'a secret that is long enough, and seen by all', { mode: 0o644 });
  chmodSync(secret, 0o644);
  const token = { env: 'LAB_TOKEN' };
  const lab = { type: 'gitea', url: 'http://127.0.0.1:9', token, orgs: ['x'] };
  writeFileSync(config, JSON.stringify({ connections: { lab } }));
  const args = ['--data-dir', dataDir, '--config', config];
  const env = { TRAWL_SECRET_FILE: secret, TRAWL_COLOUR: 'red' };
  const { of, text, code } = await doctor(args, { env });
  assert.equal(code, 2);
  assert.deepEqual(summary(of('rights')), [
    `warning: other accounts may enter ${dataDir} -> chmod o= ${dataDir}`,
    `warning: ${secret} holds a secret, and all accounts may read it -> chmod o= ${secret}`,
  ]);
  assert.match(summary(of('configuration')).join(), /^warning: TRAWL_COLOUR is not a variable/);
  assert.match(summary(of('hosts')).join(), /^failure: connections.lab.token: variable LAB_TOKEN/);
  assert.doesNotMatch(text, /long enough/);
  const refused = await doctor(args, { env: { TRAWL_SECRET: 'short-one' } });
  assert.match(summary(refused.of('configuration')).join(), /^failure: TRAWL_SECRET: \(hidden\)/);
  assert.doesNotMatch(refused.text, /short-one/);
});

void test('a store that is whole, also while it is in use, and one that is damaged', async () => {
  const dataDir = temporaryFolder();
  const log = createLog({ level: 'error', format: 'text' });
  const store = await openStore({ dataDir, log });
  const whole = await doctor(['--data-dir', dataDir]);
  assert.deepEqual(summary(whole.of('store')), ['ok: embedded, whole -> null']);
  await store.close();
  const file = path.join(dataDir, 'store.db');
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0x2a, 5000, 9000));
  const damaged = await doctor(['--data-dir', dataDir]);
  const [line = ''] = summary(damaged.of('store'));
  assert.match(line, /^failure: store\.db is damaged: .* -> restore a backup/);
  assert.deepEqual(readFileSync(file), bytes);
});

void test('a host that refuses the token, and one whose clock differs', async () => {
  const server = createServer(({ url }, response) => {
    const date = new Date(Date.now() + 120_000).toUTCString();
    const isRefused = url?.startsWith('/refusing/') === true;
    response.writeHead(isRefused ? 401 : 200, { date, 'content-type': 'application/json' });
    response.end('{"login":"me"}');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const config = path.join(temporaryFolder(), 'trawl.json');
  const late = { type: 'gitea', url: `http://127.0.0.1:${port}`, orgs: ['x'] };
  const refusing = { ...late, url: `${late.url}/refusing`, token: { env: 'LAB_TOKEN' } };
  writeFileSync(config, JSON.stringify({ connections: { late, refusing } }));
  const args = ['--data-dir', temporaryFolder(), '--config', config];
  const { of, text } = await doctor(args, { env: { LAB_TOKEN: 'tok-en' } });
  server.close();
  const [first = '', second = ''] = summary(of('hosts'));
  assert.match(first, /^failure: the clock of late is 1(?:1\d|20) s ahead -> set the clocks/);
  assert.match(second, /^failure: refusing: .*127\.0\.0\.1/);
  assert.doesNotMatch(text, /tok-en/);
});

void test('a check that does not answer is a failure that names what it waited for', async () => {
  const found = new Findings();
  await found.add('paths', () => new Promise(() => {}), 5, '/gone');
  assert.deepEqual(found.findings, [
    {
      check: 'paths',
      level: 'failure',
      says: 'no answer within 0.005 s from /gone',
      remedy: 'look at the disk or the host behind it',
    },
  ]);
  assert.equal(found.isStuck, true);
});

void test('the process ends although a thread waits in the kernel', async () => {
  const pipe = path.join(temporaryFolder(), 'pipe');
  await once(spawn('mkfifo', [pipe]), 'close');
  const context = new URL('../../daemon/cli/process-context.js', import.meta.url).href;
  const script = `
  import { open } from 'node:fs';
  import { createProcessContext } from ${JSON.stringify(context)};
  open(${JSON.stringify(pipe)}, 'r', () => {});
  setTimeout(() => createProcessContext({}).endNow(7), 50);`;
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: 'inherit',
  });
  assert.deepEqual(await once(child, 'close'), [7, null]);
});

void test('a lost file of the index, a lost store and a damaged secret are named', async () => {
  const dataDir = path.join(temporaryFolder(), 'data');
  await index(dataDir, [makeRepo({ 'a.txt': 'plum\n' })]);
  const says = async (check: string): Promise<string> =>
    summary((await doctor(['--data-dir', dataDir])).of(check)).join();
  assert.match(await says('index'), /^ok: 1 repository, 1 shard/);
  const [name = ''] = shardNames(dataDir);
  truncateSync(path.join(dataDir, 'shards', name), 100);
  assert.match(await says('index'), new RegExp(`^warning: ${name}: missing, .*"trawl verify"`));
  rmSync(path.join(dataDir, 'shards', name));
  assert.match(await says('index'), new RegExp(`^warning: ${name}: missing, .*"trawl verify"`));
  writeFileSync(path.join(dataDir, 'secret'), Buffer.alloc(65));
  assert.match(
    await says('store'),
    /^failure: instance secret damaged: .* -> restore it, or remove it/,
  );
  rmSync(path.join(dataDir, 'secret'));
  rmSync(path.join(dataDir, 'store.db'));
  assert.match(await says('store'), /^warning: an index, but no store\.db: .* -> restore a backup/);
});
