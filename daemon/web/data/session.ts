// The signed-in user, fetched once per page load and whenever the window gets the focus. A session has ended if the
// daemon says so, or if the account is gone. Requests then wait until the same user signs in again. For a different
// user the page reloads, since everything on it belongs to one user.

import { QueryClient, useQuery } from '@tanstack/react-query';
import { create } from 'zustand';
import type { getAccount } from '../../api/accounts/account-endpoints.ts';
import { type AnswerOf, ApiFailure, call, heedRefusals, OfflineError } from './api.ts';
import { noteOffline } from './connection.ts';

export type Account = AnswerOf<typeof getAccount>;

export const ACCOUNT_KEY = ['account'] as const;

const TRIES_MAX = 3;

/** Retries only if the daemon did not answer or was busy. While it is unreachable, retries wait for it. */
function isWorthRetrying(count: number, error: Error): boolean {
  if (error instanceof OfflineError) noteOffline();
  if (count >= TRIES_MAX) return false;
  return error instanceof OfflineError || (error instanceof ApiFailure && error.statusCode === 503);
}

function pauseBefore(count: number, error: Error): number {
  const seconds = error instanceof ApiFailure ? error.retryAfter : undefined;
  return (seconds ?? 2 ** count) * 1000;
}

export const queryClient = new QueryClient({
  defaultOptions: {
    queries: { retry: isWorthRetrying, retryDelay: pauseBefore, staleTime: 30_000 },
    mutations: {
      onError: (error) => {
        if (error instanceof OfflineError) noteOffline();
      },
      // Why: a button must report at once that the daemon does not answer.
      networkMode: 'always',
    },
  },
});

interface Session {
  readonly isExpired: boolean;
  /** The user whose session ended. */
  readonly email: string | undefined;
}

export const useSession = create<Session>()(() => ({ isExpired: false, email: undefined }));

/** Requests that wait until their user signs in. */
const waiting: (() => void)[] = [];
const listeners = new Set<() => void>();

/** The user of this page; null: a guest; undefined: not known yet. */
let owner: Account['user'] | undefined;

/** Called when the session of a signed-in user has ended. */
export function noteExpired(): void {
  if (owner) useSession.setState({ isExpired: true, email: owner.email });
}

/** Calls back after the user whose session ended has signed in again. */
export function onSignedIn(listener: () => void): void {
  listeners.add(listener);
}

/** The same user is back: repeats the failed requests. */
function endExpiry(): void {
  useSession.setState({ isExpired: false, email: undefined });
  for (const go of waiting.splice(0)) go();
  for (const listener of listeners) listener();
}

heedRefusals((status, sentAt) => {
  if (status === 403) {
    // The user's role may have changed since the account was read.
    const read = queryClient.getQueryState(ACCOUNT_KEY);
    const readAt = Math.max(read?.dataUpdatedAt ?? 0, read?.errorUpdatedAt ?? 0);
    if (readAt <= sentAt && read?.fetchStatus === 'idle') void refreshSession();
    return Promise.resolve(false);
  }
  if (!owner) return Promise.resolve(false);
  noteExpired();
  return new Promise((resolve) => {
    waiting.push(() => resolve(true));
  });
});

/** The page belongs to the first user seen. */
function noteCaller({ user }: Account): void {
  if (owner === undefined) owner = user;
  if (owner?.id === user?.id) {
    // The user may have signed in again in another tab.
    if (useSession.getState().isExpired) endExpiry();
    return;
  }
  if (user === null) noteExpired();
  else {
    document.documentElement.hidden = true;
    location.reload();
  }
}

async function readAccount(signal?: AbortSignal): Promise<Account> {
  const account = await call<typeof getAccount>('/api/user', { signal });
  noteCaller(account);
  // While the page waits for its user it stays as it is.
  const kept = useSession.getState().isExpired
    ? queryClient.getQueryData<Account>(ACCOUNT_KEY)
    : undefined;
  return kept ?? account;
}

/** After a sign-in: the session goes on. Errors: as `call`; the browser kept no session. */
export async function resumeSession(): Promise<void> {
  queryClient.setQueryData(ACCOUNT_KEY, await readAccount());
  if (useSession.getState().isExpired)
    throw new Error('You are signed in, but the browser refuses the cookie of the session.');
}

/** Notices a session that has ended where guests are answered too: nothing is refused there. */
export function checkSession(): void {
  if (owner && queryClient.getQueryData<Account>(ACCOUNT_KEY)?.anonymousAccess === true)
    void refreshSession();
}

/** Fetches the signed-in user again. */
export async function refreshSession(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ACCOUNT_KEY });
}

// Why: the browser may restore a cached page for a different user. It stays hidden until it is reloaded.
window.addEventListener('pagehide', ({ persisted }) => {
  if (persisted) document.documentElement.hidden = true;
});
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

export function useAccount() {
  return useQuery({
    queryKey: ACCOUNT_KEY,
    queryFn: ({ signal }) => readAccount(signal),
    staleTime: 300_000,
    // The user may have signed in or out elsewhere.
    refetchOnWindowFocus: 'always',
  });
}
