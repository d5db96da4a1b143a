// What must not be lost with the index about repos: id, name, visibility, how to recognise a source, and the connections
// that list them. The caller decides which repo a source is. It gets all repos, and its decision is stored in the same
// transaction, so that daemons on one store cannot give one id to two repos.

import { DAY_MS } from '../base/durations.ts';
import { omitUndefined } from '../base/omit-undefined.ts';
import type { Kysely, Transaction } from 'kysely';
import type { CodeHostType, RepoFacts, RepoSource } from '../repos/records.ts';
import type { RevisionSelection, SourceKind, SourceRules } from '../repos/records.ts';
import { appendAudit, type NewAuditRecord } from './audit.ts';
import { inBatches, selectBatches } from './batches.ts';
import {
  nextConnectionId,
  putConnections,
  putLinks,
  readConnections,
  readLinks,
  removeConnections,
  type StoredConnection,
  type StoredLink,
} from './connections.ts';
import type { Database } from './database.ts';
import type { RepoTable, Schema } from './schema.ts';

export interface RepoLocation {
  readonly kind: SourceKind;
  /** Absolute, as it was given. */
  readonly path: string;
  /** Without symbolic links; absent: never found. */
  readonly realPath?: string;
  /** File system identity of the folder; absent: never found. */
  readonly fileId?: string;
}

/** A host's facts about a repo. */
export interface HostFacts extends RepoFacts {
  readonly codeHostType: CodeHostType;
  /** Below the address of the host: `owner/name`. */
  readonly path: string;
  /** Without credentials. */
  readonly cloneUrl: string;
  /** Its whole name; absent: host and path. */
  readonly name?: string;
  /** Where it is read in place; absent: a mirror is read. */
  readonly source?: RepoSource;
  /**
   * It is a submodule: the pinned commit, and the repoIds of the repos around it, the outermost first, followed by the repo
   * it is a copy of.
   */
  readonly submodule?: { readonly commit: string; readonly chain: readonly number[] };
}

/** The code host of a repo: its address, and its id for the repo, which survives renames. */
export interface RepoHost {
  readonly address: string;
  readonly hostId: string;
  readonly facts: HostFacts;
}

export interface StoredRepo {
  readonly repoId: number;
  readonly name: string;
  readonly visibility: RepoTable['visibility'];
  readonly enforcement: RepoTable['enforcement'];
  /** Absent: another repo is there now. */
  readonly location?: RepoLocation;
  readonly remote?: string;
  /** Absent: no connection lists it; it is a named source. */
  readonly host?: RepoHost;
  readonly selection?: RevisionSelection;
  /** Which files of its source are docs; absent: its ignore files decide. */
  readonly rules?: SourceRules;
}

/** A removed repo of a host, which gets its id and grants back if it is added again. */
export type RemovedRepo = Pick<RepoHost, 'address' | 'hostId'> & { readonly repoId: number };

export interface StoredRepos {
  /** By repoId. */
  readonly repos: readonly StoredRepo[];
  /** By repoId. */
  readonly removed: readonly RemovedRepo[];
  /** The lowest id never used by a repo or a grant. */
  readonly nextRepoId: number;
  /** Those of all instances, by id. */
  readonly connections: readonly StoredConnection[];
  readonly links: readonly StoredLink[];
  /** The lowest id never used by a connection. */
  readonly nextConnectionId: number;
}

export interface RepoDecision<Result> {
  /** New repos, and changed ones in their new form. Ids from `nextRepoId` on are used up. */
  readonly changed: readonly StoredRepo[];
  /** Repos to remove, with their links; their grants are kept for RETURN_MS if a host may list them again. */
  readonly removed?: readonly number[];
  /** New connections, and changed ones in their new form; connections to remove, with their links. */
  readonly connections?: readonly StoredConnection[];
  readonly removedConnections?: readonly number[];
  /** Of the remaining repos and connections. */
  readonly links?: readonly StoredLink[];
  readonly records?: readonly NewAuditRecord[];
  readonly result: Result;
}

const COUNTER = 'repo';

/** How long a removed repo can get back its id and its grants. */
export const RETURN_MS = 30 * DAY_MS;

export type Repos = ReturnType<typeof reposIn>;

