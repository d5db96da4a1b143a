// The repos that the store knows, as this daemon works with them: who may see which, which repo a source is, and which
// connections list them (sync/connections decides which repo is which there). The index
// may be lost, damaged or exchanged at any time; what it says of ids and rules counts for nothing where the store says
// something, and where the store says nothing, a repo is for owners alone if there is anything to hide.

import { given } from '../../base/given.ts';
import { statSync } from 'node:fs';
import { seeFolder, seeFolderId } from '../../sources/disk/identity.ts';
import type { ProbedSource } from '../../sources/git/probe.ts';
import { type RepoRecord, rulesOf } from '../../repos/records.ts';
import { freeRepoName } from '../../repos/repo-name.ts';
import type { Actor, NewAuditRecord } from '../../store/audit.ts';
import type { StoredConnection, StoredLink } from '../../store/connections.ts';
import type { RepoBook, RepoDecision, Repos, StoredRepo } from '../../store/repos.ts';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import { recordOf, withChange, type RepoChange } from './change-repo.ts';
import {
  displaced,
  isFolderOf,
  possibleRepos,
  RepoSigns,
  seenAt,
  type SeenSource,
} from './which-repo.ts';

/** Who changes repos. */
export interface Cause {
  /** Absent: the operator, or the daemon by itself. */
  readonly actor?: Actor | undefined;
  /** What flags of `serve` and `index` say. */
  readonly told?: RepoChange;
}

/** What is recorded with a change, and noted once it is made. */
export type Witness = (
  cause: Cause,
  before: RepoBook,
  changed: readonly StoredRepo[],
  /** RepoIds of those that go. */
  removed: readonly number[],
) => { readonly records: readonly NewAuditRecord[]; readonly note: () => void };

