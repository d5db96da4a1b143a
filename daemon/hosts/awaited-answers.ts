// Which answers of code hosts are waited for, and since when, for people: a host that takes requests and says nothing, or a byte
// now and then, is an error after minutes only, and asked again and again meanwhile.

import type { Log } from '../base/log.ts';
import type { Question } from './failures.ts';

/** A request whose host has not answered it as a whole. */
export interface AwaitedAnswer extends Question {
  /** Name of the connection that asks; undefined: git does. */
  readonly connection: string | undefined;
  /** When the host was first asked without an answer; ms since the epoch. */
  readonly since: number;
  /** How the last attempt ended, with the next step; undefined: the first one is under way. */
  readonly failure: string | undefined;
}

export interface AwaitOptions {
  readonly question: Question;
  readonly connection: string | undefined;
  /** From then on people are told. */
  readonly tellMs: number;
  readonly log: Log;
}

/** Those under way. */
const open = new Set<Awaiting>();

/** Since when hosts have not answered anything, as the last requests to them failed. Of performance.now. */
const silentSinceMs = new Map<string, number>();

/** One request, with all its attempts. */
export class Awaiting {
  readonly #options: AwaitOptions;
  #sinceMs: number | undefined;
  #failure: string | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** When the host was first asked without an answer; ms since the epoch; undefined: nobody is to be told. */
  #toldSince: number | undefined;

  constructor(options: AwaitOptions) {
    this.#options = options;
  }

  /** Undefined: it has not been sent, or not waited for long enough to be told of. */
  get told(): AwaitedAnswer | undefined {
    if (this.#toldSince === undefined) return undefined;
    const { question, connection } = this.#options;
    return { ...question, connection, since: this.#toldSince, failure: this.#failure };
  }

  /** An attempt is made. */
  begin(): void {
    if (this.#sinceMs !== undefined) return;
    const { question, tellMs } = this.#options;
    this.#sinceMs = silentSinceMs.get(question.host) ?? performance.now();
    open.add(this);
    // However long it has been silent: now it may answer.
    const sinceMs = this.#sinceMs;
    this.#timer = setTimeout(() => this.#tell(sinceMs), tellMs).unref();
  }

  /** An attempt failed. */
  noteFailure(message: string): void {
    this.#failure = message;
  }

  /** The host has answered. */
  noteAnswer(): void {
    const { question, log } = this.#options;
    silentSinceMs.delete(question.host);
    if (this.#toldSince !== undefined) log.info('the code host answers again', { ...question });
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
    this.#toldSince = undefined;
    this.#failure = undefined;
  }

  #tell(sinceMs: number): void {
    // Why kept: worked out anew it may be another millisecond, and another sentence.
    this.#toldSince = Math.round(Date.now() - performance.now() + sinceMs);
    const { question, log } = this.#options;
    const since = new Date(this.#toldSince).toISOString();
    const failure = this.#failure === undefined ? {} : { failure: this.#failure };
    log.warn('the code host does not answer, and is asked again; look whether it is well', {
      ...question,
      since,
      ...failure,
    });
  }
}

/** Those that people are to be told of, which is waited for the longest first. */
export function awaitedAnswers(): readonly AwaitedAnswer[] {
  return [...open].flatMap(({ told }) => told ?? []).sort((a, b) => a.since - b.since);
}

/** That of a connection which is waited for the longest. */
export function awaitedOf(connection: string): AwaitedAnswer | undefined {
  return awaitedAnswers().find((one) => one.connection === connection);
}

/** As `awaitedOf`, of what git asks for. @param urls  the repositories that are meant; made when there is anything to find */
export function awaitedByGit(urls: () => readonly string[]): AwaitedAnswer | undefined {
  const byGit = awaitedAnswers().filter(({ connection }) => connection === undefined);
  if (byGit.length === 0) return undefined;
  const places = urls().map((url) => new URL(url));
  const isMeant = ({ host, what }: AwaitedAnswer): boolean => {
    const path = what.slice(what.indexOf(' ') + 1);
    return places.some(
      (place) => place.host === host && path.startsWith(`${place.pathname.replace(/\/$/, '')}/`),
    );
  };
  return byGit.find(isMeant);
}

export function awaitedSentence({ host, what, since, failure }: AwaitedAnswer): string {
  const waits = `${what} is waited for; look whether the host is well`;
  return `${host} has not answered since ${new Date(since).toISOString()}, and is asked again by itself: ${failure ?? waits}`;
}
