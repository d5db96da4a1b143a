// Settings of the instance that are changed while it runs, as text by name. What names and values mean is for
// the caller.

import type { Database } from './database.ts';
import { storable } from './text.ts';

export interface Settings {
  get(name: string): Promise<string | undefined>;
  set(name: string, value: string): Promise<void>;
  /** False: it was not set. */
  remove(name: string): Promise<boolean>;
  all(): Promise<Map<string, string>>;
}

export function settingsIn(database: Database): Settings {
  return {
    get: (name) =>
      database.read(async (db) => {
        const query = db.selectFrom('settings').select('value').where('name', '=', storable(name));
        return (await query.executeTakeFirst())?.value;
      }),
    set: (name, value) =>
      database.write(async ({ db, changed }) => {
        const row = { name: storable(name), value: storable(value) };
        await db
          .insertInto('settings')
          .values(row)
          .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: row.value }))
          .execute();
        changed({ topic: 'settings' });
      }),
    remove: (name) =>
      database.write(async ({ db, changed }) => {
        const query = db.deleteFrom('settings').where('name', '=', storable(name));
        const { numDeletedRows } = await query.executeTakeFirst();
        if (numDeletedRows > 0n) changed({ topic: 'settings' });
        return numDeletedRows > 0n;
      }),
    all: () =>
      database.read(async (db) => {
        const rows = await db.selectFrom('settings').selectAll().orderBy('name').execute();
        return new Map(rows.map(({ name, value }) => [name, value]));
      }),
  };
}
