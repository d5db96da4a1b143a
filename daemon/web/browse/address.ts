// Addresses of browse pages: `/browse/{repository}[@{revision}]/-/{kind}/{path}`. Each segment is percent-encoded.

export type BrowseKind = 'blob' | 'tree' | 'commits' | 'commit';

export interface BrowseTarget {
  readonly repo: string;
  /** As in the address; undefined: the default revision. */
  readonly revision: string | undefined;
  readonly kind: BrowseKind;
  /** Path of the file or folder ('' for the root), or the id of a commit. */
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

/** Encodes the part before `/-/`. A segment that is only a dash is encoded as well; else it would end this part. */
function encodeName(text: string): string {
  return encode(text).replace(/(?<=^|\/)-(?=\/|$)/g, '%2D');
}

/**
 * The target of an address. A repository without a path means its root folder.
 *
 * @param rest  what follows `/browse/`, still encoded
 * @returns  undefined: not a valid address
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

/** The address below the base path. */
export function addressOf({ repo, revision, kind, path }: BrowseTarget): string {
  const at = revision === undefined ? '' : `@${encodeName(revision)}`;
  return `/browse/${encodeName(repo)}${at}/-/${kind}/${encode(path)}`;
}
