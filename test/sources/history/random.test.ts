// Random small histories: branches that split and merge, files that change, move, disappear and return, equal times.
// The history of the daemon equals that of git, without and with a graph, and after each new part.
// tier: ci (long)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import test from 'node:test';
import * as fc from 'fast-check';
import { git } from '../git/fixture.ts';
import { authorsOf, blameOf, changesOf, logOf } from './oracle.ts';
import { importStream, makeHistory, type MadeCommit, type MadeFile } from './repos.ts';
import { historyOf, type HistoryWorld, NEVER } from './world.ts';

const RUNS = 10;
const NAMES = ['a', 'b', 'd/a', 'd/e/c'];
const PEOPLE = [
  'A <a@example.com>',
  'B <b@example.com>',
  'B <b@other.example>',
  '\u00C9 <e@example.com>',
];
const LINES = ['one\n', 'two\n', 'three\n', 'four\r\n', '\n', 'caf\u00E9\n', 'last'];

const content = fc
  .array(fc.constantFrom(...LINES), { minLength: 0, maxLength: 12 })
  .map((lines) => lines.join(''));

const file: fc.Arbitrary<MadeFile | string> = fc.oneof(
  { weight: 6, arbitrary: content },
  { weight: 1, arbitrary: fc.constant({ content: undefined }) },
  { weight: 1, arbitrary: content.map((text) => ({ mode: '100755' as const, content: text })) },
  { weight: 1, arbitrary: fc.constant({ mode: '120000' as const, content: 'a' }) },
  { weight: 1, arbitrary: fc.constant(Buffer.from('x\0y')).map((bytes) => ({ content: bytes })) },
);

interface Step {
  readonly files: Readonly<Record<string, MadeFile | string>>;
  readonly person: string;
  /** Counted from the commit itself: 1 is the one before. */
  readonly parents: readonly number[];
  readonly seconds: number;
}

const step: fc.Arbitrary<Step> = fc.record({
  files: fc.dictionary(fc.constantFrom(...NAMES), file, { maxKeys: 3 }),
  person: fc.constantFrom(...PEOPLE),
  parents: fc.uniqueArray(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
  seconds: fc.integer({ min: 0, max: 6 }),
});

/** The last commit is `main`; earlier ones are its ancestors, or belong to nothing. */
function commitsOf(steps: readonly Step[]): MadeCommit[] {
  return steps.map(({ files, person, parents, seconds }, index) => {
    const marks = parents.filter((back) => back <= index).map((back) => `:${index + 1 - back}`);
    const isFirst = marks.length === 0;
    return {
      branch: 'refs/heads/main',
      author: person,
      date: `${1_700_000_000 + seconds} +0000`,
      parents: marks,
      // Why a file: a first commit without any has nothing to ask for.
      files: isFirst ? { ...files, a: 'one\ntwo\nthree\n' } : files,
    };
  });
}

/** Files of `main` whose lines can be blamed. */
function blamable(repo: string): string[] {
  return git(repo, 'ls-tree', '-r', '--name-only', 'main').split('\n').filter(Boolean);
}

async function assertLists(world: HistoryWorld, repo: string): Promise<void> {
  for (const path of [undefined, ...NAMES, 'd']) {
    const args = path === undefined ? ['main'] : ['main', '--', path];
    const expected = logOf(repo, ...args);
    assert.deepEqual(await world.commits({ path, ref: 'main' }), {
      total: expected.length,
      items: expected,
    });
    const authors = await world.history.authors(world.repo, { ref: 'main', path }, NEVER);
    assert.deepEqual(authors, authorsOf(repo, ...args));
  }
}

async function assertBlame(world: HistoryWorld, repo: string): Promise<void> {
  for (const path of blamable(repo)) {
    const { ranges, commits } = await world.blame(path, 'main');
    const found = ranges.flatMap(({ hash, path: then, lineCount }) =>
      Array.from({ length: lineCount }, () => [
        hash,
        then,
        commits[hash]?.authorName,
        commits[hash]?.previous,
      ]),
    );
    const expected = blameOf(repo, 'main', '--', path).map((line) => {
      const [hash, ...name] = line.previous?.split(' ') ?? [];
      const previous = hash === undefined ? undefined : { hash, path: name.join(' ') };
      return [line.hash, line.path, line.authorName, previous];
    });
    assert.deepEqual(found, expected, path);
  }
}

async function assertDiffs(
  world: HistoryWorld,
  repo: string,
  commits: readonly string[],
): Promise<void> {
  const head = commits.at(-1) ?? '';
  for (const base of commits.slice(0, 4)) {
    const files = await world.diff(base, head);
    const changes = files.map(({ oldPath, newPath }) => [oldPath, newPath]);
    assert.deepEqual(changes, changesOf(repo, base, head));
    for (const { hunks } of files) {
      for (const { oldRange, newRange, body } of hunks) {
        const marks = body.split('\n').map((line) => line[0]);
        const count = (mark: string): number => marks.filter((one) => one === mark).length;
        assert.equal(count('-') + count(' '), oldRange.lines);
        assert.equal(count('+') + count(' '), newRange.lines);
      }
    }
  }
}

test('random histories', async () => {
  const steps = fc.array(step, { minLength: 2, maxLength: 14 });
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: 1, max: 13 }), async (all, cut) => {
      const commits = commitsOf(all);
      const { path: repo } = makeHistory(commits.slice(0, cut));
      const world = historyOf(repo);
      await world.history.prepare(world.repo, NEVER);
      await assertLists(world, repo);
      // The same commits again, and those after them.
      const made = spawnSync('git', ['fast-import', '--quiet', '--force'], {
        cwd: repo,
        input: importStream(commits),
      });
      assert.equal(made.status, 0, made.stderr.toString());
      await assertLists(world, repo);
      await world.history.prepare(world.repo, NEVER);
      await assertLists(historyOf(repo, { repoId: world.repo.repoId }), repo);
      await assertBlame(world, repo);
      const ids = git(repo, 'rev-list', '--reverse', 'main').split('\n');
      await assertDiffs(world, repo, ids);
      assert.deepEqual(world.failures, []);
      await world.history.close();
    }),
    { numRuns: RUNS },
  );
});
