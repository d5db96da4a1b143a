// Runs what the operator asks for: through the socket of the daemon that owns the data directory, or, where none runs,
// on the store itself. A daemon that is just starting or stopping is waited for.

import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { BackupInput } from '../backup/make.ts';
import type { Configuration } from '../base/config/configuration.ts';
import { findControlPath } from '../base/config/control-path.ts';
import type { Offline } from '../offline.ts';
import type {
  OperationInput,
  OperationName,
  OperationOutput,
} from '../http/operator/operations.ts';
import type { LockedError } from '../sync/lock.ts';
import { createLog } from '../base/log.ts';
import { callControl, callOperation, NoDaemonError } from './control-client.ts';
import { UsageError } from './errors.ts';
import { systemAccount } from './system-account.ts';

/** Does what the operator of an instance may do, whether or not its daemon runs. */
export interface Operator {
  /** Errors: what the operation refuses, with a message for people. */
  call<Name extends OperationName>(
    name: Name,
    input: OperationInput<Name>,
  ): Promise<OperationOutput<Name>>;
  /** The bytes of a backup. */
  backup(input: BackupInput): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

/** A daemon takes the lock a moment before it listens, and gives it back a moment after. */
const WAIT_MS = 5_000;
const PAUSE_MS = 50;

/**
 * Opens the way to the store.
 *
 * @param isMaking  the data directory is made if it is missing
 *
 * Errors: UsageError if there is no data directory, or its owner takes no commands; those of openOffline.
 */
export async function openOperator(
  configuration: Configuration,
  isMaking: boolean,
): Promise<Operator> {
  const { dataDir } = configuration;
  if (!isMaking && !existsSync(dataDir))
    throw new UsageError(`there is no data directory ${dataDir}; --data-dir names another one`);
  const reached = await reach(configuration);
  return typeof reached === 'string' ? throughSocket(reached) : inProcess(reached, configuration);
}

/** The path of the socket of a daemon, or the data directory opened. */
async function reach(configuration: Configuration): Promise<string | Offline> {
  const { dataDir } = configuration;
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const socketPath = findControlPath(dataDir);
    if (await isListening(socketPath)) return socketPath;
    const opened = await tryOpen(configuration);
    if (!(opened instanceof Error)) return opened;
    if (Date.now() > end)
      throw new UsageError(`${opened.fact}, which takes no commands; try again when it is done`, {
        cause: opened,
      });
    await setTimeout(PAUSE_MS);
  }
}

/** The data directory opened; an error: somebody has it. */
async function tryOpen(configuration: Configuration): Promise<Offline | LockedError> {
  // Why only now: with the store comes much that a command has no use for where a daemon runs.
  const { openOffline } = await import('../offline.ts');
  const lock = await import('../sync/lock.ts');
  try {
    return await openOffline(configuration, createLog(configuration.log));
  } catch (error) {
    if (error instanceof lock.LockedError) return error;
    throw error;
  }
}

async function isListening(socketPath: string): Promise<boolean> {
  try {
    await callOperation(socketPath, 'ping', {});
    return true;
  } catch (error) {
    if (error instanceof NoDaemonError) return false;
    throw error;
  }
}

function throughSocket(socketPath: string): Operator {
  return {
    async call<Name extends OperationName>(name: Name, input: OperationInput<Name>) {
      const output = await callOperation(socketPath, name, Object(input));
      // Safety: the daemon runs the operation of this name, of the same version.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return output as OperationOutput<Name>;
    },
    async *backup(input) {
      const response = await callControl(socketPath, 'backup', input);
      for await (const part of response) yield Buffer.from(part);
    },
    close: () => Promise.resolve(),
  };
}

function inProcess(offline: Offline, configuration: Configuration): Operator {
  const account = systemAccount();
  return {
    async call<Name extends OperationName>(name: Name, input: OperationInput<Name>) {
      const { runOperation } = await import('../http/operator/operations.ts');
      const { operatorUnder } = await import('../accounts/audit-trail.ts');
      const context = { ...offline, actor: operatorUnder(account) };
      // Safety: as it would come from a daemon.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      return (await runOperation(context, name, input)) as OperationOutput<Name>;
    },
    async *backup(input) {
      const { backupInput, makeBackup } = await import('../backup/make.ts');
      const { checkedInput } = await import('../http/operator/operation.ts');
      const { backupSource } = await import('../backup/source.ts');
      const source = backupSource(configuration, offline.catalog, offline.control.store);
      const { signal } = new AbortController();
      yield* makeBackup(source, checkedInput(backupInput, input), signal);
    },
    close: () => offline.close(),
  };
}
