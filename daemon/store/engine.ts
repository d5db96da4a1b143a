// What the two database engines have in common: kysely for the statements, and what an engine's errors mean.
// embedded.ts and postgres.ts are the two; database.ts is their only user.

import { CamelCasePlugin, type ControlledTransaction, type Kysely, type Transaction } from 'kysely';
import type { StoreError } from './error.ts';
import type { Schema, StoreKind } from './schema.ts';

/**
 * Columns have names as TypeScript has them in statements and rows, as SQL has them in the database and in raw SQL.
 * Cost: some 3 us a call (daemon/DECISIONS.md).
 */
export const PLUGINS = [new CamelCasePlugin()];

/** What caches hold besides what belongs to a user; `readers`: of many users; `all`: anything may have changed. */
export type Topic = 'settings' | 'repos' | 'readers' | 'all';

/** When the list of who may read a repo was taken from its host; null: there is none any more. */
export interface ListStamp {
  readonly repoId: number;
  readonly connection: string;
  readonly takenAt: number | null;
}

/** Something that caches may hold has changed: of one user, of everybody, or when a list was taken. */
export type Change =
  { readonly userId: string } | { readonly topic: Topic } | { readonly list: ListStamp };

/** What an error of the driver means for the caller. */
export interface Fault {
  readonly error: StoreError;
  /** Nothing was changed, and the same work may succeed when it is tried again. */
  readonly isTransient: boolean;
}

/** One state of the store, whatever is written meanwhile. */
export interface Snapshot {
  readonly db: ControlledTransaction<Schema>;
  close(): Promise<void>;
}

export interface Engine {
  readonly kind: StoreKind;
  readonly db: Kysely<Schema>;
  /** Are changes that others make on the same database told? */
  readonly isInformed: boolean;
  /** Milliseconds for which they have not been; 0: they are. */
  readonly uninformedMs: number;
  /** What was kept and is lost, in words for the operator, until it is seen to; undefined: nothing is known to be. */
  readonly loss?: string | undefined;
  /** Of an error thrown by `db`; undefined: it is no condition of the database, but our own bug. */
  faultOf(error: unknown): Fault | undefined;
  /** Holds up other writers of the membership until the transaction ends. */
  lockMembership(trx: Transaction<Schema>): Promise<void>;
  /** Tells others once the transaction is committed. */
  announce(trx: Transaction<Schema>, changes: readonly Change[]): Promise<void>;
  /** From now on tells what others announce; done when that works, or has failed for the first time. */
  listen(listener: (change: Change) => void): Promise<void>;
  openSnapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}
