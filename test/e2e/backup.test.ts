// Backups: made during writes, restored on either engine, refused when damaged, and killed at bad moments.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  closeSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { Readable } from 'node:stream';
import test from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { gunzipSync, gzipSync } from 'node:zlib';
import { writeBackupFile } from '../../daemon/cli/backup-file.ts';
import { callControl } from '../../daemon/cli/control-client.ts';
import { findControlPath } from '../../daemon/base/config/control-path.ts';
import { createLog } from '../../daemon/base/log.ts';
import { openStore } from '../../daemon/store/store.ts';
import { startApp } from '../api/app.ts';
import { once } from '../base/once.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { POSTGRES_MISSING, startPostgres } from '../store/postgres-server.ts';
import { SmallDisk } from '../sync/small-disk.ts';
import {
  eventually,
  get,
  index,
  post,
  Running,
  serve,
  startTrawl,
  trawl,
  shardNames,
} from './daemon.ts';
import { CodeHost } from './hosted.ts';
import type { Outcome, StartOptions } from './daemon.ts';

const PASSPHRASE = 'pass phrase of the test';

interface Users {
  readonly stdout: string;
  readonly emails: readonly string[];
}

async function ok(args: readonly string[], options: StartOptions): Promise<Outcome> {
  const outcome = await trawl(args, options);
  assert.equal(outcome.code, 0, `${args.join(' ')}: ${outcome.stderr}`);
  return outcome;
}

async function refused(args: readonly string[], options: StartOptions): Promise<string> {
  const { code, stdout, stderr } = await trawl(args, options);
  assert.equal(code, 2, `${args.join(' ')}: ${stderr}`);
  assert.equal(stdout, '');
  return stderr;
}

async function usersOf(dataDir: string, env: Record<string, string> = {}): Promise<Users> {
  const options = { env: { ...env, TRAWL_DATA_DIR: dataDir } };
  const { stdout } = await ok(['user', 'list', '--json'], options);
  const rows = stdout.split('\n').slice(0, -1);
  return { stdout, emails: rows.map((row) => (JSON.parse(row) as { email: string }).email) };
}

/** Everything in a data directory but what comes and goes, as names and contents. */
function contentOf(dataDir: string): Record<string, string> {
  if (!existsSync(dataDir)) return {};
  const names = readdirSync(dataDir, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => statSync(path.join(dataDir, name)).isFile());
  return Object.fromEntries(
    files.map((name) => [name, readFileSync(path.join(dataDir, name)).toString('base64')]),
  );
}

const USER_COUNT = 100;

/** A data directory with an index, an owner with a key, and `USER_COUNT` other users. */
const makeInstance = once(async () => {
  const dataDir = path.join(temporaryFolder(), 'data');
  const repo = makeRepo({ 'a.txt': 'plum\n', 'b.txt': 'pear\n' });
  await index(dataDir, [repo]);
  const options = { env: { TRAWL_DATA_DIR: dataDir } };
  await ok(['user', 'add', 'owner@x.org'], options);
  const { stdout } = await ok(['key', 'create', '--user', 'owner@x.org', '--name', 'k'], options);
  const log = createLog({ level: 'error', format: 'text', write: () => {} });
  const store = await openStore({ dataDir, log });
  for (let i = 0; i < USER_COUNT; i++)
    await store.users.create({ email: `user${i}@x.org`, role: 'MEMBER' });
  await store.close();
  return { dataDir, repo, key: stdout.trim() };
});

async function copyInstance() {
  const { dataDir: source, repo, key } = await makeInstance();
  const dataDir = path.join(temporaryFolder(), 'data');
  cpSync(source, dataDir, { recursive: true });
  return { dataDir, repo, key, options: { env: { TRAWL_DATA_DIR: dataDir } } };
}

async function serveInstance() {
  const instance = await copyInstance();
  return { ...instance, served: await serve(instance.dataDir, [instance.repo]) };
}

async function addUser(dataDir: string, email: string): Promise<void> {
  const call = { method: 'POST', path: '/api/ee/users', account: 'test' };
  const body = JSON.stringify({ email });
  const response = await callControl(findControlPath(dataDir), { ...call, body });
  response.resume();
  assert.equal(response.statusCode, 201);
}

function withPassphrase({ env }: StartOptions): StartOptions {
  return { env: { ...env, TRAWL_BACKUP_PASSPHRASE: PASSPHRASE } };
}

