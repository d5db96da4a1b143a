// Addresses that others give: which of them are of the web, and which lead to this instance.

/** The host of a web address; undefined: not a web address. */
export function hostOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const { protocol, host } = new URL(address);
  return protocol === 'https:' || protocol === 'http:' ? host : undefined;
}

/** The address to continue at after sign-in: that of a path of this instance; its start page for anything else. @param home  without a slash at its end */
export function addressWithin(home: string, path: string): string {
  const target = URL.parse(path.startsWith('/') ? `${home}${path}` : home)?.href ?? '';
  return target.startsWith(`${home}/`) ? target : `${home}/`;
}
