// Sign-in after a session ended. The page is covered until the same user is back; failed requests are then repeated.
// For a different user the page reloads.

import { Dialog, DialogDismiss } from '@ariakit/react';
import { useState } from 'react';
import type { logIn } from '../../api/accounts/account-endpoints.ts';
import { call } from '../data/api.ts';
import { BASE_PATH } from '../data/base-path.ts';
import { endExpiry, refreshSession, useSession } from '../data/session.ts';
import { AccountForm } from '../sign-in/account-form.tsx';
import { CurrentPasswordField, EmailField } from '../sign-in/credential-fields.tsx';
import { SignOnLinks } from '../sign-in/sign-on-links.tsx';
import '../styles/overlays.css';

/** This page's address below the base URL; an identity provider returns to it. */
function ownPath(): string {
  return location.href.slice(location.origin.length + BASE_PATH.length);
}

export default function SessionDialog() {
  const email = useSession((state) => state.email);
  const [address, setAddress] = useState(email ?? '');
  const [password, setPassword] = useState('');
  const submit = async (): Promise<void> => {
    const body = { email: address, password };
    const user = await call<typeof logIn>('/api/auth/login', { method: 'POST', body });
    if (user.email !== email) {
      location.reload();
      return;
    }
    endExpiry();
    await refreshSession();
  };
  return (
    <Dialog
      open
      onClose={() => location.reload()}
      hideOnInteractOutside={false}
      className="dialog dialog-bare"
      aria-label="Your session ended."
      backdrop={<div className="backdrop backdrop-full" />}
    >
      <AccountForm
        title="Your session ended."
        lead="Sign in to continue. Nothing on this page is lost."
        button="Sign in"
        submit={submit}
      >
        <EmailField value={address} change={setAddress} />
        <CurrentPasswordField value={password} change={setPassword} isFirst />
        <SignOnLinks returnTo={ownPath()} />
        <DialogDismiss className="button">Continue without signing in</DialogDismiss>
      </AccountForm>
    </Dialog>
  );
}
