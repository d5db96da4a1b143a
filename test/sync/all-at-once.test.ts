// All changes of an index at the same time: moved branches, jobs, merges, purges, symbols, rules, quarantine,
// restarts. Each answer shows one commit per revision; in the end the index equals a fresh build, in valid files.
// TRAWL_FUZZ_RUNS: rounds in all; TRAWL_TEST_SEED.
// tier: ci (long)

import assert, { AssertionError } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'node:test';
import type { RepoChange } from '../../daemon/index/register/change-repo.ts';
import { temporaryFolder } from '../engine/host/harness.ts';
import { git } from '../sources/git/fixture.ts';
import { awaitSymbols, everythingOf, History, randomOf } from './history.ts';
import { type IndexOf, openIndexOf, type RevisionAnswer } from './index-of.ts';
import { EAGER, NEVER } from '../index/merge-limits.ts';
import { checkFiles } from './check-files.ts';
import { SEED } from '../seed.ts';

const RUNS = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 1);
const REPOS = 3;
const STEPS_PER_ROUND = 90;
const SEARCHERS = 3;
const ON_DEMAND = { repos: 20, docs: 50_000, timeoutMs: 60_000, diskBytes: 2 ** 32 };
const SELECTIONS: readonly RepoChange[] = [
  { branches: [], tags: [] },
  { branches: ['**'], tags: ['**'] },
  { branches: ['dev', 'main'], tags: [] },
];
const RULES: readonly RepoChange[] = [
  ...SELECTIONS,
  { enforcement: 'restricted' },
  { enforcement: 'none' },
  { visibility: 'private' },
];

class World implements AsyncDisposable {
  readonly #random: () => number;
  readonly #histories: readonly History[];
  readonly #dataDir = temporaryFolder();
  readonly #seed: number;
  #index: IndexOf | undefined;
  /** What was started and nobody has waited for. */
  readonly #going: Promise<unknown>[] = [];
  readonly #done: string[] = [];
  readonly #warnings: string[] = [];
  #isSearching = false;
  answerCount = 0;
  /** Searches for a commit that found it. */
  onDemandCount = 0;

  constructor(seed: number) {
    this.#seed = seed;
    this.#random = randomOf(seed);
    this.#histories = Array.from({ length: REPOS }, (_, i) => new History(seed + i, `repo${i}`));
  }

