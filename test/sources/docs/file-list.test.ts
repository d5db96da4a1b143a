// FileList against a plain list of the added objects: the same files, in any order of access.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodePath } from '../../../daemon/base/paths.ts';
import { FileList, type SourceFile } from '../../../daemon/sources/docs/file-list.ts';
import { type Random, seededRandom } from '../../../bench/samples.ts';

const NAMES = ['a', 'src', 'lib', 'ä', '\u{1F600}', 'x'.repeat(300), 'file.c', '\uFFFD'];

function below(random: Random, end: number): number {
  return Math.floor(random() * end);
}

function randomFile(random: Random, idSize: number): SourceFile {
  const names = Array.from(
    { length: 1 + below(random, 5) },
    () => NAMES[below(random, NAMES.length)]!,
  );
  const bytes = Buffer.from(names.join('/'));
  if (below(random, 20) === 0) bytes[below(random, bytes.length)] = 0xff;
  const oid = Buffer.from(Array.from({ length: idSize }, () => below(random, 256))).toString('hex');
  return {
    ...decodePath(bytes),
    size: below(random, 10) === 0 ? 2 ** 40 + below(random, 1000) : below(random, 1000),
    isSymlink: below(random, 4) === 0,
    ...(below(random, 3) === 0 ? {} : { oid }),
  };
}

for (const [name, idSize] of [
  ['SHA-1', 20],
  ['SHA-256', 32],
] as const)
  test(`files round-trip, with ids of ${name}`, () => {
    const random = seededRandom(idSize);
    for (const count of [0, 1, 17, 4095, 4096, 4097, 9000]) {
      const files = Array.from({ length: count }, () => randomFile(random, idSize));
      const list = FileList.of(files);
      assert.equal(list.length, count);
      assert.deepEqual([...list], files);
      for (let i = 0; i < Math.min(count, 500); i++) {
        const index = below(random, count);
        const { path, rawPath, size, oid } = files[index]!;
        assert.deepEqual(list.at(index), files[index]);
        assert.equal(list.sizeOf(index), size);
        const id = list.idOf(index);
        assert.equal(id && Buffer.from(id).toString('hex'), oid);
        const other = below(random, count);
        assert.equal(list.pathOf(other), files[other]!.path);
        assert.deepEqual(Buffer.from(list.pathBytesOf(index)), Buffer.from(rawPath ?? path));
      }
    }
  });

test('files without ids, and ids of two sizes', () => {
  const file = { path: 'a', size: 1, isSymlink: false };
  const list = FileList.of(Array.from({ length: 5000 }, () => file));
  assert.equal(list.idOf(0), undefined);
  assert.deepEqual(list.at(4096), file);
  const mixed = Array.from({ length: 4096 }, (_, i) => ({
    ...file,
    oid: 'a'.repeat(i === 0 ? 64 : 40),
  }));
  assert.throws(() => FileList.of(mixed), /two sizes/);
});