void test('a backup during writes is one consistent state, with key and index', async () => {
  const { dataDir, repo, served, options, key } = await serveInstance();
  const file = path.join(temporaryFolder(), 'backup.tar.gz');
  const written: string[] = [];
  const over = new AbortController();
  const writing = (async () => {
    for (let i = 0; !over.signal.aborted; i++) {
      await addUser(dataDir, `later${i}@x.org`);
      written.push(`later${i}@x.org`);
    }
  })();
  const before = [...written];
  const { stderr } = await ok(['backup', file, '--with-index'], withPassphrase(options));
  over.abort();
  await writing;
  assert.equal(stderr.includes('left out'), false);
  assert.equal(statSync(file).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(path.dirname(file)), [path.basename(file)]);
  const { emails } = await usersOf(dataDir);
  assert.ok(emails.length > USER_COUNT + 5, 'the client wrote meanwhile');
  const busy = await refused(['restore', file, '--force'], options);
  assert.match(busy, /in use by process/);
  await served.process.stop();

  const second = path.join(temporaryFolder(), 'data');
  const target = { env: { TRAWL_DATA_DIR: second } };
  const restored = await ok(['restore', file], withPassphrase(target));
  assert.equal(/warning|note/.test(restored.stderr), false, restored.stderr);
  const found = (await usersOf(second)).emails;
  assert.deepEqual(found, emails.slice(0, found.length), 'as of one moment');
  for (const email of ['owner@x.org', 'user19@x.org', ...before]) assert.ok(found.includes(email));
  assert.equal(statSync(path.join(second, 'secret')).mode & 0o777, 0o600);
  assert.deepEqual(shardNames(second), shardNames(dataDir));
  const again = await startApp([repo], { dataDir: second });
  assert.equal((await again.daemon.indexed)[0]?.isUnchanged, true);
  const headers = { authorization: `Bearer ${key}` };
  assert.equal((await again.get('/api/repos', headers)).status, 200);
});

void test('without a passphrase: no secret, with a message; with the secret keys stay valid, otherwise not', async () => {
  const { dataDir, options, key } = await copyInstance();
  const file = path.join(temporaryFolder(), 'backup.tar.gz');
  const { stderr } = await ok(['backup', file], options);
  assert.match(stderr, /left out/);
  const secret = readFileSync(path.join(dataDir, 'secret'), 'utf8').trim();
  assert.equal(gunzipSync(readFileSync(file)).includes(secret), false);
  const secretFile = path.join(temporaryFolder(), 'secret');
  writeFileSync(secretFile, `${secret}\n`);
  const wrongFile = path.join(temporaryFolder(), 'secret');
  writeFileSync(wrongFile, 'f'.repeat(64));
  const cases: [string[], Record<string, string>, number][] = [
    [[], {}, 401],
    [['--secret-file', secretFile], {}, 200],
    [[], { TRAWL_SECRET: secret }, 200],
  ];
  for (const [flags, env, status] of cases) {
    const targetDir = path.join(temporaryFolder(), 'data');
    const target = { env: { ...env, TRAWL_DATA_DIR: targetDir } };
    const wrong = await refused(['restore', file, '--secret-file', wrongFile], target);
    assert.match(wrong, /a different instance secret/);
    assert.equal(existsSync(targetDir), false);
    const outcome = await ok(['restore', file, ...flags], target);
    assert.equal(/keys, tokens.* void/.test(outcome.stderr.replaceAll('\n', ' ')), status === 401);
    const again = await startApp([], { dataDir: targetDir });
    const headers = { authorization: `Bearer ${key}` };
    assert.equal((await again.get('/api/repos', headers)).status, status);
  }
  const onTop = await ok(['restore', file, '--force'], options);
  assert.match(onTop.stderr, /^replaced: .*index\.db.*store\.db/);
  assert.equal(onTop.stderr.includes('void'), false, 'the secret that is there is the right one');
});

void test('a sealed backup without its passphrase is refused unless a flag allows it; the advice works', async () => {
  const { options, dataDir } = await copyInstance();
  const file = path.join(temporaryFolder(), 'backup.tar.gz');
  await ok(['backup', file], withPassphrase(options));
  const targetDir = path.join(temporaryFolder(), 'data');
  const target = { env: { TRAWL_DATA_DIR: targetDir } };
  const text = await refused(['restore', file], target);
  assert.match(text, /sealed.*--passphrase-stdin.*--without-passphrase/);
  assert.equal(existsSync(targetDir), false);
  const lost = await ok(['restore', file, '--without-passphrase'], target);
  assert.match(lost.stderr, /void. Restore again with --force and --secret-file.* the passphrase/);
  assert.match(lost.stderr, /licence key is not restored/);
  const kept = await ok(['restore', file, '--force'], withPassphrase(target));
  assert.equal(kept.stderr.includes('void'), false);
  const secret = path.join(dataDir, 'secret');
  const withSecret = await ok(['restore', file, '--force', '--secret-file', secret], target);
  assert.equal(withSecret.stderr.includes('void'), false);
  assert.match(withSecret.stderr, /licence key is not restored/);
});

