// Parses the standard error of a git that talks to a remote: progress as numbers, and the remaining lines as messages.

import { omitUndefined } from '../../base/omit-undefined.ts';
import type { JobPhase, JobStep } from '../../repos/jobs.ts';

/** `preparing`: the host counts and packs. `resolving`: received data is unpacked and checked. */
export interface FetchStep extends JobStep {
  /** Bytes received so far; absent at first. */
  readonly receivedSize?: number;
}

/** Source: progress.c of git 2.39. */
const STEP =
  /^(remote: )?([A-Z][a-z]+(?: [a-z]+)*): +(\d{1,3})% \((\d{1,15})\/(\d{1,15})\)(?:, ([\d.]{1,15}) (bytes|KiB|MiB|GiB))?/;
/** Progress without a total, or at its end. */
const OTHER_STEP = /^(?:remote: )?[A-Z][a-z]+(?: [a-z]+)*: +\d+(?:, |$)/;
const UNIT_SIZES: Readonly<Record<string, number>> = {
  bytes: 1,
  KiB: 1 << 10,
  MiB: 1 << 20,
  GiB: 1 << 30,
};
/** Characters. The end matters most. */
const MESSAGES_LENGTH_MAX = 16_384;
const LINE_LENGTH_MAX = 4096;

export class ProgressReader {
  readonly #onProgress: ((progress: FetchStep) => void) | undefined;
  #line = '';
  #messages = '';
  #size = 0;
  #receivedSize: number | undefined;
  #phase: JobPhase | undefined;
  #reportedMs = -Infinity;

  /** @param onProgress  called twice a second at most, and at the start of each phase */
  constructor(onProgress?: (progress: FetchStep) => void) {
    this.#onProgress = onProgress;
  }

  /** Characters received. */
  get size(): number {
    return this.#size;
  }

  /** The last lines that are not progress. */
  get messages(): string {
    return this.#messages + this.#line;
  }

  push(text: string): void {
    this.#size += text.length;
    const lines = (this.#line + text).split(/[\r\n]/);
    this.#line = (lines.pop() ?? '').slice(0, LINE_LENGTH_MAX);
    for (const line of lines) this.#take(line.slice(0, LINE_LENGTH_MAX));
  }

  #take(line: string): void {
    const [, remote, title = '', percent, done, total, size, unit = ''] = STEP.exec(line) ?? [];
    const isStep = percent !== undefined || OTHER_STEP.test(line);
    if (!isStep && line.trim() !== '')
      this.#messages = `${this.#messages}${line}\n`.slice(-MESSAGES_LENGTH_MAX);
    if (percent === undefined) return;
    if (size !== undefined && remote === undefined)
      this.#receivedSize = Math.round(Number(size) * UNIT_SIZES[unit]!);
    this.#report({
      phase: phaseOf(remote, title),
      done: Number(done),
      total: Number(total),
      unit: 'objects',
      ...omitUndefined({ receivedSize: this.#receivedSize }),
    });
  }

  #report(progress: FetchStep): void {
    const nowMs = performance.now();
    if (progress.phase === this.#phase && nowMs - this.#reportedMs < 500) return;
    this.#phase = progress.phase;
    this.#reportedMs = nowMs;
    this.#onProgress?.(progress);
  }
}

function phaseOf(remote: string | undefined, title: string): JobPhase {
  if (remote !== undefined) return 'preparing';
  return title === 'Receiving objects' ? 'receiving' : 'resolving';
}
