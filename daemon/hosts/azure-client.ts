// The clients of azure-devops-node-api, speaking through the transport: what sends their requests is put aside. They ask a host
// first which versions of its API it has, and speak to old servers as those want it.

import type { ClientApiBase } from 'azure-devops-node-api/ClientApiBases.js';
import type { SecretText } from '../base/config/secret-text.ts';
import { questionOf, textOf } from './answers.ts';
import { failureOf, statusFailure } from './failures.ts';
import { HostError } from './host.ts';
import type { Fetch } from './transport.ts';

export interface AzureClientOptions {
  /** Of an organization or collection; or of a server, for its collections. */
  readonly url: string;
  /** As it is now. */
  readonly token: () => SecretText;
  /** Errors: also of pages to sign in. */
  readonly fetch: Fetch;
  /** That of `fetch`. */
  readonly signal: AbortSignal;
}

/** Errors of what it reads: HostError, the reason of the signal. */
export interface AzureClient {
  /** All repositories of an organization, or of one of its projects, at once: the API has no pages. */
  repositories(project?: string): Promise<unknown>;
  repository(project: string, name: string): Promise<unknown>;
  collections(count: number, skipped: number): Promise<unknown>;
}

export async function openAzureClient(options: AzureClientOptions): Promise<AzureClient> {
  // Why: 70 ms and 20 MB that a daemon without such a connection does not need.
  const [{ CoreApi }, { GitApi }] = await Promise.all([
    import('azure-devops-node-api/CoreApi.js'),
    import('azure-devops-node-api/GitApi.js'),
  ]);
  const core = throughTransport(new CoreApi(options.url, []), options);
  const git = throughTransport(new GitApi(options.url, []), options);
  return {
    repositories: (project) => resultOf(git.getRepositories(project), options),
    repository: (project, name) => resultOf(git.getRepository(name, project), options),
    collections: (count, skipped) => resultOf(core.getProjectCollections(count, skipped), options),
  };
}

/** Errors of the library itself are of answers that it does not understand. */
async function resultOf(call: Promise<unknown>, options: AzureClientOptions): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    options.signal.throwIfAborted();
    throw failureOf(error, questionOf('GET', new URL(options.url)), [options.token()]);
  }
}

function throughTransport<Api extends ClientApiBase>(api: Api, options: AzureClientOptions): Api {
  const { client } = api.rest;
  // The one method that all others of the library come to.
  client.request = async (method, address, _body, headers) => {
    const url = new URL(address);
    const response = await ask(method, url, headers, options);
    const text = await textOf(response, questionOf(method, url), options.token());
    const message = { statusCode: response.status, headers: Object.fromEntries(response.headers) };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: these members of it are read.
    return { message, readBody: () => Promise.resolve(text) } as Awaited<
      ReturnType<typeof client.request>
    >;
  };
  return api;
}

function ask(
  method: string,
  url: URL,
  headers: Readonly<Record<string, string>>,
  { fetch, token }: AzureClientOptions,
): Promise<Response> {
  const pair = Buffer.from(`:${token().reveal()}`).toString('base64');
  const accept = headers['Accept'] ?? 'application/json';
  return fetch(url, { method, headers: { accept, authorization: `Basic ${pair}` } });
}

/** Azure DevOps shows who is not known a page to sign in, with a status that is no refusal, or sends him to one elsewhere. */
export function signedIn(fetch: Fetch): Fetch {
  return async (input, init) => {
    try {
      const response = await fetch(input, init);
      if (response.status !== 203) return response;
    } catch (error) {
      if (!(error instanceof HostError) || error.code !== 'REDIRECT_REFUSED') throw error;
    }
    const url = new URL(input instanceof Request ? input.url : input);
    throw statusFailure(401, 'a page to sign in', questionOf(init?.method ?? 'GET', url));
  };
}
