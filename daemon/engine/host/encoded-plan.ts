// A plan as sent to the threads, with its sets of docs by shard. A set is a bitmap in shared memory; each thread copies it
// into its core when it binds the shard.

import { STATUS_OUT_OF_MEMORY } from '../../../core/shared/status.ts';
import { type Core, statusName } from './core.ts';

/** Of one shard. Bits by docId, low bits first, zeros after the last doc. */
export type DocSet = 'none' | 'all' | Uint8Array;

export interface EncodedPlan {
  readonly bytes: Uint8Array;
  /** The plan's DOCS nodes hold indexes below this. */
  readonly docSetCount: number;
  /** By shardId; for a missing shard every set is all docs. */
  readonly docSets: ReadonlyMap<string, readonly DocSet[]>;
  /** Plans with the same bytes and the same id have the same sets. */
  readonly docSetsId: number;
}

/** The plan needs more memory than a request may use, or contains something unknown to the core. */
export class PlanError extends Error {}

const WORD_NONE = 1;
const WORD_ALL = 2;
/** Instead of an address: the core has kept the binding. */
const KEPT = 1;

/** Passes the core the sets of the shard that it binds next. Errors: PlanError. */
export function passDocSets(
  core: Core,
  view: number,
  shardId: string,
  encodedPlan: EncodedPlan,
): void {
  const { exports, memory } = core;
  const count = encodedPlan.docSetCount;
  if (count === 0) return;
  const sets =
    encodedPlan.docSets.get(shardId) ?? Array.from({ length: count }, (): DocSet => 'all');
  const bitmaps = new Set(sets.filter((set) => typeof set !== 'string'));
  const size = exports.docSetSize(view) >>> 0;
  const isSmall = bitmaps.size * size < memory.buffer.byteLength / 2;
  const table = isSmall ? exports.docSetsInit(view, count, bitmaps.size) >>> 0 : 0;
  if (table === KEPT) return;
  if (table === 0) throw new PlanError(statusName(STATUS_OUT_OF_MEMORY));
  const addresses = new Map<DocSet, number>([
    ['none', WORD_NONE],
    ['all', WORD_ALL],
  ]);
  let next = table + Math.ceil(count / 4) * 16;
  const bytes = new Uint8Array(memory.buffer);
  for (const bitmap of bitmaps) {
    bytes.fill(0, next + Math.min(bitmap.length, size), next + size);
    bytes.set(bitmap.subarray(0, size), next);
    addresses.set(bitmap, next);
    next += size;
  }
  const words = new Uint32Array(memory.buffer, table, count);
  for (let i = 0; i < count; i++) words[i] = addresses.get(sets[i] ?? 'all')!;
}
