// API keys: create, display once, list, delete.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { createKey, deleteKey, listKeys } from '../../api/accounts/account-endpoints.ts';
import { type AnswerOf, call } from '../data/api.ts';
import { queryClient, useAccount } from '../data/session.ts';
import { copyText } from '../parts/clipboard.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { ConfirmLeaving } from '../parts/leaving.tsx';
import { Notice } from '../parts/notice.tsx';
import { Name } from '../parts/visible-text.tsx';
import { When } from '../parts/when.tsx';

const KEY = ['api-keys'] as const;
const ADDRESS = '/api/user/api_keys';
type Made = AnswerOf<typeof createKey>;

/** The value of a new key, until the user has copied it. */
function NewKey({ made, done }: { readonly made: Made; readonly done: () => void }) {
  return (
    <section aria-label="New key">
      <ConfirmLeaving
        title="Leave without copying the key?"
        text="The new key is shown only once."
      />
      <Notice kind="warn" title="Copy the key now. It is shown only once." />
      <div className="secret">
        <code>{made.key}</code>
        <button
          type="button"
          className="button"
          autoFocus
          onClick={() => void copyText(made.key, 'Key')}
        >
          Copy
        </button>
        <button type="button" className="button" onClick={done}>
          Done
        </button>
      </div>
    </section>
  );
}

function changed() {
  return queryClient.invalidateQueries({ queryKey: KEY });
}

function MakeKey({ show }: { readonly show: (made: Made) => void }) {
  const [name, setName] = useState('');
  const { data: account } = useAccount();
  const mayCreate = account?.features.apiKeyCreation === true;
  const { mutate, error, isPending } = useMutation({
    mutationFn: () => call<typeof createKey>(ADDRESS, { method: 'POST', body: { name } }),
    onSuccess: (answer) => {
      show(answer);
      return changed();
    },
    // Keeps no key in memory after the user leaves this page.
    gcTime: 0,
  });
  return (
    <>
      <Form className="form-row" send={mutate}>
        <Field
          label="Name of the new key"
          required
          disabled={!mayCreate}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <button type="submit" className="button button-primary" disabled={!mayCreate || isPending}>
          Create key
        </button>
      </Form>
      {!mayCreate && <Notice kind="info" title="Only owners may create keys here." />}
      {error !== null && <Notice kind="danger" title={error.message} />}
    </>
  );
}

function Keys() {
  const reading = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => call<typeof listKeys>(ADDRESS, { signal }),
  });
  const remove = useMutation({
    mutationFn: (id: string) => call<typeof deleteKey>(`${ADDRESS}/${id}`, { method: 'DELETE' }),
    onSettled: changed,
  });
  return (
    <>
      {remove.error !== null && <Notice kind="danger" title={remove.error.message} />}
      <DataTable
        label="API keys"
        rows={reading.data}
        keyOf={({ id }) => id}
        reading={reading}
        empty="No keys yet. A key lets scripts and agents search as you."
        columns={[
          { name: 'Name', cell: (row) => <Name>{row.name}</Name> },
          { name: 'Created', cell: (row) => <When at={row.createdAt} /> },
          { name: 'Last used', cell: (row) => <When at={row.lastUsedAt} /> },
          {
            name: 'Actions',
            cell: (row) => (
              <ConfirmButton
                label="Delete"
                title={`Delete the key “${row.name}”?`}
                text="The key and all tokens created with it stop working at once."
                run={() => remove.mutate(row.id)}
              />
            ),
          },
        ]}
      />
    </>
  );
}

export function ApiKeys() {
  const [made, setMade] = useState<Made>();
  return (
    <>
      {made === undefined ? (
        <MakeKey show={setMade} />
      ) : (
        <NewKey made={made} done={() => setMade(undefined)} />
      )}
      <Keys />
    </>
  );
}
