// The licence key and the audit records for the operator.

import { z } from 'zod';
import { withNames } from '../../accounts/audit-names.ts';
import { ORG } from '../../accounts/audit-log.ts';
import { isoTime } from '../accounts/user-schemas.ts';
import { operation, pageWindow } from './operation.ts';

const showLicence = operation(z.strictObject({}), ({ accounts }) => accounts.licences.describe());

const setLicence = operation(
  z.strictObject({ key: z.string({ error: 'expected a licence key' }) }),
  async ({ accounts, actor }, { key }) => {
    await accounts.licences.set(actor, key);
    return accounts.licences.describe();
  },
);

const removeLicence = operation(z.strictObject({}), async ({ accounts, actor }) => {
  await accounts.licences.remove(actor);
  return accounts.licences.describe();
});

const time = z.int().min(0);

/**
 * A page of the records, newest first; times in milliseconds since the epoch, `until` exclusive.
 */
const listAudit = operation(
  z.strictObject({
    since: time.optional(),
    until: time,
    ...pageWindow,
  }),
  async ({ accounts, actor }, query) => {
    const { store, auditLog } = accounts;
    // Why: pending records belong in the answer; the record of this fetch does not.
    await auditLog.flush();
    const { total, rows } = await store.audit.list(query);
    if (query.offset === 0) auditLog.note(actor, 'audit.fetch', ORG);
    const records = await withNames(store, rows);
    return {
      total,
      rows: records.map(({ timestamp, ...record }) => ({
        ...record,
        timestamp: isoTime(timestamp),
      })),
    };
  },
);

export const RECORD_OPERATIONS = {
  'licence.show': showLicence,
  'licence.set': setLicence,
  'licence.remove': removeLicence,
  'audit.list': listAudit,
};
