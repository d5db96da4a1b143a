// Bounds the number of units that a shard can be cut into, from the size of its file alone.

import { DOC_ROW_SIZE } from '../../core/shared/format.ts';
import { UNIT_BYTES_MAX, UNIT_DOCS_MAX } from '../../core/shared/plan.ts';

/**
 * Most units of a shard whose file has `size` bytes.
 *
 * Why: a unit ends when it is full of docs, of which each takes a row, or when the next doc would fill it
 * with bytes, so that any two neighbours hold more than UNIT_BYTES_MAX bytes.
 */
export function unitMaxOf(size: number): number {
  const byDocs = size / (DOC_ROW_SIZE * UNIT_DOCS_MAX);
  const byBytes = (2 * size) / UNIT_BYTES_MAX;
  return Math.ceil(byDocs + byBytes) + 2;
}
