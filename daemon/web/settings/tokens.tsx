// What may use the account besides API keys: applications that the user authorized, which are revoked here, and active
// scoped tokens, which are created and revoked through the API.

import { useQuery } from '@tanstack/react-query';
import type { listTokens } from '../../api/accounts/account-endpoints.ts';
import { call } from '../data/api.ts';
import { DataTable } from '../parts/data-table.tsx';
import { When } from '../parts/when.tsx';
import { counted } from '../parts/number-format.ts';
import { Applications } from './applications.tsx';

function ScopedTokens() {
  const reading = useQuery({
    queryKey: ['tokens'],
    queryFn: ({ signal }) => call<typeof listTokens>('/api/user/scoped_access_tokens', { signal }),
  });
  return (
    <DataTable
      label="Scoped tokens"
      rows={reading.data}
      keyOf={({ id }) => id}
      reading={reading}
      empty="No active tokens. Create one through the API: POST /api/ee/scoped_access_token."
      columns={[
        { name: 'Id', cell: (row) => <code>{row.id}</code> },
        {
          name: 'Access to',
          cell: (row) => counted(row.repoIds.length, 'repository', 'repositories'),
        },
        { name: 'Created', cell: (row) => <When at={row.createdAt} /> },
        { name: 'Expires', cell: (row) => <When at={row.expiresAt} /> },
      ]}
    />
  );
}

export function Tokens() {
  return (
    <>
      <h2>Applications</h2>
      <Applications />
      <h2>Scoped tokens</h2>
      <ScopedTokens />
    </>
  );
}
