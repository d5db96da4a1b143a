// The operator commands: users, keys, grants, licence and audit records, on an unused data directory and through the
// socket of a running daemon. Both send the same requests, so most are tested through the daemon.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { userInfo } from 'node:os';
import path from 'node:path';
import test from 'node:test';
import { readCatalog } from '../../daemon/app/read-catalog.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { eventually, get, index, serve, serveIndexed, startTrawl, trawl } from './daemon.ts';
import type { Outcome, Served } from './daemon.ts';
import { POSTGRES_MISSING, startPostgres } from '../store/postgres-server.ts';

interface UserView {
  readonly id: string;
  readonly email: string;
  readonly name: string | null;
  readonly role: string;
  readonly suspendedAt: string | null;
  readonly requestsPerDay: number | string | null;
}

const LINK = /^http:\/\/localhost:\d+\/setup\?token=[0-9a-f]{64}\n$/;
const KEY = /^svk_[0-9a-f]{64}\n$/;

class OperatorApi {
  readonly dataDir: string;
  readonly #env: Readonly<Record<string, string>>;

  constructor(dataDir: string, env: Readonly<Record<string, string>> = {}) {
    this.dataDir = dataDir;
    this.#env = env;
  }

  run(args: readonly string[], input?: string): Promise<Outcome> {
    const env = { ...this.#env, TRAWL_DATA_DIR: this.dataDir };
    return trawl(args, { env, ...(input === undefined ? {} : { input }) });
  }

  /** Standard output of a command that must succeed. */
  async ok(args: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, input);
    assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
    return stdout;
  }

  /** What standard error says of a command that must be refused. */
  async refused(args: readonly string[], input?: string): Promise<string> {
    const { code, stdout, stderr } = await this.run(args, input);
    assert.equal(code, 2, args.join(' '));
    assert.equal(stdout, '');
    return stderr;
  }

  async rows<Row>(args: readonly string[]): Promise<Row[]> {
    const lines = (await this.ok([...args, '--json'])).split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as Row);
  }

  async user(email: string): Promise<UserView> {
    const [user] = await this.rows<UserView>(['user', 'show', email]);
    assert.ok(user);
    return user;
  }
}

async function changeUsers(operator: OperatorApi): Promise<void> {
  assert.match(
    await operator.refused(['user', 'add', 'a@x.org', '--role', 'member']),
    /first user/,
  );
  assert.match(await operator.ok(['user', 'add', ' Ada@X.org'.trim(), '--name', 'Ada']), LINK);
  const secondAdd = ['user', 'add', 'bob@x.org', '--password-stdin'];
  assert.match(await operator.refused(secondAdd, 'short\n'), /password/);
  assert.match(await operator.refused(secondAdd, ''), /nothing/);
  assert.equal(await operator.ok(secondAdd, 'correct horse\n'), '');
  assert.match(await operator.refused(secondAdd, 'correct horse\n'), /bob@x\.org/);
  assert.match(
    await operator.refused(['user', 'add', 'nobody']),
    /email: expected an e-mail address, not "nobody"/,
  );
  const users = await operator.rows<UserView>(['user', 'list']);
  assert.deepEqual(
    users.map(({ email, role, name }) => [email, role, name]),
    [
      ['ada@x.org', 'OWNER', 'Ada'],
      ['bob@x.org', 'MEMBER', null],
    ],
  );
  const table = await operator.ok(['user', 'list']);
  assert.match(
    table,
    /^email .*\nada@x\.org +Ada +owner +active +default .*\nbob@x\.org +- +member/,
  );
  assert.match(await operator.refused(['user', 'suspend', 'ada@x.org']), /last active owner/);
  assert.match(await operator.refused(['user', 'role', 'ada@x.org', 'member']), /last/);
  assert.match(await operator.refused(['user', 'remove', 'ada@x.org']), /last/);
  await operator.ok(['user', 'role', 'bob@x.org', 'owner']);
  await operator.ok(['user', 'suspend', 'ada@x.org']);
  assert.notEqual((await operator.user('ada@x.org')).suspendedAt, null);
  await operator.ok(['user', 'restore', 'ADA@x.org']);
  assert.equal((await operator.user('ada@x.org')).suspendedAt, null);
  for (const [text, value] of [
    ['12', 12],
    ['unlimited', 'unlimited'],
    ['0', 0],
    ['default', null],
  ] as const) {
    await operator.ok(['user', 'limit', 'bob@x.org', text]);
    assert.equal((await operator.user('bob@x.org')).requestsPerDay, value);
  }
  assert.match(
    await operator.refused(['user', 'limit', 'bob@x.org', '-1']),
    /unlimited|unknown option/,
  );
  assert.match(await operator.ok(['user', 'password', 'bob@x.org']), LINK);
  assert.equal(
    await operator.ok(['user', 'password', 'bob@x.org', '--password-stdin'], 'longer one'),
    '',
  );
  assert.equal(await operator.ok(['user', 'unlink', 'bob@x.org']), '');
  assert.match(await operator.refused(['user', 'unlink', 'eve@x.org']), /eve@x\.org/);
  assert.match(await operator.refused(['user', 'show', 'eve@x.org']), /eve@x\.org/);
  await operator.ok(['user', 'add', 'eve@x.org']);
  await operator.ok(['user', 'remove', 'eve@x.org']);
  assert.match(await operator.refused(['user', 'remove', 'eve@x.org']), /eve@x\.org/);
}

