// Record of a repo, whatever its source: stored by the catalog, listed by the API, matched by query filters.

import { omitUndefined } from '../base/omit-undefined.ts';

export const CODE_HOST_TYPES = [
  'github',
  'gitlab',
  'gitea',
  'gerrit',
  'bitbucketServer',
  'bitbucketCloud',
  'genericGitHost',
  'azuredevops',
] as const;
export type CodeHostType = (typeof CODE_HOST_TYPES)[number];

/**
 * Source of a repo's docs. `commits`: the commit that a ref names, read from git objects; `worktree`: the files on disk that
 * git does not ignore; `folder`: a plain directory without git.
 */
export const SOURCE_KINDS = ['commits', 'worktree', 'folder'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** Who may see a repo, according to its host or owner. */
export const VISIBILITIES = ['public', 'internal', 'private', 'unknown'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/**
 * Whose permissions are enforced: `none`: everybody sees the repo; `restricted`: permissions of repos that are neither
 * public nor, for members, internal; `all`: of every repo.
 */
export const ENFORCEMENTS = ['none', 'restricted', 'all'] as const;
export type Enforcement = (typeof ENFORCEMENTS)[number];

/** Which files of a source are docs, besides its ignore files. */
export interface SourceRules {
  /** Ignore files and git's ignore rules are not applied. */
  readonly noIgnore?: true;
  /** Globs of excluded paths on disk, with everything below; the last match decides, `!` includes again. */
  readonly ignore?: readonly string[];
  /** Of a plain folder: excludes git repositories below it, which are sources themselves. */
  readonly reposApart?: true;
}

export interface RepoSource extends SourceRules {
  readonly kind: SourceKind;
  /** Absolute path: the repository (bare or with a work tree) or the plain directory. */
  readonly path: string;
  /** Of a submodule: the object id of its one commit; absent: refs decide. */
  readonly commit?: string;
}

export function rulesOf({ noIgnore, ignore, reposApart }: SourceRules): SourceRules {
  return {
    ...omitUndefined({ noIgnore }),
    ...(ignore === undefined || ignore.length === 0 ? {} : { ignore }),
    ...omitUndefined({ reposApart }),
  };
}

/** Branches and tags indexed besides the default revision: globs over their short names. */
export interface RevisionSelection {
  readonly branches: readonly string[];
  readonly tags: readonly string[];
}

/** Facts from the host, displayed as they are. */
export interface RepoFacts {
  readonly displayName?: string;
  readonly webUrl?: string;
  /** Picture of the repo or its owner at the code host. */
  readonly imageUrl?: string;
  readonly isFork: boolean;
  readonly isArchived: boolean;
  readonly topics: readonly string[];
  /** ISO 8601, time of the newest commit, or of the last push. Absent: unknown. */
  readonly pushedAt?: string;
}

export interface RepoRecord extends Omit<RepoFacts, 'topics'> {
  /** Integer id, 1 or higher, never reused. */
  readonly repoId: number;
  /** For example `github.com/owner/name` or `local/folder`. */
  readonly name: string;
  readonly codeHostType: CodeHostType;
  readonly topics?: readonly string[];
  readonly visibility: Visibility;
  /** Absent: `none`. */
  readonly enforcement?: Exclude<Enforcement, 'none'>;
  /** Of a submodule: visible to everybody who sees all of these repos, whatever else applies to it. */
  readonly within?: readonly number[];
  readonly source: RepoSource;
  /** Full ref name of the default revision, `refs/heads/main`, or `HEAD` if it is unknown. */
  readonly defaultRevision: string;
  /** Full ref name of the default branch if `defaultRevision` does not name it; absent if unknown. */
  readonly defaultBranch?: string;
  /** Absent: only the default revision. */
  readonly selection?: RevisionSelection;
  /**
   * Full ref names of the indexed revisions, the default one first, then by name; the catalog then has a revision file.
   * Absent: only the default revision, which holds every doc.
   */
  readonly revisions?: readonly string[];
  /** Of the record of one search: names of on-demand revisions, which follow the indexed ones. */
  readonly onDemand?: readonly string[];
  /** ISO 8601, end of the last published build; absent: never indexed. */
  readonly indexedAt?: string;
}
