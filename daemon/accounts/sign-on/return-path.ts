// The visit to an identity provider: how long it may take, and where to continue after it: a path of ours, below the base
// URL, which no browser reads as another host.

export const PENDING_SECONDS = 600;

/** Bound: it is stored in a cookie, a third longer once sealed, of which browsers keep 4,096 bytes. */
const SIZE_MAX = 2_400;
/** Any host: only for comparison. */
const HOME = 'https://trawl.invalid';

/** The path with its query, as a browser reads it; the start page if invalid. */
export function ownPath(requested: string | null | undefined): string {
  if (requested === null || requested === undefined || requested.length > SIZE_MAX) return '/';
  if (!requested.startsWith('/') || !URL.canParse(requested, HOME)) return '/';
  const { origin, pathname, search, hash } = new URL(requested, HOME);
  return origin === HOME && !pathname.startsWith('//') ? pathname + search + hash : '/';
}
