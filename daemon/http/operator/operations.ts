// All operations of the operator by name, and how one is run. They need no licence and no credential: whoever may
// read the data directory is the operator.

import { z } from 'zod';
import { AccountError } from '../../accounts/error.ts';
import { GRANT_OPERATIONS } from './grants.ts';
import { KEY_OPERATIONS } from './keys.ts';
import { checkedInput, operation, type Operation, type OperatorContext } from './operation.ts';
import { RECORD_OPERATIONS } from './records.ts';
import { REPO_OPERATIONS } from './repos.ts';
import { USER_OPERATIONS } from './users.ts';

const OPERATIONS = {
  /** Tells that the daemon listens. */
  ping: operation(z.strictObject({}), () => Promise.resolve({ ok: true })),
  ...USER_OPERATIONS,
  ...KEY_OPERATIONS,
  ...GRANT_OPERATIONS,
  ...RECORD_OPERATIONS,
  ...REPO_OPERATIONS,
};

type Operations = typeof OPERATIONS;
export type OperationName = keyof Operations;
export type OperationInput<Name extends OperationName> = z.input<Operations[Name]['input']>;
export type OperationOutput<Name extends OperationName> = Awaited<
  ReturnType<Operations[Name]['run']>
>;

/**
 * Runs an operation.
 *
 * Errors: errors with the `errorCode` of the API, NOT_FOUND for an unknown name, INVALID_REQUEST_BODY for a wrong
 * input; their messages are for the operator.
 */
export async function runOperation(
  context: OperatorContext,
  name: string,
  input: unknown,
): Promise<unknown> {
  const all: Readonly<Record<string, Operation<z.ZodType, unknown>>> = OPERATIONS;
  const found = Object.hasOwn(all, name) ? all[name] : undefined;
  if (found === undefined)
    throw new AccountError('NOT_FOUND', `This version has no operation ${name}.`);
  return found.run(context, checkedInput(found.input, input));
}
