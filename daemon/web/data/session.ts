// Who is here: asked once a page load, and again when somebody signs in or out.

import { QueryClient, useQuery } from '@tanstack/react-query';
import type { getAccount } from '../../http/api/accounts/account-endpoints.ts';
import { call, OfflineError, ApiFailure } from './api.ts';
import type { AnswerOf } from './api.ts';
import { BASE_PATH } from './place.ts';

export type Account = AnswerOf<typeof getAccount>;

export const ACCOUNT_KEY = ['account'] as const;

/** Retries only what may go better: nobody answered, or the daemon was busy. */
function isWorthRetrying(count: number, error: Error): boolean {
  if (count >= 3) return false;
  return error instanceof OfflineError || (error instanceof ApiFailure && error.statusCode === 503);
}

export const queryClient = new QueryClient({
  defaultOptions: { queries: { retry: isWorthRetrying, staleTime: 30_000 } },
});

export function useAccount() {
  return useQuery({
    queryKey: ACCOUNT_KEY,
    queryFn: ({ signal }) => call<typeof getAccount>('/api/user', { base: BASE_PATH, signal }),
    staleTime: 300_000,
  });
}
