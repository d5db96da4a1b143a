// Stores which shards are out of service and why: after a restart they stay so until their repos are rebuilt.

import path from 'node:path';
import { z } from 'zod';
import { messageOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import { readOwn, replaceOwn } from '../../base/own-file.ts';

/** File of a data directory. */
const QUARANTINE_FILE = 'quarantine.json';

const reasonsSchema = z.record(z.string(), z.string());

export class QuarantineFile {
  readonly #path: string;
  readonly #log: Log | undefined;
  #text: string;

  /** @param log  absent: read only */
  constructor(dataDir: string, log?: Log) {
    this.#path = path.join(dataDir, QUARANTINE_FILE);
    this.#log = log;
    this.#text = textOf(this.#path);
  }

  /** Reasons by shardId. */
  read(): Map<string, string> {
    try {
      return new Map(Object.entries(reasonsSchema.parse(JSON.parse(this.#text))));
    } catch {
      // Damage is found again when it is read.
      return new Map();
    }
  }

  write(reasons: ReadonlyMap<string, string>): void {
    const text = JSON.stringify(Object.fromEntries(reasons));
    if (this.#log === undefined || text === this.#text) return;
    this.#text = text;
    try {
      replaceOwn(this.#path, text);
    } catch (error) {
      this.#log.warn('the list of shards out of service could not be saved', {
        error: messageOf(error),
      });
    }
  }
}

function textOf(file: string): string {
  try {
    return readOwn(file).toString();
  } catch {
    return '{}';
  }
}
