// Audit log: who did what (API.md 24.3). A change is recorded before it is acknowledged; reads are collected and written
// shortly after, so that a search does not wait for it.

import { LRUCache } from 'lru-cache';
import { omitUndefined } from '../base/omit-undefined.ts';
import { DAY_MS, HOUR_MS } from '../base/durations.ts';
import type { Log } from '../base/log.ts';
import type { Actor, AuditRecord, NewAuditRecord } from '../store/audit.ts';
import type { Store } from '../store/store.ts';
import type { Caller } from './caller.ts';

export type { Actor };

export type AuditAction =
  | 'api_key.created'
  | 'api_key.creation_failed'
  | 'api_key.deleted'
  | 'api_key.deletion_failed'
  | 'scoped_token.created'
  | 'scoped_token.revoked'
  | 'user.signed_in'
  | 'user.signed_out'
  | 'user.sign_in_failed'
  | 'user.owner_created'
  | 'user.creation_failed'
  | 'user.unlinked'
  | 'user.list'
  | 'user.read'
  | 'user.delete'
  | 'user.listed_repos'
  | 'user.performed_code_search'
  | 'user.performed_find_references'
  | 'user.performed_goto_definition'
  | 'user.fetched_file_source'
  | 'user.fetched_file_blame'
  | 'user.fetched_file_tree'
  | 'org.member_added'
  | 'org.member_removed'
  | 'org.member_promoted_to_owner'
  | 'org.owner_demoted_to_member'
  | 'org.member_deactivated'
  | 'org.member_reactivated'
  | 'audit.fetch'
  | 'license.changed'
  | 'settings.changed'
  | 'grant.added'
  | 'grant.removed'
  | 'grant.synced'
  | 'oauth.client_registered'
  | 'oauth.token_issued'
  | 'oauth.token_revoked';

export type AuditTargetType =
  'user' | 'org' | 'file' | 'repo' | 'api_key' | 'scoped_token' | 'oauth_client';

export interface AuditTarget {
  readonly id: string;
  readonly type: AuditTargetType;
}

type Facts = Readonly<Record<string, unknown>>;

/** There is one organization. */
export const ORG: AuditTarget = { id: '1', type: 'org' };

export function userTarget({ id }: { readonly id: string }): AuditTarget {
  return { id, type: 'user' };
}

/** The operator on the daemon's machine, and actions of the daemon itself. */
export const OPERATOR: Actor = { id: 'operator', type: 'user' };

/** Undefined: a guest or nobody, who is not recorded; or a local caller before there are accounts. */
export function actorOf(caller: Caller | undefined, clientSource?: string): Actor | undefined {
  // The account is what the command reports; it is not verified.
  if (caller?.source === 'operator')
    return { ...OPERATOR, ...omitUndefined({ account: caller.account?.slice(0, 64) }) };
  if (caller?.person === undefined) return undefined;
  const { source, credentialId, person } = caller;
  const head =
    source === 'api_key' && credentialId !== undefined
      ? ({ id: credentialId, type: 'api_key' } as const)
      : ({ id: person.id, type: 'user' } as const);
  return clientSource === undefined ? head : { ...head, clientSource };
}

/** Repos per record; more of them make several records, so that each is named. */
const LISTED_MAX = 100;

const FLUSH_MS = 200;
/** Bound: while the store cannot be reached, later records are dropped, which is logged. */
const WAITING_MAX = 20_000;

interface AuditLogOptions {
  readonly store: Store;
  readonly now: () => number;
  readonly log: Log;
  readonly version: string;
  /** 0: forever. */
  readonly retentionDays: () => number;
}

