// The dependencies that all account services share: store, repos, audit log, secret, clock.

import type { Log } from '../base/log.ts';
import type { RepoDirectory } from '../repos/directory.ts';
import type { Store } from '../store/store.ts';
import type { AuditLog } from './audit-log.ts';

export interface AccountsContext {
  readonly store: Store;
  readonly directory: RepoDirectory;
  readonly auditLog: AuditLog;
  /** Under which credentials are hashed. */
  readonly secret: Buffer;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly log: Log;
}
