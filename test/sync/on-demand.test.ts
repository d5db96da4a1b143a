// Revisions on demand: random histories against an index configured with these revisions; limits, budget, access,
// sharing of builds, and changes of the index.
// tier: ci (long)

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import test from 'node:test';
import type { OnDemandLimits } from '../../daemon/index/on-demand/on-demand-limits.ts';
import { readdirSync, rmSync, statSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  commitAll,
  commitFiles,
  git,
  makeRepo,
  temporaryFolder,
  writeFiles,
} from '../sources/git/fixture.ts';
import type { Snapshot } from '../../daemon/engine/search/snapshot.ts';
import { narrowed, SEES_ALL } from '../../daemon/repos/repo-access.ts';
import { History, randomOf } from './history.ts';
import { displayed, indexAgain, type IndexOf, openIndexOf } from './index-of.ts';
import { SEED } from '../seed.ts';
import { EAGER } from '../index/merge-limits.ts';

const RUNS = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 6);
const CHANGES_PER_REPO = 3;

const LIMITS: OnDemandLimits = { repos: 20, docs: 50_000, timeoutMs: 60_000, diskBytes: 2 ** 32 };

const QUERIES = [
  'plum',
  'sym:plum',
  'pear or cherry',
  'file:h',
  'lang:c plum',
  'lang:rust',
  'file:. -plum',
];

/** What is found of these queries with a condition on revisions. */
async function found(index: IndexOf, condition: string): Promise<object> {
  const answers: Record<string, unknown> = {};
  for (const query of QUERIES) {
    const { files, isSearchExhaustive, stats } = await index.search(`(${query}) ${condition}`);
    const { fileCount, totalMatchCount } = stats;
    answers[query] = { files, isSearchExhaustive, fileCount, totalMatchCount };
  }
  return answers;
}

/** Resolves when the symbols of all that the condition is about are known: they are found behind the first answer. */
async function symbolsIndexed(index: IndexOf, condition: string): Promise<void> {
  await index.instance.symbols!.run();
  for (;;) {
    const { incompleteReasons = [] } = await index.search(`sym:plum ${condition}`);
    if (!incompleteReasons.includes('symbols_missing')) return;
    await sleep(20);
  }
}

function conditionsOf(one: string, other: string): string[] {
  return [
    `rev:${one}`,
    `rev:${one} -rev:HEAD`,
    `(rev:${one} or rev:HEAD)`,
    `(rev:${one} or rev:${other} or plum)`,
    `rev:${one} rev:${other}`,
    `(rev:${one} or rev:${other})`,
  ];
}

void test('on-demand results equal those of an index', { timeout: 3_600_000 }, async () => {
  for (let run = 0; run < RUNS; run += CHANGES_PER_REPO) {
    const seed = SEED + run;
    const random = randomOf(seed);
    const history = new History(seed);
    await using onDemand = await openIndexOf(temporaryFolder(), {
      findsSymbols: true,
      onDemand: LIMITS,
    });
    const tags = (run / CHANGES_PER_REPO) % 2 === 0 ? [] : ['**'];
    await onDemand.index([history.repo], { tags }, 'commits');
    const done: string[] = [];
    for (let i = 0; i < CHANGES_PER_REPO; i++) {
      done.push(history.change());
      await indexAgain(onDemand);
      const head = git(history.repo, 'symbolic-ref', 'HEAD');
      const refs = git(history.repo, 'for-each-ref', '--format=%(refname)')
        .split('\n')
        .filter((ref) => ref !== head);
      if (refs.length === 0) continue;
      const pick = (): string => refs[Math.floor(random() * refs.length)]!;
      const [one, other] = [pick(), pick()];
      const names = (kind: string): string[] =>
        [one, other].flatMap((ref) => (ref.startsWith(kind) ? ref.slice(kind.length) : []));
      await using configured = await openIndexOf(temporaryFolder(), { findsSymbols: true });
      const selection = {
        branches: names('refs/heads/'),
        tags: [...tags, ...names('refs/tags/')],
      };
      await configured.index([history.repo], selection, 'commits');
      for (const condition of conditionsOf(one, other)) {
        const message = `seed ${seed}: ${done.join('; ')}: ${condition}`;
        await symbolsIndexed(onDemand, condition);
        await symbolsIndexed(configured, condition);
        assert.deepEqual(
          await found(onDemand, condition),
          await found(configured, condition),
          message,
        );
      }
    }
    assert.deepEqual(
      onDemand.warnings.filter((one) => /shard|revision file/.test(one)),
      [],
    );
  }
});

