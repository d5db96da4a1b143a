// Probes a local path: a git repository (bare, or the root of a work tree) or a plain folder, with its name, default
// revision and newest commit, before it is indexed. Reads only. A folder inside a work tree is a plain folder: the user
// named that folder, not the repository around it.

import { omitUndefined } from '../../base/omit-undefined.ts';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { GitError, gitDirOf, runGit, tryGit } from './git.ts';
import { checkAllGitPaths, GitFileError, GitPathError } from './git-paths.ts';
import { isoTimeOf } from './iso-time.ts';
import { layoutOf, ProbeError, type SourceLayout } from './path-kind.ts';
import { resolveCommit } from './objects.ts';
import { readRefs } from './refs.ts';
import type { RepoSource, SourceKind } from '../../repos/records.ts';
import { repoNameFromUrl } from '../../repos/repo-name.ts';

export interface ProbedSource {
  readonly source: RepoSource;
  readonly layout: SourceLayout;
  /** Name by the rule of API.md 19.4, before conflicts are resolved (`freeRepoName`). */
  readonly name: string;
  /** The same rule for its remote only; absent: it has no remote with a host. */
  readonly remote?: string;
  /** Full ref name, `refs/heads/main`; `HEAD` if HEAD is detached or the docs are the files on disk. */
  readonly defaultRevision: string;
  /** Full ref name of the branch that HEAD names, if `defaultRevision` does not name it; absent if there is none. */
  readonly defaultBranch?: string;
  /** Commit of the default revision (for files on disk: of HEAD); absent if there is none. */
  readonly commit?: string;
  /** ISO 8601 in UTC, committer date of the newest commit of any branch. */
  readonly pushedAt?: string;
  /** Whether its source excludes nested repositories (repos/records.ts); absent: unchanged. */
  readonly reposApart?: boolean;
}

/**
 * Probes a path. Errors: ProbeError; GitError if git is missing or exceeds its time limit.
 * @param mode  `commits`: what is committed; `worktree`: the files on disk. Default: `commits` for git repositories, the
 * files for plain folders (whose source kind is `folder`). `folder`: refuses repositories.
 */
export async function probeSource(sourcePath: string, mode?: SourceKind): Promise<ProbedSource> {
  const absolute = path.resolve(sourcePath);
  const layout = await layoutOf(absolute);
  if (layout === 'folder') return probeFolder(absolute, mode);
  if (mode === 'folder')
    throw new ProbeError(absolute, 'mode_not_possible', 'a git repository, not a plain folder');
  await checkPaths(absolute);
  const branches = await newestBranches(absolute);
  if (branches === undefined) await requireRepository(absolute);
  if (layout === 'bare' && mode === 'worktree')
    throw new ProbeError(absolute, 'mode_not_possible', 'a bare repository has no files on disk');
  const kind = mode ?? 'commits';
  const [{ name: defaultRevision, commit: found, isOfHead }, remote] = await Promise.all([
    branches?.find((branch) => branch.isOfHead) ?? findDefault(absolute),
    nameFromRemote(absolute),
  ]);
  const commit = kind === 'commits' || isOfHead ? found : undefined;
  // Why: with a detached HEAD the newest commit may be on no branch.
  const isOnBranch = defaultRevision.startsWith('refs/heads/');
  const ownSeconds = isOnBranch ? 0 : await commitSeconds(absolute, commit);
  const newest = Math.max(newestOf(branches ?? []), ownSeconds);
  const pushedAt = newest > 0 ? isoTimeOf(newest) : undefined;
  return {
    source: { kind, path: absolute },
    layout,
    name: remote ?? localName(absolute),
    ...omitUndefined({ remote }),
    defaultRevision: kind === 'commits' ? defaultRevision : 'HEAD',
    ...(kind === 'commits' || defaultRevision === 'HEAD' ? {} : { defaultBranch: defaultRevision }),
    ...omitUndefined({ commit, pushedAt }),
  };
}

const NO_COMMITS =
  'not a git repository, so it has no commits: it has neither .git nor HEAD, objects/ and refs/';

function probeFolder(absolute: string, mode: SourceKind | undefined): ProbedSource {
  if (mode === 'commits') throw new ProbeError(absolute, 'mode_not_possible', NO_COMMITS);
  return {
    source: { kind: 'folder', path: absolute },
    layout: 'folder',
    name: localName(absolute),
    defaultRevision: 'HEAD',
  };
}

async function checkPaths(absolute: string): Promise<void> {
  try {
    await checkAllGitPaths(absolute);
  } catch (error) {
    if (error instanceof GitPathError) throw new ProbeError(absolute, 'not_its_own', error.message);
    if (error instanceof GitFileError)
      throw new ProbeError(absolute, 'not_a_repository', error.message);
    throw error;
  }
}

