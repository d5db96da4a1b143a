// Prints a snapshot (the shards and repos that a search sees) as text, for comparisons in tests.

import type { LiveShard, Snapshot } from '../../../daemon/engine/search/snapshot.ts';

/**
 * Canonical text: each shard in search order with the docs of its repos, those out of service last.
 * `1f(host/a 0-3, host/b 3-7); 2e+90(host/a 0-4); 3d(host/c 0-9): cut off`
 */
export function printSnapshot({ shards, repos, quarantined }: Snapshot): string {
  const names = new Map(repos.map(({ repoId, name }) => [repoId, name]));
  const print = ({ shardId, parts }: LiveShard): string => {
    const texts = parts.map(
      ({ repoId, docStart, docEnd }) => `${names.get(repoId) ?? repoId} ${docStart}-${docEnd}`,
    );
    return `${shardId}(${texts.join(', ')})`;
  };
  const broken = quarantined.map((shard) => `${print(shard)}: ${shard.reason}`);
  return [...shards.map(print), ...broken].join('; ');
}
