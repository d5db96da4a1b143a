// The form that the sign-in pages share: a card with fields, one error and one button.

import { type ReactNode, useState } from 'react';
import { ApiFailure } from '../data/api.ts';
import { BASE_PATH } from '../data/base-path.ts';
import { Form } from '../parts/form.tsx';
import { Notice } from '../parts/notice.tsx';
import { addressWithin } from '../parts/web-address.ts';

interface AccountFormProps {
  readonly title: string;
  readonly lead?: string;
  readonly button: string;
  readonly children: ReactNode;
  /** The form displays its errors. */
  readonly submit: () => Promise<void>;
}

/** Continues after sign-in. The page reloads, since nothing on it was loaded for this user. */
export function goOnTo(path: string): void {
  location.replace(addressWithin(`${location.origin}${BASE_PATH}`, path));
}

export function AccountForm({ title, lead, button, children, submit }: AccountFormProps) {
  const [error, setError] = useState<string>();
  const [isBusy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await submit();
    } catch (failure) {
      setError(
        failure instanceof ApiFailure || failure instanceof Error
          ? failure.message
          : 'The request failed.',
      );
    } finally {
      setBusy(false);
    }
  };
  return (
    <Form className="card" send={() => void run()}>
      <h1>{title}</h1>
      {lead !== undefined && <p className="faint">{lead}</p>}
      {children}
      {error !== undefined && <Notice kind="danger" title={error} />}
      <button type="submit" className="button button-primary" disabled={isBusy}>
        {button}
      </button>
    </Form>
  );
}
