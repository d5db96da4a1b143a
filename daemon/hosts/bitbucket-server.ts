// Bitbucket Data Center and Server, REST API 1.0. Its listing lacks the time of the last push, which would take a request each.

import { z } from 'zod';
import type { SettingsOf } from '../base/config/connections.ts';
import { answerFailure, type Question } from './failures.ts';
import type { Host, HostRepo } from './host.ts';
import { HttpHost, type HostParts } from './http-host.ts';
import { pathOf, type PlainApi } from './plain-api.ts';
import { type Listed, oneRepo, type Target, type Targets } from './targets.ts';
import type { Fetch } from './transport.ts';

type Settings = SettingsOf<'bitbucket'>;

/** The host's maximum; it may send fewer. */
const PAGE_SIZE = 1000;

const repositorySchema = z.object({
  id: z.int().positive(),
  slug: z.string().min(1),
  name: z.string().optional(),
  project: z.object({
    key: z.string().min(1),
    name: z.string().optional(),
    public: z.boolean().optional(),
  }),
  public: z.boolean().optional(),
  /** Since 8.0. */
  archived: z.boolean().optional(),
  /** Of a fork: its parent. */
  origin: z.unknown().optional(),
});
type Repository = z.output<typeof repositorySchema>;
const repositoryPage = z.object({
  values: z.array(repositorySchema).max(PAGE_SIZE),
  isLastPage: z.boolean(),
  nextPageStart: z.int().nullish(),
});
const firstPage = z.object({ values: z.array(z.unknown()) });

export class BitbucketServer extends HttpHost<Settings> implements Host {
  readonly codeHostType = 'bitbucketServer';

  constructor(settings: Settings, parts: HostParts) {
    const { url, gitUser, user, token, exclude } = settings;
    const { forks, archived, repos } = exclude;
    super(settings, parts, {
      apiUrl: `${url}/rest/api/1.0`,
      // The user name for access tokens, of accounts and of projects.
      gitUser: gitUser ?? user ?? 'x-token-auth',
      selection: { exclude: { forks, archived, paths: repos } },
    });
    if (token !== undefined)
      this.anonymous = this.anonymousProbe(({ path }) => `${this.apiUrl}${addressOf(path)}`);
  }

  targets(signal: AbortSignal): Targets {
    const api = this.api(signal);
    const { all, projects, repos } = this.settings;
    const targets = [
      // Without `archived` the host omits archived ones.
      ...(all ? [this.#paged('all', '/repos', { archived: 'ALL' }, api)] : []),
      ...projects.map((key) =>
        this.#paged(`projects: ${key}`, pathOf`/projects/${key}/repos`, {}, api),
      ),
      ...repos.map((path) =>
        oneRepo(`repos: ${path}`, async () => this.listedAs(await this.#repository(path, api))),
      ),
    ];
    return { targets };
  }

  async repository(path: string, signal: AbortSignal): Promise<HostRepo> {
    return this.probed(await this.#repository(path, this.api(signal)), signal);
  }

  async probe(signal: AbortSignal): Promise<string> {
    await this.api(signal).get(firstPage, '/repos', { limit: 1 });
    const { token, user } = this.settings;
    return token === undefined ? 'anonymous' : (user ?? 'an access token');
  }

  protected override api(signal: AbortSignal): PlainApi {
    return super.api(signal, { fetch: withForbidden(this.transport.fetchUntil(signal)) });
  }

  #paged(name: string, address: string, query: { archived?: string }, api: PlainApi): Target {
    const question = { host: this.nameHost, what: name };
    return { name, pages: () => this.#pages(address, query, api, question) };
  }

  async *#pages(
    address: string,
    query: { archived?: string },
    api: PlainApi,
    question: Question,
  ): AsyncGenerator<Listed[]> {
    for (let start = 0; ;) {
      const page = await api.get(repositoryPage, address, { ...query, limit: PAGE_SIZE, start });
      yield page.values.map((one) => this.listedAs(repoOf(one, this.settings.url)));
      if (page.isLastPage) return;
      const next = page.nextPageStart ?? start;
      if (next <= start)
        throw answerFailure('a page that does not follow the one before', question);
      start = next;
    }
  }

  async #repository(path: string, api: PlainApi): Promise<HostRepo> {
    return repoOf(await api.get(repositorySchema, addressOf(path)), this.settings.url);
  }
}

/** The host answers 401, as to a wrong credential, also where a good one may not read. Source: its REST reference, `projects`. */
function withForbidden(fetch: Fetch): Fetch {
  return async (url, options) => {
    const response = await fetch(url, options);
    if (response.status !== 401) return response;
    const text = await response.text();
    return new Response(text, { status: text.includes('.AuthorisationException"') ? 403 : 401 });
  };
}

/** @param repo  `KEY/slug` */
function addressOf(repo: string): string {
  const [key = '', slug = ''] = repo.split('/');
  return pathOf`/projects/${key}/repos/${slug}`;
}

function repoOf(repository: Repository, url: string): HostRepo {
  const { id, slug, name, project } = repository;
  const displayName = `${project.name ?? project.key}/${name ?? slug}`;
  return {
    hostId: String(id),
    path: `${project.key}/${slug}`,
    displayName,
    cloneUrl: `${url}/scm/${project.key.toLowerCase()}/${slug}.git`,
    webUrl: `${url}${webPathOf(project.key)}/repos/${slug}`,
    isFork: repository.origin !== undefined && repository.origin !== null,
    isArchived: repository.archived === true,
    visibility: repository.public === true || project.public === true ? 'public' : 'private',
    topics: [],
  };
}

/** A personal project is named after its owner, with a tilde. */
function webPathOf(key: string): string {
  return key.startsWith('~') ? `/users/${key.slice(1).toLowerCase()}` : `/projects/${key}`;
}
