// Whether public repositories of a server are readable without sign-in. A closed server does not report that it is closed;
// so once per listing an address that an open server shows to all is requested without a credential.

import { HostError, type HostRepo, type ListingIssue, type SaidVisibility } from './host.ts';
import { statusFailure } from './failures.ts';
import { HostTransport, type TransportOptions } from './transport.ts';

export class AnonymousProbe {
  readonly #options: Omit<TransportOptions, 'url'>;
  readonly #addressOf: (repo: HostRepo) => string;
  /** The visibility that replaces public; undefined: not determined yet. */
  #probed: Promise<SaidVisibility> | undefined;
  /** Name of the host that gave no answer. */
  #untold: string | undefined;

  /** @param addressOf  an API address about a public repository, or about the server */
  constructor(options: Omit<TransportOptions, 'url'>, addressOf: (repo: HostRepo) => string) {
    this.#options = options;
    this.#addressOf = addressOf;
  }

  /** Forgets the answer: a listing starts. */
  restart(): this {
    this.#probed = undefined;
    this.#untold = undefined;
    return this;
  }

  /** As `at`, for one repository. */
  async of(repo: HostRepo, signal: AbortSignal): Promise<HostRepo> {
    const [visibility] = await this.at([{ repo }], signal);
    return visibility!.repo;
  }

  /** The same repositories; public ones of a closed server become internal. Errors: HostError; the reason of the signal. */
  async at<One extends Probed>(
    listed: readonly One[],
    signal: AbortSignal,
  ): Promise<readonly One[]> {
    const publicRepo = listed.find(({ repo }) => repo?.visibility === 'public')?.repo;
    if (publicRepo === undefined) return listed;
    this.#probed ??= this.#fetch(this.#addressOf(publicRepo), signal).catch((error: unknown) => {
      this.#probed = undefined;
      throw error;
    });
    const visibility = await this.#probed;
    return visibility === 'public' ? listed : listed.map((one) => withVisibility(one, visibility));
  }

  async #fetch(url: string, signal: AbortSignal): Promise<SaidVisibility> {
    const isOpen = await isOpenToAll({ ...this.#options, url }, signal);
    if (isOpen !== undefined) return isOpen ? 'public' : 'internal';
    this.#untold = new URL(url).host;
    return 'maybe-public';
  }

  /** The issue that the host gave no answer; returned once. @param target  that was read */
  takeIssue(target: string): ListingIssue | undefined {
    const host = this.#untold;
    if (host === undefined) return undefined;
    this.#untold = undefined;
    return {
      code: 'RATE_LIMITED',
      target,
      effect: 'TARGET_SKIPPED',
      message:
        `${host}: whether its public repositories are visible without sign-in is unknown: it accepts no more anonymous requests now; ` +
        'repositories that were public stay public, others are internal until the next listing',
    };
  }
}

interface Probed {
  readonly repo: HostRepo | undefined;
}

function withVisibility<One extends Probed>(one: One, visibility: SaidVisibility): One {
  if (one.repo?.visibility !== 'public') return one;
  return { ...one, repo: { ...one.repo, visibility } };
}

/**
 * Requests something that an open server shows anybody, over a separate transport, so that the rate limit of anonymous
 * requests blocks no others. Undefined: that limit is reached, so the answer is unknown. Errors: HostError if the server is
 * unreachable; the reason of the signal.
 */
async function isOpenToAll(
  options: TransportOptions,
  signal: AbortSignal,
): Promise<boolean | undefined> {
  const { url, limits } = options;
  const transport = new HostTransport({ ...options, limits: { ...limits, waitMs: 0 } });
  const question = { host: transport.host, what: `GET ${new URL(url).pathname}` };
  try {
    const response = await transport.fetchUntil(signal)(url);
    if (response.status >= 500) throw statusFailure(response.status, '', question);
    return response.ok && (response.headers.get('content-type') ?? '').includes('json');
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof HostError) || error.code === 'HOST_UNAVAILABLE') throw error;
    return error.code === 'RATE_LIMITED' ? undefined : false;
  } finally {
    await transport.close();
  }
}
