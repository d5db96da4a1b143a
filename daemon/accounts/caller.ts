// Who is calling, as the endpoints and the checks before them see it.

import type { Sight } from '../repos/sight.ts';
import type { Role, User } from '../store/users.ts';

/**
 * How a caller is known. `guest`: anonymous access; `local`: nobody has an account yet and the daemon listens
 * on loopback only, so whoever is at the machine may read what is not hidden.
 */
export type CallerSource =
  'session' | 'api_key' | 'scoped_access_token' | 'oauth' | 'guest' | 'local';

/** A user without what proves who it is. */
export type Person = Omit<User, 'passwordHash'>;

/** Without what is secret. */
export function personOf(user: User): Person {
  const { passwordHash: _, ...person } = user;
  return person;
}

export interface Caller {
  readonly source: CallerSource;
  /** Absent for guests and local callers. */
  readonly person?: Person;
  /** Absent for guests and local callers. */
  readonly role?: Role;
  /** Id of the API key or scoped token, or of what a user lets an OAuth client do. */
  readonly credentialId?: string;
  /** Hash of the session's value. */
  readonly sessionHash?: string;
  readonly sight: Sight;
}

/** Is the caller a program: does it count against the limit of its user? */
export function isProgrammatic({ source }: Caller): boolean {
  return source === 'api_key' || source === 'scoped_access_token' || source === 'oauth';
}

/** May this caller use what is for owners? A scoped token never may, whoever made it. */
export function hasOwnerRole(caller: Caller | undefined): boolean {
  return caller?.role === 'OWNER' && caller.source !== 'scoped_access_token';
}

/** Whether requests come from a browser that may send them on behalf of another page. */
export function isFromBrowser({ source }: Caller): boolean {
  return source === 'session' || source === 'local';
}
