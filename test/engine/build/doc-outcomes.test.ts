// The columns of a shard under construction against plain objects: the same docs to read, the same answers to the
// threads, the same docs of the shard.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Random, seededRandom } from '../../../bench/samples.ts';
import { SKIP_NONE, SKIP_TOO_LARGE } from '../../../core/shared/format.ts';
import { type FileOutcome, packOutcomes } from '../../../daemon/engine/build/build-messages.ts';
import { DocOutcomes } from '../../../daemon/engine/build/doc-outcomes.ts';
import type { PlannedDocs } from '../../../daemon/engine/build/build-plan.ts';
import type { ShardDoc } from '../../../daemon/engine/shards/shard-docs.ts';
import { FileList, type SourceFile } from '../../../daemon/sources/docs/file-list.ts';

const REFUSED = 3;

interface TwinDoc {
  readonly file: SourceFile;
  readonly isTooLarge: boolean;
  readonly oid: string;
  outcome?: FileOutcome;
}

/** As a build did it with objects. */
class Twin {
  readonly docs: readonly TwinDoc[];
  readonly #contents = new Map<string, { blobId?: number; skipReason?: number }>();

  constructor(docs: readonly TwinDoc[]) {
    this.docs = docs;
  }

  /** For each doc to be read, those of the same listed id. */
  toRead(): Map<number, number[]> {
    const firsts = new Map<string, number>();
    const read = new Map<number, number[]>();
    for (const [index, { file, isTooLarge }] of this.docs.entries()) {
      if (isTooLarge) continue;
      const first = file.oid === undefined ? undefined : firsts.get(file.oid);
      if (first === undefined) {
        if (file.oid !== undefined) firsts.set(file.oid, index);
        read.set(index, []);
      } else read.get(first)!.push(index);
    }
    return read;
  }

  note(doc: number, alike: readonly number[], outcome: FileOutcome): number[] {
    this.#setOutcome(doc, outcome);
    for (const [nth, other] of alike.entries())
      this.#setOutcome(other, { ...outcome, language: outcome.languagesThere![nth]! });
    const { oid, size, skipReason } = outcome;
    if (oid === '' || size === 0 || skipReason !== SKIP_NONE) return [];
    return [doc, ...alike].filter((one) => {
      const isNew = !this.#contents.has(this.#keyOf(one));
      if (isNew) this.#contents.set(this.#keyOf(one), {});
      return isNew;
    });
  }

  #setOutcome(doc: number, outcome: FileOutcome): void {
    const language = saidOf(doc) ?? outcome.language;
    this.docs[doc]!.outcome = { ...outcome, language };
  }

  #keyOf(doc: number): string {
    const { oid, language } = this.docs[doc]!.outcome!;
    return `${oid} ${language}`;
  }

  setContent(doc: number, content: { blobId?: number; skipReason?: number }): void {
    this.#contents.set(this.#keyOf(doc), content);
  }

  shardDoc(doc: number): ShardDoc | undefined {
    const { file, isTooLarge, outcome } = this.docs[doc]!;
    const path = Buffer.from(file.path);
    if (isTooLarge) {
      const { size } = file;
      const skipReason = SKIP_TOO_LARGE;
      const language = saidOf(doc) ?? 'C';
      return { path, blobId: undefined, size, language, skipReason, tier: 1 };
    }
    if (outcome === undefined || outcome.oid === '') return undefined;
    const { size, language } = outcome;
    const content = this.#contents.get(this.#keyOf(doc));
    const skipReason = content?.skipReason ?? outcome.skipReason;
    const blobId = skipReason === SKIP_NONE ? content?.blobId : undefined;
    return { path, blobId, size, language, skipReason, tier: 1 };
  }
}

/** What rules say of the language of a doc. */
function saidOf(doc: number): string | undefined {
  return doc % 5 === 0 ? 'Rust' : undefined;
}

function below(random: Random, end: number): number {
  return Math.floor(random() * end);
}

