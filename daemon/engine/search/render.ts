// Renders the docs of an answer: few on the main thread, many on the pool. The core writes each file result
// (core/match/file-results.ts); the texts shared by docs of a repo and its revisions are made here.

import type { Cancellation } from '../../base/cancellation.ts';
import type { FileKind } from '../build/rank.ts';
import { freeBuffers } from '../host/free-buffers.ts';
import type { SearchPool } from '../host/pool.ts';
import { renderDocs } from '../host/render-docs.ts';
import { ShardError } from '../host/space.ts';
import { NO_SCORE } from '../../../core/shared/plan.ts';
import { REQUEST_WORDS } from '../host/searcher.ts';
import type { EncodedPlan } from '../host/encoded-plan.ts';
import type { LinkTexts, RenderedDocs, RenderOptions, Searcher } from '../host/searcher.ts';
import { blobPageUrl, externalFileUrl } from '../../repos/links.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { ResultField } from '../query/request.ts';
import { type BranchGroup, groupByBranches } from '../query/revisions.ts';
import { partOf, type ShardPart } from '../shards/parts.ts';
import { fileKindsOf } from './file-kinds.ts';
import type { DocList, FoundDocs } from './found-docs.ts';
import type { ScopeView } from './scope.ts';
import type { LiveShard } from './snapshot.ts';
import { addToList } from '../../base/lists.ts';
import type { SearchPermit } from '../../base/search-permit.ts';
import { fitsMainThread } from './run.ts';
import { withShortLines } from './short-lines.ts';
import type { Thread } from './start-threads.ts';

/** Measured: this many ranges take about 2 ms, which the main thread can afford. */
const INLINE_RANGES = 4000;
/** Guess: makes all threads end at about the same time. */
const GROUPS_PER_THREAD = 2;

export interface RenderContext {
  readonly searcher: Searcher;
  readonly pool: Pick<SearchPool, 'size' | 'render'>;
  /** As EngineParts has it. */
  readonly inlineNs?: bigint | undefined;
  readonly encodedPlan: EncodedPlan;
  readonly shards: readonly LiveShard[];
  readonly baseUrl: string;
  readonly contextLines: number;
  readonly returnsContent: boolean;
  /** Most bytes of a line in chunks; undefined: all. */
  readonly lineSizeMax: number | undefined;
  readonly fields: readonly ResultField[];
  /** The `rev:` texts for which results list revisions (engine/query/revisions.ts). */
  readonly revisionTexts: readonly string[] | undefined;
  readonly view: ScopeView;
  readonly reading: Reading;
  readonly signal: Cancellation;
  /** Absent: the only search. */
  readonly permit?: SearchPermit | undefined;
  /** Gets the number of rendered bytes. Errors end the rendering. */
  readonly takeMemory?: ((size: number) => void) | undefined;
}

/** Bytes that rendering read of each blob: content shared by docs of several threads or batches counts once. */
export class Reading {
  readonly #bytes = new Map<string, number>();

  /** Returns the bytes not counted before. */
  add(shard: number, blobId: number, bytes: number): number {
    const key = `${shard} ${blobId}`;
    const counted = this.#bytes.get(key) ?? 0;
    this.#bytes.set(key, Math.max(counted, bytes));
    return Math.max(0, bytes - counted);
  }
}

export interface RenderSums {
  rangeCount: number;
  /** Read in addition to those read for finding. */
  contentBytes: number;
  /** Docs read only by rendering. */
  loadCount: number;
}

export interface RenderedAnswer extends Readonly<RenderSums> {
  readonly files: FileResults;
}

/** Parts of the groups that were rendered together. */
export class FileResults {
  readonly count: number;
  readonly #groups: Buffer[] = [];
  readonly #groupOf: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #ends: Uint32Array;

  constructor(count: number) {
    this.count = count;
    this.#groupOf = new Uint32Array(count);
    this.#starts = new Uint32Array(count);
    this.#ends = new Uint32Array(count);
  }

  /** `ranks`: indexes in the answer. */
  add({ json, sizes }: RenderedDocs, ranks: readonly number[]): void {
    const group = this.#groups.push(Buffer.from(json.buffer, json.byteOffset, json.length)) - 1;
    let start = 0;
    for (let i = 0; i < ranks.length; i++) {
      const rank = ranks[i]!;
      this.#groupOf[rank] = group;
      this.#starts[rank] = start;
      start += sizes[i]!;
      this.#ends[rank] = start;
    }
  }

