// Sign-in after a session ended. The page is covered until the same user is back; failed requests are then repeated.
// For a different user the page reloads.

import { Dialog, DialogDismiss } from '@ariakit/react';
import { type ReactNode, useState } from 'react';
import type { logIn } from '../../api/accounts/account-endpoints.ts';
import { call } from '../data/api.ts';
import { ownPath } from '../data/base-path.ts';
import { resumeSession, useSession } from '../data/session.ts';
import { AccountForm } from '../sign-in/account-form.tsx';
import { CurrentPasswordField, EmailField } from '../sign-in/credential-fields.tsx';
import { SignOnCard, SignOnLinks, useWaysIn } from '../sign-in/sign-on-links.tsx';
import '../styles/overlays.css';

const TITLE = 'Your session ended.';

function PasswordForm({ children }: { readonly children: ReactNode }) {
  const email = useSession((state) => state.email);
  const [address, setAddress] = useState(email ?? '');
  const [password, setPassword] = useState('');
  const submit = async (): Promise<void> => {
    const body = { email: address, password };
    await call<typeof logIn>('/api/auth/login', { method: 'POST', body });
    await resumeSession();
  };
  return (
    <AccountForm
      title={TITLE}
      lead="Sign in to continue. Nothing on this page is lost."
      button="Sign in"
      submit={submit}
    >
      <EmailField value={address} change={setAddress} />
      <CurrentPasswordField value={password} change={setPassword} isFirst />
      <SignOnLinks returnTo={ownPath()} />
      {children}
    </AccountForm>
  );
}

export default function SessionDialog() {
  const ways = useWaysIn();
  const leave = <DialogDismiss className="button">Continue without signing in</DialogDismiss>;
  return (
    <Dialog
      open
      onClose={() => location.reload()}
      hideOnInteractOutside={false}
      className="dialog dialog-bare"
      aria-label={TITLE}
      backdrop={<div className="backdrop backdrop-full" />}
    >
      {ways?.passwordLogin === false ? (
        <SignOnCard title={TITLE} returnTo={ownPath()}>
          {leave}
        </SignOnCard>
      ) : (
        <PasswordForm>{leave}</PasswordForm>
      )}
    </Dialog>
  );
}
