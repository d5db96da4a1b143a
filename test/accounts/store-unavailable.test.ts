// An unavailable store on another machine: cached callers keep their access for a while, writes and lookups are
// refused with a time to retry, and owners are informed. A relay between daemon and PostgreSQL stalls or cuts the
// connections.
// tier: ci (PostgreSQL)

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, connect, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { closeWorlds, repo, startWorld } from '../http/harness.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { POSTGRES_MISSING, type PostgresServer, startPostgres } from '../store/postgres-server.ts';
import { type AccountsWorld, PASSWORD, startAccounts } from './world.ts';

const SOCKET = '.s.PGSQL.5432';
const skip = POSTGRES_MISSING ?? false;

class Relay {
  readonly #sockets = new Set<Socket>();
  readonly #server: Server;
  #isFrozen = false;
  #isGone = false;

  private constructor(target: string) {
    this.#server = createServer({ allowHalfOpen: true }, (near) => {
      if (this.#isGone) {
        near.destroy();
        return;
      }
      const far = connect(path.join(target, SOCKET));
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => {});
        socket.on('close', () => this.#sockets.delete(socket));
      }
      near.on('data', (bytes) => void (this.#isFrozen || far.write(bytes)));
      far.on('data', (bytes) => void (this.#isFrozen || near.write(bytes)));
      near.on('end', () => far.end());
      far.on('end', () => near.end());
    });
  }

  /** Also the address of the database by way of the relay. */
  static async start(databaseUrl: string): Promise<{ relay: Relay; url: string }> {
    const url = new URL(databaseUrl);
    const relay = new Relay(url.searchParams.get('host') ?? '');
    const folder = temporaryFolder();
    relay.#server.listen(path.join(folder, SOCKET));
    await once(relay.#server, 'listening');
    url.searchParams.set('host', folder);
    return { relay, url: url.href };
  }

  freeze(): void {
    this.#isFrozen = true;
  }

  cut(): void {
    this.#isGone = true;
    for (const socket of this.#sockets) socket.destroy();
  }

  restore(): void {
    this.#isFrozen = false;
    this.#isGone = false;
    for (const socket of this.#sockets) socket.destroy();
  }

  close(): void {
    this.restore();
    this.#server.close();
  }
}

let postgres: PostgresServer;
const relays: Relay[] = [];

before(async () => {
  if (skip === false) postgres = await startPostgres();
});

after(async () => {
  for (const relay of relays) relay.restore();
  await closeWorlds();
  for (const relay of relays) relay.close();
  if (skip === false) await postgres.remove();
});

interface Away {
  readonly relay: Relay;
  readonly world: AccountsWorld;
  readonly memberCookie: string;
}

test(
  'of two daemons that start on an empty store one makes the owner, and both are there',
  { skip },
  async () => {
    const env = {
      TRAWL_DATABASE_URL: await postgres.createDatabase(),
      TRAWL_OWNER_EMAIL: 'o@example.com',
      TRAWL_OWNER_PASSWORD: PASSWORD,
    };
    const worlds = await Promise.all([startWorld({ env }), startWorld({ env })]);
    for (const { control } of worlds) assert.equal(await control.store.users.count(), 1);
  },
);

/** A daemon that has heard of its owner and a session. */
async function startWarm(storeGraceMs: number, repos = [repo(1, 'a')]): Promise<Away> {
  const { relay, url } = await Relay.start(await postgres.createDatabase());
  relays.push(relay);
  const world = await startAccounts({
    repos,
    env: { TRAWL_DATABASE_URL: url },
    settings: { storeGraceMs },
  });
  const memberCookie = await world.signIn('member@example.com');
  await assertServed({ relay, world, memberCookie });
  return { relay, world, memberCookie };
}

async function assertServed({ world, memberCookie }: Away): Promise<void> {
  for (const as of [world.ownerKey, memberCookie])
    assert.equal((await world.send('GET', '/api/repos', as)).status, 200);
}

async function assertAway(
  { world }: Away,
  ...[method, target, as, body]: Parameters<AccountsWorld['send']>
): Promise<void> {
  const reply = await world.send(method, target, as, body);
  assert.deepEqual([reply.status, reply.code], [503, 'NOT_READY'], `${method} ${target}`);
  assert.equal(reply.headers['retry-after'], '1');
}

async function untilServed(away: Away): Promise<void> {
  for (;;) {
    const reply = await away.world.send('POST', '/api/user/api_keys', away.memberCookie, {
      name: 'after',
    });
    if (reply.status === 201) return;
    assert.equal(reply.status, 503);
  }
}

for (const [how, leave] of [
  ['frozen', (relay: Relay) => relay.freeze()],
  ['gone', (relay: Relay) => relay.cut()],
] as const) {
  test(
    `a store that is ${how}: cached callers are served, others are told when to retry`,
    { skip },
    async () => {
      const away = await startWarm(600_000);
      const { world, memberCookie } = away;
      leave(away.relay);
      await assertServed(away);
      assert.equal((await world.send('GET', '/api/health')).status, 200);
      const unknown = `svk_${'0'.repeat(64)}`;
      await assertAway(away, 'GET', '/api/repos', unknown);
      await assertAway(away, 'POST', '/api/user/api_keys', memberCookie, { name: 'new' });
      // A frozen connection that listened is cut by the system some time.
      away.relay.cut();
      for (let i = 0; i < 5; i++) await assertServed(away);
      const ready = (await world.send('GET', '/api/ready', world.ownerKey)).json();
      assert.deepEqual(ready['degraded'], ['the store does not answer']);
      assert.deepEqual((await world.send('GET', '/api/ready', unknown)).json(), {
        status: 'ready',
      });
      away.relay.restore();
      await untilServed(away);
      await assertServed(away);
      const after = (await world.send('GET', '/api/ready', world.ownerKey)).json();
      assert.equal(after['degraded'], undefined);
    },
  );
}

test('after the grace period no caller is accepted', { skip }, async () => {
  const away = await startWarm(1);
  away.relay.cut();
  for (;;) {
    const reply = await away.world.send('GET', '/api/repos', away.world.ownerKey);
    if (reply.status === 503) break;
    assert.equal(reply.status, 200);
  }
  await assertAway(away, 'GET', '/api/repos', away.world.ownerKey);
  for (const as of [undefined, away.world.ownerKey])
    await assertAway(away, 'GET', '/api/ready', as);
  away.relay.restore();
  // Who sends no traffic until it is ready has to learn that it is.
  while ((await away.world.send('GET', '/api/ready')).status !== 200);
  await untilServed(away);
});

test('after the grace period guests see nothing that could be hidden', { skip }, async () => {
  const away = await startWarm(1_000);
  const { world, relay } = away;
  const change = { anonymousAccess: true };
  assert.equal((await world.send('PATCH', '/api/instance', world.ownerKey, change)).status, 200);
  const listed = async () => (await world.send('GET', '/api/repos')).json() as unknown as object[];
  assert.equal((await listed()).length, 1);
  relay.cut();
  while ((await listed()).length > 0);
  relay.restore();
  await untilServed(away);
  while ((await listed()).length === 0);
});
