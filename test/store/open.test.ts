// Opening the store: what is created, what is refused and with which message, on both engines.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import Libsql from 'libsql';
import { openStore, type Store } from '../../daemon/store/store.ts';
import { messageOf } from '../../daemon/base/caught.ts';
import { createLog } from '../../daemon/base/log.ts';
import { SmallDisk } from '../sync/small-disk.ts';
import { SECOND_FORM } from './former-form.ts';
import type { Location } from './harness.ts';
import { newUser, onBothEngines, onEmbedded, onPostgres, refuses } from './harness.ts';

const PASSWORD = 'correct-horse';

function fileOf(location: Location): string {
  return path.join(location.dataDir, 'store.db');
}

onBothEngines('opening', (world) => {
  const { within } = world;

  async function runSql(location: Location, text: string): Promise<void> {
    if (location.databaseUrl === undefined) {
      const file = new Libsql(fileOf(location));
      file.exec(text);
      file.close();
    } else await world.server?.run(location.databaseUrl, text);
  }

  test('a store of the second version keeps its counts', () =>
    within(async (location) => {
      await (await location.open()).close();
      for (const text of SECOND_FORM) await runSql(location, text);
      const store = await location.open();
      assert.equal(await store.usage.read('u', '2026-06-01'), 7);
      const request = { userId: 'u', day: '2026-06-01', uncounted: 0, need: 5, limit: 10 };
      assert.deepEqual(await store.usage.count([request]), [{ used: 10, admitted: 3 }]);
    }));

  test('a store of a newer version is refused and left unchanged', () =>
    within(async (location) => {
      const store = await location.open();
      const { id } = await newUser(store);
      await store.close();
      const run = (text: string): Promise<void> => runSql(location, text);
      await run(`INSERT INTO trawl_migrations VALUES ('9999', '2026-01-01T00:00:00.000Z')`);
      const error = await refuses(location.open(), 'NOT_READY');
      assert.match(
        error.message,
        /newer version of Trawl: .* 9999.* 0010; .*install the newer.*trawl restore/,
      );
      await run(`DELETE FROM trawl_migrations WHERE name = '9999'`);
      assert.notEqual(await (await location.open()).users.get(id), undefined);
    }));

  test('a closed store refuses calls, and can be closed again', () =>
    within(async (location) => {
      const store = await location.open();
      const running = newUser(store);
      const closing = store.close();
      await refuses(store.users.list(), 'NOT_READY');
      await closing;
      await store.close();
      assert.equal((await running).role, 'MEMBER');
      await refuses(store.ping(), 'NOT_READY');
      const again = await location.open();
      await again.ping();
      assert.equal(await again.users.count(), 1);
    }));
});

test('an earlier version on a full disk: refused without loss, migrated once there is space', async (t) => {
  const disk = SmallDisk.mount('8m');
  if (typeof disk === 'string') {
    t.skip(disk);
    return;
  }
  const log = createLog({ level: 'error', format: 'text', write: () => {} });
  const open = (): Promise<Store> => openStore({ dataDir: disk.folder, log });
  const first = await open();
  const { id } = await newUser(first);
  await first.close();
  const inFile = (run: (file: Libsql.Database) => unknown): unknown => {
    const file = new Libsql(path.join(disk.folder, 'store.db'));
    try {
      return run(file);
    } finally {
      file.close();
    }
  };
  for (const text of SECOND_FORM) inFile((file) => file.exec(text));
  const formOf = (): unknown =>
    inFile(
      (file) =>
        (file.prepare(`SELECT max(name) AS form FROM trawl_migrations`).get() as { form: string })
          .form,
    );
  const before = formOf();
  let refused = 0;
  for (let pagesRemaining = 0; ; pagesRemaining++) {
    disk.fill(pagesRemaining);
    const opened = await open().catch((error: unknown) => messageOf(error));
    disk.clear();
    if (typeof opened !== 'string') {
      await opened.close();
      break;
    }
    assert.match(opened, /the disk is full/);
    assert.deepEqual(formOf(), before);
    refused++;
  }
  assert.ok(refused > 10, String(refused));
  assert.notDeepEqual(formOf(), before);
  const store = await open();
  assert.equal(await store.usage.read('u', '2026-06-01'), 7);
  assert.notEqual(await store.users.get(id), undefined);
  await store.close();
});

