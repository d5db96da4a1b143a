// What the pages of signing in share: a card with a form, one error, one button.

import type { ReactNode } from 'react';
import { useState } from 'react';
import { ApiFailure } from '../data/api.ts';
import { ACCOUNT_KEY, queryClient } from '../data/session.ts';
import { Notice } from '../parts/notice.tsx';

interface AccountFormProps {
  readonly title: string;
  readonly lead?: string;
  readonly button: string;
  readonly children: ReactNode;
  /** Errors are shown in the form. */
  readonly submit: () => Promise<void>;
}

/** After signing in or out everything that was asked for somebody else is asked again. */
export async function accountChanged(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ACCOUNT_KEY });
  await queryClient.invalidateQueries();
}

/** A path of this instance to go on to; anything else is not followed. */
export function returnPath(parameters: URLSearchParams): string {
  const wanted = parameters.get('return') ?? '/';
  return /^\/(?![/\\])[^\\]*$/.test(wanted) ? wanted : '/';
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
        failure instanceof ApiFailure || failure instanceof Error ? failure.message : 'It failed.',
      );
    } finally {
      setBusy(false);
    }
  };
  return (
    <form
      className="card"
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
    >
      <h1>{title}</h1>
      {lead !== undefined && <p className="faint">{lead}</p>}
      {children}
      {error !== undefined && <Notice kind="danger" title={error} />}
      <button type="submit" className="button button-primary" disabled={isBusy}>
        {button}
      </button>
    </form>
  );
}
