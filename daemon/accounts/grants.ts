// Grants: which users see which repos whose permissions are enforced (API.md 14.7). Those of the store are changed
// here; those of the configuration are shown beside them. They are of all repos that the store knows: a grant on one that is
// not served now counts again once it is.

import type { StoredRepo } from './store/repos.ts';
import type { Store } from './store/store.ts';
import type { User } from './store/users.ts';
import type { Actor, NewAuditRecord } from './store/audit.ts';
import { type AuditTrail, shownRepos } from './audit-trail.ts';
import type { ConfiguredGrant } from './configured-grants.ts';
import { AccountError } from './error.ts';

export interface GrantRow {
  readonly userId: string;
  readonly repoId: number;
  readonly source: 'config' | 'store';
}

export interface GrantsOptions {
  readonly store: Store;
  readonly configuredGrants: readonly ConfiguredGrant[];
  readonly trail: AuditTrail;
}

export interface GrantPage {
  readonly total: number;
  readonly rows: readonly GrantRow[];
}

interface Window {
  readonly offset: number;
  readonly limit: number;
}

export class GrantBook {
  readonly #options: GrantsOptions;

  constructor(options: GrantsOptions) {
    this.#options = options;
  }

  /** Those of a user; the configured ones first. Errors: NOT_FOUND. */
  async ofUser(userId: string, window: Window): Promise<GrantPage> {
    const { store, configuredGrants } = this.#options;
    const user = await this.#userOf(userId);
    const meant = configuredGrants.filter(
      ({ isForEveryone, emails }) => isForEveryone || emails.has(user.email),
    );
    const repos = [...(await this.#known()).values()];
    const configured = repos
      .filter(({ name }) => meant.some(({ covers }) => covers(name)))
      .map(({ repoId }): GrantRow => ({ userId, repoId, source: 'config' }));
    return withStored(configured, window, (rest) => store.grants.listOfUser(userId, rest));
  }

  /** Those for a repo; the configured ones first. Errors: NOT_FOUND. */
  async ofRepo(repoId: number, window: Window): Promise<GrantPage> {
    const { store, configuredGrants } = this.#options;
    const [repo] = await this.#reposOf([repoId]);
    const covering = configuredGrants.filter(({ covers }) => covers(repo!.name));
    const users = covering.length === 0 ? [] : await store.users.list();
    const configured = users
      .filter(({ email }) =>
        covering.some(({ isForEveryone, emails }) => isForEveryone || emails.has(email)),
      )
      .map(({ id }): GrantRow => ({ userId: id, repoId, source: 'config' }));
    return withStored(configured, window, (rest) => store.grants.listOfRepo(repoId, rest));
  }

  /** How many were new. Errors: NOT_FOUND for an unknown user or repo; nothing is changed then. */
  async add(actor: Actor | undefined, userId: string, repoIds: readonly number[]): Promise<number> {
    const { store } = this.#options;
    return store.grants.add(
      userId,
      repoIds,
      await this.#records(actor, 'grant.added', userId, repoIds),
    );
  }

  /** How many there were. Errors: as `add`. */
  async remove(
    actor: Actor | undefined,
    userId: string,
    repoIds: readonly number[],
  ): Promise<number> {
    const { store } = this.#options;
    return store.grants.remove(
      userId,
      repoIds,
      await this.#records(actor, 'grant.removed', userId, repoIds),
    );
  }

  /** Errors: NOT_FOUND. */
  async #records(
    actor: Actor | undefined,
    action: 'grant.added' | 'grant.removed',
    userId: string,
    repoIds: readonly number[],
  ): Promise<readonly NewAuditRecord[]> {
    const repos = await this.#reposOf(repoIds);
    const { email } = await this.#userOf(userId);
    const target = { id: userId, type: 'user' } as const;
    return this.#options.trail.made(actor, action, target, { email, ...shownRepos(repos) });
  }

  /** Errors: NOT_FOUND. */
  async #userOf(userId: string): Promise<User> {
    const user = await this.#options.store.users.get(userId);
    if (user === undefined) throw new AccountError('NOT_FOUND', 'There is no such user.');
    return user;
  }

  /** Errors: NOT_FOUND. */
  async #reposOf(repoIds: readonly number[]): Promise<readonly StoredRepo[]> {
    const known = await this.#known();
    if (!repoIds.every((repoId) => known.has(repoId)))
      throw new AccountError('NOT_FOUND', 'There is no such repository.');
    return repoIds.map((repoId) => known.get(repoId)!);
  }

  /** All repos, served or not, by id. */
  async #known(): Promise<ReadonlyMap<number, StoredRepo>> {
    const { repos } = await this.#options.store.repos.read();
    return new Map(repos.map((repo) => [repo.repoId, repo]));
  }
}

async function withStored(
  configured: readonly GrantRow[],
  { offset, limit }: Window,
  list: (window: Window) => Promise<{
    readonly total: number;
    readonly rows: readonly { readonly userId: string; readonly repoId: number }[];
  }>,
): Promise<GrantPage> {
  const first = configured.slice(offset, offset + limit);
  const stored = await list({
    offset: Math.max(0, offset - configured.length),
    limit: limit - first.length,
  });
  const rows = stored.rows.map((row): GrantRow => ({ ...row, source: 'store' }));
  return { total: configured.length + stored.total, rows: [...first, ...rows] };
}
