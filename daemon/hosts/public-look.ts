// Whether what a server calls public is what nobody in particular may read. One that is closed to those who do not sign in does
// not say so; the first public repository of a listing, asked for without a credential, does.

import type { HostRepo } from './host.ts';
import { isOpenToAll } from './open-to-all.ts';
import type { TransportOptions } from './transport.ts';

export class PublicLook {
  readonly #options: Omit<TransportOptions, 'url'>;
  readonly #addressOf: (repo: HostRepo) => string;
  #isOpen: boolean | undefined;

  /** @param addressOf  where the API says something of a repository */
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
    const url = this.#addressOf(shown);
    this.#isOpen ??= await isOpenToAll({ ...this.#options, url }, signal);
    return this.#isOpen ? listed : listed.map(closed);
  }
}

interface Looked {
  readonly repo: HostRepo | undefined;
}

function closed<One extends Looked>(one: One): One {
  if (one.repo?.visibility !== 'public') return one;
  return { ...one, repo: { ...one.repo, visibility: 'internal' } };
}
