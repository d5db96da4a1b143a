// Applications that the user authorized (OAuth): what they may access, and when they last did. Revoking one revokes all
// of its tokens.

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
        empty="No authorized applications."
        columns={[
          { name: 'Name', cell: (row) => <Name>{row.name}</Name> },
          { name: 'Redirects to', cell: (row) => <Name>{row.redirectHost}</Name> },
          { name: 'Access to', cell: (row) => <Name>{row.resource}</Name> },
          { name: 'Authorized', cell: (row) => <When at={row.createdAt} /> },
          { name: 'Last used', cell: (row) => <When at={row.lastUsedAt} /> },
          {
            name: 'Actions',
            cell: (row) => (
              <ConfirmButton
                label="Revoke"
                title={`Revoke access of “${row.name}”?`}
                text="Its tokens stop working at once. It may ask for access again."
                run={() => end.mutate(row.id)}
              />
            ),
          },
        ]}
      />
    </>
  );
}