  /** Without separators. */
  sizeOf(start: number, end: number): number {
    let size = 0;
    for (let rank = start; rank < end; rank++) size += this.#ends[rank]! - this.#starts[rank]!;
    return size;
  }

  /** Separated by commas, from `position` on; returns the end. */
  writeTo(target: Buffer, position: number, start: number, end: number): number {
    for (let rank = start; rank < end; rank++) {
      if (rank > start) target[position++] = COMMA;
      const group = this.#groups[this.#groupOf[rank]!]!;
      position += group.copy(target, position, this.#starts[rank], this.#ends[rank]);
    }
    return position;
  }

  /** This object must no longer be used. */
  first(count: number): FileResults {
    const some = new FileResults(count);
    some.#groups.push(...this.#groups);
    some.#groupOf.set(this.#groupOf.subarray(0, count));
    some.#starts.set(this.#starts.subarray(0, count));
    some.#ends.set(this.#ends.subarray(0, count));
    return some;
  }

  release(): void {
    freeBuffers(this.#groups.map(({ buffer }) => buffer));
  }
}

const COMMA = 0x2c;

const NOTHING: RenderedAnswer = {
  files: new FileResults(0),
  rangeCount: 0,
  contentBytes: 0,
  loadCount: 0,
};

/** `File`: the members to use. */
export function parseFiles<File>(files: FileResults): File[] {
  const json = Buffer.alloc(files.sizeOf(0, files.count) + files.count);
  const end = files.writeTo(json, 0, 0, files.count);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- the core has just written it
  return JSON.parse(`[${json.toString('utf8', 0, end)}]`) as File[];
}

/** Few docs are rendered on `thread`, which found them. Errors: those of a doc; AbortError when the client is gone. */
export async function renderAnswer(
  list: DocList,
  context: RenderContext,
  thread?: Thread,
  onRendered?: (shard: number, done: RenderSums) => void,
): Promise<RenderedAnswer> {
  const { found, docs } = list;
  if (docs.length === 0) return NOTHING;
  const rangeCount = found.rangeMaxOf(docs);
  // Guess: rendering so few docs is faster than waking two threads.
  const isSmall = docs.length <= 150 && rangeCount <= INLINE_RANGES;
  const isInline = isSmall && !context.returnsContent && fitsMainThread(context.encodedPlan);
  const files = new FileResults(docs.length);
  const sums = { rangeCount: 0, contentBytes: 0, loadCount: 0 };
  const groups = groupByShard(list, isInline ? Infinity : groupSize(docs.length, context));
  // The last searched shard is still bound; rendering another one first would unbind it.
  const isBound = ({ shard }: { shard: number }): number =>
    context.searcher.isBound(context.shards[shard]!.shardId) ? 1 : 0;
  groups.sort((a, b) => isBound(b) - isBound(a));
  const where = isInline ? (thread ?? 'here') : 'anywhere';
  const renderNext = async (group: Group): Promise<void> => {
    const { shard, ranks } = group;
    const rendered = await renderGroup(found, group, context, where);
    const { lineSizeMax } = context;
    const done = lineSizeMax === undefined ? rendered : withShortLines(rendered, lineSizeMax);
    context.takeMemory?.(done.json.byteLength);
    files.add(done, ranks);
    const { rangeCount } = done;
    // The search's reading of other shards is withheld (totals.ts); what rendering reads in addition would reveal it.
    const isExact = context.shards[shard]!.hidesDocs !== true;
    const loadCount = isExact ? done.loadCount : 0;
    const contentBytes = isExact ? readingOf(found, group, done, context) : 0;
    sums.rangeCount += rangeCount;
    sums.contentBytes += contentBytes;
    sums.loadCount += loadCount;
    onRendered?.(shard, { rangeCount, contentBytes, loadCount });
  };
  const laneCount = isInline ? groups.length : context.pool.size * GROUPS_PER_THREAD;
  await inLanes(groups, laneCount, context, renderNext);
  return { files, ...sums };
}

/** At most `laneCount` groups at a time, and only in the time slices of the search. */
async function inLanes(
  groups: readonly Group[],
  laneCount: number,
  { permit, signal }: Pick<RenderContext, 'permit' | 'signal'>,
  work: (group: Group) => Promise<void>,
): Promise<void> {
  let next = 0;
  const lane = async (): Promise<void> => {
    for (let group = groups[next++]; group !== undefined; group = groups[next++]) {
      // Not always: a promise costs as much as rendering one doc.
      const whenRunning = permit?.whenRunning();
      if (whenRunning !== undefined) await whenRunning;
      signal.throwIfAborted();
      await work(group);
    }
  };
  await Promise.all(Array.from({ length: Math.min(laneCount, groups.length) }, lane));
}

/** Bytes of the docs that rendering read first. */
function readingOf(
  found: FoundDocs,
  { shard, docs }: Group,
  { bytesRead }: RenderedDocs,
  { view, reading }: RenderContext,
): number {
  let sum = 0;
  for (const [index, bytes] of bytesRead.entries()) {
    if (bytes === 0) continue;
    const blobId = view.tablesOf(shard).doc(found.docId(docs[index]!)).blobId;
    if (blobId !== undefined) sum += reading.add(shard, blobId, bytes);
  }
  return sum;
}

function groupSize(count: number, { pool, returnsContent }: RenderContext): number {
  // Bound: delay of other searches by one group, about 4 ms.
  if (returnsContent) return 40;
  return Math.max(50, Math.ceil(count / (pool.size * GROUPS_PER_THREAD)));
}

interface Group {
  readonly shard: number;
  /** `ranks`: indexes in the answer. */
  readonly docs: number[];
  readonly ranks: number[];
  rangeCount: number;
}

function groupByShard({ found, docs }: DocList, sizeMax: number): Group[] {
  const groups: Group[] = [];
  const open = new Map<number, Group>();
  for (let rank = 0; rank < docs.length; rank++) {
    const doc = docs[rank]!;
    const shard = found.shard(doc);
    let group = open.get(shard);
    // Bound: delay of other searches by one group, about 4 ms.
    const isFull =
      group !== undefined &&
      (group.ranks.length >= sizeMax || group.rangeCount >= 2 * INLINE_RANGES);
    if (group === undefined || isFull) {
      group = { shard, docs: [], ranks: [], rangeCount: 0 };
      open.set(shard, group);
      groups.push(group);
    }
    group.docs.push(doc);
    group.ranks.push(rank);
    group.rangeCount += found.rangeMax(doc);
  }
  return groups;
}

/** Bound: blocking of the event loop; longer rendering moves to the pool. */
const RENDER_NS = 10_000_000n;

async function renderGroup(
  found: FoundDocs,
  group: Group,
  context: RenderContext,
  where: number | 'here' | 'anywhere',
): Promise<RenderedDocs> {
  const { searcher, pool, encodedPlan, contextLines, returnsContent } = context;
  const { shard, docs } = group;
  const { shardId } = context.shards[shard]!;
  const hasScore = context.fields.includes('score');
  const requests = new Uint32Array(docs.length * REQUEST_WORDS);
  for (let i = 0; i < docs.length; i++) {
    requests[i * REQUEST_WORDS] = found.docId(docs[i]!);
    requests[i * REQUEST_WORDS + 1] = found.rangeMax(docs[i]!);
    requests[i * REQUEST_WORDS + 3] = found.keptCount(docs[i]!);
    requests[i * REQUEST_WORDS + 4] = hasScore ? found.score(docs[i]!) : NO_SCORE;
  }
  const texts = linkDocs(found, group, requests, context);
  const options = { ...texts, contextLines, returnsContent };
  const work = { encodedPlan, shardId, requests, kept: found.keptOf(docs), options };
  if (where === 'here') {
    const { inlineNs = 0n } = context;
    const end = process.hrtime.bigint() + (inlineNs > RENDER_NS ? inlineNs : RENDER_NS);
    const docs = renderDocs(searcher, work, () => process.hrtime.bigint() > end);
    if (docs !== undefined) return docs;
  }
  const done = await pool.render(work, typeof where === 'number' ? where : undefined);
  if (done?.fault !== undefined) throw new ShardError(shardId, done.error ?? '', done.fault);
  if (done?.error !== undefined) throw new Error(done.error);
  // The thread died; its work is done here.
  return done?.docs ?? renderDocs(searcher, work);
}

/** Sets each doc's indexes of texts; returns the texts. */
function linkDocs(
  found: FoundDocs,
  { shard, docs }: Group,
  requests: Uint32Array,
  context: RenderContext,
): Pick<RenderOptions, 'links' | 'ends'> {
  const tables = context.view.tablesOf(shard);
  const kindOf = fileKindsOf(context.shards[shard]!.shardId, tables);
  const links: LinkTexts[] = [];
  const ends: string[] = [];
  for (const group of branchGroups(found, shard, docs, context)) {
    const linkOf = new Map<FileKind, number>();
    const hasBlobSha = context.fields.includes('blobSha') && !isOnDisk(group);
    for (const index of group.docs) {
      const docId = found.docId(docs[index]!);
      const kind = kindOf(docId, found.tier(docs[index]!));
      let link = linkOf.get(kind);
      if (link === undefined) {
        link = links.push({ ...linkTextsOf(context.baseUrl, group, kind), hasBlobSha }) - 1;
        linkOf.set(kind, link);
      }
      requests[index * REQUEST_WORDS + 2] = link;
      if (hasBlobSha && !tables.hasBlob(docId))
        requests[index * REQUEST_WORDS + 5] = ends.push(
          blobShaOf(context.view.oidOf(shard, docId)),
        );
    }
  }
  return { links, ends };
}

/** Docs with the same repo and the same revisions in the answer. */
interface RepoGroup extends BranchGroup {
  readonly repo: RepoRecord;
}

function branchGroups(
  found: FoundDocs,
  shard: number,
  docs: readonly number[],
  { shards, view, revisionTexts }: RenderContext,
): RepoGroup[] {
  const docIds = docs.map((doc) => found.docId(doc));
  return [...indexesByPart(shards[shard]!, docIds)].flatMap(
    ([{ docStart, revisions }, indexes]) => {
      const repo = view.repoOf(shard, docIds[indexes[0]!]!);
      const ids = indexes.map((index) => docIds[index]! - docStart);
      return groupByBranches(repo, revisions, revisionTexts, ids).map((group) => ({
        repo,
        branches: group.branches,
        docs: group.docs.map((rank) => indexes[rank]!),
      }));
    },
  );
}

function indexesByPart(shard: LiveShard, docIds: readonly number[]): Map<ShardPart, number[]> {
  const [only] = shard.parts;
  // Nearly all shards have one part, and answers have many docs.
  if (shard.parts.length === 1) return new Map([[only!, [...docIds.keys()]]]);
  const byPart = new Map<ShardPart, number[]>();
  for (const [index, docId] of docIds.entries()) addToList(byPart, partOf(shard, docId), index);
  return byPart;
}

/** Named in a result; thousands of tags would fill the answer. */
const BRANCHES_MAX = 100;

/** Stands for the path while the texts around it are made; no encoding changes it. */
const PATH_MARK = '~path-of-the-doc~';

/** Files on disk have no git id. */
function isOnDisk({ repo, branches }: RepoGroup): boolean {
  return repo.source.kind !== 'commits' && branches.includes('HEAD');
}

/** JSON text, from a comma on. */
function blobShaOf(oid: string): string {
  return oid === '' ? '' : `,"blobSha":"${oid}"`;
}

type SharedTexts = Omit<LinkTexts, 'hasBlobSha'>;

/** By kind and revisions: many answers share them. */
const linkTextsByRepo = new WeakMap<RepoRecord, Map<string, SharedTexts>>();

function linkTextsOf(baseUrl: string, group: RepoGroup, kind: FileKind): SharedTexts {
  const key = `${kind} ${baseUrl} ${group.branches.join(' ')}`;
  const cached = linkTextsByRepo.get(group.repo) ?? new Map<string, SharedTexts>();
  const found = cached.get(key);
  if (found !== undefined) return found;
  // Bound: revisions have many sets.
  if (cached.size === 200) cached.clear();
  linkTextsByRepo.set(group.repo, cached);
  const texts = linkTexts(baseUrl, group, kind);
  cached.set(key, texts);
  return texts;
}

function linkTexts(baseUrl: string, { repo, branches }: RepoGroup, kind: FileKind): SharedTexts {
  const revision = branches[0] ?? repo.defaultRevision;
  const page = JSON.stringify(blobPageUrl(baseUrl, repo.name, revision, ''));
  const branchesOmitted = Math.max(0, branches.length - BRANCHES_MAX);
  const members = {
    repository: repo.name,
    repositoryId: repo.repoId,
    branches: branches.slice(0, BRANCHES_MAX),
    ...(branchesOmitted === 0 ? {} : { branchesOmitted }),
    fileKind: kind,
  };
  const url = externalFileUrl(repo, revision, PATH_MARK);
  const [external = '', externalEnd = ''] =
    url === undefined ? [] : JSON.stringify(url).split(PATH_MARK);
  return {
    page: page.slice(0, -1),
    members: `,${JSON.stringify(members).slice(1, -1)}`,
    external,
    externalEnd,
  };
}
