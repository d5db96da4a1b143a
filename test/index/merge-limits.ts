// Limits under which shards are always merged, or never.

import type { MergeLimits } from '../../daemon/index/merge/merge-plan.ts';

/** Any two small shards become one. */
export const EAGER: MergeLimits = {
  levels: [1 << 20],
  shardCount: 2,
  docCountMax: 10_000,
  sizeMax: 1 << 20,
  fullShare: 3 / 4,
  deadShare: 1 / 4,
  restMs: Infinity,
  restShare: 1,
};

export const NEVER: MergeLimits = { ...EAGER, levels: [], sizeMax: 0 };