async function changeKeys(operator: OperatorApi): Promise<string> {
  const value = await operator.ok(['key', 'create', '--user', 'bob@x.org', '--name', 'ci']);
  assert.match(value, KEY);
  const again = await operator.refused(['key', 'create', '--user', 'bob@x.org', '--name', 'ci']);
  assert.match(again, /ci/);
  await operator.ok(['key', 'create', '--user', 'ada@x.org', '--name', 'x']);
  const list = (): Promise<Record<'id' | 'email' | 'name' | 'state', string>[]> =>
    operator.rows(['key', 'list']);
  await operator.ok(['user', 'suspend', 'bob@x.org']);
  assert.deepEqual(
    (await list()).map(({ state }) => state),
    ['suspended', 'active'],
  );
  await operator.ok(['user', 'restore', 'bob@x.org']);
  const all = await list();
  assert.deepEqual(
    all.map(({ email, name, state }) => [email, name, state]),
    [
      ['bob@x.org', 'ci', 'active'],
      ['ada@x.org', 'x', 'active'],
    ],
  );
  assert.equal(JSON.stringify(all).includes('svk_'), false);
  await operator.ok(['key', 'revoke', all[1]?.id ?? '']);
  assert.match(await operator.refused(['key', 'revoke', 'none']), /none/);
  assert.equal((await operator.rows(['key', 'list', '--user', 'ada@x.org'])).length, 0);
  return value.trim();
}

async function changeLicence(operator: OperatorApi, folder: string): Promise<void> {
  const file = path.join(folder, 'license.jwt');
  assert.match(await operator.refused(['license', 'set', '-'], 'no licence'), /invalid/);
  assert.match(await operator.ok(['license', 'show']), /^state: +none$/m);
  assert.match(await operator.ok(['license', 'set', file]), /^entitlements: +permissions$/m);
  assert.equal((await operator.rows<{ state: string }>(['license', 'show']))[0]?.state, 'valid');
  assert.match(await operator.ok(['license', 'remove']), /^state: +none$/m);
  assert.match(await operator.ok(['license', 'set', '-'], readFileSync(file, 'utf8')), /valid/);
}

async function changeGrants(operator: OperatorApi, repo: string): Promise<void> {
  assert.match(await operator.refused(['grant', 'add', 'ada@x.org', repo, 'no/repo']), /no\/repo/);
  assert.match(await operator.refused(['grant', 'add', 'eve@x.org', repo]), /eve@x\.org/);
  assert.deepEqual(await operator.rows(['grant', 'list']), []);
  const added = await operator.run(['grant', 'add', 'ada@x.org', repo]);
  assert.match(added.stderr, /1 grant added\n$/);
  const grant = { email: 'ada@x.org', repo, repoId: 1, source: 'store' };
  for (const filter of [[], ['--user', 'ada@x.org'], ['--repo', repo]])
    assert.deepEqual(await operator.rows(['grant', 'list', ...filter]), [grant]);
  assert.deepEqual(await operator.rows(['grant', 'list', '--user', 'bob@x.org']), []);
  await operator.ok(['grant', 'remove', 'ada@x.org', repo]);
  assert.deepEqual(await operator.rows(['grant', 'list']), []);
}

