// Formats the survey of an index. Pure: survey in, text out.

import { SHORT_ID_SIZE } from '../base/file-hash.ts';
import { someNames } from '../repos/some-names.ts';
import type { NextMerge, ShardSummary } from '../index/merge/index-summary.ts';
import { countOf, formatColumns, formatCount, formatRows } from './format.ts';
import type { IndexReport, ShardReport } from './index-files.ts';
import { escapeControls } from './terminal-text.ts';

const UNKNOWN = 'unknown: a revision file is damaged';

export function shardFields(shard: NonNullable<ShardReport['index']>): [string, string][] {
  const { docCount, deadCount, deadSize, repos, level, isMergedNext, nextMerge } = shard;
  const merge = isMergedNext ? describeMerge(nextMerge) : 'without it';
  return [
    ['held by', someNames(repos)],
    [
      'live docs',
      deadCount === null || deadSize === null
        ? UNKNOWN
        : describeLive(docCount, deadCount, deadSize),
    ],
    ['level', level === null ? 'large' : String(level)],
    ['next merge', nextMerge === null ? describeMerge(null) : merge],
    ...outOfServiceField(shard),
  ];
}

function outOfServiceField({ outOfService }: ShardSummary): [string, string][] {
  return outOfService === undefined ? [] : [['out of service', outOfService]];
}

function describeLive(docCount: number, deadCount: number, deadSize: number): string {
  const live = formatCount(docCount - deadCount);
  if (deadCount === 0) return live;
  const size = countOf(deadSize, 'byte');
  return `${live}, and ${formatCount(deadCount)} in no revision (about ${size} of content)`;
}

function describeMerge(merge: NextMerge | null): string {
  if (merge === null) return 'none';
  const { shardIds, docCount, contentSize, droppedCount } = merge;
  return (
    `${countOf(shardIds.length, 'shard')} into one of ${countOf(docCount, 'doc')}, about ` +
    `${countOf(contentSize, 'byte')} of content; ${countOf(droppedCount, 'doc')} left out`
  );
}

export function formatSummary(report: IndexReport): string {
  const { shards, levels, mergedShardCount } = report;
  const shared = shards.filter(({ repos }) => repos.length > 1).length;
  const out = shards.filter(({ outOfService }) => outOfService !== undefined).length;
  const outText = out === 0 ? '' : `, ${formatCount(out)} out of service`;
  const damaged = report.damagedRepoCount;
  const damagedText = damaged === 0 ? '' : `, ${formatCount(damaged)} more with damaged entries`;
  const bounds = levels.map((size, index) => `${index + 1} below ${formatCount(size)}`);
  const fields: [string, string][] = [
    ['index', report.dataDir],
    ['repositories', `${formatCount(report.repoCount)}${damagedText}`],
    ['shards', `${formatCount(shards.length)}, ${formatCount(shared)} shared${outText}`],
    ['live docs', describeLive(report.docCount, report.deadCount, report.deadSize)],
    ['content', countOf(report.contentSize, 'byte')],
    ['next merge', describeMerge(report.nextMerge)],
    [
      'levels',
      `${bounds.join(', ')} bytes of live content; ${mergedShardCount} of a level and kind are merged, or as many as fill a shard`,
    ],
  ];
  return `${formatRows(fields)}\n${formatShards(shards)}`;
}

function formatShards(shards: readonly ShardSummary[]): string {
  const rows = shards.map((shard) => [
    shard.shardId.slice(0, SHORT_ID_SIZE),
    formatCount(shard.size),
    formatCount(shard.contentSize),
    shard.deadCount === null ? '?' : formatCount(shard.docCount - shard.deadCount),
    shard.deadCount === null ? '?' : formatCount(shard.deadCount),
    shard.level === null ? '-' : String(shard.level),
    shard.outOfService === undefined ? (shard.isMergedNext ? 'merged next' : '') : 'out of service',
    escapeControls(someNames(shard.repos)),
  ]);
  return formatColumns([
    ['shard', 'bytes', 'content', 'live', 'dead', 'level', 'state', 'repositories'],
    ...rows,
  ]);
}
