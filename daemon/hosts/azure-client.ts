// Clients of azure-devops-node-api on our transport: their own HTTP code is replaced. They first ask a server for its API
// versions, and adapt to old servers.

import type { ClientApiBase } from 'azure-devops-node-api/ClientApiBases.js';
import type { SecretText } from '../base/config/secret-text.ts';
import { messageOf } from '../base/caught.ts';
import { questionOf, textOf } from './answers.ts';
import { answerFailure, statusFailure } from './failures.ts';
import { HostError } from './host.ts';
import { basicOf } from './plain-api.ts';
import type { Fetch } from './transport.ts';

export interface AzureClientOptions {
  /** Of an organization or collection; or of a server, to list its collections. */
  readonly url: string;
  /** The current one. */
  readonly token: () => SecretText;
  /** Also fails on sign-in pages. */
  readonly fetch: Fetch;
  /** That of `fetch`. */
  readonly signal: AbortSignal;
}

/** Errors of its methods: HostError, the reason of the signal. */
export interface AzureClient {
  /** All repositories of an organization or one of its projects in one answer: the API has no pages. */
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

/** Errors of the library itself mean answers that it does not understand. */
async function resultOf(call: Promise<unknown>, options: AzureClientOptions): Promise<unknown> {
  try {
    return await call;
  } catch (error) {
    options.signal.throwIfAborted();
    if (error instanceof HostError) throw error;
    throw answerFailure(messageOf(error), questionOf('GET', new URL(options.url)));
  }
}

function throughTransport<Api extends ClientApiBase>(api: Api, options: AzureClientOptions): Api {
  const { client } = api.rest;
  // All other methods of the library call this one.
  client.request = async (method, address, _body, headers) => {
    const url = new URL(address);
    const accept = headers['Accept'] ?? 'application/json';
    const authorization = basicOf('', options.token());
    const response = await options.fetch(url, { method, headers: { accept, authorization } });
    const text = await textOf(response, questionOf(method, url), options.token());
    const message = { statusCode: response.status, headers: Object.fromEntries(response.headers) };
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: only these members are read.
    return { message, readBody: () => Promise.resolve(text) } as Awaited<
      ReturnType<typeof client.request>
    >;
  };
  return api;
}

/** Azure DevOps answers unauthenticated requests with a sign-in page and a success status, or with a redirect to one. */
export function signedIn(fetch: Fetch): Fetch {
  return async (url, options) => {
    try {
      const response = await fetch(url, options);
      if (response.status !== 203) return response;
    } catch (error) {
      if (!(error instanceof HostError) || error.code !== 'REDIRECT_REFUSED') throw error;
    }
    throw statusFailure(
      401,
      'a page to sign in',
      questionOf(options?.method ?? 'GET', new URL(url)),
    );
  };
}
