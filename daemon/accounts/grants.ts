// Grants: which users may access which repos with enforced permissions (API.md 14.7). Grants in the store are changed here;
// those of the configuration and of hosts are listed with them. Grants cover all repos in the store: one for a repo that is
// not served counts again once it is.

import type { Grant } from '../store/grants.ts';
import type { Page, Window } from '../store/page.ts';
import type { StoredRepo } from '../store/repos.ts';
import type { Actor, NewAuditRecord } from '../store/audit.ts';
import { inListedParts, repoFields } from './audit-log.ts';
import type { ConfiguredGrant } from './configured-grants.ts';
import type { AccountsContext } from './context.ts';
import type { HostLists } from './host-lists.ts';
import { hostAccountsOf, type HostRules, linkedReaders } from './host-rules.ts';
import { userOf } from './members.ts';
import { repoIdsOf } from './find-repo-ids.ts';

export interface GrantRow extends Grant {
  readonly source: 'config' | 'host' | 'store';
  /** Of source `host`: when the host was asked, ISO 8601. */
  readonly takenAt?: string;
}

interface GrantsOptions extends AccountsContext {
  readonly configuredGrants: () => readonly ConfiguredGrant[];
  readonly hostLists: HostLists;
  readonly hostRules: HostRules;
}

/** Ids or names of repositories. */
type Requested = readonly (number | string)[];

export type GrantPage = Page<GrantRow>;

export class GrantService {
  readonly #options: GrantsOptions;

  constructor(options: GrantsOptions) {
    this.#options = options;
  }

  /** Grants of a user (id or e-mail address): configured ones, those of hosts, then those of the store. Errors: NOT_FOUND. */
  async ofUser(idOrEmail: string, window: Window): Promise<GrantPage> {
    const { store, configuredGrants, hostRules } = this.#options;
    const user = await userOf(store, idOrEmail);
    const { id: userId } = user;
    const applicable = configuredGrants().filter(
      ({ isForEveryone, emails }) => isForEveryone || emails.has(user.email),
    );
    const repos = [...(await this.#allRepos()).values()];
    const configured = repos
      .filter(({ name }) => applicable.some(({ covers }) => covers(name)))
      .map(({ repoId }): GrantRow => ({ userId, repoId, source: 'config' }));
    const accounts = await hostAccountsOf(store, hostRules, userId);
    const reads = await store.hostReaders.reposOf(user.email, accounts);
    const hosted = reads.flatMap(({ connection, repoIds }) =>
      repoIds.map((repoId) => ({ userId, repoId, connection })),
    );
    const first = [...configured, ...this.#hosted(hosted)];
    return withStored(first, window, (rest) => store.grants.listOfUser(userId, rest));
  }

  /** Grants of a repo (id or name), in the same order. Errors: NOT_FOUND. */
  async ofRepo(idOrName: number | string, window: Window): Promise<GrantPage> {
    const { store, configuredGrants, hostLists, hostRules } = this.#options;
    const [repo] = await this.#reposOf([idOrName]);
    const { repoId } = repo!;
    const covering = configuredGrants().filter(({ covers }) => covers(repo!.name));
    const isHosted = [...hostLists.counting.values()].some((repoIds) => repoIds.has(repoId));
    const users = covering.length > 0 || isHosted ? await store.users.list() : [];
    const configured = users
      .filter(({ email }) =>
        covering.some(({ isForEveryone, emails }) => isForEveryone || emails.has(email)),
      )
      .map(({ id }): GrantRow => ({ userId: id, repoId, source: 'config' }));
    const idsByEmail = new Map(users.map(({ email, id }) => [email, id]));
    const readers = await store.hostReaders.readersAmong(repoId, [...idsByEmail.keys()]);
    const linked = isHosted ? await linkedReaders(store, hostRules, repoId) : [];
    const hosted = [
      ...readers.map(({ email, connection }) => ({ userId: idsByEmail.get(email)!, connection })),
      ...linked,
    ].map((reader) => ({ ...reader, repoId }));
    const first = [...configured, ...this.#hosted(hosted)];
    return withStored(first, window, (rest) => store.grants.listOfRepo(repoId, rest));
  }

  /** Grants of the reader lists that count now, each user and repo once, with the latest time. */
  #hosted(readings: readonly (Grant & { readonly connection: string })[]): readonly GrantRow[] {
    const { hostLists } = this.#options;
    const { counting } = hostLists;
    const latest = new Map<string, GrantRow & { readonly takenMs: number }>();
    for (const { userId, repoId, connection } of readings) {
      const takenMs = hostLists.takenAt(repoId, connection);
      if (takenMs === undefined || counting.get(connection)?.has(repoId) !== true) continue;
      const key = `${userId} ${repoId}`;
      if ((latest.get(key)?.takenMs ?? -Infinity) >= takenMs) continue;
      latest.set(key, { userId, repoId, source: 'host', takenMs });
    }
    return [...latest.values()].map(({ takenMs, ...row }) => ({
      ...row,
      takenAt: new Date(takenMs).toISOString(),
    }));
  }

  /** Returns the number of new ones. Errors: NOT_FOUND for an unknown user or repo; nothing is changed then. */
  async add(actor: Actor | undefined, user: string, repos: Requested): Promise<number> {
    const { userId, repoIds, records } = await this.#changeOf(actor, 'grant.added', user, repos);
    return this.#options.store.grants.add(userId, repoIds, records);
  }

  /** Returns the number removed. Errors: as `add`. */
  async remove(actor: Actor | undefined, user: string, repos: Requested): Promise<number> {
    const { userId, repoIds, records } = await this.#changeOf(actor, 'grant.removed', user, repos);
    return this.#options.store.grants.remove(userId, repoIds, records);
  }

  /** The ids, and the records of the change. Errors: NOT_FOUND. */
  async #changeOf(
    actor: Actor | undefined,
    action: 'grant.added' | 'grant.removed',
    user: string,
    requested: Requested,
  ): Promise<{ userId: string; repoIds: readonly number[]; records: readonly NewAuditRecord[] }> {
    const { store, auditLog } = this.#options;
    const repos = await this.#reposOf(requested);
    const { id: userId, email } = await userOf(store, user);
    const target = { id: userId, type: 'user' } as const;
    const records = inListedParts(repos).flatMap((part) =>
      auditLog.made(actor, action, target, { email, ...repoFields(part) }),
    );
    return { userId, repoIds: repos.map(({ repoId }) => repoId), records };
  }

  /** Each once. Errors: NOT_FOUND. */
  async #reposOf(requested: Requested): Promise<readonly StoredRepo[]> {
    const reposById = await this.#allRepos();
    const repoIds = repoIdsOf([...reposById.values()], requested);
    return [...repoIds].map((repoId) => reposById.get(repoId)!);
  }

  /** All repos, served or not, by id. */
  async #allRepos(): Promise<ReadonlyMap<number, StoredRepo>> {
    const { repos } = await this.#options.store.repos.read();
    return new Map(repos.map((repo) => [repo.repoId, repo]));
  }
}

async function withStored(
  others: readonly GrantRow[],
  { offset, limit }: Window,
  list: (window: Window) => Promise<Page<Grant>>,
): Promise<GrantPage> {
  const first = others.slice(offset, offset + limit);
  const stored = await list({
    offset: Math.max(0, offset - others.length),
    limit: limit - first.length,
  });
  const rows = stored.rows.map((row): GrantRow => ({ ...row, source: 'store' }));
  return { total: others.length + stored.total, rows: [...first, ...rows] };
}
