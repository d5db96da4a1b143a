// Applications that the user let in (OAuth): what they reach, and when they did last. Ending one ends all of its tokens.

import { useMutation, useQuery } from '@tanstack/react-query';
import type { endApplication, listApplications } from '../../api/accounts/consent-endpoints.ts';
import { call } from '../data/api.ts';
import { queryClient } from '../data/session.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Notice } from '../parts/notice.tsx';
import { Name } from '../parts/visible-text.tsx';
import { When } from '../parts/when.tsx';

const KEY = ['applications'] as const;
const ADDRESS = '/api/user/applications';

export function Applications() {
  const reading = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => call<typeof listApplications>(ADDRESS, { signal }),
  });
  const end = useMutation({
    mutationFn: (id: string) =>
      call<typeof endApplication>(`${ADDRESS}/${id}`, { method: 'DELETE' }),
    onSettled: () => queryClient.invalidateQueries({ queryKey: KEY }),
  });
  return (
    <>
      {end.error !== null && <Notice kind="danger" title={end.error.message} />}
      <DataTable
        label="Applications"
        rows={reading.data}
        keyOf={({ id }) => id}
        reading={reading}
        empty="No application was let in. One that signs in with Trawl asks first."
        columns={[
          { name: 'Name', cell: (row) => <Name>{row.name}</Name> },
          { name: 'At', cell: (row) => <Name>{row.redirectHost}</Name> },
          { name: 'Reaches', cell: (row) => <Name>{row.resource}</Name> },
          { name: 'Let in', cell: (row) => <When at={row.createdAt} /> },
          { name: 'Last used', cell: (row) => <When at={row.lastUsedAt} /> },
          {
            name: 'Do',
            cell: (row) => (
              <ConfirmButton
                label="End"
                title={`End what “${row.name}” may do?`}
                text="Its tokens stop working at once. It may ask again."
                run={() => end.mutate(row.id)}
              />
            ),
          },
        ]}
      />
    </>
  );
}
