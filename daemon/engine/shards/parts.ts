// The parts of a shard: the contiguous docs of each of its repos. Makes one set of docs from the parts and revisions of a
// search.

import type { DocSet } from '../host/encoded-plan.ts';
import { addBits, bitmapSizeOf, countBits, setBits } from './bits.ts';
import type { ShardRevisions } from './revisions.ts';
import { FORM_ALL } from './set-code.ts';

export interface ShardPart {
  readonly repoId: number;
  readonly docStart: number;
  readonly docEnd: number;
  /** The docs of each revision, counted from `docStart`; absent: the repo's only revision holds all. */
  readonly revisions?: ShardRevisions | undefined;
}

/** A shard by its docs; docs between parts belong to no repo any more. */
export interface PartedShard {
  readonly docCount: number;
  /** In the order of their docs, at least one. */
  readonly parts: readonly ShardPart[];
}

/** Whether the repo of a part has one revision, which holds all docs of the part. */
export function containsAll({ revisions }: ShardPart): boolean {
  const [only, further] = revisions?.sets ?? [];
  return further === undefined && (only === undefined || only.form === FORM_ALL);
}

export function liveCountOf({ docStart, docEnd, revisions }: ShardPart): number {
  return revisions?.liveCount ?? docEnd - docStart;
}

/** Docs of a shard's parts in at least one revision of their repo. */
export function liveDocCount({ parts }: PartedShard): number {
  return parts.reduce((sum, part) => sum + liveCountOf(part), 0);
}

/** Whether no doc lies between parts. */
export function isCovered({ docCount, parts }: PartedShard): boolean {
  let next = 0;
  for (const { docStart, docEnd } of parts) {
    if (docStart !== next) return false;
    next = docEnd;
  }
  return next === docCount;
}

/** The part of a doc. Errors: throws where there is none. */
export function partOf({ parts }: PartedShard, docId: number): ShardPart {
  let start = 0;
  let end = parts.length;
  while (start < end) {
    const middle = (start + end) >>> 1;
    if (parts[middle]!.docEnd <= docId) start = middle + 1;
    else end = middle;
  }
  const part = parts[start];
  if (part === undefined || docId < part.docStart)
    throw new Error(`doc ${docId} belongs to no repo`);
  return part;
}

/** Revisions of a repo by their indexes; `any`: all of them; undefined: none. */
export type ChosenRevisions = 'any' | readonly number[] | undefined;

export function docsOfParts(
  shard: PartedShard,
  chosenOf: (repoId: number) => ChosenRevisions,
): DocSet {
  const { docCount, parts } = shard;
  const sets = parts.map((part) => docsOfPart(part, chosenOf(part.repoId)));
  if (sets.every((set) => set === 'none')) return 'none';
  const [first] = sets;
  if (parts.length === 1 && isCovered(shard)) return first!;
  if (sets.every((set) => set === 'all') && isCovered(shard)) return 'all';
  const bitmap = new Uint8Array(new SharedArrayBuffer(bitmapSizeOf(docCount)));
  for (const [index, set] of sets.entries()) addPart(bitmap, parts[index]!, set);
  const count = countBits(bitmap);
  if (count === 0) return 'none';
  return count === docCount ? 'all' : bitmap;
}

function docsOfPart({ revisions }: ShardPart, chosen: ChosenRevisions): DocSet {
  if (chosen === undefined) return 'none';
  if (revisions === undefined) return 'all';
  return chosen === 'any' ? revisions.liveDocs : revisions.docsIn(chosen);
}

function addPart(bitmap: Uint8Array, { docStart, docEnd }: ShardPart, set: DocSet): void {
  if (set === 'none') return;
  if (set === 'all') setBits(bitmap, docStart, docEnd);
  else addBits(bitmap, docStart, set, docEnd - docStart);
}
