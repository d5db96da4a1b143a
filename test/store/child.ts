// A child process that locks or writes the store, so that tests can kill it or fill its disk. Started as
//   child lock <file> <immediate|exclusive>   takes the lock, says so, keeps it until its input ends
//   child write <dataDir> [databaseUrl]       writes without end, saying what was acknowledged
//   child replace <dataDir> [databaseUrl]     replaces a list of readers without end, by one of two
//   child fill <dataDir>                      writes until it fails, says why, and again for each input line
// and answers on standard output, a line at a time, before it goes on.

import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import Libsql from 'libsql';
import type { NewAuditRecord } from '../../daemon/store/audit.ts';
import { ReaderSet } from '../../daemon/store/host-readers.ts';
import { openStore, type Store } from '../../daemon/store/store.ts';
import { createLog } from '../../daemon/base/log.ts';

/** What one step of a writer makes, in transactions of several statements each. */
export const STEP_GRANT_COUNT = 700;
export const STEP_RECORD_COUNT = 120;

const WRITER_COUNT = 3;

const [mode = '', path = '', third] = process.argv.slice(2);

function say(line: string): void {
  writeSync(1, `${line}\n`);
}

function lock(): void {
  const connection = new Libsql(path);
  connection.exec(`BEGIN ${third ?? ''}`);
  say('locked');
  process.stdin.on('end', () => {
    connection.exec('ROLLBACK');
    connection.close();
    say('unlocked');
  });
  process.stdin.resume();
}

async function open(databaseUrl?: string): Promise<Store> {
  const log = createLog({ level: 'error', format: 'text', write: () => {} });
  return await openStore({ dataDir: path, databaseUrl, log });
}

function recordOf(timestamp: number, targetId: string): NewAuditRecord {
  return {
    timestamp,
    action: 'user.read',
    actorId: 'actor',
    actorType: 'user',
    targetId,
    targetType: 'user',
    productVersion: 'v1',
    metadata: null,
    orgId: '1',
  };
}

/** Lines: `made <name> <userId>`, `removing <userId>`, `removed <userId>`. */
async function writeWithoutEnd(store: Store, writer: number): Promise<void> {
  let last: string | undefined;
  for (let step = 0; ; step++) {
    const name = `${process.pid}-${writer}-${step}`;
    const { id } = await store.users.create({ email: name, role: 'MEMBER' });
    await store.grants.add(
      id,
      Array.from({ length: STEP_GRANT_COUNT }, (_, i) => i),
    );
    await store.audit.append(Array.from({ length: STEP_RECORD_COUNT }, () => recordOf(step, name)));
    say(`made ${name} ${id}`);
    if (last !== undefined && step % 2 === 0) {
      say(`removing ${last}`);
      await store.users.remove(last);
      say(`removed ${last}`);
      last = undefined;
    } else last = id;
  }
}

/** Line: `replaced`. Those of even numbers, or the first thousand and those of odd ones. */
async function replaceWithoutEnd(store: Store): Promise<void> {
  for (let round = 1; ; round++) {
    const readers = new ReaderSet();
    for (let i = 0; i < 4_000; i++)
      if (i % 2 === round % 2 || (round % 2 === 1 && i < 1_000))
        readers.add(String(i), [`u${i}@x`]);
    await store.hostReaders.replace({ repoId: 1, connection: 'gh' }, readers, round);
    say('replaced');
  }
}

/** Lines: `kept <email>`, then `failed <code> <message>`. */
async function fill(): Promise<void> {
  const store = await open();
  let count = 0;
  const untilFull = async (): Promise<void> => {
    for (;;) {
      const email = `${process.pid}-${count++}`;
      try {
        await store.users.create({ email, name: 'x'.repeat(2_000), role: 'MEMBER' });
        say(`kept ${email}`);
      } catch (error) {
        const code = error instanceof Error && 'errorCode' in error ? String(error.errorCode) : '';
        say(`failed ${code} ${error instanceof Error ? error.message : ''}`);
        // Reading goes on.
        say(`count ${await store.users.count()}`);
        return;
      }
    }
  };
  await untilFull();
  for await (const _ of createInterface(process.stdin)) await untilFull();
  await store.close();
  say('closed');
}

if (mode === 'lock') lock();
else if (mode === 'fill') await fill();
else if (mode === 'replace') await replaceWithoutEnd(await open(third === '' ? undefined : third));
else if (mode === 'write') {
  const store = await open(third);
  await Promise.all(Array.from({ length: WRITER_COUNT }, (_, i) => writeWithoutEnd(store, i)));
}