export class AuditLog {
  readonly #options: AuditLogOptions;
  #waiting: NewAuditRecord[] = [];
  /** When a repeated read was last recorded, by actor, action and target. */
  readonly #repeated = new LRUCache<string, number>({ max: 10_000 });
  #lostCount = 0;
  #timer: NodeJS.Timeout | undefined;
  #writing: Promise<void> = Promise.resolve();
  /** Begins after the running one. Why only one: it writes all that waits, and each may take as long as the store is given. */
  #nextWriting: Promise<void> | undefined;
  readonly #pruning: NodeJS.Timeout;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    this.#pruning = setInterval(() => void this.prune(), DAY_MS);
    this.#pruning.unref();
    void this.prune();
  }

  /** Records a change. Errors: NOT_READY. */
  async record(
    actor: Actor | undefined,
    action: AuditAction,
    target: AuditTarget,
    metadata?: Facts,
  ): Promise<void> {
    if (actor === undefined) return;
    await this.#options.store.audit.append(this.made(actor, action, target, metadata));
  }

  /** The record of a change, to be written together with the change; none for nobody. */
  made(
    actor: Actor | undefined,
    action: AuditAction,
    target: AuditTarget,
    metadata?: Facts,
  ): readonly NewAuditRecord[] {
    if (actor === undefined) return [];
    const { version, now } = this.#options;
    return [auditRecord(version, now(), actor, action, target, metadata)];
  }

  /** Records a read, with a short delay. */
  note(actor: Actor | undefined, action: AuditAction, target: AuditTarget, metadata?: Facts): void {
    if (actor === undefined) return;
    if (this.#waiting.length >= WAITING_MAX) {
      this.#lostCount++;
      return;
    }
    this.#waiting.push(...this.made(actor, action, target, metadata));
    this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS);
  }

  /** As `note`, for repeated reads such as the tree of a repository: once an hour per actor. */
  noteRepeated(actor: Actor | undefined, action: AuditAction, target: AuditTarget): void {
    if (actor === undefined) return;
    const key = `${actor.id} ${action} ${target.id}`;
    const now = this.#options.now();
    if (now < (this.#repeated.get(key) ?? -Infinity) + HOUR_MS) return;
    this.#repeated.set(key, now);
    this.note(actor, action, target);
  }

  get isWaiting(): boolean {
    return this.#waiting.length > 0;
  }

  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#nextWriting ??= this.#writing.then(() => {
      this.#nextWriting = undefined;
      this.#writing = this.#writeAll();
      return this.#writing;
    });
    await this.#nextWriting;
  }

  async prune(): Promise<void> {
    const { store, now, log } = this.#options;
    const days = this.#options.retentionDays();
    if (days === 0) return;
    try {
      await store.audit.prune(now() - days * DAY_MS);
    } catch (error) {
      log.warn('old audit records could not be removed', { error: String(error) });
    }
  }

  async close(): Promise<void> {
    clearInterval(this.#pruning);
    await this.flush();
    clearTimeout(this.#timer);
    for (const record of this.#waiting.splice(0))
      this.#options.log.error('an audit record could not be written', { record });
  }

  async #writeAll(): Promise<void> {
    const { store, log } = this.#options;
    try {
      while (this.#waiting.length > 0) {
        // A transaction takes about 2 ms in the embedded store.
        const batch = this.#waiting.slice(0, 100);
        await store.audit.append(batch);
        this.#waiting = this.#waiting.slice(batch.length);
      }
    } catch (error) {
      log.warn('audit records could not be written yet', {
        error: String(error),
        waiting: this.#waiting.length,
      });
      this.#timer ??= setTimeout(() => void this.flush(), FLUSH_MS * 10).unref();
    }
    if (this.#lostCount > 0) log.error('audit records were lost', { count: this.#lostCount });
    this.#lostCount = 0;
  }
}

/** Repos in the form of a record. */
export function repoFields(
  repos: readonly { readonly repoId: number; readonly name: string }[],
): Facts {
  const listed = repos.slice(0, LISTED_MAX);
  return {
    repoIds: listed.map(({ repoId }) => repoId),
    repos: listed.map(({ name }) => name),
    repoCount: repos.length,
  };
}

/** Repos in parts that each fit into a record. */
export function inListedParts<Repo>(repos: readonly Repo[]): Repo[][] {
  const count = Math.ceil(repos.length / LISTED_MAX);
  return Array.from({ length: count }, (_, index) =>
    repos.slice(index * LISTED_MAX, (index + 1) * LISTED_MAX),
  );
}

/** @param timestamp  milliseconds since the epoch */
export function auditRecord(
  productVersion: string,
  timestamp: number,
  { id, type, account, clientSource }: Actor,
  action: AuditAction,
  target: AuditTarget,
  metadata?: Facts,
): NewAuditRecord {
  const all = { ...metadata, ...omitUndefined({ account, source: clientSource }) };
  return {
    timestamp,
    action,
    actorId: id,
    actorType: type,
    targetId: target.id,
    targetType: target.type,
    productVersion,
    metadata: Object.keys(all).length === 0 ? null : all,
    orgId: ORG.id,
  };
}

/** Names of those that still exist; a user's is the e-mail address. */
interface AuditNames {
  readonly actorName?: string;
  readonly targetName?: string;
}

/** The records with names, each looked up once. Errors: NOT_READY. */
export async function withNames<Row extends Pick<AuditRecord, keyof AuditIds>>(
  store: Pick<Store, 'users' | 'apiKeys'>,
  rows: readonly Row[],
): Promise<(Row & AuditNames)[]> {
  const cached = new Map<string, string | undefined>();
  const nameOf = async (type: string, id: string): Promise<string | undefined> => {
    const key = `${type} ${id}`;
    if (!cached.has(key)) cached.set(key, await lookUp(store, type, id));
    return cached.get(key);
  };
  const result: (Row & AuditNames)[] = [];
  for (const row of rows) {
    const actorName = await nameOf(row.actorType, row.actorId);
    const targetName = await nameOf(row.targetType, row.targetId);
    result.push({
      ...row,
      ...(actorName !== undefined && { actorName }),
      ...(targetName !== undefined && { targetName }),
    });
  }
  return result;
}

type AuditIds = Pick<AuditRecord, 'actorId' | 'actorType' | 'targetId' | 'targetType'>;

async function lookUp(
  { users, apiKeys }: Pick<Store, 'users' | 'apiKeys'>,
  type: string,
  id: string,
): Promise<string | undefined> {
  if (type === 'user') return (await users.get(id))?.email;
  if (type !== 'api_key') return undefined;
  const key = await apiKeys.get(id);
  const user = key && (await users.get(key.userId));
  return user && `${user.email} (key ${key.name})`;
}
