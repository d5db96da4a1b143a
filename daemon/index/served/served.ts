// What searches see: the served repos and their shards without those out of service. Takes failing shards out of
// service, and notifies the indexer and the symbol finder.

import { messageOf } from '../../base/caught.ts';
import { SHORT_ID_SIZE } from '../../base/file-hash.ts';
import type { LogLines } from '../../base/log.ts';
import { backOffMs } from '../../base/retries.ts';
import type { ShardError, ShardFault } from '../../engine/host/space.ts';
import type { LiveShard, Snapshot } from '../../engine/search/snapshot.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { someNames } from '../../repos/some-names.ts';
import { GitPathError } from '../../sources/git/git-paths.ts';
import { ProbeError } from '../../sources/git/path-kind.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { CatalogRepo, CatalogSymbols } from '../catalog/catalog-records.ts';
import type { RepoRegistry } from '../register/registry.ts';
import { OtherSourceError } from '../register/which-repo.ts';
import { liveIdOf, shardIdOf, VisibleIndex } from './visible-index.ts';

/** Why shards are out of service, by shardId, as stored: after a restart they stay so until their repos are built. */
export function quarantineIn(catalog: Catalog): Map<string, string> {
  try {
    const reasons: object = JSON.parse(catalog.quarantine ?? '{}');
    const entries = Object.entries(reasons).map(([id, reason]) => [id, String(reason)] as const);
    return new Map(entries);
  } catch {
    // Damage is found again when it is read.
    return new Map();
  }
}

/** Damage of a shard, by its id as searches know it. */
export interface ShardDamage {
  readonly shardId: string;
  readonly reason: string;
  readonly fault: ShardFault;
}

export interface ServedOptions {
  readonly catalog: Catalog;
  /** Absent: everybody who can read the data directory sees all. */
  readonly registry?: RepoRegistry | undefined;
  /** Whether a repo of a code host is served; undefined: not such a repo, or unknown. */
  readonly isConnected?: (repoId: number) => boolean | undefined;
  /** In addition to the register: a different value whenever `isConnected` may change. */
  readonly connected?: () => unknown;
  readonly log: LogLines;
  /** Makes a snapshot visible to searches; returns the shards that could not be opened. */
  readonly publish: (snapshot: Snapshot) => readonly ShardError[];
  readonly onDamage: (repo: RepoRecord) => void;
  /** Notified of a shard whose symbols went out of service, and why. */
  readonly onSymbolsLost: (shardId: string, reason: string) => void;
}

/** The served repos, with the inputs that decided it. */
interface Lists {
  readonly basis: readonly unknown[];
  readonly repos: readonly CatalogRepo[];
  readonly records: readonly RepoRecord[];
}

/** The first and the longest pause before shards that could not be mapped are tried again. */
const MAPPING_PAUSE_MS = { min: 1_000, max: 300_000 };

export class Served {
  readonly #options: ServedOptions;
  /** Repos served besides those of code hosts, from the next `publish` on; undefined: the whole catalog. */
  repoIds: ReadonlySet<number> | undefined;
  /** Why a shard is out of service, by shardId. */
  readonly #quarantined: Map<string, string>;
  /** The damaged ones, as stored. */
  #storedText: string;
  /** Those that are valid but could not be mapped. */
  readonly #unmapped = new Set<string>();
  readonly #failCounts = new Map<string, number>();
  /** Shards whose symbols are out of service until they are found again. */
  readonly #symbolless = new Set<string>();
  readonly #visible: VisibleIndex;
  /** RepoIds of catalog changes that are not visible yet. */
  readonly #changed = new Set<number>();
  /** Other inputs of the last full publish; undefined: there was none. */
  #basis: readonly unknown[] | undefined;
  #kept: Lists = { basis: [], repos: [], records: [] };
  #nextMapping: NodeJS.Timeout | undefined;
  #mappingFailures = 0;
  /** Publishing is paused: damage is being reported, and no damaged shard may be opened. */
  #isPaused = false;
  #isClosed = false;

