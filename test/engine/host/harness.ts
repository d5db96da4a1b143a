// Real shards of docs that a test makes up, opened and searched by the real code: built in memory
// (SegmentBuilder, mergeSegments, writeShard) or from a folder on disk (buildRepo), on the debug or the
// release build of the core, by one searcher and a pool of threads.

import { hash } from 'node:crypto';
import assert from 'node:assert/strict';
import type { SearchContexts } from '../../../daemon/repos/search-context.ts';
import { SEES_ALL, type RepoAccess } from '../../../daemon/repos/repo-access.ts';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { HEADER_SIZE } from '../../../core/shared/format.ts';
import { mergeSegments, SegmentBuilder } from '../../../daemon/engine/host/builder.ts';
import { allBytes } from '../../../daemon/base/lazy-bytes.ts';
import type { SearchPermit } from '../../../daemon/base/search-permit.ts';
import { compileCore } from '../../../daemon/engine/host/core.ts';
import { SymbolsFileBuilder } from '../../../daemon/engine/shards/symbols-builder.ts';
import { SearchPool } from '../../../daemon/engine/host/pool.ts';
import { CheckedPages } from '../../../daemon/engine/host/checked-pages.ts';
import { type LinkTexts, Searcher } from '../../../daemon/engine/host/searcher.ts';
import type { EncodedPlan } from '../../../daemon/engine/host/encoded-plan.ts';
import type { SpaceOptions } from '../../../daemon/engine/host/space.ts';
import { buildRepo } from '../../../daemon/engine/build/build.ts';
import { BuildThreads } from '../../../daemon/engine/build/build-threads.ts';
import type { Hint } from '../../../daemon/engine/query/hints.ts';
import { parseQuery } from '../../../daemon/engine/query/parser.ts';
import type { RepoRecord } from '../../../daemon/repos/records.ts';
import type { PlanNode } from '../../../daemon/engine/query/plan-tree.ts';
import type { SearchRequest } from '../../../daemon/engine/query/request.ts';
import { printPlan } from '../../../daemon/engine/query/print-plan.ts';
import {
  type EngineParts,
  prepareSearch,
  type SearchEnvironment,
} from '../../../daemon/engine/search/prepare.ts';
import { explain, type Explanation, type ShardRow } from '../../../daemon/engine/search/explain.ts';
import { search } from '../../../daemon/engine/search/search.ts';
import { ShortSearches } from '../../../daemon/engine/search/short-searches.ts';
import { startStream, type StreamEnvironment } from '../../../daemon/engine/search/stream.ts';
import {
  type LiveShard,
  type QuarantinedShard,
  SnapshotManager,
} from '../../../daemon/engine/search/snapshot.ts';
import type { ShardPart } from '../../../daemon/engine/shards/parts.ts';
import { ShardDocs } from '../../../daemon/engine/shards/shard-docs.ts';
import { writeShard } from '../../../daemon/engine/shards/writer.ts';
import { printSnapshot } from '../search/print-snapshot.ts';
import { checkInvariants } from './invariants.ts';
import { repoRecord } from '../../repos/record.ts';
import { temporaryFolder } from '../../sources/git/fixture.ts';
import { encodePlan, planQuery } from '../query/at-once.ts';

export { repoRecord, temporaryFolder };

/** The repo of tests that need but one. */
export const REPO = repoRecord(1, 'host/repo');

export type Build = 'debug' | 'release';

const modules = new Map<Build, Promise<WebAssembly.Module>>();

/** The core as it was built; compiled once for each build and process. */
export function coreModule(build: Build): Promise<WebAssembly.Module> {
  const cached = modules.get(build) ?? compileCore(wasmFile(build));
  modules.set(build, cached);
  return cached;
}

export function wasmFile(build: Build): string {
  return fileURLToPath(new URL(`../../../core.${build}.wasm`, import.meta.url));
}

/** A symbol of a test doc; `kind` is its number. */
export interface TestSymbol {
  readonly start: number;
  readonly size: number;
  readonly kind: number;
  readonly parent?: { readonly name: string; readonly kind: number };
}

export interface TestDoc {
  readonly path: string;
  readonly bytes: Uint8Array;
  readonly language?: string;
  /** If any doc of a shard has them, it gets a file of symbols. */
  readonly symbols?: readonly TestSymbol[];
  readonly tier?: number;
  readonly skipReason?: number;
}

export interface TestRepo {
  readonly repoId: number;
  readonly name: string;
  /** The docs of each of its shards. */
  readonly shards: readonly (readonly TestDoc[])[];
}

