// The audit log: who did what to what, newest first, between two times.

import { useQuery } from '@tanstack/react-query';
import { useSearchParams } from 'wouter';
import type { listAuditRecords } from '../../http/api/accounts/audit-endpoints.ts';
import { ApiFailure, callPage } from '../data/api.ts';
import { BASE_PATH } from '../data/place.ts';
import { DataTable, Pager } from '../parts/data-table.tsx';
import { Field } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';
import { When } from '../parts/when.tsx';

const PER_PAGE = 50;

/** The start of a day, as the API takes it. */
function instantOf(day: string | null): string | undefined {
  return day === null || day === '' ? undefined : `${day}T00:00:00.000Z`;
}

export function Audit() {
  const [parameters, setParameters] = useSearchParams();
  const page = Math.max(1, Number(parameters.get('page') ?? 1) || 1);
  const [since, until] = [parameters.get('since'), parameters.get('until')];
  const { data, error, refetch } = useQuery({
    queryKey: ['audit', page, since, until],
    queryFn: ({ signal }) =>
      callPage<typeof listAuditRecords>('/api/ee/audit', {
        base: BASE_PATH,
        query: { page, perPage: PER_PAGE, since: instantOf(since), until: instantOf(until) },
        signal,
      }),
    placeholderData: (before) => before,
  });
  const change = (name: string, value: string): void =>
    setParameters((before) => {
      const after = new URLSearchParams(before);
      if (name !== 'page') after.delete('page');
      if (value === '') after.delete(name);
      else after.set(name, value);
      return after;
    });
  if (error instanceof ApiFailure && error.statusCode === 403)
    return <Notice kind="info" title="The audit log needs the audit licence." />;
  return (
    <>
      <div className="form-row">
        <Field
          label="From (UTC day)"
          type="date"
          value={since ?? ''}
          onChange={(event) => change('since', event.target.value)}
        />
        <Field
          label="Until (UTC day)"
          type="date"
          value={until ?? ''}
          onChange={(event) => change('until', event.target.value)}
        />
      </div>
      <DataTable
        label="Audit records"
        rows={data?.items}
        keyOf={({ id }) => id}
        error={error}
        retry={() => void refetch()}
        empty="No events in this span."
        columns={[
          { name: 'When', cell: (row) => <When at={row.timestamp} /> },
          { name: 'What', cell: (row) => <code>{row.action}</code> },
          { name: 'Who', cell: (row) => <bdi>{`${row.actorType} ${row.actorId}`}</bdi> },
          { name: 'To what', cell: (row) => <bdi>{`${row.targetType} ${row.targetId}`}</bdi> },
          {
            name: 'Facts',
            cell: (row) =>
              row.metadata === null ? '' : <code>{JSON.stringify(row.metadata)}</code>,
          },
        ]}
      />
      <Pager
        page={page}
        perPage={PER_PAGE}
        total={data?.total}
        go={(next) => change('page', String(next))}
      />
    </>
  );
}
