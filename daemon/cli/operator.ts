// Runs what the operator asks for: through the socket of the daemon that owns the data directory, or, where none runs,
// on the store itself. A daemon that is just starting or stopping is waited for.

import { existsSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { BackupInput } from '../backup/make.ts';
import type { Configuration } from '../base/config/configuration.ts';
import { findControlPath } from '../base/config/control-path.ts';
import type { Offline } from '../app/offline.ts';
import type {
  Desk,
  OperationInput,
  OperationName,
  OperationOutput,
} from '../api/operator/operations.ts';
import type { LockedError } from '../index/catalog/lock.ts';
import { createLog } from '../base/log.ts';
import { deskBehind, NoDaemonError } from './control-client.ts';
import { UsageError } from './errors.ts';
import { systemAccount } from './system-account.ts';

/** A daemon takes the lock a moment before it listens, and gives it back a moment after. */
const WAIT_MS = 5_000;
const PAUSE_MS = 50;

/** Does what the operator of an instance may do, whether or not its daemon runs. */
export class Operator {
  readonly #configuration: Configuration;
  #opened: Offline;

  constructor(configuration: Configuration, opened: Offline) {
    this.#configuration = configuration;
    this.#opened = opened;
  }

  /** Errors: what the operation refuses, with a message for people. */
  async call<Name extends OperationName>(
    name: Name,
    input: OperationInput<Name>,
  ): Promise<OperationOutput<Name>> {
    const account = systemAccount();
    const run = (): Promise<unknown> => this.#opened.desk.run(name, input, account);
    const output = await run().catch(async (error: unknown) => {
      if (!(error instanceof NoDaemonError)) throw error;
      // The daemon has stopped since it was asked whether it is there.
      this.#opened = await reach(this.#configuration);
      return run();
    });
    // Safety: what the operation of this name gives; that of a daemon is of the same version.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return output as OperationOutput<Name>;
  }

  /** The bytes of a backup. */
  backup(input: BackupInput): AsyncIterable<Uint8Array> {
    return this.#opened.desk.backup(input, new AbortController().signal);
  }

  close(): Promise<void> {
    return this.#opened.close();
  }
}

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
    throw new UsageError(
      `there is no data directory ${dataDir}; call this in the folder that Trawl was started in, or name its data directory with --data-dir`,
    );
  return new Operator(configuration, await reach(configuration));
}

/** The desk of the daemon, or, where none runs, that of the data directory opened. */
async function reach(configuration: Configuration): Promise<Offline> {
  const { dataDir } = configuration;
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const desk = deskBehind(findControlPath(dataDir));
    if (await isThere(desk)) return { desk, close: () => Promise.resolve() };
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
  const { openOffline } = await import('../app/offline.ts');
  const lock = await import('../index/catalog/lock.ts');
  try {
    return await openOffline(configuration, createLog(configuration.log));
  } catch (error) {
    if (error instanceof lock.LockedError) return error;
    throw error;
  }
}

async function isThere(desk: Desk): Promise<boolean> {
  try {
    await desk.run('ping', {}, undefined);
    return true;
  } catch (error) {
    if (error instanceof NoDaemonError) return false;
    throw error;
  }
}
