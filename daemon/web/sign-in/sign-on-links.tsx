// Links to sign in through an identity provider, and the error of a failed attempt. They are plain links, since the
// whole page navigates.

import type { ReactNode } from 'react';
import { useQuery } from '@tanstack/react-query';
import { REFUSALS } from '../../accounts/sign-on/refusals.ts';
import type { getAuthState } from '../../api/accounts/account-endpoints.ts';
import { call } from '../data/api.ts';
import { Notice } from '../parts/notice.tsx';

/** The sign-in methods; undefined while loading. */
export function useWaysIn() {
  const { data } = useQuery({
    queryKey: ['ways in'],
    queryFn: ({ signal }) => call<typeof getAuthState>('/api/auth/state', { signal }),
  });
  return data;
}

/** How to get the first account. */
export const FIRST_ACCOUNT =
  'There is no account yet. Trawl prints a one-time link for the first account when it starts. ' +
  'To get another link, run “trawl user add EMAIL --role owner” on the server.';

/** @param returnTo  path of this instance to continue at, including the query */
export function SignOnLinks({ returnTo }: { readonly returnTo: string }) {
  const providers = useWaysIn()?.providers ?? [];
  return providers.map(({ name, url }) => (
    <a
      key={url}
      className="button"
      href={`${url}?${new URLSearchParams({ return: returnTo }).toString()}`}
    >
      Continue with {name}
    </a>
  ));
}

interface SignOnCardProps {
  readonly title: string;
  readonly returnTo: string;
  readonly children?: ReactNode;
}

/** For instances without sign-in by password. */
export function SignOnCard({ title, returnTo, children }: SignOnCardProps) {
  return (
    <div className="card">
      <h1>{title}</h1>
      <SignOnLinks returnTo={returnTo} />
      {children}
    </div>
  );
}

/** @param reason  from the page's address, so it may be forged */
export function SignOnFailure({ reason }: { readonly reason: string | null }) {
  const text = Object.entries(REFUSALS).find(([name]) => name === reason)?.[1];
  return text === undefined ? null : <Notice kind="danger" title={text} />;
}
