// What the operator's endpoints need besides the accounts; by app/main.ts, or without a daemon app/offline.ts.

import type { Actor } from '../../accounts/audit-log.ts';
import type { Enforcement, RepoRecord, Visibility } from '../../repos/records.ts';
import type { StatusSource } from './status-report.ts';

export interface RepoRule extends Pick<RepoRecord, 'repoId' | 'name' | 'visibility'> {
  readonly enforcement: Enforcement;
  readonly location?: { readonly path: string };
  /** Why its last job failed; absent: it did not, or no daemon runs. */
  readonly failure?: string | undefined;
  /** Absent: no daemon runs. */
  readonly isServed?: boolean;
  /** A connection lists it. */
  readonly isListed: boolean;
  /** Of a shared store, and not in the index of this data directory: another daemon may serve it. */
  readonly isElsewhere: boolean;
  /** ISO 8601; absent: never. */
  readonly indexedAt?: string;
}

/** Absent members stay. */
export interface RuleChange {
  readonly visibility?: Exclude<Visibility, 'unknown'>;
  readonly enforcement?: Enforcement;
}

export interface RepoRules {
  /** Including those without an index. */
  list(): readonly RepoRule[];
  /** In effect when it resolves; recorded with it. Errors: NOT_READY. */
  change(repoIds: ReadonlySet<number>, change: RuleChange, actor: Actor): Promise<void>;
  /**
   * Only those that are neither served nor listed nor elsewhere, and whose job ends within 10 s. Recorded.
   * Errors: NOT_READY; those of the disk.
   */
  remove(repoIds: ReadonlySet<number>, actor: Actor): Promise<void>;
}

export interface OperatorService {
  readonly rules: RepoRules;
  /** Undefined: no daemon runs. */
  readonly status: StatusSource | undefined;
  /** The bytes of a backup with or without shards; the signal cancels it. Without a passphrase secrets are left out. */
  backup(
    input: { readonly withIndex: boolean; readonly passphrase?: string },
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array>;
}
