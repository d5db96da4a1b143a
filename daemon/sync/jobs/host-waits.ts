// Which index jobs wait for a code host that says nothing. They hold up nobody but the repos of that host: a job that waits takes
// no place of others, and while one does no other of that host begins.

import { systemCodeOf } from '../../base/caught.ts';
import type { HostNews } from './job-step.ts';

/** Guess: as long as people are not told of it either (hosts/transport.ts). */
const SILENCE_MS = 10_000;

interface Wait {
  readonly host: string;
  /** Undefined: the host has not been asked yet. */
  readonly timer?: NodeJS.Timeout;
  isLate: boolean;
}

export class HostWaits {
  /** Called when `isIdle` or `isHeldUp` may say something else. */
  readonly #onChange: () => void;
  /** Those that have said nothing for long, or could not be reached when they were asked last. */
  readonly #silent = new Set<string>();
  /** Jobs that ask their host, or fetch from it, by targetId. */
  readonly #waits = new Map<number, Wait>();

  constructor(onChange: () => void) {
    this.#onChange = onChange;
  }

  /** A job begins, which is to ask this host. */
  begin(targetId: number, hostOf: () => string | undefined): void {
    if (this.#silent.size === 0) return;
    const host = hostOf();
    if (host === undefined) return;
    this.#waits.set(targetId, { host, isLate: false });
    if (this.#silent.has(host)) this.#onChange();
  }

  /** A job asks its host, hears something of it, or has all. */
  note(targetId: number, host: string, news: HostNews): void {
    if (news === 'answered') this.end(targetId);
    else this.#wait(targetId, host);
    if (news === 'heard') this.#speaks(host);
    else if (news === 'asked' && this.#silent.has(host)) this.#onChange();
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

  /** The host has said all, if it was asked. */
  end(targetId: number): void {
    const wait = this.#forget(targetId);
    if (wait === undefined) return;
    if (wait.timer !== undefined) this.#speaks(wait.host);
    // The next job of that host may ask.
    else if (this.#silent.has(wait.host)) this.#onChange();
  }

  /** The job has ended before that. */
  fail(targetId: number, error: unknown): void {
    const wait = this.#forget(targetId);
    if (wait === undefined) return;
    const code = systemCodeOf(error);
    if (code === 'HOST_UNAVAILABLE' || code === 'TIMEOUT') this.#silence(wait.host);
  }

  /** Whether a job waits for a host that says nothing. */
  isIdle(targetId: number): boolean {
    const wait = this.#waits.get(targetId);
    return wait !== undefined && (wait.isLate || this.#silent.has(wait.host));
  }

  /** Whether a job that is to ask a host has to wait for one that does. */
  isHeldUp(hostOf: () => string | undefined): boolean {
    if (this.#silent.size === 0) return false;
    const asked = hostOf();
    if (asked === undefined || !this.#silent.has(asked)) return false;
    for (const { host } of this.#waits.values()) if (host === asked) return true;
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
