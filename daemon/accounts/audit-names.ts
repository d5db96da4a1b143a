// Names of the users and API keys that audit records contain as ids.

import type { AuditRecord } from '../store/audit.ts';
import type { Store } from '../store/store.ts';

/** Names of those that still exist; a user's is the e-mail address. */
export interface AuditNames {
  readonly actorName?: string;
  readonly targetName?: string;
}

/** The records with names, each looked up once. Errors: NOT_READY. */
export async function withNames<Row extends Pick<AuditRecord, keyof AuditIds>>(
  store: Pick<Store, 'users' | 'apiKeys'>,
  rows: readonly Row[],
): Promise<(Row & AuditNames)[]> {
  const cached = new Map<string, string | undefined>();
  const nameOf = async (type: string, id: string): Promise<string | undefined> => {
    const key = `${type} ${id}`;
    if (!cached.has(key)) cached.set(key, await lookUp(store, type, id));
    return cached.get(key);
  };
  const result: (Row & AuditNames)[] = [];
  for (const row of rows) {
    const actorName = await nameOf(row.actorType, row.actorId);
    const targetName = await nameOf(row.targetType, row.targetId);
    result.push({
      ...row,
      ...(actorName !== undefined && { actorName }),
      ...(targetName !== undefined && { targetName }),
    });
  }
  return result;
}

type AuditIds = Pick<AuditRecord, 'actorId' | 'actorType' | 'targetId' | 'targetType'>;

async function lookUp(
  { users, apiKeys }: Pick<Store, 'users' | 'apiKeys'>,
  type: string,
  id: string,
): Promise<string | undefined> {
  if (type === 'user') return (await users.get(id))?.email;
  if (type !== 'api_key') return undefined;
  const key = await apiKeys.get(id);
  const user = key && (await users.get(key.userId));
  return user && `${user.email} (key ${key.name})`;
}
