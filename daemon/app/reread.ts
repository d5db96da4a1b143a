// Reads the configuration file again while the daemon runs (API.md 19.1, 21.3): when it changes, and at SIGHUP, when the log
// file is opened again too. What it says counts from then on, without a restart; a file that is refused changes nothing, and
// is told of until it is right.

import { setTimeout as sleep } from 'node:timers/promises';
import { messageOf } from '../base/caught.ts';
import type { Configuration } from '../base/config/configuration.ts';
import { ConfigError, RefusedFileError } from '../base/config/error.ts';
import { watchFile } from '../base/config/file-watch.ts';
import type { Log } from '../base/log.ts';

/** Guess: whoever writes a file in place has written the rest of it by then. */
const SETTLE_MS = 500;
/** Settings that make docs come out differently. */
const DOC_SETTINGS = ['maxFileSize', 'maxTrigramCount', 'alwaysIndexFilePatterns'];

export interface RereadParts {
  readonly configuration: Configuration;
  readonly log: Log;
  /** Holds what runs to what the configuration says now. */
  readonly obey: (changed: readonly string[]) => void;
  /** Indexes what comes out differently now. */
  readonly index: () => Promise<unknown>;
}

export class Reread {
  readonly #parts: RereadParts;
  #fault: ConfigError | undefined;
  readonly #ending = new AbortController();
  /** The look under way: they come one after the other. */
  #looking: Promise<void> = Promise.resolve();
  readonly #watch: { close(): Promise<void> } | undefined;

  /** Begins to watch the file. */
  constructor(parts: RereadParts) {
    this.#parts = parts;
    const { log, configuration } = parts;
    const { source } = configuration;
    if (source === undefined) return;
    this.#keep();
    const onTrouble = (reason: string): void =>
      log.warn('the configuration file cannot be watched, and is looked at every 10 s', { reason });
    this.#watch = watchFile({ source, onChange: () => this.#look(false), onTrouble });
  }

  /** What does not work as it should, in words for the owner (API.md 18.2); empty: nothing. */
  get degradations(): readonly string[] {
    const fault = this.#fault;
    if (fault === undefined) return [];
    const reasons = fault instanceof RefusedFileError ? fault.mistakes : [fault.message];
    return reasons.map((reason) => `the configuration file is refused: ${reason}`);
  }

  /** Reads the file and obeys it. Errors: none: a refused file is told in the log, and nothing changes. */
  run(): void {
    const { configuration, log } = this.#parts;
    log.reopen();
    if (configuration.source !== undefined) this.#look(true);
    else
      log.info(
        'there is no configuration file to read again; variables and flags count from the start on',
      );
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#watch?.close();
    await this.#looking;
  }

  /** @param isAsked  somebody waits for a line in the log, whatever comes of it */
  #look(isAsked: boolean): void {
    this.#looking = this.#looking.then(() => this.#read(isAsked));
  }

  /** Errors: none. */
  async #read(isAsked: boolean): Promise<void> {
    const { configuration, log } = this.#parts;
    const { signal } = this.#ending;
    try {
      const isOther = await configuration.source?.refresh(signal);
      if (isOther !== true && !isAsked && this.#fault === undefined) return;
      const before = configuration.notices;
      this.#obey(await this.#readSettled(isAsked), isAsked);
      for (const notice of configuration.notices) if (!before.includes(notice)) log.warn(notice);
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ConfigError) this.#refuse(error, isAsked);
      else log.error('the configuration file could not be read again', { error });
    }
  }

  /** What changed. Errors: ConfigError, unless that was somebody's writing it; the reason of the end. */
  async #readSettled(isAsked: boolean): Promise<readonly string[]> {
    const { configuration } = this.#parts;
    const { signal } = this.#ending;
    signal.throwIfAborted();
    try {
      return configuration.readAgain();
    } catch (error) {
      if (isAsked || !(error instanceof ConfigError)) throw error;
      await sleep(SETTLE_MS, undefined, { signal, ref: false });
      return configuration.readAgain();
    }
  }

  #obey(changed: readonly string[], isAsked: boolean): void {
    const { configuration, log, obey } = this.#parts;
    const isMended = this.#fault !== undefined;
    this.#fault = undefined;
    this.#keep();
    log.obey(configuration.log);
    if (changed.length > 0) obey(changed);
    if (changed.length > 0 || isAsked || isMended)
      log.info('the configuration file was read again', {
        file: configuration.source?.name,
        changed,
      });
    if (changed.some((name) => DOC_SETTINGS.includes(name))) this.#index();
  }

  /** Why only now: what it says has been read, and is right. */
  #keep(): void {
    const { configuration, log } = this.#parts;
    try {
      configuration.source?.keep(configuration.dataDir);
    } catch (error) {
      log.warn('what the address of the configuration says could not be kept for the next start', {
        error: messageOf(error),
      });
    }
  }

  #refuse(fault: ConfigError, isAsked: boolean): void {
    const { configuration, log } = this.#parts;
    const isKnown = this.#fault?.message === fault.message;
    this.#fault = fault;
    if (isKnown && !isAsked) return;
    log.error('the configuration file is refused; what it said before stays in force', {
      file: configuration.source?.name,
      reason: fault.message,
    });
  }

  #index(): void {
    const { index, log } = this.#parts;
    index().catch((error: unknown) =>
      log.error('nothing was indexed by the new configuration', { error }),
    );
  }
}
