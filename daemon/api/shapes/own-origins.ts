// The origins that this daemon is reached under, as browsers and clients name them.

/** That of the base URL; on loopback, whose names stand for one another, that of the Host header too. */
export function ownOrigins(baseUrl: string, host: string | undefined): string[] {
  const { origin, hostname, protocol } = new URL(baseUrl);
  const isLoopback = hostname === 'localhost' && protocol === 'http:';
  return isLoopback && host !== undefined ? [origin, `http://${host}`] : [origin];
}
