// The audit log: who did what to which target, newest first. Filtered by day, by action or group of actions, and by
// actor.

import { useQuery } from '@tanstack/react-query';
import { factsText } from '../../api/accounts/audit-facts.ts';
import type { listAuditRecords } from '../../api/accounts/audit-endpoints.ts';
import { type AddressParameters, useAddressParameters } from '../data/address-parameters.ts';
import { type AnswerOf, callPage } from '../data/api.ts';
import { type Column, DataTable } from '../parts/data-table.tsx';
import { ParameterField } from '../parts/parameter-field.tsx';
import { visibleName } from '../parts/hidden-characters.ts';
import { Name, VisibleText } from '../parts/visible-text.tsx';
import { When } from '../parts/when.tsx';
import { DAY_MS, startOfDay } from '../parts/number-format.ts';

type AuditRecord = AnswerOf<typeof listAuditRecords>[number];

const PER_PAGE = 50;
const PARAMETERS = ['since', 'until', 'action', 'actor', 'page'];
const SHORT_ID_MAX = 12;

function useAudit({ page, valueOf }: AddressParameters) {
  const query = {
    // Includes the whole last day.
    since: startOfDay(valueOf('since')),
    until: startOfDay(valueOf('until'), 1),
    action: valueOf('action'),
    actor: valueOf('actor'),
    page,
    perPage: PER_PAGE,
  };
  return useQuery({
    queryKey: ['audit', query],
    queryFn: ({ signal }) => callPage<typeof listAuditRecords>('/api/ee/audit', { query, signal }),
    placeholderData: (before) => before,
  });
}

/** Shortens an id, long enough to tell those on a page apart. The title and the filter use the whole id. */
function shortId(id: string): string {
  return id.length > SHORT_ID_MAX ? `${id.slice(0, SHORT_ID_MAX - 4)}…` : id;
}

function columnsFor({ change }: AddressParameters): Column<AuditRecord>[] {
  const choose = (name: string, value: string, text: string) => (
    <button
      type="button"
      className="link-button"
      title={`Only ${visibleName(value)}`}
      onClick={() => change({ [name]: value }, 'step')}
    >
      <Name>{text}</Name>
    </button>
  );
  return [
    { name: 'When', cell: (row) => <When at={row.timestamp} /> },
    { name: 'Action', cell: (row) => choose('action', row.action, row.action) },
    {
      name: 'Actor',
      cell: (row) =>
        choose('actor', row.actorId, row.actorName ?? `${row.actorType} ${shortId(row.actorId)}`),
    },
    {
      name: 'Target',
      cell: (row) => <Name>{row.targetName ?? `${row.targetType} ${row.targetId}`}</Name>,
    },
    {
      name: 'Details',
      cell: (row) => (row.metadata === null ? '' : <VisibleText text={factsText(row.metadata)} />),
    },
  ];
}

function Empty({ change }: AddressParameters) {
  const since = new Date(Date.now() - 30 * DAY_MS).toISOString().slice(0, 10);
  return (
    <>
      No events in this period.{' '}
      <button
        type="button"
        className="link-button"
        onClick={() => change({ since, until: '', action: '', actor: '' }, 'step')}
      >
        Last 30 days
      </button>
    </>
  );
}

export function Audit() {
  const address = useAddressParameters(PARAMETERS);
  const { page, go } = address;
  const reading = useAudit(address);
  return (
    <>
      <div className="form-row">
        <ParameterField address={address} name="since" label="From (UTC day)" type="date" />
        <ParameterField address={address} name="until" label="Until (UTC day)" type="date" />
        <ParameterField address={address} name="action" label="Action or group" />
        <ParameterField address={address} name="actor" label="Actor id" />
      </div>
      <DataTable
        label="Audit records"
        rows={reading.data?.items}
        keyOf={({ id }) => id}
        reading={reading}
        empty={<Empty {...address} />}
        columns={columnsFor(address)}
        pages={{ page, perPage: PER_PAGE, total: reading.data?.total, go }}
      />
    </>
  );
}
