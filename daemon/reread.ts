// Reads the configuration file again while the daemon runs (API.md 19.1, 21.3), and opens the log file again. What it says
// counts from then on, without a restart; a file that is refused changes nothing, and is told of until it is right.

import type { Configuration } from './base/config/configuration.ts';
import { ConfigError } from './base/config/error.ts';
import type { Log } from './base/log.ts';

/** Settings that make docs come out differently. */
const DOC_SETTINGS = ['maxFileSize', 'maxTrigramCount', 'alwaysIndexFilePatterns'];

export interface RereadParts {
  readonly configuration: Configuration;
  readonly log: Log;
  /** Holds what runs to what the configuration says now. */
  readonly obey: () => void;
  /** Indexes what comes out differently now. */
  readonly index: () => Promise<unknown>;
}

export class Reread {
  readonly #parts: RereadParts;
  #fault: string | undefined;

  constructor(parts: RereadParts) {
    this.#parts = parts;
  }

  /** What does not work as it should, in words for the owner (API.md 18.2); empty: nothing. */
  get degradations(): readonly string[] {
    return this.#fault === undefined ? [] : [`the configuration file is refused: ${this.#fault}`];
  }

  /** Reads the file and obeys it. Errors: none: a refused file is told in the log, and nothing changes. */
  run(): void {
    const { configuration, log, obey } = this.#parts;
    log.reopen();
    const { file } = configuration;
    if (file === undefined) {
      log.info(
        'there is no configuration file to read again; variables and flags count from the start on',
      );
      return;
    }
    let changed: readonly string[];
    try {
      changed = configuration.readAgain();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#fault = error.message;
      const fields = { file, reason: error.message };
      log.error('the configuration file is refused; what it said before stays in force', fields);
      return;
    }
    this.#fault = undefined;
    log.obey(configuration.log);
    if (changed.length > 0) obey();
    log.info('the configuration file was read again', { file, changed });
    if (changed.some((name) => DOC_SETTINGS.includes(name))) this.#index();
  }

  #index(): void {
    const { index, log } = this.#parts;
    index().catch((error: unknown) =>
      log.error('nothing was indexed by the new configuration', { error }),
    );
  }
}
