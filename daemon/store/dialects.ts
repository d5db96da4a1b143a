// Where the two engines differ in what makes tables: the words that statements of migrations are put together of.
// Released migrations are made of these, so a word is added, never changed.

import { type Kysely, type Migration, sql } from 'kysely';
import type { StoreKind } from './schema.ts';

export interface Dialect {
  /** Type of text. Why: compared by bytes on both, so that no index depends on a machine's locales. */
  readonly text: string;
  /** End of a table whose rows are short: kept in the order of their key, and only there. */
  readonly clustered: string;
}

export const DIALECTS: Readonly<Record<StoreKind, Dialect>> = {
  embedded: { text: 'text', clustered: 'without rowid' },
  postgres: { text: 'text collate "C"', clustered: '' },
};

/** A migration that runs these statements, as an engine says them. */
export function migrationOf(
  kind: StoreKind,
  statements: (dialect: Dialect) => readonly string[],
): Migration {
  return {
    async up(db: Kysely<unknown>): Promise<void> {
      for (const statement of statements(DIALECTS[kind])) await sql.raw(statement).execute(db);
    },
  };
}
