// Members of the instance: list, add, change, remove (API.md 14). Callers authorize; this file and the store handle seats,
// the last owner and audit records.

import type { Role, User, UserChanges } from '../store/users.ts';
import type { Store } from '../store/store.ts';
import { type Actor, type AuditAction, type AuditLog, ORG } from './audit-log.ts';
import { type Person, personOf } from './caller.ts';
import { AccountError } from './error.ts';
import type { SignIn } from './sign-in.ts';

export interface MembersOptions {
  readonly store: Store;
  readonly signIn: SignIn;
  readonly auditLog: AuditLog;
  readonly now: () => number;
  /** Active members allowed by the licence; undefined: any number. */
  readonly seatMax: () => number | undefined;
}

export interface NewMember {
  readonly email: string;
  readonly name?: string;
  readonly role?: Role;
  /** From SignIn.hashPassword. */
  readonly passwordHash?: string;
}

export interface MemberChanges {
  readonly name?: string;
  readonly role?: Role;
  readonly suspended?: boolean;
  /** Null: the default of the instance. */
  readonly requestsPerDay?: number | 'unlimited' | null;
}

export interface Invited {
  readonly person: Person;
  /** Value of the one-time link to set a password. */
  readonly linkValue: string;
}

export class Members {
  readonly #options: MembersOptions;

  constructor(options: MembersOptions) {
    this.#options = options;
  }

  async list(actor: Actor | undefined): Promise<Person[]> {
    const users = await this.#options.store.users.list();
    this.#options.auditLog.note(actor, 'user.list', { id: '1', type: 'org' });
    return users.map(personOf);
  }

  /** Errors: NOT_FOUND. */
  async get(actor: Actor | undefined, userId: string): Promise<Person> {
    const user = await this.#options.store.users.get(userId);
    if (user === undefined) throw notFound();
    this.#options.auditLog.note(actor, 'user.read', { id: userId, type: 'user' });
    return personOf(user);
  }

  /** Adds a member with a link to set a password. Errors: as `create`. */
  async add(actor: Actor | undefined, member: NewMember): Promise<Invited> {
    const person = await this.create(actor, member);
    return { person, linkValue: await this.#options.signIn.makeLink(person.id) };
  }

  /** Errors: USER_ALREADY_EXISTS, ORG_SEAT_COUNT_REACHED. */
  async create(
    actor: Actor | undefined,
    { email, name, role = 'MEMBER', passwordHash }: NewMember,
  ): Promise<Person> {
    const { store, auditLog, seatMax } = this.#options;
    let user: User;
    try {
      user = await store.users.create(
        { email, name: name ?? null, role, passwordHash: passwordHash ?? null },
        { seatMax: seatMax() },
      );
    } catch (error) {
      await auditLog.record(actor, 'user.creation_failed', ORG);
      throw error;
    }
    const target = { id: user.id, type: 'user' } as const;
    await auditLog.record(actor, 'org.member_added', target, { email: user.email, role });
    return personOf(user);
  }

  /**
   * Errors: NOT_FOUND, LAST_OWNER_CANNOT_BE_DEMOTED, LAST_OWNER_CANNOT_BE_REMOVED (suspended),
   * ORG_SEAT_COUNT_REACHED (restored).
   */
  async change(actor: Actor | undefined, userId: string, changes: MemberChanges): Promise<Person> {
    const { store, auditLog, now, seatMax } = this.#options;
    const { suspended, ...others } = changes;
    const before = await store.users.get(userId);
    if (before === undefined) throw notFound();
    const isSuspended = before.suspendedAt !== null;
    const all: UserChanges = {
      ...others,
      ...(suspended === undefined || suspended === isSuspended
        ? {}
        : { suspendedAt: suspended ? now() : null }),
    };
    const after = await store.users.update(userId, all, { seatMax: seatMax() });
    if (after === undefined) throw notFound();
    for (const action of actionsOf(before, after))
      await auditLog.record(actor, action, { id: userId, type: 'user' }, { email: after.email });
    return personOf(after);
  }

  /** Removes the user, whose sessions, keys and tokens end at once. Errors: NOT_FOUND, LAST_OWNER_CANNOT_BE_REMOVED. */
  async remove(actor: Actor | undefined, userId: string): Promise<void> {
    const { store, auditLog } = this.#options;
    // Why before: the records need the user's name, which is gone afterwards.
    const user = await store.users.get(userId);
    const keys = await store.apiKeys.list(userId);
    if (!(await store.users.remove(userId)) || user === undefined) throw notFound();
    const { email } = user;
    for (const { id, name } of keys)
      await auditLog.record(
        actor,
        'api_key.deleted',
        { id, type: 'api_key' },
        { name, userId, email },
      );
    const target = { id: userId, type: 'user' } as const;
    await auditLog.record(actor, 'user.delete', target, { email });
    await auditLog.record(actor, 'org.member_removed', target, { email });
  }

  /** Removes the links of a user with accounts of identity providers; returns their number. Errors: NOT_READY. */
  async unlink(actor: Actor | undefined, userId: string): Promise<number> {
    const { store, auditLog } = this.#options;
    const count = await store.signOnAccounts.unlink(userId);
    if (count > 0)
      await auditLog.record(actor, 'user.unlinked', { id: userId, type: 'user' }, { count });
    return count;
  }

  /** Errors: NOT_FOUND, naming the address. */
  async byEmail(email: string): Promise<Person> {
    const user = await this.#options.store.users.byEmail(email);
    if (user === undefined) throw new AccountError('NOT_FOUND', `There is no user ${email}.`);
    return personOf(user);
  }
}

function notFound(): AccountError {
  return new AccountError('NOT_FOUND', 'There is no such user.');
}

function actionsOf(before: User, after: User): AuditAction[] {
  const actions: AuditAction[] = [];
  if (before.role !== after.role)
    actions.push(
      after.role === 'OWNER' ? 'org.member_promoted_to_owner' : 'org.owner_demoted_to_member',
    );
  if ((before.suspendedAt === null) !== (after.suspendedAt === null))
    actions.push(after.suspendedAt === null ? 'org.member_reactivated' : 'org.member_deactivated');
  return actions;
}
