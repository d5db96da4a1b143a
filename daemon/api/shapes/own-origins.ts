// The origins of this daemon, as browsers and clients name them.

/** That of the base URL; on loopback, where names are interchangeable, also that of the Host header. */
export function ownOrigins(baseUrl: string, host: string | undefined): string[] {
  const { origin, hostname, protocol } = new URL(baseUrl);
  const isLoopback = hostname === 'localhost' && protocol === 'http:';
  return isLoopback && host !== undefined ? [origin, `http://${host}`] : [origin];
}
