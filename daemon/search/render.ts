// Renders the docs of an answer: few of them on the main thread, many on the threads of the pool. The core
// writes path, chunks and positions; the members that need more than the shard knows are added here.

import type { SearchPool } from '../engine/pool.ts';
import type { RenderedDoc, Searcher } from '../engine/searcher.ts';
import { blobPageUrl, externalFileUrl } from '../repos/links.ts';
import type { RepoRecord } from '../repos/records.ts';
import { SKIP_REASON_NAMES } from '../shards/skip-reasons.ts';
import type { DocInfo } from '../shards/tables.ts';
import type { ShownDoc } from './order.ts';
import type { LiveShard } from './snapshot.ts';

/** Guess: this many docs are rendered sooner than two threads are woken. */
const INLINE_DOCS = 150;
const GROUP_DOCS = 100;

export interface RenderOptions {
  readonly plan: Uint8Array;
  readonly shards: readonly LiveShard[];
  readonly contextLines: number;
  readonly isWhole: boolean;
}

/** The rendered docs, in the order of `docs`. Errors: a doc that cannot be rendered. */
export async function renderDocs(
  searcher: Searcher,
  pool: SearchPool,
  docs: readonly ShownDoc[],
  options: RenderOptions,
): Promise<RenderedDoc[]> {
  const rendered: RenderedDoc[] = [];
  const groups = groupByShard(docs);
  const isInline = docs.length <= INLINE_DOCS && !options.isWhole;
  await Promise.all(
    groups.map(async ({ shard, places }) => {
      const { shardId } = options.shards[shard]!;
      const wanted = places.map((place) => docs[place]!);
      const { plan, contextLines, isWhole } = options;
      const done = isInline
        ? undefined
        : await pool.render({ plan, shardId, docs: wanted, contextLines, isWhole });
      if (done?.error !== undefined) throw new Error(done.error);
      const results = done?.docs ?? renderHere(searcher, shardId, wanted, options);
      for (const [index, place] of places.entries()) rendered[place] = results[index]!;
    }),
  );
  return rendered;
}

/** Places of the docs of each shard, in groups for one thread each. */
function groupByShard(docs: readonly ShownDoc[]): { shard: number; places: number[] }[] {
  const groups: { shard: number; places: number[] }[] = [];
  const open = new Map<number, number[]>();
  for (const [place, { shard }] of docs.entries()) {
    let places = open.get(shard);
    if (places === undefined || places.length >= GROUP_DOCS) {
      places = [];
      open.set(shard, places);
      groups.push({ shard, places });
    }
    places.push(place);
  }
  return groups;
}

function renderHere(
  searcher: Searcher,
  shardId: string,
  docs: readonly ShownDoc[],
  { plan, contextLines, isWhole }: RenderOptions,
): RenderedDoc[] {
  searcher.setPlan(plan);
  searcher.bind(shardId);
  return docs.map(({ docId, rangeMax }) => searcher.render(docId, rangeMax, contextLines, isWhole));
}

/** The JSON object of one file result (API.md 6.3) as text before and after the members of the core. */
export function fileResultTail(baseUrl: string, repo: RepoRecord, doc: DocInfo): string {
  const path = Buffer.from(doc.path).toString();
  const external = externalFileUrl(repo, repo.defaultRevision, path);
  const members = {
    webUrl: blobPageUrl(baseUrl, repo.name, repo.defaultRevision, path),
    repository: repo.name,
    repositoryId: repo.repoId,
    language: doc.language,
    branches: [repo.defaultRevision],
    ...(external === undefined ? {} : { externalWebUrl: external }),
    ...(doc.skipReason === 0 ? {} : { skipReason: SKIP_REASON_NAMES[doc.skipReason] }),
  };
  return `,${JSON.stringify(members).slice(1)}`;
}