/** A repository whose commits 0, 1, ... have the file `n.txt` for each number up to theirs; tag `t<n>` names each. */
function makeNumbered(count: number): { repo: string; commits: string[] } {
  const repo = makeRepo({ 'base.txt': 'plum base\n' });
  const commits: string[] = [];
  for (let i = 0; i < count; i++) {
    commits.push(commitFiles(repo, { [`${i}.txt`]: `plum ${i}\n`, 'now.txt': `plum now ${i}\n` }));
    git(repo, 'tag', `t${i}`);
  }
  return { repo, commits };
}

interface World extends IndexOf {
  readonly limits: { -readonly [Key in keyof OnDemandLimits]: OnDemandLimits[Key] };
  readonly files: () => string[];
}

async function openWorld(
  repos: readonly string[],
  limitChanges: Partial<OnDemandLimits> = {},
  more: object = {},
): Promise<World> {
  const dataDir = temporaryFolder();
  const limits = { ...LIMITS, ...limitChanges };
  const index = await openIndexOf(dataDir, { onDemand: limits, ...more });
  await index.index(repos, {}, 'commits');
  const files = (): string[] => readdirSync(path.join(dataDir, 'on-demand'));
  return { ...index, limits, files };
}

/** Files are removed beside searches. */
async function hasFiles({ files }: World, count: number): Promise<void> {
  for (let i = 0; i < 3000 && files().length !== count; i++) await sleep(20);
  assert.equal(files().length, count);
}

function refusal(pattern: RegExp): object {
  return { errorCode: 'REVISION_TOO_LARGE', message: pattern };
}

/** Two commits whose ids begin with the same 8 digits, none of which a ref reaches yet. */
function makeTwins(repo: string): string[] {
  const tree = git(repo, 'rev-parse', 'HEAD^{tree}');
  const who = 'A <a@example.com> 1700000000 +0000';
  const bodies = new Map<string, string>();
  for (let i = 0; ; i++) {
    const body = `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\n${i}\n`;
    const prefix = hash('sha1', `commit ${body.length}\0${body}`, 'hex').slice(0, 8);
    const twin = bodies.get(prefix);
    if (twin === undefined) bodies.set(prefix, body);
    else return [twin, body].map((one) => writeObject(repo, 'commit', one));
  }
}

function writeObject(repo: string, type: string, body: string): string {
  writeFiles(repo, { '.git/body': body });
  return git(repo, 'hash-object', '-t', type, '-w', '.git/body');
}

/** The commits of refs with odd names, by full name. */
function oddRefs(commits: readonly string[]): Readonly<Record<string, string>> {
  const [zero = '', one = '', two = '', three = ''] = commits;
  return {
    // Both a branch and a tag, and looking like ids, versions, options, operators and what commands print.
    'refs/heads/both': zero,
    'refs/tags/both': one,
    [`refs/heads/${two.slice(0, 8)}`]: one,
    [`refs/heads/${three}`]: zero,
    'refs/heads/abcdef': one,
    'refs/tags/9.6': two,
    'refs/tags/-x': zero,
    'refs/heads/a/b/c.d': one,
    'refs/heads/HEAD': two,
    'refs/remotes/origin/main': zero,
    'refs/notes/x': one,
    'refs/heads/x@y+z,#&=%41': two,
    'refs/heads/ünï/🍑': zero,
    'refs/heads/it\'s"(x)': one,
    'refs/heads/{x}': two,
    [`refs/heads/${'long/'.repeat(59)}12345`]: three,
  };
}

/** Names of revisions that are the same in every run. Some name nothing; what the others name, `makeOddNames` makes. */
const FIXED_NAMES = [
  'heads/both',
  'tags/both',
  'both~1',
  'merged^2',
  'merged^3',
  'merged^1~1',
  'merged~01',
  'merged^0',
  'merged~99999999999',
  'annotated',
  'nested',
  'annotated~0',
  'nested^0',
  'of-blob',
  'of-tree',
  'twin',
  '@',
  'origin',
  'ORIG_HEAD',
  'config',
  '.',
  '..',
  'a//b',
  'main.lock',
];

