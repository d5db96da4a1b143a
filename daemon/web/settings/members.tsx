// Members: invite, change, suspend, remove. An invitation produces a link for the owner to pass on.

import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type {
  createUser,
  deleteUser,
  listUsers,
  updateUser,
} from '../../api/accounts/member-endpoints.ts';
import { type AnswerOf, type BodyOf, call } from '../data/api.ts';
import { queryClient } from '../data/session.ts';
import { copyText } from '../parts/clipboard.ts';
import { ConfirmButton } from '../parts/confirm.tsx';
import { DataTable } from '../parts/data-table.tsx';
import { Field } from '../parts/field.tsx';
import { Form } from '../parts/form.tsx';
import { visibleName } from '../parts/hidden-characters.ts';
import { Notice } from '../parts/notice.tsx';
import { Name } from '../parts/visible-text.tsx';
import { When } from '../parts/when.tsx';
import { count } from '../parts/number-format.ts';

type Member = AnswerOf<typeof listUsers>[number];
type Changes = NonNullable<BodyOf<typeof updateUser>>;
const KEY = ['members'] as const;
/** Endpoint for a single member. */
const ADDRESS = '/api/ee/user';

function changed() {
  return queryClient.invalidateQueries({ queryKey: KEY });
}

function Invite() {
  const [email, setEmail] = useState('');
  const { mutate, data, error, isPending } = useMutation({
    mutationFn: () => call<typeof createUser>('/api/ee/users', { method: 'POST', body: { email } }),
    onSuccess: async () => {
      setEmail('');
      await changed();
    },
    gcTime: 0,
  });
  return (
    <section>
      <Form className="form-row" send={mutate}>
        <Field
          label="E-mail of a new member"
          type="email"
          required
          value={email}
          onChange={(event) => setEmail(event.target.value)}
        />
        <button type="submit" className="button button-primary" disabled={isPending}>
          Invite
        </button>
      </Form>
      {error !== null && <Notice kind="danger" title={error.message} />}
      {data !== undefined && (
        <div className="secret">
          <span>
            Give this link to {data.email}. It is valid for 7 days: <code>{data.setupUrl}</code>
          </span>
          <button
            type="button"
            className="button"
            onClick={() => void copyText(data.setupUrl, 'Link')}
          >
            Copy
          </button>
        </div>
      )}
    </section>
  );
}

/** Daily limits to choose from. `trawl user set` sets others. */
const LIMITS = [1000, 10_000, 100_000] as const;

interface LimitChoiceProps {
  readonly email: string;
  readonly choose: (limit: number | 'unlimited' | null) => void;
}

/** Sets a member's daily request limit. The API does not return the current limit. */
function LimitChoice({ email, choose }: LimitChoiceProps) {
  const pick = (value: string): void => {
    if (value === 'default') choose(null);
    else choose(value === 'unlimited' ? value : Number(value));
  };
  return (
    <select
      className="input row-choice"
      aria-label={`Requests per day for ${visibleName(email)}`}
      value=""
      onChange={(event) => pick(event.target.value)}
    >
      <option value="" disabled>
        Limit…
      </option>
      <option value="default">Default</option>
      {LIMITS.map((limit) => (
        <option key={limit} value={limit}>
          {count(limit)} requests per day
        </option>
      ))}
      <option value="unlimited">Unlimited</option>
    </select>
  );
}

function optionsOf(userId: string) {
  return { query: { userId } };
}

/** Changes and removes members. `refusal` is the error of the latest change. */
function useMemberChanges() {
  const { mutate, error: refusal } = useMutation({
    mutationFn: (send: () => Promise<unknown>) => send(),
    onSettled: changed,
  });
  return {
    change: (userId: string, body: Changes) =>
      mutate(() =>
        call<typeof updateUser>(ADDRESS, { ...optionsOf(userId), method: 'PATCH', body }),
      ),
    remove: (userId: string) =>
      mutate(() => call<typeof deleteUser>(ADDRESS, { ...optionsOf(userId), method: 'DELETE' })),
    refusal,
  };
}

interface ActionsProps extends Pick<ReturnType<typeof useMemberChanges>, 'change' | 'remove'> {
  readonly member: Member;
}

function Actions({ member, change, remove }: ActionsProps) {
  const { id, email, role } = member;
  const isOwner = role === 'OWNER';
  const isSuspended = member.suspendedAt !== null;
  return (
    <span className="button-row">
      <button
        type="button"
        className="button"
        onClick={() => change(id, { role: isOwner ? 'MEMBER' : 'OWNER' })}
      >
        {isOwner ? 'Make member' : 'Make owner'}
      </button>
      <button
        type="button"
        className="button"
        onClick={() => change(id, { suspended: !isSuspended })}
      >
        {isSuspended ? 'Reactivate' : 'Suspend'}
      </button>
      <LimitChoice email={email} choose={(requestsPerDay) => change(id, { requestsPerDay })} />
      <ConfirmButton
        label="Remove"
        title={`Remove ${email}?`}
        text="All sessions, keys and tokens of this member stop working at once."
        phrase={email}
        run={() => remove(id)}
      />
    </span>
  );
}

export function Members() {
  const reading = useQuery({
    queryKey: KEY,
    queryFn: ({ signal }) => call<typeof listUsers>('/api/ee/users', { signal }),
  });
  const { refusal, ...changes } = useMemberChanges();
  return (
    <>
      <Invite />
      {refusal !== null && <Notice kind="danger" title={refusal.message} />}
      <DataTable<Member>
        label="Members"
        rows={reading.data}
        keyOf={({ id }) => id}
        reading={reading}
        empty="No members."
        columns={[
          { name: 'E-mail', cell: (row) => <Name>{row.email}</Name> },
          { name: 'Name', cell: (row) => <Name>{row.name ?? ''}</Name> },
          { name: 'Role', cell: (row) => (row.role === 'OWNER' ? 'Owner' : 'Member') },
          { name: 'State', cell: (row) => (row.suspendedAt === null ? 'Active' : 'Suspended') },
          { name: 'Last active', cell: (row) => <When at={row.lastActivityAt} /> },
          { name: 'Actions', cell: (row) => <Actions member={row} {...changes} /> },
        ]}
      />
    </>
  );
}
