// Whether what a server calls public is what nobody in particular may read. One that is closed to those who do not sign in does
// not say so; an address that an open one shows to all, asked for once a listing without a credential, does.

import type { HostRepo, ListingIssue, SaidVisibility } from './host.ts';
import { isOpenToAll } from './open-to-all.ts';
import type { TransportOptions } from './transport.ts';

export class PublicLook {
  readonly #options: Omit<TransportOptions, 'url'>;
  readonly #addressOf: (repo: HostRepo) => string;
  /** What counts in place of public; undefined: nobody has asked. */
  #seen: Promise<SaidVisibility> | undefined;
  /** Name of the host that did not say. */
  #untold: string | undefined;

  /** @param addressOf  where the API says something of a public repository, or of the server */
  constructor(options: Omit<TransportOptions, 'url'>, addressOf: (repo: HostRepo) => string) {
    this.#options = options;
    this.#addressOf = addressOf;
  }

  /** As `at`, of one. */
  async of(repo: HostRepo, signal: AbortSignal): Promise<HostRepo> {
    const [seen] = await this.at([{ repo }], signal);
    return seen!.repo;
  }

  /** The same; what is public on a closed server is internal. Errors: HostError; the reason of the signal. */
  async at<One extends Looked>(
    listed: readonly One[],
    signal: AbortSignal,
  ): Promise<readonly One[]> {
    const shown = listed.find(({ repo }) => repo?.visibility === 'public')?.repo;
    if (shown === undefined) return listed;
    this.#seen ??= this.#ask(this.#addressOf(shown), signal).catch((error: unknown) => {
      this.#seen = undefined;
      throw error;
    });
    const visibility = await this.#seen;
    return visibility === 'public' ? listed : listed.map((one) => seenAs(one, visibility));
  }

  async #ask(url: string, signal: AbortSignal): Promise<SaidVisibility> {
    const isOpen = await isOpenToAll({ ...this.#options, url }, signal);
    if (isOpen !== undefined) return isOpen ? 'public' : 'internal';
    this.#untold = new URL(url).host;
    return 'maybe-public';
  }

  /** That the host did not say; told once. @param target  that was read */
  takeIssue(target: string): ListingIssue | undefined {
    const host = this.#untold;
    if (host === undefined) return undefined;
    this.#untold = undefined;
    return {
      code: 'RATE_LIMITED',
      target,
      effect: 'TARGET_SKIPPED',
      message:
        `${host}: whether those who do not sign in see its public repositories is not known: it takes no more requests of them now; ` +
        'what was public stays so, others are internal until the next listing',
    };
  }
}

interface Looked {
  readonly repo: HostRepo | undefined;
}

function seenAs<One extends Looked>(one: One, visibility: SaidVisibility): One {
  if (one.repo?.visibility !== 'public') return one;
  return { ...one, repo: { ...one.repo, visibility } };
}