let builder: { module: WebAssembly.Module; builder: SegmentBuilder } | undefined;
let fileCount = 0;

/** Ascending; the first digits differ, as those of a hash do. */
function nextShardId(): string {
  return (++fileCount).toString(16).padStart(8, '0').padEnd(64, '0');
}

/** The builder of a module, kept: it reserves much address space. */
export function builderOf(module: WebAssembly.Module): SegmentBuilder {
  if (builder?.module !== module) builder = { module, builder: new SegmentBuilder(module) };
  return builder.builder;
}

/** Writes a shard of these docs into `folder`; equal contents of one language are stored once. */
export function buildShard(
  module: WebAssembly.Module,
  folder: string,
  repo: { repoId: number; name: string },
  docs: readonly TestDoc[],
): LiveShard {
  return buildSharedShard(module, folder, [{ ...repo, docs }]);
}

/** As buildShard, of several repos. */
export function buildSharedShard(
  module: WebAssembly.Module,
  folder: string,
  repos: readonly { repoId: number; name: string; docs: readonly TestDoc[] }[],
): LiveShard {
  const docs = repos.flatMap((repo) => repo.docs);
  const target = builderOf(module);
  const blobIds = new Map<string, number>();
  target.begin();
  for (const doc of docs) {
    const { bytes, skipReason } = doc;
    const key = contentKey(doc);
    if (bytes.length === 0 || skipReason !== undefined || blobIds.has(key)) continue;
    const pointer = target.stage(bytes);
    if (pointer === undefined || target.add(pointer, bytes.length, 0) !== 'added')
      throw new Error('the test shard is too large');
    blobIds.set(key, blobIds.size);
  }
  const { content, segments } = target.close();
  const { blobs, blocks, caseMarks } = target.rows(0, 0, 0);
  const shardId = nextShardId();
  const file = path.join(folder, `${shardId}.shard`);
  writeFileSync(file, Buffer.concat([Buffer.alloc(HEADER_SIZE), content]));
  const parts = segments.map((segment, index) => {
    const part = `${file}.segment${index}`;
    writeFileSync(part, segment);
    return { path: part, size: segment.length };
  });
  const shardDocs = docs.map((doc) => ({
    path: Buffer.from(doc.path),
    blobId: doc.skipReason === undefined ? blobIds.get(contentKey(doc)) : undefined,
    size: doc.bytes.length,
    language: doc.language ?? '',
    skipReason: doc.skipReason ?? 0,
    tier: doc.tier ?? 0,
  }));
  const tables = {
    repos: repos.map(({ repoId, name, docs }) => ({ repoId, name, docCount: docs.length })),
    docs: ShardDocs.of(shardDocs),
    blobs,
    blobHashes: Buffer.concat([...blobIds.keys()].map((key) => hashOf(contentOf(key)))),
    hashSize: 20,
    blocks,
    caseMarks,
    contentSize: content.length,
  };
  writeShard(module, file, tables, (onPostings) => mergeSegments(module, parts, onPostings));
  const symbols = docs.some((doc) => doc.symbols !== undefined)
    ? buildSymbols(module, file, docs, blobIds)
    : undefined;
  return {
    shardId,
    path: file,
    size: statSync(file).size,
    ...(symbols === undefined ? {} : { symbols }),
    docCount: docs.length,
    parts: partsOf(repos),
  };
}

/** What says whether docs share a content: its language, and it as latin-1 text. */
function contentKey({ bytes, language = '' }: TestDoc): string {
  return `${language}\n${Buffer.from(bytes).toString('latin1')}`;
}

function contentOf(key: string): string {
  return key.slice(key.indexOf('\n') + 1);
}

/** Git's id of a content, given as latin-1 text. */
export function hashOf(content: string): Buffer {
  const object = Buffer.from(`blob ${content.length}\0${content}`, 'latin1');
  return Buffer.from(hash('sha1', object, 'hex'), 'hex');
}

function partsOf(repos: readonly { repoId: number; docs: readonly unknown[] }[]): ShardPart[] {
  let docEnd = 0;
  return repos.map(({ repoId, docs }) => {
    const docStart = docEnd;
    docEnd += docs.length;
    return { repoId, docStart, docEnd };
  });
}

/** Writes the symbols of the docs beside their shard. */
function buildSymbols(
  module: WebAssembly.Module,
  file: string,
  docs: readonly TestDoc[],
  blobIds: ReadonlyMap<string, number>,
): { path: string; size: number } {
  const target = new SymbolsFileBuilder(module, file);
  const added = new Set<number>();
  for (const doc of docs) {
    const { symbols = [] } = doc;
    const blobId = blobIds.get(contentKey(doc));
    if (blobId === undefined || added.has(blobId)) continue;
    target.addBlob(blobId, symbols);
    added.add(blobId);
  }
  const symbolsPath = `${file}.tags`;
  const { size } = target.finish(symbolsPath);
  target.drop();
  return { path: symbolsPath, size };
}