function twinDocs(random: Random, count: number): TwinDoc[] {
  return Array.from({ length: count }, (_, index) => {
    const oid = below(random, count).toString(16).padStart(40, 'abc');
    const isListed = random() < 0.5;
    const entry = { path: `d/${index}.c`, size: index, isSymlink: false };
    const file = isListed ? { ...entry, oid } : entry;
    return { file, isTooLarge: random() < 0.1, oid };
  });
}

function planOf(docs: readonly TwinDoc[]): PlannedDocs {
  return {
    files: FileList.of(docs.map(({ file }) => file)),
    fileIndexes: Uint32Array.from(docs.keys()),
    tiers: new Uint8Array(docs.length).fill(1),
    areTooLarge: Uint8Array.from(docs, ({ isTooLarge }) => Number(isTooLarge)),
  };
}

function randomOutcome(random: Random, oid: string, alikeCount: number): FileOutcome {
  const isGone = random() < 0.1;
  return {
    size: random() < 0.1 ? 0 : 1 + below(random, 1000),
    oid: isGone ? '' : oid,
    language: random() < 0.5 ? 'C' : '',
    languagesThere: Array.from({ length: alikeCount }, () => (random() < 0.5 ? 'C' : 'C++')),
    skipReason: random() < 0.1 ? 2 : SKIP_NONE,
  };
}

/** Builds the docs of a shard in both ways, which begins at `docStart`. */
function compare(random: Random, all: readonly TwinDoc[], docStart: number): void {
  const plan = planOf(all);
  const docEnd = all.length;
  const outcomes = new DocOutcomes(plan, { docStart, docEnd, batches: [] }, (doc) =>
    saidOf(doc - docStart),
  );
  const twin = new Twin(all.slice(docStart));
  const read = [...twin.toRead()];
  const expected = read.map(([doc]) => doc + docStart);
  assert.deepEqual(outcomes.docsToRead(docStart, docEnd), expected);
  let blobCount = 0;
  const stored: string[] = [];
  for (let start = 0; start < read.length; start += 10) {
    const batch = read.slice(start, start + 10);
    const reported = batch.map(([doc, alike]) =>
      randomOutcome(random, twin.docs[doc]!.oid, alike.length),
    );
    const packed = packOutcomes(reported);
    const fresh: number[] = [];
    const range = [batch[0]![0] + docStart, batch.at(-1)![0] + docStart + 1] as const;
    const docs = batch.map(([doc]) => doc + docStart);
    assert.deepEqual(outcomes.docsToRead(...range), docs);
    for (const [index, [doc, alike]] of batch.entries()) {
      const shifted = alike.map((other) => other + docStart);
      assert.deepEqual(outcomes.docsAlike(doc + docStart), shifted);
      const answer = twin.note(doc, alike, reported[index]!);
      const expected = answer.map((one) => one + docStart);
      assert.deepEqual(outcomes.note(doc + docStart, packed, index), expected);
      fresh.push(...answer);
    }
    for (const doc of fresh) {
      const isRefused = random() < 0.2;
      if (isRefused) outcomes.refuse(doc + docStart, REFUSED);
      else outcomes.store(doc + docStart, blobCount);
      twin.setContent(doc, isRefused ? { skipReason: REFUSED } : { blobId: blobCount++ });
      if (!isRefused) stored.push(twin.docs[doc]!.oid);
    }
  }
  for (const [doc, one] of twin.docs.entries()) {
    const row = outcomes.shardDoc(doc + docStart);
    const copied = row && { ...row, path: Buffer.from(row.path) };
    assert.deepEqual(copied, twin.shardDoc(doc));
    const id = outcomes.idOf(doc + docStart);
    const expected = one.file.oid ?? (one.isTooLarge ? '' : (one.outcome?.oid ?? ''));
    assert.equal(Buffer.from(id ?? []).toString('hex'), expected);
  }
  const [hashes, idSize] = outcomes.blobHashes(blobCount);
  assert.equal(idSize, 20);
  assert.equal(Buffer.from(hashes).toString('hex'), stored.join(''));
}

test('columns of a build equal a model of objects', () => {
  const random = seededRandom(13);
  for (let round = 0; round < 60; round++) {
    const docs = twinDocs(random, below(random, 120));
    compare(random, docs, below(random, docs.length + 1));
  }
});