interface AuditRow {
  readonly action: string;
  readonly actorId: string;
  readonly timestamp: string;
  readonly metadata: Readonly<Record<string, unknown>> | null;
}

/** Records of people and keys that are gone must say who it was. */
const DESCRIBED_ACTIONS = /^(org\.member_|user\.delete$|api_key\.created$)/;

async function readAudit(operator: OperatorApi, repo: string): Promise<void> {
  const rows = await operator.rows<AuditRow>(['audit']);
  const actions = new Set(rows.map(({ action }) => action));
  for (const action of [
    'org.member_added',
    'org.member_removed',
    'org.member_deactivated',
    'user.creation_failed',
    'org.member_reactivated',
    'org.member_promoted_to_owner',
    'api_key.created',
    'user.list',
    'api_key.deleted',
    'api_key.deletion_failed',
    'license.changed',
    'grant.added',
    'grant.removed',
  ])
    assert.ok(actions.has(action), action);
  for (const { action, metadata } of rows)
    if (DESCRIBED_ACTIONS.test(action))
      assert.match(String(metadata?.['email']), /@x\.org$/, action);
  assert.deepEqual([...new Set(rows.map(({ actorId }) => actorId))], ['operator']);
  // Repositories come in by themselves.
  const requested = rows.filter(({ action }) => action !== 'settings.changed');
  const accounts = new Set(requested.map(({ metadata }) => metadata?.['account']));
  for (const action of ['grant.added', 'grant.removed']) {
    const { metadata } = rows.find((row) => row.action === action)!;
    const { email, repoIds, repoCount } = metadata ?? {};
    assert.deepEqual([email, repoIds, repoCount], ['ada@x.org', [1], 1]);
  }
  assert.deepEqual([...accounts], [userInfo().username]);
  const times = rows.map(({ timestamp }) => timestamp);
  assert.deepEqual(times, times.toSorted().reverse());
  const middle = times[Math.floor(times.length / 2)] ?? '';
  const since = await operator.rows<AuditRow>(['audit', '--since', middle]);
  const until = await operator.rows<AuditRow>(['audit', '--until', middle]);
  assert.deepEqual(
    until,
    rows.filter(({ timestamp }) => timestamp < middle),
  );
  assert.deepEqual(
    since.filter(({ timestamp }) => timestamp <= (times[0] ?? '')),
    rows.filter(({ timestamp }) => timestamp >= middle),
  );
  assert.match(
    await operator.refused(['audit', '--since', '2030-01-01', '--until', '2029-01-01']),
    /2030/,
  );
  assert.match(await operator.ok(['audit']), /^timestamp +action +actor/);
  await readAuditOf(operator, repo);
}

/** What may have changed who sees a repository: what names it, and what concerns all. */
async function readAuditOf(operator: OperatorApi, repo: string): Promise<void> {
  const own = await operator.rows<AuditRow>(['audit', '--repo', repo]);
  const other = await operator.rows<AuditRow>(['audit', '--repo', 'local/none']);
  const note = /note: no record names (\S+): "trawl repo list" lists the names\n$/;
  const named = await operator.run(['audit', '--repo', repo]);
  assert.doesNotMatch(named.stderr, note);
  assert.match((await operator.run(['audit', '--repo', 'local/none'])).stderr, note);
  const actionsOf = (rows: readonly AuditRow[]): string[] => rows.map(({ action }) => action);
  const actions = ['grant.removed', 'grant.added'];
  assert.deepEqual(
    actionsOf(own).filter((action) => action.startsWith('grant.')),
    actions,
  );
  const isOfRepo = ({ action, metadata }: AuditRow): boolean =>
    action === 'settings.changed' && metadata?.['to'] !== undefined;
  assert.ok(own.some(isOfRepo) && !other.some(isOfRepo));
  assert.equal(
    actionsOf(other).some((action) => /^(grant|api_key)\./.test(action)),
    false,
  );
  for (const action of ['org.member_removed', 'license.changed'])
    assert.ok(actionsOf(own).includes(action) && actionsOf(other).includes(action), action);
}

