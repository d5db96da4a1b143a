// Signing in with e-mail and password.

import { useState } from 'react';
import { useSearchParams } from 'wouter';
import type { logIn } from '../../http/api/accounts/account-endpoints.ts';
import { call } from '../data/api.ts';
import { BASE_PATH } from '../data/place.ts';
import { useTitle } from '../parts/title.ts';
import { AccountForm, goOnTo } from './account-form.tsx';
import { CurrentPasswordField, EmailField } from './credential-fields.tsx';

export default function LoginPage() {
  useTitle('Sign in');
  const [parameters] = useSearchParams();
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const submit = async (): Promise<void> => {
    await call<typeof logIn>('/api/auth/login', {
      base: BASE_PATH,
      method: 'POST',
      body: { email, password },
    });
    goOnTo(parameters.get('return') ?? '/');
  };
  return (
    <div className="card-page">
      <AccountForm title="Sign in to Trawl" button="Sign in" submit={submit}>
        <EmailField value={email} change={setEmail} isFirst />
        <CurrentPasswordField value={password} change={setPassword} />
      </AccountForm>
      <p className="faint">No account? Ask an owner.</p>
    </div>
  );
}
