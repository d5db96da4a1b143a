// The target of a one-time link: creates the first account, or sets the password of an invited user. It removes the
// link's token from the address at once, so that no history keeps it.

import { useEffect, useState } from 'react';
import { useQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { getLink, setUp } from '../../api/accounts/account-endpoints.ts';
import { ApiFailure, call } from '../data/api.ts';
import { Field } from '../parts/field.tsx';
import { Notice } from '../parts/notice.tsx';
import { useTitle } from '../parts/title.ts';
import { AccountForm, goOnTo } from './account-form.tsx';
import { EmailField, NewPasswordField } from './credential-fields.tsx';
import { FIRST_ACCOUNT, useWaysIn } from './sign-on-links.tsx';

const OLD_LINK = 'This link was already used or has expired.';
/** After a reload. */
const NO_TOKEN = 'Open the link again. This page does not keep it.';

/** The next step: an account may exist by now. */
function OldLink({ title }: { readonly title: string }) {
  const ways = useWaysIn();
  return (
    <Notice kind="danger" title={title}>
      {ways?.isSetupDue === false && (
        <p>
          An account exists already: <Link href="/login">sign in</Link>. For a new link, ask an
          owner or run “trawl user password EMAIL” on the server.
        </p>
      )}
      {ways?.isSetupDue === true && <p>{FIRST_ACCOUNT}</p>}
    </Notice>
  );
}

function isGone(error: Error | null): boolean {
  return error instanceof ApiFailure && error.statusCode === 404;
}

export default function SetupPage() {
  useTitle('Set up');
  const [token] = useState(() => new URLSearchParams(location.search).get('token') ?? '');
  const [name, setName] = useState('');
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const link = useQuery({
    queryKey: ['link', token],
    queryFn: ({ signal }) => call<typeof getLink>('/api/auth/link', { query: { token }, signal }),
    gcTime: 0,
    // No refetch, so that a half-filled form stays.
    staleTime: Infinity,
  });
  useEffect(() => history.replaceState(history.state, '', location.pathname), []);
  const invited = link.data?.email;
  const submit = async (): Promise<void> => {
    try {
      await call<typeof setUp>('/api/auth/setup', {
        method: 'POST',
        body: { token, name, email: invited ?? email, password },
      });
    } catch (error) {
      if (error instanceof ApiFailure && error.errorCode === 'INVALID_CREDENTIALS') {
        await link.refetch();
        throw new Error(OLD_LINK, { cause: error });
      }
      throw error;
    }
    goOnTo('/');
  };
  if (link.isPending) return null;
  if (link.data === undefined || isGone(link.error))
    return (
      <div className="card-page">
        <h1 className="visually-hidden">Invalid link</h1>
        {isGone(link.error) ? (
          <OldLink title={token === '' ? NO_TOKEN : OLD_LINK} />
        ) : (
          <Notice kind="danger" title={link.error?.message ?? ''} />
        )}
      </div>
    );
  return (
    <div className="card-page">
      <AccountForm
        title={invited === undefined ? 'Create the first account' : 'Join Trawl'}
        lead={invited === undefined ? 'You will own this instance.' : `Your account is ${invited}.`}
        button="Create account"
        submit={submit}
      >
        <Field
          label="Name"
          autoComplete="name"
          required
          autoFocus
          value={name}
          onChange={(event) => setName(event.target.value)}
        />
        {invited === undefined && <EmailField value={email} change={setEmail} />}
        <NewPasswordField value={password} change={setPassword} />
      </AccountForm>
    </div>
  );
}
