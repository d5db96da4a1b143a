// Interface of the two database engines, embedded.ts and postgres.ts: kysely for statements, and the meaning of errors.
// Used only by database.ts.

import { CamelCasePlugin, type ControlledTransaction, type Kysely, type Transaction } from 'kysely';
import type { StoreError } from './error.ts';
import type { Schema, StoreKind } from './schema.ts';

/**
 * Columns have TypeScript names in statements and rows, and SQL names in the database and in raw SQL. Cost: some 3 us a
 * call (daemon/DECISIONS.md).
 */
export const PLUGINS = [new CamelCasePlugin()];

/** Cached data that changed, if it is not data of one user. `readers`: lists of many users; `all`: anything. */
export type Topic = 'settings' | 'repos' | 'readers' | 'all';

/** When a repo's list of readers was fetched from its host; null: the list was removed. */
export interface ListStamp {
  readonly repoId: number;
  readonly connection: string;
  readonly takenAt: number | null;
}

/** A change of cached data: of one user, of everybody, or of a list's time. */
export type Change =
  { readonly userId: string } | { readonly topic: Topic } | { readonly list: ListStamp };

export interface Fault {
  readonly error: StoreError;
  /** Nothing was changed, and a retry may succeed. */
  readonly isTransient: boolean;
}

/** A consistent view of the store while writes continue. */
export interface Snapshot {
  readonly db: ControlledTransaction<Schema>;
  close(): Promise<void>;
}

export interface Engine {
  readonly kind: StoreKind;
  readonly db: Kysely<Schema>;
  /** Whether changes by others on the same database are reported. */
  readonly isInformed: boolean;
  /** Milliseconds since all of them were reported; 0: they are. */
  readonly uninformedMs: number;
  /** Of an error thrown by `db`; undefined: it is no condition of the database, but our own bug. */
  faultOf(error: unknown): Fault | undefined;
  /** Blocks other writers of the membership until the transaction ends. */
  /** @param isPatient  for a long transaction: waits as long as a statement may take, and does not start again */
  lockMembership(trx: Transaction<Schema>, isPatient: boolean): Promise<void>;
  /** Notifies others once the transaction is committed. */
  announce(trx: Transaction<Schema>, changes: readonly Change[]): Promise<void>;
  /** From now on reports changes by others; resolves when that works, or has failed for the first time. */
  listen(listener: (change: Change) => void): Promise<void>;
  openSnapshot(): Promise<Snapshot>;
  close(): Promise<void>;
}