/** Names of revisions, of all kinds that git tells apart, in a repository with such refs and objects. */
function makeOddNames(): { repo: string; names: string[] } {
  const { repo, commits } = makeNumbered(5);
  const [zero = '', one = '', two = ''] = commits;
  const refs = oddRefs(commits);
  for (const [ref, commit] of Object.entries(refs)) git(repo, 'update-ref', ref, commit);
  git(repo, 'tag', '-a', '-m', 'x', 'annotated', zero);
  git(repo, 'tag', '-a', '-m', 'x', 'nested', 'annotated');
  const blob = git(repo, 'rev-parse', `${zero}:0.txt`);
  git(repo, 'tag', 'of-blob', blob);
  git(repo, 'tag', 'of-tree', `${zero}^{tree}`);
  git(repo, 'merge', '-q', '--no-ff', '-m', 'merge', '-s', 'ours', 'both');
  git(
    repo,
    'branch',
    'merged',
    git(repo, 'commit-tree', '-p', two, '-p', zero, '-m', 'm', `${one}^{tree}`),
  );
  const [first = '', second = ''] = makeTwins(repo);
  git(repo, 'tag', 'twin', first);
  git(repo, 'tag', 'other-twin', second);
  const names = [
    ...Object.keys(refs),
    ...Object.keys(refs)
      .filter((ref) => !ref.endsWith('/-x'))
      .map((ref) => ref.replace(/^refs\/(?:heads|tags|remotes)\//, '')),
    ...FIXED_NAMES,
    ...['annotated', 'nested'].map((tag) => git(repo, 'rev-parse', tag)),
    git(repo, 'rev-parse', 'nested').slice(0, 9),
    one.slice(0, 7),
    one.slice(0, 39),
    one.toUpperCase(),
    `${one}~1`,
    `${one.slice(0, 10)}^`,
    blob,
    blob.slice(0, 8),
    git(repo, 'rev-parse', `${zero}^{tree}`),
    `${one}0`,
    '0'.repeat(40),
    'f'.repeat(40),
    'f'.repeat(64),
    first,
    second,
    first.slice(0, 8),
    first.slice(0, 7),
    `${first.slice(0, 8)}~0`,
    `v1-0-g${zero.slice(0, 12)}`,
    'x'.repeat(300),
    `${'long/'.repeat(59)}12345~1`,
  ];
  return { repo, names };
}

void test('unusual names: what git resolves, and no more', async () => {
  const { repo, names } = makeOddNames();
  await using index = await openWorld([repo]);
  const filesOf = (name: string): string[] => {
    try {
      const commit = git(
        repo,
        'rev-parse',
        '-q',
        '--verify',
        '--end-of-options',
        `${name}^{commit}`,
      );
      return git(repo, 'ls-tree', '-r', '--name-only', commit).split('\n').sort();
    } catch {
      return [];
    }
  };
  const found = async (name: string): Promise<string[]> => {
    const text = `"${name.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
    return displayed(await index.search(`plum rev:${text}`)).map((row) => row.split(' ')[0]!);
  };
  const nonEmpty = names.filter((name) => filesOf(name).length > 0);
  assert.ok(nonEmpty.length > 40, String(nonEmpty.length));
  for (const name of names) assert.deepEqual(await found(name), filesOf(name), name);
  // What git knows, and callers may not say: like an option, by the reflog, by a text, from another place.
  const refused = '-x main@{1} @{-1} @{u} main^{commit} main^{/x} :/change main:0.txt'.split(' ');
  for (const name of [
    ...refused,
    't0..t1',
    't0...t1',
    '^t0',
    'm?in',
    'm*',
    'm[a]in',
    't0 ',
    '\x01',
    '\x7f',
    't0\n',
  ])
    assert.deepEqual(await found(name), [], JSON.stringify(name));
});

void test('limits are reported by name, and nothing is built beyond them', async () => {
  const { repo } = makeNumbered(4);
  await using index = await openWorld([repo], { docs: 0 });
  const { limits, files } = index;
  await assert.rejects(
    index.search('plum rev:t1'),
    refusal(/^1 files .* limit is 0 \(onDemandRevisions\.docs\)/),
  );
  await assert.rejects(index.search('plum rev:t1'), refusal(/limit is 0/));
  assert.deepEqual(files(), []);
  assert.equal((await index.search('plum rev:t3')).files.length, 6);
  Object.assign(limits, { docs: 10, diskBytes: 10 });
  await index.close();

  await using small = await openWorld([repo], { diskBytes: 10 });
  await assert.rejects(
    small.search('plum rev:t1'),
    refusal(/limit is 10 \(onDemandRevisions\.diskBytes\)/),
  );
  assert.deepEqual(small.files(), []);
  await small.close();

  await using brief = await openWorld([repo], { timeoutMs: 1 });
  await assert.rejects(
    brief.search('plum rev:t1'),
    refusal(/within 1 ms \(onDemandRevisions\.timeoutMs\)/),
  );
  await brief.close();

  await using alone = await openWorld([repo], { repos: 0 });
  await assert.rejects(
    alone.search('plum rev:t1'),
    refusal(/"t1" .* at most 0 repositories \(onDemandRevisions\.repos\), .* covers 1:/),
  );
  assert.equal((await alone.search('plum rev:t1 repo:nosuch')).files.length, 0);
  const many = Array.from({ length: 21 }, (_, i) => `rev:x${i}`).join(' or ');
  await alone.close();
  await using all = await openWorld([repo]);
  await assert.rejects(all.search(`(${many})`), refusal(/21 revisions .* limit is 20/));
});

void test('concurrent requests share one build', async () => {
  const { repo } = makeNumbered(3);
  await using index = await openWorld([repo]);
  const { files } = index;
  const requested = Array.from({ length: 8 }, (_, i) => index.search(`plum ${i % 2} rev:t1`));
  const answers = await Promise.all(requested);
  assert.deepEqual(
    answers.map(({ files: found }) => found.length),
    [1, 2, 1, 2, 1, 2, 1, 2],
  );
  assert.equal(files().length, 1);
  await index.search('plum rev:main~1');
  assert.equal(files().length, 1);
});

void test('a client with many builds does not delay others', async () => {
  const { repo } = makeNumbered(16);
  await using index = await openWorld([repo]);
  const { files } = index;
  const { revisions, snapshots } = index.instance.parts;
  const [record] = snapshots.current.repos;
  const request = (name: string, clientKey: string): Promise<Snapshot | undefined> =>
    revisions!([record!], [name], clientKey, new AbortController().signal);
  let doneCount = 0;
  const requested = Array.from({ length: 15 }, async (_, i) => {
    const snapshot = await request(`t${i}`, 'one');
    doneCount++;
    return snapshot;
  });
  // What the other one has in its line too, and is not the first there.
  const other = await request('t14', 'other');
  assert.ok(doneCount < 8, `${doneCount}`);
  for (const snapshot of [other, ...(await Promise.all(requested))]) snapshots.release(snapshot!);
  assert.equal(files().length, 15, 'each is built once');
});

void test('symbols of an on-demand revision are computed, and removed with its docs', async () => {
  const repo = makeRepo({ 'a.py': 'class Plum:\n    pass\n', 'use.py': 'Plum()\n# Plum\n' });
  git(repo, 'tag', 'then');
  commitFiles(repo, { 'a.py': 'pear = 1\n', 'use.py': 'pear\n' });
  await using index = await openWorld([repo], {}, { findsSymbols: true });
  const { dataDir, limits, files } = index;
  await symbolsIndexed(index, 'rev:then');
  assert.deepEqual(displayed(await index.search('sym:^Plum$ rev:then')), ['a.py then']);
  // The definition comes first.
  const { files: all } = await index.search('Plum rev:then');
  assert.deepEqual(
    all.map((file) => file.path),
    ['a.py', 'use.py'],
  );
  const sizes = files().map((name) => statSync(path.join(dataDir, 'on-demand', name)).size);
  assert.equal(sizes.length, 2);
  const onDemand = index.instance.onDemand!;
  assert.equal(onDemand.size.bytes, sizes[0]! + sizes[1]!);
  limits.diskBytes = sizes[0]! + sizes[1]! - 1;
  onDemand.noteLimits();
  await hasFiles(index, 0);
});

void test('the least recently used is evicted, but not during a search', async () => {
  const { repo } = makeNumbered(4);
  await using probe = await openWorld([repo]);
  await probe.search('plum rev:t0');
  const one = probe.instance.onDemand!.size.bytes;
  await probe.close();

  await using index = await openWorld([repo], { diskBytes: Math.floor(2.5 * one) });
  const { files } = index;
  for (const name of ['t0', 't1', 't0', 't2']) await index.search(`plum rev:${name}`);
  await hasFiles(index, 2);
  const { revisions, snapshots } = index.instance.parts;
  const [record] = snapshots.current.repos;
  const kept = files();
  const signal = new AbortController().signal;
  const snapshot = await revisions!([record!], ['t0'], '', signal);
  assert.deepEqual(files(), kept, 't1 had to go, not t0');
  const also = await revisions!([record!], ['t2'], '', signal);
  await index.search('plum rev:t1');
  await hasFiles(index, 3);
  assert.equal((await index.search('plum rev:t1')).files.length, 4);
  snapshots.release(snapshot!);
  snapshots.release(also!);
  await index.search('plum rev:t1~0 rev:t0');
  await hasFiles(index, 2);
});

void test('revisions of a waiting search are not evicted', async () => {
  const slow = makeRepo({ 'base.txt': 'plum base\n' });
  const names = Array.from({ length: 3000 }, (_, i) => `${i}.txt`);
  commitFiles(slow, Object.fromEntries(names.map((name) => [name, `plum ${name}\n`])));
  git(slow, 'tag', 't0');
  git(slow, 'reset', '-q', '--hard', 'HEAD~1');
  const [first, other] = [makeNumbered(2), makeNumbered(2)];
  git(other.repo, 'tag', 'other', 't0');
  git(other.repo, 'tag', '-d', 't0');
  const options = { onDemand: LIMITS };
  await using index = await openIndexOf(temporaryFolder(), options);
  await index.index([first.repo, slow, other.repo], {}, 'commits');
  const onDemand = index.instance.onDemand!;
  let isOver = false;
  const waiting = index.search('plum rev:t0').finally(() => (isOver = true));
  while (onDemand.size.count === 0) await sleep(1);
  // Searches under way keep the limits that they began with.
  options.onDemand = { ...LIMITS, diskBytes: Math.floor(onDemand.size.bytes * 1.5) };
  onDemand.noteLimits();
  assert.equal((await index.search('plum rev:other')).files.length, 3);
  assert.ok(isOver || onDemand.size.count >= 2, 'the first is still there');
  assert.equal((await waiting).files.length, 3004);
});

void test('the revisions of a search must fit together; a lowered limit evicts', async () => {
  const made = [makeNumbered(2), makeNumbered(2), makeNumbered(2)];
  await using index = await openWorld(made.map(({ repo }) => repo));
  const { limits } = index;
  const { onDemand, served } = index.instance;
  assert.equal((await index.search('plum rev:t0')).files.length, 9);
  const { bytes } = onDemand!.size;
  await hasFiles(index, 3);
  limits.diskBytes = bytes - 1;
  onDemand!.noteLimits();
  await hasFiles(index, 2);
  const tooMuch = refusal(
    /takes at least \d+ bytes in 3 repositories; the limit is \d+ \(onDemandRevisions\.diskBytes\)\. .*"repo:"/,
  );
  await assert.rejects(index.search('plum rev:t0'), tooMuch);
  await hasFiles(index, 2);
  const kept = index.files();
  await assert.rejects(index.search('plum rev:t0'), tooMuch);
  assert.deepEqual(index.files(), kept, 'nothing is built in vain twice');
  for (const { name } of served.records)
    assert.equal((await index.search(`plum rev:t0 repo:${name}`)).files.length, 3);
});

void test('a caller who cannot see a repo neither learns of its revisions nor has them built', async () => {
  const [open, secret] = [makeNumbered(2), makeNumbered(3)];
  for (const mergeLimits of [undefined, EAGER]) {
    await using index = await openWorld([open.repo, secret.repo], { repos: 1 }, { mergeLimits });
    const { files } = index;
    await index.instance.indexer.merger.run();
    const [first] = index.instance.served.records.filter(({ source }) => source.path === open.repo);
    const repoAccess = narrowed(SEES_ALL, [first!.repoId]);
    const request = async (): Promise<object> => {
      const { stats, ...answer } = await index.search('plum rev:t2', {}, repoAccess);
      const {
        duration: _,
        wait: __,
        matchTreeConstruction: ___,
        matchTreeSearch: ____,
        ...counts
      } = stats;
      return { ...answer, counts };
    };
    const before = await request();
    assert.deepEqual(files(), []);
    assert.ok('files' in before && Array.isArray(before.files) && before.files.length === 0);
    // Who sees both asks beyond the limit on repos; of one alone it is found.
    await assert.rejects(index.search('plum rev:t2'), refusal(/covers 2:/));
    const other = index.instance.served.records.find(({ repoId }) => repoId !== first!.repoId)!;
    const visible = await index.search('plum rev:t2', {}, narrowed(SEES_ALL, [other.repoId]));
    assert.equal(visible.files.length, 5);
    assert.equal(
      (await index.search('plum rev:t0', {}, narrowed(SEES_ALL, [other.repoId]))).files.length,
      3,
    );
    assert.equal(files().length, 1);
    assert.deepEqual(await request(), before);
    await index.index([open.repo], {}, 'commits');
    assert.equal((await index.search(`plum repo:${other.name} rev:t0`)).files.length, 0);
  }
});

void test('a new start begins without on-demand revisions', async () => {
  const { repo } = makeNumbered(3);
  await using index = await openWorld([repo]);
  const { dataDir, files } = index;
  await index.search('plum rev:t0');
  assert.equal(files().length, 1);
  await index.close();
  await using again = await openIndexOf(dataDir, { onDemand: LIMITS });
  assert.deepEqual(files(), []);
  assert.equal((await again.search('plum rev:t0')).files.length, 3);
});

void test('commits and merges between two searches', async () => {
  const [one, two] = [makeNumbered(3), makeNumbered(3)];
  await using index = await openWorld([one.repo, two.repo], {}, { mergeLimits: EAGER });
  const request = async (): Promise<string[]> => displayed(await index.search('plum rev:t1'));
  const expected = await request();
  assert.equal(expected.length, 8);
  await index.instance.indexer.merger.run();
  assert.ok(index.instance.catalog.repos.some(({ shards }) => shards.some(({ part }) => part)));
  assert.deepEqual(await request(), expected);
  for (const { repo } of [one, two]) {
    git(repo, 'rm', '-q', '0.txt', 'base.txt');
    commitAll(repo);
    await indexAgain(index);
    assert.deepEqual(await request(), expected);
  }
  // What did not fit any more is gone, as is what does not fit the merges that jobs have asked for.
  await index.instance.indexer.merger.run();
  assert.deepEqual(await request(), expected);
  await hasFiles(index, 2);
  // A tag that moves means what it means now.
  git(one.repo, 'tag', '-f', 't1', 't0');
  assert.equal((await request()).length, 7);
});

void test('files on disk are distinguished from commits by their contents', async () => {
  const repo = makeRepo({ 'same.txt': 'plum same\n', empty: '', 'now.txt': 'plum then\n' });
  git(repo, 'tag', 'then');
  writeFiles(repo, { 'now.txt': 'plum now\n', 'new.txt': 'plum new\n' });
  const dataDir = temporaryFolder();
  await using index = await openIndexOf(dataDir, { onDemand: LIMITS });
  await index.index([repo], {}, 'worktree');
  assert.deepEqual(displayed(await index.search('plum rev:then')), [
    'now.txt then',
    'same.txt then',
  ]);
  assert.deepEqual(displayed(await index.search('file:. rev:then rev:HEAD')), [
    'empty HEAD,then',
    'same.txt HEAD,then',
  ]);
  assert.deepEqual(displayed(await index.search('file:. rev:then -rev:HEAD')), ['now.txt then']);
});

void test('a damaged on-demand shard is rebuilt, one of the index is reported as missing', async () => {
  const { repo } = makeNumbered(3);
  await using index = await openWorld([repo]);
  await index.search('plum rev:t0');
  const { onDemand, parts, served } = index.instance;
  const [record] = parts.snapshots.current.repos;
  const snapshot = (await parts.revisions!([record!], ['t0'], '', new AbortController().signal))!;
  const { shardId } = snapshot.shards[0]!;
  assert.equal(onDemand!.noteShardFailure(shardId, 'test'), true);
  assert.equal(onDemand!.noteShardFailure('0123456789abcdef', 'test'), false);
  parts.snapshots.release(snapshot);
  assert.equal((await index.search('plum rev:t0')).files.length, 3);
  served.quarantine(index.instance.catalog.repos[0]!.shards[0]!.shardId, 'test');
  const answer = await index.search('plum rev:t0');
  assert.deepEqual(answer.incompleteReasons, ['shard_quarantined']);
});

void test('removed, damaged and rewritten repositories have no such revision; others have it', async () => {
  const repos = ['gone', 'damaged', 'rewritten', 'sound'].map((word) => {
    const repo = makeRepo({ [`${word}.c`]: 'int plum;\n' });
    git(repo, 'tag', 'old');
    writeFiles(repo, { [`${word}.c`]: 'int pear;\n' });
    commitAll(repo);
    return repo;
  });
  const [gone, damaged, rewritten] = repos as [string, string, string];
  await using index = await openIndexOf(temporaryFolder(), {
    onDemand: LIMITS,
  });
  await index.index(repos, undefined, 'commits');
  const commit = git(rewritten, 'rev-parse', 'old');
  const other = git(gone, 'rev-parse', 'old');
  assert.equal((await index.search('plum rev:old')).files.length, 4);
  // What was built is built again.
  for (const repo of repos) git(repo, 'commit', '-q', '--allow-empty', '-m', 'x');
  await indexAgain(index);
  rmSync(gone, { recursive: true });
  rmSync(path.join(damaged, '.git', 'objects'), { recursive: true });
  git(rewritten, 'tag', '-d', 'old');
  git(rewritten, 'checkout', '-q', '--orphan', 'fresh');
  git(rewritten, 'commit', '-q', '-m', 'fresh');
  git(rewritten, 'branch', '-q', '-M', 'fresh', 'main');
  git(rewritten, 'reflog', 'expire', '--expire=now', '--all');
  git(rewritten, 'gc', '-q', '--prune=now');
  assert.deepEqual(displayed(await index.search('plum rev:old')), ['sound.c old']);
  assert.deepEqual(displayed(await index.search(`plum rev:${commit}`)), []);
  assert.deepEqual(displayed(await index.search(`plum rev:${other}`)), []);
});

void test('languages depend on parent folders, and on the sources in the folder of a header only', async () => {
  const repo = makeRepo({
    '.gitattributes': '*.inc linguist-language=Pascal\n',
    'cpp/a.cpp': 'x\n',
    'cpp/deep/z.c': 'x\n',
    'cpp/deeper.txt': 'x\n',
    'cpp/zz.cpp': 'x\n',
    'cpp/old.h': 'plum cpp\n',
    'cpp/deep/old.h': 'plum c\n',
    'own/.gitattributes': '*.inc linguist-language=PHP\n',
    'own/below/old.inc': 'plum own\n',
    'old.inc': 'plum root\n',
  });
  git(repo, 'tag', 'then');
  for (const name of ['cpp/old.h', 'cpp/deep/old.h', 'own/below/old.inc', 'old.inc'])
    git(repo, 'rm', '-q', name);
  git(repo, 'commit', '-q', '-m', 'without');
  await using index = await openWorld([repo]);
  const foundAs = async (language: string): Promise<string[]> =>
    displayed(await index.search(`plum rev:then lang:${language}`)).map(
      (one) => one.split(' ')[0]!,
    );
  assert.deepEqual(await foundAs('c++'), ['cpp/old.h']);
  assert.deepEqual(await foundAs('c'), ['cpp/deep/old.h']);
  assert.deepEqual(await foundAs('pascal'), ['old.inc']);
  assert.deepEqual(await foundAs('php'), ['own/below/old.inc']);
});
