// The log beside the embedded store, as a process that was killed leaves it, damaged in every way: what had been kept and
// cannot be read any more is never lost without a word, and what nobody was told is kept is no loss.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import Libsql from 'libsql';
import { type Place, newUser, refuses, withEmbeddedPlace } from './harness.ts';

const USERS = 6;
const HEADER_SIZE = 32;
const FRAME_SIZE = 24 + 4096;
const MARK = 'store.db-wal.damaged';

/** The three files of a store whose process was killed, each user having been a transaction. */
interface Killed {
  readonly db: Buffer;
  readonly wal: Buffer;
  readonly shm: Buffer;
}

/** @param isStored  all of the log was written to the file itself before */
async function killed(place: Place, isStored = false): Promise<Killed> {
  const store = await place.open();
  for (let i = 0; i < USERS; i++) await newUser(store);
  if (isStored) {
    const other = new Libsql(path.join(place.dataDir, 'store.db'));
    other.exec('PRAGMA wal_checkpoint(PASSIVE)');
    other.close();
  }
  const copy = copyOf(place);
  await store.close();
  return copy;
}

/** Its files, as a process that is killed now would leave them. */
function copyOf({ dataDir }: Place): Killed {
  // Elsewhere: to read the files there would end the locks that the store has on them.
  const copy = mkdtempSync(path.join(dataDir, 'copy-'));
  for (const ending of ['', '-wal', '-shm'])
    copyFileSync(path.join(dataDir, `store.db${ending}`), path.join(copy, `db${ending}`));
  const [db, wal, shm] = ['db', 'db-wal', 'db-shm'].map((name) =>
    readFileSync(path.join(copy, name)),
  );
  return { db: db!, wal: wal!, shm: shm! };
}

/** What is told of a store with these files, and how many users it has. Undefined: the file is not there. */
async function told(
  place: Place,
  { db, wal, shm }: { db: Buffer; wal?: Buffer | undefined; shm?: Buffer | undefined },
): Promise<{ loss: string | undefined; users: number }> {
  const dataDir = mkdtempSync(path.join(place.dataDir, 'killed-'));
  const files = { 'store.db': db, 'store.db-wal': wal, 'store.db-shm': shm };
  for (const [name, bytes] of Object.entries(files))
    if (bytes !== undefined) writeFileSync(path.join(dataDir, name), bytes);
  const store = await place.open({ dataDir });
  const found = { loss: store.loss, users: await store.users.count() };
  await store.close();
  return found;
}

function flipped(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at]! ^= 1;
  return copy;
}

void test('a log as it was left has lost nothing, nor has one whose last words were being written', () =>
  withEmbeddedPlace(async (place) => {
    const { db, wal, shm } = await killed(place);
    assert.ok(wal.length > HEADER_SIZE + USERS * FRAME_SIZE, String(wal.length));
    const whole = { loss: undefined, users: USERS };
    const halfFrame = Buffer.concat([wal, wal.subarray(HEADER_SIZE, HEADER_SIZE + 2_000)]);
    // Its transaction had not ended.
    const begun = Buffer.from(wal.subarray(wal.length - FRAME_SIZE));
    begun.writeUInt32BE(0, 4);
    const openEnd = Buffer.concat([wal, begun]);
    // What a log before has left behind the end.
    const older = Buffer.from(wal.subarray(wal.length - FRAME_SIZE));
    older.writeUInt32BE(7, 8);
    for (const log of [wal, halfFrame, openEnd, Buffer.concat([wal, older])])
      for (const index of [shm, undefined, Buffer.alloc(0), flipped(shm, 17)])
        assert.deepEqual(await told(place, { db, wal: log, shm: index }), whole);
    assert.deepEqual(await told(place, { db, wal, shm }), whole);
    assert.doesNotMatch(place.logged.join(''), /was damaged/);
  }));

