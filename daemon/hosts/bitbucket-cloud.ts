// Bitbucket Cloud. It has no archived repositories and no topics. Repositories outside the caller's workspaces cannot be
// listed: Atlassian removed those requests in April 2026.

import { z } from 'zod';
import { omitUndefined } from '../base/omit-undefined.ts';
import type { SettingsOf } from '../base/config/connections.ts';
import { hostTime, imageOf } from './answers.ts';
import { answerFailure, issueOf } from './failures.ts';
import { HostError, type Host, type HostRepo } from './host.ts';
import { HttpHost, type HostParts } from './http-host.ts';
import { pathOf, type PlainApi } from './plain-api.ts';
import { foundTarget, type Listed, oneRepo, type Target, type Targets } from './targets.ts';

type Settings = SettingsOf<'bitbucket'>;

const PAGE_SIZE = 100;

const repositorySchema = z.object({
  uuid: z.string().min(1),
  full_name: z.string().min(1),
  is_private: z.boolean().optional(),
  parent: z.unknown().optional(),
  updated_on: z.string().nullish(),
  links: z.object({ avatar: z.object({ href: z.string().max(1_000) }).optional() }).optional(),
});
type Repository = z.output<typeof repositorySchema>;
/** Requested fields of each repository: a page of a hundred has 40 KB in place of 400. */
const FIELDS = Object.entries({
  uuid: '',
  full_name: '',
  is_private: '',
  parent: '.uuid',
  updated_on: '',
  links: '.avatar.href',
} satisfies Record<keyof Repository, string>).map(([name, inner]) => `${name}${inner}`);

const repositoryPage = z.object({
  values: z.array(repositorySchema).max(PAGE_SIZE),
  next: z.string().optional(),
});
const workspacePage = z.object({
  values: z.array(z.object({ workspace: z.object({ slug: z.string().min(1) }) })),
  next: z.string().optional(),
});
const callerSchema = z.object({ uuid: z.string(), display_name: z.string().optional() });

/** By creation: a new repository does not move others to another page. */
const IN_ORDER = {
  pagelen: PAGE_SIZE,
  sort: 'created_on',
  fields: ['next', ...FIELDS.map((field) => `values.${field}`)].join(','),
};
/** Bound: a listing that never ends; 10,000 workspaces. */
const WORKSPACE_PAGES_MAX = 100;

export class BitbucketCloud extends HttpHost<Settings> implements Host {
  readonly codeHostType = 'bitbucketCloud';

  constructor(settings: Settings, parts: HostParts) {
    const { forks, archived, repos } = settings.exclude;
    super(settings, parts, {
      apiUrl: apiUrlOf(settings.url),
      gitUser: gitUserOf(settings),
      selection: { exclude: { forks, archived, paths: repos } },
    });
  }

  repository(path: string, signal: AbortSignal): Promise<HostRepo> {
    return this.#repository(path, this.api(signal));
  }

  async probe(signal: AbortSignal): Promise<string> {
    if (this.token() === undefined) return 'anonymous';
    try {
      const { display_name: name, uuid } = await this.api(signal).get(callerSchema, '/user');
      return name ?? uuid;
    } catch (error) {
      // A token of a repository, project or workspace is valid without being a user's.
      if (error instanceof HostError && error.code === 'NOT_ALLOWED') return 'an access token';
      throw error;
    }
  }

  async targets(signal: AbortSignal): Promise<Targets> {
    const api = this.api(signal);
    const { all, workspaces, projects, repos } = this.settings;
    const own = all ? await this.#ownWorkspaces(api) : { names: [], issues: [] };
    const found = [...new Set(own.names)].filter((name) => !workspaces.includes(name));
    const targets = [
      ...[...new Set(workspaces)].map((name) => this.#paged(`workspaces: ${name}`, name, {}, api)),
      ...found.map((name) => this.#paged(foundTarget(name), name, {}, api)),
      ...projects.map((name) => this.#project(name, api)),
      ...repos.map((path) =>
        oneRepo(`repos: ${path}`, async () => this.listedAs(await this.#repository(path, api))),
      ),
    ];
    const isFound = all && own.issues.length === 0;
    return { targets, issues: own.issues, foundCount: isFound ? own.names.length : undefined };
  }

  /** Errors: HostError if the credential is refused. */
  async #ownWorkspaces(api: PlainApi) {
    const names: string[] = [];
    const question = { host: this.nameHost, what: 'all' };
    try {
      let answer = await api.get(workspacePage, '/user/workspaces', { pagelen: PAGE_SIZE });
      for (let page = 1; ; page++) {
        names.push(...answer.values.map(({ workspace }) => workspace.slug));
        if (answer.next === undefined) return { names, issues: [] };
        if (page >= WORKSPACE_PAGES_MAX) throw answerFailure('too many pages', question);
        answer = await api.get(workspacePage, answer.next);
      }
    } catch (error) {
      if (!(error instanceof HostError) || error.code === 'NOT_AUTHENTICATED') throw error;
      return { names, issues: [issueOf(error, { name: 'all' })] };
    }
  }

  #project(project: string, api: PlainApi): Target {
    const [workspace, key] = parted(project);
    const query = { q: `project.key=${JSON.stringify(key)}` };
    return this.#paged(`projects: ${project}`, workspace, query, api);
  }

  #paged(name: string, workspace: string, query: { q?: string }, api: PlainApi): Target {
    return { name, pages: () => this.#pages(pathOf`/repositories/${workspace}`, query, api) };
  }

  async *#pages(address: string, query: { q?: string }, api: PlainApi): AsyncGenerator<Listed[]> {
    let page = await api.get(repositoryPage, address, { ...IN_ORDER, ...query });
    for (;;) {
      yield page.values.map((one) => this.listedAs(repoOf(one, this.settings.url)));
      if (page.next === undefined) return;
      page = await api.get(repositoryPage, page.next);
    }
  }

  async #repository(path: string, api: PlainApi): Promise<HostRepo> {
    const [workspace, slug] = parted(path);
    const address = pathOf`/repositories/${workspace}/${slug}`;
    const repository = await api.get(repositorySchema, address, { fields: FIELDS.join(',') });
    return repoOf(repository, this.settings.url);
  }
}

/** Any other address is a test server with everything in one place. */
function apiUrlOf(url: string): string {
  if (new URL(url).host === 'bitbucket.org') return 'https://api.bitbucket.org/2.0';
  return `${url}/2.0`;
}

/** `owner/name`; an empty name matches no repository. */
function parted(name: string): readonly [owner: string, own: string] {
  const [owner = '', ...own] = name.split('/');
  return [owner, own.join('/')];
}

/** An API token needs an e-mail address for the API, and a special name for git. */
function gitUserOf({ user, gitUser }: Settings): string {
  if (gitUser !== undefined) return gitUser;
  if (user === undefined) return 'x-token-auth';
  return user.includes('@') ? 'x-bitbucket-api-token-auth' : user;
}

function repoOf(repository: Repository, url: string): HostRepo {
  const { uuid, full_name: path, is_private: isPrivate } = repository;
  const pushedAt = hostTime(repository.updated_on);
  return {
    hostId: uuid,
    path,
    displayName: path,
    cloneUrl: `${url}/${path}.git`,
    webUrl: `${url}/${path}`,
    ...imageOf(repository.links?.avatar?.href),
    isFork: repository.parent !== undefined && repository.parent !== null,
    isArchived: false,
    visibility: isPrivate === undefined ? 'unknown' : isPrivate ? 'private' : 'public',
    topics: [],
    ...omitUndefined({ pushedAt }),
  };
}