export class RepoRegister {
  readonly #store: Repos;
  readonly #log: Log;
  readonly #witness: Witness;
  #repos: ReadonlyMap<number, StoredRepo> = new Map();
  #book: RepoBook = {
    repos: [],
    removed: [],
    nextRepoId: 1,
    connections: [],
    links: [],
    nextConnectionId: 1,
  };
  /** By repoId. */
  #links: ReadonlyMap<number, readonly StoredLink[]> = new Map();
  /** Of `#repos`; made when it is asked for. */
  #signs: RepoSigns | undefined;
  /** Of records as the index has them. Why kept: each publish asks for all. */
  readonly #ruled = new WeakMap<RepoRecord, { repo: StoredRepo; ruled: RepoRecord }>();
  #reading: Promise<void> = Promise.resolve();
  /** RepoIds that are for owners alone, as the store could not be told what narrows them. */
  readonly #hidden = new Set<number>();
  /** The store has said something that could not be read. */
  #isStale = false;
  #version = 0;

  private constructor(store: Repos, log: Log, witness: Witness) {
    this.#store = store;
    this.#log = log;
    this.#witness = witness;
  }

  /** @param witness  of what changes. Errors: NOT_READY. */
  static async open(store: Repos, log: Log, witness: Witness): Promise<RepoRegister> {
    const register = new RepoRegister(store, log, witness);
    await register.#read();
    return register;
  }

  /** Another number whenever `ruled` may say something else. */
  get version(): number {
    return this.#version;
  }

  /** By repoId. */
  get all(): readonly StoredRepo[] {
    return [...this.#repos.values()];
  }

  byId(repoId: number): StoredRepo | undefined {
    return this.#repos.get(repoId);
  }

  /** Of all daemons that share the store. */
  get connections(): readonly StoredConnection[] {
    return this.#book.connections;
  }

  /** All of it, to be decided on without being kept. */
  get book(): RepoBook {
    return this.#book;
  }

  /** Which connections list a repo, or did. */
  linksOf(repoId: number): readonly StoredLink[] {
    return this.#links.get(repoId) ?? [];
  }

  /** The record with the rules that hold now; where they are not known it is for owners alone. */
  ruled(record: RepoRecord): RepoRecord {
    const isKnown = !this.#isStale && !this.#hidden.has(record.repoId);
    const repo = isKnown ? this.#repos.get(record.repoId) : undefined;
    if (repo === undefined) {
      const { within: _, ...rest } = record;
      return { ...rest, visibility: 'unknown', enforcement: 'all' };
    }
    const known = this.#ruled.get(record);
    if (known?.repo === repo) return known.ruled;
    const ruled = recordOf(repo, record);
    this.#ruled.set(record, { repo, ruled });
    return ruled;
  }

  /** Leaves repos to owners alone, as a decision that narrows who may see them could not be kept; until `unhide`. */
  hide(repoIds: Iterable<number>): void {
    for (const repoId of repoIds) this.#hidden.add(repoId);
    this.#version++;
  }

  /** The store knows what narrowed these, or nothing does any more. Returns those that were hidden. */
  unhide(repoIds: readonly number[]): number[] {
    this.#version++;
    return repoIds.filter((repoId) => this.#hidden.delete(repoId));
  }

  isHidden(repoId: number): boolean {
    return this.#hidden.has(repoId);
  }

  /** Reads what the store says now. False: it cannot be asked, and until it could no rule is known. */
  async reload(): Promise<boolean> {
    const wasStale = this.#isStale;
    try {
      await this.#read();
      return true;
    } catch (error) {
      if (wasStale) return false;
      this.#log.warn('who may see which repo could not be read again: they are for owners alone', {
        error: messageOf(error),
      });
      return false;
    }
  }

  /** One after the other, so that what was read later counts. */
  #read(): Promise<void> {
    const reading = this.#readAfter(this.#reading);
    this.#reading = reading;
    return reading;
  }

  async #readAfter(before: Promise<void>): Promise<void> {
    await before.catch(() => {});
    const book = await this.#store.read().catch((error: unknown) => {
      this.#isStale = true;
      this.#version++;
      throw error;
    });
    this.#isStale = false;
    this.#book = book;
    this.#repos = new Map(book.repos.map((repo) => [repo.repoId, repo]));
    this.#links = byRepo(book.links);
    this.#signs = undefined;
    this.#version++;
  }

  /** What it changes of who may see repos is recorded in the same step. Errors: NOT_READY; those of `decide`. */
  async decide<Result>(
    decide: (book: RepoBook) => RepoDecision<Result>,
    cause: Cause = {},
  ): Promise<Result> {
    let witnessed: ReturnType<Witness> | undefined;
    const result = await this.#store.change((book) => {
      const decision = decide(book);
      witnessed = this.#witness(cause, book, decision.changed, decision.removed ?? []);
      const records = [...witnessed.records, ...(decision.records ?? [])];
      return { ...decision, records };
    });
    await this.#read();
    witnessed?.note();
    return result;
  }

  /**
   * The repo of each source, found or made, changed as told; noted is where it was seen.
   *
   * Errors: NOT_READY.
   */
  async admit(sources: readonly ProbedSource[], change: RepoChange): Promise<StoredRepo[]> {
    const notes: (() => void)[] = [];
    const decide = (book: RepoBook): RepoDecision<StoredRepo[]> => {
      notes.length = 0;
      const desk = new Desk(book);
      return desk.decided(sources.map((source) => this.#admitOne(desk, source, change, notes)));
    };
    const repos = await this.decide(decide, { told: change });
    for (const note of notes) note();
    return repos;
  }

  #admitOne(
    desk: Desk,
    source: ProbedSource,
    change: RepoChange,
    notes: (() => void)[],
  ): StoredRepo {
    const seen = seenSource(source);
    const { reposApart } = source;
    const wanted = reposApart === undefined ? change : { ...change, reposApart };
    const possible = possibleRepos(desk.near(seen), seen, isGone);
    const [known] = possible;
    if (known !== undefined && possible.length === 1) {
      if (known.place !== undefined && known.place.path !== seen.path)
        notes.push(() => this.#log.info('a repo was found in another place', moved(known, seen)));
      return desk.put(withChange(seenAt(known, seen), wanted), seen);
    }
    const isClosed = desk.isWary && change.enforcement === undefined;
    const made: StoredRepo = {
      repoId: desk.nextRepoId,
      name: desk.freeName(source.name),
      visibility: 'unknown',
      enforcement: isClosed ? 'restricted' : 'none',
    };
    if (isClosed) notes.push(() => this.#warnOfClosed(made, seen, possible));
    return desk.put(withChange(seenAt(made, seen), wanted), seen);
  }

  #warnOfClosed(made: StoredRepo, { path }: SeenSource, possible: readonly StoredRepo[]): void {
    this.#log.warn(
      'a source that was not known is for owners alone, as permissions of other repos are enforced; ' +
        `"trawl repo set --no-enforce-permissions ${made.name}" shows it to all`,
      {
        repo: made.name,
        path,
        ...(possible.length === 0 ? {} : { mayBe: possible.map(({ name }) => name) }),
      },
    );
  }

  /** Changes repos of these ids; others are passed over. Errors: NOT_READY. */
  async change(repoIds: ReadonlySet<number>, change: RepoChange, actor?: Actor): Promise<void> {
    await this.decide(changeOf(repoIds, change), { actor });
  }

  /** As `change`, where the flags of a command tell it. */
  async changeAsTold(repoIds: ReadonlySet<number>, change: RepoChange): Promise<void> {
    await this.decide(changeOf(repoIds, change), { told: change });
  }

  /** Whether the folder of a repo is the one that it was, or is not there; false: it must be looked at more closely. */
  isWhereItWas({ repoId, source }: RepoRecord): boolean {
    const repo = this.#repos.get(repoId);
    // A clone of ours.
    if (repo?.host !== undefined) return true;
    const fileId = seeFolderId(source.path);
    return repo !== undefined && (fileId === undefined || isFolderOf(repo, { fileId }));
  }

  /** The repos that share something with a source by which it may be known. */
  mayBe(source: ProbedSource): readonly StoredRepo[] {
    this.#signs ??= new RepoSigns(this.all);
    return this.#signs.near(seenSource(source));
  }

  /** Whether a source, as it is now, is that of this repo. */
  isSourceOf(repoId: number, source: ProbedSource): boolean {
    if (this.#repos.get(repoId)?.host !== undefined) return true;
    const possible = possibleRepos(this.mayBe(source), seenSource(source), isGone);
    return possible.length === 1 && possible[0]!.repoId === repoId;
  }

  /**
   * The repos of an index whose ids or names are not those of the store, each with the one that it is now.
   *
   * A store that knows no repo takes those of the index as they are: it is from a version that kept them there. Later an
   * index that the store knows nothing of has come from elsewhere, and is for owners alone if there is anything to hide.
   *
   * Errors: NOT_READY.
   */
  async adopt(records: readonly RepoRecord[]): Promise<ReadonlyMap<number, StoredRepo>> {
    const isRight = ({ repoId, name }: RepoRecord): boolean => this.byId(repoId)?.name === name;
    if (records.every(isRight)) return new Map();
    return this.decide((book) => {
      const desk = new Desk(book, records);
      const adopted = new Map<number, StoredRepo>();
      for (const record of records) {
        if (desk.byId(record.repoId)?.name === record.name) continue;
        adopted.set(record.repoId, adoptOne(desk, record));
      }
      return desk.decided(adopted);
    });
  }
}

/** Those of each repo, by repoId. */
function byRepo(links: readonly StoredLink[]): ReadonlyMap<number, readonly StoredLink[]> {
  const found = new Map<number, StoredLink[]>();
  for (const link of links) {
    const known = found.get(link.repoId);
    if (known === undefined) found.set(link.repoId, [link]);
    else known.push(link);
  }
  return found;
}

function changeOf(
  repoIds: ReadonlySet<number>,
  change: RepoChange,
): (book: RepoBook) => RepoDecision<undefined> {
  return ({ repos }) => ({
    changed: repos
      .filter(({ repoId }) => repoIds.has(repoId))
      .map((repo) => withChange(repo, change)),
    result: undefined,
  });
}

/** Is there anything to hide? Grants without repos are what is left of some. */
export function isWary({ repos, nextRepoId }: RepoBook): boolean {
  return repos.length === 0
    ? nextRepoId > 1
    : repos.some(({ enforcement }) => enforcement !== 'none');
}

/** The repos while something is being decided on them. */
class Desk {
  readonly #signs: RepoSigns;
  readonly #changed = new Set<number>();
  readonly #names: Set<string>;
  /** Ids from here on were never given out. */
  readonly firstNewId: number;
  readonly wasEmpty: boolean;
  readonly isWary: boolean;
  nextRepoId: number;

  /** @param reserved  whose ids are not given to others */
  constructor(book: RepoBook, reserved: readonly RepoRecord[] = []) {
    const { repos, nextRepoId } = book;
    this.#signs = new RepoSigns(repos);
    this.#names = new Set(repos.map(({ name }) => name));
    this.wasEmpty = repos.length === 0;
    this.firstNewId = nextRepoId;
    this.isWary = isWary(book);
    this.nextRepoId = reserved.reduce((next, { repoId }) => Math.max(next, repoId + 1), nextRepoId);
  }

  near(seen: SeenSource): StoredRepo[] {
    return this.#signs.near(seen);
  }

  byId(repoId: number): StoredRepo | undefined {
    return this.#signs.byId(repoId);
  }

  freeName(name: string): string {
    return freeRepoName(name, this.#names);
  }

  /** @param seen  the place that is this repo's now, and nobody else's; absent: none was seen */
  put(repo: StoredRepo, seen?: SeenSource): StoredRepo {
    const others = seen === undefined ? [] : displaced(this.near(seen), repo, seen);
    for (const one of [repo, ...others]) {
      this.#signs.put(one);
      this.#changed.add(one.repoId);
    }
    this.#names.add(repo.name);
    this.nextRepoId = Math.max(this.nextRepoId, repo.repoId + 1);
    return repo;
  }

  decided<Result>(result: Result): RepoDecision<Result> {
    return { changed: [...this.#changed].map((repoId) => this.#signs.byId(repoId)!), result };
  }
}

function adoptOne(desk: Desk, record: RepoRecord): StoredRepo {
  const { repoId, selection, visibility } = record;
  const { kind, path } = record.source;
  const source = { kind, path };
  const rules = rulesOf(record.source);
  const remote = record.name.startsWith('local/') ? undefined : record.name;
  const folder = seeFolder(source.path);
  const seen = folder === undefined ? undefined : { ...source, ...folder, remote };
  if (!desk.wasEmpty && seen !== undefined) {
    const possible = possibleRepos(desk.near(seen), seen, isGone);
    if (possible.length === 1) return possible[0]!;
  }
  const isIdFree = desk.byId(repoId) === undefined;
  const isIdNew = desk.wasEmpty || repoId >= desk.firstNewId;
  // What it says of who may see it is not the word of this instance.
  const isClosed = !desk.wasEmpty && (desk.isWary || record.enforcement !== undefined);
  return desk.put(
    {
      repoId: isIdFree && isIdNew ? repoId : desk.nextRepoId,
      name: desk.freeName(record.name),
      visibility: isClosed ? 'unknown' : visibility,
      enforcement: record.enforcement ?? (isClosed ? 'restricted' : 'none'),
      place: { ...source, ...folder },
      ...given({ remote, selection }),
      ...(Object.keys(rules).length === 0 ? {} : { rules }),
    },
    seen,
  );
}

function seenSource({ source, remote }: ProbedSource): SeenSource {
  const folder = seeFolder(source.path);
  return { ...source, ...folder, remote };
}

/** What cannot be looked at is not gone. */
function isGone(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined;
  } catch {
    return false;
  }
}

function moved({ name, place }: StoredRepo, { path }: SeenSource) {
  return { repo: name, from: place?.path, to: path };
}
