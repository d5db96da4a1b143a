// Where this instance lives: the path of its base URL, which stands before every address, and the nonce for styles.

function metaContent(name: string): string {
  if (typeof document === 'undefined') return '';
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? '';
}

/** Path of the base URL without a slash at its end; '' where the instance has a host of its own, and in workers, which are told. */
export const BASE_PATH = metaContent('trawl-base');

/** What the page's policy lets the code view put into its one style tag. */
export const STYLE_NONCE = metaContent('trawl-nonce');

/** Where to sign in, and come back from. */
export function signInAddress(): string {
  const here = `${location.pathname.slice(BASE_PATH.length)}${location.search}`;
  return `/login?${new URLSearchParams({ return: here }).toString()}`;
}
