// Hidden repos do not exist for a caller: an answer equals, number by number, that of an index with only the visible
// repos. Random repos, accesses and queries; streams as well.
// tier: ci (long)

import assert from 'node:assert/strict';
import test, { after } from 'node:test';
import * as fc from 'fast-check';
import { contextSchema } from '../../../daemon/base/config/file-schema.ts';
import {
  canSee,
  SEES_ALL,
  SEES_NOTHING,
  type RepoAccess,
} from '../../../daemon/repos/repo-access.ts';
import { UnknownContextError } from '../../../daemon/engine/query/repos.ts';
import type { LiveShard, QuarantinedShard } from '../../../daemon/engine/search/snapshot.ts';
import { Engine, repoRecord, requestOf, streamEvents, type TestDoc } from '../host/harness.ts';

const whole = await Engine.open();
const alone = await Engine.open();
after(() => Promise.all([whole.close(), alone.close()]));
const REPO_COUNT = 9;
const REPOS = Array.from({ length: REPO_COUNT }, (_, i) =>
  repoRecord(i + 1, `host/repo${(i * 7) % REPO_COUNT}`),
);
/** One or two shards a repo; one of them is out of service. */
const SHARDS: LiveShard[] = REPOS.flatMap((repo) =>
  Array.from({ length: (repo.repoId % 2) + 1 }, (_, part) =>
    whole.shardOf(
      repo,
      Array.from({ length: 5 }, (_, doc) => ({
        path: `d${repo.repoId}/part${part}/f${doc}.go`,
        bytes: Buffer.from(`plum ${repo.repoId} of ${doc}\npear\n`.repeat(doc + 1)),
        language: doc % 2 === 0 ? 'Go' : '',
      })),
    ),
  ),
);
const [broken, ...valid] = SHARDS;
const QUARANTINED: QuarantinedShard[] = [{ ...broken!, reason: 'for a test' }];

whole.publish(valid, REPOS, QUARANTINED);

const QUERIES = [
  'plum',
  'pear -plum',
  'repo:repo[0-4] plum',
  '-repo:repo1 pear',
  'file:part1',
  'plum or zzz',
  'lang:go pear',
  'absentword',
  'p[a-z]+ \\d',
  'repo:repo',
  'context:odd plum',
  '-context:odd pear',
];

// A context that names repos which are hidden shows none of them.
whole.contexts = alone.contexts = {
  odd: contextSchema.parse({ include: ['host/repo[13579]', 'host/nosuch'] }),
};

/** Bases are few objects that many sights share, as in the daemon. */
const BASES = [[], [1, 2, 3], [2, 4, 6, 8], [9]].map((ids) => new Set(ids));

const accessResolver = fc
  .record({
    base: fc.constantFrom(...BASES),
    extraIds: fc.subarray(REPOS.map((repo) => repo.repoId)),
  })
  .map(({ base, extraIds }): RepoAccess => ({
    base,
    extra: new Set(extraIds.filter((repoId) => !base.has(repoId))),
  }));

const TIMES = new Set(['duration', 'wait', 'matchTreeConstruction', 'matchTreeSearch']);

/** An answer as text without what depends on the clock. */
function comparable(answer: object): string {
  return JSON.stringify(answer, (key, value: unknown) => (TIMES.has(key) ? 0 : value));
}

async function streamed(engine: Engine, query: string, repoAccess: RepoAccess) {
  const request = requestOf(query, { matches: 1000, isRegexEnabled: true });
  const { contexts } = engine;
  const more = { repoAccess, contexts, eventSizeMax: Infinity };
  const events = await streamEvents(engine.parts, request, more);
  const files = events
    .flatMap((event) => (event['files'] ?? []) as object[])
    .map((file) => JSON.stringify(file));
  const { flushReason: _, ...last } = events.at(-1)!;
  const { accumulatedStats, ...rest } = last as { accumulatedStats?: { flushReason?: string } };
  delete accumulatedStats?.flushReason;
  return { files: files.sort(), accumulatedStats, ...rest };
}

