// All operations of the operator by name, and the code that runs them. They need no licence and no credential: whoever
// can read the data directory is the operator.

import { z } from 'zod';
import { operatorUnder } from '../../accounts/audit-log.ts';
import { AccountError } from '../../accounts/error.ts';
import type { BackupSource } from '../../backup/make.ts';
import { GRANT_OPERATIONS } from './grant-operations.ts';
import { KEY_OPERATIONS } from './key-operations.ts';
import { checkedInput, operation, type Operation, type OperatorContext } from './operation.ts';
import { RECORD_OPERATIONS } from './record-operations.ts';
import { REPO_OPERATIONS } from './repo-operations.ts';
import { STATUS_OPERATIONS } from './status-operations.ts';
import { USER_OPERATIONS } from './user-operations.ts';

const OPERATIONS = {
  /** Shows that the daemon listens. */
  ping: operation(z.strictObject({}), () => Promise.resolve({ ok: true })),
  ...USER_OPERATIONS,
  ...KEY_OPERATIONS,
  ...GRANT_OPERATIONS,
  ...RECORD_OPERATIONS,
  ...REPO_OPERATIONS,
  ...STATUS_OPERATIONS,
};

type Operations = typeof OPERATIONS;
export type OperationName = keyof Operations;
export type OperationInput<Name extends OperationName> = z.input<Operations[Name]['input']>;
export type OperationOutput<Name extends OperationName> = Awaited<
  ReturnType<Operations[Name]['run']>
>;

/** Runs operations and backups: in this process, or in the daemon behind the socket. */
export interface OperatorApi {
  /**
   * Runs an operation.
   *
   * @param account  operating-system account, as reported by the command
   *
   * Errors: errors with the `errorCode` of the API, NOT_FOUND for an unknown name, INVALID_REQUEST_BODY for a wrong
   * input; their messages are for the operator.
   */
  run(name: string, input: unknown, account: string | undefined): Promise<unknown>;
  /** The bytes of a backup; the signal cancels it. Errors: as `run`. */
  backup(input: unknown, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** For an instance that is open in this process. */
export function operatorApiOf(
  instance: Omit<OperatorContext, 'actor'>,
  source: BackupSource,
): OperatorApi {
  return {
    async run(name, input, account) {
      const all: Readonly<Record<string, Operation<z.ZodType, unknown>>> = OPERATIONS;
      const found = Object.hasOwn(all, name) ? all[name] : undefined;
      if (found === undefined)
        throw new AccountError('NOT_FOUND', `This version has no operation ${name}.`);
      const context = { ...instance, actor: operatorUnder(account) };
      return found.run(context, checkedInput(found.input, input));
    },
    async *backup(input, signal) {
      // Why here: it would add some 15 ms to each start.
      const { backupInput, makeBackup } = await import('../../backup/make.ts');
      yield* makeBackup(source, checkedInput(backupInput, input), signal);
    },
  };
}
