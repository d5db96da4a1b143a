// Random histories of all that changes an index, one step after the other. After each step searches see, and the merger has,
// what a fresh computation from the catalog gives; search threads find what the main thread finds.
// TRAWL_FUZZ_RUNS: steps in all; TRAWL_TEST_SEED.
// tier: ci (long)

import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { indexerOf } from '../../daemon/app/instance.ts';
import type { LiveShard } from '../../daemon/engine/search/snapshot.ts';
import { isCovered } from '../../daemon/engine/shards/parts.ts';
import type { RepoRecord } from '../../daemon/repos/records.ts';
import { Holdings } from '../../daemon/index/merge/holdings.ts';
import type { RepoChange } from '../../daemon/index/register/change-repo.ts';
import type { Indexer } from '../../daemon/sync/indexer.ts';
import { shardIdOf, VisibleIndex } from '../../daemon/index/served/visible-index.ts';
import { temporaryFolder } from '../engine/host/harness.ts';
import { SEED } from '../seed.ts';
import { History, randomOf } from './history.ts';
import { type IndexOf, openIndexOf } from './index-of.ts';
import { EAGER } from '../index/merge-limits.ts';
import { checkFiles } from './check-files.ts';

const STEPS = Number(process.env['TRAWL_FUZZ_RUNS'] ?? 40);
const REPOS = 4;
const ON_DEMAND = { repos: 20, docs: 50_000, timeoutMs: 60_000, diskBytes: 2 ** 32 };
const RULES: readonly RepoChange[] = [
  { branches: ['**'], tags: ['**'] },
  { branches: [], tags: [] },
  { enforcement: 'restricted' },
  { enforcement: 'none' },
  { visibility: 'private' },
  { visibility: 'public' },
];
const QUERIES = ['plum', 'plum rev:*', 'sym:plum', 'file:.'];

type Options = NonNullable<Parameters<typeof openIndexOf>[1]>;

type Step = readonly [share: number, what: string, work: (world: World) => unknown];

/** What may happen, and how often. */
const STEPS_OF: readonly Step[] = [
  [8, 'jobs', (world) => world.runJobs(false)],
  [2, 'builds', (world) => world.runJobs(true)],
  [4, 'merge', ({ indexer }) => indexer.merger.run()],
  [1, 'purge', ({ indexer }) => indexer.merger.purge()],
  [3, 'symbols', ({ index }) => index.instance.symbols!.run()],
  [2, 'symbols lost', (world) => world.loseSymbols()],
  [2, 'quarantine', (world) => world.quarantine()],
  [3, 'rules', (world) => world.changeRules()],
  [2, 'hide', (world) => world.hide()],
  [1, 'unhide', (world) => world.unhide()],
  [2, 'stray', (world) => world.toggleDetached()],
  [2, 'serve', (world) => world.serve()],
  [1, 'rename', (world) => world.rename()],
  [2, 'remove', (world) => world.remove(true)],
  [2, 'remove, and jobs', (world) => world.remove(false)],
  [2, 'on demand', (world) => world.demand()],
  [1, 'restart', (world) => world.restart(false)],
  [1, 'restart with a damaged revision file', (world) => world.restart(true)],
];

class World implements AsyncDisposable {
  readonly #random = randomOf(SEED);
  readonly #histories = Array.from({ length: REPOS }, (_, i) => new History(SEED + i));
  readonly #dataDir = temporaryFolder();
  /** Those of the index; 0n: all of a search is left to threads. */
  #options: Options = {};
  #index: IndexOf | undefined;
  #holdings: Holdings | undefined;
  readonly done: string[] = [];

  get index(): IndexOf {
    return this.#index!;
  }

  get indexer(): Indexer {
    return indexerOf(this.index.instance);
  }

  #pick<Value>(values: readonly Value[]): Value | undefined {
    return values[Math.floor(this.#random() * values.length)];
  }

  #pickRepo(): RepoRecord | undefined {
    return this.#pick(this.index.instance.catalog.repos)?.record;
  }

  async open(): Promise<void> {
    this.#options = { mergeLimits: EAGER, onDemand: ON_DEMAND };
    this.#index = await openIndexOf(this.#dataDir, this.#options);
    this.#holdings = new Holdings(this.index.instance.catalog);
    await this.serve();
  }