  constructor(options: ServedOptions) {
    this.#options = options;
    this.#quarantined = quarantineIn(options.catalog);
    this.#storedText = JSON.stringify(Object.fromEntries(this.#quarantined));
    this.#visible = this.#newVisibleIndex();
    options.catalog.follow((former, put) => {
      for (const { record } of [...former, ...put]) this.#changed.add(record.repoId);
    });
    const isGone = (shardId: string): boolean => !options.catalog.hasShard(shardId);
    this.forget([...this.#quarantined.keys()].filter(isGone));
  }

  #newVisibleIndex(): VisibleIndex {
    const { catalog, registry } = this.#options;
    return new VisibleIndex({
      catalog,
      ruled: (record) => registry?.ruled(record) ?? record,
      isSymbolless: (shardId) => this.#symbolless.has(shardId),
    });
  }

  /** The same array while nothing changes; `records` likewise. */
  get repos(): readonly CatalogRepo[] {
    return this.#lists.repos;
  }

  get records(): readonly RepoRecord[] {
    return this.#lists.records;
  }

  get #lists(): Lists {
    const { catalog } = this.#options;
    const basis = [catalog.version, ...this.#basisNow()];
    if (!isSame(basis, this.#kept.basis)) {
      const repos = catalog.repos.filter(({ record }) => this.#isServed(record.repoId));
      this.#kept = { basis, repos, records: repos.map(({ record }) => record) };
    }
    return this.#kept;
  }

  #isServed(repoId: number): boolean {
    const isConnected = this.#options.isConnected?.(repoId);
    return isConnected ?? (this.repoIds === undefined || this.repoIds.has(repoId));
  }

  /** Undefined: not served. */
  record(repoId: number): RepoRecord | undefined {
    if (!this.#isServed(repoId)) return undefined;
    return this.#options.catalog.repo(repoId)?.record;
  }

  get quarantinedCount(): number {
    return this.#quarantined.size;
  }

  get unmappedCount(): number {
    return this.#unmapped.size;
  }

  isOut(shardId: string): boolean {
    return this.#quarantined.has(shardId);
  }

  isSymbolless(shardId: string): boolean {
    return this.#symbolless.has(shardId);
  }

  /** Makes the current catalog visible. */
  publish(): void {
    if (this.#isPaused) return;
    this.#changed.clear();
    this.#basis = this.#basisNow();
    this.#visible.showAll(this.repos.filter(({ isStray }) => !isStray));
    this.#show();
  }

  /** As `publish` after a catalog change: if nothing else changed, it costs only that change. */
  publishChanges(): void {
    if (this.#isPaused) return;
    const changed = [...this.#changed];
    this.#changed.clear();
    const isAsBefore = isSame(this.#basisNow(), this.#basis);
    const isVisible = ({ isStray, record }: CatalogRepo): boolean =>
      !isStray && this.#isServed(record.repoId);
    if (isAsBefore && this.#visible.showChanged(changed, isVisible)) this.#show();
    else this.publish();
  }

  #basisNow(): unknown[] {
    const { registry, connected } = this.#options;
    return [this.repoIds, registry?.version, connected?.()];
  }

  #show(): void {
    const blind = this.#findBlindShard();
    if (blind !== undefined) return this.quarantine(blind.shardId, blind.reason);
    const all = this.#visible.shards;
    const reasonOf = ({ shardId }: LiveShard): string | undefined =>
      this.#quarantined.get(shardIdOf(shardId));
    const refused = this.#options.publish({
      shards: all.filter((shard) => reasonOf(shard) === undefined),
      quarantined: all.flatMap((shard) => {
        const reason = reasonOf(shard);
        return reason === undefined ? [] : [{ ...shard, reason }];
      }),
      repos: this.#visible.records,
    });
    // All at once: there may be thousands.
    this.#setUnmapped(refused.filter(({ fault }) => fault === 'unmapped'));
    for (const { shardId, message, fault } of refused) this.#refuse(shardId, message, fault);
  }

  /**
   * A shard could not be opened, or failed a search.
   * @param fault  absent: unknown; without its symbols the shard may be valid
   */
  #refuse(liveId: string, reason: string, fault: ShardFault | undefined): void {
    const shardId = shardIdOf(liveId);
    if (fault === 'unmapped') return this.#setUnmapped([{ shardId, message: reason }]);
    const isOfSymbols = liveId !== shardId && fault !== 'damaged';
    if (!isOfSymbols) return this.quarantine(shardId, reason);
    const symbols = this.#symbolsOf(shardId);
    // Threads that had the symbols open report them after they are out of service.
    if (symbols === undefined || liveId !== liveIdOf(shardId, symbols)) return;
    this.#options.log.error('symbols taken out of service', { shardId, reason });
    this.#symbolless.add(shardId);
    this.#failCounts.delete(shardId);
    this.publish();
    this.#options.onSymbolsLost(shardId, reason);
  }

  #symbolsOf(shardId: string): CatalogSymbols | undefined {
    if (this.#symbolless.has(shardId)) return undefined;
    const [repo] = this.#options.catalog.reposOfShard(shardId);
    return repo?.shards.find((shard) => shard.shardId === shardId)?.symbols;
  }

  /** A shard in service whose docs per revision are unknown. */
  #findBlindShard(): { shardId: string; reason: string } | undefined {
    for (const repo of this.#visible.blind) {
      const table = this.#options.catalog.revisionsOf(repo);
      const shard = repo.shards.find(({ shardId }) => !this.#quarantined.has(shardId));
      if (table instanceof Error && shard !== undefined)
        return { shardId: shard.shardId, reason: `revision file: ${table.message}` };
    }
    return undefined;
  }

  /** Shards that the system cannot map: they are valid, and a rebuild would not help. */
  #setUnmapped(failures: readonly Pick<ShardError, 'shardId' | 'message'>[]): void {
    const isNew = failures.filter(({ shardId }) => !this.#quarantined.has(shardIdOf(shardId)));
    for (const { shardId, message } of isNew) {
      this.#quarantined.set(shardIdOf(shardId), message);
      this.#unmapped.add(shardIdOf(shardId));
    }
    const [first] = isNew;
    if (first === undefined) return;
    const fields = { count: isNew.length, shardId: first.shardId, reason: first.message };
    this.#options.log.error('shards out of service: they could not be mapped', fields);
    this.publish();
    this.#mapLater();
  }

  /** Retries shards that could not be mapped, with growing pauses. */
  #mapLater(): void {
    if (this.#nextMapping !== undefined || this.#isClosed) return;
    this.#nextMapping = setTimeout(
      () => {
        this.#nextMapping = undefined;
        for (const shardId of this.#unmapped) this.#quarantined.delete(shardId);
        this.#unmapped.clear();
        this.publish();
        if (this.#unmapped.size > 0) return;
        this.#mappingFailures = 0;
        this.#options.log.info('all shards could be mapped again');
      },
      backOffMs(++this.#mappingFailures, MAPPING_PAUSE_MS),
    ).unref();
  }

  /** A search failed on a shard. A known fault takes it out of service at once, anything else the second time. */
  noteShardFailure(liveId: string, reason: string, fault?: ShardFault): void {
    const shardId = shardIdOf(liveId);
    // It was removed meanwhile or built on demand: there is nothing to rebuild.
    if (!this.#options.catalog.hasShard(shardId)) {
      this.#options.log.info('a shard failed that is not in the index', { shardId, reason });
      return;
    }
    if (fault !== undefined) return this.#refuse(liveId, reason, fault);
    const count = (this.#failCounts.get(shardId) ?? 0) + 1;
    this.#failCounts.set(shardId, count);
    this.#options.log.error('shard failed a search', { shardId, reason, count });
    if (count >= 2) this.#refuse(liveId, reason, undefined);
  }

  /**
   * Takes damaged shards among these out of service before anything is visible: a process that read them crashed.
   * @param prefixes  prefixes of their ids
   * @param check  returns the damage of shards
   */
  async quarantineNoted(
    prefixes: readonly string[],
    check: (shards: readonly LiveShard[]) => Promise<readonly ShardDamage[]>,
  ): Promise<void> {
    const isNoted = ({ shardId }: { readonly shardId: string }): boolean =>
      prefixes.includes(shardId.slice(0, SHORT_ID_SIZE));
    const { repos } = this.#options.catalog;
    const visible = this.#newVisibleIndex();
    visible.showAll(repos.filter(({ shards }) => shards.some(isNoted)));
    const noted = visible.shards.filter(isNoted);
    if (noted.length === 0) return;
    this.#options.log.warn('the last process crashed; checking the shards that it searched', {
      shardIds: noted.map(({ shardId }) => shardId),
    });
    const problems = await check(noted);
    this.#isPaused = true;
    for (const { shardId, reason, fault } of problems) this.#refuse(shardId, reason, fault);
    this.#isPaused = false;
  }

  quarantine(shardId: string, reason: string): void {
    if (this.#quarantined.has(shardId)) return;
    this.#quarantined.set(shardId, reason);
    this.#noteQuarantined();
    const repos = this.#options.catalog.reposOfShard(shardId);
    const names = someNames(repos.map(({ record }) => record.name));
    this.#options.log.error('shard quarantined', { shardId, reason, repo: names });
    this.publish();
    for (const { record } of repos) this.#options.onDamage(record);
  }

  /** The repo, if one of its shards is out of service and a rebuild may help. */
  damagedRepo(repoId: number): RepoRecord | undefined {
    const repo = this.#options.catalog.repo(repoId);
    const isDamaged = repo?.shards.some(
      ({ shardId }) => this.#quarantined.has(shardId) && !this.#unmapped.has(shardId),
    );
    return isDamaged === true ? repo?.record : undefined;
  }

  /** Hides a repo if an error says that its git or path belongs to another source. */
  async hideIfDetached(record: RepoRecord, error: unknown): Promise<void> {
    const isStray =
      (error instanceof ProbeError && error.failure === 'not_its_own') ||
      error instanceof GitPathError ||
      error instanceof OtherSourceError;
    if (isStray) await this.setDetached(record, true, messageOf(error));
  }

  /** Hides a repo whose git or path belongs to another source, or shows it again. @param reason  why it is hidden */
  async setDetached(
    { repoId, name }: RepoRecord,
    isStray: boolean,
    reason?: string,
  ): Promise<void> {
    const { catalog, log } = this.#options;
    const existing = catalog.repo(repoId);
    if (existing === undefined || (existing.isStray ?? false) === isStray) return;
    if (isStray)
      log.error('repo hidden: its path holds a different source', { repo: name, reason });
    else log.info('repo shown again: its path holds its own source', { repo: name });
    await catalog.commit(() => {
      const repo = catalog.repo(repoId);
      if (repo === undefined) return {};
      const { isStray: _, ...rest } = repo;
      return { put: [isStray ? { ...rest, isStray } : rest] };
    });
    this.publish();
  }

  /** The files of these shards are gone, and their failures with them. */
  forget(shardIds: readonly string[]): void {
    for (const shardId of shardIds) {
      this.#quarantined.delete(shardId);
      this.#unmapped.delete(shardId);
      this.#failCounts.delete(shardId);
    }
    this.#noteQuarantined();
  }

  /** Why without unmapped ones: they are valid. */
  #noteQuarantined(): void {
    const damaged = [...this.#quarantined].filter(([shardId]) => !this.#unmapped.has(shardId));
    const { catalog, log } = this.#options;
    const text = JSON.stringify(Object.fromEntries(damaged));
    if (text === this.#storedText) return;
    this.#storedText = text;
    catalog.putQuarantine(text).catch((error: unknown) => {
      const fields = { error: messageOf(error) };
      log.warn('the list of shards out of service could not be saved', fields);
    });
  }

  /** The symbols file of the shard is gone, and its failure with it. */
  forgetSymbols(shardId: string): void {
    this.#symbolless.delete(shardId);
    this.#failCounts.delete(shardId);
  }

  close(): void {
    this.#isClosed = true;
    clearTimeout(this.#nextMapping);
  }
}

function isSame(basis: readonly unknown[], before: readonly unknown[] | undefined): boolean {
  return basis.length === before?.length && basis.every((one, index) => one === before[index]);
}
