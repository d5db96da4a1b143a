// Requests to the GitHub API through Octokit on our transport. Callers validate the answers.

import { Octokit } from '@octokit/core';
import type { SecretText } from '../base/config/secret-text.ts';
import type { Log } from '../base/log.ts';
import { githubApiUrl } from '../base/config/github-address.ts';
import { failureOf, type Question } from './failures.ts';
import type { HostTransport } from './transport.ts';

/** A request as in GitHub's documentation: `GET /orgs/{org}/repos`, and its parameters, the rest as query. */
export interface GithubQuestion {
  readonly route: string;
  readonly parameters?: Readonly<Record<string, string | number>>;
  /** Undefined: anonymous. */
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
  /** Octokit's messages about deprecated parts of the API. */
  readonly #log: Octokit['log'];

  constructor(url: string, transport: HostTransport, log: Log) {
    this.#transport = transport;
    const logAt = (message: string): void => log.debug(message);
    this.#log = { debug: logAt, info: logAt, warn: logAt, error: logAt };
    this.#octokit = new Octokit({ baseUrl: githubApiUrl(url), userAgent: 'trawl', log: this.#log });
  }

  /** Errors: HostError; the reason of the signal. */
  async request({ route, parameters, token, signal }: GithubQuestion): Promise<GithubAnswer> {
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
          // Why: parsing numbers of any length takes ten times as long as JSON.parse, and blocks everything else.
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

/** The JSON in an answer's body; undefined if empty. Errors: SyntaxError. */
async function jsonIn(body: ReadableStream<Uint8Array> | undefined): Promise<unknown> {
  const text = await new Response(body ?? null).text();
  return text === '' ? undefined : JSON.parse(text);
}
