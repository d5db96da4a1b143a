// The licence: state, features, seats, expiry. A new key can be entered.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { getLicence, setLicence } from '../../api/instance/instance-endpoints.ts';
import { call } from '../data/api.ts';
import { ACCOUNT_KEY, queryClient } from '../data/session.ts';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { Notice } from '../parts/notice.tsx';
import { Name } from '../parts/visible-text.tsx';
import { When } from '../parts/when.tsx';
import { count, DAY_MS } from '../parts/number-format.ts';

const KEY = ['licence'] as const;

/** How long before the expiry the warning appears. */
const WARNING_MS = 30 * DAY_MS;

export function Licence() {
  const [key, setKey] = useState('');
  const { data, error } = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => call<typeof getLicence>('/api/license', { signal }),
  });
  const change = useMutation({
    mutationFn: () => call<typeof setLicence>('/api/license', { method: 'PUT', body: { key } }),
    onSuccess: async (answer) => {
      setKey('');
      queryClient.setQueryData(KEY, answer);
      await queryClient.invalidateQueries({ queryKey: ACCOUNT_KEY });
    },
  });
  if (data === undefined)
    return error === null ? null : <Notice kind="danger" title={error.message} />;
  return (
    <>
      {data.expiresAt !== undefined && Date.parse(data.expiresAt) - Date.now() < WARNING_MS && (
        <Notice kind="warn" title="The licence expires soon or has expired. Enter a new key." />
      )}
      <dl className="facts">
        <dt>State</dt>
        <dd>{data.state}</dd>
        {data.customer !== undefined && (
          <>
            <dt>Issued to</dt>
            <dd>
              <Name>{data.customer}</Name>
            </dd>
          </>
        )}
        <dt>Includes</dt>
        <dd>
          {data.entitlements.length === 0 ? 'only the free features' : data.entitlements.join(', ')}
        </dd>
        <dt>Seats</dt>
        <dd>
          {count(data.seatsUsed)} used{data.seats === undefined ? '' : ` of ${count(data.seats)}`}
        </dd>
        <dt>Expires</dt>
        <dd>
          <When at={data.expiresAt} />
        </dd>
      </dl>
      <Form className="form-row" send={() => change.mutate()}>
        <Field
          label="Licence key"
          required
          autoComplete="off"
          value={key}
          onChange={(event) => setKey(event.target.value)}
        />
        <button type="submit" className="button" disabled={change.isPending}>
          Save key
        </button>
      </Form>
      {change.error !== null && <Notice kind="danger" title={change.error.message} />}
    </>
  );
}