const NOT_ROOT = process.getuid?.() !== 0 && 'only root can become another user';

onEmbedded('opening the file', ({ within }) => {
  test('the database files are private to their owner', () =>
    within(async (location) => {
      const file = fileOf(location);
      const modes = () => ['', '-wal', '-shm'].map((end) => statSync(file + end).mode & 0o777);
      const mask = process.umask(0);
      try {
        const store = await location.open();
        await newUser(store);
        assert.deepEqual(modes(), [0o600, 0o600, 0o600]);
        await store.close();
        chmodSync(file, 0o644);
        await newUser(await location.open());
        assert.deepEqual(modes(), [0o600, 0o600, 0o600]);
      } finally {
        process.umask(mask);
      }
    }));

  test('a file of another user is named, with the remedy', { skip: NOT_ROOT }, () =>
    within(async (location) => {
      await (await location.open()).close();
      // The file alone is out of reach.
      for (const folder of [location.dataDir, path.dirname(location.dataDir)])
        chmodSync(folder, 0o755);
      const module = new URL('../../daemon/store/sqlite.js', import.meta.url).href;
      const program = `const one = await import(${JSON.stringify(module)});
        process.setuid(65_534);
        for (const open of [one.createFile, one.connectReadOnly])
          try { open(${JSON.stringify(fileOf(location))}) } catch (error) { console.log(error.message) }`;
      const { stdout } = spawnSync(process.execPath, ['--input-type=module', '-e', program]);
      const lines = String(stdout).trim().split('\n');
      assert.equal(lines.length, 2);
      for (const line of lines)
        assert.match(
          line,
          /is not open to this user \(EACCES: .*store\.db'\); run this as its owner/,
        );
    }),
  );

  test('after closing, the file alone has everything', () =>
    within(async (location) => {
      const content = await filledWith(location, 50);
      await within(async (copy) => {
        writeFileSync(fileOf(copy), content);
        assert.equal(await (await copy.open()).users.count(), 50);
      });
    }));

  test('a damaged file is refused by name', () =>
    within(async (location) => {
      const whole = await filledWith(location, 500);
      const damages: [string, () => void][] = [
        ['other content', () => writeFileSync(fileOf(location), 'x'.repeat(20_000))],
        ['a broken header', () => writeFileSync(fileOf(location), damaged(whole, 0, 100))],
        ['a broken schema', () => writeFileSync(fileOf(location), damaged(whole, 100, 4_000))],
        [
          'a name in the schema that is no text',
          () => {
            const text = whole.toString('latin1').replaceAll('CREATE TABLE ', 'CREATE TABLE\u00ff');
            writeFileSync(fileOf(location), text, 'latin1');
          },
        ],
        [
          'an e-mail address that is no text',
          () => {
            const text = whole.toString('latin1').replaceAll(/u(?=\d+@example)/g, '\u00ff');
            assert.notEqual(text, whole.toString('latin1'));
            writeFileSync(fileOf(location), text, 'latin1');
          },
        ],
        [
          'a folder',
          () => mkdirSync(path.join(location.dataDir, 'folder', 'store.db'), { recursive: true }),
        ],
      ];
      for (const [what, damage] of damages) {
        damage();
        const dataDir =
          what === 'a folder' ? path.join(location.dataDir, 'folder') : location.dataDir;
        const error = await refuses(location.open({ dataDir }), 'NOT_READY');
        assert.ok(
          error.message.includes(path.join(dataDir, 'store.db')),
          `${what}: ${error.message}`,
        );
        if (what !== 'a folder') assert.match(error.message, / is damaged.*"trawl restore"/, what);
        if (what.includes('e-mail'))
          assert.match(error.message, /table users holds text in column email that is not UTF-8/);
      }
      writeFileSync(fileOf(location), whole);
      assert.equal(await (await location.open()).users.count(), 500);
    }));

  test('an empty file is refused beside an index, and is a new store without one', () =>
    within(async (location) => {
      writeFileSync(fileOf(location), '');
      const index = path.join(location.dataDir, 'index.db');
      writeFileSync(index, '{}');
      const error = await refuses(location.open(), 'NOT_READY');
      assert.match(error.message, /store\.db is damaged: it is empty; .*"trawl restore"/);
      rmSync(index);
      assert.equal(await (await location.open()).users.count(), 0);
    }));

  test('invalid JSON in a column is damage, named with the column', () =>
    within(async (location) => {
      await filledWith(location, 1);
      const change = (text: string): void => {
        const file = new Libsql(fileOf(location));
        file.exec(text);
        file.close();
      };
      change(
        "insert into repos (id, name, visibility, enforcement, place) values (1, 'a', 'private', 'all', '{\"kind\"#1}')",
      );
      const error = await refuses(location.open(), 'NOT_READY');
      assert.ok(error.message.startsWith(fileOf(location)), error.message);
      assert.match(
        error.message,
        / is damaged: table repos holds text in column place that is not JSON; .*"trawl restore"/,
      );
      change(`update repos set place = '{"kind":"folder","path":"/a"}'`);
      assert.equal((await (await location.open()).repos.read()).repos.length, 1);
    }));

  test('each JSON column of the schema is checked', () =>
    within(async (location) => {
      const columns = jsonColumns();
      assert.ok(columns.includes('jobs.lines'));
      const whole = await filledWith(location, 1);
      for (const name of columns) {
        // Elsewhere each time: what was refused is held for a while.
        const dataDir = path.join(location.dataDir, name);
        mkdirSync(dataDir);
        writeFileSync(path.join(dataDir, 'store.db'), whole);
        const file = new Libsql(path.join(dataDir, 'store.db'));
        file.exec(`PRAGMA foreign_keys = OFF; ${insertionOf(file, name, '{"kind"#1}')}`);
        file.close();
        const [table, column] = name.split('.');
        const error = await refuses(location.open({ dataDir }), 'NOT_READY');
        assert.ok(
          error.message.includes(`table ${table} holds text in column ${column} that is not JSON`),
          `${name}: ${error.message}`,
        );
      }
    }));

  test('a pipe in place of the store is not waited for, and unreadable neighbouring files are named', () =>
    within(async (location) => {
      const whole = await filledWith(location, 1);
      writeFileSync(path.join(location.dataDir, 'index.db'), '{}');
      rmSync(fileOf(location));
      assert.equal(spawnSync('mkfifo', [fileOf(location)]).status, 0);
      const ofPipe = await refuses(location.open(), 'NOT_READY');
      assert.match(ofPipe.message, /store\.db is a pipe and not a file; move it away/);
      rmSync(fileOf(location));
      writeFileSync(fileOf(location), whole);
      rmSync(`${fileOf(location)}-wal`, { force: true });
      symlinkSync('/nowhere', `${fileOf(location)}-wal`);
      const ofLog = await refuses(location.open(), 'NOT_READY');
      assert.match(ofLog.message, /store\.db cannot be opened, or .* -wal or -shm$/);
      rmSync(`${fileOf(location)}-wal`);
      assert.equal(await (await location.open()).users.count(), 1);
    }));

  test('damage found while running is NOT_READY, without a path', () =>
    within(async (location) => {
      const whole = await filledWith(location, 500);
      // More than is kept in memory of what opening reads.
      const file = new Libsql(fileOf(location));
      file.exec(
        'with recursive n(i) as (select 1 union all select i + 1 from n where i < 8000) ' +
          "insert into settings select 'filler ' || i, hex(zeroblob(500)) from n",
      );
      file.exec('PRAGMA wal_checkpoint(TRUNCATE)');
      file.close();
      const store = await location.open();
      const now = readFileSync(fileOf(location));
      writeFileSync(fileOf(location), damaged(now, whole.length - 40_960, whole.length));
      const error = await refuses(store.users.list(), 'NOT_READY');
      assert.match(error.message, /^store\.db is damaged/);
    }));
});

const SCHEMA = new URL('../../../daemon/store/schema.ts', import.meta.url);

/** `table.column` of all columns whose comments in the schema begin with JSON. */
function jsonColumns(): string[] {
  const text = readFileSync(SCHEMA, 'utf8');
  const tables = new Map(
    [...text.matchAll(/^ {2}(\w+): (\w+Table);$/gm)].map(([, table, type]) => [type, table]),
  );
  const interfaces = [
    ...text.matchAll(/^export interface (\w+Table)(?: extends [^{]+)? \{\n([^]*?)^\}/gm),
  ];
  assert.equal(interfaces.length, tables.size);
  return interfaces.flatMap(([, type, members = '']) =>
    [...members.matchAll(/\/\*\* JSON\b.*\n {2}readonly (\w+):/g)].map(
      ([, column = '']) =>
        `${tables.get(type)}.${column.replaceAll(/[A-Z]/g, (char) => `_${char.toLowerCase()}`)}`,
    ),
  );
}

/** What columns must hold that hold only some words. */
const WORDS: Readonly<Record<string, string>> = {
  visibility: 'private',
  enforcement: 'all',
  state: 'FAILED',
  type: 'gitea',
};

/** A statement that adds a row with this text in a column. */
function insertionOf(file: Libsql.Database, name: string, value: string): string {
  const [table, column] = name.split('.');
  const columns = file.prepare(`SELECT * FROM pragma_table_info('${table}')`).all() as {
    name: string;
    type: string;
    notnull: number;
  }[];
  const set = columns.filter((one) => one.notnull === 1 || one.name === column);
  const values = set.map((one) => {
    if (one.name === column) return `'${value}'`;
    return /int/i.test(one.type) ? '1' : `'${WORDS[one.name] ?? '{}'}'`;
  });
  const names = set.map((one) => one.name);
  return `INSERT INTO ${table} (${names.join()}) VALUES (${values.join()})`;
}

/** The content of the file once a store with so many users was closed. */
async function filledWith(location: Location, userCount: number): Promise<Buffer> {
  const store = await location.open();
  for (let i = 0; i < userCount; i++) await newUser(store);
  await store.close();
  return readFileSync(fileOf(location));
}

function damaged(content: Buffer, start: number, end: number): Buffer {
  const copy = Buffer.from(content);
  copy.fill(0xa5, start, end);
  return copy;
}

onPostgres('opening PostgreSQL', (world) => {
  const { within } = world;

  test('a wrong address is reported without printing it', () =>
    within(async (location) => {
      assert.ok(location.databaseUrl !== undefined);
      const withPassword = location.databaseUrl.replace('trawl@', `trawl:${PASSWORD}@`);
      const folder = location.databaseUrl.split('host=')[1]!;
      const cases: [string, RegExp][] = [
        [`postgres://trawl:${PASSWORD}@[bad`, /not a PostgreSQL address/],
        [`http://trawl:${PASSWORD}@localhost/x`, /not a PostgreSQL address/],
        [PASSWORD, /not a PostgreSQL address/],
        ['', /not a PostgreSQL address/],
        [`postgres://trawl:${PASSWORD}@127.0.0.1:1/x`, /cannot be reached/],
        [`postgres://trawl:${PASSWORD}@no-such-host.invalid/x`, /cannot be reached/],
        [withPassword.replace(folder, '%2Fnonexistent'), /cannot be reached/],
        [withPassword.replace(/trawl_\d+/, 'nothing'), /database does not exist/],
        [withPassword.replace('trawl:', 'nobody:'), /refuses the role/],
      ];
      for (const [databaseUrl, message] of cases) {
        const error = await refuses(location.open({ databaseUrl }), 'NOT_READY');
        assert.match(error.message, message);
        assert.doesNotMatch(textOf(error), new RegExp(PASSWORD));
      }
      assert.doesNotMatch(location.logged.join(''), new RegExp(PASSWORD));
    }));

  test('two instances share a database, each in its schema', () =>
    within(async (location) => {
      const { server } = world;
      assert.ok(server !== undefined && location.databaseUrl !== undefined);
      await server.run(location.databaseUrl, 'CREATE SCHEMA a; CREATE SCHEMA b');
      const within = (schema: string) =>
        `${location.databaseUrl}&options=${encodeURIComponent(`-c search_path=${schema}`)}`;
      const a = await location.open({ databaseUrl: within('a') });
      const b = await location.open({ databaseUrl: within('b') });
      await newUser(a);
      assert.deepEqual([await a.users.count(), await b.users.count()], [1, 0]);
      await b.load(a.dump());
      assert.equal(await b.users.count(), 1);
      const error = await refuses(location.open({ databaseUrl: within('c') }), 'NOT_READY');
      assert.match(error.message, /names no schema/);
    }));
});

/** All that a log would show of an error. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return JSON.stringify(error) ?? '';
  return `${error.stack} ${JSON.stringify(error)} ${textOf(error.cause)}`;
}
