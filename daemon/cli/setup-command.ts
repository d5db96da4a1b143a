// What a one-time link is shown as: the request that uses it, as a curl line. Why not the link itself: the page behind
// it comes with a later version; then `setupCommand` gives back the link, and nothing else changes.

/** Shown in place of what the reader has to fill in. */
const EMAIL = 'you@example.com';
const NAME = 'Your Name';
const PASSWORD = '8 characters or more';

/**
 * The command that uses a link, in one line for a POSIX shell.
 *
 * @param setupUrl  `{baseUrl}/setup?token=...`
 * @param email     of the user that the link is for; absent: the reader's
 */
export function setupCommand(setupUrl: string, email: string = EMAIL): string {
  const url = new URL(setupUrl);
  const token = url.searchParams.get('token');
  const endpoint = `${url.origin}${url.pathname.replace(/setup$/, 'api/auth/setup')}`;
  const body = JSON.stringify({ token, email, name: NAME, password: PASSWORD });
  return `curl -s ${quoted(endpoint)} -H 'content-type: application/json' -d ${quoted(body)}`;
}

/** As one word of a POSIX shell. */
function quoted(text: string): string {
  return /^[\w:/.@-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
