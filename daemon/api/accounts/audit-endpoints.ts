// GET /api/ee/audit: who did what, newest first (API.md 14.6).

import { z } from 'zod';
import { withNames } from '../../accounts/audit-names.ts';
import { ORG } from '../../accounts/audit-log.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import { instantText } from '../shapes/input.ts';
import { pageAnswer, pageFields, pageOf, windowOf } from '../shapes/pagination.ts';
import { integer, text, time } from '../shapes/schemas.ts';
import { isoTime } from './user-schemas.ts';

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
    actorType: z.enum(['user', 'api_key']).meta({ description: 'What kind of actor.' }),
    targetId: text('Id of the target.'),
    targetName: text('For a user or API key: as `actorName`.').optional(),
    targetType: z
      .enum(['user', 'org', 'file', 'repo', 'api_key', 'scoped_token', 'oauth_client'])
      .meta({ description: 'What kind of target.' }),
    productVersion: text('Version of the daemon at that time.'),
    metadata: z.record(z.string(), z.unknown()).nullable().meta({
      description:
        'Further facts; `source` is the name that the client gave itself, `account` the operating-system account of a command.',
    }),
    orgId: integer('The organization.', 1),
  })
  .meta({ id: 'AuditRecord', description: 'One recorded action.' });

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
        since: instantText().optional().meta({ description: 'Only records from this time on.' }),
        until: instantText().optional().meta({ description: 'Only records before this time.' }),
        action: z.string().optional().meta({
          description: 'Only this action, or all of a group, for example `api_key`.',
        }),
        actor: z.string().optional().meta({ description: 'Only actions of this user or API key.' }),
        ...pageFields(50),
      }),
    },
    responses: pageAnswer('A page of records, newest first.', auditRecord),
  },
  async ({ query }, { accounts, actor, baseUrl }) => {
    const since = query.since === undefined ? undefined : Date.parse(query.since);
    const until = query.until === undefined ? undefined : Date.parse(query.until);
    if (since !== undefined && until !== undefined && since >= until)
      throw new ApiError('INVALID_QUERY_PARAMS', 'since: must be earlier than until');
    const { total, rows } = await accounts.store.audit.list({
      since,
      until,
      action: query.action === '' ? undefined : query.action,
      actorId: query.actor === '' ? undefined : query.actor,
      ...windowOf(query),
    });
    accounts.auditLog.note(actor, 'audit.fetch', ORG);
    const { headers } = pageOf(total, query, `${baseUrl}${PATH}`, {
      since: query.since,
      until: query.until,
      action: query.action,
      actor: query.actor,
    });
    return ok(
      (await withNames(accounts.store, rows)).map((row) => ({
        ...row,
        timestamp: isoTime(row.timestamp),
        orgId: Number(row.orgId),
      })),
      headers,
    );
  },
);
