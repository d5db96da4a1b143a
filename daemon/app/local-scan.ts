// Searches of tools in repos that are not indexed yet: files are listed and read as an index would have them, and tested one
// after the other, each line by itself. Slow, in the order of paths, and true to what is on disk now.

import { DocFilter, type FilterSettings, isBinary } from '../engine/build/filters.ts';
import type { Searcher } from '../engine/host/searcher.ts';
import { PlanError } from '../engine/host/search-plan.ts';
import type { SearchRequest } from '../engine/query/request.ts';
import type { PatternNode, QueryNode, RegexNode } from '../engine/query/tree.ts';
import { compileRegex } from '../engine/regex/compile.ts';
import { given } from '../base/given.ts';
import { nextTurn } from '../base/next-turn.ts';
import { utf8Of } from '../base/utf16.ts';
import { behindMark, utf8Text } from '../base/utf8-text.ts';
import { ApiError } from '../api/shapes/api-error.ts';
import type { RepoRecord } from '../repos/records.ts';
import { DocReader } from '../sources/docs/doc-reader.ts';
import type { FileList, SourceFile } from '../sources/docs/file-list.ts';
import { openSource } from '../sources/docs/open-source.ts';
import { resolveRef } from '../sources/git/resolve.ts';

export interface ScanOptions {
  readonly searcher: Pick<Searcher, 'testNames'>;
  readonly filters: FilterSettings;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Files that were looked at, of how many. */
  readonly onProgress: (done: number, total: number) => void;
}

/** A line, and that it matches. */
interface ScannedChunk {
  readonly content: string;
  readonly contentStart: { readonly lineNumber: number };
  readonly matchRanges: readonly [{ readonly start: Place; readonly end: Place }];
}

interface Place {
  readonly lineNumber: number;
  readonly column: number;
}

/** The members of a file result (API.md 6.3) that tools look at. */
interface ScannedFile {
  readonly repository: string;
  readonly fileName: { readonly text: string };
  readonly chunks: readonly ScannedChunk[];
}

/** What was found; a match is a line, or a file where no text is asked for. */
export interface ScannedFiles {
  readonly files: readonly ScannedFile[];
  readonly matchCount: number;
  /** False: it ended before all files were looked at. */
  readonly isWhole: boolean;
  /** It ended for want of time. */
  readonly isLate: boolean;
}

/** Files of a batch; between two of them others have their turn. */
const FILES_AT_ONCE = 64;
/** Unit: ms. Between two words of progress. */
const PROGRESS_MS = 200;
/** Unit: ms. Of testing the lines of a file. Guess: the worst expression takes a second for some MB. */
const FILE_MS_MAX = 2000;

/** Programs that repos, paths and lines must match. */
interface Wanted {
  readonly repo: Uint8Array[];
  readonly file: Uint8Array[];
  readonly content: Uint8Array[];
}

/**
 * Looks through repos until there are more matches than are asked for.
 *
 * Errors: NOT_READY for what only an index knows; those of listing and reading a source; the reason of the signal.
 */
export async function scan(
  repos: readonly RepoRecord[],
  request: Pick<SearchRequest, 'query' | 'matches' | 'contextLines'>,
  options: ScanOptions,
): Promise<ScannedFiles> {
  return await new Scan(request, options).run(repos);
}

class Scan {
  readonly #options: ScanOptions;
  readonly #filter: DocFilter;
  readonly #wanted: Wanted;
  readonly #matchesMax: number;
  readonly #contextLines: number;
  readonly #endMs: number;
  readonly #files: ScannedFile[] = [];
  #matchCount = 0;
  #doneCount = 0;
  #totalCount = 0;
  #toldMs = 0;

  constructor(
    { query, matches, contextLines }: Pick<SearchRequest, 'query' | 'matches' | 'contextLines'>,
    options: ScanOptions,
  ) {
    this.#options = options;
    this.#filter = new DocFilter(options.filters);
    this.#wanted = wantedBy(query);
    this.#matchesMax = matches;
    this.#contextLines = contextLines;
    this.#endMs = performance.now() + options.timeoutMs;
  }

