// Sends the operator's requests to the daemon that owns the data directory; without one this process owns it meanwhile.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { IncomingMessage } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import type { makeBackup } from '../api/instance/status-endpoints.ts';
import type { AnswerOf, BodyOf, TypedEndpoint } from '../api/shapes/endpoint.ts';
import { inDataDir } from '../base/caught.ts';
import type { Configuration } from '../base/config/configuration.ts';
import { findControlPath } from '../base/config/control-path.ts';
import type { LockedError } from '../index/catalog/lock.ts';
import { createLog } from '../base/log.ts';
import { callControl, NoDaemonError, systemAccount } from './control-client.ts';
import { RequestError, isErrorObject, UsageError } from './errors.ts';

/** A daemon takes the lock a moment before it listens, and releases it a moment after it stops. */
const WAIT_MS = 5_000;
const PAUSE_MS = 50;
/** Bound: the longest known stop of a daemon is a commit on a busy disk, 0.7 s (store/README.md). */
const SILENCE_MS = 20_000;
/** Items of a page: the operator's limit. */
const PER_PAGE = 5_000;

type Query = Readonly<Record<string, string | number | undefined>>;

interface CallOptions<E extends TypedEndpoint> {
  readonly query?: Query;
  readonly body?: BodyOf<E>;
}

interface Closable {
  close(): Promise<void>;
}

interface Opened extends Closable {
  readonly socketPath: string;
}

export class Operator {
  readonly #reach: () => Promise<Opened>;
  #opened: Opened;

  constructor(reach: () => Promise<Opened>, opened: Opened) {
    this.#reach = reach;
    this.#opened = opened;
  }

  /** Errors: RequestError, a refusal. */
  async call<E extends TypedEndpoint>(
    method: E['method'],
    path: string,
    { query, body }: CallOptions<E> = {},
  ): Promise<AnswerOf<E>> {
    const response = await this.#send(method, withQuery(path, query), body);
    const answer: unknown = response.statusCode === 204 ? undefined : await json(response);
    // Safety: the daemon's tests check every answer against its schema.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    return answer as AnswerOf<E>;
  }

  /** Errors: as `call`. */
  async *pages<E extends TypedEndpoint>(
    path: string,
    query: Query = {},
  ): AsyncGenerator<AnswerOf<E>> {
    for (let page = 1; ; page++) {
      const response = await this.#send(
        'GET',
        withQuery(path, { ...query, page, perPage: PER_PAGE }),
      );
      // Safety: as in `call`.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      yield (await json(response)) as AnswerOf<E>;
      if (page * PER_PAGE >= Number(response.headers['x-total-count'] ?? 0)) return;
    }
  }

  async *backup(body: BodyOf<typeof makeBackup>): AsyncGenerator<Uint8Array> {
    const response = await this.#send('POST', '/api/backup', body);
    try {
      for await (const part of response) yield Buffer.from(part);
    } catch (error) {
      const message = 'the backup broke off: the daemon has ended, or its log has the reason';
      throw new UsageError(message, { cause: error });
    }
  }

  close(): Promise<void> {
    return this.#opened.close();
  }

  async #send(method: string, path: string, body?: unknown): Promise<IncomingMessage> {
    const text = body === undefined ? undefined : JSON.stringify(body);
    const call = { method, path, body: text, account: systemAccount() };
    const response = await callControl(this.#opened.socketPath, call).catch(
      async (error: unknown) => {
        if (!(error instanceof NoDaemonError)) throw error;
        // The daemon has stopped since it was found.
        this.#opened = await this.#reach();
        return callControl(this.#opened.socketPath, call);
      },
    );
    if (response.statusCode! < 300) return response;
    const error: unknown = await json(response);
    if (isErrorObject(error)) throw new RequestError(error);
    throw new UsageError('the daemon refused without giving a reason');
  }
}

function withQuery(path: string, query: Query = {}): string {
  const present = Object.entries(query).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, String(value)]],
  );
  return present.length === 0 ? path : `${path}?${new URLSearchParams(present).toString()}`;
}

/**
 * Creates a missing data directory if `isMaking`. Errors: UsageError if there is none, or other files are there, or its
 * owner accepts no commands; those of openOffline.
 */
export async function openOperator(
  configuration: Configuration,
  isMaking: boolean,
): Promise<Operator> {
  const { dataDir } = configuration;
  if (!isMaking && !existsSync(dataDir)) throw noDataDir(dataDir);
  const log = createLog(configuration.log);
  const open = async (): Promise<Closable> => {
    // The store loads much code that is not needed if a daemon runs.
    const { hasOtherFiles } = await import('../index/catalog/data-dir.ts');
    if (await hasOtherFiles(dataDir))
      throw new UsageError(
        `${dataDir} is no data directory: it has other files; name the right one with --data-dir, or an empty folder for a new one`,
      );
    const { openOffline } = await import('../app/offline.ts');
    return await openOffline(configuration, log);
  };
  const reachThis = (): Promise<Opened> => reach(configuration, open, WAIT_MS);
  return new Operator(reachThis, await reachThis());
}

function noDataDir(dataDir: string): UsageError {
  return new UsageError(
    `there is no data directory ${dataDir}; run this in the folder where Trawl was started, or name its data directory with --data-dir`,
  );
}

/**
 * The daemon, within `waitMs` if it is starting or stopping; without one, what `open` opens. Errors: UsageError if the
 * owner of the data directory accepts no commands; those of `open`.
 */
export async function reach(
  { dataDir }: Pick<Configuration, 'dataDir'>,
  open: () => Promise<Closable>,
  waitMs: number,
  silenceMs = SILENCE_MS,
): Promise<Opened> {
  const end = Date.now() + waitMs;
  for (;;) {
    const socketPath = findControlPath(dataDir);
    if (await isThere(socketPath, dataDir, silenceMs))
      return { socketPath, close: () => Promise.resolve() };
    const opened = await open().catch(lockedOnly);
    if (!(opened instanceof Error))
      return { socketPath: findControlPath(dataDir), close: () => opened.close() };
    if (Date.now() > end)
      throw new UsageError(
        `${opened.fact}, which accepts no commands: it may be starting or stopping; try again, and look at its log if that does not help`,
        { cause: opened },
      );
    await setTimeout(PAUSE_MS);
  }
}

/** Errors: any other than that the data directory is locked. */
async function lockedOnly(error: unknown): Promise<LockedError> {
  const lock = await import('../index/catalog/lock.ts');
  if (error instanceof lock.LockedError) return error;
  throw error;
}

async function isThere(socketPath: string, dataDir: string, silenceMs: number): Promise<boolean> {
  const signal = AbortSignal.timeout(silenceMs);
  try {
    const call = { method: 'GET', path: '/api/health', account: systemAccount(), signal };
    (await callControl(socketPath, call)).resume();
    return true;
  } catch (error) {
    if (error instanceof NoDaemonError) return false;
    if (!signal.aborted) throw inDataDir(error, dataDir);
    throw new UsageError(
      `the daemon of ${dataDir} has not answered for ${silenceMs / 1000} s; ${join(dataDir, 'lock')} names its process: end it, and start it again`,
      { cause: error },
    );
  }
}
