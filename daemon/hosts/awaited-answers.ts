// Lists requests to code hosts that have been waiting for an answer for long, for people: a host that accepts requests but
// says nothing, or a byte now and then, becomes an error only after minutes, and is retried meanwhile.

import type { Log } from '../base/log.ts';
import type { Question } from './failures.ts';

/** A request without a complete answer. */
export interface AwaitedAnswer extends Question {
  /** Name of the connection; undefined: the request is git's. */
  readonly connection: string | undefined;
  /** Time of the first unanswered request to the host; ms since the epoch. */
  readonly since: number;
  /** Failure of the last attempt, with the remedy; undefined: the first one is running. */
  readonly failure: string | undefined;
}

export interface AwaitOptions {
  readonly question: Question;
  readonly connection: string | undefined;
  /** Waits of this length are reported. */
  readonly noticeMs: number;
  readonly log: Log;
}

/** Running requests. */
const open = new Set<Awaiting>();

/** By host: since when it has answered nothing, if the last requests to it failed. Of performance.now. */
const silentSinceMs = new Map<string, number>();

/** One request, with all its attempts. */
export class Awaiting {
  readonly #options: AwaitOptions;
  #sinceMs: number | undefined;
  #failure: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** Time of the first unanswered request to the host; ms since the epoch; undefined: not reported yet. */
  #noticedSince: number | undefined;

  constructor(options: AwaitOptions) {
    this.#options = options;
  }

  /** Undefined: not sent, or not waiting for long enough. */
  get notice(): AwaitedAnswer | undefined {
    if (this.#noticedSince === undefined) return undefined;
    const { question, connection } = this.#options;
    return { ...question, connection, since: this.#noticedSince, failure: this.#failure };
  }

  /** An attempt starts. */
  begin(): void {
    if (this.#sinceMs !== undefined) return;
    const { question, noticeMs } = this.#options;
    this.#sinceMs = silentSinceMs.get(question.host) ?? performance.now();
    open.add(this);
    // However long it has been silent: now it may answer.
    const sinceMs = this.#sinceMs;
    this.#timer = setTimeout(() => this.#report(sinceMs), noticeMs).unref();
  }

  /** An attempt failed. */
  noteFailure(message: string): void {
    this.#failure = message;
  }

  /** The host has answered. */
  noteAnswer(): void {
    const { question, log } = this.#options;
    silentSinceMs.delete(question.host);
    if (this.#noticedSince !== undefined) log.info('the code host answers again', { ...question });
    this.#sinceMs = undefined;
    this.end();
  }

  /** Nobody waits any more. */
  end(): void {
    const { host } = this.#options.question;
    if (this.#sinceMs !== undefined && this.#failure !== undefined)
      silentSinceMs.set(host, this.#sinceMs);
    clearTimeout(this.#timer);
    open.delete(this);
    this.#sinceMs = undefined;
    this.#noticedSince = undefined;
    this.#failure = undefined;
  }

  #report(sinceMs: number): void {
    // Why kept: computed again it may differ by a millisecond, which changes the message.
    this.#noticedSince = Math.round(Date.now() - performance.now() + sinceMs);
    const { question, log } = this.#options;
    const since = new Date(this.#noticedSince).toISOString();
    const failure = this.#failure === undefined ? {} : { failure: this.#failure };
    log.warn('the code host does not answer and is retried; check its health', {
      ...question,
      since,
      ...failure,
    });
  }
}

/** Requests to report, the longest wait first. */
export function awaitedAnswers(): readonly AwaitedAnswer[] {
  return [...open].flatMap(({ notice }) => notice ?? []).sort((a, b) => a.since - b.since);
}

/** The longest wait of a connection. */
export function awaitedOf(connection: string): AwaitedAnswer | undefined {
  return awaitedAnswers().find((one) => one.connection === connection);
}

/** The longest wait of git. @param urls  the repositories to look for; called only if there are waits */
export function awaitedByGit(urls: () => readonly string[]): AwaitedAnswer | undefined {
  const byGit = awaitedAnswers().filter(({ connection }) => connection === undefined);
  if (byGit.length === 0) return undefined;
  const locations = urls().map((url) => new URL(url));
  const isSameQuestion = ({ host, what }: AwaitedAnswer): boolean => {
    const path = what.slice(what.indexOf(' ') + 1);
    return locations.some(
      (location) =>
        location.host === host && path.startsWith(`${location.pathname.replace(/\/$/, '')}/`),
    );
  };
  return byGit.find(isSameQuestion);
}

export function awaitedSentence({ host, what, since, failure }: AwaitedAnswer): string {
  const waits = `waiting for ${what}; check the host's health`;
  return `${host} has not answered since ${new Date(since).toISOString()}, and is retried automatically: ${failure ?? waits}`;
}
