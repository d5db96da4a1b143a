// Reads the configuration again while the daemon runs (API.md 19.1, 21.3): when the file changes and on SIGHUP, which
// also reopens the log and reads the certificate. A refused file changes nothing and is reported until it is fixed.

import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../base/caught.ts';
import type { Configuration } from '../base/config/configuration.ts';
import { ConfigError, RefusedFileError } from '../base/config/error.ts';
import type { Log } from '../base/log.ts';
import type { Certificate } from '../http/certificate.ts';

/** A writer should have finished the file by then. */
const SETTLE_MS = 500;
/** Settings that change the docs. */
const DOC_SETTINGS = ['maxFileSize', 'maxTrigramCount', 'alwaysIndexFilePatterns'];

export interface RereadParts {
  readonly configuration: Configuration;
  readonly log: Log;
  readonly certificate: Certificate | undefined;
  readonly apply: (changed: readonly string[]) => void;
  readonly index: () => Promise<unknown>;
}

export class Reread {
  readonly #parts: RereadParts;
  /** Undefined: no TLS. */
  readonly certificate: Certificate | undefined;
  #fault: ConfigError | undefined;
  readonly #ending = new AbortController();
  #checking: Promise<void> = Promise.resolve();
  #isReading = false;
  readonly #timer: NodeJS.Timeout | undefined;

  constructor(parts: RereadParts) {
    this.#parts = parts;
    this.certificate = parts.certificate;
    const { source } = parts.configuration;
    if (source === undefined) return;
    this.#keep();
    this.#timer = setInterval(() => this.#isReading || this.#check(false), source.pollMs).unref();
  }

  /** Problems, as sentences for the owner (API.md 18.2); empty: none. */
  get degradations(): readonly string[] {
    const fault = this.#fault;
    const ofCertificate = this.certificate?.degradations ?? [];
    if (fault === undefined) return ofCertificate;
    const reasons = fault instanceof RefusedFileError ? fault.diagnostics : [fault.message];
    const refusals = reasons.map((reason) => `the configuration file is refused: ${reason}`);
    return [...refusals, ...ofCertificate];
  }

  /** Reads and applies the file. Errors: none: a refused file is logged, and nothing changes. */
  async run(): Promise<void> {
    const { configuration, log } = this.#parts;
    log.reopen();
    this.certificate?.check();
    if (configuration.source !== undefined) this.#check(true);
    else
      log.info(
        'there is no configuration file to read again; variables and flags only take effect at the start',
      );
    await this.#checking;
  }

  async close(): Promise<void> {
    this.#ending.abort();
    clearInterval(this.#timer);
    this.certificate?.close();
    await this.#checking;
  }

  /** @param isRequested  the operator expects a log line, whatever the result */
  #check(isRequested: boolean): void {
    this.#checking = this.#checking.then(() => this.#read(isRequested));
  }

  async #read(isRequested: boolean): Promise<void> {
    const { configuration, log } = this.#parts;
    const { signal } = this.#ending;
    this.#isReading = true;
    try {
      const isOther = await configuration.source?.refresh(signal);
      // An address may answer again, with the same text.
      const isAway = this.#fault !== undefined && configuration.source?.isAddress === true;
      if (isOther !== true && !isRequested && !isAway) return;
      const before = configuration.notices;
      this.#apply(await this.#readSettled(isRequested), isRequested);
      for (const notice of configuration.notices) if (!before.includes(notice)) log.warn(notice);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ConfigError) this.#refuse(error, isRequested);
      else log.error('the configuration file could not be read again', { error });
    } finally {
      this.#isReading = false;
    }
  }

  /** Errors: ConfigError, unless the file was being written; the reason of the end. */
  async #readSettled(isRequested: boolean): Promise<readonly string[]> {
    const { configuration } = this.#parts;
    const { signal } = this.#ending;
    signal.throwIfAborted();
    try {
      return configuration.readAgain();
    } catch (error) {
      if (isRequested || !(error instanceof ConfigError)) throw error;
      await sleep(SETTLE_MS, undefined, { signal, ref: false });
      return configuration.readAgain();
    }
  }

  #apply(changed: readonly string[], isRequested: boolean): void {
    const { configuration, log, apply } = this.#parts;
    const isCorrected = this.#fault !== undefined;
    this.#fault = undefined;
    this.#keep();
    log.apply(configuration.log);
    if (changed.length > 0) apply(changed);
    if (changed.length > 0 || isRequested || isCorrected)
      log.info('the configuration file was read again', {
        file: configuration.source?.name,
        changed,
      });
    if (changed.some((name) => DOC_SETTINGS.includes(name))) this.#index();
  }

  #keep(): void {
    const { configuration, log } = this.#parts;
    try {
      configuration.source?.keep(configuration.dataDir);
    } catch (error) {
      log.warn('the configuration could not be saved for the next start', {
        error: messageOf(error),
      });
    }
  }

  #refuse(fault: ConfigError, isRequested: boolean): void {
    const { configuration, log } = this.#parts;
    const isReported = this.#fault?.message === fault.message;
    this.#fault = fault;
    if (isReported && !isRequested) return;
    log.error('the configuration file is refused; the previous configuration stays in force', {
      file: configuration.source?.name,
      reason: fault.message,
    });
  }

  #index(): void {
    const { index, log } = this.#parts;
    index().catch((error: unknown) =>
      log.error('indexing after a configuration change failed', { error }),
    );
  }
}
