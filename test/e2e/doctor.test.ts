// `trawl doctor` beside a real daemon, and against a real PostgreSQL.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { Finding } from '../../daemon/cli/doctor.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { POSTGRES_MISSING, startPostgres } from '../store/postgres-server.ts';
import { serve, serveIndexed, startTrawl, trawl } from './daemon.ts';

void test('a running daemon, as a process: its address and its limits', async () => {
  const dataDir = path.join(temporaryFolder(), 'data');
  const served = await serve(dataDir, [makeRepo({ 'a.txt': 'plum\n' })]);
  const { stdout } = await startTrawl(['doctor', '--data-dir', dataDir]).ended;
  assert.match(stdout, new RegExp(`^ok +daemon +version \\S+ runs, at ${served.url}$`, 'm'));
  if (process.platform === 'linux') assert.match(stdout, / limits .* of the daemon, process \d+;/);
  await served.process.stop();
});

void test('PostgreSQL is reached, and is gone', { skip: POSTGRES_MISSING }, async () => {
  const server = await startPostgres();
  const databaseUrl = await server.createDatabase();
  const url = databaseUrl.replace('postgres://trawl', 'postgres://trawl:pass-word');
  assert.notEqual(url, databaseUrl);
  const diagnose = async (): Promise<Finding | undefined> => {
    const env = { TRAWL_DATABASE_URL: url };
    const { stdout } = await trawl(['doctor', '--json', '--data-dir', temporaryFolder()], { env });
    assert.doesNotMatch(stdout, /pass-word/);
    const findings = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Finding);
    return findings.find(({ check }) => check === 'store');
  };
  const reached = await diagnose();
  assert.equal(reached?.level, 'ok');
  assert.match(reached.says, /^PostgreSQL \d+\.\d+.*; its clock agrees$/);
  assert.deepEqual(
    await server.run(databaseUrl, "select tablename from pg_tables where schemaname = 'public'"),
    [],
  );
  await server.stop('fast');
  const gone = await diagnose();
  assert.equal(gone?.level, 'failure');
  assert.match(gone.says, /^PostgreSQL cannot be reached: connect E/);
  assert.match(gone.remedy ?? '', /TRAWL_DATABASE_URL/);
  await server.remove();
});

void test(
  'a daemon without its PostgreSQL: status and doctor name the problem',
  { skip: POSTGRES_MISSING },
  async () => {
    const server = await startPostgres();
    const env = { TRAWL_DATABASE_URL: await server.createDatabase() };
    const dataDir = path.join(temporaryFolder(), 'data');
    const config = path.join(temporaryFolder(), 'trawl.json');
    const token = { file: '/nonexistent' };
    const acme = { type: 'github', url: 'http://127.0.0.1:1', orgs: ['acme'], token };
    writeFileSync(config, JSON.stringify({ connections: { acme } }));
    const flags = ['--config', config];
    const served = await serveIndexed(dataDir, [makeRepo({ 'a.txt': 'plum\n' })], { env, flags });
    await served.process.until(/listing a connection failed/);
    await server.stop('fast');
    const status = await trawl(['status', '--data-dir', dataDir], { env });
    assert.equal(status.code, 1, status.stderr);
    assert.match(status.stdout, /^acme +github .* failed$/m);
    assert.match(status.stdout, /^1 repository: 1 indexed\nno jobs\n[^]*^the store /m);
    const { stdout } = await trawl(['doctor', '--data-dir', dataDir], { env });
    assert.match(stdout, /^failure +daemon +the store /m);
    await served.process.stop();
    await server.remove();
  },
);
