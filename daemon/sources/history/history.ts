// Answers requests about the history of a repo: blame, diffs, commits, authors. Refs are resolved each time; what depends
// only on commit ids is cached in its encoded form. Each git process takes one of the slots shared by all requests. Callers
// check access, and the form of refs and paths.

import { GitError } from '../git/git.ts';
import { blobSizeOf, rootTreeOf } from '../git/object-reader.ts';
import { EMPTY_TREES } from '../git/tree-diff.ts';
import { findItems } from '../git/tree-paths.ts';
import { withSlot } from '../git/git-slots.ts';
import type { TreePath } from '../../base/paths.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { noteReached } from '../git/reached.ts';
import { historyEndsOf } from '../git/ref-state.ts';
import { isFilePath, RefError } from '../git/names.ts';
import { isRepoGone, RepoGoneError, resolveRef, withRepo } from '../git/resolve.ts';
import { LRUCache } from 'lru-cache';
import { SharedWork } from '../../base/shared-work.ts';
import { readBlame } from './blame.ts';
import {
  type Author,
  type CommitFields,
  type CommitFilter,
  countCommits,
  linesOf,
  listCommits,
  partOfWalk,
  readAuthors,
  readCommits,
  walkCommits,
  type WalkPart,
} from './commits.ts';
import { readDiff } from './diff.ts';
import { GraphWriter, type GraphWriterOptions } from './graph.ts';
import { findMailmap, findTreePath } from './lookups.ts';
import type { HistoryContext, ListWindow } from './process.ts';
import { CodedError } from '../../base/caught.ts';
import { requireSize } from '../reading/source-reader.ts';

export interface HistoryOptions {
  /** Of each git process, in ms. */
  readonly timeoutMs: number;
  /** Larger files are not blamed. */
  readonly sourceSizeMax: number;
  readonly graphs: GraphWriterOptions;
}

/** Bytes of a cached answer besides its content. Measured 2026-12-01: 380 of 50,000 answers, 230 of 200,000. */
const CACHED_OVERHEAD = 300;
/** Start of git's message about an invalid expression, by the expression's origin. */
const BAD_EXPRESSION = /^(command line|header), '.*': (.*)$/s;

/** The request cannot be answered. */
class HistoryError extends CodedError<'FILE_NOT_FOUND' | 'INVALID_QUERY_PARAMS'> {
  override readonly name = 'HistoryError';
}

/** A ref, and optionally a path. */
export interface HistoryTarget {
  /** Undefined: the default revision. */
  readonly ref: string | undefined;
  /** Undefined: everything. */
  readonly path: string | undefined;
}

export interface CommitsCall extends HistoryTarget, CommitFilter, ListWindow {}

/** A page of a list. */
interface ListPart<Item> {
  /** Of the whole list. */
  readonly total: number;
  readonly items: readonly Item[];
}

export interface DiffCall {
  /** `X^` of a commit X without parents is the empty tree. */
  readonly base: string;
  readonly head: string;
  /** Undefined: everything. */
  readonly path: string | undefined;
  /** Undefined: all files. */
  readonly window?: ListWindow | undefined;
  /** Lines that differ only in white space are equal. */
  readonly ignoresWhitespace?: boolean | undefined;
  /** Whom it is for. */
  readonly clientKey?: string;
}

/** A start commit, and the context for git. */
interface Start {
  readonly repo: RepoRecord;
  readonly commit: string;
  /** Of the history that git shows. */
  readonly ends: string;
  readonly mailmap: string | undefined;
  readonly env: HistoryContext['env'];
}

/** A copy, unless nothing else is in its memory. Node.js puts small buffers into 8 KB that stay as long as one of them. */
function ownMemory(bytes: Buffer): Buffer {
  if (bytes.length === bytes.buffer.byteLength) return bytes;
  const copy = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(copy);
  return copy;
}