/** A key pair and a licence made with it; returns the variables that make it count. */
async function makeLicence(folder: string): Promise<Record<string, string>> {
  const keyFile = path.join(folder, 'key.pem');
  const publicKey = (await trawl(['license', 'keygen', keyFile])).stdout.trim();
  const options = ['--entitlement', 'permissions', '--expires', '1d'];
  const { stdout } = await trawl(['license', 'issue', '--key', keyFile, ...options]);
  writeFileSync(path.join(folder, 'license.jwt'), stdout);
  return { TRAWL_LICENSE_PUBLIC_KEY: publicKey };
}

async function searchStatus({ url }: Served, key: string): Promise<number> {
  return (await get(`${url}/api/repos`, { authorization: `Bearer ${key}` })).status;
}

void test('without a daemon: all commands work, and a later daemon has their results', async () => {
  const folder = temporaryFolder();
  const env = await makeLicence(folder);
  const operator = new OperatorApi(path.join(folder, 'data'), env);
  assert.match(await operator.refused(['user', 'list']), /no data directory/);
  assert.equal(existsSync(operator.dataDir), false);
  assert.match(await operator.ok(['user', 'add', 'Ada@X.org', '--name', 'Ada']), LINK);
  await operator.ok(['user', 'add', 'bob@x.org', '--password-stdin'], 'correct horse\n');
  assert.equal(readFileSync(path.join(operator.dataDir, '.gitignore'), 'utf8'), '*\n');
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  await operator.ok(['index', repo]);
  const key = await operator.ok(['key', 'create', '--user', 'bob@x.org', '--name', 'ci']);
  await operator.ok(['license', 'set', path.join(folder, 'license.jwt')]);
  await operator.ok(['grant', 'add', 'ada@x.org', `local/${path.basename(repo)}`]);
  const served = await serveIndexed(operator.dataDir, [repo], { env });
  assert.equal(served.process.stderr.includes('Set up the owner'), false);
  assert.equal(await searchStatus(served, key.trim()), 200);
  await served.process.stop();
});

void test('a folder with other files is no data directory, and stays as it was', async () => {
  const folder = makeRepo({ 'a.txt': 'plum\n' });
  const before = readdirSync(folder);
  const operator = new OperatorApi(folder);
  const commands = [['user', 'list'], ['status'], ['user', 'add', 'a@x.org'], ['backup', '/no/b']];
  for (const command of commands)
    assert.match(await operator.refused(command), /is no data directory: it has other files/);
  const indexed = await operator.refused(['index', folder]);
  assert.match(indexed, new RegExp(`${folder} is the data directory, or in it`));
  assert.deepEqual(readdirSync(folder), before);
});

void test('with a daemon: all commands work, and apply from the next request on', async () => {
  const folder = temporaryFolder();
  const env = await makeLicence(folder);
  const operator = new OperatorApi(path.join(folder, 'data'), env);
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const served = await serveIndexed(operator.dataDir, [repo], { env });
  const socket = path.join(operator.dataDir, 'control.sock');
  assert.equal(statSync(socket).mode & 0o777, 0o600);
  await changeUsers(operator);
  const key = await changeKeys(operator);
  await changeLicence(operator, folder);
  await changeGrants(operator, `local/${path.basename(repo)}`);
  await readAudit(operator, `local/${path.basename(repo)}`);
  assert.equal(await searchStatus(served, key), 200);
  assert.match(await operator.refused(['user', 'suspend', 'bob@x.org']), /last active owner/);
  await operator.ok(['key', 'create', '--user', 'ada@x.org', '--name', 'y']);
  await operator.ok(['user', 'suspend', 'bob@x.org']);
  assert.equal(await searchStatus(served, key), 401);
  await operator.ok(['user', 'restore', 'bob@x.org']);
  assert.equal(await searchStatus(served, key), 200);
  await operator.ok(['user', 'remove', 'bob@x.org']);
  assert.equal(await searchStatus(served, key), 401);
  const ended = await served.process.stop();
  assert.equal(ended.code, 0);
  assert.equal(existsSync(socket), false);
  // What is printed without a daemon names the address of the last one.
  const printed = await operator.ok(['user', 'add', 'last@x.org']);
  assert.ok(printed.startsWith(`${served.url}/setup?token=`), printed);
});