/** An answer, or why there is none: a context without visible repos is unknown. */
async function outcomeOf(answer: Promise<Parameters<typeof comparable>[0]>): Promise<string> {
  try {
    return comparable(await answer);
  } catch (error) {
    if (!(error instanceof UnknownContextError)) throw error;
    return error.message;
  }
}

void test('a search returns what an index of only the visible repos would return', async () => {
  await fc.assert(
    fc.asyncProperty(
      accessResolver,
      fc.constantFrom(...QUERIES),
      fc.integer({ min: 1, max: 60 }),
      async (repoAccess, query, matches) => {
        const isIn = ({ repoId }: { repoId: number }): boolean => canSee(repoAccess, repoId);
        const isVisible = ({ parts }: LiveShard): boolean => isIn(parts[0]!);
        alone.publish(valid.filter(isVisible), REPOS.filter(isIn), QUARANTINED.filter(isVisible));
        const request = { matches, isRegexEnabled: true };
        const { signal } = new AbortController();
        assert.equal(
          await outcomeOf(whole.search(query, request, signal, repoAccess)),
          await outcomeOf(alone.search(query, request)),
        );
        assert.equal(
          await outcomeOf(streamed(whole, query, repoAccess)),
          await outcomeOf(streamed(alone, query, SEES_ALL)),
        );
      },
    ),
    { numRuns: 150 },
  );
});

void test('a caller who sees nothing finds nothing and learns no number', async () => {
  const { signal } = new AbortController();
  const { stats, files, isSearchExhaustive } = await whole.search('plum', {}, signal, SEES_NOTHING);
  assert.deepEqual(files, []);
  assert.equal(isSearchExhaustive, true);
  for (const [name, value] of Object.entries(stats))
    if (typeof value === 'number' && !TIMES.has(name)) assert.equal(value, 0, name);
});

/** What a repo of a shared shard holds; hidden ones hold other things in another index. */
function docsOf(repoId: number, isOther: boolean): TestDoc[] {
  const words = isOther ? 'cherry zzz absentword' : `plum ${repoId} of\npear`;
  return Array.from({ length: isOther ? 9 : 5 }, (_, doc) => ({
    path: `d${repoId}/${isOther ? 'zzz' : 'part1'}/f${doc}.go`,
    bytes: Buffer.from(`${words} ${doc}\n`.repeat(doc + 1)),
    language: doc % 2 === 0 ? 'Go' : 'Rust',
  }));
}

const SHARERS = REPOS.slice(0, 4);

/** An index of one shard that all share. */
function shareShard(isOther: (repoId: number) => boolean): LiveShard {
  const repos = SHARERS.map((repo) => ({
    ...repo,
    docs: docsOf(repo.repoId, isOther(repo.repoId)),
  }));
  return whole.sharedShardOf(repos);
}

void test('hidden docs in a shared shard change no number', async () => {
  const base = new Set([2]);
  for (const extra of [[], [1], [1, 4], [3, 4]]) {
    const repoAccess: RepoAccess = { base, extra: new Set(extra) };
    const isIn = ({ repoId }: { repoId: number }): boolean => canSee(repoAccess, repoId);
    const own = SHARERS.filter(isIn).map((repo) => alone.shardOf(repo, docsOf(repo.repoId, false)));
    alone.publish(own, SHARERS.filter(isIn));
    const shared = [() => false, (repoId: number) => !isIn({ repoId })].map(shareShard);
    for (const query of [
      ...QUERIES,
      'zzz',
      'z or fork:no',
      'file:zzz',
      'lang:rust',
      'c[a-z]+y z',
    ]) {
      const request = { matches: 1000, isRegexEnabled: true, whole: query.includes(' or ') };
      const expected = await alone.search(query, request);
      const answers: string[] = [];
      for (const shard of shared) {
        const { signal } = new AbortController();
        whole.publish([shard], SHARERS);
        const answer = await whole.search(query, request, signal, repoAccess);
        assert.equal(JSON.stringify(answer.files), JSON.stringify(expected.files), query);
        assert.equal(answer.stats.fileCount, expected.stats.fileCount);
        assert.equal(answer.stats.totalMatchCount, expected.stats.totalMatchCount);
        const { files: _, accumulatedStats } = await streamed(whole, query, repoAccess);
        answers.push(`${comparable(answer)}\n${comparable(accumulatedStats!)}`);
      }
      assert.equal(answers[0], answers[1], query);
    }
  }
});

