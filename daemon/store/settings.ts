// Instance settings that are changed at run time, as text by name. Callers define names and values.

import { appendAudit, type NewAuditRecord } from './audit.ts';
import { deleted } from './batches.ts';
import type { Database, Writing } from './database.ts';

export function settingsIn(database: Database) {
  return {
    get: (name: string): Promise<string | undefined> =>
      database.read(async (db) => {
        const query = db.selectFrom('settings').select('value').where('name', '=', name);
        return (await query.executeTakeFirst())?.value;
      }),
    set: (name: string, value: string): Promise<void> =>
      database.write((writing) => set(writing, name, value)),
    /** All with their audit records, or none. Undefined: removes the setting. */
    setAll: (
      values: ReadonlyMap<string, string | undefined>,
      records: readonly NewAuditRecord[] = [],
    ): Promise<void> =>
      database.write(async (writing) => {
        for (const [name, value] of values) {
          await (value === undefined ? remove(writing, name) : set(writing, name, value));
        }
        await appendAudit(writing, records);
      }),
    /** False: it was not set. */
    remove: (name: string): Promise<boolean> => database.write((writing) => remove(writing, name)),
    all: (): Promise<Map<string, string>> =>
      database.read(async (db) => {
        const rows = await db.selectFrom('settings').selectAll().orderBy('name').execute();
        return new Map(rows.map(({ name, value }) => [name, value]));
      }),
  };
}

async function set({ db, changed }: Writing, name: string, value: string): Promise<void> {
  const row = { name, value };
  await db
    .insertInto('settings')
    .values(row)
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ value: row.value }))
    .execute();
  changed({ topic: 'settings' });
}

async function remove({ db, changed }: Writing, name: string): Promise<boolean> {
  const count = await deleted(db.deleteFrom('settings').where('name', '=', name));
  if (count > 0) changed({ topic: 'settings' });
  return count > 0;
}
