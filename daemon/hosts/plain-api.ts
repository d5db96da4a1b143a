// Requests to the API of a host: JSON, with a schema for each answer. Callers follow pages.

import type { z } from 'zod';
import type { SecretText } from '../base/config/secret-text.ts';
import { checked, jsonOf, questionOf } from './answers.ts';
import type { Fetch } from './transport.ts';

export interface PlainApiOptions {
  /** Paths are appended to it. */
  readonly url: string;
  readonly user?: string | undefined;
  /** The current one. */
  readonly token: () => SecretText | undefined;
  /** Of the authorization header, for a token without a user. Default: Bearer. */
  readonly scheme?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  /** Text before the JSON of each answer. */
  readonly prefix?: string;
}

type Query = Readonly<Record<string, string | number | boolean>>;

export interface ApiAnswer<Data> {
  readonly data: Data;
  readonly headers: Headers;
}

export class PlainApi {
  readonly #options: PlainApiOptions;

  constructor(options: PlainApiOptions) {
    this.#options = options;
  }

  /** As `page`, without the headers. */
  async get<Schema extends z.ZodType>(
    schema: Schema,
    address: string,
    query?: Query,
  ): Promise<z.output<Schema>> {
    return (await this.page(schema, address, query)).data;
  }

  /**
   * Errors: HostError, the reason of the signal of `fetch`.
   * @param address  a path, or a whole address from the host; the transport refuses those of other hosts
   */
  async page<Schema extends z.ZodType>(
    schema: Schema,
    address: string,
    query: Query = {},
    method: 'GET' | 'POST' = 'GET',
  ): Promise<ApiAnswer<z.output<Schema>>> {
    const { fetch, prefix, url: base } = this.#options;
    const url = new URL(address.startsWith('/') ? `${base}${address}` : address);
    for (const [name, value] of Object.entries(query)) url.searchParams.set(name, String(value));
    const token = this.#options.token();
    const question = questionOf(method, url);
    const response = await fetch(url, { method, headers: this.#headers(token) });
    const answer = await jsonOf(response, question, token, prefix);
    return { data: checked(schema, answer, question), headers: response.headers };
  }

  #headers(token: SecretText | undefined): Record<string, string> {
    const { user, scheme = 'Bearer', headers } = this.#options;
    const all = { accept: 'application/json', ...headers };
    if (token === undefined) return all;
    const isBasic = user !== undefined;
    return {
      ...all,
      authorization: isBasic ? basicOf(user, token) : `${scheme} ${token.reveal()}`,
    };
  }
}

/** Encodes arbitrary parts into a path. */
export function pathOf(strings: TemplateStringsArray, ...parts: readonly string[]): string {
  return String.raw({ raw: strings }, ...parts.map((part) => encodeURIComponent(part)));
}

/** The value of an authorization header. */
export function basicOf(user: string, password: SecretText): string {
  return `Basic ${Buffer.from(`${user}:${password.reveal()}`).toString('base64')}`;
}
