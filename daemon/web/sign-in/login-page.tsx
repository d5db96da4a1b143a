// Sign-in with e-mail and password, or through an identity provider.

import { useState } from 'react';
import type { logIn } from '../../api/accounts/account-endpoints.ts';
import { call } from '../data/api.ts';
import { useParameters } from '../data/parameters.ts';
import { useTitle } from '../parts/title.ts';
import { AccountForm, goOnTo } from './account-form.tsx';
import { CurrentPasswordField, EmailField } from './credential-fields.tsx';
import {
  FIRST_ACCOUNT,
  SignOnCard,
  SignOnFailure,
  SignOnLinks,
  useWaysIn,
} from './sign-on-links.tsx';

function PasswordForm({ returnTo }: { readonly returnTo: string }) {
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const submit = async (): Promise<void> => {
    await call<typeof logIn>('/api/auth/login', { method: 'POST', body: { email, password } });
    goOnTo(returnTo);
  };
  return (
    <AccountForm title="Sign in to Trawl" button="Sign in" submit={submit}>
      <EmailField value={email} change={setEmail} isFirst />
      <CurrentPasswordField value={password} change={setPassword} />
      <SignOnLinks returnTo={returnTo} />
    </AccountForm>
  );
}

export default function LoginPage() {
  useTitle('Sign in');
  const parameters = useParameters();
  const ways = useWaysIn();
  const returnTo = parameters.get('return') ?? '/';
  return (
    <div className="card-page">
      <SignOnFailure reason={parameters.get('failed')} />
      {ways?.passwordLogin === false ? (
        <SignOnCard title="Sign in to Trawl" returnTo={returnTo} />
      ) : (
        <PasswordForm returnTo={returnTo} />
      )}
      <p className="faint">
        {ways?.isSetupDue === true ? FIRST_ACCOUNT : 'No account? Ask an owner.'}
      </p>
    </div>
  );
}
