// API keys: made, shown once, listed, ended.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { createKey, deleteKey, listKeys } from '../../http/api/accounts/account-endpoints.ts';
import { call } from '../data/api.ts';
import type { AnswerOf } from '../data/api.ts';
import { BASE_PATH } from '../data/place.ts';
import { queryClient, useAccount } from '../data/session.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Field } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';
import { When } from '../parts/when.tsx';

const KEY = ['api-keys'] as const;
const ADDRESS = '/api/user/api_keys';
type Made = AnswerOf<typeof createKey>;

/** Whoever leaves the page before is asked once. */
function useAskBeforeLeaving(): void {
  useEffect(() => {
    const refuse = (event: BeforeUnloadEvent): void => event.preventDefault();
    const stay = (event: MouseEvent): void => {
      const { target } = event;
      const link = target instanceof Element ? target.closest('a[href]') : null;
      const isElsewhere = event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey;
      if (link === null || isElsewhere) return;
      if (confirm(LEAVING)) return;
      event.preventDefault();
      event.stopPropagation();
    };
    window.addEventListener('beforeunload', refuse);
    // Before the links of the page hear of it.
    window.addEventListener('click', stay, true);
    return () => {
      window.removeEventListener('beforeunload', refuse);
      window.removeEventListener('click', stay, true);
    };
  }, []);
}

const LEAVING = 'The new key is shown only this once. Leave before it is copied?';

/** The value of a new key, until it was copied. */
function NewKey({ made, done }: { readonly made: Made; readonly done: () => void }) {
  useAskBeforeLeaving();
  return (
    <section aria-label="The new key">
      <Notice kind="warn" title="Copy it now: it is shown only this once." />
      <div className="secret">
        <code>{made.key}</code>
        <button
          type="button"
          className="button"
          onClick={() => void navigator.clipboard?.writeText(made.key)}
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

export function ApiKeys() {
  const [name, setName] = useState('');
  const [made, setMade] = useState<Made>();
  const { data: account } = useAccount();
  const keys = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => call<typeof listKeys>(ADDRESS, { base: BASE_PATH, signal }),
  });
  const changed = () => queryClient.invalidateQueries({ queryKey: KEY });
  const create = useMutation({
    mutationFn: () =>
      call<typeof createKey>(ADDRESS, { base: BASE_PATH, method: 'POST', body: { name } }),
    onSuccess: async (answer) => {
      setMade(answer);
      setName('');
      await changed();
    },
    // Nothing of a key stays in memory behind this page.
    gcTime: 0,
  });
  const remove = useMutation({
    mutationFn: (id: string) =>
      call<typeof deleteKey>(`${ADDRESS}/${id}`, { base: BASE_PATH, method: 'DELETE' }),
    onSettled: changed,
  });
  const mayCreate = account?.features.apiKeyCreation === true;
  return (
    <>
      {made !== undefined && <NewKey made={made} done={() => setMade(undefined)} />}
      <form
        className="form-row"
        onSubmit={(event) => {
          event.preventDefault();
          create.mutate();
        }}
      >
        <Field
          label="Name of a new key"
          required
          disabled={!mayCreate}
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        <button
          type="submit"
          className="button button-primary"
          disabled={!mayCreate || create.isPending}
        >
          Make key
        </button>
      </form>
      {!mayCreate && <Notice kind="info" title="Only owners may make keys here." />}
      {create.error !== null && <Notice kind="danger" title={create.error.message} />}
      <DataTable
        label="API keys"
        rows={keys.data}
        keyOf={({ id }) => id}
        error={keys.error ?? remove.error}
        retry={() => void keys.refetch()}
        empty="No keys yet. A key lets scripts and agents search as you."
        columns={[
          { name: 'Name', cell: (row) => <bdi>{row.name}</bdi> },
          { name: 'Made', cell: (row) => <When at={row.createdAt} /> },
          { name: 'Last used', cell: (row) => <When at={row.lastUsedAt} /> },
          {
            name: 'Do',
            cell: (row) => (
              <ConfirmButton
                label="Delete"
                title={`Delete the key “${row.name}”?`}
                text="Whatever uses it, and the tokens that it made, stop working at once."
                run={() => remove.mutate(row.id)}
              />
            ),
          },
        ]}
      />
    </>
  );
}