  async serve(): Promise<void> {
    const paths = this.#histories.map(({ repo }) => repo);
    const some = paths.filter(() => this.#random() < 0.7);
    await this.index.index(some.length === 0 ? paths : some, {}, 'commits');
  }

  async runJobs(isForced: boolean): Promise<void> {
    for (const history of this.#histories)
      if (this.#random() < 0.5) this.done.push(history.change());
    await this.indexer.jobs.indexAll(this.index.instance.served.records, isForced);
  }

  get #shard(): LiveShard | undefined {
    return this.#pick(this.index.instance.parts.snapshots.current.shards);
  }

  loseSymbols(): void {
    const { shards } = this.index.instance.parts.snapshots.current;
    const found = this.#pick(shards.filter(({ symbols }) => symbols !== undefined));
    if (found !== undefined)
      for (let i = 0; i < 2; i++)
        this.index.instance.served.noteShardFailure(found.shardId, 'for the test');
  }

  quarantine(): void {
    const shard = this.#shard;
    if (shard !== undefined)
      this.index.instance.served.quarantine(shardIdOf(shard.shardId), 'for the test');
  }

  async changeRules(): Promise<void> {
    const repo = this.#pickRepo();
    if (repo !== undefined)
      await this.indexer.rules.change(new Set([repo.repoId]), this.#pick(RULES)!);
  }

  hide(): void {
    const repo = this.#pickRepo();
    if (repo !== undefined) this.index.instance.index!.registry.hide([repo.repoId]);
    this.index.instance.served.publishChanges();
  }

  unhide(): void {
    const { index, catalog, served } = this.index.instance;
    index!.registry.unhide(catalog.repos.map(({ record }) => record.repoId));
    served.publishChanges();
  }

  async toggleDetached(): Promise<void> {
    const { catalog, served } = this.index.instance;
    const repo = this.#pick(catalog.repos);
    if (repo !== undefined)
      await served.setDetached(repo.record, repo.isStray !== true, 'for the test');
  }

  async rename(): Promise<void> {
    const repo = this.#pickRepo();
    const { index, served } = this.index.instance;
    const existing = index!.registry.byId(repo?.repoId ?? 0);
    if (existing === undefined) return;
    const name = `${existing.name}${Math.floor(this.#random() * 10)}`;
    await index!.registry.decide(() => ({ changed: [{ ...existing, name }], result: undefined }));
    served.publishChanges();
  }

  /** From the catalog, as if it were lost. */
  async remove(isVisible: boolean): Promise<void> {
    const { catalog, served } = this.index.instance;
    const repo = this.#pickRepo();
    if (repo === undefined) return;
    const former = await catalog.commit(() => ({ removed: [repo.repoId] }));
    if (isVisible) served.publishChanges();
    await this.serve();
    served.publishChanges();
    await catalog.removeFilesOf(former);
  }

  async demand(): Promise<void> {
    const history = this.#pick(this.#histories)!;
    await this.index.search(`plum rev:${this.#pick([...history.twins.values()])}`);
  }

  async restart(isDamaged: boolean): Promise<void> {
    const { catalog } = this.index.instance;
    const revised = catalog.repos.filter(({ revisionFile }) => revisionFile !== undefined);
    await this.index.close();
    const file = this.#pick(revised)?.revisionFile;
    if (isDamaged && file !== undefined) truncateSync(catalog.revisionPath(file), 70);
    await this.open();
  }

  /** Makes one random step. */
  async step(): Promise<void> {
    const all = STEPS_OF.flatMap((step) => Array.from({ length: step[0] }, () => step));
    const [, what, work] = this.#pick(all)!;
    this.done.push(what);
    await work(this);
    await this.indexer.jobs.whenIdle();
  }

  async check(): Promise<void> {
    const message = `seed ${SEED}: ${this.done.slice(-30).join('; ')}`;
    this.#checkVisible(message);
    assert.deepEqual(this.#holdings!.all, new Holdings(this.index.instance.catalog).all, message);
    for (const query of QUERIES) await this.#checkThreads(query, message);
  }

  #checkVisible(message: string): void {
    const { catalog, served, index, parts } = this.index.instance;
    const anew = new VisibleIndex({
      catalog,
      ruled: (record) => index!.registry.ruled(record),
      isSymbolless: (shardId) => served.isSymbolless(shardId),
    });
    const canSee = (repoId: number): boolean => served.record(repoId) !== undefined;
    anew.showAll(
      catalog.repos.filter(({ isStray, record }) => isStray !== true && canSee(record.repoId)),
    );
    const isOut = ({ shardId }: LiveShard): boolean => served.isOut(shardIdOf(shardId));
    const { shards, repos, quarantined } = parts.snapshots.current;
    assert.deepEqual(repos, anew.records, message);
    const marked = anew.shards.map((shard): LiveShard =>
      isCovered(shard) || isOut(shard) ? shard : { ...shard, hidesDocs: true },
    );
    const expected = marked.filter((shard) => !isOut(shard));
    assert.deepEqual(shards, expected, message);
    const withoutReason = (shard: LiveShard): object => ({ ...shard, reason: '' });
    const broken = marked.filter(isOut).map(withoutReason);
    assert.deepEqual(quarantined.map(withoutReason), broken, message);
  }

  /** A search that threads do has the answer of one that the main thread does. */
  async #checkThreads(query: string, message: string): Promise<void> {
    const { snapshots } = this.index.instance.parts;
    for (let current; current !== snapshots.current;) {
      // Of what is shown all the time: symbols are found meanwhile.
      ({ current } = snapshots);
      const answers = [];
      for (const inlineNs of [2n ** 40n, 0n]) {
        this.#options.inlineNs = inlineNs;
        const { files, isSearchExhaustive, stats } = await this.index.search(query);
        answers.push({ files, isSearchExhaustive, count: stats['totalMatchCount'] });
      }
      if (current === snapshots.current)
        assert.ok(isDeepStrictEqual(answers[0], answers[1]), `${query}: ${message}`);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#index?.close();
  }
}

void test(`incremental state is as fresh, seed ${SEED}`, { timeout: 3_600_000 }, async () => {
  await using world = new World();
  await world.open();
  for (let i = 0; i < STEPS; i++) {
    await world.step();
    await world.check();
  }
  await world.serve();
  await world.index.instance.symbols!.run();
  await world.indexer.jobs.whenIdle();
  await checkFiles(world.index, world.done.slice(-30).join('; '));
});
