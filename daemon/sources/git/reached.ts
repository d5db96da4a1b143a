// Which commits the refs of a repository reach. Only those are served (API.md 4.12): a repository also contains
// force-pushed commits, leftovers of forks and failed pushes, and borrowed objects. Results are cached until a ref no
// longer reaches what it reached. The refs are read once in a while, and whenever a commit is unknown.

import { LRUCache } from 'lru-cache';
import { entryBound } from '../../base/entry-bound.ts';
import { GitError, REFS_SIZE_MAX, runGit, tryGit } from './git.ts';
import { withSlot } from './git-slots.ts';
import { findObjects } from './objects.ts';

/** Bound: a commit is served this long after the last ref left it. */
const REFS_FRESH_MS = 10_000;
/** Moved refs that are checked; with more the cache of the repository is dropped. Bound: time. */
const MOVED_TIPS_MAX = 500;
/** Bound: arguments of a process, some 700 KB. */
const TIPS_AT_ONCE = 10_000;

/** A snapshot of a repository's refs. */
interface Refs {
  /** Their targets, HEAD included, annotated tags both ways. */
  readonly tips: ReadonlySet<string>;
  /** Of performance.now: the clock may be set back. */
  readonly readAtMs: number;
  /** Changes if some commit is no longer reached. */
  readonly epoch: number;
}

export interface ReachOptions {
  readonly signal: AbortSignal;
  /** Variables with which git finds a commit graph. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** Default: `REFS_FRESH_MS`. */
  readonly freshMs?: number;
}

const cachedRefs = new LRUCache<string, Refs>({
  // Refs of all repositories.
  maxSize: 300_000,
  sizeCalculation: ({ tips }) => tips.size + 1,
});
/** Reached commits, by `keyOf`. */
const cachedCommits = new LRUCache<string, true>(entryBound(100_000));
/** Running reads. */
const readings = new Map<string, Promise<Refs>>();
let lastEpoch = 0;

function keyOf(repoPath: string, { epoch }: Refs, commit: string): string {
  return `${repoPath}\0${epoch}\0${commit}`;
}

/**
 * Whether a ref of the repository, or its HEAD, reaches the commit. Errors: GitBusyError; GitError; the reason of the
 * signal. Cost: nothing if cached; else 5 to 10 ms and a walk of the newer commits: 6 us each, 1 us with a commit graph.
 * @param commit  full id of an existing commit
 */
export async function isReached(
  repoPath: string,
  commit: string,
  options: ReachOptions,
): Promise<boolean> {
  const { freshMs = REFS_FRESH_MS } = options;
  const before = cachedRefs.get(repoPath);
  const wasReachable = before !== undefined && isReachable(repoPath, before, commit);
  if (wasReachable && performance.now() - before.readAtMs < freshMs) return true;
  const refs = await refsNow(repoPath, wasReachable, options);
  if (isReachable(repoPath, refs, commit)) return true;
  // Broken refs reach nothing, and must not block what others reach.
  const isDoubted = await hasUnreached(repoPath, [commit], refs.tips, options, [
    '--ignore-missing',
  ]);
  if (isDoubted && !(await isAncestor(repoPath, commit, refs.tips, options))) return false;
  cachedCommits.set(keyOf(repoPath, refs, commit), true);
  return true;
}

function isReachable(repoPath: string, refs: Refs, commit: string): boolean {
  return refs.tips.has(commit) || cachedCommits.has(keyOf(repoPath, refs, commit));
}

/**
 * Caches commits met by a walk from `start`, only if `start` is still cached: its ref may be gone since, or it was never
 * checked.
 */
export function noteReached(repoPath: string, start: string, commits: Iterable<string>): void {
  const refs = cachedRefs.get(repoPath);
  if (refs === undefined || !isReachable(repoPath, refs, start)) return;
  for (const commit of commits) cachedCommits.set(keyOf(repoPath, refs, commit), true);
}

/** @param mayShare  a running read is sufficient; no newer ref is expected */
async function refsNow(repoPath: string, mayShare: boolean, options: ReachOptions): Promise<Refs> {
  const shared = mayShare ? await readings.get(repoPath)?.catch(() => undefined) : undefined;
  if (shared !== undefined) return shared;
  const reading = readReach(repoPath, options).finally(() => {
    if (readings.get(repoPath) === reading) readings.delete(repoPath);
  });
  readings.set(repoPath, reading);
  return reading;
}

