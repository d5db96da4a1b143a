// Bitbucket Data Center and Server, REST API 1.0. Its listing lacks size, time of the last push and default branch, which
// would take a request each; git provides the last.

import { z } from 'zod';
import type { SettingsOf } from '../base/config/connections.ts';
import { withoutSlash } from './answers.ts';
import { answerFailure } from './failures.ts';
import type { GitCredential, Host, HostRepo, ListingPage } from './host.ts';
import type { HostParts } from './parts.ts';
import { HttpHost } from './http-host.ts';
import { pathOf, type PlainApi } from './plain-api.ts';
import type { AnonymousProbe } from './anonymous-probe.ts';
import { selectionFilter, listedAs } from './select.ts';
import { listTargets, oneRepo, type Listed, type Target } from './targets.ts';

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
  readonly #isKept: ReturnType<typeof selectionFilter>;
  readonly #anonymous: AnonymousProbe | undefined;

  /** Errors: ConfigError for invalid certificates or proxies. */
  constructor(settings: Settings, parts: HostParts) {
    super(settings, parts, `${withoutSlash(settings.url)}/rest/api/1.0`);
    const { forks, archived, repos } = settings.exclude;
    this.#isKept = selectionFilter({ exclude: { forks, archived, paths: repos } });
    if (settings.token !== undefined)
      this.#anonymous = this.anonymousProbe(({ path }) => `${this.apiUrl}${addressOf(path)}`);
  }

  async *list(from: unknown, signal: AbortSignal): AsyncIterable<ListingPage> {
    const api = this.api(signal);
    const { all, projects, repos } = this.settings;
    const targets = [
      // Without `archived` the host omits archived ones.
      ...(all ? [this.#paged('all', '/repos', { archived: 'ALL' }, api)] : []),
      ...projects.map((key) =>
        this.#paged(`projects: ${key}`, pathOf`/projects/${key}/repos`, {}, api),
      ),
      ...repos.map((name) => this.#repo(name, api)),
    ];
    const anonymousProbe = this.#anonymous?.restart();
    yield* listTargets({ targets, issues: [], anonymousProbe }, from, signal);
  }

  async repository(path: string, signal: AbortSignal): Promise<HostRepo> {
    const repository = await this.api(signal).get(repositorySchema, addressOf(path));
    const repo = repoOf(repository, this.settings.url);
    return this.#anonymous?.of(repo, signal) ?? repo;
  }

  async gitCredential(): Promise<GitCredential | undefined> {
    const { gitUser, user } = this.settings;
    // The user name for access tokens, of accounts and of projects.
    return this.credential(gitUser ?? user ?? 'x-token-auth');
  }

  async probe(signal: AbortSignal): Promise<string> {
    await this.api(signal).get(firstPage, '/repos', { limit: 1 });
    const { token, user } = this.settings;
    return token === undefined ? 'anonymous' : (user ?? 'an access token');
  }

  #repo(repo: string, api: PlainApi): Target {
    const address = addressOf(repo);
    return oneRepo(`repos: ${repo}`, async () =>
      this.#listed(await api.get(repositorySchema, address)),
    );
  }

  #paged(name: string, address: string, query: { archived?: string }, api: PlainApi): Target {
    return {
      name,
      readPage: async (cursor) => {
        const start = Number(cursor ?? 0);
        const paging = { ...query, limit: PAGE_SIZE, start };
        const page = await api.get(repositoryPage, address, paging);
        const listed = page.values.map((repository) => this.#listed(repository));
        if (page.isLastPage) return { listed };
        const next = page.nextPageStart ?? start;
        if (next > start) return { listed, next };
        const question = { host: this.nameHost, what: name };
        throw answerFailure('a page that does not follow the one before', question);
      },
    };
  }

  #listed(repository: Repository): Listed {
    return listedAs(repoOf(repository, this.settings.url), this.#isKept);
  }
}

/** @param repo  `KEY/slug` */
function addressOf(repo: string): string {
  const [key = '', slug = ''] = repo.split('/');
  return pathOf`/projects/${key}/repos/${slug}`;
}

function repoOf(repository: Repository, url: string): HostRepo {
  const { id, slug, name, project } = repository;
  const base = withoutSlash(url);
  const displayName = `${project.name ?? project.key}/${name ?? slug}`;
  return {
    hostId: String(id),
    path: `${project.key}/${slug}`,
    displayName,
    cloneUrl: `${base}/scm/${project.key.toLowerCase()}/${slug}.git`,
    webUrl: `${base}${webPathOf(project.key)}/repos/${slug}`,
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
