// The branches and tags of a repository with the commits that they name, for people (API.md 11.5). Which of them are
// to be indexed is decided elsewhere (refs.ts, revisions).

import { REFS_SIZE_MAX, runGit } from './git.ts';
import { withSlot } from './git-slots.ts';
import { compareText } from '../../base/paths.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { isRepoGone, RepoGoneError } from './resolve.ts';

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

/** A line of the listing; undefined commit: it names a tag of a tag, or no commit. */
interface FoundRef {
  readonly name: string;
  readonly type: string;
  readonly peeledType: string;
  readonly commit: string | undefined;
  readonly committedAtSeconds: number;
}

/**
 * The branches and tags that name commits: the default one first, then the newest commit first, ties by name. A folder
 * without git has none.
 *
 * Errors: RepoGoneError; GitBusyError; GitError; the reason of the signal.
 */
export async function listRefs(
  repo: ListableRepo,
  signal: AbortSignal,
): Promise<readonly ListedRef[]> {
  if (repo.source.kind === 'folder') return [];
  try {
    const refs = await withSlot(repo.source.path, signal, () => findRefs(repo.source.path, signal));
    return sortRefs(refs.flatMap((ref) => toListedRef(repo, ref)));
  } catch (error) {
    signal.throwIfAborted();
    if (isRepoGone(repo)) throw new RepoGoneError(repo.name);
    throw error;
  }
}

async function findRefs(repoPath: string, signal: AbortSignal): Promise<FoundRef[]> {
  const options = { repoPath, signal, timeoutMs: 0, outputSizeMax: REFS_SIZE_MAX };
  const args = ['for-each-ref', `--format=${FORMAT}`, 'refs/heads/', 'refs/tags/'];
  const refs = parseListing(await runGit(args, options));
  const nested = refs.filter(({ peeledType }) => peeledType === 'tag');
  if (nested.length === 0) return refs;
  const peeled = await peelTags(repoPath, nested, signal);
  return refs.map((ref) => peeled.get(ref.name) ?? ref);
}

function parseListing(listing: Buffer): FoundRef[] {
  const lines = listing.toString('utf8').split('\n');
  return lines.flatMap((line) => {
    const [name = '', type = '', oid, time, peeledType = '', peeledOid, peeledTime] =
      line.split('\0');
    if (name === '') return [];
    const isTag = type === 'tag';
    const isCommit = (isTag ? peeledType : type) === 'commit';
    return [
      {
        name,
        type,
        peeledType,
        commit: isCommit ? (isTag ? peeledOid : oid) : undefined,
        committedAtSeconds: Number(isTag ? peeledTime : time),
      },
    ];
  });
}

/** Finds the commits of tags of tags, which the listing peels once only. */
async function peelTags(
  repoPath: string,
  tags: readonly FoundRef[],
  signal: AbortSignal,
): Promise<Map<string, FoundRef>> {
  const format = '%(objectname) %(objecttype)';
  const input = tags.map(({ name }) => `${name}^{}\n`).join('');
  const options = { repoPath, signal, timeoutMs: 0, outputSizeMax: REFS_SIZE_MAX };
  const ends = await runGit(['cat-file', `--batch-check=${format}`], { ...options, input });
  const lines = ends.toString('utf8').split('\n');
  const commits = lines.map((line) => /^([0-9a-f]+) commit$/.exec(line)?.[1]);
  const wanted = [...new Set(commits.filter((commit) => commit !== undefined))];
  if (wanted.length === 0) return new Map();
  const shown = await runGit(['rev-list', '--no-walk=unsorted', '--timestamp', '--stdin'], {
    ...options,
    input: wanted.join('\n'),
  });
  const times = new Map(
    shown
      .toString('latin1')
      .split('\n')
      .map((line): [string, number] => {
        const [time, commit = ''] = line.split(' ');
        return [commit, Number(time)];
      }),
  );
  return new Map(
    tags.map((tag, index) => {
      const commit = commits[index];
      return [tag.name, { ...tag, commit, committedAtSeconds: times.get(commit ?? '') ?? 0 }];
    }),
  );
}

function toListedRef(repo: ListableRepo, ref: FoundRef): ListedRef[] {
  const { name, commit, committedAtSeconds } = ref;
  if (commit === undefined) return [];
  const indexed = repo.revisions ?? [repo.defaultRevision];
  return [
    {
      name,
      kind: name.startsWith('refs/tags/') ? 'tag' : 'branch',
      commit,
      committedAtSeconds,
      isDefault: name === (repo.defaultBranch ?? repo.defaultRevision),
      isIndexed: repo.indexedAt !== undefined && indexed.includes(name),
    },
  ];
}

function sortRefs(refs: readonly ListedRef[]): ListedRef[] {
  return [...refs].sort((a, b) => {
    if (a.isDefault !== b.isDefault) return a.isDefault ? -1 : 1;
    return b.committedAtSeconds - a.committedAtSeconds || compareText(a.name, b.name);
  });
}