/** An unpacked backup with other rows of the same size, and their checksum. */
function withRows(plain: Buffer, changes: readonly (readonly [from: string, to: string])[]) {
  const made = Buffer.from(plain);
  const header = made.indexOf('store/000001.ndjson\0');
  const size = Number.parseInt(made.toString('latin1', header + 124, header + 135), 8);
  const rows = made.subarray(header + 512, header + 512 + size);
  const sum = (): string => createHash('sha256').update(rows).digest('hex');
  const before = sum();
  for (const [from, to] of changes) {
    assert.equal(Buffer.byteLength(to), Buffer.byteLength(from));
    rows.write(to, rows.indexOf(from));
  }
  made.write(sum(), made.lastIndexOf(before));
  return gzipSync(made);
}

void test('restored without its index: only a line feed ends a row; a search says what is missing, and the command for it', async () => {
  const { options } = await copyInstance();
  const file = path.join(temporaryFolder(), 'backup.tar.gz');
  await ok(['backup', file], options);
  const changed = withRows(gunzipSync(readFileSync(file)), [
    ['"user7@x.org"', '"user@x.org"\r'],
    ['"user8@x.org"', '"us\u2028@x.org"'],
    ['"user9@x.org"', '"us\u2029@x.org"'],
  ]);
  writeFileSync(file, changed);
  const dataDir = path.join(temporaryFolder(), 'data');
  const target = { env: { TRAWL_DATA_DIR: dataDir } };
  await ok(['restore', file], target);
  const { emails } = await usersOf(dataDir);
  for (const email of ['user@x.org', 'us\u2028@x.org', 'us\u2029@x.org'])
    assert.ok(emails.includes(email), email);
  for (const command of ['search', 'explain'])
    assert.match(
      await refused([command, 'plum'], target),
      /no repository in .* is indexed yet \(repositories: 1\); "trawl serve"/,
    );
});

void test('an incomplete backup is refused and changes nothing', async () => {
  const { options, dataDir } = await copyInstance();
  const folder = temporaryFolder();
  const file = path.join(folder, 'backup.tar.gz');
  await ok(['backup', file, '--with-index'], withPassphrase(options));
  const bytes = readFileSync(file);
  const plain = gunzipSync(bytes);
  const changed = Buffer.from(plain);
  const at = changed.indexOf('user7@x.org');
  changed.write('x', at);
  const flipped = Buffer.from(bytes);
  flipped[bytes.length >> 1] = (flipped[bytes.length >> 1] ?? 0) ^ 1;
  const endAt = plain.lastIndexOf('manifest.json\0');
  const newer = Buffer.from(plain);
  newer.write('"formatVersion":7', newer.indexOf('"formatVersion":1'));
  const unreadable = /has rows that this version cannot read/;
  const bad: [string, Buffer, RegExp][] = [
    ['empty', Buffer.alloc(0), /not a backup/],
    ['text', Buffer.from('hello\n'), /not a backup/],
    ['other archive', gzipSync(Buffer.alloc(10_240)), /not a backup/],
    ['cut', bytes.subarray(0, bytes.length - 10), /damaged or truncated/],
    ['cut early', bytes.subarray(0, bytes.length >> 2), /damaged or truncated/],
    ['a bit', flipped, /damaged or truncated/],
    ['a row', gzipSync(changed), /damaged or truncated.*store/],
    [
      'no manifest',
      gzipSync(Buffer.concat([plain.subarray(0, endAt), Buffer.alloc(1024)])),
      /before its manifest/,
    ],
    ['newer', gzipSync(newer), /format 7/],
    ['no JSON', withRows(plain, [['"table":"users"', '"table"::users"']]), unreadable],
    ['no rows', withRows(plain, [['"table":"users"', '"other":"users"']]), unreadable],
  ];
  const before = contentOf(dataDir);
  for (const [name, content, message] of bad) {
    const badFile = path.join(folder, name);
    writeFileSync(badFile, content);
    const text = await refused(['restore', badFile, '--force'], withPassphrase(options));
    assert.match(text, message, name);
    assert.ok(text.includes(badFile), text);
    assert.deepEqual(contentOf(dataDir), before, name);
  }
  const wrong = { env: { ...options.env, TRAWL_BACKUP_PASSPHRASE: 'not the passphrase' } };
  assert.match(await refused(['restore', file, '--force'], wrong), /passphrase/);
  assert.match(await refused(['restore', path.join(folder, 'none'), '--force'], options), /none/);
  assert.match(await refused(['restore', file], options), /not empty.*index\.db.*--force/);
  assert.deepEqual(contentOf(dataDir), before);
  assert.match(await refused(['backup', path.join(file, 'x.gz')], options), /x\.gz/);
});

