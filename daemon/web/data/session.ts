// Who is here: asked once a page load, and again when somebody signs in or out. A session that ended is noticed where the
// daemon says so, or where an account is gone that was there; what was asked for waits until somebody has signed in.

import { QueryClient, useQuery } from '@tanstack/react-query';
import { create } from 'zustand';
import type { getAccount } from '../../http/api/accounts/account-endpoints.ts';
import { ApiFailure, OfflineError, call, heedRefusals } from './api.ts';
import type { AnswerOf } from './api.ts';
import { noteOffline } from './connection.ts';
import { BASE_PATH } from './place.ts';

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

/** Calls that wait until somebody has signed in; false: nobody did. */
let waiting: ((isSignedIn: boolean) => void)[] = [];
const listeners = new Set<() => void>();

function knownEmail(): string | undefined {
  return queryClient.getQueryData<Account>(ACCOUNT_KEY)?.user?.email;
}

/** The session of somebody who was signed in has ended. */
export function noteExpired(): void {
  const email = knownEmail();
  if (email !== undefined) useSession.setState({ isExpired: true, email });
}

/** Runs with each account that signs in after a session ended. */
export function onSignedIn(listener: () => void): void {
  listeners.add(listener);
}

/** Ends the waiting: what was refused is asked again, or stays refused. */
export function endExpiry(isSignedIn: boolean): void {
  useSession.setState({ isExpired: false, email: undefined });
  for (const go of waiting.splice(0)) go(isSignedIn);
  if (isSignedIn) for (const listener of listeners) listener();
}

heedRefusals(() => {
  if (knownEmail() === undefined) return Promise.resolve(false);
  noteExpired();
  return new Promise((resolve) => {
    waiting.push(resolve);
  });
});

export function useAccount() {
  return useQuery({
    queryKey: ACCOUNT_KEY,
    queryFn: async ({ signal }) => {
      const email = knownEmail();
      const account = await call<typeof getAccount>('/api/user', { base: BASE_PATH, signal });
      // A guest where somebody was signed in before: signing out loads the page anew.
      if (account.user === null && email !== undefined)
        useSession.setState({ isExpired: true, email });
      return account;
    },
    staleTime: 300_000,
  });
}
