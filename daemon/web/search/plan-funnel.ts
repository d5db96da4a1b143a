// The statistics of a search as the stages of a funnel. Each says in words what it skipped and why.

import type { Explanation } from '../../api/search/explain-schemas.ts';
import { count } from '../parts/number-format.ts';

export type Stats = Explanation['stats'];

/** How much of the total was searched. */
export interface Stage {
  readonly name: string;
  readonly part: number;
  readonly total: number;
  readonly words: string;
}

const UNITS = ['bytes', 'KB', 'MB', 'GB', 'TB'];

export function bytesText(bytes: number): string {
  let [value, unit] = [bytes, 0];
  for (; value >= 1000 && unit < UNITS.length - 1; unit++) value /= 1000;
  return `${unit === 0 ? count(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** Joins the parts that are not empty. */
function joined(parts: readonly (string | false)[]): string {
  return parts.filter((part) => part !== false).join(', ');
}

function shardsOf(stats: Stats): Stage {
  const { shardsScanned, shardsSkippedFilter, shardsSkipped, crashes } = stats;
  return {
    name: 'Shards',
    part: shardsScanned + crashes,
    total: shardsScanned + shardsSkippedFilter + shardsSkipped + crashes,
    words: joined([
      `${count(shardsScanned)} searched`,
      shardsSkippedFilter > 0 && `${count(shardsSkippedFilter)} skipped: they cannot match`,
      shardsSkipped > 0 && `${count(shardsSkipped)} not searched (limit reached)`,
      crashes > 0 && `${count(crashes)} failed`,
    ]),
  };
}

function filesOf(stats: Stats): Stage {
  const { filesConsidered, shardFilesConsidered, filesSkipped, fileCount } = stats;
  const excluded = Math.max(shardFilesConsidered - filesConsidered - filesSkipped, 0);
  return {
    name: 'Files',
    part: filesConsidered,
    total: shardFilesConsidered,
    words: joined([
      `${count(filesConsidered)} searched`,
      excluded > 0 && `${count(excluded)} skipped by the index or a filter`,
      filesSkipped > 0 && `${count(filesSkipped)} not searched (limit reached)`,
      `${count(fileCount)} match`,
    ]),
  };
}

/** Approximate bytes of a block: BLOCK_SIZE of core/shared/format.ts. */
const BLOCK_SIZE = 4096;

function blocksOf({ ngramMatches, ngramLookups }: Stats, bytesInScope: number | undefined): Stage {
  const name = 'Blocks of text';
  if (ngramLookups === 0)
    return { name, part: 0, total: 0, words: 'the query did not use the index' };
  const total = Math.max(Math.ceil((bytesInScope ?? 0) / BLOCK_SIZE), ngramMatches);
  const of = bytesInScope === undefined ? '' : ` of about ${count(total)}`;
  const words = `${count(ngramMatches)}${of} blocks of about 4 KB contain the trigrams of the query`;
  return { name, part: ngramMatches, total, words };
}

function bytesOf({ contentBytesLoaded }: Stats, totals: Explanation['totals'] | undefined): Stage {
  const total = totals?.bytesInScope ?? contentBytesLoaded;
  const share = total === 0 ? 0 : (contentBytesLoaded / total) * 100;
  const of =
    totals === undefined
      ? ''
      : ` of ${bytesText(total)} (${share < 0.1 ? '< 0.1' : share.toFixed(1)} %)`;
  return {
    name: 'Bytes',
    part: contentBytesLoaded,
    total,
    words: `${bytesText(contentBytesLoaded)} read${of}`,
  };
}

/** The stages, from the whole index to the bytes read. @param totals  from the explanation; undefined: none */
export function funnelOf(stats: Stats, totals: Explanation['totals'] | undefined): Stage[] {
  return [
    shardsOf(stats),
    filesOf(stats),
    blocksOf(stats, totals?.bytesInScope),
    bytesOf(stats, totals),
  ];
}