/** Starts a command and kills it as soon as `isMoment` is true; false: it ended before. */
async function killAt(
  args: readonly string[],
  options: StartOptions,
  isMoment: () => boolean,
): Promise<boolean> {
  const running = startTrawl(args, options);
  while (!running.isOver && !isMoment()) await setImmediate();
  running.child.kill('SIGKILL');
  const { code } = await running.ended;
  return code === undefined;
}

void test('a backup of an index that lacks a file says which, and the remedy', async () => {
  const { options, dataDir } = await copyInstance();
  const name = shardNames(dataDir).find((one) => one.endsWith('.shard'))!;
  rmSync(path.join(dataDir, 'shards', name));
  const folder = temporaryFolder();
  const message = await refused(['backup', path.join(folder, 'b'), '--with-index'], options);
  assert.match(
    message,
    /a file of the index cannot be read: ENOENT.*; back up without --with-index/,
  );
  assert.ok(message.includes(name));
  assert.deepEqual(readdirSync(folder), []);
});

void test('killed during a backup, or its daemon: no file of that name, and the next one works', async () => {
  const { served, options, dataDir } = await serveInstance();
  const folder = temporaryFolder();
  const file = path.join(folder, 'backup.tar.gz');
  const hasStarted = (): boolean => readdirSync(folder).length > 0;
  await killAt(['backup', file, '--with-index'], withPassphrase(options), hasStarted);
  const remaining = readdirSync(folder);
  if (remaining.includes(path.basename(file)))
    assert.equal(remaining.length, 1, 'it was done before');
  assert.equal((await usersOf(dataDir)).emails.length, USER_COUNT + 1);
  await ok(['backup', file], options);
  const other = temporaryFolder();
  const cut = ['backup', path.join(other, 'cut.tar.gz'), '--with-index'];
  const backing = startTrawl(cut, withPassphrase(options));
  while (!backing.isOver && readdirSync(other).length === 0) await setImmediate();
  await served.process.stop('SIGKILL');
  const { code, stderr } = await backing.ended;
  assert.deepEqual(readdirSync(other), code === 0 ? ['cut.tar.gz'] : []);
  assert.doesNotMatch(stderr, /^error: aborted$/m);
  const targetDir = path.join(temporaryFolder(), 'data');
  await ok(['restore', file], { env: { TRAWL_DATA_DIR: targetDir } });
  assert.equal((await usersOf(targetDir)).emails.length, USER_COUNT + 1);
});

void test('a backup onto a full disk names the file, and no part of it stays', async (t) => {
  const disk = SmallDisk.mount('16k');
  if (typeof disk === 'string') return t.skip(disk);
  const file = path.join(disk.folder, 'b');
  const parts = Readable.from([Buffer.alloc(100_000)]);
  await assert.rejects(writeBackupFile(file, temporaryFolder(), parts), {
    name: 'UsageError',
    message: `cannot write ${file}: its disk is full; free space there, or name a file on another disk`,
  });
  assert.deepEqual(readdirSync(disk.folder), []);
});

void test('interrupted during a backup: no file is left', async () => {
  const folder = temporaryFolder();
  const module = new URL('../../daemon/cli/backup-file.js', import.meta.url).href;
  const program = `const { writeBackupFile } = await import(${JSON.stringify(module)});
    async function* endless() {
      yield Buffer.from('a');
      console.error('writing');
      await new Promise((resolve) => setInterval(resolve, 2 ** 30));
    }
    await writeBackupFile(process.argv[1], ${JSON.stringify(temporaryFolder())}, endless());`;
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    const args = ['--input-type=module', '-e', program, path.join(folder, 'b.tar')];
    const backing = new Running(process.execPath, args, {});
    await backing.until(/writing/);
    assert.equal(readdirSync(folder).length, 1);
    await backing.stop(signal);
    assert.equal(backing.child.signalCode, signal);
    assert.deepEqual(readdirSync(folder), []);
  }
});