/** Lines that are symbols of 490 words of one letter: each has as many names. */
export function headings(
  seed: number,
  lineCount: number,
): { readonly bytes: Buffer; readonly symbols: readonly TestSymbol[] } {
  const bytes = Buffer.alloc(lineCount * 980);
  let random = seed + 1;
  for (let i = 0; i < bytes.length; i += 2) {
    random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
    bytes[i] = 97 + ((random >>> 16) % 26);
    // Why different ones: names that begin alike take long to sort.
    bytes[i + 1] = 33 + ((random >>> 8) % 14);
  }
  for (let line = 1; line <= lineCount; line++) bytes[line * 980 - 1] = 10;
  const symbols = Array.from({ length: lineCount }, (_, i) => ({
    start: i * 980,
    size: 979,
    kind: 20,
  }));
  return { bytes, symbols };
}

/** Writes the docs below a folder and has it indexed by the real ingest. */
export async function buildFromDisk(
  module: WebAssembly.Module,
  folder: string,
  repo: { repoId: number; name: string },
  docs: readonly TestDoc[],
): Promise<LiveShard[]> {
  const source = mkdtempSync(path.join(folder, 'source-'));
  for (const doc of docs) {
    mkdirSync(path.dirname(path.join(source, doc.path)), { recursive: true });
    writeFileSync(path.join(source, doc.path), doc.bytes);
  }
  const threads = new BuildThreads(module, availableParallelism());
  const { shards } = await buildRepo({
    module,
    threads,
    spec: { kind: 'folder', path: source },
    repoId: repo.repoId,
    repoName: repo.name,
    filters: { maxFileSize: 64 << 20, maxTrigramCount: 1 << 21, alwaysIndexFilePatterns: [] },
    folder,
  });
  await threads.close();
  return shards.map((shard) => ({
    shardId: nextShardId(),
    path: shard.path,
    size: shard.size,
    docCount: shard.docCount,
    parts: [{ repoId: repo.repoId, docStart: 0, docEnd: shard.docCount }],
  }));
}

export interface Location {
  readonly byteOffset: number;
  readonly lineNumber: number;
  readonly column: number;
}
export interface Range {
  readonly start: Location;
  readonly end: Location;
}
export interface FileResult {
  readonly fileName: { readonly text: string; readonly matchRanges: readonly Range[] };
  readonly repository: string;
  readonly language: string;
  readonly branches: readonly string[];
  readonly content?: string;
  readonly skipReason?: string;
  readonly score?: number;
  readonly blobSha?: string;
  readonly chunks: readonly {
    readonly content: string;
    readonly contentStart: Location;
    readonly matchRanges: readonly Range[];
    readonly symbols: readonly unknown[];
  }[];
}
export interface SearchAnswer {
  readonly stats: Readonly<Record<string, number>>;
  readonly files: readonly FileResult[];
  readonly isSearchExhaustive: boolean;
  readonly incompleteReasons?: readonly string[];
  readonly hints?: readonly Hint[];
}

/** Short texts for tests that render without a repository. */
export const LINKS: LinkTexts = {
  page: '"/',
  members: '',
  external: '',
  externalEnd: '',
  hasBlobSha: true,
};

/** The plan of a query over REPO, as searchers take it. */
export function encodedPlan(
  query: string,
  isRegexEnabled = false,
  shards: readonly LiveShard[] = [],
  isCaseSensitive = false,
): EncodedPlan {
  const parsed = parseQuery(query, { isRegexEnabled, isFolded: !isCaseSensitive });
  const context = { repos: () => [REPO], needsDocSets: false, testNames: () => [true] };
  return encodePlan(planQuery(parsed, context), isCaseSensitive, shards);
}

/** Why a test that counts mappings is left out, if it is. */
export const cannotCountMappings = existsSync('/proc/self/maps')
  ? false
  : 'mappings cannot be counted here';

export function countMappings(): number {
  return readFileSync('/proc/self/maps', 'latin1').split('\n').length;
}

/** What of an answer does not depend on time. */
export function timeless({ stats, ...rest }: SearchAnswer): unknown {
  const { duration, wait, matchTreeConstruction, matchTreeSearch, ...counts } = stats;
  assert.ok([duration, wait, matchTreeConstruction, matchTreeSearch].every((ns) => ns! >= 0));
  return { counts, ...rest };
}

