// Branches and tags of a repository: those to index, as revisions with their commits, and all of them for people (API.md
// 11.5). Annotated tags are peeled.

import { REFS_SIZE_MAX, runGit } from './git.ts';
import { withSlot } from './git-slots.ts';
import { findObjects, type ReadOptions } from './objects.ts';
import { withRepo } from './resolve.ts';
import { compareText } from '../../base/paths.ts';
import { shortRefName } from '../../repos/links.ts';
import type { RepoRecord } from '../../repos/records.ts';

/** Plain values: may be posted to a worker. */
export interface Revision {
  /** Full ref name. */
  readonly name: string;
  /** Object id of the commit. */
  readonly commit: string;
}

export interface FoundRevisions {
  /** By the bytes of their names. */
  readonly revisions: readonly Revision[];
  /** Full names of refs that name no commit (a tree, a blob, a missing object), or are not UTF-8. */
  readonly unusable: readonly string[];
}

/** Tests of short names, `main`, `release/1.2`. */
export interface RefTests {
  readonly isBranchSelected: (shortName: string) => boolean;
  readonly isTagSelected: (shortName: string) => boolean;
}

/** The branches and tags whose short names match. Errors: GitError. */
export async function findRevisions(
  repoPath: string,
  { isBranchSelected, isTagSelected }: RefTests,
  options: ReadOptions = {},
): Promise<FoundRevisions> {
  const listed = await readRefs(repoPath, '%(refname)', options);
  const names = listed.filter((name) =>
    name.startsWith('refs/heads/')
      ? isBranchSelected(shortRefName(name))
      : isTagSelected(shortRefName(name)),
  );
  const commits = await findCommits(repoPath, names, options);
  const revisions = names.flatMap((name, index) => {
    const commit = commits[index];
    return commit === undefined ? [] : [{ name, commit }];
  });
  return {
    revisions: revisions.sort((a, b) => compareText(a.name, b.name)),
    unusable: names.filter((_, index) => commits[index] === undefined),
  };
}

/** git's line for each branch and tag, or for other arguments. Errors: GitError. */
export async function readRefs(
  repoPath: string,
  format: string,
  options: ReadOptions = {},
  more: readonly string[] = ['refs/heads/', 'refs/tags/'],
): Promise<string[]> {
  const args = ['for-each-ref', `--format=${format}`, ...more];
  const listing = await runGit(args, { outputSizeMax: REFS_SIZE_MAX, ...options, repoPath });
  return listing.toString('utf8').split('\n').slice(0, -1);
}

/** The commit of each name; undefined: none. */
async function findCommits(
  repoPath: string,
  names: readonly string[],
  options: ReadOptions,
): Promise<(string | undefined)[]> {
  const ends = names.map((name) => `${name}^{commit}`);
  return (await findObjects(repoPath, ends, options)).map((found) => found?.oid);
}

export interface ListedRef {
  /** Full name. */
  readonly name: string;
  readonly kind: 'branch' | 'tag';
  /** Object id; annotated tags are peeled. */
  readonly commit: string;
  /** Unix time in seconds, of the committer. */
  readonly committedAtSeconds: number;
  readonly isDefault: boolean;
  readonly isIndexed: boolean;
}

type ListableRepo = Pick<
  RepoRecord,
  'name' | 'source' | 'defaultRevision' | 'defaultBranch' | 'revisions' | 'indexedAt'
>;

const FORMAT = [
  '%(refname)',
  '%(objecttype)',
  '%(objectname)',
  '%(committerdate:unix)',
  '%(*objecttype)',
  '%(*objectname)',
  '%(*committerdate:unix)',
].join('%00');

/** A line of the listing. */
interface FoundRef {
  readonly name: string;
  /** A tag of a tag. */
  readonly isNested: boolean;
  /** Undefined: an unpeeled tag of a tag, or no commit. */
  readonly commit: string | undefined;
  readonly committedAtSeconds: number;
}

/**
 * The branches and tags that name commits: the default one first, then the newest commit first, ties by name. None for
 * a folder without git. Errors: RepoGoneError; GitBusyError; GitError; the reason of the signal.
 */
export async function listRefs(
  repo: ListableRepo,
  signal: AbortSignal,
): Promise<readonly ListedRef[]> {
  if (repo.source.kind === 'folder') return [];
  const { path } = repo.source;
  const refs = await withRepo(repo, () => withSlot(path, signal, () => findRefs(path, signal)));
  return sortRefs(refs.flatMap((ref) => toListedRef(repo, ref)));
}

async function findRefs(repoPath: string, signal: AbortSignal): Promise<FoundRef[]> {
  const options = { signal, timeoutMs: 0 };
  const refs = (await readRefs(repoPath, FORMAT, options)).map(parseRef);
  const nested = refs.filter(({ isNested }) => isNested);
  return nested.length === 0 ? refs : peelTags(repoPath, refs, nested, options);
}

function parseRef(line: string): FoundRef {
  const [name = '', type, oid, time, peeledType, peeledOid, peeledTime] = line.split('\0');
  const isTag = type === 'tag';
  const isCommit = (isTag ? peeledType : type) === 'commit';
  return {
    name,
    isNested: peeledType === 'tag',
    commit: isCommit ? (isTag ? peeledOid : oid) : undefined,
    committedAtSeconds: Number(isTag ? peeledTime : time),
  };
}

/** Finds the commits of tags of tags, which the listing peels only once. */
async function peelTags(
  repoPath: string,
  refs: readonly FoundRef[],
  nested: readonly FoundRef[],
  options: ReadOptions,
): Promise<FoundRef[]> {
  const commits = await findCommits(
    repoPath,
    nested.map(({ name }) => name),
    options,
  );
  const input = commits.filter((commit) => commit !== undefined).join('\n');
  if (input === '') return [...refs];
  const args = ['rev-list', '--no-walk=unsorted', '--timestamp', '--stdin'];
  const limits = { ...options, outputSizeMax: REFS_SIZE_MAX };
  const output = await runGit(args, { ...limits, repoPath, input });
  const lines = output.toString('latin1').split('\n');
  // Source: git-rev-list(1), `<time> <id>`.
  const times = new Map(
    lines.map((line): [string, number] => {
      const [time, commit = ''] = line.split(' ');
      return [commit, Number(time)];
    }),
  );
  const peeled = new Map(
    nested.map((tag, index) => {
      const commit = commits[index];
      return [tag, { ...tag, commit, committedAtSeconds: times.get(commit ?? '') ?? 0 }];
    }),
  );
  return refs.map((ref) => peeled.get(ref) ?? ref);
}

function toListedRef(repo: ListableRepo, ref: FoundRef): ListedRef[] {
  const { name, commit, committedAtSeconds } = ref;
  if (commit === undefined) return [];
  const isDefault = name === (repo.defaultBranch ?? repo.defaultRevision);
  const indexed = repo.revisions ?? [repo.defaultRevision];
  // The default revision of a work tree is HEAD, its current branch.
  const revision = isDefault ? repo.defaultRevision : name;
  return [
    {
      name,
      kind: name.startsWith('refs/tags/') ? 'tag' : 'branch',
      commit,
      committedAtSeconds,
      isDefault,
      isIndexed: repo.indexedAt !== undefined && indexed.includes(revision),
    },
  ];
}

function sortRefs(refs: readonly ListedRef[]): ListedRef[] {
  return [...refs].sort((a, b) => {
    if (a.isDefault !== b.isDefault) return a.isDefault ? -1 : 1;
    return b.committedAtSeconds - a.committedAtSeconds || compareText(a.name, b.name);
  });
}
