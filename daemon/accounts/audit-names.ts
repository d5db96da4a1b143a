// What people call the users and API keys that audit records hold by id.

import type { AuditRecord } from './store/audit.ts';
import type { Store } from './store/store.ts';

/** A user's is the e-mail address. */
export interface AuditNames {
  readonly actorName?: string;
  readonly targetName?: string;
}

/** The records with names, each looked up once. Users who were removed have one where the rows tell so. Errors: NOT_READY. */
export async function withNames(
  store: Pick<Store, 'users' | 'apiKeys'>,
  rows: readonly AuditRecord[],
): Promise<(AuditRecord & AuditNames)[]> {
  const known = new Map<string, string | undefined>(rows.flatMap(removedUserOf));
  const nameOf = async (type: string, id: string): Promise<string | undefined> => {
    const key = `${type} ${id}`;
    if (!known.has(key)) known.set(key, await lookUp(store, type, id));
    return known.get(key);
  };
  const named: (AuditRecord & AuditNames)[] = [];
  for (const row of rows) {
    const actorName = await nameOf(row.actorType, row.actorId);
    const targetName = await nameOf(row.targetType, row.targetId);
    named.push({
      ...row,
      ...(actorName !== undefined && { actorName }),
      ...(targetName !== undefined && { targetName }),
    });
  }
  return named;
}

function removedUserOf({ action, targetId, metadata }: AuditRecord): [string, string][] {
  const email = metadata?.['email'];
  return action === 'user.delete' && typeof email === 'string' ? [[`user ${targetId}`, email]] : [];
}

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
