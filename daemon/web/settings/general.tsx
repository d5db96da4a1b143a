// The user's own account: name, password, appearance, data in this browser, sign-out.

import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import type { changePassword, logOut } from '../../api/accounts/account-endpoints.ts';
import { call } from '../data/api.ts';
import { BASE_PATH, signInAddress } from '../data/base-path.ts';
import { announceSignedOut, tracesOf, useRemembered } from '../data/remembered.ts';
import { useAccount } from '../data/session.ts';
import { Form } from '../parts/form.tsx';
import { Notice } from '../parts/notice.tsx';
import { Name } from '../parts/visible-text.tsx';
import { Preferences } from './preferences.tsx';
import { CurrentPasswordField, NewPasswordField } from '../sign-in/credential-fields.tsx';
import { counted } from '../parts/number-format.ts';

function Password() {
  const [currentPassword, setCurrent] = useState('');
  const [newPassword, setNew] = useState('');
  const { mutate, isPending, error, isSuccess } = useMutation({
    mutationFn: () =>
      call<typeof changePassword>('/api/auth/password', {
        method: 'POST',
        body: { currentPassword, newPassword },
      }),
    onSuccess: () => {
      setCurrent('');
      setNew('');
    },
  });
  return (
    <Form className="stack" send={mutate}>
      <h2>Password</h2>
      <CurrentPasswordField label="Current password" value={currentPassword} change={setCurrent} />
      <NewPasswordField label="New password" value={newPassword} change={setNew} />
      {error !== null && <Notice kind="danger" title={error.message} />}
      {isSuccess && <Notice kind="ok" title="Password changed. Your other sessions have ended." />}
      <button type="submit" className="button" disabled={isPending}>
        Change password
      </button>
    </Form>
  );
}

export function General() {
  const { data: account } = useAccount();
  const { queries, files } = useRemembered(tracesOf);
  const { forget, forgetTraces } = useRemembered();
  const { mutate, isPending, error } = useMutation({
    mutationFn: () => call<typeof logOut>('/api/auth/logout', { method: 'POST' }),
    onSuccess: () => {
      forgetTraces();
      announceSignedOut();
      // Loads the page anew, so that nothing of the user stays in its memory.
      location.assign(`${BASE_PATH}/`);
    },
  });
  const user = account?.user;
  return (
    <>
      {user !== null && user !== undefined ? (
        <section>
          <dl className="facts">
            <dt>Name</dt>
            <dd>
              <Name>{user.name ?? ''}</Name>
            </dd>
            <dt>E-mail</dt>
            <dd>
              <Name>{user.email}</Name>
            </dd>
            <dt>Role</dt>
            <dd>{user.role === 'OWNER' ? 'Owner' : 'Member'}</dd>
          </dl>
          <div>
            <button type="button" className="button" disabled={isPending} onClick={() => mutate()}>
              Sign out
            </button>
          </div>
          {error !== null && <Notice kind="danger" title={error.message} />}
        </section>
      ) : (
        <Notice kind="info" title="You are not signed in.">
          <Link href={signInAddress()}>Sign in</Link>
        </Notice>
      )}
      <Preferences />
      <section>
        <h2>This browser</h2>
        <div>
          <button type="button" className="button" onClick={forget}>
            Clear data stored in this browser ({counted(queries.length, 'query', 'queries')},{' '}
            {counted(files.length, 'file')})
          </button>
        </div>
      </section>
      {user !== null && user !== undefined && <Password />}
    </>
  );
}
