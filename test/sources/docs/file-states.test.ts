// States in columns against a map of texts, also for names that are not UTF-8, some of which have equal texts.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { seededRandom } from '../../../bench/samples.ts';
import { decodePath, nameKey } from '../../../daemon/base/paths.ts';
import { FileList, type SourceFile } from '../../../daemon/sources/docs/file-list.ts';
import { FileStates } from '../../../daemon/sources/docs/file-states.ts';

interface Listed {
  readonly file: SourceFile;
  readonly state: string;
}

const BYTES = [0x61, 0x62, 0x2f, 0xff, 0xfe];
const STATES = ['', '1 2', '~1 2', '3 4 5'];

const random = seededRandom(5);

function oneOf<Value>(values: readonly Value[]): Value {
  return values[Math.floor(random() * values.length)]!;
}

function randomPath(): Pick<SourceFile, 'path'> {
  return decodePath(Buffer.from(Array.from({ length: 1 + random() * 3 }, () => oneOf(BYTES))));
}

function randomListing(): Listed[] {
  const byKey = new Map<string, Listed>();
  for (let count = random() * 40; count > 0; count--) {
    const file = { ...randomPath(), size: 1, isSymlink: false };
    byKey.set(nameKey(file), { file, state: oneOf(STATES) });
  }
  return [...byKey.values()].sort(({ file: a }, { file: b }) =>
    a.path < b.path ? -1 : Number(a.path > b.path),
  );
}

function statesOf(listed: readonly Listed[], sum = 'sum'): FileStates {
  const files = FileList.of(listed.map(({ file }) => file));
  return FileStates.of(
    files,
    listed.map(({ state }) => state),
    sum,
  );
}

test('states are those of a map, before and after changes', () => {
  for (let round = 0; round < 500; round++) {
    const listed = randomListing();
    const states = new FileStates(structuredClone(statesOf(listed).packed));
    const twin = new Map(listed.map(({ file, state }) => [nameKey(file), state]));
    for (const [index, { state }] of listed.entries()) assert.equal(states.at(index), state);
    for (let step = 0; step < 3; step++) {
      for (let i = 0; i < 20; i++) {
        const key = nameKey(randomPath());
        assert.equal(states.get(key), twin.get(key));
      }
      assert.ok(states.countMax >= twin.size);
      const paths = Array.from({ length: 3 }, () => randomPath().path);
      const later = randomListing();
      states.set(paths, statesOf(later));
      for (const path of paths) twin.delete(path);
      for (const { file, state } of later) twin.set(nameKey(file), state);
    }
  }
});

test('listings are compared by their sum, until one is changed', () => {
  const states = statesOf([], 'a');
  assert.ok(states.isSameAs(statesOf([], 'a')));
  assert.ok(!states.isSameAs(statesOf([], 'b')));
  states.set(['x'], statesOf([]));
  assert.ok(!states.isSameAs(statesOf([], 'a')));
  assert.ok(!statesOf([], 'a').isSameAs(states));
});
