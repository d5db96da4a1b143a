// Requests to hosts that have no client library that is kept up: GET, JSON, a schema.

import type { z } from 'zod';
import type { SecretText } from '../base/config/secret-text.ts';
import { checked, jsonOf, questionOf, withoutSlash } from './answers.ts';
import type { Fetch } from './transport.ts';

export interface PlainApiOptions {
  /** Paths are put behind it. */
  readonly url: string;
  readonly user?: string | undefined;
  /** As it is now. */
  readonly token: () => SecretText | undefined;
  readonly fetch: Fetch;
  /** What stands before the JSON of each answer. */
  readonly prefix?: string;
}

type Query = Readonly<Record<string, string | number>>;

export class PlainApi {
  readonly #options: PlainApiOptions;

  constructor(options: PlainApiOptions) {
    this.#options = options;
  }

  /**
   * @param address  a path, or a whole address that the host has named; the transport refuses those of other hosts
   *
   * Errors: HostError, the reason of the signal of `fetch`.
   */
  async get<Schema extends z.ZodType>(
    schema: Schema,
    address: string,
    query: Query = {},
  ): Promise<z.output<Schema>> {
    const { user, fetch, prefix, url: base } = this.#options;
    const url = new URL(address.startsWith('/') ? `${withoutSlash(base)}${address}` : address);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const token = this.#options.token();
    const headers = { accept: 'application/json', ...authorizationOf(user, token) };
    const question = questionOf('GET', url);
    return checked(
      schema,
      await jsonOf(await fetch(url, { headers }), question, token, prefix),
      question,
    );
  }
}

/** A path of parts that may hold anything. */
export function pathOf(strings: TemplateStringsArray, ...parts: readonly string[]): string {
  return String.raw({ raw: strings }, ...parts.map((part) => encodeURIComponent(part)));
}

/** A token without a user stands for itself. */
function authorizationOf(user: string | undefined, token: SecretText | undefined) {
  if (token === undefined) return {};
  if (user === undefined) return { authorization: `Bearer ${token.reveal()}` };
  const pair = Buffer.from(`${user}:${token.reveal()}`).toString('base64');
  return { authorization: `Basic ${pair}` };
}