/** The match tree that a searcher has bound to a shard, as the core prints it (core/match/print-tree.ts). */
export function printTree(searcher: Searcher, shardId: string): string {
  assert.ok(searcher.isBound(shardId));
  const { core, outputStart } = searcher.spaceOf(shardId);
  const size = core.exports.printTree(outputStart);
  return Buffer.from(core.memory.buffer, outputStart, size).toString();
}

export interface EngineOptions extends SpaceOptions {
  readonly workers?: number;
  readonly timeoutMs?: number;
  /** 0n: nearly everything is left to the pool. */
  readonly inlineNs?: bigint;
  readonly onDeath?: (error: Error) => void;
  /** Mappings of shards on each thread of the pool. */
  readonly poolMappingMax?: number;
}

const DEFAULTS: Omit<SearchRequest, 'query'> = {
  matches: 1_000_000,
  contextLines: 0,
  whole: false,
  isRegexEnabled: false,
  isCaseSensitivityEnabled: false,
};

/** A request with the defaults of these tests, and these changes. */
export function requestOf(
  query: SearchRequest['query'],
  more: Partial<SearchRequest> = {},
): SearchRequest {
  return { ...DEFAULTS, query, ...more };
}

/** The environment of a search by a caller who sees everything and stays connected. */
export function environmentOf(more: Partial<StreamEnvironment> = {}): StreamEnvironment {
  const { signal } = new AbortController();
  const baseUrl = 'http://localhost';
  return { signal, baseUrl, repoAccess: SEES_ALL, eventSizeMax: 16_000_000, ...more };
}

/** Of a request that arrived then (performance.now); it never waits. */
export function permitOf(arrivedMs: number): SearchPermit {
  const nothing = (): undefined => undefined;
  return {
    clientKey: '',
    arrivedMs,
    attach: nothing,
    whenRunning: nothing,
    rest: nothing,
    want: nothing,
  };
}

/** All events of a stream, in order; an event that is an error is thrown. */
export async function streamEvents<Event = Record<string, unknown>>(
  parts: EngineParts,
  request: SearchRequest,
  more: Partial<StreamEnvironment> = {},
): Promise<Event[]> {
  const stream = await startStream(parts, request, environmentOf(more));
  const events: Event[] = [];
  for (let event = await stream.next(); event !== undefined; event = await stream.next()) {
    if ('error' in event) throw event.error;
    events.push(JSON.parse(Buffer.from(event.json).toString()) as Event);
  }
  stream.close();
  return events;
}

function needsEngine(plan: PlanNode): boolean {
  if (plan.kind === 'not') return needsEngine(plan.child);
  if (plan.kind === 'and' || plan.kind === 'or') return plan.children.some(needsEngine);
  const isExpression =
    plan.kind === 'regex' || plan.kind === 'pathRegex' || plan.kind === 'symbolRegex';
  return isExpression && !plan.expression.isChoice;
}

/**
 * A searcher, a pool and the snapshots of one module, with `search` as the daemon runs it, each answer checked against itself.
 */
export class Engine implements AsyncDisposable {
  /** Of the searches that begin from now on. */
  contexts: SearchContexts = {};
  /** Names by repoId. */
  readonly connections = new Map<number, readonly string[]>();
  /** Files too large to be searched, by repo. */
  readonly tooLarge = new Map<number, number>();
  readonly searcher: Searcher;
  readonly pool: SearchPool;
  readonly snapshots: SnapshotManager;
  readonly failures: string[] = [];
  /** Of the searches that begin from now on; 0: none. */
  timeoutMs: number;
  readonly #inlineNs: bigint | undefined;
  readonly #shortSearches: ShortSearches;
  /** The threads of the pool do not keep a process alive. */
  readonly #alive = setInterval(() => {}, 60_000);

  readonly module: WebAssembly.Module;
  /** Of the shards that it builds. */
  readonly folder = temporaryFolder();

  constructor(module: WebAssembly.Module, options: EngineOptions = {}) {
    this.module = module;
    const { workers = 1, timeoutMs = 0, inlineNs, onDeath, poolMappingMax, ...others } = options;
    const space = { checkedPages: CheckedPages.newBuffer(), ...others };
    this.timeoutMs = timeoutMs;
    this.#inlineNs = inlineNs;
    this.searcher = new Searcher(module, space);
    this.pool = new SearchPool({
      module,
      workers,
      ...space,
      ...(onDeath ? { onDeath } : {}),
      ...(poolMappingMax === undefined ? {} : { mappingMax: poolMappingMax }),
    });
    this.snapshots = new SnapshotManager(this.searcher, this.pool);
    this.#shortSearches = new ShortSearches(this.pool);
  }

