// The behaviour of the store, as plain maps and arrays: the oracle of the property test. It imports only the types of
// the operations, and has no time, no database and no concurrency.

import type { AuditRecord, NewAuditRecord } from '../../daemon/store/audit.ts';
import type { ApiKey } from '../../daemon/store/api-keys.ts';
import type { ScopedToken } from '../../daemon/store/scoped-tokens.ts';
import type { Session } from '../../daemon/store/sessions.ts';
import type { SetupLink } from '../../daemon/store/setup-links.ts';
import type { NewUser, User, UserChanges } from '../../daemon/store/users.ts';

/** What the model refuses with. */
export class Refusal extends Error {
  readonly errorCode: string;

  constructor(errorCode: string) {
    super(errorCode);
    this.errorCode = errorCode;
  }
}

interface Owned {
  readonly userId: string;
}

/** The operations under the names of the store; `id` and `now` are what the real one chose. */
export class Model {
  id = '';
  now = 0;
  #users: User[] = [];
  #sessions: Session[] = [];
  #links: SetupLink[] = [];
  #keys: ApiKey[] = [];
  #tokens: ScopedToken[] = [];
  #grants: { userId: string; repoId: number }[] = [];
  #records: AuditRecord[] = [];
  readonly #settings = new Map<string, string>();

