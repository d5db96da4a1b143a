// An operation of the operator: a validated JSON input, a JSON output, and its work on the accounts. The command line
// runs it on the store itself or has the daemon run it; both do the same.

import { z } from 'zod';
import type { Accounts } from '../../accounts/accounts.ts';
import type { Actor } from '../../accounts/audit-log.ts';
import { AccountError } from '../../accounts/error.ts';
import type { StoredRepo } from '../../store/repos.ts';
import type { StatusSource } from './status-report.ts';
import type { RepoChange } from '../../index/register/change-repo.ts';

/** A repository as the operator sees it. */
export interface RepoRule extends StoredRepo {
  /** Why its last job failed; absent: it did not, or no daemon runs. */
  readonly failure?: string | undefined;
  /** Absent: no daemon runs. */
  readonly isServed?: boolean;
  /** A connection lists it. */
  readonly isListed: boolean;
  /** ISO 8601; absent: never. */
  readonly indexedAt?: string;
}

export interface RepoRules {
  /** Including those without an index. */
  list(): readonly RepoRule[];
  /** In effect when it resolves; recorded with it. Errors: NOT_READY. */
  change(repoIds: ReadonlySet<number>, change: RepoChange, actor: Actor): Promise<void>;
  /**
   * Removes repos that are neither served nor listed, with index, grants and mirror. Recorded.
   * Errors: NOT_READY; those of the disk.
   */
  remove(repoIds: ReadonlySet<number>, actor: Actor): Promise<void>;
}

/** What operations work on, and the operator's account. */
export interface OperatorContext {
  readonly actor: Actor;
  readonly accounts: Accounts;
  readonly repos: RepoRules;
  /** Absent: no daemon runs. */
  readonly status?: StatusSource;
  /** Public address of the daemon, without trailing slash. */
  readonly baseUrl: string;
}

export interface Operation<Schema extends z.ZodType, Output> {
  readonly input: Schema;
  readonly run: (context: OperatorContext, input: z.output<Schema>) => Promise<Output>;
}

export function operation<Schema extends z.ZodType, Output>(
  input: Schema,
  run: (context: OperatorContext, input: z.output<Schema>) => Promise<Output>,
): Operation<Schema, Output> {
  return { input, run };
}

/** Input members that select a part of a long list. */
export const pageWindow = { offset: z.int().min(0), limit: z.int().min(1).max(5_000) };

/** Input members whose value never appears in a message. */
const SECRET_MEMBERS: readonly PropertyKey[] = ['password', 'key', 'passphrase', 'secret'];

/**
 * The validated input.
 *
 * Errors: INVALID_REQUEST_BODY naming each wrong member and, unless it is secret, its value.
 */
export function checkedInput<Schema extends z.ZodType>(
  schema: Schema,
  input: unknown,
): z.output<Schema> {
  const result = schema.safeParse(input, { reportInput: true });
  if (result.success) return result.data;
  const texts = result.error.issues.map(({ path, message, input: value }) => {
    const isSecret = path.some((member) => SECRET_MEMBERS.includes(member));
    const quoted = isSecret || value === undefined ? '' : ` ${JSON.stringify(value)}`;
    return `${path.join('.')}${quoted}: ${message}`;
  });
  throw new AccountError('INVALID_REQUEST_BODY', texts.join('; '));
}