export class History {
  readonly #options: HistoryOptions;
  readonly #graphs: GraphWriter;
  /** They never change, as their keys contain commit ids and the ends of history. */
  readonly #answers = new LRUCache<string, Buffer>({
    maxSize: 64 << 20,
    maxEntrySize: 8 << 20,
    sizeCalculation: (answer, key) => answer.length + key.length + CACHED_OVERHEAD,
  });
  readonly #work = new SharedWork<string, Buffer>();

  constructor(options: HistoryOptions) {
    this.#options = options;
    this.#graphs = new GraphWriter(options.graphs);
  }

  /** Prepares a graph for the repo's default revision; resolves when it is written, or has failed. */
  async prepare(repo: RepoRecord, signal: AbortSignal): Promise<void> {
    if (repo.source.kind === 'folder') return;
    this.#graphs.request(repo, await resolveRef(repo, undefined, signal));
    await this.#graphs.settled();
  }

  /** Deletes what is stored for deleted repos. */
  sweep(exists: (repoId: number) => boolean): Promise<void> {
    return this.#graphs.sweep(exists);
  }

  close(): Promise<void> {
    return this.#graphs.close();
  }

  /**
   * Blame of a file, as JSON of `Blame`. Errors: RefError; RepoGoneError; HistoryError FILE_NOT_FOUND; GitBusyError;
   * GitError; the reason of the signal.
   */
  async blame(
    repo: RepoRecord,
    target: Pick<HistoryTarget, 'ref'> & { readonly path: string },
    signal: AbortSignal,
  ): Promise<Buffer> {
    if (!isFilePath(target.path)) throw fileNotFound(target.path);
    const start = await this.#start(repo, target.ref, signal);
    const { commit, mailmap } = start;
    // Why not in the slot of the blame: this may wait for one.
    await withRepo(repo, () => this.#requireFile(repo.source.path, commit, target.path, signal));
    return this.#answer(['blame', commit, mailmap, target.path], start, signal, async (context) => {
      const path = await findTreePath(repo.source.path, [commit], target.path, context);
      const blame = await readBlame(context, commit, path);
      noteReached(repo.source.path, commit, Object.keys(blame.commits));
      return jsonOf(blame);
    });
  }

  /**
   * Differences between two commits, as JSON of `{ files: FileDiff[] }`, and their number of files. Errors: as `blame`;
   * RefError names both refs; HistoryError INVALID_QUERY_PARAMS if it is too large.
   */
  async diff(
    repo: RepoRecord,
    call: DiffCall,
    signal: AbortSignal,
  ): Promise<{ readonly total: number; readonly json: Buffer }> {
    const { base: baseRef, head: headRef, window, ignoresWhitespace = false, clientKey } = call;
    const env = await this.#environmentOf(repo);
    const [base, start] = await Promise.all([
      this.#baseOf(repo, baseRef, signal, env),
      this.#start(repo, headRef, signal),
    ]).catch((error: unknown) => {
      if (!(error instanceof RefError)) throw error;
      throw new RefError(`Git refs "${baseRef}..${headRef}" do not both name a commit.`);
    });
    const { commit: head } = start;
    const key = ['diff', base, head, call.path, window, ignoresWhitespace];
    const answer = await this.#answer(key, start, signal, async (context) => {
      const path = await this.#treePathsOf(context, [head, base], call.path);
      return readDiff(context, { base, head, path, window, ignoresWhitespace, clientKey });
    }).catch((error: unknown) => {
      throw sizeError(error) ?? error;
    });
    const lineEnd = answer.indexOf('\n');
    return {
      total: Number(answer.toString('latin1', 0, lineEnd)),
      json: answer.subarray(lineEnd + 1),
    };
  }

  /** The commit that a ref names; the parent of a commit without parents is the empty tree. */
  async #baseOf(
    repo: RepoRecord,
    ref: string,
    signal: AbortSignal,
    env: HistoryContext['env'],
  ): Promise<string> {
    try {
      return await resolveRef(repo, ref, signal, env);
    } catch (error) {
      const [, child] = /^(.+)(?:\^1?|~1?)$/.exec(ref) ?? [];
      if (!(error instanceof RefError) || child === undefined) throw error;
      const { parents, hash } = await this.commit(repo, child, signal);
      if (parents.length > 0) throw error;
      return EMPTY_TREES[hash.length] ?? '';
    }
  }

  /** The commit that a ref names. Errors: as `blame`. */
  async commit(repo: RepoRecord, ref: string, signal: AbortSignal): Promise<CommitFields> {
    const start = await this.#start(repo, ref, signal);
    const [commit] = await this.#read(start, [start.commit], signal);
    if (commit === undefined) throw new Error(`git reports nothing about commit ${start.commit}`);
    return commit;
  }

  /**
   * A page of the commits that lead to a ref, newest first. Errors: as `blame`; HistoryError INVALID_QUERY_PARAMS for an
   * invalid expression.
   */
  async commits(
    repo: RepoRecord,
    call: CommitsCall,
    signal: AbortSignal,
  ): Promise<ListPart<CommitFields>> {
    const start = await this.#start(repo, call.ref, signal);
    const { query, author, since, until, path } = call;
    const isFiltered = [query, author, since, until, path].some((value) => value !== undefined);
    const part = isFiltered
      ? await this.#walk(start, call, signal)
      : await this.#count(start, call, signal);
    const hashes = part.hashes ?? (await this.#list(start, call, signal));
    return { total: part.total, items: await this.#read(start, hashes, signal) };
  }

  /** All authors of commits that lead to a ref, most commits first. Errors: as `blame`. */
  async authors(
    repo: RepoRecord,
    target: HistoryTarget,
    signal: AbortSignal,
  ): Promise<readonly Author[]> {
    const start = await this.#start(repo, target.ref, signal);
    const { commit, mailmap } = start;
    const key = ['authors', commit, mailmap, target.path];
    const json = await this.#answer(key, start, signal, async (context) => {
      const path = await this.#treePathsOf(context, [commit], target.path);
      return jsonOf(await readAuthors(context, commit, path));
    });
    // Safety: it was made of such a list.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return JSON.parse(json.toString('utf8')) as Author[];
  }

  /** Finds all commits in one walk. */
  async #walk(start: Start, call: CommitsCall, signal: AbortSignal): Promise<WalkPart> {
    const { query, author, since, until, path } = call;
    const mailmap = author === undefined ? undefined : start.mailmap;
    const key = ['walk', start.commit, mailmap, query, author, since, until, path];
    const walk = await this.#answer(key, start, signal, async (context) => {
      const treePath = await this.#treePathsOf(context, [start.commit], path);
      return walkCommits(context, start.commit, call, treePath);
    }).catch((error: unknown) => {
      throw expressionError(error) ?? error;
    });
    return partOfWalk(walk, call);
  }

  /** Counts all commits, and finds the requested page at the same time. */
  async #count(start: Start, call: CommitsCall, signal: AbortSignal): Promise<WalkPart> {
    const [count, hashes] = await Promise.all([
      this.#answer(['count', start.commit], start, signal, (context) =>
        countCommits(context, start.commit),
      ),
      this.#list(start, call, signal),
    ]);
    return { total: Number(count.toString('latin1')), hashes };
  }

  async #list(start: Start, call: CommitsCall, signal: AbortSignal): Promise<string[]> {
    const { query, author, since, until, path, offset, limit } = call;
    const filter = [start.mailmap, query, author, since, until, path];
    const key = ['list', start.commit, ...filter, offset, limit];
    const text = await this.#answer(key, start, signal, async (context) => {
      const treePath = await this.#treePathsOf(context, [start.commit], path);
      return listCommits(context, start.commit, call, treePath, call);
    });
    return linesOf(text.toString('latin1'));
  }

  async #read(
    start: Start,
    hashes: readonly string[],
    signal: AbortSignal,
  ): Promise<CommitFields[]> {
    const commits = await this.#inSlot(start, signal, (context) => readCommits(context, hashes));
    // People request these next.
    for (const { hash, parents } of commits)
      noteReached(start.repo.source.path, start.commit, [hash, ...parents]);
    return commits;
  }

  /** Resolves the start of history, and requests a graph for it. */
  async #start(repo: RepoRecord, ref: string | undefined, signal: AbortSignal): Promise<Start> {
    const env = await this.#environmentOf(repo);
    const [ends, commit, mailmap] = await Promise.all([
      withRepo(repo, () => Promise.resolve(historyEndsOf(repo.source.path))),
      resolveRef(repo, ref, signal, env),
      withRepo(repo, () => findMailmap(repo, signal)),
    ]);
    this.#graphs.request(repo, commit);
    return { repo, commit, ends, mailmap, env };
  }

  /** Without a graph, walks only take longer. */
  #environmentOf(repo: RepoRecord): Promise<HistoryContext['env']> {
    return this.#graphs.environmentOf(repo).catch(() => ({}));
  }

  async #inSlot<Value>(
    { repo, env, mailmap }: Start,
    signal: AbortSignal,
    run: (context: HistoryContext) => Promise<Value>,
  ): Promise<Value> {
    const { timeoutMs } = this.#options;
    const context = { repoPath: repo.source.path, env, mailmap, timeoutMs, signal };
    try {
      return await withSlot(repo.source.path, signal, () => run(context));
    } catch (error) {
      throw error instanceof GitError && isRepoGone(repo) ? new RepoGoneError(repo.name) : error;
    }
  }

  /** The cached answer of a key, which the caller must not change; else that of `make`, once for all who wait for it. */
  async #answer(
    key: readonly unknown[],
    start: Start,
    signal: AbortSignal,
    make: (context: HistoryContext) => Promise<Buffer>,
  ): Promise<Buffer> {
    const text = JSON.stringify([start.repo.repoId, start.ends, ...key]);
    const cached = this.#answers.get(text);
    if (cached !== undefined) return cached;
    return this.#work.get(text, signal, async (all) => {
      const answer = ownMemory(await this.#inSlot(start, all, make));
      this.#answers.set(text, answer);
      return answer;
    });
  }

  async #treePathsOf(
    { repoPath, signal }: HistoryContext,
    commits: readonly string[],
    path: string | undefined,
  ): Promise<TreePath | undefined> {
    return path === undefined ? undefined : findTreePath(repoPath, commits, path, { signal });
  }

  /** Errors: the path has no file, or one that is too large, or its object is missing. */
  async #requireFile(
    repoPath: string,
    commit: string,
    path: string,
    signal: AbortSignal,
  ): Promise<void> {
    const root = await rootTreeOf(repoPath, commit, signal);
    const items = await findItems(repoPath, root, path, signal);
    const blob = items.find(({ type }) => type === 'blob');
    if (blob === undefined) throw fileNotFound(path);
    const size = await blobSizeOf(repoPath, blob.oid, Infinity, signal);
    requireSize(path, size, this.#options.sourceSizeMax);
  }
}

function fileNotFound(path: string): HistoryError {
  return new HistoryError('FILE_NOT_FOUND', `File "${path}" not found.`);
}

function jsonOf(value: object): Buffer {
  return Buffer.from(JSON.stringify(value));
}

/** The error for the caller if a difference is too large. */
function sizeError(error: unknown): HistoryError | undefined {
  if (!(error instanceof GitError) || error.failure !== 'output_too_large') return undefined;
  const message = `perPage: the difference is too large (${error.detail}); ask for fewer files, or for one path`;
  return new HistoryError('INVALID_QUERY_PARAMS', message);
}

/** The error for the caller if git refused an expression. */
function expressionError(error: unknown): HistoryError | undefined {
  if (!(error instanceof GitError)) return undefined;
  const [, origin, reason] = BAD_EXPRESSION.exec(error.detail) ?? [];
  if (origin === undefined) return undefined;
  const name = origin === 'header' ? 'author' : 'query';
  return new HistoryError('INVALID_QUERY_PARAMS', `${name}: ${reason}`);
}