const FUNCTION = 8;

/** A doc that uses the words, and defines some of them. */
function definingDoc(path: string, uses: string, names: readonly string[]): TestDoc {
  let text = `${uses}\n`;
  const symbols = names.map((name) => {
    const start = text.length + 1;
    text += `@${name}\n`;
    return { start, size: name.length, kind: FUNCTION };
  });
  return { path, bytes: Buffer.from(text), symbols };
}

void test('definitions in hidden docs do not change a limited answer', async () => {
  const many = Array.from({ length: 30 }, (_, i) => `plum_${i}`);
  // The first docs are more than one unit, so that the limit excludes docs.
  const own = Array.from({ length: 1200 }, (_, i) =>
    definingDoc(`own/${i}.c`, 'plum pear', i === 900 ? ['plummy'] : []),
  );
  const [hider, owner] = REPOS;
  const { signal } = new AbortController();
  const repoAccess: RepoAccess = { base: new Set([owner!.repoId]), extra: new Set() };
  const shards = [[], ['plum'], many, ['plum', ...many]].map((names) =>
    whole.sharedShardOf([
      { ...hider!, docs: [definingDoc('hidden.c', 'pear', names)] },
      { ...owner!, docs: own },
    ]),
  );
  for (const query of ['plum', 'plu', 'plum pear']) {
    const answers: string[] = [];
    for (const shard of shards) {
      whole.publish([shard], [hider!, owner!]);
      const answer = await whole.search(query, { matches: 5 }, signal, repoAccess);
      answers.push(comparable(answer));
    }
    assert.equal(new Set(answers).size, 1, query);
  }
});

void test('names of hidden docs do not change a limited answer', async () => {
  const own = Array.from({ length: 1200 }, (_, i) =>
    definingDoc(i === 900 ? 'own/pear/plum.c' : `own/pear/${i}.c`, `plum pear ${i}`, []),
  );
  const [hider, owner] = REPOS;
  const { signal } = new AbortController();
  const repoAccess: RepoAccess = { base: new Set([owner!.repoId]), extra: new Set() };
  const shards = [1, 20, 300].map((count) => {
    const docs = Array.from({ length: 300 }, (_, i) =>
      definingDoc(i < count ? `${i}/pear/plum.c` : `${i}/x.h`, `pear ${i}`, []),
    );
    return whole.sharedShardOf([
      { ...hider!, docs },
      { ...owner!, docs: own },
    ]);
  });
  for (const query of ['plum', 'plum pear', 'pear plum c']) {
    const answers: string[] = [];
    for (const shard of shards) {
      whole.publish([shard], [hider!, owner!]);
      answers.push(comparable(await whole.search(query, { matches: 5 }, signal, repoAccess)));
    }
    assert.equal(new Set(answers).size, 1, query);
  }
});

void test('docs of a removed repo in a shared shard change no number', async () => {
  const [, ...remaining] = SHARERS;
  const shards = [() => false, (repoId: number) => repoId === 1].map(shareShard);
  for (const query of [...QUERIES, 'zzz', 'cherry', 'lang:rust']) {
    const answers: string[] = [];
    for (const shard of shards) {
      whole.publish([{ ...shard, parts: shard.parts.slice(1) }], remaining);
      const answer = await whole.search(query, { isRegexEnabled: true });
      const { files: _, accumulatedStats } = await streamed(whole, query, SEES_ALL);
      answers.push(`${comparable(answer)}\n${comparable(accumulatedStats!)}`);
    }
    assert.equal(answers[0], answers[1], query);
  }
});
