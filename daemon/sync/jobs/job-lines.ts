// The last log lines of a job, with secrets masked as in the log.

import { createLog, type Log, type LogFields } from '../../base/log.ts';
import type { LogLevel } from '../../base/log-levels.ts';

/** A line as owners get it (API.md 13.4). */
export interface JobLine {
  readonly version: 1;
  /** ISO 8601. */
  readonly timestamp: string;
  readonly level: string;
  readonly message: string;
  readonly attempt: number;
  readonly fields?: Readonly<Record<string, unknown>>;
}

const LINE_COUNT_MAX = 500;

let masked = '';
/** Formats a line like the log and stores it in `masked`. Made on first use: it takes milliseconds of a start. */
let masker: Log | undefined;

export class JobLines {
  readonly #lines: JobLine[];
  #droppedCount: number;

  constructor(text = '[]') {
    // Safety: only `toString` writes it.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const kept = JSON.parse(text) as (JobLine | number)[];
    const [first] = kept;
    this.#droppedCount = typeof first === 'number' ? first : 0;
    this.#lines = kept.filter((line) => typeof line !== 'number');
  }

  get lines(): readonly JobLine[] {
    return this.#lines;
  }

  /** Before the kept ones. */
  get droppedCount(): number {
    return this.#droppedCount;
  }

  add(level: LogLevel, attempt: number, message: string, fields: LogFields = {}): void {
    masker ??= createLog({ level: 'debug', format: 'json', write: (line) => (masked = line) });
    masker[level](message, fields);
    const parsed: Record<string, unknown> = JSON.parse(masked);
    const { label: _, timestamp, level: __, message: text, ...rest } = parsed;
    this.#lines.push({
      version: 1,
      timestamp: String(timestamp),
      level,
      message: String(text),
      attempt,
      ...(Object.keys(rest).length === 0 ? {} : { fields: rest }),
    });
    if (this.#lines.length <= LINE_COUNT_MAX) return;
    this.#lines.shift();
    this.#droppedCount++;
  }

  /** A JSON array; starts with the number of dropped lines, if any. */
  toString(): string {
    return JSON.stringify(
      this.#droppedCount === 0 ? this.#lines : [this.#droppedCount, ...this.#lines],
    );
  }
}
