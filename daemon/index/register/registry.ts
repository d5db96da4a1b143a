// The repos of the store as this daemon uses them: who may see which, which repo a source is, and which connections
// list them. For ids and permissions the store overrides the index, which may be lost, damaged or exchanged.

import { omitUndefined } from '../../base/omit-undefined.ts';
import { statSync } from 'node:fs';
import { seeFolder, seeFolderId } from '../../sources/disk/identity.ts';
import type { ProbedSource } from '../../sources/git/probe.ts';
import { type RepoRecord, rulesOf } from '../../repos/records.ts';
import { freeRepoName } from '../../repos/repo-name.ts';
import type { Actor, NewAuditRecord } from '../../store/audit.ts';
import type { StoredConnection, StoredLink } from '../../store/connections.ts';
import type {
  StoredRepos,
  RepoDecision,
  RepoLocation,
  Repos,
  StoredRepo,
} from '../../store/repos.ts';
import { messageOf } from '../../base/caught.ts';
import { addToList } from '../../base/lists.ts';
import type { Log } from '../../base/log.ts';
import { Sequence } from '../../base/sequence.ts';
import { recordOf, withChange, type RepoChange } from './change-repo.ts';
import {
  displaced,
  isFolderOf,
  possibleRepos,
  RepoSigns,
  movedTo,
  type SourceLocation,
} from './which-repo.ts';

/** What identifies a source. */
export type AdmittedSource = Pick<ProbedSource, 'source' | 'name' | 'remote' | 'reposApart'>;

export interface Cause {
  /** Absent: the operator, or the daemon itself. */
  readonly actor?: Actor | undefined;
  /** The flags of `serve` and `index`. */
  readonly flags?: RepoChange;
}

/** Records a change in the same step, and returns a function for afterwards. */
export type Witness = (
  cause: Cause,
  before: StoredRepos,
  changed: readonly StoredRepo[],
  removed: readonly number[],
) => { readonly records: readonly NewAuditRecord[]; readonly note: () => void };

export class RepoRegistry {
  readonly #store: Repos;
  readonly #log: Log;
  readonly #witness: Witness;
  #repos: ReadonlyMap<number, StoredRepo> = new Map();
  #stored: StoredRepos;
  /** By repoId. */
  #links: ReadonlyMap<number, readonly StoredLink[]> = new Map();
  /** Of `#repos`; created on first use. */
  #signs: RepoSigns | undefined;
  /** Of records as the index has them. Why cached: each publish needs all. */
  readonly #ruled = new WeakMap<RepoRecord, { repo: StoredRepo; ruled: RepoRecord }>();
  readonly #reads = new Sequence();
  /** RepoIds visible only to owners, because a restriction could not be stored. */
  readonly #hidden = new Set<number>();
  /** RepoIds visible only to owners, because a configuration that restricts them could not be stored. */
  #withheld: ReadonlySet<number> = new Set();
  /** The last read of the store failed. */
  #isStale = false;
  #version = 0;
  /** Called after each failed read: it is read again until that works. */
  onStale: () => void = () => {};

  private constructor(store: Repos, log: Log, witness: Witness, stored: StoredRepos) {
    this.#store = store;
    this.#log = log;
    this.#witness = witness;
    this.#stored = stored;
    this.#take(stored);
  }

  /** @param witness  of changes. Errors: NOT_READY. */
  static async open(store: Repos, log: Log, witness: Witness): Promise<RepoRegistry> {
    return new RepoRegistry(store, log, witness, await store.read());
  }

  /** Different whenever `ruled` may return something else. */
  get version(): number {
    return this.#version;
  }

