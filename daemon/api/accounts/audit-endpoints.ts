// GET /api/ee/audit: who did what, newest first (API.md 14.6).

import { z } from 'zod';
import type { Accounts } from '../../accounts/accounts.ts';
import { ORG, withNames } from '../../accounts/audit-log.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import { instantText } from '../shapes/input.ts';
import { pageAnswer, pageFields, pageHeaders, windowOf } from '../shapes/pagination.ts';
import { integer, isoTime, text, time } from '../shapes/schemas.ts';

const PATH = '/api/ee/audit';

const auditRecord = z
  .object({
    id: text('Id of the record.'),
    timestamp: time('Time of the action.'),
    action: text('The action, for example `api_key.created`.'),
    actorId: text('Who did it: id of the user or API key.'),
    actorName: text(
      'Its e-mail address; for a key also the name of the key. Absent for actors without an account, or with a deleted one.',
    ).optional(),
    actorType: z.enum(['user', 'api_key']).describe('What kind of actor.'),
    targetId: text('Id of the target.'),
    targetName: text('For a user or API key: as `actorName`.').optional(),
    targetType: z
      .enum(['user', 'org', 'file', 'repo', 'api_key', 'scoped_token', 'oauth_client'])
      .describe('What kind of target.'),
    productVersion: text('Version of the daemon at that time.'),
    metadata: z
      .record(z.string(), z.unknown())
      .nullable()
      .describe(
        'Further facts; `source` is the name that the client gave itself, `account` the operating-system account of a command.',
      ),
    orgId: integer('The organization.', 1),
  })
  .meta({ id: 'AuditRecord', description: 'One recorded action.' });

/** Id of a user given by e-mail address; other texts are ids. */
async function actorIdOf({ store }: Accounts, actor = ''): Promise<string | undefined> {
  const user = actor.includes('@') ? await store.users.byEmail(actor) : undefined;
  return user?.id ?? (actor === '' ? undefined : actor);
}

export const listAuditRecords = endpoint(
  {
    operationId: 'listAuditRecords',
    method: 'GET',
    path: PATH,
    access: 'owner',
    entitlement: 'audit',
    tag: 'Enterprise',
    summary: 'Audit records',
    input: {
      query: z.object({
        since: instantText().optional().describe('Only records from this time on.'),
        until: instantText().optional().describe('Only records before this time.'),
        action: text('Only this action, or all of a group, for example `api_key`.').optional(),
        actor: text('Only actions of this user (id or e-mail address) or API key.').optional(),
        ...pageFields(50),
      }),
    },
    responses: pageAnswer('A page of records, newest first.', auditRecord),
  },
  async ({ query }, context) => {
    const { accounts, actor } = context;
    const since = query.since === undefined ? undefined : Date.parse(query.since);
    const until = query.until === undefined ? undefined : Date.parse(query.until);
    if (since !== undefined && until !== undefined && since >= until)
      throw new ApiError('INVALID_QUERY_PARAMS', 'since: must be earlier than until');
    // Pending records belong in the answer; the record of this request does not.
    await accounts.auditLog.flush();
    const { total, rows } = await accounts.store.audit.list({
      since,
      until,
      action: query.action === '' ? undefined : query.action,
      actorId: await actorIdOf(accounts, query.actor),
      ...windowOf(query),
    });
    accounts.auditLog.note(actor, 'audit.fetch', ORG);
    return ok(
      (await withNames(accounts.store, rows)).map((row) => ({
        ...row,
        timestamp: isoTime(row.timestamp),
        orgId: Number(row.orgId),
      })),
      pageHeaders(total, query, context, PATH),
    );
  },
);
