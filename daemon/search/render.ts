// Renders the docs of an answer: few of them on the main thread, many on the threads of the pool. The core
// writes each file result whole (core/match/file-results.ts); the texts that docs of a repo share, for each set of
// revisions that they are shown in, are made here.

import type { SearchPool } from '../engine/pool.ts';
import { renderDocs } from '../engine/render-docs.ts';
import type { SearchPlan } from '../engine/search-plan.ts';
import type { LinkTexts, RenderedDocs, Searcher } from '../engine/searcher.ts';
import { blobPageUrl, externalFileUrl } from '../repos/links.ts';
import type { RepoRecord } from '../repos/records.ts';
import type { FoundDoc } from './order.ts';
import { groupByBranches } from './revisions.ts';
import type { LiveShard } from './snapshot.ts';
import type { Place } from './turns.ts';

/** Guess: this many docs are rendered sooner than two threads are woken. */
const INLINE_DOCS = 150;
/** Guess: what takes longer on the main thread is left to the pool. */
const INLINE_NS = 10_000_000n;
/** Guess: groups for each thread, so that no thread ends long after the others. */
const GROUPS_PER_THREAD = 2;

export interface RenderContext {
  readonly searcher: Searcher;
  readonly pool: SearchPool;
  readonly plan: SearchPlan;
  readonly shards: readonly LiveShard[];
  readonly baseUrl: string;
  readonly contextLines: number;
  readonly isWhole: boolean;
  /** Of `rev:` that results name the revisions of (revisions.ts). */
  readonly revisionTexts: readonly string[];
  repoOf(shard: number): RepoRecord;
}

/** What rendering adds to the numbers of a search. */
export interface RenderSums {
  /** Ranges shown. */
  rangeCount: number;
  /** Bytes read beyond what finding took. */
  contentBytes: number;
  /** Docs of which only rendering read something. */
  loadCount: number;
}

export interface RenderedAnswer extends Readonly<RenderSums> {
  readonly files: FileResults;
}

/** The file results of an answer: pieces of the groups that were rendered together, in another order. */
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

  /** Takes the docs of a group; `places` says where in the answer each belongs. */
  add({ json, sizes }: RenderedDocs, places: readonly number[]): void {
    const group = this.#groups.push(Buffer.from(json.buffer, json.byteOffset, json.length)) - 1;
    let start = 0;
    for (let i = 0; i < places.length; i++) {
      const place = places[i]!;
      this.#groupOf[place] = group;
      this.#starts[place] = start;
      start += sizes[i]!;
      this.#ends[place] = start;
    }
  }

  /** Bytes of the results from place `start` to `end`, without separators. */
  sizeOf(start: number, end: number): number {
    let size = 0;
    for (let place = start; place < end; place++) size += this.#ends[place]! - this.#starts[place]!;
    return size;
  }

  /** Writes results in order, commas between them, from `position` on; returns where they end. */
  writeTo(target: Buffer, position: number, start: number, end: number): number {
    for (let place = start; place < end; place++) {
      if (place > start) target[position++] = COMMA;
      const group = this.#groups[this.#groupOf[place]!]!;
      position += group.copy(target, position, this.#starts[place], this.#ends[place]);
    }
    return position;
  }
}

const COMMA = 0x2c;

/**
 * Renders the docs, few of them on `thread`, which found them.
 *
 * @param onRendered  told what each piece of the work came to, and of which shard it was
 *
 * Errors: a doc that cannot be rendered.
 */
export async function renderAnswer(
  docs: readonly FoundDoc[],
  context: RenderContext,
  thread?: Place,
  onRendered?: (shard: number, done: RenderSums) => void,
): Promise<RenderedAnswer> {
  const isInline = docs.length <= INLINE_DOCS && !context.isWhole;
  const files = new FileResults(docs.length);
  const sums = { rangeCount: 0, contentBytes: 0, loadCount: 0 };
  const groups = groupByShard(
    docs,
    isInline ? Infinity : groupSize(docs.length, context.pool.size),
  );
  // The shard searched last is still bound; rendering another one first would lose that.
  const isBound = ({ shard }: { shard: number }): number =>
    context.searcher.isBound(context.shards[shard]!.shardId) ? 1 : 0;
  groups.sort((a, b) => isBound(b) - isBound(a));
  await Promise.all(
    groups.map(async ({ shard, places }) => {
      const done = await renderGroup(
        shard,
        docs,
        places,
        context,
        isInline ? (thread ?? 'here') : 'anywhere',
      );
      files.add(done, places);
      sums.rangeCount += done.rangeCount;
      sums.contentBytes += done.contentBytes;
      sums.loadCount += done.loadCount;
      onRendered?.(shard, done);
    }),
  );
  return { files, ...sums };
}

function groupSize(count: number, threads: number): number {
  return Math.max(50, Math.ceil(count / (threads * GROUPS_PER_THREAD)));
}

/** Places of the docs of each shard, in groups of at most `sizeMax`. */
function groupByShard(
  docs: readonly FoundDoc[],
  sizeMax: number,
): { shard: number; places: number[] }[] {
  const groups: { shard: number; places: number[] }[] = [];
  const open = new Map<number, number[]>();
  for (const [place, { shard }] of docs.entries()) {
    let places = open.get(shard);
    if (places === undefined || places.length >= sizeMax) {
      places = [];
      open.set(shard, places);
      groups.push({ shard, places });
    }
    places.push(place);
  }
  return groups;
}

async function renderGroup(
  shard: number,
  docs: readonly FoundDoc[],
  places: readonly number[],
  context: RenderContext,
  where: number | 'here' | 'anywhere',
): Promise<RenderedDocs> {
  const { searcher, pool, plan, contextLines, isWhole } = context;
  const { shardId, revisions } = context.shards[shard]!;
  const repo = context.repoOf(shard);
  const requests = new Uint32Array(places.length * 3);
  for (let i = 0; i < places.length; i++) {
    const { docId, rangeMax } = docs[places[i]!]!;
    requests[i * 3] = docId;
    requests[i * 3 + 1] = rangeMax;
  }
  const docIds = places.map((place) => docs[place]!.docId);
  const groups = groupByBranches(repo, revisions, context.revisionTexts, docIds);
  for (const [group, members] of groups.entries())
    for (const index of members.docs) requests[index * 3 + 2] = group;
  const options = {
    links: groups.map(({ branches }) => linkTexts(context.baseUrl, repo, branches)),
    contextLines,
    isWhole,
  };
  const work = { plan, shardId, requests, options };
  if (where === 'here') {
    const end = process.hrtime.bigint() + INLINE_NS;
    const docs = renderDocs(searcher, work, () => process.hrtime.bigint() > end);
    if (docs !== undefined) return docs;
  }
  const done = await pool.render(work, typeof where === 'number' ? where : undefined);
  if (done?.error !== undefined) throw new Error(done.error);
  // Where the thread died, what it was to do is done here.
  return done?.docs ?? renderDocs(searcher, work);
}

/** Stands for the path while the texts around it are made; no encoding changes it. */
const PATH_MARK = '~path-of-the-doc~';

/** The texts that the links of docs of a repo in these revisions share. */
function linkTexts(baseUrl: string, repo: RepoRecord, branches: readonly string[]): LinkTexts {
  const revision = branches[0] ?? repo.defaultRevision;
  const page = JSON.stringify(blobPageUrl(baseUrl, repo.name, revision, ''));
  const members = {
    repository: repo.name,
    repositoryId: repo.repoId,
    branches,
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
