// Where somebody goes on behind signing in: a path of ours, below the base URL, and nothing that a browser reads as another
// host.

/** Bound: it stands in a cookie, sealed a third longer, of which browsers keep 4,096 bytes. */
const SIZE_MAX = 2_400;
/** Of any host: only what is compared counts. */
const HOME = 'https://trawl.invalid';

/** The path with its query, as a browser reads it; anything else is the start page. */
export function ownPath(wanted: string | null | undefined): string {
  if (wanted === null || wanted === undefined || wanted.length > SIZE_MAX) return '/';
  if (!wanted.startsWith('/') || !URL.canParse(wanted, HOME)) return '/';
  const { origin, pathname, search, hash } = new URL(wanted, HOME);
  return origin === HOME && !pathname.startsWith('//') ? pathname + search + hash : '/';
}
