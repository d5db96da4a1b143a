// Bounds the number of units that a shard can be cut into.

import { UNIT_BYTES_MAX, UNIT_DOCS_MAX } from '../../../core/shared/plan.ts';

/**
 * Most units of a shard whose file has `size` bytes and holds `docCount` docs.
 *
 * Why: a unit ends when it is full of docs, or when the next doc would exceed its bytes, so any two neighbours together hold
 * more than UNIT_BYTES_MAX bytes; one more unit ends after the last head.
 */
export function unitMaxOf({ size, docCount }: { size: number; docCount: number }): number {
  return Math.ceil(docCount / UNIT_DOCS_MAX + (2 * size) / UNIT_BYTES_MAX) + 3;
}
