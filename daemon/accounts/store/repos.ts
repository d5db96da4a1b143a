// What of repos must not be lost with the index: id, name, who may see them, and how a source is known again. The caller
// decides which repo a source is. It gets all repos for that, and what it says is kept in the same transaction, so that
// daemons that share a store cannot give one id to two repos.

import type { Kysely, Transaction } from 'kysely';
import { appendAudit, type NewAuditRecord } from './audit.ts';
import { selectBatches } from './batches.ts';
import type { Database } from './database.ts';
import type { RepoTable, Schema } from './schema.ts';
import { storable, storableOrNull } from './text.ts';

/** Where the source of a repo was seen last. */
export interface RepoPlace {
  readonly kind: 'commits' | 'worktree' | 'folder';
  /** Absolute, as it was given. */
  readonly path: string;
  /** Without symbolic links; absent: never seen. */
  readonly realPath?: string;
  /** Of the folder, as the file system knows it; absent: never seen. */
  readonly fileId?: string;
}

export interface StoredRepo {
  readonly repoId: number;
  readonly name: string;
  readonly visibility: RepoTable['visibility'];
  readonly enforcement: RepoTable['enforcement'];
  /** Absent: another repo is there now. */
  readonly place?: RepoPlace;
  readonly remote?: string;
  readonly selection?: { readonly branches: readonly string[]; readonly tags: readonly string[] };
}

export interface RepoBook {
  /** By repoId. */
  readonly repos: readonly StoredRepo[];
  /** The lowest id that no repo had and no grant named, ever. */
  readonly nextRepoId: number;
}

export interface RepoDecision<Result> {
  /** New repos, and old ones as they are to be. An id from `nextRepoId` on is used up with this. */
  readonly changed: readonly StoredRepo[];
  /** What the audit says of it, kept with it; default: nothing. */
  readonly records?: readonly NewAuditRecord[];
  readonly result: Result;
}

export interface Repos {
  read(): Promise<RepoBook>;
  /** Decides on the repos as they are, and keeps what was decided; nobody else changes them meanwhile. */
  change<Result>(decide: (book: RepoBook) => RepoDecision<Result>): Promise<Result>;
}

const COUNTER = 'repo';

export function reposIn(database: Database): Repos {
  return {
    read: () => database.read(readBook),
    change: (decide) =>
      database.write(async ({ db, changed }) => {
        await holdCounter(db);
        const book = await readBook(db);
        const decision = decide(book);
        if (decision.changed.length === 0) return decision.result;
        for (const repo of decision.changed) await put(db, rowOf(repo));
        const used = Math.max(...decision.changed.map(({ repoId }) => repoId));
        if (used >= book.nextRepoId) await setCounter(db, used + 1);
        await appendAudit(db, decision.records ?? [], () => database.nextOrdinal());
        changed({ topic: 'repos' });
        return decision.result;
      }),
  };
}

async function readBook(db: Kysely<Schema>): Promise<RepoBook> {
  const repos: StoredRepo[] = [];
  for await (const rows of selectBatches(db.selectFrom('repos').selectAll(), ['id']))
    repos.push(...rows.map(repoOf));
  const query = db.selectFrom('counters').select('value').where('name', '=', COUNTER);
  const { value } = (await query.executeTakeFirst()) ?? { value: 1 };
  const last = repos.at(-1)?.repoId ?? 0;
  return { repos, nextRepoId: Math.max(value, last + 1, (await lastGranted(db)) + 1) };
}

/** A store from before it held repos has grants that name some. */
async function lastGranted(db: Kysely<Schema>): Promise<number> {
  const query = db.selectFrom('grants').select((select) => select.fn.max('repo_id').as('last'));
  return (await query.executeTakeFirst())?.last ?? 0;
}

/** Holds up whoever else wants to change repos, until the transaction ends. */
async function holdCounter(db: Transaction<Schema>): Promise<void> {
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

async function setCounter(db: Transaction<Schema>, value: number): Promise<void> {
  await db.updateTable('counters').set({ value }).where('name', '=', COUNTER).execute();
}

async function put(db: Transaction<Schema>, row: RepoTable): Promise<void> {
  const { id: _, ...rest } = row;
  await db
    .insertInto('repos')
    .values(row)
    .onConflict((conflict) => conflict.column('id').doUpdateSet(rest))
    .execute();
}

function rowOf(repo: StoredRepo): RepoTable {
  const { repoId, name, visibility, enforcement, place, remote, selection } = repo;
  return {
    id: repoId,
    name: storable(name),
    visibility,
    enforcement,
    place: place === undefined ? null : storable(JSON.stringify(place)),
    remote: storableOrNull(remote ?? null),
    selection: selection === undefined ? null : storable(JSON.stringify(selection)),
  };
}

function repoOf({ id, name, visibility, enforcement, ...row }: RepoTable): StoredRepo {
  // Safety: written by rowOf alone.
  /* oxlint-disable typescript/no-unsafe-type-assertion */
  const { place, selection } = {
    place: row.place === null ? undefined : (JSON.parse(row.place) as RepoPlace),
    selection:
      row.selection === null
        ? undefined
        : (JSON.parse(row.selection) as NonNullable<StoredRepo['selection']>),
  };
  /* oxlint-enable typescript/no-unsafe-type-assertion */
  return {
    repoId: id,
    name,
    visibility,
    enforcement,
    ...(place === undefined ? {} : { place }),
    ...(row.remote === null ? {} : { remote: row.remote }),
    ...(selection === undefined ? {} : { selection }),
  };
}
