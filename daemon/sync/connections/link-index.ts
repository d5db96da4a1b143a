// A working copy of repos, connections and their links during a decision.

import type { ConnectionRules, StoredConnection, StoredLink } from '../../store/connections.ts';
import type { StoredRepos, StoredRepo } from '../../store/repos.ts';

export class LinkIndex {
  readonly stored: StoredRepos;
  readonly connections: ReadonlyMap<number, StoredConnection>;
  readonly #repos: ReadonlyMap<number, StoredRepo>;
  readonly #links = new Map<number, Map<number, StoredLink>>();

  constructor(stored: StoredRepos) {
    this.stored = stored;
    this.connections = new Map(stored.connections.map((one) => [one.connectionId, one]));
    this.#repos = new Map(stored.repos.map((repo) => [repo.repoId, repo]));
    for (const link of stored.links) this.put(link);
  }

  put(link: StoredLink): void {
    const existing = this.#links.get(link.repoId) ?? new Map<number, StoredLink>();
    this.#links.set(link.repoId, existing.set(link.connectionId, link));
  }

  repo(repoId: number): StoredRepo | undefined {
    return this.#repos.get(repoId);
  }

  linksOf(repoId: number): readonly StoredLink[] {
    return [...(this.#links.get(repoId)?.values() ?? [])];
  }

  linksOfConnection(connectionId: number): readonly StoredLink[] {
    return this.stored.links.filter((link) => link.connectionId === connectionId);
  }

  /** Rules of the configured connections that list a repo, or did. */
  rulesOf(repoId: number): ConnectionRules[] {
    return this.linksOf(repoId)
      .flatMap(({ connectionId }) => this.connections.get(connectionId)?.rules ?? [])
      .filter(({ digest }) => digest !== '');
  }

  /** Connections in no configuration whose repos all have another one. */
  get spentConnections(): number[] {
    const inUse = new Set<number>();
    for (const [repoId, links] of this.#links)
      if (this.isMissing(repoId) && this.repo(repoId)?.host !== undefined)
        for (const connectionId of links.keys()) inUse.add(connectionId);
    return [...this.connections.values()]
      .filter(({ connectionId, rules }) => rules.digest === '' && !inUse.has(connectionId))
      .map(({ connectionId }) => connectionId);
  }

  forget(repoId: number): void {
    this.#links.delete(repoId);
  }

  isMissing(repoId: number): boolean {
    return this.linksOf(repoId).every(({ missingSince }) => missingSince !== null);
  }

  /** Whether a repo stays although no connection lists it. */
  isKept(repoId: number): boolean {
    return this.rulesOf(repoId).some(({ keepsDeleted }) => keepsDeleted);
  }
}