  /** On the core as it was built. */
  static async open(options: EngineOptions = {}, build: Build = 'release'): Promise<Engine> {
    return new Engine(await coreModule(build), options);
  }

  /** As `open`, with a shard of these docs that is searched. */
  static async over(docs: readonly TestDoc[], options: EngineOptions = {}): Promise<Engine> {
    const engine = await Engine.open(options);
    try {
      engine.publish([engine.shardOf(REPO, docs)], [REPO]);
    } catch (error) {
      // Its threads would keep the test run open.
      await engine[Symbol.asyncDispose]();
      throw error;
    }
    return engine;
  }

  shardOf(repo: RepoRecord, docs: readonly TestDoc[]): LiveShard {
    return buildShard(this.module, this.folder, repo, docs);
  }

  sharedShardOf(repos: Parameters<typeof buildSharedShard>[2]): LiveShard {
    return buildSharedShard(this.module, this.folder, repos);
  }

  /** Opens these shards instead of those before. */
  publish(
    shards: readonly LiveShard[],
    repos: readonly RepoRecord[],
    quarantined: readonly QuarantinedShard[] = [],
  ): void {
    const refused = this.snapshots.publish({ shards, repos, quarantined });
    if (refused[0] !== undefined) throw refused[0];
  }

  get parts(): EngineParts {
    return {
      searcher: this.searcher,
      pool: this.pool,
      snapshots: this.snapshots,
      connectionsOf: (repoId) => this.connections.get(repoId) ?? [],
      tooLargeOf: (repoId) => this.tooLarge.get(repoId) ?? 0,
      timeoutMs: this.timeoutMs,
      ...(this.#inlineNs === undefined ? {} : { inlineNs: this.#inlineNs }),
      onShardFailure: (shardId, reason) => this.failures.push(`${shardId}: ${reason}`),
    };
  }

  async search(
    query: string,
    request: Partial<SearchRequest> = {},
    signal: AbortSignal = new AbortController().signal,
    repoAccess: RepoAccess = SEES_ALL,
  ): Promise<SearchAnswer> {
    const requested = { ...DEFAULTS, ...request, query };
    const { contexts } = this;
    const environment = { signal, baseUrl: 'http://localhost', repoAccess, contexts };
    const snapshot = this.snapshots.acquire();
    try {
      const { json } = await search(this.parts, requested, environment);
      const answer = JSON.parse(Buffer.from(allBytes(json)).toString()) as SearchAnswer;
      const { scope, plan } = await prepareSearch(this.parts, requested, environment, snapshot);
      const facts = {
        matches: requested.matches,
        shardCount: scope.shards.length + scope.quarantined.length,
        needsEngine: needsEngine(plan),
      };
      try {
        checkInvariants(answer, facts);
      } catch (error) {
        const description = `${printPlan(plan)} in ${printSnapshot(snapshot)}`;
        throw new Error(`${description}: ${(error as Error).message}`, { cause: error });
      }
      const short = await this.searchShort(requested, environment);
      // Hints depend on time: the searches for them may be late.
      const comparable = (one: SearchAnswer) => timeless({ ...one, hints: [] });
      if (short !== undefined) assert.deepEqual(comparable(short), comparable(answer), query);
      return answer;
    } finally {
      this.snapshots.release(snapshot);
    }
  }

  /** As a pool thread answers it alone; undefined: it does not. */
  async searchShort(
    request: SearchRequest,
    environment: SearchEnvironment,
  ): Promise<SearchAnswer | undefined> {
    this.pool.start();
    const short = await this.#shortSearches.run(0, this.parts, request, environment);
    return short && (JSON.parse(Buffer.from(short.json).toString()) as SearchAnswer);
  }

  async explain(
    query: string,
    request: Partial<SearchRequest> = {},
    repoAccess = SEES_ALL,
    seesShards = true,
  ): Promise<Explanation & { readonly shards: readonly ShardRow[] }> {
    const { signal } = new AbortController();
    const { contexts } = this;
    const environment = { signal, baseUrl: 'http://localhost', repoAccess, contexts };
    const call = { ...DEFAULTS, ...request, query };
    const explained = await explain(this.parts, call, environment, seesShards);
    return { ...explained, shards: explained.shards ?? [] };
  }

  async close(): Promise<void> {
    await this.pool.close();
    clearInterval(this.#alive);
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}
