// Finds current repos by id and by name. Built from a list that is a new array after each change.

import type { RepoRecord } from './records.ts';
import { canSee, type RepoAccess } from './repo-access.ts';

interface Tables {
  readonly repos: readonly RepoRecord[];
  readonly byId: ReadonlyMap<number, RepoRecord>;
  readonly byName: ReadonlyMap<string, RepoRecord>;
}

export class RepoDirectory {
  readonly #source: () => readonly RepoRecord[];
  #tables: Tables | undefined;

  /** @param source  the same array until something changes */
  constructor(source: () => readonly RepoRecord[]) {
    this.#source = source;
  }

  /** All repos; the same array until something changes. */
  get all(): readonly RepoRecord[] {
    return this.#source();
  }

  byId(repoId: number): RepoRecord | undefined {
    return this.#current().byId.get(repoId);
  }

  list(repoAccess: RepoAccess): readonly RepoRecord[] {
    return repoAccess.base === 'all'
      ? this.all
      : this.all.filter(({ repoId }) => canSee(repoAccess, repoId));
  }

  byName(name: string, repoAccess: RepoAccess): RepoRecord | undefined {
    const repo = this.#current().byName.get(name);
    return repo !== undefined && canSee(repoAccess, repo.repoId) ? repo : undefined;
  }

  #current(): Tables {
    const repos = this.#source();
    if (this.#tables?.repos === repos) return this.#tables;
    this.#tables = {
      repos,
      byId: new Map(repos.map((repo) => [repo.repoId, repo])),
      byName: new Map(repos.map((repo) => [repo.name, repo])),
    };
    return this.#tables;
  }
}
