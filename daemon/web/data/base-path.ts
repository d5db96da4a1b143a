// Facts about this instance from the page's meta tags: the path of its base URL, which comes before every address, and
// the nonce for styles.

function metaContent(name: string): string {
  if (typeof document === 'undefined') return '';
  return document.querySelector(`meta[name="${name}"]`)?.getAttribute('content') ?? '';
}

/**
 * Path of the base URL without a final slash. It is '' if the instance has its own host, and in workers, which get it
 * in a message.
 */
export const BASE_PATH = metaContent('trawl-base');

/** Nonce with which the content security policy allows the code view's style tag. */
export const STYLE_NONCE = metaContent('trawl-nonce');

/** The path of an API `webUrl` below the base path. */
export function belowBase(webUrl: string): string {
  return new URL(webUrl).pathname.slice(BASE_PATH.length);
}

/** This page's address below the base URL, to return to. */
export function ownPath(): string {
  return location.href.slice(location.origin.length + BASE_PATH.length);
}

/** Address of the sign-in page, which returns here. */
export function signInAddress(): string {
  return `/login?${new URLSearchParams({ return: ownPath() }).toString()}`;
}
