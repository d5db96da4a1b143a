// One repo with revisions over several shards, searched on the main thread and on the pool: random sets of docs against
// plain sets, on the debug and the release build of the core.

import assert from 'node:assert/strict';
import test from 'node:test';
import { bitmapSizeOf } from '../../../daemon/engine/shards/bits.ts';
import { RevisionTable, RevisionWriter } from '../../../daemon/engine/shards/revisions.ts';
import { type Build, Engine, repoRecord, type TestDoc } from '../host/harness.ts';

const NAMES = ['refs/heads/main', 'refs/heads/a', 'refs/heads/ab', 'refs/tags/b'];
const DOC_COUNT = 700;

/** Whether a revision holds a doc; some docs are in none. */
function contains(revision: number, shard: number, docId: number): boolean {
  if (revision === 3 && shard === 1) return false;
  return ((docId * 2654435761 + shard * 40503) >>> (7 + revision * 3)) % 3 === 0;
}

const isDefault = (name: string): boolean => name === NAMES[0];
/** Queries, and the revisions that they ask for. */
const REPORTED: readonly [string, (name: string) => boolean][] = [
  ['plum', isDefault],
  ['plum rev:HEAD', isDefault],
  ['plum rev:HEAD -rev:heads/a', isDefault],
  ['rev:HEAD or plum', isDefault],
  ['plum (rev:HEAD or file:f1)', isDefault],
  ['rev:HEAD or (-rev:HEAD plum)', isDefault],
  ['rev:heads/main or plum', isDefault],
  ['rev:HEAD or rev:heads/ab', (name) => isDefault(name) || name === NAMES[2]],
  ['rev:HEAD or rev:refs/heads/a', (name) => isDefault(name) || name === NAMES[1]],
];

for (const build of ['debug', 'release'] satisfies Build[]) {
  void test(`docs of revisions over three shards (${build})`, async () => {
    await using maker = await Engine.open({}, build);
    const record = { ...repoRecord(1, 'host/repo'), defaultRevision: NAMES[0]!, revisions: NAMES };
    const plain = repoRecord(2, 'host/plain');
    const docsOf = (shard: number): TestDoc[] =>
      Array.from({ length: DOC_COUNT }, (_, docId) => ({
        path: `s${shard}/f${docId}.txt`,
        // Docs of one content are searched together, in whatever revisions they are.
        bytes: Buffer.from(`plum ${docId % 5 === 0 ? 'shared' : `${shard} ${docId}`}\n`),
      }));
    const own = [0, 1].map((shard) => maker.shardOf(record, docsOf(shard)));
    // The third has docs of another repo in front and behind.
    const shared = maker.sharedShardOf([
      { ...plain, docs: [{ path: 'plain', bytes: Buffer.from('plum\n') }] },
      { ...record, docs: docsOf(2) },
      { ...repoRecord(3, 'host/hidden'), docs: docsOf(3) },
    ]);
    const built = [...own, shared];
    const writer = new RevisionWriter(built.map(() => ({ docCount: DOC_COUNT, unstored: [] })));
    for (const revision of NAMES.keys()) {
      writer.add(
        built.map((_, shard) => {
          const bitmap = new Uint8Array(bitmapSizeOf(DOC_COUNT));
          for (let docId = 0; docId < DOC_COUNT; docId++)
            if (contains(revision, shard, docId)) bitmap[docId >> 3]! |= 1 << (docId & 7);
          return bitmap;
        }),
      );
    }
    const table = RevisionTable.open(
      writer.bytes(),
      NAMES.length,
      built.map(() => DOC_COUNT),
    );
    // Docs of repos that are gone are still in the file.
    const shards = built.map((shard, index) => ({
      ...shard,
      parts: shard.parts
        .filter(({ repoId }) => repoId !== 3)
        .map((part) => (part.repoId === 1 ? { ...part, revisions: table.shards[index] } : part)),
    }));
    const expected = (test_: (names: string[]) => boolean): string[] =>
      shards
        .flatMap((_, shard) =>
          Array.from({ length: DOC_COUNT }, (_unused, docId) => docId)
            .filter((docId) => {
              const names = NAMES.filter((_name, revision) => contains(revision, shard, docId));
              return names.length > 0 && test_(names);
            })
            .map((docId) => `s${shard}/f${docId}.txt`),
        )
        .sort();
    const some = (names: string[], text: string): boolean =>
      names.some((name) => name.includes(text));
    const cases: [string, string[]][] = [
      ['plum', ['plain', ...expected((names) => names.includes(NAMES[0]!))]],
      ['plum rev:*', ['plain', ...expected(() => true)]],
      ['plum rev:heads/a', expected((names) => some(names, 'heads/a'))],
      [
        'plum rev:heads/a rev:tags',
        expected((names) => some(names, 'heads/a') && some(names, 'tags')),
      ],
      ['plum -rev:/a', ['plain', ...expected((names) => !some(names, '/a'))]],
      ['plum rev:refs/heads/a', expected((names) => names.includes('refs/heads/a'))],
      ['plum rev:refs/heads/', expected((names) => some(names, 'refs/heads/'))],
      ['plum -rev:HEAD', expected((names) => !names.includes(NAMES[0]!))],
      ['plum (rev:tags or file:^s0/f1)', expected((names) => some(names, 'tags'))],
      ['plum shared rev:heads/ab', expected((names) => some(names, 'heads/ab'))],
    ];
    for (const inlineNs of [1_000_000_000n, 0n]) {
      await using engine = await Engine.open({ workers: 2, inlineNs }, build);
      engine.publish(shards, [record, plain]);
      for (const [query, paths] of cases) {
        const answer = await engine.search(query);
        const found = answer.files.map((file) => file.fileName.text).sort();
        const filtered = query.includes('shared')
          ? paths.filter((path) => Number(/f(\d+)/.exec(path)?.[1]) % 5 === 0)
          : query.includes('file:')
            ? [
                ...new Set([
                  ...paths,
                  ...expected(() => true).filter((path) => path.startsWith('s0/f1')),
                ]),
              ].sort()
            : paths;
        assert.deepEqual(found, filtered, query);
        const live = expected(() => true).length + 1;
        assert.equal(answer.stats['shardFilesConsidered'], live, query);
        // Of the third, which hides docs, all that is seen counts.
        const ofThird = 1 + expected(() => true).filter((path) => path.startsWith('s2/')).length;
        const others = filtered.filter((path) => /^s[01]/.test(path)).length;
        assert.ok((answer.stats['filesConsidered'] ?? 0) <= others + ofThird, query);
      }
      // Which of the revisions that hold a doc are shown: those asked for, or, if it is in none of these, all.
      for (const [query, isVisible] of REPORTED) {
        for (const file of (await engine.search(query)).files) {
          const found = /^s(\d)\/f(\d+)/.exec(file.fileName.text);
          if (found === null) continue;
          const names = NAMES.filter((_, index) =>
            contains(index, Number(found[1]), Number(found[2])),
          );
          const displayed = names.filter(isVisible);
          assert.deepEqual(
            file.branches,
            displayed.length > 0 ? displayed : names,
            `${query} ${found[0]}`,
          );
        }
      }
      const limited = await engine.search('plum rev:*', { matches: 5 });
      assert.equal(limited.files.length, 5);
    }
  });
}