void test('killed during a restore: the state before or the complete one', async () => {
  const { options, dataDir } = await copyInstance();
  const file = path.join(temporaryFolder(), 'backup.tar.gz');
  await ok(['backup', file, '--with-index'], options);
  const expected = (await usersOf(dataDir)).stdout;
  const targetDir = path.join(temporaryFolder(), 'data');
  const target = { env: { TRAWL_DATA_DIR: targetDir } };
  await ok(['user', 'add', 'old@x.org'], target);
  let killCount = 0;
  const moments = ['lock', 'restoring/index.db', 'restoring/store.db', 'restored'];
  for (const moment of moments) {
    const isMoment = (): boolean => existsSync(path.join(targetDir, moment));
    const isKilled = await killAt(['restore', file, '--force'], target, isMoment);
    const { stdout, emails } = await usersOf(targetDir);
    if (stdout === expected) {
      assert.equal((await ok(['search', 'plum'], target)).stdout.includes('a.txt:1:plum'), true);
      assert.equal((await trawl(['verify'], target)).code, 0);
    } else assert.deepEqual(emails, ['old@x.org'], moment);
    if (isKilled) killCount++;
    const others = readdirSync(targetDir).filter((name) => name.startsWith('restor'));
    assert.deepEqual(others, [], moment);
    if (stdout === expected && !isKilled) break;
  }
  assert.ok(killCount > 0);
  await ok(['restore', file, '--force'], target);
  assert.equal((await usersOf(targetDir)).stdout, expected);
});

void test('a backup replaces no file of the data directory, no folder and no device, and follows links', async () => {
  const { dataDir, options } = await copyInstance();
  const folder = temporaryFolder();
  const { emails } = await usersOf(dataDir);
  const opened = openSync(path.join(folder, 'opened'), 'w');
  symlinkSync(path.join(dataDir, 'store.db'), path.join(folder, 'link'));
  const reasons: [string, RegExp][] = [
    [path.join(dataDir, 'store.db'), /store\.db is in the data directory/],
    [path.join(dataDir, 'new.backup'), /is in the data directory/],
    [path.join(folder, 'link'), /link is in the data directory/],
    [folder, /is a folder; name a file/],
    ['/dev/null', /is not a regular file/],
    [`/proc/${process.pid}/fd/${opened}`, /is a file that is open already; name the file itself/],
  ];
  for (const [file, reason] of reasons)
    assert.match(await refused(['backup', file], options), reason);
  assert.deepEqual((await usersOf(dataDir)).emails, emails);
  closeSync(opened);
  assert.equal(statSync(path.join(folder, 'opened')).size, 0);
  assert.equal(statSync('/dev/null').isCharacterDevice(), true);
  writeFileSync(path.join(folder, 'old'), 'old');
  symlinkSync('old', path.join(folder, 'latest'));
  await ok(['backup', path.join(folder, 'latest')], options);
  assert.equal(lstatSync(path.join(folder, 'latest')).isSymbolicLink(), true);
  assert.notEqual(readFileSync(path.join(folder, 'old'), 'utf8'), 'old');
});

void test(
  'from the embedded store to PostgreSQL and back',
  { skip: POSTGRES_MISSING },
  async (t) => {
    const postgres = await startPostgres();
    t.after(() => postgres.remove());
    const { options, key, dataDir, repo } = await copyInstance();
    const folder = temporaryFolder();
    const [there, back] = [path.join(folder, 'there'), path.join(folder, 'back')];
    await ok(['backup', there, '--with-index'], withPassphrase(options));
    const expected = (await usersOf(dataDir)).stdout;

    const database = { TRAWL_DATABASE_URL: await postgres.createDatabase() };
    const second = path.join(temporaryFolder(), 'data');
    const onPostgres = { env: { ...database, TRAWL_DATA_DIR: second } };
    await ok(['restore', there], withPassphrase(onPostgres));
    assert.equal(existsSync(path.join(second, 'store.db')), false);
    assert.equal((await usersOf(second, database)).stdout, expected);
    const again = await startApp([repo], { dataDir: second, env: database });
    const headers = { authorization: `Bearer ${key}` };
    assert.equal((await again.get('/api/repos', headers)).status, 200);
    await again.close();
    await ok(['user', 'add', 'new@x.org'], onPostgres);
    await ok(['backup', back], withPassphrase(onPostgres));

    const third = path.join(temporaryFolder(), 'data');
    mkdirSync(third);
    await ok(['restore', back], withPassphrase({ env: { TRAWL_DATA_DIR: third } }));
    const { emails } = await usersOf(third);
    assert.equal(emails.at(-1), 'new@x.org');
    assert.deepEqual(emails, (await usersOf(second, database)).emails);

    const other = path.join(temporaryFolder(), 'data');
    const onOther = { env: { ...database, TRAWL_DATA_DIR: other } };
    const full = await refused(['restore', there], withPassphrase(onOther));
    assert.match(full, /store is not empty: .*--force replaces/);
    assert.equal(existsSync(other), false);
    const forced = await ok(['restore', there, '--force'], withPassphrase(onOther));
    assert.match(forced.stderr, /replaced: the PostgreSQL store/);
    assert.equal((await usersOf(other, database)).stdout, expected);
  },
);

