// What the daemon knows about a repo, whatever its source: the record that the catalog keeps, that the
// API lists and that filters of a query look at.

import { given } from '../base/given.ts';

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
 * Where the docs of a repo come from.
 * `commits`: the commit that a ref names, read from git objects; `worktree`: the files on disk that git
 * does not ignore; `folder`: a plain directory without git.
 */
export const SOURCE_KINDS = ['commits', 'worktree', 'folder'] as const;
export type SourceKind = (typeof SOURCE_KINDS)[number];

/** Who may see a repo, as its host or its owner says. */
export const VISIBILITIES = ['public', 'internal', 'private', 'unknown'] as const;
export type Visibility = (typeof VISIBILITIES)[number];

/**
 * Whose permissions are asked for: `none`: nobody's, everybody sees the repo; `restricted`: those of repos that are neither
 * public nor, for members, internal; `all`: of every repo.
 */
export const ENFORCEMENTS = ['none', 'restricted', 'all'] as const;
export type Enforcement = (typeof ENFORCEMENTS)[number];

/** Which files of a source are docs, beside what its files of rules say. */
export interface SourceRules {
  /** Files of rules count for nothing, nor does what git ignores. */
  readonly noIgnore?: true;
  /** Globs of paths on disk that are left out, and what is below them; the last one that matches decides, `!` takes back. */
  readonly ignore?: readonly string[];
  /** Of a plain folder: what is in git repositories below it is left out, as these are sources themselves. */
  readonly reposApart?: true;
}

export interface RepoSource extends SourceRules {
  readonly kind: SourceKind;
  /** Absolute path: the repository (bare or with a work tree) or the plain directory. */
  readonly path: string;
  /** Of a submodule: the object id of the one commit that is meant; absent: what refs name. */
  readonly commit?: string;
}

/** The rules of a source alone. */
export function rulesOf({ noIgnore, ignore, reposApart }: SourceRules): SourceRules {
  return {
    ...given({ noIgnore }),
    ...(ignore === undefined || ignore.length === 0 ? {} : { ignore }),
    ...given({ reposApart }),
  };
}

/** Which branches and tags are indexed besides the default revision: globs over their short names. */
export interface RevisionSelection {
  readonly branches: readonly string[];
  readonly tags: readonly string[];
}

/** What its host says of a repository, which is shown as it is. */
export interface RepoFacts {
  readonly displayName?: string;
  /** Page at the code host. */
  readonly webUrl?: string;
  /** Picture of the repo or its owner at the code host. */
  readonly imageUrl?: string;
  readonly isFork: boolean;
  readonly isArchived: boolean;
  readonly topics: readonly string[];
  /** ISO 8601, time of the newest commit, or of the last push. Absent: it is not known. */
  readonly pushedAt?: string;
}

export interface RepoRecord extends Omit<RepoFacts, 'topics'> {
  /** Integer id, 1 or higher, never reused. */
  readonly repoId: number;
  /** For example `github.com/owner/name` or `local/folder`. */
  readonly name: string;
  readonly codeHostType: CodeHostType;
  /** As the code host has them. */
  readonly topics?: readonly string[];
  readonly visibility: Visibility;
  /** Absent: `none`. */
  readonly enforcement?: Exclude<Enforcement, 'none'>;
  /** Of a submodule: who sees all of these repos sees it, whatever else is said of it. */
  readonly within?: readonly number[];
  readonly source: RepoSource;
  /** Full ref name of the default revision, `refs/heads/main`, or `HEAD` if it is unknown. */
  readonly defaultRevision: string;
  /** Full ref name of the default branch where `defaultRevision` does not name it; absent if unknown. */
  readonly defaultBranch?: string;
  /** Absent: the default revision alone. */
  readonly selection?: RevisionSelection;
  /**
   * Full ref names of the indexed revisions, the default one first, then by name; the catalog has a revision file then.
   * Absent: the default revision alone, which holds every doc.
   */
  readonly revisions?: readonly string[];
  /** Of a record that one search has for itself: what it calls further revisions, which come behind the indexed ones. */
  readonly onDemand?: readonly string[];
  /** ISO 8601, when the last published build ended; absent: never indexed. */
  readonly indexedAt?: string;
}
