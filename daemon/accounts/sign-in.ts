// Sign-in of people with a browser: the one-time link that creates the first owner or sets a password, sign-in with e-mail
// and password, sessions, and sign-out (API.md 4.8, 15.1, 21.1).

import { DAY_MS } from '../base/durations.ts';
import { omitUndefined } from '../base/omit-undefined.ts';
import type { NewAuditRecord } from '../store/audit.ts';
import { StoreError } from '../store/error.ts';
import type { User } from '../store/users.ts';
import { type Actor, type AuditAction, userTarget } from './audit-log.ts';
import { type Person, personOf } from './caller.ts';
import type { AccountsContext } from './context.ts';
import { hashCredential, makeSecretValue, SESSION_MS } from './credentials.ts';
import { AccountError } from './error.ts';
import {
  isPasswordAllowed,
  PASSWORD_LENGTH_MAX,
  PASSWORD_LENGTH_MIN,
  Passwords,
} from './passwords.ts';
import { SignInLimiter, type SignInOutcome } from './sign-in-limiter.ts';

interface SignInOptions extends AccountsContext {
  readonly isPasswordLoginAllowed: () => boolean;
}

/** A new session: its value is only in the cookie. */
export interface SignedIn {
  readonly person: Person;
  readonly sessionValue: string;
}

export interface SetupRequest {
  readonly token: string;
  readonly email: string;
  readonly name: string;
  readonly password: string;
}

/** Purpose of a one-time link: create the first owner, or set a user's password. */
export type LinkView =
  { readonly kind: 'setup' } | { readonly kind: 'invitation'; readonly email: string };

export interface LoginRequest {
  readonly email: string;
  readonly password: string;
  readonly address: string;
  readonly clientSource?: string;
}

const WRONG_CREDENTIALS = 'The e-mail address or the password is wrong.';
const WRONG_TOKEN = 'This link is not valid, was used already, or is too old.';

export class SignIn {
  readonly #options: SignInOptions;
  readonly #passwords = new Passwords();
  readonly #limiter = new SignInLimiter();

  constructor(options: SignInOptions) {
    this.#options = options;
  }

  /**
   * Creates a one-time link and returns its value.
   *
   * @param userId  whose password it sets; null: it creates the first owner, and earlier such links are void
   */
  async makeLink(userId: string | null): Promise<string> {
    const { store, secret, now } = this.#options;
    const value = makeSecretValue();
    const createdAt = now();
    const expiresAt = userId === null ? null : createdAt + 7 * DAY_MS;
    if (userId === null) await store.setupLinks.removeFirstOwnerLinks();
    const hash = hashCredential(secret, value);
    await store.setupLinks.create({ hash, userId, createdAt, expiresAt });
    return value;
  }

  /** Purpose of a one-time link; undefined: unknown, used, expired, or of a suspended user. Errors: NOT_READY. */
  async linkOf(token: string): Promise<LinkView | undefined> {
    const { store, secret, now } = this.#options;
    const link = await store.setupLinks.find(hashCredential(secret, token), now());
    if (link === undefined) return undefined;
    if (link.userId === null) return { kind: 'setup' };
    const user = await store.users.get(link.userId);
    return user?.suspendedAt === null ? { kind: 'invitation', email: user.email } : undefined;
  }

  /**
   * Uses a one-time link: creates the first owner, or sets password and name of its active user, whose other links end. If
   * that is not stored, the link stays valid.
   * Errors: INVALID_CREDENTIALS; INVALID_REQUEST_BODY for a password of the wrong length;
   * SERVER_OVERLOADED; NOT_READY.
   */
  async setUp({ token, email, name, password }: SetupRequest): Promise<SignedIn> {
    const { store, secret, now } = this.#options;
    checkNewPassword(password, 'password');
    const link = { hash: hashCredential(secret, token), now: now() };
    // Why first: a request without a link must cost no more than a query of the store.
    const found = await store.setupLinks.find(link.hash, link.now);
    if (found === undefined) throw new AccountError('INVALID_CREDENTIALS', WRONG_TOKEN);
    const { userId } = found;
    const passwordHash = await this.#passwords.hash(password);
    try {
      const user =
        userId === null
          ? await store.users.create(
              { email, name, role: 'OWNER', passwordHash },
              { link, recordsOf: this.#recordsOf('user.owner_created') },
            )
          : await store.users.update(
              userId,
              { passwordHash, name },
              { link, recordsOf: this.#recordsOf('user.signed_in') },
            );
      if (user !== undefined) return await this.#begin(user);
    } catch (error) {
      if (!(error instanceof StoreError) || error.errorCode !== 'NOT_FOUND') throw error;
    }
    throw new AccountError('INVALID_CREDENTIALS', WRONG_TOKEN);
  }

  #recordsOf(action: AuditAction): (user: User) => readonly NewAuditRecord[] {
    return (user) => this.#options.auditLog.made(userActor(user), action, userTarget(user));
  }

  /**
   * Errors: EMAIL_LOGIN_DISABLED; TOO_MANY_SIGN_IN_ATTEMPTS; INVALID_CREDENTIALS, after the same time whether the user is
   * unknown or the password wrong; SERVER_OVERLOADED; NOT_READY.
   */
  async logIn({ email, password, address, clientSource }: LoginRequest): Promise<SignedIn> {
    const { store, auditLog } = this.#options;
    if (!this.#options.isPasswordLoginAllowed())
      throw new AccountError('EMAIL_LOGIN_DISABLED', 'Sign-in by password is switched off.');
    const user = await this.#checked(email, address, password, async () => {
      const existing = await store.users.byEmail(email);
      return existing?.suspendedAt === null ? existing : undefined;
    });
    if (user === undefined) {
      await this.#noteFailure(email, clientSource);
      throw new AccountError('INVALID_CREDENTIALS', WRONG_CREDENTIALS);
    }
    const signedIn = await this.#begin(user);
    await this.#checkStill(user, signedIn);
    await auditLog.record(userActor(user, clientSource), 'user.signed_in', userTarget(user));
    return signedIn;
  }

