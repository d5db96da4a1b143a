// Addresses of what is browsed: `/browse/{repository}[@{revision}]/-/{kind}/{path}`, each part percent-encoded by segment.

export type BrowseKind = 'blob' | 'tree' | 'commits' | 'commit';

export interface BrowseTarget {
  readonly repo: string;
  /** As in the address; undefined: the default revision. */
  readonly revision: string | undefined;
  readonly kind: BrowseKind;
  /** Of a file or folder, '' for the root; the id of a commit. */
  readonly path: string;
}

const KINDS: readonly string[] = ['blob', 'tree', 'commits', 'commit'] satisfies BrowseKind[];

function isKind(text: string): text is BrowseKind {
  return KINDS.includes(text);
}

function decode(text: string): string | undefined {
  try {
    return text.split('/').map(decodeURIComponent).join('/');
  } catch {
    return undefined;
  }
}

function encode(text: string): string {
  return text.split('/').map(encodeURIComponent).join('/');
}

/** What stands before `/-/`: a segment of it that is a dash would be taken for that. */
function encodeName(text: string): string {
  return encode(text).replace(/(?<=^|\/)-(?=\/|$)/g, '%2D');
}

/**
 * A repository without more is its root.
 *
 * @param rest  what follows `/browse/`, still encoded. Undefined: no such address.
 */
export function targetOf(rest: string): BrowseTarget | undefined {
  if (!/\/-\/./.test(rest)) return targetOf(`${rest.replace(/(?:\/-?)+$/, '')}/-/tree/`);
  const cut = rest.indexOf('/-/');
  const [repoPart = '', ...revisionParts] = rest.slice(0, cut).split('@');
  const [kind = '', ...path] = rest.slice(cut + 3).split('/');
  const repo = decode(repoPart);
  const revision = revisionParts.length === 0 ? undefined : decode(revisionParts.join('@'));
  const decodedPath = decode(path.join('/'));
  if (repo === undefined || repo === '' || decodedPath === undefined || !isKind(kind))
    return undefined;
  return { repo, revision, kind, path: decodedPath.replace(/\/$/, '') };
}

/** The part of a `webUrl` of the API that is below the base path. */
export function belowBase(webUrl: string): string {
  const { pathname } = new URL(webUrl);
  return pathname.slice(pathname.indexOf('/browse/'));
}

/** The address below the base path. */
export function addressOf({ repo, revision, kind, path }: BrowseTarget): string {
  const at = revision === undefined ? '' : `@${encodeName(revision)}`;
  return `/browse/${encodeName(repo)}${at}/-/${kind}/${encode(path)}`;
}
