// Renders the docs of an answer: few of them on the main thread, many on the threads of the pool. The core
// writes each file result whole (core/match/file-results.ts); the texts that all docs of a repo share are
// made here.

import type { SearchPool } from '../engine/pool.ts';
import type { LinkTexts, RenderedDocs, Searcher } from '../engine/searcher.ts';
import { blobPageUrl, externalFileUrl } from '../repos/links.ts';
import type { RepoRecord } from '../repos/records.ts';
import type { ShownDoc } from './order.ts';
import type { LiveShard } from './snapshot.ts';

/** Guess: this many docs are rendered sooner than two threads are woken. */
const INLINE_DOCS = 150;
/** Guess: groups for each thread, so that no thread ends long after the others. */
const GROUPS_PER_THREAD = 2;

export interface RenderContext {
  readonly searcher: Searcher;
  readonly pool: SearchPool;
  readonly plan: Uint8Array;
  readonly shards: readonly LiveShard[];
  readonly baseUrl: string;
  readonly contextLines: number;
  readonly isWhole: boolean;
  repoOf(shard: number): RepoRecord;
}

export interface RenderedAnswer {
  /** The file results, in the order of the docs. */
  readonly files: readonly Uint8Array[];
  readonly rangeCount: number;
  readonly contentBytes: number;
  readonly loadCount: number;
}

/** Renders the docs. Errors: a doc that cannot be rendered. */
export async function renderAnswer(
  docs: readonly ShownDoc[],
  context: RenderContext,
): Promise<RenderedAnswer> {
  const isInline = docs.length <= INLINE_DOCS && !context.isWhole;
  const files: Uint8Array[] = [];
  const sums = { rangeCount: 0, contentBytes: 0, loadCount: 0 };
  const groups = groupByShard(
    docs,
    isInline ? Infinity : groupSize(docs.length, context.pool.size),
  );
  await Promise.all(
    groups.map(async ({ shard, places }) => {
      const done = await renderGroup(
        shard,
        places.map((place) => docs[place]!),
        context,
        isInline,
      );
      let start = 0;
      for (const [index, place] of places.entries()) {
        const end = start + done.sizes[index]!;
        files[place] = done.json.subarray(start, end);
        start = end;
      }
      sums.rangeCount += done.rangeCount;
      sums.contentBytes += done.contentBytes;
      sums.loadCount += done.loadCount;
    }),
  );
  return { files, ...sums };
}

function groupSize(count: number, threads: number): number {
  return Math.max(50, Math.ceil(count / (threads * GROUPS_PER_THREAD)));
}

/** Places of the docs of each shard, in groups of at most `sizeMax`. */
function groupByShard(
  docs: readonly ShownDoc[],
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
  docs: readonly ShownDoc[],
  context: RenderContext,
  isInline: boolean,
): Promise<RenderedDocs> {
  const { searcher, pool, plan, contextLines, isWhole } = context;
  const { shardId } = context.shards[shard]!;
  const requests = docs.map(({ docId, rangeMax }) => ({ docId, rangeMax }));
  const options = {
    links: linkTexts(context.baseUrl, context.repoOf(shard)),
    contextLines,
    isWhole,
  };
  if (!isInline) {
    const done = await pool.render({ plan, shardId, requests, options });
    if (done?.error !== undefined) throw new Error(done.error);
    if (done?.docs !== undefined) return done.docs;
    // The thread died; what it was to do is done here.
  }
  searcher.setPlan(plan);
  searcher.bind(shardId);
  return searcher.render(requests, options);
}

/** Stands for the path while the texts around it are made; no encoding changes it. */
const PATH_MARK = '~path-of-the-doc~';

/** The texts that the links of all docs of a repo share. */
function linkTexts(baseUrl: string, repo: RepoRecord): LinkTexts {
  const page = JSON.stringify(blobPageUrl(baseUrl, repo.name, repo.defaultRevision, ''));
  const members = {
    repository: repo.name,
    repositoryId: repo.repoId,
    branches: [repo.defaultRevision],
  };
  const url = externalFileUrl(repo, repo.defaultRevision, PATH_MARK);
  const [external = '', externalEnd = ''] =
    url === undefined ? [] : JSON.stringify(url).split(PATH_MARK);
  return {
    page: page.slice(0, -1),
    members: `,${JSON.stringify(members).slice(1, -1)}`,
    external,
    externalEnd,
  };
}
