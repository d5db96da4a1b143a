// Who is here: asked once a page load, and again when the window is come back to. A session that ended is noticed where the
// daemon says so, or where an account is gone that was there; what was asked for waits until the same person has signed in. Where
// another one is here the page is loaded anew: whatever it shows or keeps is of one person, in all of its parts.

import { QueryClient, useQuery } from '@tanstack/react-query';
import { create } from 'zustand';
import type { getAccount } from '../../api/accounts/account-endpoints.ts';
import { ApiFailure, OfflineError, call, heedRefusals } from './api.ts';
import type { AnswerOf } from './api.ts';
import { noteOffline } from './connection.ts';

export type Account = AnswerOf<typeof getAccount>;

export const ACCOUNT_KEY = ['account'] as const;

const TRIES_MAX = 3;

/** Retries only what may go better: nobody answered, or the daemon was busy. Without a daemon retries wait for it. */
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
      // Why: a press of a button says at once that nobody answers.
      networkMode: 'always',
    },
  },
});

interface Session {
  readonly isExpired: boolean;
  /** Who was signed in when it ended. */
  readonly email: string | undefined;
}

export const useSession = create<Session>()(() => ({ isExpired: false, email: undefined }));

/** Calls that wait until their person has signed in. */
const waiting: (() => void)[] = [];
const listeners = new Set<() => void>();

/** Whose page this is; null: a guest's; undefined: not known yet. */
let owner: Account['user'] | undefined;

/** The session of somebody who was signed in has ended. */
export function noteExpired(): void {
  if (owner) useSession.setState({ isExpired: true, email: owner.email });
}

/** Runs where the person of a session that ended has signed in again. */
export function onSignedIn(listener: () => void): void {
  listeners.add(listener);
}

/** The same person is here again: what was refused is asked again. */
export function endExpiry(): void {
  useSession.setState({ isExpired: false, email: undefined });
  for (const go of waiting.splice(0)) go();
  for (const listener of listeners) listener();
}

heedRefusals(() => {
  if (!owner) return Promise.resolve(false);
  noteExpired();
  return new Promise((resolve) => {
    waiting.push(() => resolve(true));
  });
});

/** The page is of the first one who is here. */
function noteCaller({ user }: Account): void {
  if (owner === undefined) owner = user;
  if (owner?.id === user?.id) return;
  if (user === null) noteExpired();
  else location.reload();
}

/** Asks who is here. */
export async function refreshSession(): Promise<void> {
  await queryClient.invalidateQueries({ queryKey: ACCOUNT_KEY });
}

// A page that the browser keeps whole for the way back may then be before another person: it is not seen until loaded anew.
window.addEventListener('pagehide', ({ persisted }) => {
  if (persisted) document.documentElement.hidden = true;
});
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) location.reload();
});

export function useAccount() {
  return useQuery({
    queryKey: ACCOUNT_KEY,
    queryFn: async ({ signal }) => {
      const account = await call<typeof getAccount>('/api/user', { signal });
      noteCaller(account);
      return account;
    },
    staleTime: 300_000,
    // They may have signed in or out elsewhere.
    refetchOnWindowFocus: 'always',
  });
}
