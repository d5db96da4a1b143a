// The Gitbeaker resources we use, on our transport.

import type { Groups, ProjectMembers, Projects, Users } from '@gitbeaker/core';
import { z } from 'zod';
import type { SecretText } from '../base/config/secret-text.ts';
import { checked, jsonOf, questionOf, withoutSlash } from './answers.ts';
import type { Fetch } from './transport.ts';

export interface GitLabClient {
  readonly projects: Projects;
  readonly groups: Groups;
  readonly users: Users;
  readonly members: ProjectMembers;
}

export interface GitLabClientOptions {
  readonly url: string;
  /** The current one. */
  readonly token: () => SecretText | undefined;
  readonly fetch: Fetch;
}

/** Errors of its calls: HostError, the reason of the signal of `fetch`. */
export async function openGitLabClient(options: GitLabClientOptions): Promise<GitLabClient> {
  // Why: 50 ms and 14 MB that a daemon without such a connection does not need.
  const [{ Groups, ProjectMembers, Projects, Users }, { createRequesterFn }] = await Promise.all([
    import('@gitbeaker/core'),
    import('@gitbeaker/requester-utils'),
  ]);
  const resource = {
    host: options.url,
    requesterFn: createRequesterFn(
      (_resource, request) => Promise.resolve(request),
      (endpoint, request) => send(endpoint, requestSchema.parse(request), options),
    ),
    // The transport limits time and number of requests.
    queryTimeout: null,
    rateLimits: {},
  };
  return {
    projects: new Projects(resource),
    groups: new Groups(resource),
    users: new Users(resource),
    members: new ProjectMembers(resource),
  };
}

/** A request as Gitbeaker passes it to its requester. */
const requestSchema = z.object({
  method: z.string(),
  prefixUrl: z.string(),
  searchParams: z.string().default(''),
});

/** Bodies that Gitbeaker accepts. */
const bodySchema = z.union([
  z.array(z.record(z.string(), z.unknown())),
  z.record(z.string(), z.unknown()),
]);

async function send(
  endpoint: string,
  { method, prefixUrl, searchParams }: z.output<typeof requestSchema>,
  options: GitLabClientOptions,
) {
  const url = new URL(endpoint, `${withoutSlash(prefixUrl)}/`);
  url.search = searchParams;
  const token = options.token();
  // In the header that accepts tokens of every kind.
  const authorization = token === undefined ? {} : { authorization: `Bearer ${token.reveal()}` };
  const headers = { accept: 'application/json', ...authorization };
  const response = await options.fetch(url, { method, headers });
  const question = questionOf(method, url);
  const body = checked(bodySchema, await jsonOf(response, question, token), question);
  return { body, headers: Object.fromEntries(response.headers), status: response.status };
}
