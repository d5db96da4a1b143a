// Connections to code hosts and listed repos. Daemons on one store have separate configurations, so
// a connection belongs to one of them, its instance; the visibility of a repo follows from all. Connections are changed
// together with repos (repos.ts); updates of a listing only are here.

import { type Kysely, sql, type Transaction } from 'kysely';
import { inBatches, selectBatches } from './batches.ts';
import type { Database } from './database.ts';
import type { ConnectionRepoTable, ConnectionTable, Schema } from './schema.ts';

export interface ConnectionRules {
  readonly isEnforcing: boolean;
  /** Of public repos too. */
  readonly isEnforcingPublic: boolean;
  readonly keepsDeleted: boolean;
  /** Globs of further revisions. */
  readonly branches: readonly string[];
  readonly tags: readonly string[];
  /** Digest of its whole configuration; empty: it is no longer configured. */
  readonly digest: string;
}

export interface StoredConnection extends Omit<ConnectionTable, 'id' | 'rules' | 'listing'> {
  readonly connectionId: number;
  readonly rules: ConnectionRules;
}

export interface StoredLink extends Omit<ConnectionRepoTable, 'targets'> {
  /** The targets of the connection that listed it, in order; absent: unknown. */
  readonly targets?: readonly string[];
}

/** Ids of configured connections start here. Lower ids belong to sources: a source's connection has its repo's id. */
const CONNECTION_ID_MIN = 1_000_000_001;
const COUNTER = 'connection';

export type ConnectionRows = ReturnType<typeof connectionsIn>;

export function connectionsIn(database: Database) {
  return {
    noteListed: (
      connectionId: number,
      listing: number,
      repoIds: readonly number[],
    ): Promise<void> =>
      database.write(async ({ db }) => {
        for await (const batch of inBatches(repoIds))
          await db
            .updateTable('connection_repos')
            .set({ listing })
            .where('connectionId', '=', connectionId)
            .where('repoId', 'in', batch)
            .where('listing', '<', listing)
            .execute();
      }),
  };
}

/** By id. */
export async function readConnections(db: Kysely<Schema>): Promise<StoredConnection[]> {
  const columns = ['instance', 'name', 'type', 'address', 'rules', 'syncedAt', 'wholeAt'] as const;
  const query = db.selectFrom('connections').select(columns).select('id as connectionId');
  const rows = await query.orderBy('id').execute();
  return rows.map((row) => ({ ...row, rules: JSON.parse(row.rules) }));
}

/** By connection, then by repo. */
export async function readLinks(db: Kysely<Schema>): Promise<StoredLink[]> {
  const links: StoredLink[] = [];
  const query = db.selectFrom('connection_repos').selectAll();
  for await (const rows of selectBatches(query, ['connectionId', 'repoId']))
    for (const { targets, ...link } of rows)
      links.push(targets === null ? link : { ...link, targets: JSON.parse(targets) });
  return links;
}

/** The lowest id never used by a connection. */
export async function nextConnectionId(db: Kysely<Schema>): Promise<number> {
  const query = db.selectFrom('counters').select('value').where('name', '=', COUNTER);
  return (await query.executeTakeFirst())?.value ?? CONNECTION_ID_MIN;
}

export async function putConnections(
  db: Transaction<Schema>,
  connections: readonly StoredConnection[],
): Promise<void> {
  for (const { connectionId, ...same } of connections) {
    const row = { ...same, rules: JSON.stringify(same.rules) };
    await db
      .insertInto('connections')
      .values({ ...row, id: connectionId, listing: null })
      .onConflict((conflict) => conflict.column('id').doUpdateSet(row))
      .execute();
  }
  if (connections.length === 0) return;
  const used = Math.max(...connections.map(({ connectionId }) => connectionId));
  const value = Math.max(used + 1, await nextConnectionId(db));
  await db
    .insertInto('counters')
    .values({ name: COUNTER, value })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value }))
    .execute();
}

/** With their links. */
export async function removeConnections(
  db: Transaction<Schema>,
  connectionIds: readonly number[],
): Promise<void> {
  for await (const batch of inBatches(connectionIds))
    await db.deleteFrom('connections').where('id', 'in', batch).execute();
}

export async function putLinks(
  db: Transaction<Schema>,
  links: readonly StoredLink[],
): Promise<void> {
  for await (const batch of inBatches(links))
    await db
      .insertInto('connection_repos')
      .values(
        batch.map(({ targets, ...link }) => ({
          ...link,
          targets: targets === undefined ? null : JSON.stringify(targets),
        })),
      )
      .onConflict((conflict) =>
        conflict.columns(['connectionId', 'repoId']).doUpdateSet((set) => ({
          // Another daemon may be further.
          listing: sql<number>`case when connection_repos.listing > excluded.listing
            then connection_repos.listing else excluded.listing end`,
          missingSince: set.ref('excluded.missingSince'),
          targets: set.ref('excluded.targets'),
        })),
      )
      .execute();
}