/** Flags and variables of a daemon that lists a host. */
function connectedTo(host: CodeHost) {
  const config = path.join(temporaryFolder(), 'trawl.json');
  const acme = { type: 'github', url: host.url, orgs: ['acme'], token: { env: 'HOST_TOKEN' } };
  writeFileSync(config, JSON.stringify({ connections: { acme } }));
  const env = { HOST_TOKEN: 'ghp_x', TRAWL_ANONYMOUS_ACCESS: 'true' };
  return { flags: ['--config', config], env };
}

async function files(url: string): Promise<number> {
  return (await post(url, { query: 'plum' })).body.files?.length ?? 0;
}

/** A data directory with a clone of the only repository of a host, its index, and how to serve it. */
const cloned = once(async () => {
  const host = await CodeHost.start();
  host.add('one', { 'a.txt': 'plum\n' });
  const options = connectedTo(host);
  const dataDir = path.join(temporaryFolder(), 'data');
  const served = await serve(dataDir, [], options);
  await eventually(async () => (await files(served.url)) === 1);
  const file = path.join(temporaryFolder(), 'backup.tar.gz');
  const { stderr } = await ok(['backup', file, '--with-index', '--data-dir', dataDir], {});
  await served.process.stop();
  return { host, options, dataDir, file, stderr };
});

void test('clones are left out, which is said, and fetched again; without their host the index is searched', async () => {
  const { host, options, file, stderr } = await cloned();
  assert.match(stderr, /clones of hosted repositories are left out; after a restore the daemon/);
  const start = (dataDir: string) => serve(dataDir, [], options);
  const reads = async (url: string, what: string): Promise<number> =>
    (await get(`${url}/api/${what}repo=${host.nameOf('one')}`)).status;

  const restore = async (): Promise<string> => {
    const target = path.join(temporaryFolder(), 'data');
    const said = await ok(['restore', file, '--data-dir', target], {});
    assert.match(
      said.stderr,
      /^note: 1 clone must be fetched again by the next start; until then/m,
    );
    assert.equal(existsSync(path.join(target, 'clones')), false);
    return target;
  };
  const again = await start(await restore());
  await eventually(async () => (await reads(again.url, 'source?path=a.txt&')) === 200);
  assert.equal(await reads(again.url, 'commits?'), 200);
  assert.equal(await files(again.url), 1);
  await again.process.stop();

  host.stop();
  const alone = await start(await restore());
  assert.equal(await files(alone.url), 1);
  for (const what of ['source?path=a.txt&', 'commits?', 'commits/authors?'])
    assert.equal(await reads(alone.url, what), 404, what);
  await alone.process.stop();
});

void test('a restore keeps the clones of its repositories, and removes those of another instance', async () => {
  const { host, dataDir, file } = await cloned();
  const { dataDir: other } = await copyInstance();
  for (const name of ['1.git', '1.json'])
    cpSync(path.join(dataDir, 'clones', name), path.join(other, 'clones', name), {
      recursive: true,
    });
  const stamp = path.join(other, 'clones/1.json');
  const { host: address } = new URL(host.url);
  writeFileSync(stamp, readFileSync(stamp, 'utf8').replaceAll(address, 'host.example'));
  for (const target of [dataDir, other]) {
    const { stderr } = await ok(['restore', file, '--force', '--data-dir', target], {});
    assert.equal(/1 clone must be fetched again/.test(stderr), target === other, stderr);
  }
  assert.deepEqual(readdirSync(path.join(dataDir, 'clones')).sort(), ['1.git', '1.json']);
  assert.deepEqual(readdirSync(path.join(other, 'clones')), []);
});
