// All operations of the operator by name, and what runs them. They need no licence and no credential: whoever may
// read the data directory is the operator.

import { z } from 'zod';
import { operatorUnder } from '../../accounts/audit-trail.ts';
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
  /** Tells that the daemon listens. */
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

/** What has operations and backups done: in this process, or in the daemon behind a socket. */
export interface Desk {
  /**
   * Runs an operation.
   *
   * @param account  of the operating system, as the command says it
   *
   * Errors: errors with the `errorCode` of the API, NOT_FOUND for an unknown name, INVALID_REQUEST_BODY for a wrong
   * input; their messages are for the operator.
   */
  run(name: string, input: unknown, account: string | undefined): Promise<unknown>;
  /** The bytes of a backup; it ends early when the signal is given. Errors: as `run`. */
  backup(input: unknown, signal: AbortSignal): AsyncIterable<Uint8Array>;
}

/** The desk of an instance that is open here. */
export function deskOf(instance: Omit<OperatorContext, 'actor'>, source: BackupSource): Desk {
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
      // Why here: it would take each start some 15 ms.
      const { backupInput, makeBackup } = await import('../../backup/make.ts');
      yield* makeBackup(source, checkedInput(backupInput, input), signal);
    },
  };
}