  get #message(): string {
    return `seed ${this.#seed}: ${this.#done.slice(-40).join('; ')}`;
  }

  #pick<Value>(values: readonly Value[]): Value {
    return values[Math.floor(this.#random() * values.length)]!;
  }

  async open(): Promise<void> {
    this.#index = await openIndexOf(this.#dataDir, {
      findsSymbols: true,
      mergeLimits: EAGER,
      onDemand: ON_DEMAND,
    });
    await checkFiles(this.#index, this.#message);
  }

  /** Serves some of the repositories, or all, as each start does. */
  #serve(paths: readonly string[]): void {
    this.#start(`serve ${paths.length}`, async (index) => {
      const results = await index.index(paths, {}, 'commits');
      for (const { error } of results) this.#checkError(error);
    });
  }

  /** Starts something that may end in a closed index. */
  #start(what: string, work: (index: IndexOf) => Promise<unknown>): void {
    this.#done.push(what);
    const index = this.#index!;
    this.#going.push(
      work(index).catch((error: unknown) => {
        if (index === this.#index || error instanceof AssertionError) throw error;
      }),
    );
  }

  #checkError(error: string | undefined): void {
    assert.equal(error, undefined, this.#message);
  }

  #step(): void {
    const dice = this.#random();
    const history = this.#pick(this.#histories);
    if (dice < 0.35) this.#done.push(history.change());
    else if (dice < 0.6) this.#runJobs();
    else if (dice < 0.7) this.#start('merge', (index) => index.instance.indexer.merger.run());
    else if (dice < 0.74) this.#start('purge', (index) => index.instance.indexer.merger.purge());
    else if (dice < 0.82) this.#start('symbols', async ({ instance }) => instance.symbols!.run());
    else if (dice < 0.92) this.#changeRules();
    else if (dice < 0.95) this.#quarantine();
    else this.#start('check', ({ instance }) => this.#checkShard(instance));
  }

  #runJobs(): void {
    const isForced = this.#random() < 0.2;
    const { served } = this.#index!.instance;
    const records = this.#random() < 0.3 ? served.records : [this.#pick(served.records)];
    this.#start(`${isForced ? 'build' : 'index'} ${records.length}`, async ({ instance }) => {
      const valid = records.filter((record) => record !== undefined);
      const results = await instance.indexer.jobs.indexAll(valid, isForced);
      for (const { error } of results) this.#checkError(error);
    });
  }

  #changeRules(): void {
    const record = this.#pick(this.#index!.instance.catalog.repos)?.record;
    if (record === undefined) return;
    const change = this.#pick(RULES);
    this.#start(`${record.repoId} ${JSON.stringify(change)}`, ({ instance }) =>
      instance.indexer.rules.change(new Set([record.repoId]), change),
    );
  }

  #quarantine(): void {
    const { catalog, served } = this.#index!.instance;
    const shard = this.#pick(catalog.repos.flatMap(({ shards }) => shards));
    if (shard === undefined) return;
    this.#done.push(`quarantine ${shard.shardId}`);
    served.quarantine(shard.shardId, 'for the test');
  }

  async #checkShard({ parts, integrity }: IndexOf['instance']): Promise<void> {
    const shard = this.#pick(parts.snapshots.current.shards);
    if (shard !== undefined) await integrity.checkNow([shard]);
  }

  async #restart(): Promise<void> {
    this.#done.push('restart');
    const index = this.#index!;
    this.#index = undefined;
    await index.close();
    await this.#settle();
    this.#warnings.push(...index.warnings);
    await this.open();
    const repos = this.#histories.map(({ repo }) => repo);
    this.#serve(repos.filter(() => this.#random() < 0.7));
  }

  async #settle(): Promise<void> {
    await Promise.all(this.#going.splice(0));
  }

  async #keepSearching(): Promise<void> {
    while (this.#isSearching) {
      await sleep(5);
      const index = this.#index;
      if (index === undefined) continue;
      await this.#search(index).catch((error: unknown) => {
        if (index !== this.#index && !(error instanceof AssertionError)) return;
        const isOver = error instanceof Error && 'errorCode' in error;
        if (!isOver || error.errorCode !== 'NOT_READY') throw error;
      });
    }
  }

  async #search(index: IndexOf): Promise<void> {
    const dice = this.#random();
    if (dice < 0.25) return this.#check(await index.search('twin', { whole: true }));
    if (dice < 0.5) return this.#check(await index.search('twin rev:*', { whole: true }));
    if (dice < 0.6) {
      const name = this.#pick(['dev', 'v1', 'old', 'main~1', 'HEAD~2']);
      return this.#check(await index.search(`twin rev:${name}`, { whole: true }));
    }
    await this.#searchCommit(index, this.#pick(this.#histories));
  }

  /** A commit of a repository, whatever is indexed. */
  async #searchCommit(index: IndexOf, history: History): Promise<void> {
    const { version, repo } = history;
    const commit = this.#pick([...history.twins.values()]);
    const before = servedRecord(index, repo);
    const answer = await index.search(`twin rev:${commit}`, { whole: true });
    this.#check(answer, commit);
    const after = servedRecord(index, repo);
    const isSteady = version === history.version && index === this.#index;
    const isServed = before?.indexedAt !== undefined && after?.indexedAt !== undefined;
    if (answer.files.length > 0) this.onDemandCount++;
    else if (isSteady && isServed && answer.isSearchExhaustive) {
      const refs = git(repo, 'for-each-ref', `--contains=${commit}`);
      assert.equal(refs, '', `${commit} is not found; ${this.#message}`);
    }
  }

  /**
   * Each revision shows the files of one commit of its repository, all of them.
   *
   * @param expected  which it is; absent: any
   */
  #check({ files, isSearchExhaustive }: RevisionAnswer, expected?: string): void {
    this.answerCount++;
    const displayed = new Map<string, string[]>();
    for (const { path, repository, branches, content } of files)
      for (const branch of branches) {
        const key = `${repository} ${branch}`;
        displayed.set(key, [...(displayed.get(key) ?? []), `${path}:${content}`]);
      }
    if (!isSearchExhaustive) return;
    for (const [key, lines] of displayed) {
      const [, which = '', word = ''] =
        /twin\/one\.txt:twin (repo\d+)(x\d+)/.exec(lines.join('\n')) ?? [];
      const history = this.#histories[Number(which.slice(4))];
      const commit = history?.twins.get(which + word);
      const message = `${key}: ${lines.join(' ')}; ${this.#message}`;
      assert.ok(history !== undefined && commit !== undefined, message);
      assert.deepEqual(lines.sort(), twinsOf(history.repo, commit), message);
      if (expected !== undefined && key.includes(expected)) assert.equal(commit, expected, message);
    }
  }

  get hasSearched(): boolean {
    return this.answerCount > 10 && this.onDemandCount > 0;
  }

  async round(): Promise<void> {
    const repos = this.#histories.map(({ repo }) => repo);
    this.#serve(repos);
    await this.#settle();
    this.#isSearching = true;
    const searching = Array.from({ length: SEARCHERS }, () => this.#keepSearching());
    for (let step = 0; step < STEPS_PER_ROUND; step++) {
      await Promise.race([sleep(100 * this.#random() ** 2), ...searching, ...this.#going]);
      if (step % 50 === 30) await this.#restart();
      else this.#step();
    }
    await this.#settle();
    // On a busy machine few searches have come to an end by now, and the last restart may serve no repository.
    if (!this.hasSearched) this.#serve(repos);
    for (let i = 0; i < 6000 && !this.hasSearched; i++)
      await Promise.race([sleep(10), ...searching]);
    this.#isSearching = false;
    await Promise.all(searching);
    await this.#compare(this.#index!, repos);
  }

  async #compare(index: IndexOf, repos: readonly string[]): Promise<void> {
    const { jobs, merger } = index.instance.indexer;
    for (const { error } of await index.index(repos, undefined, 'commits')) this.#checkError(error);
    await index.instance.symbols!.run();
    await merger.run();
    await index.instance.symbols!.run();
    await jobs.whenIdle();
    await using anew = await openIndexOf(temporaryFolder(), {
      findsSymbols: true,
      mergeLimits: NEVER,
      onDemand: ON_DEMAND,
    });
    const { sources, rules, jobs: building } = anew.instance.indexer;
    // In this order, for their ids.
    const paths = index.instance.catalog.repos.map(({ record }) => record.source.path);
    await sources.add(paths, 'commits');
    for (const repo of index.instance.index.registry.all) {
      const { repoId, visibility, selection = { branches: [], tags: [] }, enforcement } = repo;
      const change: RepoChange = { ...selection, enforcement };
      const isReported = visibility !== 'unknown';
      await rules.change(new Set([repoId]), isReported ? { ...change, visibility } : change);
    }
    await building.indexAll(anew.instance.served.records, false);
    await anew.instance.symbols!.run();
    for (const one of [index, anew]) await awaitSymbols(one);
    assert.deepEqual(await everythingOf(index), await everythingOf(anew), this.#message);
    await checkFiles(index, this.#message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#index?.close();
  }

  async closeAndCheck(): Promise<void> {
    await this.#index!.close();
    const warnings = [...this.#warnings, ...this.#index!.warnings].filter(
      (one) => !EXPECTED.test(one),
    );
    assert.deepEqual(warnings, [], this.#message);
  }
}

/** Of what is done on purpose: branches also move while git is asked for a revision. */
const EXPECTED =
  /^(shard quarantined|a new source is visible only to owners.*|the repo is built again after a pause.*|no (branch|tag) matches: .*|file left out|a repository could not be asked for a revision|revision left out: it names no commit: .*)$/;

function servedRecord({ instance }: IndexOf, repo: string) {
  const records = instance.parts.snapshots.current.repos;
  return records.find(({ source }) => source.path === repo);
}

const twinsByRepo = new Map<string, readonly string[]>();

/** The files of a commit that are searched for, as `path:content`. */
function twinsOf(repo: string, commit: string): readonly string[] {
  let lines = twinsByRepo.get(commit);
  if (lines === undefined) {
    lines = git(repo, 'grep', '-F', 'twin', commit, '--', 'twin/')
      .split('\n')
      .map((line) => `${line.slice(commit.length + 1)}\n`)
      .sort();
    twinsByRepo.set(commit, lines);
  }
  return lines;
}

void test(`all at once, seed ${SEED}`, { timeout: 7_200_000 }, async () => {
  await using world = new World(SEED);
  await world.open();
  for (let round = 0; round < RUNS; round++) await world.round();
  await world.closeAndCheck();
  assert.ok(world.hasSearched, `${world.answerCount} answers`);
  if (process.env['TRAWL_SAY']) console.log(world.answerCount, world.onDemandCount);
});
