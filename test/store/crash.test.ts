// A daemon killed while writing: everything acknowledged is there, and no partial transaction. On both engines.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import path from 'node:path';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import Libsql from 'libsql';
import type { Store } from '../../daemon/store/store.ts';
import { STEP_GRANT_COUNT, STEP_RECORD_COUNT } from './child.ts';
import { onBothEngines, type Location } from './harness.ts';
import type { PostgresServer } from './postgres-server.ts';
import { startChild } from './processes.ts';

const ROUNDS = 4;

/** All that children have said in all rounds. */
interface Said {
  readonly made: Map<string, string>;
  readonly removing: Set<string>;
  readonly removed: Set<string>;
}

function note(said: Said, lines: readonly string[]): void {
  for (const line of lines) {
    const [word, first = '', second = ''] = line.split(' ');
    if (word === 'made') said.made.set(first, second);
    if (word === 'removing') said.removing.add(first);
    if (word === 'removed') said.removed.add(first);
  }
}

async function countRecords(store: Store): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  for (let offset = 0; ; offset += 1_000) {
    const { rows } = await store.audit.list({ offset, limit: 1_000 });
    for (const { targetId } of rows) counts.set(targetId, (counts.get(targetId) ?? 0) + 1);
    if (rows.length < 1_000) return counts;
  }
}

async function check(store: Store, said: Said): Promise<void> {
  const users = new Map((await store.users.list()).map(({ id, email }) => [id, email]));
  const records = await countRecords(store);
  for (const [name, id] of said.made) {
    assert.equal(records.get(name), STEP_RECORD_COUNT, `records of ${name}`);
    const grantCount = (await store.grants.repoIdsOf(id)).length;
    if (said.removed.has(id)) assert.ok(!users.has(id), `${name} was removed`);
    else if (!said.removing.has(id)) assert.equal(users.get(id), name);
    assert.equal(grantCount, users.has(id) ? STEP_GRANT_COUNT : 0, `grants of ${name}`);
  }
  for (const [name, count] of records) assert.equal(count, STEP_RECORD_COUNT, name);
  for (const id of users.keys()) {
    const { total } = await store.grants.listOfUser(id, { offset: 0, limit: 1 });
    assert.ok(total === 0 || total === STEP_GRANT_COUNT, `${total} grants`);
  }
}

function checkFile(dataDir: string): void {
  const connection = new Libsql(path.join(dataDir, 'store.db'));
  assert.deepEqual(connection.prepare('PRAGMA integrity_check').all([]), [
    { integrity_check: 'ok' },
  ]);
  assert.deepEqual(connection.prepare('PRAGMA foreign_key_check').all([]), []);
  connection.close();
}

/**
 * Waits until a PostgreSQL server has noticed that the killed process is gone: it still finishes what it
 * was sent, and pages that are read meanwhile shift.
 */
async function waitForServer(
  location: Location,
  server: PostgresServer | undefined,
): Promise<void> {
  if (server === undefined || location.databaseUrl === undefined) return;
  for (;;) {
    const others = await server.run(
      location.databaseUrl,
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database()
         AND backend_type = 'client backend' AND pid <> pg_backend_pid()`,
    );
    if (others.length === 0) return;
    await setTimeout(5);
  }
}

onBothEngines('kills', (world) => {
  test('everything acknowledged is there, nothing partial, round after round', () =>
    world.within(async (location) => {
      const said: Said = { made: new Map(), removing: new Set(), removed: new Set() };
      for (let round = 0; round < ROUNDS; round++) {
        const child = startChild([
          'write',
          location.dataDir,
          ...(location.databaseUrl === undefined ? [] : [location.databaseUrl]),
        ]);
        // Every other round is sure to have a removal behind it, however slow the machine.
        await child.line(round % 2 === 0 ? 'made' : 'removed');
        await setTimeout(Math.random() * 250);
        await child.end('SIGKILL');
        assert.equal(child.process.signalCode, 'SIGKILL');
        note(said, child.lines);
        await waitForServer(location, world.server);
        const store = await location.open();
        await check(store, said);
        await store.close();
        if (location.kind === 'embedded') checkFile(location.dataDir);
      }
      assert.ok(said.made.size >= ROUNDS);
      assert.ok(said.removed.size > 0);
    }));
});