  /**
   * Starts a session of a user identified by an identity provider.
   * Errors: NOT_FOUND: the user is no longer active; NOT_READY.
   */
  async signOn(user: User, provider: string): Promise<SignedIn> {
    const signedIn = await this.#begin(user);
    const target = userTarget(user);
    await this.#options.auditLog.record(userActor(user), 'user.signed_in', target, { provider });
    return signedIn;
  }

  /** The person uses a session at this address: failures of others there do not lock it out. */
  noteKnownAddress(person: Person, address: string): void {
    this.#limiter.noteKnownAddress({ email: person.email, address });
  }

  async logOut(person: Person, sessionHash: string, actor: Actor | undefined): Promise<void> {
    await this.#options.store.sessions.remove(sessionHash);
    await this.#options.auditLog.record(actor, 'user.signed_out', userTarget(person));
  }

  /**
   * Changes the password of a signed-in user, and ends the other sessions and the links.
   * Errors: INVALID_CREDENTIALS if the current one is wrong, or was replaced meanwhile; INVALID_REQUEST_BODY for a new one of
   * the wrong length; TOO_MANY_SIGN_IN_ATTEMPTS; SERVER_OVERLOADED; NOT_READY.
   */
  async changePassword(
    person: Person,
    sessionHash: string,
    change: {
      readonly currentPassword: string;
      readonly newPassword: string;
      readonly address: string;
    },
  ): Promise<void> {
    const { store } = this.#options;
    const { currentPassword, newPassword, address } = change;
    checkNewPassword(newPassword, 'newPassword');
    const user = await this.#checked(person.email, address, currentPassword, () =>
      store.users.get(person.id),
    );
    const changed =
      user &&
      (await store.users.update(
        user.id,
        { passwordHash: await this.hashPassword(newPassword) },
        { passwordHash: user.passwordHash, sessionHash },
      ));
    if (changed === undefined)
      throw new AccountError('INVALID_CREDENTIALS', 'The current password is wrong.');
  }

  /**
   * Sets a password without the old one, and ends all sessions and links.
   * Errors: INVALID_REQUEST_BODY for one of the wrong length; NOT_READY.
   */
  async setPassword(userId: string, password: string): Promise<void> {
    const { store } = this.#options;
    await store.users.update(userId, { passwordHash: await this.hashPassword(password) });
  }

  /** The stored form of a password. Errors: INVALID_REQUEST_BODY for one of the wrong length; SERVER_OVERLOADED. */
  async hashPassword(password: string): Promise<string> {
    checkNewPassword(password, 'password');
    return this.#passwords.hash(password);
  }

  /**
   * The user from `find`, if the password matches; within the limit of failures for e-mail and address.
   * Errors: TOO_MANY_SIGN_IN_ATTEMPTS; SERVER_OVERLOADED; NOT_READY.
   */
  async #checked(
    email: string,
    address: string,
    password: string,
    find: () => Promise<User | undefined>,
  ): Promise<User | undefined> {
    const { now } = this.#options;
    const attempt = { email, address };
    const waitSeconds = this.#limiter.begin(attempt, now());
    if (waitSeconds > 0) {
      throw new AccountError(
        'TOO_MANY_SIGN_IN_ATTEMPTS',
        `Too many failed sign-ins. Try again in ${waitSeconds} seconds.`,
        waitSeconds,
      );
    }
    let outcome: SignInOutcome = 'abandoned';
    try {
      const user = await find();
      const fits = await this.#passwords.verify(user?.passwordHash, password);
      outcome = fits ? 'succeeded' : 'failed';
      return fits ? user : undefined;
    } finally {
      this.#limiter.end(attempt, outcome, now());
    }
  }

  /** Why: the password may have been changed during the check, which ended only the existing sessions. */
  async #checkStill({ id, passwordHash }: User, { sessionValue }: SignedIn): Promise<void> {
    const { store, secret } = this.#options;
    if ((await store.users.get(id))?.passwordHash === passwordHash) return;
    await store.sessions.remove(hashCredential(secret, sessionValue));
    throw new AccountError('INVALID_CREDENTIALS', WRONG_CREDENTIALS);
  }

  async #noteFailure(email: string, clientSource: string | undefined): Promise<void> {
    const { store, auditLog } = this.#options;
    const user = await store.users.byEmail(email);
    if (user === undefined) return;
    auditLog.note(userActor(user, clientSource), 'user.sign_in_failed', userTarget(user));
  }

  async #begin(user: User): Promise<SignedIn> {
    const { store, secret, now } = this.#options;
    const sessionValue = makeSecretValue();
    const createdAt = now();
    await store.sessions.create({
      hash: hashCredential(secret, sessionValue),
      userId: user.id,
      createdAt,
      expiresAt: createdAt + SESSION_MS,
    });
    return { person: personOf(user), sessionValue };
  }
}

/** Errors: INVALID_REQUEST_BODY naming the field. */
export function checkNewPassword(password: string, field: string): void {
  if (isPasswordAllowed(password)) return;
  throw new AccountError(
    'INVALID_REQUEST_BODY',
    `${field}: a password has ${PASSWORD_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`,
  );
}

function userActor({ id }: User, clientSource?: string): Actor {
  return { id, type: 'user', ...omitUndefined({ clientSource }) };
}
