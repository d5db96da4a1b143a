// Our own commit graph for each repo with a long history: git reads it instead of unpacking commits. Repositories are never
// changed, so it is in our own object folder, which git searches first. Its content follows from commit ids: an old or
// missing graph costs only time. If history is shallow or has grafts, git uses no graph, nor do we.

import { existsSync } from 'node:fs';
import { mkdir, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { LRUCache } from 'lru-cache';
import { entryBound } from '../../base/entry-bound.ts';
import { runGit, tryGit } from '../git/git.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { HOUR_MS } from '../../base/durations.ts';

export type GraphRepo = Pick<RepoRecord, 'repoId' | 'source'>;

export interface GraphWriterOptions {
  /** Absolute path; created with the first graph. */
  readonly folder: string;
  /** Shorter histories get no graph. */
  readonly commitCountMin?: number;
  /** Called when a graph could not be written; the repo continues without a new one. */
  readonly onFailure?: (repo: GraphRepo, error: unknown) => void;
}

/** Measured: 5 us a commit to walk one path without a graph, so that 2,000 commits take about as long as a process. */
const COMMIT_COUNT_MIN = 2000;
/** Bound: 75 us a commit were measured, so this is enough for 50 million of them. */
const WRITE_TIMEOUT_MS = HOUR_MS;

const WRITE_SETTINGS = ['core.commitGraph=true', 'commitGraph.generationVersion=2'];
const WRITE_ARGS = [
  'commit-graph',
  'write',
  '--stdin-commits',
  '--changed-paths',
  '--split',
  '--no-progress',
];

/** Paths and variables of a repo. */
interface GraphLocation {
  /** Name both object folders to git. */
  readonly variables: Readonly<Record<string, string>>;
  /** Files that alter history, if they exist. */
  readonly benders: readonly string[];
}

interface Waiting {
  readonly repo: GraphRepo;
  readonly commits: Set<string>;
}

export class GraphWriter {
  readonly #options: GraphWriterOptions;
  readonly #abort = new AbortController();
  /** `<repoId> <commit>` of commits that need no graph: one covers them, or their history is short. */
  readonly #covered = new LRUCache<string, true>(entryBound(20_000));
  /** By `<repoId> <path>`. */
  readonly #locations = new LRUCache<string, GraphLocation>(entryBound(10_000));
  readonly #waiting = new Map<number, Waiting>();
  #writing: Promise<void> | undefined;

  constructor(options: GraphWriterOptions) {
    this.#options = options;
  }

  /** Variables with which git finds the repo's graph; empty if there is none. Errors: GitError. */
  async environmentOf(repo: GraphRepo): Promise<Readonly<Record<string, string>>> {
    if (repo.source.kind === 'folder' || !this.#hasGraph(repo)) return {};
    const location = await this.#locationOf(repo);
    return isWhole(location) ? location.variables : {};
  }

  /** Requests a graph with this commit and all before it. It is written later, one repo at a time; nothing waits for it. */
  request(repo: GraphRepo, commit: string): void {
    const isRefused = repo.source.kind === 'folder' || this.#abort.signal.aborted;
    if (isRefused || this.#covered.has(keyOf(repo, commit))) return;
    const waiting = this.#waiting.get(repo.repoId);
    if (waiting !== undefined) waiting.commits.add(commit);
    else if (this.#waiting.size < 1000)
      this.#waiting.set(repo.repoId, { repo, commits: new Set([commit]) });
    this.#writing ??= this.#writeAll().finally(() => (this.#writing = undefined));
  }

  /** Resolves when no graph is left to write. */
  async settled(): Promise<void> {
    while (this.#writing !== undefined) await this.#writing;
  }

  /** Removes the graphs of deleted repos. */
  async sweep(exists: (repoId: number) => boolean): Promise<void> {
    const names = await readdir(this.#options.folder).catch(() => []);
    const gone = names.filter((name) => !exists(Number(name)));
    for (const name of gone) await rm(path.join(this.#options.folder, name), REMOVE);
  }

  async close(): Promise<void> {
    this.#abort.abort();
    this.#waiting.clear();
    await this.#writing;
  }

  #folderOf({ repoId }: GraphRepo): string {
    return path.join(this.#options.folder, String(repoId));
  }

  #hasGraph(repo: GraphRepo): boolean {
    return existsSync(path.join(this.#folderOf(repo), 'info/commit-graphs/commit-graph-chain'));
  }

  async #locationOf(repo: GraphRepo): Promise<GraphLocation> {
    const key = keyOf(repo, repo.source.path);
    const cached = this.#locations.get(key);
    if (cached !== undefined) return cached;
    const location = await findLocation(repo.source.path, this.#folderOf(repo));
    this.#locations.set(key, location);
    return location;
  }

  async #writeAll(): Promise<void> {
    // Why later: the caller is about to ask git something, which goes first.
    await new Promise((resolve) => setImmediate(resolve));
    for (let next = this.#takeNext(); next !== undefined; next = this.#takeNext()) {
      const { repo, commits } = next;
      try {
        await this.#write(repo, [...commits]);
      } catch (error) {
        if (!this.#abort.signal.aborted) this.#options.onFailure?.(repo, error);
      }
      // After a failure too: the next start of the daemon tries again.
      for (const commit of commits) this.#covered.set(keyOf(repo, commit), true);
    }
  }

  #takeNext(): Waiting | undefined {
    const [next] = this.#waiting.values();
    if (next !== undefined) this.#waiting.delete(next.repo.repoId);
    return next;
  }

  async #write(repo: GraphRepo, commits: readonly string[]): Promise<void> {
    const { signal } = this.#abort;
    const hasGraph = this.#hasGraph(repo);
    if (!hasGraph && !(await this.#isLong(repo, commits))) return;
    const location = await this.#locationOf(repo);
    if (!isWhole(location)) return;
    await makeFolder(this.#folderOf(repo));
    await runGit(WRITE_ARGS, {
      repoPath: repo.source.path,
      settings: WRITE_SETTINGS,
      env: location.variables,
      input: `${commits.join('\n')}\n`,
      timeoutMs: WRITE_TIMEOUT_MS,
      signal,
    });
  }

  async #isLong({ source }: GraphRepo, commits: readonly string[]): Promise<boolean> {
    const countMin = this.#options.commitCountMin ?? COMMIT_COUNT_MIN;
    const args = ['rev-list', '--count', `--max-count=${countMin}`, ...commits.slice(0, 100), '--'];
    const { signal } = this.#abort;
    return Number(await runGit(args, { repoPath: source.path, signal })) >= countMin;
  }
}

const REMOVE = { recursive: true, force: true } as const;

function keyOf({ repoId }: GraphRepo, more: string): string {
  return `${repoId} ${more}`;
}

/** False if the parents of commits are altered. */
function isWhole({ benders }: GraphLocation): boolean {
  return !benders.some((file) => existsSync(file));
}

/** Errors: GitError. */
async function findLocation(repoPath: string, folder: string): Promise<GraphLocation> {
  const names = ['objects', 'shallow', 'info/grafts'];
  const paths = await Promise.all(
    names.map((name) => tryGit(['rev-parse', '--git-path', name], { repoPath })),
  );
  const [objects = '', ...benders] = paths.map((name) => path.resolve(repoPath, name ?? ''));
  return {
    variables: {
      GIT_OBJECT_DIRECTORY: folder,
      // Why quoted: the value is a list with colons between its members.
      GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${objects.replaceAll(/["\\]/g, '\\$&')}"`,
    },
    benders,
  };
}

/** Creates the folder, and removes leftovers of a killed writer. */
async function makeFolder(folder: string): Promise<void> {
  const graphs = path.join(folder, 'info/commit-graphs');
  await mkdir(graphs, { recursive: true });
  const names = await readdir(graphs);
  const stale = names.filter((name) => name.endsWith('.lock') || name.startsWith('tmp_'));
  for (const name of stale) await rm(path.join(graphs, name), REMOVE);
}