  async run(repos: readonly RepoRecord[]): Promise<ScannedFiles> {
    for (const repo of repos) {
      if (this.#isOver()) break;
      if (this.#fits(this.#wanted.repo, repo.name)) await this.#scanRepo(repo);
    }
    return {
      files: this.#files,
      matchCount: this.#matchCount,
      isWhole: !this.#isOver(),
      isLate: this.#matchCount <= this.#matchesMax && this.#isOver(),
    };
  }

  #isOver(): boolean {
    return this.#matchCount > this.#matchesMax || performance.now() > this.#endMs;
  }

  async #scanRepo(repo: RepoRecord): Promise<void> {
    const files = await listFiles(repo, this.#options.signal);
    this.#totalCount += files.length;
    const reader = new DocReader(repo.source.path);
    try {
      for (let start = 0; start < files.length && !this.#isOver(); start += FILES_AT_ONCE) {
        const batch = batchOf(files, start);
        const fitting = this.#wantedOf(batch);
        if (this.#wanted.content.length === 0)
          for (const file of fitting) this.#add(repo, file, []);
        else await this.#read(repo, fitting, reader);
        this.#doneCount += batch.length;
        await this.#breathe();
      }
    } finally {
      await reader.close();
    }
  }

  async #breathe(): Promise<void> {
    const { signal, onProgress } = this.#options;
    const nowMs = performance.now();
    if (nowMs - this.#toldMs > PROGRESS_MS || this.#doneCount === this.#totalCount) {
      this.#toldMs = nowMs;
      onProgress(this.#doneCount, this.#totalCount);
    }
    await nextTurn();
    signal.throwIfAborted();
  }

  /** Those that the conditions on paths and the limits of an index let in. */
  #wantedOf(files: readonly SourceFile[]): SourceFile[] {
    const paths = files.map(({ path }) => path);
    const fits = this.#wanted.file.map((program) => this.#test(program, paths));
    return files.filter(
      ({ path, size }, index) =>
        fits.every((matches) => matches[index]) &&
        (this.#wanted.content.length === 0 ||
          this.#filter.skipReasonOfSize(path, size) === undefined),
    );
  }

  async #read(repo: RepoRecord, files: readonly SourceFile[], reader: DocReader): Promise<void> {
    await reader.read(files, (index, bytes) => {
      if (bytes === undefined || this.#isOver()) return;
      // Safety: an index of the files.
      const chunks = this.#chunksIn(bytes);
      if (chunks.length > 0) this.#add(repo, files[index]!, chunks);
    });
  }

  /** The lines that match. */
  #chunksIn(bytes: Uint8Array): ScannedChunk[] {
    const content = utf8Of(bytes);
    if (isBinary(content)) return [];
    const text = utf8Text(behindMark(content));
    // Why first as a whole: most files hold no match, and to cut one into lines takes longer than to test it.
    if (!this.#fits(this.#wanted.content, text)) return [];
    const lines = text.replace(/\n$/, '').split('\n');
    const matches = lines.map(() => true);
    for (const program of this.#wanted.content)
      for (const [index, isMatch] of this.#test(program, lines).entries())
        if (!isMatch) matches[index] = false;
    return matches.flatMap((isMatch, index) =>
      isMatch ? [chunkAt(lines, index, this.#contextLines)] : [],
    );
  }

  #add(repo: RepoRecord, { path }: SourceFile, chunks: readonly ScannedChunk[]): void {
    const room = this.#matchesMax - this.#matchCount;
    this.#matchCount += Math.max(chunks.length, 1);
    if (room <= 0) return;
    const shown = chunks.slice(0, room);
    this.#files.push({ repository: repo.name, fileName: { text: path }, chunks: shown });
  }

  #fits(programs: readonly Uint8Array[], text: string): boolean {
    return programs.every((program) => this.#test(program, [text])[0]);
  }

  /** Errors: NOT_READY for an expression that takes too long. */
  #test(program: Uint8Array, texts: readonly string[]): boolean[] {
    const endMs = performance.now() + FILE_MS_MAX;
    try {
      return this.#options.searcher.testNames(program, texts, () => performance.now() > endMs);
    } catch (error) {
      if (!(error instanceof PlanError)) throw error;
      throw new ApiError('NOT_READY', `without an index the pattern takes too long; ${LATER}`);
    }
  }
}

const LATER = 'the index is being made; try again in a while';

/** Errors: NOT_READY. */
function wantedBy(query: SearchRequest['query']): Wanted {
  if (typeof query === 'string') throw new Error('tools search by trees');
  const wanted: Wanted = { repo: [], file: [], content: [] };
  for (const node of query.kind === 'and' ? query.children : [query]) {
    if (!isTestable(node))
      throw new ApiError('NOT_READY', `without an index there are only text and paths; ${LATER}`);
    const [subject, list] =
      node.kind === 'regex'
        ? (['content', wanted.content] as const)
        : (['name', wanted[node.prefix]] as const);
    list.push(compileRegex(node.tree, { subject }).program);
  }
  return wanted;
}

function isTestable(
  node: QueryNode,
): node is RegexNode | (PatternNode & { readonly prefix: 'repo' | 'file' }) {
  return node.kind === 'regex' || (node.kind === 'pattern' && node.prefix !== 'sym');
}

async function listFiles(repo: RepoRecord, signal: AbortSignal): Promise<FileList> {
  const { source } = repo;
  const commit =
    source.kind === 'commits' ? await resolveRef(repo, undefined, signal) : source.commit;
  const { files } = await openSource({ ...source, ...given({ commit }) }).list();
  return files;
}

function batchOf(files: FileList, start: number): SourceFile[] {
  const count = Math.min(FILES_AT_ONCE, files.length - start);
  return Array.from({ length: count }, (_, index) => files.at(start + index));
}

function chunkAt(lines: readonly string[], index: number, contextLines: number): ScannedChunk {
  const first = Math.max(0, index - contextLines);
  const lineNumber = index + 1;
  return {
    content: lines.slice(first, index + contextLines + 1).join('\n'),
    contentStart: { lineNumber: first + 1 },
    matchRanges: [{ start: { lineNumber, column: 1 }, end: { lineNumber, column: 2 } }],
  };
}
