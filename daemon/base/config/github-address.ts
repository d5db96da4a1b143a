// Address of the API of a GitHub server, derived from the address of its pages.

/** github.com and hosts under ghe.com have an API host, self-hosted servers a path. */
export function githubApiUrl(url: string): string {
  const { protocol, host } = new URL(url);
  return isGithubCloud(url) ? `${protocol}//api.${host}` : `${url}/api/v3`;
}

export function isGithubCloud(url: string): boolean {
  const { host } = new URL(url);
  return host === 'github.com' || host.endsWith('.ghe.com');
}
