// How often changing data is fetched again.

/** ms between fetches: while something is in progress, and while nothing is or the tab is hidden. */
const ACTIVE_MS = 1000;
const AT_REST_MS = 15_000;

/** For `refetchInterval`. */
export function pollMs(isActive: boolean): number {
  return isActive && !document.hidden ? ACTIVE_MS : AT_REST_MS;
}

/** For polled queries: they continue in a hidden tab, and fetch at once when it becomes visible. */
export const POLLED = { refetchIntervalInBackground: true, staleTime: 0 } as const;
