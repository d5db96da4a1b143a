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
  const { exports, bytes, words } = core;
  const { docSetCount: count, docSets } = encodedPlan;
  if (count === 0) return;
  const sets = docSets.get(shardId) ?? [];
  const bitmaps = distinctBitmaps(sets);
  const size = exports.docSetSize(view) >>> 0;
  const isSmall = bitmaps.length * size < bytes.length / 2;
  const table = isSmall ? exports.docSetsInit(view, count, bitmaps.length) >>> 0 : 0;
  if (table === KEPT) return;
  if (table === 0) throw new PlanError(statusName(STATUS_OUT_OF_MEMORY));
  const bitmapsStart = table + Math.ceil(count / 4) * 16;
  for (const [i, bitmap] of bitmaps.entries())
    copyBitmap(bytes, bitmapsStart + i * size, size, bitmap);
  for (let i = 0; i < count; i++) {
    const set = sets[i] ?? 'all';
    if (set === 'none') words[table / 4 + i] = WORD_NONE;
    else if (set === 'all') words[table / 4 + i] = WORD_ALL;
    else words[table / 4 + i] = bitmapsStart + bitmaps.indexOf(set) * size;
  }
}

/** A shorter bitmap has zeros at its end. */
function copyBitmap(bytes: Uint8Array, start: number, size: number, bitmap: Uint8Array): void {
  bytes.fill(0, start + Math.min(bitmap.length, size), start + size);
  bytes.set(bitmap.subarray(0, size), start);
}

function distinctBitmaps(sets: readonly DocSet[]): Uint8Array[] {
  const bitmaps: Uint8Array[] = [];
  for (const set of sets) if (typeof set !== 'string' && !bitmaps.includes(set)) bitmaps.push(set);
  return bitmaps;
}