  #user(id: string): User | undefined {
    return this.#users.find((user) => user.id === id);
  }

  #needUser(id: string, isActive: boolean): void {
    const user = this.#user(id);
    if (user === undefined || (isActive && user.suspendedAt !== null))
      throw new Refusal('NOT_FOUND');
  }

  #takeSeat(seatMax: number | undefined): void {
    if (seatMax !== undefined && this.users.countActive() >= seatMax) {
      throw new Refusal('ORG_SEAT_COUNT_REACHED');
    }
  }

  #isOnlyOwner(user: User): boolean {
    const owners = this.#users.filter(
      ({ role, suspendedAt }) => role === 'OWNER' && suspendedAt === null,
    );
    const entered = owners.filter(
      ({ id, passwordHash, lastActivityAt }) =>
        passwordHash !== null ||
        lastActivityAt !== null ||
        this.#keys.some(({ userId }) => userId === id),
    );
    const counted = entered.some(({ id }) => id === user.id) ? entered : owners;
    return counted.length === 1 && counted[0]?.id === user.id;
  }

  readonly users = {
    create: (made: NewUser, { seatMax }: { seatMax?: number | undefined } = {}): User => {
      const email = made.email.trim().toLowerCase();
      if (this.users.byEmail(email) !== undefined) throw new Refusal('USER_ALREADY_EXISTS');
      this.#takeSeat(seatMax);
      const user: User = {
        id: this.id,
        email,
        name: made.name ?? null,
        role: made.role,
        passwordHash: made.passwordHash ?? null,
        suspendedAt: null,
        createdAt: this.now,
        updatedAt: this.now,
        lastActivityAt: null,
        requestsPerDay: null,
      };
      this.#users.push(user);
      return user;
    },
    get: (id: string): User | undefined => this.#user(id),
    byEmail: (email: string): User | undefined =>
      this.#users.find((user) => user.email === email.trim().toLowerCase()),
    list: (): User[] => this.#users,
    update: (
      id: string,
      changes: UserChanges,
      { seatMax, sessionHash }: { seatMax?: number | undefined; sessionHash?: string } = {},
    ): User | undefined => {
      const before = this.#user(id);
      if (before === undefined) return undefined;
      const after = { ...before, ...changes, updatedAt: this.now };
      const isActiveOwner = after.role === 'OWNER' && after.suspendedAt === null;
      if (this.#isOnlyOwner(before) && !isActiveOwner) {
        const deed = after.role === 'OWNER' ? 'REMOVED' : 'DEMOTED';
        throw new Refusal(`LAST_OWNER_CANNOT_BE_${deed}`);
      }
      if (before.suspendedAt !== null && after.suspendedAt === null) this.#takeSeat(seatMax);
      if (changes.passwordHash !== undefined) {
        this.#sessions = this.#sessions.filter(
          ({ userId, hash }) => userId !== id || hash === sessionHash,
        );
        this.#links = this.#links.filter(({ userId }) => userId !== id);
      }
      if (before.suspendedAt === null && after.suspendedAt !== null) {
        this.#sessions = without(this.#sessions, id);
        this.#tokens = without(this.#tokens, id);
      }
      this.#users = this.#users.map((user) => (user.id === id ? after : user));
      return after;
    },
    remove: (id: string): boolean => {
      const user = this.#user(id);
      if (user === undefined) return false;
      if (this.#isOnlyOwner(user)) throw new Refusal('LAST_OWNER_CANNOT_BE_REMOVED');
      this.#users = this.#users.filter((other) => other !== user);
      this.#sessions = without(this.#sessions, id);
      this.#links = this.#links.filter(({ userId }) => userId !== id);
      this.#keys = without(this.#keys, id);
      this.#tokens = without(this.#tokens, id);
      this.#grants = without(this.#grants, id);
      return true;
    },
    touch: (id: string, at: number): void => {
      this.#users = this.#users.map((user) =>
        user.id === id
          ? { ...user, lastActivityAt: Math.max(user.lastActivityAt ?? at, at) }
          : user,
      );
    },
    count: (): number => this.#users.length,
    countActive: (): number => this.#users.filter(({ suspendedAt }) => suspendedAt === null).length,
    pruneExpired: (now: number): number => {
      const count = (): number => this.#sessions.length + this.#links.length + this.#tokens.length;
      const before = count();
      this.#sessions = this.#sessions.filter(({ expiresAt }) => expiresAt > now);
      this.#links = this.#links.filter(({ expiresAt }) => (expiresAt ?? Infinity) > now);
      this.#tokens = this.#tokens.filter(({ expiresAt }) => expiresAt > now);
      return before - count();
    },
  };

  readonly sessions = {
    create: (session: Session): void => {
      this.#needUser(session.userId, true);
      this.#sessions.push(session);
    },
    byHash: (hash: string): Session | undefined =>
      this.#sessions.find((session) => session.hash === hash),
    renew: (hash: string, expiresAt: number): boolean => {
      const found = this.sessions.byHash(hash);
      this.#sessions = this.#sessions.map((session) =>
        session === found ? { ...session, expiresAt } : session,
      );
      return found !== undefined;
    },
    remove: (hash: string): boolean => {
      const before = this.#sessions.length;
      this.#sessions = this.#sessions.filter((session) => session.hash !== hash);
      return this.#sessions.length < before;
    },
  };

  readonly setupLinks = {
    create: (link: SetupLink): void => {
      if (link.userId !== null) this.#needUser(link.userId, false);
      this.#links.push(link);
    },
    find: (hash: string, now: number): { userId: string | null } | undefined => {
      const link = this.#links.find((link) => link.hash === hash);
      const isLive = link !== undefined && (link.expiresAt === null || link.expiresAt > now);
      return isLive ? { userId: link.userId } : undefined;
    },
    removeFirstOwnerLinks: (): number => {
      const before = this.#links.length;
      this.#links = this.#links.filter(({ userId }) => userId !== null);
      return before - this.#links.length;
    },
  };

  readonly apiKeys = {
    create: ({ userId, name, hash }: Pick<ApiKey, 'userId' | 'name' | 'hash'>): ApiKey => {
      if (this.#keys.some((key) => key.userId === userId && key.name === name)) {
        throw new Refusal('API_KEY_ALREADY_EXISTS');
      }
      this.#needUser(userId, false);
      const key = { id: this.id, userId, name, hash, createdAt: this.now, lastUsedAt: null };
      this.#keys.push(key);
      return key;
    },
    byHash: (hash: string): ApiKey | undefined => this.#keys.find((key) => key.hash === hash),
    get: (id: string): ApiKey | undefined => this.#keys.find((key) => key.id === id),
    list: (userId?: string): ApiKey[] =>
      this.#keys.filter((key) => userId === undefined || key.userId === userId),
    remove: (id: string, userId?: string): boolean => {
      const key = this.apiKeys.get(id);
      if (key === undefined || (userId !== undefined && key.userId !== userId)) return false;
      this.#keys = this.#keys.filter((other) => other !== key);
      this.#tokens = this.#tokens.filter(({ apiKeyId }) => apiKeyId !== id);
      return true;
    },
    replaceBootstrap: (userId: string, hash: string): ApiKey => {
      this.#needUser(userId, false);
      const hasName = (key: ApiKey) => key.userId === userId && key.name === 'bootstrap';
      const same = this.#keys.find((key) => hasName(key) && key.hash === hash);
      if (same !== undefined) return same;
      const gone = this.#keys.filter((key) => hasName(key) || key.hash === hash);
      for (const key of gone) this.apiKeys.remove(key.id);
      return this.apiKeys.create({ userId, name: 'bootstrap', hash });
    },
    touch: (id: string, at: number): void => {
      this.#keys = this.#keys.map((key) =>
        key.id === id ? { ...key, lastUsedAt: Math.max(key.lastUsedAt ?? at, at) } : key,
      );
    },
  };

  readonly scopedTokens = {
    create: (token: ScopedToken): void => {
      this.#needUser(token.userId, true);
      if (this.apiKeys.get(token.apiKeyId)?.userId !== token.userId) throw new Refusal('NOT_FOUND');
      this.#tokens.push(token);
    },
    byHash: (hash: string): ScopedToken | undefined =>
      this.#tokens.find((token) => token.hash === hash),
    listActive: (userId: string, now: number): ScopedToken[] =>
      this.#tokens
        .filter((token) => token.userId === userId && token.expiresAt > now)
        .sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)),
    revoke: (id: string, userId: string, now: number): boolean => {
      const before = this.#tokens.length;
      this.#tokens = this.#tokens.filter(
        (token) => token.id !== id || token.userId !== userId || token.expiresAt <= now,
      );
      return this.#tokens.length < before;
    },
  };

  readonly grants = {
    add: (userId: string, repoIds: readonly number[]): number => {
      this.#needUser(userId, false);
      const granted = new Set(this.grants.repoIdsOf(userId));
      const added = [...new Set(repoIds)].filter((repoId) => !granted.has(repoId));
      for (const repoId of added) this.#grants.push({ userId, repoId });
      return added.length;
    },
    remove: (userId: string, repoIds: readonly number[]): number => {
      const before = this.#grants.length;
      this.#grants = this.#grants.filter(
        (grant) => grant.userId !== userId || !repoIds.includes(grant.repoId),
      );
      return before - this.#grants.length;
    },
    repoIdsOf: (userId: string): number[] =>
      this.#grants
        .filter((grant) => grant.userId === userId)
        .map(({ repoId }) => repoId)
        .sort((a, b) => a - b),
    listOfUser: (userId: string, { offset, limit }: { offset: number; limit: number }) => {
      const rows = this.grants.repoIdsOf(userId).map((repoId) => ({ userId, repoId }));
      return { total: rows.length, rows: rows.slice(offset, offset + limit) };
    },
    listOfRepo: (repoId: number, { offset, limit }: { offset: number; limit: number }) => {
      const rows = this.#grants
        .filter((grant) => grant.repoId === repoId)
        .sort((a, b) => (a.userId < b.userId ? -1 : 1));
      return { total: rows.length, rows: rows.slice(offset, offset + limit) };
    },
  };

  readonly audit = {
    append: (records: readonly NewAuditRecord[]): void => {
      for (const record of records) this.#records.push({ ...record, id: '' });
    },
    list: ({ since = 0, until = Infinity, offset = 0, limit = 0 }) => {
      const rows = this.#records
        .filter(({ timestamp }) => timestamp >= since && timestamp < until)
        .reverse()
        .sort((a, b) => b.timestamp - a.timestamp);
      return { total: rows.length, rows: rows.slice(offset, offset + limit) };
    },
    prune: (before: number): number => {
      const count = this.#records.length;
      this.#records = this.#records.filter(({ timestamp }) => timestamp >= before);
      return count - this.#records.length;
    },
  };

  readonly settings = {
    get: (name: string): string | undefined => this.#settings.get(name),
    set: (name: string, value: string): void => void this.#settings.set(name, value),
    remove: (name: string): boolean => this.#settings.delete(name),
    all: (): Map<string, string> => this.#settings,
  };
}

function without<Row extends Owned>(rows: readonly Row[], userId: string): Row[] {
  return rows.filter((row) => row.userId !== userId);
}
