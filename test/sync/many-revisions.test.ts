// A hundred branches and tags of a repo, and a second repo, against the slow way: for every doc the set of
// revisions from git, every condition as in API.md 9.3 and 9.6.
// tier: ci (long)

import assert from 'node:assert/strict';
import test from 'node:test';
import { git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { filesOf, type IndexOf, openIndexOf } from './index-of.ts';

/** One version of a file and the revisions that hold it, full names. */
interface Doc {
  readonly repo: string;
  readonly path: string;
  readonly content: string;
  readonly revisions: Set<string>;
}

interface Oracle {
  readonly repo: string;
  readonly names: readonly string[];
  readonly docs: readonly Doc[];
}

const COMMIT_COUNT = 60;
/** Revisions that a result names. */
const VISIBLE_MAX = 100;

/** A line of commits that change, add, delete and bring back files; branches and tags on all of them. */
function makeBusyRepo(): string {
  const repo = makeRepo({ 'same.txt': 'plum same\n', 'dir/deep/same.txt': 'plum same\n' });
  let seed = 7;
  const random = (below: number): number =>
    (seed = (seed * 1103515245 + 12345) % 2147483648) % below;
  for (let i = 0; i < COMMIT_COUNT; i++) {
    const file = `d${random(5)}/f${random(12)}.txt`;
    // Few contents, so that old ones come back and paths share them.
    writeFiles(repo, {
      [file]: `plum ${'abcdefg'[random(7)]} ${random(3)}\n`,
      'count.py': `n = ${i} # pear\n`,
    });
    if (i % 9 === 8) git(repo, 'rm', '-q', '-r', '-f', '--ignore-unmatch', `d${random(5)}/f1.txt`);
    git(repo, 'add', '-A');
    git(repo, 'commit', '-q', '--allow-empty', '-m', String(i));
    git(repo, 'branch', i % 2 === 0 ? `topic/${i}` : `work-${i}`);
    if (i % 3 === 0) git(repo, 'tag', '-a', '-m', 'annotated', `v${i}`);
    else git(repo, 'tag', `v${i}`);
  }
  git(repo, 'branch', 'both');
  git(repo, 'tag', 'both', 'HEAD~40');
  return repo;
}

function oracleOf(repo: string, repoName: string): Oracle {
  const refs = git(repo, 'for-each-ref', '--format=%(refname)', 'refs/heads', 'refs/tags').split(
    '\n',
  );
  const names = ['refs/heads/main', ...refs.filter((name) => name !== 'refs/heads/main').sort()];
  const docs = new Map<string, Doc>();
  for (const name of names) {
    for (const line of git(repo, 'ls-tree', '-r', `${name}^{commit}`).split('\n')) {
      const [, oid = '', path = ''] = /^\d+ blob ([0-9a-f]+)\t(.*)$/.exec(line) ?? [];
      const key = `${path} ${oid}`;
      let doc = docs.get(key);
      if (doc === undefined) {
        doc = {
          repo: repoName,
          path,
          content: git(repo, 'cat-file', 'blob', oid),
          revisions: new Set(),
        };
        docs.set(key, doc);
      }
      doc.revisions.add(name);
    }
  }
  return { repo: repoName, names, docs: [...docs.values()] };
}

/** A condition on a doc; what git lists and the text of the contract, nothing else. */
type Condition = (doc: Doc, names: readonly string[]) => boolean;

function rev(text: string): Condition {
  return ({ revisions }, names) => {
    const exact = text === 'HEAD' ? names[0] : names.find((name) => name === text);
    return [...revisions].some(
      (name) => text === '*' || (exact === undefined ? name.includes(text) : name === exact),
    );
  };
}
const word =
  (text: string): Condition =>
  ({ content }) =>
    content.includes(text);
const not =
  (condition: Condition): Condition =>
  (doc, names) =>
    !condition(doc, names);
const all =
  (...conditions: Condition[]): Condition =>
  (doc, names) =>
    conditions.every((isMet) => isMet(doc, names));
const any =
  (...conditions: Condition[]): Condition =>
  (doc, names) =>
    conditions.some((isMet) => isMet(doc, names));

/** Query, what it means, and the texts that say which revisions a result shows. */
const QUERIES: readonly [string, Condition, readonly string[]][] = [
  ['plum', all(word('plum'), rev('HEAD')), ['HEAD']],
  ['-file:zzz', rev('HEAD'), ['HEAD']],
  ['plum or pear', all(any(word('plum'), word('pear')), rev('HEAD')), ['HEAD']],
  ['plum rev:HEAD', all(word('plum'), rev('HEAD')), ['HEAD']],
  ['plum rev:*', all(word('plum'), rev('*')), ['*']],
  ['rev:*', rev('*'), ['*']],
  ['pear rev:v11', all(word('pear'), rev('v11')), ['v11']],
  ['pear rev:refs/tags/v5', all(word('pear'), rev('refs/tags/v5')), ['refs/tags/v5']],
  ['rev:topic/ rev:refs/tags', all(rev('topic/'), rev('refs/tags')), ['topic/', 'refs/tags']],
  ['plum -rev:topic', all(word('plum'), not(rev('topic'))), []],
  ['plum -rev:HEAD', all(word('plum'), not(rev('HEAD'))), []],
  ['-rev:*', not(rev('*')), []],
  ['plum rev:work -rev:main', all(word('plum'), rev('work'), not(rev('main'))), ['work']],
  [
    'pear (rev:v7 or rev:work-1)',
    all(word('pear'), any(rev('v7'), rev('work-1'))),
    ['v7', 'work-1'],
  ],
  ['rev:v1 or plum', any(rev('v1'), word('plum')), ['v1']],
  ['-(rev:v1 plum)', not(all(rev('v1'), word('plum'))), []],
  ['plum rev:V1', all(word('plum'), rev('V1')), ['V1']],
  ['rev:nosuch', rev('nosuch'), ['nosuch']],
  ['plum rev:both', all(word('plum'), rev('both')), ['both']],
  ['plum rev:refs/heads/both', all(word('plum'), rev('refs/heads/both')), ['refs/heads/both']],
  ['lang:python rev:v', all((doc) => doc.path.endsWith('.py'), rev('v')), ['v']],
  ['file:^d1 rev:topic/2', all((doc) => doc.path.startsWith('d1'), rev('topic/2')), ['topic/2']],
];

function expected(
  oracles: readonly Oracle[],
  condition: Condition,
  texts: readonly string[],
): string[] {
  return oracles
    .flatMap(({ names, docs }) =>
      docs
        .filter((doc) => condition(doc, names))
        .map((doc) => {
          const present = names.filter((name) => doc.revisions.has(name));
          const expected = present.filter((name) =>
            texts.some((text) => rev(text)({ ...doc, revisions: new Set([name]) }, names)),
          );
          const displayed = expected.length > 0 ? expected : present;
          const omitted = displayed.splice(VISIBLE_MAX).length;
          return `${doc.repo} ${doc.path} ${doc.content} ${displayed.join()} ${omitted}`;
        }),
    )
    .sort();
}

async function check(
  index: IndexOf,
  oracles: readonly Oracle[],
  isRegexEnabled: boolean,
): Promise<void> {
  const liveCount = oracles.reduce((sum, { docs }) => sum + docs.length, 0);
  for (const [query, condition, texts] of QUERIES) {
    const answer = await index.search(query, { whole: true, isRegexEnabled });
    const found = answer.files.map(
      ({ path, repository, content, branches, branchesOmitted = 0 }) =>
        `${repository} ${path} ${content?.trimEnd()} ${branches.join()} ${branchesOmitted}`,
    );
    assert.deepEqual(found.sort(), expected(oracles, condition, texts), query);
    const { stats } = answer;
    assert.equal(stats['fileCount'], answer.files.length, query);
    assert.equal(stats['shardFilesConsidered'], liveCount, query);
    assert.equal(stats['filesSkipped'], 0, query);
    assert.ok(answer.isSearchExhaustive, query);
    for (const { webUrl, branches, repository, path } of answer.files)
      assert.equal(webUrl, `http://localhost/browse/${repository}@${branches[0]}/-/blob/${path}`);
  }
}

void test('queries over 120 revisions and two repos agree with git', async () => {
  const busy = makeBusyRepo();
  const other = makeRepo({ 'a.txt': 'plum\n', 'b.py': 'pear = 1\n' });
  git(other, 'branch', 'work-other');
  writeFiles(other, { 'a.txt': 'plum changed\n' });
  git(other, 'commit', '-q', '-a', '-m', 'more');
  const single = makeRepo({ 'single.txt': 'plum pear\n' });
  const dataDir = temporaryFolder();
  await using index = await openIndexOf(dataDir);
  const results = [
    ...(await index.index([busy, other, single], { branches: ['**'], tags: ['**'] }, 'commits')),
  ];
  assert.deepEqual(
    results.map(({ state, revisionCount }) => `${state} ${revisionCount}`),
    [`COMPLETED ${2 * COMMIT_COUNT + 3}`, 'COMPLETED 2', 'COMPLETED 1'],
  );
  const oracles = [busy, other, single].map((repo, i) => oracleOf(repo, results[i]?.repo ?? ''));
  await check(index, oracles, false);
  await check(index, oracles, true);

  // Docs equal in path and content are one, contents are stored once.
  const docs = oracles.flatMap((oracle) => oracle.docs);
  assert.equal(
    results.reduce((sum, { docCount }) => sum + docCount, 0),
    docs.length,
  );
  const contents = new Set(oracles[0]?.docs.map(({ content }) => content));
  const size = [...contents].reduce((sum, content) => sum + content.length + 1, 0);
  assert.equal(results[0]?.contentSize, size);
  assert.equal(filesOf(dataDir).revisions.length, 2);
  await index.close();

  await using again = await openIndexOf(dataDir, { inlineNs: 0n });
  await check(again, oracles, false);
  assert.deepEqual(
    (await again.index([busy, other, single], {}, 'commits')).map(({ isUnchanged }) => isUnchanged),
    [true, true, true],
  );
});
