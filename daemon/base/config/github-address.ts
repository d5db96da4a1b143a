// Where the API of a GitHub server is, by the address of its pages.

/** github.com and hosts of ghe.com have a host for their API, own servers a folder. */
export function githubApiUrl(url: string): string {
  const { protocol, host } = new URL(url);
  return isGithubCloud(url) ? `${protocol}//api.${host}` : `${url.replace(/\/+$/, '')}/api/v3`;
}

/** Whether GitHub runs the host. */
export function isGithubCloud(url: string): boolean {
  const { host } = new URL(url);
  return host === 'github.com' || host.endsWith('.ghe.com');
}
