// Members of the instance: list, add, change, remove (API.md 14). Callers authorize; store/users.ts refuses changes that
// exceed the seats or leave no owner.

import type { NewAuditRecord } from '../store/audit.ts';
import type { RemovalRecords, Role, User, UserChanges } from '../store/users.ts';
import type { Store } from '../store/store.ts';
import { type Actor, type AuditAction, ORG, userTarget } from './audit-log.ts';
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
    this.#options.auditLog.note(actor, 'user.read', userTarget(found));
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
    const recordsOf = (user: User): readonly NewAuditRecord[] =>
      auditLog.made(actor, 'org.member_added', userTarget(user), { email: user.email, role });
    try {
      const user = await store.users.create(
        { email, name: name ?? null, role, passwordHash: passwordHash ?? null },
        { seatMax: seatMax(), recordsOf },
      );
      return personOf(user);
    } catch (error) {
      await auditLog.record(actor, 'user.creation_failed', ORG);
      throw error;
    }
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
    const after = await store.users.update(userId, all, {
      seatMax: seatMax(),
      recordsOf: (updated, former) =>
        actionsOf(former, updated).flatMap((action) =>
          auditLog.made(actor, action, userTarget(updated), { email: updated.email }),
        ),
    });
    if (after === undefined) throw noUser(user);
    return personOf(after);
  }

  /** Removes the user, whose sessions, keys and tokens end at once. Errors: NOT_FOUND, LAST_OWNER_CANNOT_BE_REMOVED. */
  async remove(actor: Actor | undefined, user: string): Promise<void> {
    const { store, auditLog } = this.#options;
    const { id: userId, email } = await userOf(store, user);
    const target = userTarget({ id: userId });
    const recordsOf: RemovalRecords = (_, keys) => [
      ...keys.flatMap(({ id, name }) =>
        auditLog.made(actor, 'api_key.deleted', { id, type: 'api_key' }, { name, userId, email }),
      ),
      ...auditLog.made(actor, 'user.delete', target, { email }),
      ...auditLog.made(actor, 'org.member_removed', target, { email }),
    ];
    if (!(await store.users.remove(userId, recordsOf))) throw noUser(user);
  }

  /** Removes the links of a user with accounts of identity providers; returns their number. Errors: NOT_FOUND. */
  async unlink(actor: Actor | undefined, user: string): Promise<number> {
    const { store, auditLog } = this.#options;
    const { id: userId } = await userOf(store, user);
    return store.signOnAccounts.unlink(userId, (count) =>
      auditLog.made(actor, 'user.unlinked', userTarget({ id: userId }), { count }),
    );
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
