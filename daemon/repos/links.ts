// URLs of a repo and its files, in this daemon and at the code host. Each path segment is percent-encoded, slashes are
// kept.

import type { CodeHostType } from './records.ts';

export function encodeSegments(text: string): string {
  // Why: the detour over bytes turns a lone surrogate, at which encodeURIComponent throws, into U+FFFD.
  return Buffer.from(text).toString().split('/').map(encodeURIComponent).join('/');
}

/** A repo name or ref before the `/-/` of a page here; a segment that is a dash must not be confused with it. */
function encodeName(text: string): string {
  return encodeSegments(text).replace(/(?<=^|\/)-(?=\/|$)/g, '%2D');
}

/** Page of a file here; `ref` undefined omits the `@ref` part. */
export function blobPageUrl(
  baseUrl: string,
  repoName: string,
  ref: string | undefined,
  path: string,
): string {
  const at = ref === undefined ? '' : `@${encodeName(ref)}`;
  return `${baseUrl}/browse/${encodeName(repoName)}${at}/-/blob/${encodeSegments(path)}`;
}

/** Page of the root folder of a repo here. */
export function treePageUrl(baseUrl: string, repoName: string): string {
  return `${baseUrl}/browse/${encodeName(repoName)}/-/tree/`;
}

/** `refs/heads/main` -> `main`, `refs/tags/v1` -> `v1`; other texts are unchanged. */
export function shortRefName(ref: string): string {
  return ref.replace(/^refs\/(?:heads|tags)\//, '');
}

/** {web} = page of the repo at the host, {b} = branch, tag or commit, {p} = path; {kind} and {azure} say what {b} is. */
const FILE_PAGE_TEMPLATES: Readonly<Record<CodeHostType, string | undefined>> = {
  github: '{web}/blob/{b}/{p}',
  gitlab: '{web}/-/blob/{b}/{p}',
  gitea: '{web}/src/{kind}/{b}/{p}',
  azuredevops: '{web}?path=/{p}&version={azure}{b}',
  bitbucketCloud: '{web}/src/{b}/{p}',
  bitbucketServer: '{web}/browse/{p}?at={b}',
  gerrit: '{web}/+/{b}/{p}',
  genericGitHost: undefined,
};

/** `GB`, `GT` and `GC` are Azure DevOps' words for branch, tag and commit. */
const REF_KINDS = { branch: 'GB', tag: 'GT', commit: 'GC' } as const;

function refKindOf(ref: string): keyof typeof REF_KINDS {
  if (ref.startsWith('refs/tags/')) return 'tag';
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(ref) ? 'commit' : 'branch';
}

/** Page of a file at its code host; undefined if the repo has no page or the host's URL format is unknown. */
export function externalFileUrl(
  repo: { readonly codeHostType: CodeHostType; readonly webUrl?: string },
  ref: string,
  path: string,
): string | undefined {
  const template = FILE_PAGE_TEMPLATES[repo.codeHostType];
  const { webUrl } = repo;
  if (template === undefined || webUrl === undefined) return undefined;
  const kind = refKindOf(ref);
  const values: Record<string, string> = {
    web: webUrl,
    kind,
    azure: REF_KINDS[kind],
    b: encodeSegments(shortRefName(ref)),
    p: encodeSegments(path),
  };
  return template.replace(/\{(\w+)\}/g, (_, key: string) => values[key] ?? '');
}
