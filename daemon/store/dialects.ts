// Differences of the two engines in table definitions: the words from which migrations build statements. Released
// migrations use these, so words are added, never changed.

import { type Kysely, type Migration, sql } from 'kysely';
import type { StoreKind } from './schema.ts';

export interface Dialect {
  /** Type of text. Why: compared by bytes on both, so that no index depends on a machine's locales. */
  readonly text: string;
  /** Suffix for a table with short rows: they are stored only in key order. */
  readonly clustered: string;
}

export const DIALECTS: Readonly<Record<StoreKind, Dialect>> = {
  embedded: { text: 'text', clustered: 'without rowid' },
  postgres: { text: 'text collate "C"', clustered: '' },
};

/** A migration that runs these statements in the engine's dialect. */
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