export function reposIn(database: Database) {
  const readNow = (db: Kysely<Schema>): Promise<StoredRepos> => readStored(db, database.now());
  return {
    read: (): Promise<StoredRepos> => database.read(readNow),
    /** Decides on the current repos, and stores the decision; nobody else changes them meanwhile. */
    change: <Result>(decide: (stored: StoredRepos) => RepoDecision<Result>): Promise<Result> =>
      database.write(async (writing) => {
        const { db, changed } = writing;
        await lockCounter(db);
        const stored = await readNow(db);
        const decision = decide(stored);
        const returned = returnedOf(stored, decision);
        if (!(await keep(db, stored, decision, database.now()))) return decision.result;
        await giveBack(db, returned);
        await appendAudit(writing, decision.records ?? []);
        const isOfGrants = (decision.removed ?? []).length + returned.length > 0;
        changed({ topic: isOfGrants ? 'all' : 'repos' });
        return decision.result;
      }),
  };
}

/** Returns whether anything was stored. */
async function keep(
  db: Transaction<Schema>,
  { repos, nextRepoId }: StoredRepos,
  { changed, ...decision }: RepoDecision<unknown>,
  now: number,
): Promise<boolean> {
  const { removed = [], connections = [], removedConnections = [], links = [] } = decision;
  const all = [changed, removed, connections, removedConnections, links];
  if (all.every(({ length }) => length === 0)) return false;
  await remove(db, removed, now);
  const names = new Map(repos.map(({ repoId, name }) => [repoId, name]));
  const renamed = changed.filter(({ repoId, name }) => (names.get(repoId) ?? name) !== name);
  // Why temporary names: repos may swap their names.
  for (const { repoId } of renamed)
    await db
      .updateTable('repos')
      .set({ name: `#${repoId}` })
      .where('id', '=', repoId)
      .execute();
  for (const repo of changed) await put(db, repo);
  const used = changed.reduce((last, { repoId }) => Math.max(last, repoId), nextRepoId - 1);
  // Why with removals: only its repo knows the last id.
  if (used >= nextRepoId || removed.length > 0)
    await db
      .updateTable('counters')
      .set({ value: used + 1 })
      .where('name', '=', COUNTER)
      .execute();
  await putConnections(db, connections);
  await removeConnections(db, removedConnections);
  await putLinks(db, links);
  return true;
}

async function remove(
  db: Transaction<Schema>,
  repoIds: readonly number[],
  now: number,
): Promise<void> {
  if (repoIds.length === 0) return;
  await db
    .deleteFrom('removed_repos')
    .where('removedAt', '<=', now - RETURN_MS)
    .execute();
  for await (const batch of inBatches(repoIds)) {
    await keepAside(db, batch, now);
    await db.deleteFrom('grants').where('repoId', 'in', batch).execute();
    await db.deleteFrom('repos').where('id', 'in', batch).execute();
  }
}

/** Stores the host ids of these repos, and their grants. */
async function keepAside(
  db: Transaction<Schema>,
  repoIds: readonly number[],
  now: number,
): Promise<void> {
  const hosts = await db
    .selectFrom('repo_hosts')
    .select(['repoId', 'address', 'hostId'])
    .where('repoId', 'in', repoIds)
    .execute();
  if (hosts.length === 0) return;
  const rows = hosts.map((host) => ({ ...host, removedAt: now }));
  await db.insertInto('removed_repos').values(rows).execute();
  const ids = hosts.map(({ repoId }) => repoId);
  const grants = db.selectFrom('grants').select(['repoId', 'userId']).where('repoId', 'in', ids);
  await db.insertInto('removed_grants').columns(['repoId', 'userId']).expression(grants).execute();
}

/** Ids of the removed repos that a decision adds again. */
function returnedOf({ removed }: StoredRepos, { changed }: RepoDecision<unknown>): number[] {
  const gone = new Set(removed.map(({ repoId }) => repoId));
  return changed.map(({ repoId }) => repoId).filter((repoId) => gone.has(repoId));
}

async function giveBack(db: Transaction<Schema>, repoIds: readonly number[]): Promise<void> {
  for await (const batch of inBatches(repoIds)) {
    const grants = db.selectFrom('removed_grants').select(['repoId', 'userId']);
    await db
      .insertInto('grants')
      .columns(['repoId', 'userId'])
      .expression(grants.where('repoId', 'in', batch))
      .onConflict((conflict) => conflict.doNothing())
      .execute();
    await db.deleteFrom('removed_repos').where('repoId', 'in', batch).execute();
  }
}

