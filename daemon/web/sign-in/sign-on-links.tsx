// The ways to sign in by an identity provider, and why one came to nothing. They are plain links: the whole page goes there.

import { useQuery } from '@tanstack/react-query';
import { REFUSALS } from '../../accounts/sign-on/refusals.ts';
import type { getAuthState } from '../../api/accounts/account-endpoints.ts';
import { call } from '../data/api.ts';
import { Notice } from '../parts/notice.tsx';

/** The ways to come in; undefined until they are known. */
export function useWaysIn() {
  const { data } = useQuery({
    queryKey: ['ways in'],
    queryFn: ({ signal }) => call<typeof getAuthState>('/api/auth/state', { signal }),
  });
  return data;
}

/** How the first account comes about. */
export const FIRST_ACCOUNT =
  'There is no account yet. Where Trawl was started, its output shows a one-time link that creates the first one; ' +
  '“trawl user add EMAIL --role owner” on the server prints one, too.';

/** @param returnTo  path of ours where the person goes on, with the query */
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

/** @param reason  as the address of the page has it, which anybody may have written */
export function SignOnFailure({ reason }: { readonly reason: string | null }) {
  const refusal = Object.entries(REFUSALS).find(([name]) => name === reason)?.[1];
  return refusal === undefined ? null : <Notice kind="danger" title={refusal.text} />;
}