void test('the socket left by a killed daemon blocks nothing', async () => {
  const operator = new OperatorApi(path.join(temporaryFolder(), 'data'));
  const first = await serveIndexed(operator.dataDir, [makeRepo({ 'a.txt': 'plum\n' })]);
  await first.process.stop('SIGKILL');
  assert.equal(existsSync(path.join(operator.dataDir, 'control.sock')), true);
  await operator.ok(['user', 'add', 'ada@x.org']);
  const second = await serveIndexed(operator.dataDir, [makeRepo({ 'a.txt': 'plum\n' })]);
  assert.equal((await operator.rows(['user', 'list'])).length, 1);
  await second.process.stop();
});

void test('a failed job is reported to the operator and to owners, with its reason', async () => {
  const operator = new OperatorApi(path.join(temporaryFolder(), 'data'));
  const [valid, broken] = [makeRepo({ 'a.txt': 'plum\n' }), makeRepo({ 'b.txt': 'pear\n' })];
  const owner = `svk_${'b2'.repeat(32)}`;
  const env = { TRAWL_OWNER_EMAIL: 'o@x.org', TRAWL_OWNER_API_KEY: owner };
  const options = { env, flags: ['--mode', 'commits', '--anonymous'] };
  await index(operator.dataDir, [valid, broken], ['--mode', 'commits']);
  rmSync(path.join(broken, '.git', 'objects'), { recursive: true });
  const missing = path.join(temporaryFolder(), 'missing');
  const served = await serve(operator.dataDir, [valid, broken, missing], options);
  await served.process.until(/ indexing failed /, 2);
  const names = [broken, missing].map((one) =>
    one === missing ? one : `local/${path.basename(one)}`,
  );
  const ready = async (headers: Record<string, string>): Promise<{ degraded?: string[] }> =>
    (await get<object>(`${served.url}/api/ready`, headers)).body;
  await eventually(async () => {
    const { degraded = [] } = await ready({ authorization: `Bearer ${owner}` });
    return names.every((name) =>
      degraded.some((one) => one.startsWith(`${name} could not be indexed: `)),
    );
  });
  assert.deepEqual(await ready({}), { status: 'ready' });
  const rows = (await operator.rows(['repo', 'list'])) as {
    repo: string;
    failure: string | null;
  }[];
  const failures = new Map(rows.map(({ repo, failure }) => [repo, failure]));
  assert.equal(failures.get(`local/${path.basename(valid)}`), null);
  assert.match(failures.get(names[0]!) ?? '', /./);
  await served.process.stop();
});

void test('a data directory with a long path: the socket is in a private folder elsewhere', async () => {
  const operator = new OperatorApi(path.join(temporaryFolder(), 'x'.repeat(120), 'data'));
  mkdirSync(operator.dataDir, { recursive: true });
  const served = await serveIndexed(operator.dataDir, [makeRepo({ 'a.txt': 'plum\n' })]);
  const socket = readFileSync(path.join(operator.dataDir, 'control.path'), 'utf8').trim();
  assert.equal(statSync(socket).mode & 0o777, 0o600);
  assert.equal(statSync(path.dirname(socket)).mode & 0o777, 0o700);
  await operator.ok(['user', 'add', 'ada@x.org']);
  assert.equal((await operator.rows(['user', 'list'])).length, 1);
  await served.process.stop();
  assert.equal(existsSync(path.dirname(socket)), false);
  assert.equal((await operator.rows(['user', 'list'])).length, 1);
});

void test('commands during start and shutdown of the daemon wait for it', async () => {
  const operator = new OperatorApi(path.join(temporaryFolder(), 'data'));
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const env = { TRAWL_DATA_DIR: operator.dataDir };
  const starting = startTrawl(['serve', '--port', '0', repo], { env });
  // Processes of their own: beside each other.
  const add = async (names: readonly string[]): Promise<void> => {
    const running = names.map((name) => startTrawl(['user', 'add', `${name}@x.org`], { env }));
    for (const { ended } of running) {
      const { code, stderr } = await ended;
      assert.equal(code, 0, stderr);
    }
  };
  await add(['u0', 'u1', 'u2']);
  await starting.until(/^Serving on /m);
  const adding = add(['u3', 'u4']);
  await starting.stop();
  await adding;
  assert.equal((await operator.rows(['user', 'list'])).length, 5);
});

