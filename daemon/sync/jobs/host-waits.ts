// Index jobs that wait for a silent code host. They only delay repos of that host: a waiting job gives its slot to
// others, and no other job of that host starts meanwhile.

import { systemCodeOf } from '../../base/caught.ts';
import type { HostEvent } from './job-step.ts';

/** Guess: as long as hosts/transport.ts waits before it reports it. */
const SILENCE_MS = 10_000;

interface Wait {
  readonly host: string;
  /** Undefined: the host has not been contacted yet. */
  readonly timer?: NodeJS.Timeout;
  isLate: boolean;
}

export class HostWaits {
  /** Called when `isIdle` or `isBlocked` may change. */
  readonly #onChange: () => void;
  /** Hosts without an answer for long, or unreachable at the last attempt. */
  readonly #silent = new Set<string>();
  /** Jobs that contact or fetch from their host, by targetId. */
  readonly #waits = new Map<number, Wait>();

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** A job starts that will contact this host. */
  begin(targetId: number, hostOf: () => string | undefined): void {
    if (this.#silent.size === 0) return;
    const host = hostOf();
    if (host === undefined) return;
    this.#waits.set(targetId, { host, isLate: false });
    if (this.#silent.has(host)) this.#onChange();
  }

  /** A job contacts its host, receives data, or has everything. */
  note(targetId: number, host: string, event: HostEvent): void {
    if (event === 'answered') this.end(targetId);
    else this.#wait(targetId, host);
    if (event === 'heard') this.#speaks(host);
    else if (event === 'asked' && this.#silent.has(host)) this.#onChange();
  }

  #wait(targetId: number, host: string): void {
    this.#forget(targetId);
    const timer = setTimeout(() => {
      wait.isLate = true;
      this.#silent.add(host);
      this.#onChange();
    }, SILENCE_MS).unref();
    const wait: Wait = { host, timer, isLate: false };
    this.#waits.set(targetId, wait);
  }

  /** The host has answered completely, if it was contacted. */
  end(targetId: number): void {
    const wait = this.#forget(targetId);
    if (wait === undefined) return;
    if (wait.timer !== undefined) this.#speaks(wait.host);
    // The next job of that host may start.
    else if (this.#silent.has(wait.host)) this.#onChange();
  }

  /** The job ended before that. */
  fail(targetId: number, error: unknown): void {
    const wait = this.#forget(targetId);
    if (wait === undefined) return;
    const code = systemCodeOf(error);
    if (code === 'HOST_UNAVAILABLE' || code === 'TIMEOUT') this.#silence(wait.host);
  }

  /** Whether a job waits for a silent host. */
  isIdle(targetId: number): boolean {
    const wait = this.#waits.get(targetId);
    return wait !== undefined && (wait.isLate || this.#silent.has(wait.host));
  }

  /** Whether a job must wait because another one waits for its host. */
  isBlocked(hostOf: () => string | undefined): boolean {
    if (this.#silent.size === 0) return false;
    const silentHost = hostOf();
    if (silentHost === undefined || !this.#silent.has(silentHost)) return false;
    for (const { host } of this.#waits.values()) if (host === silentHost) return true;
    return false;
  }

  #forget(targetId: number): Wait | undefined {
    const wait = this.#waits.get(targetId);
    clearTimeout(wait?.timer);
    this.#waits.delete(targetId);
    return wait;
  }

  #silence(host: string): void {
    if (this.#silent.has(host)) return;
    this.#silent.add(host);
    this.#onChange();
  }

  #speaks(host: string): void {
    if (this.#silent.delete(host)) this.#onChange();
  }
}
