// Requests to hosts without a maintained client library: GET, JSON, a schema.

import type { z } from 'zod';
import type { SecretText } from '../base/config/secret-text.ts';
import { checked, jsonOf, questionOf, withoutSlash } from './answers.ts';
import type { Fetch } from './transport.ts';

export interface PlainApiOptions {
  /** Paths are appended to it. */
  readonly url: string;
  readonly user?: string | undefined;
  /** The current one. */
  readonly token: () => SecretText | undefined;
  readonly fetch: Fetch;
  /** Text before the JSON of each answer. */
  readonly prefix?: string | undefined;
}

type Query = Readonly<Record<string, string | number>>;

export class PlainApi {
  readonly #options: PlainApiOptions;

  constructor(options: PlainApiOptions) {
    this.#options = options;
  }

  /**
   * @param address  a path, or a whole address from the host; the transport refuses those of other hosts
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

/** Encodes arbitrary parts into a path. */
export function pathOf(strings: TemplateStringsArray, ...parts: readonly string[]): string {
  return String.raw({ raw: strings }, ...parts.map((part) => encodeURIComponent(part)));
}

/** A token without a user is sent as Bearer. */
function authorizationOf(user: string | undefined, token: SecretText | undefined) {
  if (token === undefined) return {};
  if (user === undefined) return { authorization: `Bearer ${token.reveal()}` };
  const pair = Buffer.from(`${user}:${token.reveal()}`).toString('base64');
  return { authorization: `Basic ${pair}` };
}