async function readReach(repoPath: string, options: ReachOptions): Promise<Refs> {
  const readAtMs = performance.now();
  const tips = await readTips(repoPath, options);
  const before = cachedRefs.get(repoPath);
  if (before !== undefined && before.readAtMs > readAtMs) return before;
  const isKept = before !== undefined && (await reachesAll(repoPath, before.tips, tips, options));
  // Another read that ended meanwhile may have found a lost commit.
  const isSame = cachedRefs.get(repoPath) === before;
  const refs = { tips, readAtMs, epoch: isKept && isSame ? before.epoch : ++lastEpoch };
  cachedRefs.set(repoPath, refs);
  return refs;
}

async function readTips(repoPath: string, { signal }: ReachOptions): Promise<Set<string>> {
  const settings = { repoPath, signal, timeoutMs: 0, outputSizeMax: REFS_SIZE_MAX };
  const run = (...args: string[]) => withSlot(repoPath, signal, () => tryGit(args, settings));
  const lines =
    (await run('show-ref', '--head', '--dereference')) ??
    // This fails without refs, and at a broken one.
    [
      await run('rev-parse', '--verify', '--quiet', 'HEAD'),
      await run('for-each-ref', '--format=%(objectname)'),
    ].join('\n');
  const ids = lines.split('\n').map((line) => line.split(' ', 1)[0]!);
  return new Set(ids.filter((id) => id !== ''));
}

/** Whether all former targets are still reached. */
async function reachesAll(
  repoPath: string,
  before: ReadonlySet<string>,
  now: ReadonlySet<string>,
  options: ReachOptions,
): Promise<boolean> {
  const moved = [...before].filter((tip) => !now.has(tip));
  if (moved.length === 0) return true;
  if (moved.length > MOVED_TIPS_MAX) return false;
  try {
    return !(await hasUnreached(repoPath, moved, now, options));
  } catch (error) {
    // A former target may be gone.
    if (error instanceof GitError && error.failure === 'exit') return false;
    throw error;
  }
}

/**
 * Whether one of these commits may be unreached by the tips. "None" is certain. Otherwise it is not: git stops searching
 * among old commits, so commits behind one with a wrong date seem unreached. Why not by the current refs: what is cached
 * under an epoch must be reached by the refs read at that time, or its loss would go unnoticed. Errors: GitError, also if a
 * commit is missing, unless `settings` say otherwise.
 */
async function hasUnreached(
  repoPath: string,
  commits: readonly string[],
  tips: ReadonlySet<string>,
  { signal, env = {} }: ReachOptions,
  settings: readonly string[] = [],
): Promise<boolean> {
  const args = ['rev-list', '--max-count=1', ...settings, '--stdin'];
  const input = `${[...commits, ...[...tips].map((tip) => `^${tip}`)].join('\n')}\n`;
  const options = { repoPath, signal, env, timeoutMs: 0, input };
  return (await withSlot(repoPath, signal, () => runGit(args, options))).length > 0;
}

/**
 * Whether one of the tips leads to the commit, whatever the dates: then it is the merge base of itself and of them. Errors:
 * GitError. Cost: two processes and a walk of everything that commit and tips do not share.
 */
async function isAncestor(
  repoPath: string,
  commit: string,
  tips: ReadonlySet<string>,
  { signal, env = {} }: ReachOptions,
): Promise<boolean> {
  const names = [...tips].map((tip) => `${tip}^{commit}`);
  const options = { repoPath, signal, timeoutMs: 0 };
  const found = await withSlot(repoPath, signal, () => findObjects(repoPath, names, options));
  const commits = [...new Set(found.flatMap((object) => (object === undefined ? [] : object.oid)))];
  for (let start = 0; start < commits.length; start += TIPS_AT_ONCE) {
    const args = ['merge-base', '--all', commit, ...commits.slice(start, start + TIPS_AT_ONCE)];
    const bases = await withSlot(repoPath, signal, () => tryGit(args, { ...options, env }));
    if (bases?.split('\n').includes(commit) === true) return true;
  }
  return false;
}
