// Runs operations for the operator: through the socket of the daemon that owns the data directory, or without a daemon
// on the store itself. Waits for a daemon that is starting or stopping.

import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { BackupInput } from '../backup/make.ts';
import type { Configuration } from '../base/config/configuration.ts';
import { findControlPath } from '../base/config/control-path.ts';
import type { Offline } from '../app/offline.ts';
import type {
  OperatorApi,
  OperationInput,
  OperationName,
  OperationOutput,
} from '../api/operator/operations.ts';
import type { LockedError } from '../index/catalog/lock.ts';
import { createLog } from '../base/log.ts';
import { operatorApiAt, NoDaemonError } from './control-client.ts';
import { UsageError } from './errors.ts';
import { systemAccount } from './system-account.ts';

/** A daemon takes the lock a moment before it listens, and releases it a moment after it stops. */
const WAIT_MS = 5_000;
const PAUSE_MS = 50;

/** Runs operations, whether or not the daemon runs. */
export class Operator {
  readonly #configuration: Configuration;
  #opened: Offline;

  constructor(configuration: Configuration, opened: Offline) {
    this.#configuration = configuration;
    this.#opened = opened;
  }

  /** Errors: refusals of the operation, with a message for people. */
  async call<Name extends OperationName>(
    name: Name,
    input: OperationInput<Name>,
  ): Promise<OperationOutput<Name>> {
    const account = systemAccount();
    const run = (): Promise<unknown> => this.#opened.operatorApi.run(name, input, account);
    const output = await run().catch(async (error: unknown) => {
      if (!(error instanceof NoDaemonError)) throw error;
      // The daemon has stopped since it was found.
      this.#opened = await reach(this.#configuration);
      return run();
    });
    // Safety: what the operation of this name gives; that of a daemon is of the same version.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return output as OperationOutput<Name>;
  }

  /** The bytes of a backup. */
  backup(input: BackupInput): AsyncIterable<Uint8Array> {
    return this.#opened.operatorApi.backup(input, new AbortController().signal);
  }

  close(): Promise<void> {
    return this.#opened.close();
  }
}

/**
 * Opens the operator.
 *
 * @param isMaking  creates the data directory if it is missing
 *
 * Errors: UsageError if there is no data directory, or its owner accepts no commands; those of openOffline.
 */
export async function openOperator(
  configuration: Configuration,
  isMaking: boolean,
): Promise<Operator> {
  const { dataDir } = configuration;
  if (!isMaking && !existsSync(dataDir))
    throw new UsageError(
      `there is no data directory ${dataDir}; run this in the folder where Trawl was started, or name its data directory with --data-dir`,
    );
  return new Operator(configuration, await reach(configuration));
}

/** The operations of the daemon, or without a daemon of the opened data directory. */
async function reach(configuration: Configuration): Promise<Offline> {
  const { dataDir } = configuration;
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const operatorApi = operatorApiAt(findControlPath(dataDir));
    if (await isThere(operatorApi)) return { operatorApi, close: () => Promise.resolve() };
    const opened = await tryOpen(configuration);
    if (!(opened instanceof Error)) return opened;
    if (Date.now() > end)
      throw new UsageError(
        `${opened.fact}, which accepts no commands; try again when it has exited`,
        {
          cause: opened,
        },
      );
    await setTimeout(PAUSE_MS);
  }
}

/** The opened data directory; an error: it is locked. */
async function tryOpen(configuration: Configuration): Promise<Offline | LockedError> {
  // Why only now: the store loads much code that is not needed if a daemon runs.
  const { openOffline } = await import('../app/offline.ts');
  const lock = await import('../index/catalog/lock.ts');
  try {
    return await openOffline(configuration, createLog(configuration.log));
  } catch (error) {
    if (error instanceof lock.LockedError) return error;
    throw error;
  }
}

async function isThere(operatorApi: OperatorApi): Promise<boolean> {
  try {
    await operatorApi.run('ping', {}, undefined);
    return true;
  } catch (error) {
    if (error instanceof NoDaemonError) return false;
    throw error;
  }
}
