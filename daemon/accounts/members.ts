// Members of the instance: list, add, change, remove (API.md 14). Callers authorize; store/users.ts refuses changes that
// exceed the seats or leave no owner.

import type { Role, User, UserChanges } from '../store/users.ts';
import type { Store } from '../store/store.ts';
import { type Actor, type AuditAction, ORG } from './audit-log.ts';
import { type Person, personOf } from './caller.ts';
import type { AccountsContext } from './context.ts';
import { AccountError } from './error.ts';
import type { SignIn } from './sign-in.ts';

interface MembersOptions extends AccountsContext {
  readonly signIn: SignIn;
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
    this.#options.auditLog.note(actor, 'user.list', ORG);
    return users.map(personOf);
  }

  /** @param user  id or e-mail address, as below. Errors: NOT_FOUND. */
  async get(actor: Actor | undefined, user: string): Promise<Person> {
    const found = await this.find(user);
    this.#options.auditLog.note(actor, 'user.read', { id: found.id, type: 'user' });
    return found;
  }

  /** As `get`, without a record. */
  async find(user: string): Promise<Person> {
    return personOf(await userOf(this.#options.store, user));
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
  async change(actor: Actor | undefined, user: string, changes: MemberChanges): Promise<Person> {
    const { store, auditLog, now, seatMax } = this.#options;
    const { suspended, ...others } = changes;
    const before = await userOf(store, user);
    const { id: userId } = before;
    const isSuspended = before.suspendedAt !== null;
    const all: UserChanges = {
      ...others,
      ...(suspended === undefined || suspended === isSuspended
        ? {}
        : { suspendedAt: suspended ? now() : null }),
    };
    const after = await store.users.update(userId, all, { seatMax: seatMax() });
    if (after === undefined) throw noUser(user);
    for (const action of actionsOf(before, after))
      await auditLog.record(actor, action, { id: userId, type: 'user' }, { email: after.email });
    return personOf(after);
  }

  /** Removes the user, whose sessions, keys and tokens end at once. Errors: NOT_FOUND, LAST_OWNER_CANNOT_BE_REMOVED. */
  async remove(actor: Actor | undefined, user: string): Promise<void> {
    const { store, auditLog } = this.#options;
    // Why before: the records need the user's name, which is gone afterwards.
    const { id: userId, email } = await userOf(store, user);
    const keys = await store.apiKeys.list(userId);
    if (!(await store.users.remove(userId))) throw noUser(user);
    for (const { id, name } of keys) {
      const key = { id, type: 'api_key' } as const;
      await auditLog.record(actor, 'api_key.deleted', key, { name, userId, email });
    }
    const target = { id: userId, type: 'user' } as const;
    await auditLog.record(actor, 'user.delete', target, { email });
    await auditLog.record(actor, 'org.member_removed', target, { email });
  }

  /** Removes the links of a user with accounts of identity providers; returns their number. Errors: NOT_FOUND. */
  async unlink(actor: Actor | undefined, user: string): Promise<number> {
    const { store, auditLog } = this.#options;
    const { id: userId } = await userOf(store, user);
    const count = await store.signOnAccounts.unlink(userId);
    if (count > 0)
      await auditLog.record(actor, 'user.unlinked', { id: userId, type: 'user' }, { count });
    return count;
  }
}

function noUser(user: string): AccountError {
  return new AccountError('NOT_FOUND', `There is no user ${user.slice(0, 254)}.`);
}

/** A user by id or by e-mail address. Errors: NOT_FOUND naming it. */
export async function userOf({ users }: Pick<Store, 'users'>, text: string): Promise<User> {
  const user = await (text.includes('@') ? users.byEmail(text) : users.get(text));
  if (user === undefined) throw noUser(text);
  return user;
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