void test('visibility and enforcement of sources given as arguments', async () => {
  const operator = new OperatorApi(path.join(temporaryFolder(), 'data'));
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const kept = async (): Promise<{ visibility?: string; enforcement?: string }> => {
    const catalog = await readCatalog(operator.dataDir);
    const { visibility, enforcement } = catalog.repos[0]?.record ?? {};
    return { ...(visibility && { visibility }), ...(enforcement && { enforcement }) };
  };
  await operator.ok(['index', repo]);
  assert.deepEqual(await kept(), { visibility: 'unknown' });
  await operator.ok(['index', repo, '--visibility', 'private', '--enforce-permissions']);
  assert.deepEqual(await kept(), { visibility: 'private', enforcement: 'restricted' });
  await operator.ok(['index', repo, '--force']);
  assert.deepEqual(await kept(), { visibility: 'private', enforcement: 'restricted' });
  const enforced = ['--enforce-permissions', '--enforce-permissions-for-public-repos'];
  await operator.ok(['index', '--visibility', 'public', ...enforced]);
  assert.deepEqual(await kept(), { visibility: 'public', enforcement: 'all' });
  assert.match(
    await operator.refused(['index', repo, enforced[1] ?? '']),
    /requires --enforce-permissions/,
  );
  await operator.ok(['user', 'add', 'ada@x.org']);
  await operator.ok(['user', 'add', 'bob@x.org']);
  const key = (await operator.ok(['key', 'create', '--user', 'bob@x.org', '--name', 'x'])).trim();
  let warnings: readonly string[] = [];
  const listed = async (flags: readonly string[]): Promise<number> => {
    const served = await serveIndexed(operator.dataDir, [repo], { flags });
    const headers = { authorization: `Bearer ${key}` };
    const { body } = await get<unknown[]>(`${served.url}/api/repos`, headers);
    const { stderr } = await served.process.stop();
    warnings = stderr.match(/^.* WARN .*no longer enforced.*$/gm) ?? [];
    return body.length;
  };
  await operator.ok(['index', '--enforce-permissions']);
  assert.equal(await listed(['--visibility', 'private']), 0);
  assert.deepEqual(warnings, []);
  assert.equal(await listed(['--no-enforce-permissions']), 1);
  assert.equal(warnings.length, 1);
  const records = (await operator.rows<Record<string, unknown>>(['audit'])).filter(
    ({ action }) => action === 'settings.changed',
  );
  const repos = [`local/${path.basename(repo)}`];
  const rules = [
    null,
    { visibility: 'unknown', enforcement: 'none' },
    { visibility: 'private', enforcement: 'restricted' },
    { visibility: 'public', enforcement: 'all' },
    { visibility: 'public', enforcement: 'restricted' },
    { visibility: 'private', enforcement: 'restricted' },
    { visibility: 'private', enforcement: 'none' },
  ];
  assert.deepEqual(
    records.map(({ actorId, metadata }) => ({ actorId, metadata })).reverse(),
    rules.slice(1).map((to, index) => ({
      actorId: 'operator',
      metadata: { from: rules[index], to, repoIds: [1], repos, repoCount: 1 },
    })),
  );
});

void test(
  'daemons on one store: a repository is removed only where it is indexed',
  { skip: POSTGRES_MISSING },
  async () => {
    const server = await startPostgres();
    const env = { TRAWL_DATABASE_URL: await server.createDatabase() };
    const [one, other] = ['a', 'b'].map((name) => {
      const operator = new OperatorApi(path.join(temporaryFolder(), 'data'), env);
      const source = path.join(temporaryFolder(), name);
      mkdirSync(source);
      writeFileSync(path.join(source, 'a.txt'), 'plum\n');
      return { operator, source };
    }) as [{ operator: OperatorApi; source: string }, { operator: OperatorApi; source: string }];
    for (const { operator, source } of [one, other]) await operator.ok(['index', source]);
    const names = async () =>
      (await other.operator.rows<{ repo: string }>(['repo', 'list'])).map(({ repo }) => repo);
    const remove = ['repo', 'remove', 'local/b'];
    assert.match(await one.operator.refused(remove), /local\/b is not in this index/);
    assert.deepEqual(await names(), ['local/a', 'local/b']);
    await other.operator.ok(remove);
    assert.deepEqual(await names(), ['local/a']);
    await server.remove();
  },
);
