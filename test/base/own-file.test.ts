// Something other than a file at the name of a file of the data directory: refused at once, by name.

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { messageOf } from '../../daemon/base/caught.ts';
import { openInstanceSecret } from '../../daemon/base/config/secrets.ts';
import { canMap } from '../../daemon/engine/host/mapping.ts';
import { makeNotes, readNotes, SearchNote } from '../../daemon/engine/host/search-note.ts';
import {
  isThere,
  NoFileError,
  openOwn,
  readOwn,
  readOwnSoon,
  writeOwn,
} from '../../daemon/base/own-file.ts';
import { readCatalog } from '../../daemon/app/read-catalog.ts';
import { lockDataDir } from '../../daemon/index/catalog/lock.ts';
import { openStore } from '../../daemon/store/store.ts';
import { createLog } from '../../daemon/base/log.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

const log = createLog({ level: 'error', format: 'text', write: () => {} });

const KINDS: Readonly<Record<string, (file: string) => void>> = {
  'a folder': (file) => mkdirSync(file),
  'a pipe': (file) => void execFileSync('mkfifo', [file]),
  'a device': (file) => symlinkSync('/dev/null', file),
};

/** Each way to open a file of a data directory. */
const OPENERS: Readonly<Record<string, (dataDir: string) => unknown>> = {
  secret: openInstanceSecret,
  lock: lockDataDir,
  'store.db': (dataDir) => openStore({ dataDir, log }),
  'store.db-wal': (dataDir) => openStore({ dataDir, log }),
  'index.db': readCatalog,
};

for (const [kind, make] of Object.entries(KINDS)) {
  void test(`${kind} is refused by name, without waiting for it`, async () => {
    const file = path.join(temporaryFolder(), 'x');
    make(file);
    const refusal = {
      name: 'NoFileError',
      message: new RegExp(`^${file} is ${kind} and not a file`),
    };
    assert.throws(() => readOwn(file), refusal);
    assert.throws(() => openOwn(file, constants.O_RDWR), refusal);
    assert.throws(() => isThere(file), refusal);
    await assert.rejects(readOwnSoon(file), refusal);
  });

  for (const [name, open] of Object.entries(OPENERS)) {
    void test(`${name} is ${kind}: reported at the start`, async () => {
      const dataDir = temporaryFolder();
      make(path.join(dataDir, name));
      await assert.rejects(
        async () => open(dataDir),
        new RegExp(`${path.join(dataDir, name)} is ${kind} and not a file; move it away`),
      );
    });
  }

  void test(`notes of searches: ${kind} is replaced`, { skip: !canMap() }, () => {
    const file = path.join(temporaryFolder(), 'searching');
    make(file);
    assert.deepEqual(readNotes(file), []);
    makeNotes(file);
    SearchNote.open(file, 3)!.set('00000000000000ff+0');
    assert.deepEqual(readNotes(file), ['00000000000000ff']);
  });
}

void test('a regular or missing file is accepted', async () => {
  const file = path.join(temporaryFolder(), 'x');
  assert.equal(isThere(file), false);
  assert.throws(() => readOwn(file), { code: 'ENOENT' });
  assert.ok(!((await readOwnSoon(file).catch((error: unknown) => error)) instanceof NoFileError));
  writeFileSync(file, 'plum');
  assert.equal(isThere(file), true);
  assert.equal(readOwn(file).toString(), 'plum');
  assert.equal((await readOwnSoon(file)).toString(), 'plum');
  closeSync(openOwn(file, constants.O_RDWR));
});

void test('a path that cannot be written is reported once', () => {
  assert.throws(() => writeOwn('/dev/full', 'x'), {
    code: 'ENOSPC',
    message: "ENOSPC: no space left on device, write '/dev/full'",
  });
  const message = "ENOTDIR: not a directory, open '/dev/null/a'";
  assert.throws(() => writeOwn('/dev/null/a', 'x'), { message });
});

void test('a full disk is reported once with the remedy; too many watches are a different error', () => {
  const remedy = '; free space there, or move the data directory to a larger disk';
  for (const code of ['ENOSPC', 'EDQUOT']) {
    const full = Object.assign(new Error("write '/d/x'"), { code });
    assert.ok(messageOf(full).startsWith(`write '/d/x'${remedy}`));
    const passedOn = Object.assign(new Error(messageOf(full)), { code });
    assert.equal(messageOf(passedOn), messageOf(full));
  }
  const watch = Object.assign(new Error('no watches'), { code: 'ENOSPC', syscall: 'watch' });
  assert.equal(messageOf(watch), 'no watches');
  assert.equal(messageOf(new Error('other')), 'other');
});