  get all(): readonly StoredRepo[] {
    return [...this.#repos.values()];
  }

  byId(repoId: number): StoredRepo | undefined {
    return this.#repos.get(repoId);
  }

  /** Of all daemons that share the store. */
  get connections(): readonly StoredConnection[] {
    return this.#stored.connections;
  }

  /** All data, to base decisions on. */
  get stored(): StoredRepos {
    return this.#stored;
  }

  /** Connections that list a repo, or did. */
  linksOf(repoId: number): readonly StoredLink[] {
    return this.#links.get(repoId) ?? [];
  }

  /** The record with the current permissions; visible only to owners if they are unknown. */
  ruled(record: RepoRecord): RepoRecord {
    const { repoId } = record;
    const hasRules = !this.#isStale && !this.#hidden.has(repoId) && !this.#withheld.has(repoId);
    const repo = hasRules ? this.#repos.get(repoId) : undefined;
    if (repo === undefined) {
      const { within: _, ...rest } = record;
      return { ...rest, visibility: 'unknown', enforcement: 'all' };
    }
    const cached = this.#ruled.get(record);
    if (cached?.repo === repo) return cached.ruled;
    const ruled = recordOf(repo, record);
    this.#ruled.set(record, { repo, ruled });
    return ruled;
  }

  /** Restricts repos to owners until `unhide`, because a restriction could not be stored. */
  hide(repoIds: Iterable<number>): void {
    for (const repoId of repoIds) this.#hidden.add(repoId);
    this.#version++;
  }

  /** The restrictions are stored, or no longer needed. Returns the repos that were hidden. */
  unhide(repoIds: readonly number[]): number[] {
    this.#version++;
    return repoIds.filter((repoId) => this.#hidden.delete(repoId));
  }

  isHidden(repoId: number): boolean {
    return this.#hidden.has(repoId);
  }

  /** Restricts these repos to owners, until the next call, whatever `unhide` says. Returns those of the last call. */
  withhold(repoIds: Iterable<number>): ReadonlySet<number> {
    const before = this.#withheld;
    this.#withheld = new Set(repoIds);
    this.#version++;
    return before;
  }

  /** Reads the store again. False: it failed, so all permissions are unknown until it works. */
  async reload(): Promise<boolean> {
    const wasStale = this.#isStale;
    try {
      await this.#read();
      return true;
    } catch (error) {
      if (wasStale) return false;
      const what =
        'permissions of repositories could not be read again: all are visible only to owners';
      this.#log.warn(what, { error: messageOf(error) });
      return false;
    }
  }

  /** One after the other, so that the last read wins. */
  #read(): Promise<void> {
    return this.#reads.run(async () => {
      const stored = await this.#store.read().catch((error: unknown) => {
        this.#isStale = true;
        this.#version++;
        this.onStale();
        throw error;
      });
      this.#isStale = false;
      this.#take(stored);
    });
  }

  #take(stored: StoredRepos): void {
    this.#stored = stored;
    this.#repos = new Map(stored.repos.map((repo) => [repo.repoId, repo]));
    this.#links = byRepo(stored.links);
    this.#signs = undefined;
    this.#version++;
  }

  /** Changes of visibility are recorded in the same transaction. Errors: NOT_READY; those of `decide`. */
  async decide<Result>(
    decide: (stored: StoredRepos) => RepoDecision<Result>,
    cause: Cause = {},
  ): Promise<Result> {
    let witnessed: ReturnType<Witness> | undefined;
    const result = await this.#store.change((stored) => {
      const decision = decide(stored);
      witnessed = this.#witness(cause, stored, decision.changed, decision.removed ?? []);
      const records = [...witnessed.records, ...(decision.records ?? [])];
      return { ...decision, records };
    });
    await this.#read();
    witnessed?.note();
    return result;
  }

  /** The repo of each source, existing or created, with the change applied and its location recorded. Errors: NOT_READY. */
  async admit(sources: readonly AdmittedSource[], change: RepoChange): Promise<StoredRepo[]> {
    const notes: (() => void)[] = [];
    const decide = (stored: StoredRepos): RepoDecision<StoredRepo[]> => {
      notes.length = 0;
      const draft = new RepoDraft(stored);
      return draft.decided(sources.map((source) => this.#admitOne(draft, source, change, notes)));
    };
    const repos = await this.decide(decide, { flags: change });
    for (const note of notes) note();
    return repos;
  }

  #admitOne(
    draft: RepoDraft,
    source: AdmittedSource,
    change: RepoChange,
    notes: (() => void)[],
  ): StoredRepo {
    const location = locationOf(source);
    const { reposApart } = source;
    const wholeChange = reposApart === undefined ? change : { ...change, reposApart };
    const possible = possibleRepos(draft.signs.near(location), location, isGone);
    const [existing] = possible;
    if (existing !== undefined && possible.length === 1) {
      const fields = { repo: existing.name, from: existing.location?.path, to: location.path };
      if (existing.location !== undefined && fields.from !== fields.to)
        notes.push(() => this.#log.info('a repo was found in another place', fields));
      return draft.put(withChange(movedTo(existing, location), wholeChange), location);
    }
    const isClosed = draft.isWary && change.enforcement === undefined;
    const made: StoredRepo = {
      repoId: draft.nextRepoId,
      name: draft.freeName(source.name),
      visibility: 'unknown',
      enforcement: isClosed ? 'restricted' : 'none',
    };
    if (isClosed) notes.push(() => this.#warnOfClosed(made, location, possible));
    return draft.put(withChange(movedTo(made, location), wholeChange), location);
  }

  /** Records that repos of connections are also named: they stay when no connection lists them. Errors: NOT_READY. */
  async noteRequested(repoIds: ReadonlySet<number>): Promise<void> {
    const isNew = ({ repoId, location }: StoredRepo): boolean =>
      repoIds.has(repoId) && location === undefined;
    if (!this.all.some(isNew)) return;
    await this.decide((stored) => {
      const draft = new RepoDraft(stored);
      for (const repo of stored.repos.filter(isNew)) {
        const source = repo.host?.facts.source;
        if (source === undefined) continue;
        const { kind, path } = source;
        const location = { kind, path, ...seeFolder(path) };
        draft.put({ ...repo, location }, location);
      }
      return draft.decided(undefined);
    });
  }

  #warnOfClosed(made: StoredRepo, { path }: SourceLocation, possible: readonly StoredRepo[]): void {
    this.#log.warn(
      'a new source is visible only to owners, as permissions of other repos are enforced; ' +
        `"trawl repo set --no-enforce-permissions ${made.name}" shows it to all`,
      {
        repo: made.name,
        path,
        ...(possible.length === 0 ? {} : { mayBe: possible.map(({ name }) => name) }),
      },
    );
  }

  /** Changes the repos with these ids; unknown ids are skipped. Errors: NOT_READY. */
  async change(repoIds: ReadonlySet<number>, change: RepoChange, cause: Cause): Promise<void> {
    const decide = ({ repos }: StoredRepos): RepoDecision<undefined> => ({
      changed: repos
        .filter(({ repoId }) => repoIds.has(repoId))
        .map((repo) => withChange(repo, change)),
      result: undefined,
    });
    await this.decide(decide, cause);
  }

  /** Whether the folder of a repo is the same as before, or missing; false: it must be probed. */
  isWhereItWas({ repoId, source }: RepoRecord): boolean {
    const repo = this.#repos.get(repoId);
    // Our own mirror.
    if (repo?.host !== undefined) return true;
    const fileId = seeFolderId(source.path);
    return repo !== undefined && (fileId === undefined || isFolderOf(repo, { fileId }));
  }

  /** Repos that share an identifying sign with a source. */
  mayBe(source: ProbedSource): readonly StoredRepo[] {
    this.#signs ??= new RepoSigns(this.all);
    return this.#signs.near(locationOf(source));
  }

  /** Whether a source, in its current state, belongs to this repo. */
  isSourceOf(repoId: number, source: ProbedSource): boolean {
    if (this.#repos.get(repoId)?.host !== undefined) return true;
    const possible = possibleRepos(this.mayBe(source), locationOf(source), isGone);
    return possible.length === 1 && possible[0]!.repoId === repoId;
  }

  /**
   * Repos of an index whose ids or names differ from the store, each with its stored version. An empty store takes the
   * repos of the index. Otherwise the index comes from elsewhere: its repos are visible only to owners if anything is
   * hidden. Errors: NOT_READY.
   */
  async adopt(records: readonly RepoRecord[]): Promise<ReadonlyMap<number, StoredRepo>> {
    const isRight = ({ repoId, name }: RepoRecord): boolean => this.byId(repoId)?.name === name;
    if (records.every(isRight)) return new Map();
    return this.decide((stored) => {
      const draft = new RepoDraft(stored, records);
      const adopted = new Map<number, StoredRepo>();
      for (const record of records) {
        if (draft.signs.byId(record.repoId)?.name === record.name) continue;
        adopted.set(record.repoId, adoptOne(draft, record));
      }
      return draft.decided(adopted);
    });
  }
}

/** Where a repository is read; of a plain folder and of a mirror none. */
export function repoPathsOf({ host, location }: StoredRepo): string[] {
  const { kind, path, realPath }: Partial<RepoLocation> = host?.facts.source ?? location ?? {};
  if (kind === 'folder') return [];
  return [path, realPath].filter((one) => one !== undefined);
}

function byRepo(links: readonly StoredLink[]): ReadonlyMap<number, readonly StoredLink[]> {
  const found = new Map<number, StoredLink[]>();
  for (const link of links) addToList(found, link.repoId, link);
  return found;
}

/** Whether anything is hidden. Grants without repos are left over from hidden ones. */
export function isWary({ repos, nextRepoId }: StoredRepos): boolean {
  return repos.length === 0
    ? nextRepoId > 1
    : repos.some(({ enforcement }) => enforcement !== 'none');
}

/** The repos during a decision. */
class RepoDraft {
  readonly signs: RepoSigns;
  readonly #changed = new Set<number>();
  readonly #names: Set<string>;
  /** Ids from here on are unused. */
  readonly firstNewId: number;
  readonly wasEmpty: boolean;
  readonly isWary: boolean;
  nextRepoId: number;

  /** @param reserved  records whose ids are not given to others */
  constructor(stored: StoredRepos, reserved: readonly RepoRecord[] = []) {
    const { repos, nextRepoId } = stored;
    this.signs = new RepoSigns(repos);
    this.#names = new Set(repos.map(({ name }) => name));
    this.wasEmpty = repos.length === 0;
    this.firstNewId = nextRepoId;
    this.isWary = isWary(stored);
    this.nextRepoId = reserved.reduce((next, { repoId }) => Math.max(next, repoId + 1), nextRepoId);
  }

  freeName(name: string): string {
    return freeRepoName(name, this.#names);
  }

  /** @param location  the location that is now only this repo's; absent: not seen */
  put(repo: StoredRepo, location?: SourceLocation): StoredRepo {
    const others =
      location === undefined ? [] : displaced(this.signs.near(location), repo, location);
    for (const one of [repo, ...others]) {
      this.signs.put(one);
      this.#changed.add(one.repoId);
    }
    this.#names.add(repo.name);
    this.nextRepoId = Math.max(this.nextRepoId, repo.repoId + 1);
    return repo;
  }

  decided<Result>(result: Result): RepoDecision<Result> {
    return { changed: [...this.#changed].map((repoId) => this.signs.byId(repoId)!), result };
  }
}

function adoptOne(draft: RepoDraft, record: RepoRecord): StoredRepo {
  const { repoId, selection, visibility } = record;
  const { kind, path } = record.source;
  const source = { kind, path };
  const rules = rulesOf(record.source);
  const remote = record.name.startsWith('local/') ? undefined : record.name;
  const folder = seeFolder(source.path);
  const location = folder === undefined ? undefined : { ...source, ...folder, remote };
  if (!draft.wasEmpty && location !== undefined) {
    const possible = possibleRepos(draft.signs.near(location), location, isGone);
    if (possible.length === 1) return possible[0]!;
  }
  const isIdFree = draft.signs.byId(repoId) === undefined;
  const isIdNew = draft.wasEmpty || repoId >= draft.firstNewId;
  // Permissions in a foreign index were not set by this instance.
  const isClosed = !draft.wasEmpty && (draft.isWary || record.enforcement !== undefined);
  return draft.put(
    {
      repoId: isIdFree && isIdNew ? repoId : draft.nextRepoId,
      name: draft.freeName(record.name),
      visibility: isClosed ? 'unknown' : visibility,
      enforcement: record.enforcement ?? (isClosed ? 'restricted' : 'none'),
      location: { ...source, ...folder },
      ...omitUndefined({ remote, selection }),
      ...(Object.keys(rules).length === 0 ? {} : { rules }),
    },
    location,
  );
}

function locationOf({ source, remote }: Pick<ProbedSource, 'source' | 'remote'>): SourceLocation {
  const folder = seeFolder(source.path);
  return { ...source, ...folder, remote };
}

/** Only a missing path is gone; an unreadable one is not. */
function isGone(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}
