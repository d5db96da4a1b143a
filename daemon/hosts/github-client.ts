// Requests to the API of GitHub over Octokit, by our transport. What comes back is checked by who asks.

import { Octokit } from '@octokit/core';
import type { SecretText } from '../base/config/secret-text.ts';
import type { Log } from '../base/log.ts';
import { githubApiUrl } from '../base/config/github-address.ts';
import { failureOf, type Question } from './failures.ts';
import type { HostTransport } from './transport.ts';

/** A request of GitHub's documents: `GET /orgs/{org}/repos`, and what stands for its names, the rest as query. */
export interface GithubQuestion {
  readonly route: string;
  readonly parameters?: Readonly<Record<string, string | number>>;
  /** Undefined: nobody asks. */
  readonly token: SecretText | undefined;
  readonly signal: AbortSignal;
}

export interface GithubAnswer {
  readonly data: unknown;
  readonly link: string;
  readonly question: Question;
}

export class GithubClient {
  readonly #octokit: Octokit;
  readonly #transport: HostTransport;
  /** What Octokit says, of parts of the API that are to go. */
  readonly #log: Octokit['log'];

  constructor(url: string, transport: HostTransport, log: Log) {
    this.#transport = transport;
    const tell = (message: string): void => log.debug(message);
    this.#log = { debug: tell, info: tell, warn: tell, error: tell };
    this.#octokit = new Octokit({ baseUrl: githubApiUrl(url), userAgent: 'trawl', log: this.#log });
  }

  /** Errors: HostError; the reason of the signal. */
  async ask({ route, parameters, token, signal }: GithubQuestion): Promise<GithubAnswer> {
    const { url, method } = this.#octokit.request.endpoint(route, parameters);
    const question = { host: this.#transport.host, what: `${method} ${new URL(url).pathname}` };
    try {
      const { data, headers } = await this.#octokit.request(route, {
        ...parameters,
        headers: {
          'x-github-api-version': '2022-11-28',
          ...(token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` }),
        },
        request: {
          fetch: this.#transport.fetchUntil(signal),
          log: this.#log,
          // Why: reading numbers of any length takes ten times as long as JSON.parse, and stops everything else meanwhile.
          parseSuccessResponseBody: false,
        },
      });
      return { data: await jsonIn(data), link: headers.link ?? '', question };
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error, question, [token]);
    }
  }
}

/** The JSON in the body of an answer; undefined for an empty one. Errors: SyntaxError. */
async function jsonIn(body: ReadableStream<Uint8Array> | undefined): Promise<unknown> {
  const text = await new Response(body ?? null).text();
  return text === '' ? undefined : JSON.parse(text);
}