async function requireRepository(absolute: string): Promise<void> {
  try {
    await runGit(['rev-parse', '--git-dir'], { repoPath: absolute });
  } catch (error) {
    if (!(error instanceof GitError) || error.failure !== 'exit') throw error;
    throw new ProbeError(absolute, 'not_a_repository', `git cannot read it: ${error.detail}`);
  }
}

interface DefaultRevision {
  /** Full ref name, or `HEAD`. */
  readonly name: string;
  readonly commit: string | undefined;
  /** Whether HEAD names that commit. */
  readonly isOfHead: boolean;
}

/**
 * The branch that HEAD names, or `HEAD` if it is detached. If that branch has no commits although others have some,
 * `main`, `master`, or the branch with the newest commit. Errors: GitError.
 */
export async function findDefault(repoPath: string): Promise<DefaultRevision> {
  const branch = await tryGit(['symbolic-ref', '--quiet', 'HEAD'], { repoPath });
  const ofHead = branch ?? 'HEAD';
  const commit = await resolveCommit(repoPath, ofHead);
  if (branch === undefined || commit !== undefined) return { name: ofHead, commit, isOfHead: true };
  const branches = await readRefs(repoPath, '%(refname)', {}, [
    '--sort=-committerdate',
    'refs/heads/',
  ]);
  const usual = ['refs/heads/main', 'refs/heads/master'].find((name) => branches.includes(name));
  const name = usual ?? branches[0] ?? branch;
  return { name, commit: await resolveCommit(repoPath, name), isOfHead: false };
}

interface Branch extends DefaultRevision {
  /** Committer date, Unix time. */
  readonly seconds: number;
}

/**
 * Branches with the newest commits. Why one request: HEAD is mostly among them, which saves three others.
 * @returns  undefined: git cannot tell
 */
async function newestBranches(repoPath: string): Promise<Branch[] | undefined> {
  const format = '%(HEAD)%(committerdate:unix) %(objecttype) %(objectname) %(refname)';
  const more = ['--sort=-committerdate', `--count=${REFS_CHECKED}`, 'refs/heads/'];
  try {
    const lines = await readRefs(repoPath, format, { outputSizeMax: REFS_SIZE_CHECKED }, more);
    return lines.flatMap((line) => {
      const [, mark, seconds, commit, name] = BRANCH_LINE.exec(line) ?? [];
      if (commit === undefined || name === undefined) return [];
      return [{ name, commit, isOfHead: mark === '*', seconds: Number(seconds) }];
    });
  } catch (error) {
    if (error instanceof GitError && error.failure === 'exit') return undefined;
    throw error;
  }
}

/** Output format of `newestBranches`; a branch that names no commit is ignored. */
const BRANCH_LINE = /^([* ])(\d*) commit ([0-9a-f]+) (.+)$/;

async function commitSeconds(repoPath: string, commit: string | undefined): Promise<number> {
  if (commit === undefined) return 0;
  const args = ['rev-list', '--max-count=1', '--timestamp', commit, '--'];
  const output = await tryGit(args, { repoPath });
  // Source: git-rev-list(1), `<time> <id>`.
  return newestOf([{ seconds: Number(output?.split(' ', 1)[0]) }]);
}

/** The newest valid date; 0: there is none. */
function newestOf(commits: readonly Pick<Branch, 'seconds'>[]): number {
  const times = commits.map(({ seconds }) => seconds);
  return Math.max(0, ...times.filter((time) => isoTimeOf(time) !== undefined));
}

/** Bound: branches with invalid dates, which are skipped. */
const REFS_CHECKED = 100;
const REFS_SIZE_CHECKED = 1 << 20;

/**
 * Name of a source by the rule of API.md 19.4, before conflicts are resolved. Errors: GitPathError; GitFileError; GitError.
 */
export async function nameOfSource(absolute: string, kind: SourceKind): Promise<string> {
  if (kind === 'folder') return localName(absolute);
  await checkAllGitPaths(absolute);
  return (await nameFromRemote(absolute)) ?? localName(absolute);
}

async function nameFromRemote(repoPath: string): Promise<string | undefined> {
  if (!(await mayHaveRemote(repoPath))) return undefined;
  const address = await tryGit(['config', '--get', 'remote.origin.url'], { repoPath });
  return address === undefined ? undefined : repoNameFromUrl(address);
}

/** Saves a git process for mirrors: a configuration without these words has neither a remote nor an include. */
async function mayHaveRemote(repoPath: string): Promise<boolean> {
  try {
    const text = await readFile(path.join(gitDirOf(repoPath), 'config'), 'latin1');
    return /remote|include|worktreeconfig/i.test(text);
  } catch {
    return true;
  }
}

function localName(absolute: string): string {
  const folder = path.basename(absolute) === '.git' ? path.dirname(absolute) : absolute;
  const name = path.basename(folder).replace(/\p{Cc}/gu, '');
  return `local/${name === '' ? 'root' : name}`;
}

/** The mode for probing a source again. */
export function modeOf({ kind }: RepoSource): 'commits' | 'worktree' | undefined {
  return kind === 'folder' ? undefined : kind;
}
