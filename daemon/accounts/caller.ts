// The caller of a request, as endpoints and earlier checks see it.

import { type RepoAccess, SEES_ALL } from '../repos/repo-access.ts';
import type { Role, User } from '../store/users.ts';

/**
 * How a caller was identified. `guest`: anonymous access; `local`: nobody has an account yet and the daemon listens only on
 * loopback, so users of the machine may read what is not hidden; `operator`: a command on the machine of the data directory.
 */
export type CallerSource =
  'session' | 'api_key' | 'scoped_access_token' | 'oauth' | 'guest' | 'local' | 'operator';

/** A user without secrets. */
export type Person = Omit<User, 'passwordHash'>;

export function personOf(user: User): Person {
  const { passwordHash: _, ...person } = user;
  return person;
}

export interface Caller {
  readonly source: CallerSource;
  /** Absent for guests, local callers and the operator. */
  readonly person?: Person;
  /** Absent for guests and local callers. */
  readonly role?: Role;
  /** Operating-system account of the operator, as reported by the command. */
  readonly account?: string | undefined;
  /** Id of the API key or scoped token, or of an OAuth consent. */
  readonly credentialId?: string;
  /** Hash of the session's value. */
  readonly sessionHash?: string;
  readonly repoAccess: RepoAccess;
}

/** The operator: whoever can open the control socket, or lock the data directory. */
export function operatorCaller(account: string | undefined): Caller {
  return { source: 'operator', role: 'OWNER', repoAccess: SEES_ALL, account };
}

/** Whether the caller is a program, whose requests count against its user's limit. */
export function isProgrammatic({ source }: Caller): boolean {
  return source === 'api_key' || source === 'scoped_access_token' || source === 'oauth';
}

/** Whether the caller has an owner's rights. A scoped token never has, whoever made it. */
export function hasOwnerRole(caller: Caller | undefined): boolean {
  return caller?.role === 'OWNER' && caller.source !== 'scoped_access_token';
}

/** Whether requests come from a browser that may send them on behalf of another page. */
export function isFromBrowser({ source }: Caller): boolean {
  return source === 'session' || source === 'local';
}
