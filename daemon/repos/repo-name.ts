// Repo names from addresses: `https://user@host:8443/owner/name.git` and `git@host:owner/name.git` give
// `host:8443/owner/name` and `host/owner/name`.

/** `user@host:path`: the colon comes before every slash, and the host has at least two characters (`C:\` is a drive). */
const SCP_LIKE = /^(?:[^@/\s]+@)?(\[[^\]\s]+\]|[^:/\s[\]]{2,}):(?!:|\/\/)(.+)$/s;

/**
 * The repo name of a remote's address: host, port if any, and path, without `.git`, user and password. Undefined for local
 * paths, and for invalid and too long addresses.
 */
export function repoNameFromUrl(address: string): string | undefined {
  const text = address.trim();
  const scpLike = SCP_LIKE.exec(text);
  if (scpLike !== null) return joinName(scpLike[1] ?? '', scpLike[2] ?? '');
  if (!URL.canParse(text)) return undefined;
  const url = new URL(text);
  if (url.protocol === 'file:') return undefined;
  return joinName(url.host, decodePath(url.pathname));
}

/** Bound, in bytes, of names and of paths at a host: an index of PostgreSQL takes 2,704, with the address of the host. */
export const NAME_SIZE_MAX = 2_000;

export function isNameTooLong(name: string): boolean {
  return Buffer.byteLength(name) > NAME_SIZE_MAX;
}

/** Why: `ext::sh -c ...` names a program. */
const HOST = /^(?:[\p{L}\p{N}._-]+|\[[0-9a-f:.]+\])(?::\d+)?$/iu;

function joinName(host: string, path: string): string | undefined {
  const segments = path.split('/').filter((segment) => segment !== '' && segment !== '.');
  const last = segments.pop()?.replace(/\.git$/, '');
  if (last !== undefined && last !== '') segments.push(last);
  if (!HOST.test(host) || segments.length === 0 || segments.includes('..')) return undefined;
  const name = [host.toLowerCase(), ...segments].join('/').replace(/\p{Cc}/gu, '');
  return isNameTooLong(name) ? undefined : name;
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** `name`, or the first of `name-2`, `name-3` ... that is not in `taken`. */
export function freeRepoName(name: string, taken: ReadonlySet<string>): string {
  if (!taken.has(name)) return name;
  for (let suffix = 2; ; suffix++) {
    const candidate = `${name}-${suffix}`;
    if (!taken.has(candidate)) return candidate;
  }
}