void test('a frame that was being written over an older one is no loss, unless others stand behind it', () =>
  withEmbeddedPlace(async (place) => {
    const store = await place.open();
    for (let i = 0; i < USERS; i++) await newUser(store);
    const { db, wal, shm } = copyOf(place);
    await newUser(store);
    const behind = copyOf(place).wal.subarray(wal.length);
    await store.close();
    assert.ok(behind.length >= FRAME_SIZE, String(behind.length));
    const head = behind.subarray(behind.length - FRAME_SIZE, behind.length - FRAME_SIZE + 24);
    const older = wal.subarray(HEADER_SIZE + 24, HEADER_SIZE + FRAME_SIZE);
    const torn = Buffer.concat([wal, head, older]);
    const whole = { loss: undefined, users: USERS };
    assert.deepEqual(await told(place, { db, wal: torn, shm }), whole);
    // Nothing else can tell of it.
    assert.match((await told(place, { db, wal: torn })).loss ?? '', /was damaged/);
    const followed = Buffer.concat([torn, head.subarray(0, 24), older]);
    assert.match((await told(place, { db, wal: followed, shm })).loss ?? '', /was damaged/);
  }));

void test('a log in which anything that had been kept cannot be read is told, with what to do', () =>
  withEmbeddedPlace(async (place) => {
    const { db, wal, shm } = await killed(place);
    const sentence =
      /^store\.db-wal was damaged, and committed changes are lost.*remove store\.db-wal\.damaged/;
    let lost = 0;
    for (let start = HEADER_SIZE; start < wal.length; start += FRAME_SIZE)
      for (const offset of [1, 9, 17, 24 + 100]) {
        const damaged = flipped(wal, start + offset);
        const { loss, users } = await told(place, { db, wal: damaged, shm });
        assert.match(loss ?? '', sentence, `${start} ${offset}`);
        if (users < USERS) lost++;
        // Without the other witness, as in a copy: but for what could be left of a log before.
        const alone = await told(place, { db, wal: damaged });
        if (offset !== 9) assert.match(alone.loss ?? '', sentence, `${start} ${offset} alone`);
      }
    assert.ok(lost > 20, String(lost));
    const cut = wal.subarray(0, wal.length - 5);
    for (const log of [
      cut,
      wal.subarray(0, 40),
      Buffer.alloc(0),
      undefined,
      Buffer.alloc(wal.length),
    ])
      assert.match((await told(place, { db, wal: log, shm })).loss ?? '', sentence);
    for (const at of [0, 9, 17, 25])
      for (const index of [shm, undefined])
        assert.match(
          (await told(place, { db, wal: flipped(wal, at), shm: index })).loss ?? '',
          sentence,
        );
    assert.match(place.logged.join(''), /ERROR.*store\.db-wal was damaged/);
  }));

void test('what is in the file itself is not lost with its log', () =>
  withEmbeddedPlace(async (place) => {
    const { db, wal, shm } = await killed(place, true);
    const whole = { loss: undefined, users: USERS };
    for (const log of [undefined, Buffer.alloc(0), flipped(wal, 25), wal])
      assert.deepEqual(await told(place, { db, wal: log, shm }), whole);
    // Of what is read again some is older than the file.
    const cut = wal.subarray(0, wal.length - FRAME_SIZE);
    const { loss } = await told(place, { db, wal: cut, shm }).catch(() => ({ loss: 'refused' }));
    assert.notEqual(loss, undefined);
  }));

void test('a loss is told until the copy of the log is removed; one that cannot be noted opens nothing', () =>
  withEmbeddedPlace(async (place) => {
    const { db, wal, shm } = await killed(place);
    const dataDir = path.join(place.dataDir, 'killed');
    const at = (name: string): string => path.join(dataDir, name);
    const damaged = flipped(wal, wal.length - 1);
    const put = (): void => {
      rmSync(dataDir, { recursive: true, force: true });
      mkdirSync(dataDir);
      for (const [name, bytes] of Object.entries({ '': db, '-wal': damaged, '-shm': shm }))
        writeFileSync(at(`store.db${name}`), bytes);
    };
    put();
    for (let start = 0; start < 2; start++) {
      const store = await place.open({ dataDir });
      assert.match(store.loss ?? '', /was damaged/);
      assert.deepEqual(readFileSync(at(MARK)), damaged);
      if (start === 1) rmSync(at(MARK));
      assert.equal(store.loss === undefined, start === 1);
      await store.close();
    }
    const sound = await place.open({ dataDir });
    assert.equal(sound.loss, undefined);
    await sound.close();
    assert.equal(existsSync(at(MARK)), false);
    put();
    mkdirSync(at(MARK));
    const error = await refuses(place.open({ dataDir }), 'NOT_READY');
    assert.match(error.message, /store\.db-wal\.damaged/);
    assert.deepEqual(readFileSync(at('store.db-wal')), damaged);
  }));
