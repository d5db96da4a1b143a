// How often what may change is looked at again.

/** ms between looks at what is under way, and at what rests or nobody sees. */
const ACTIVE_MS = 1000;
const AT_REST_MS = 15_000;

/** For `refetchInterval`. */
export function pollMs(isActive: boolean): number {
  return isActive && !document.hidden ? ACTIVE_MS : AT_REST_MS;
}

/** For queries that look again: also in a tab that is hidden, and at once when it is seen again. */
export const POLLED = { refetchIntervalInBackground: true, staleTime: 0 } as const;