async function readStored(db: Kysely<Schema>, now: number): Promise<StoredRepos> {
  const hosts = await readHosts(db);
  const repos: StoredRepo[] = [];
  for await (const rows of selectBatches(db.selectFrom('repos').selectAll(), ['id']))
    repos.push(...rows.map((row) => repoOf(row, hosts.get(row.id))));
  const query = db.selectFrom('counters').select('value').where('name', '=', COUNTER);
  const { value } = (await query.executeTakeFirst()) ?? { value: 1 };
  const last = repos.at(-1)?.repoId ?? 0;
  return {
    repos,
    removed: await readRemoved(db, now),
    nextRepoId: Math.max(value, last + 1, (await lastGranted(db)) + 1),
    connections: await readConnections(db),
    links: await readLinks(db),
    nextConnectionId: await nextConnectionId(db),
  };
}

async function readRemoved(db: Kysely<Schema>, now: number): Promise<RemovedRepo[]> {
  const removed: RemovedRepo[] = [];
  const columns = ['repoId', 'address', 'hostId'] as const;
  const query = db.selectFrom('removed_repos').select(columns);
  const recent = query.where('removedAt', '>', now - RETURN_MS);
  for await (const rows of selectBatches(recent, ['repoId'])) removed.push(...rows);
  return removed;
}

async function readHosts(db: Kysely<Schema>): Promise<ReadonlyMap<number, RepoHost>> {
  const hosts = new Map<number, RepoHost>();
  for await (const rows of selectBatches(db.selectFrom('repo_hosts').selectAll(), ['repoId']))
    for (const { repoId, address, hostId, facts } of rows)
      hosts.set(repoId, { address, hostId, facts: JSON.parse(facts) });
  return hosts;
}

/** A store from before repos were stored has grants that name some. */
async function lastGranted(db: Kysely<Schema>): Promise<number> {
  const query = db.selectFrom('grants').select((select) => select.fn.max('repoId').as('last'));
  return (await query.executeTakeFirst())?.last ?? 0;
}

/** Blocks other writers of repos until the transaction ends. */
async function lockCounter(db: Transaction<Schema>): Promise<void> {
  await db
    .insertInto('counters')
    .values({ name: COUNTER, value: 1 })
    .onConflict((conflict) => conflict.column('name').doNothing())
    .execute();
  await db
    .updateTable('counters')
    .set((set) => ({ value: set.ref('value') }))
    .where('name', '=', COUNTER)
    .execute();
}

async function put(db: Transaction<Schema>, repo: StoredRepo): Promise<void> {
  const row = rowOf(repo);
  const { id: _, ...rest } = row;
  await db
    .insertInto('repos')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
    .execute();
  if (repo.host === undefined) {
    await db.deleteFrom('repo_hosts').where('repoId', '=', row.id).execute();
    return;
  }
  const { address, hostId, facts } = repo.host;
  const host = {
    address,
    hostId,
    facts: JSON.stringify(facts),
  };
  await db
    .insertInto('repo_hosts')
    .values({ ...host, repoId: row.id })
    .onConflict((conflict) => conflict.column('repoId').doUpdateSet(host))
    .execute();
}

function rowOf(repo: StoredRepo): RepoTable {
  const { repoId, name, visibility, enforcement, location, remote, selection, rules } = repo;
  // Why one column: both define what of the source is indexed.
  const column = selection === undefined && rules === undefined ? null : { ...selection, rules };
  return {
    id: repoId,
    name,
    visibility,
    enforcement,
    place: location === undefined ? null : JSON.stringify(location),
    remote: remote ?? null,
    selection: column === null ? null : JSON.stringify(column),
  };
}

function repoOf(
  { id, name, visibility, enforcement, ...row }: RepoTable,
  host: RepoHost | undefined,
): StoredRepo {
  // Safety: written only by rowOf.
  /* oxlint-disable typescript/no-unsafe-type-assertion */
  const location = row.place === null ? undefined : (JSON.parse(row.place) as RepoLocation);
  const { branches, tags, rules } = JSON.parse(row.selection ?? '{}') as SelectionColumn;
  /* oxlint-enable typescript/no-unsafe-type-assertion */
  return {
    repoId: id,
    name,
    visibility,
    enforcement,
    ...(branches === undefined || tags === undefined ? {} : { selection: { branches, tags } }),
    ...omitUndefined({ location, remote: row.remote ?? undefined, host, rules }),
  };
}

/** Content of the column `selection`. */
type SelectionColumn = Partial<RevisionSelection> & Pick<StoredRepo, 'rules'>;
