// Lists the repositories of a GitHub connection (github.com, ghe.com, own servers) and who may read them, and gives git its
// credential: a token, that of an app of its address, or none.

import { z } from 'zod';
import { omitUndefined } from '../base/omit-undefined.ts';
import type { SettingsOf } from '../base/config/connections.ts';
import { githubApiUrl, isGithubCloud } from '../base/config/github-address.ts';
import type { SecretText } from '../base/config/secret-text.ts';
import { hostText, hostTime, idAndAddresses, imageOf, ownerName } from './answers.ts';
import { GithubApps, type GithubApp } from './github-app.ts';
import {
  HostError,
  type GitCredential,
  type Host,
  type HostMember,
  type HostRepo,
  type ListingIssue,
} from './host.ts';
import { HttpHost, type HostParts } from './http-host.ts';
import { numberedPages, type NumberedPage } from './numbered-pages.ts';
import { pathOf, type PlainApi } from './plain-api.ts';
import { oneRepo, type Target, type Targets } from './targets.ts';

type Settings = SettingsOf<'github'>;

export interface GithubOptions extends HostParts {
  /** The configured apps; those of the connection's address count. */
  readonly apps: readonly GithubApp[];
}

/** User name for tokens of every kind. */
const TOKEN_USER = 'x-access-token';
const PAGE_SIZE = 100;

const repositorySchema = z.object({
  id: z.int().positive(),
  full_name: ownerName,
  fork: z.boolean(),
  // Older servers lack the following ones.
  private: z.boolean(),
  visibility: z.string().optional(),
  archived: z.boolean().default(false),
  topics: z.array(hostText).max(1_000).default([]),
  /** KiB. */
  size: z.number().nonnegative().optional(),
  pushed_at: z.string().nullish(),
  owner: z.object({ avatar_url: hostText.nullish() }).nullish(),
});
type GithubRepository = z.output<typeof repositorySchema>;

/** The repositories of an installation are inside an object. */
const repositoryPage = z.preprocess(
  (data) =>
    typeof data === 'object' && data !== null && 'repositories' in data ? data.repositories : data,
  z.array(repositorySchema).max(PAGE_SIZE),
);
const callerSchema = z.object({ login: z.string() });
const memberPage = z
  .array(
    z.object({
      id: z.int().positive(),
      permissions: z.object({ pull: z.boolean().default(false) }).optional(),
    }),
  )
  .max(PAGE_SIZE);

const HEADERS = { accept: 'application/vnd.github+json', 'x-github-api-version': '2022-11-28' };

export class Github extends HttpHost<Settings> implements Host {
  readonly codeHostType = 'github';
  /** Empty if the connection has a token. */
  readonly #apps: GithubApps;

  constructor(settings: Settings, options: GithubOptions) {
    const { url, topics, exclude } = settings;
    super(settings, options, {
      apiUrl: githubApiUrl(url),
      gitUser: TOKEN_USER,
      selection: { topics, exclude: { ...exclude, paths: exclude.repos } },
    });
    this.#apps = new GithubApps({
      apps:
        settings.token === undefined
          ? options.apps.filter((app) => app.url.toLowerCase() === url.toLowerCase())
          : [],
      api: (token, signal) => this.#api(token, signal),
      transport: this.transport,
      env: options.env,
    });
    if (!isGithubCloud(url)) this.anonymous = this.anonymousProbe(() => `${this.apiUrl}/meta`);
  }

  async targets(signal: AbortSignal): Promise<Targets> {
    const { orgs, users, repos } = this.settings;
    let pending: Promise<string | undefined> | undefined;
    const isCaller = async (user: string): Promise<boolean> => {
      pending ??= this.#callerIfAny(signal);
      return (await pending)?.toLowerCase() === user.toLowerCase();
    };
    const targets = [
      ...orgs.map((org) => this.#ofOrg(org, signal)),
      ...users.flatMap((user) => this.#ofUser(user, isCaller, signal)),
      ...repos.map((path) =>
        oneRepo(`repos: ${path}`, async () => this.listedAs(await this.#repository(path, signal))),
      ),
    ];
    return { targets, issues: await this.#notInstalled(signal) };
  }

  async repository(path: string, signal: AbortSignal): Promise<HostRepo> {
    return this.probed(await this.#repository(path, signal), signal);
  }

  override async gitCredential(
    { path }: Pick<HostRepo, 'path'>,
    signal: AbortSignal,
  ): Promise<GitCredential | undefined> {
    const password = await this.#tokenFor(path, signal);
    return password && { user: TOKEN_USER, password };
  }

  async probe(signal: AbortSignal): Promise<string> {
    if (!this.#apps.isEmpty) return this.#apps.describe(signal);
    if (this.token() !== undefined) return this.#caller(signal);
    await this.#api(undefined, signal).get(z.unknown(), '/meta');
    return 'anonymous';
  }

  async *members(
    { hostId, path }: Pick<HostRepo, 'hostId' | 'path'>,
    signal: AbortSignal,
  ): AsyncIterable<HostMember> {
    const address = `${addressOf(path)}/collaborators`;
    for (let page = 1; ; page++) {
      const api = this.#api(await this.#tokenFor(path, signal), signal);
      const query = { affiliation: 'all', per_page: PAGE_SIZE, page };
      const { data, headers } = await api.page(memberPage, address, query);
      for (const { id, permissions } of data)
        // GitHub does not report which addresses of others are verified.
        if (permissions?.pull === true) yield { accountId: String(id), emails: [] };
      if (lastPageOf(headers, page) === page) break;
    }
    // GitHub lists collaborators by path only, where another repository may be by now.
    if ((await this.#repository(path, signal)).hostId !== hostId)
      throw new HostError(
        'OTHER_REPOSITORY',
        `${this.nameHost}: another repository is at ${path} now; its connection is listed again`,
      );
  }

  #ofOrg(org: string, signal: AbortSignal): Target {
    return this.#paged(`orgs: ${org}`, signal, async () => ({
      address: pathOf`/orgs/${org}/repos`,
      query: { type: 'all' },
      token: await this.#tokenFor(org, signal),
    }));
  }

  /** Lists only public repositories of other users; all of the caller's own, and for an app those it was given. */
  #ofUser(
    username: string,
    isCaller: (user: string) => Promise<boolean>,
    signal: AbortSignal,
  ): Target[] {
    const publicOnes = this.#paged(`users: ${username}`, signal, async () => {
      const token = await this.#tokenFor(username, signal);
      return (await isCaller(username))
        ? { address: '/user/repos', query: { affiliation: 'owner' }, token }
        : { address: pathOf`/users/${username}/repos`, query: { type: 'owner' }, token };
    });
    return this.#apps.isEmpty ? [publicOnes] : [publicOnes, this.#ofInstallation(username, signal)];
  }

  #ofInstallation(owner: string, signal: AbortSignal): Target {
    const name = `users: ${owner}, what the app was given`;
    return this.#paged(name, signal, async () => {
      const token = await this.#tokenFor(owner, signal);
      return token && { address: '/installation/repositories', query: {}, token };
    });
  }

  async #repository(path: string, signal: AbortSignal): Promise<HostRepo> {
    const api = this.#api(await this.#tokenFor(path, signal), signal);
    return repoOfGithub(await api.get(repositorySchema, addressOf(path)), this.settings.url);
  }

  /** @param request  the request; undefined: nothing to list */
  #paged(name: string, signal: AbortSignal, request: () => Promise<Paged | undefined>): Target {
    const read = async (page: number): Promise<NumberedPage> => {
      const call = await request();
      if (call === undefined) return { listed: [], last: 1 };
      const query = { ...call.query, sort: 'created', direction: 'asc', per_page: PAGE_SIZE, page };
      const api = this.#api(call.token, signal);
      const { data, headers } = await api.page(repositoryPage, call.address, query);
      const repos = data.map((repository) => repoOfGithub(repository, this.settings.url));
      return { listed: repos.map((repo) => this.listedAs(repo)), last: lastPageOf(headers, page) };
    };
    const question = { host: this.transport.host, what: name };
    return { name, pages: () => numberedPages(question, read) };
  }

  #api(token: SecretText | undefined, signal: AbortSignal): PlainApi {
    return this.api(signal, { token: () => token, headers: HEADERS });
  }

  /** @param path  of a repository, or its owner */
  async #tokenFor(path: string, signal: AbortSignal): Promise<SecretText | undefined> {
    return this.token() ?? this.#apps.tokenOf(path.split('/')[0] ?? '', signal);
  }

  async #caller(signal: AbortSignal): Promise<string> {
    return (await this.#api(this.token(), signal).get(callerSchema, '/user')).login;
  }

  /** The token's user; some tokens belong to no user. */
  async #callerIfAny(signal: AbortSignal): Promise<string | undefined> {
    if (this.token() === undefined) return undefined;
    try {
      return await this.#caller(signal);
    } catch (error) {
      if (error instanceof HostError && error.code === 'NOT_ALLOWED') return undefined;
      throw error;
    }
  }

  /** Owners of whom only public repositories can be listed. */
  async #notInstalled(signal: AbortSignal): Promise<ListingIssue[]> {
    if (this.#apps.isEmpty) return [];
    const { orgs, users } = this.settings;
    const owners = [
      ...orgs.map((owner) => ({ owner, target: `orgs: ${owner}` })),
      ...users.map((owner) => ({ owner, target: `users: ${owner}` })),
    ];
    const issues: ListingIssue[] = [];
    for (const { owner, target } of owners) {
      if (await this.#apps.isInstalled(owner, signal)) continue;
      const message = `${this.nameHost}: ${owner} has not installed the app, so only public repositories are listed; install it there, or give the connection a token`;
      issues.push({ code: 'APP_NOT_INSTALLED', target, effect: 'DISCOVERY_INCOMPLETE', message });
    }
    return issues;
  }
}

/** A request with a paged answer. */
interface Paged {
  readonly address: string;
  readonly query: Readonly<Record<string, string>>;
  readonly token: SecretText | undefined;
}

/** @param path  `owner/name` */
function addressOf(path: string): string {
  const [owner = '', repo = ''] = path.split('/');
  return pathOf`/repos/${owner}/${repo}`;
}

/** Number of the last page from a page's links; undefined: the links only have a next page. */
function lastPageOf(headers: Headers, page: number): number | undefined {
  const link = headers.get('link') ?? '';
  const last = /[?&]page=(\d+)[^<>]*>; rel="last"/.exec(link)?.[1];
  if (last !== undefined) return Number(last);
  return /\brel="next"/.test(link) ? undefined : page;
}

/** @param url  of the connection; GitHub's own addresses may lead elsewhere */
function repoOfGithub(repository: GithubRepository, url: string): HostRepo {
  const path = repository.full_name;
  const pushedAt = hostTime(repository.pushed_at);
  return {
    ...idAndAddresses(repository.id, path, url),
    ...imageOf(repository.owner?.avatar_url),
    isFork: repository.fork,
    isArchived: repository.archived,
    visibility: visibilityOf(repository),
    topics: repository.topics,
    ...(repository.size === undefined ? {} : { size: repository.size * 1024 }),
    ...omitUndefined({ pushedAt }),
  };
}

/** Servers before 3.0 only report private or not; private ones may be internal. */
function visibilityOf(repository: GithubRepository): HostRepo['visibility'] {
  const { visibility = 'public' } = repository;
  if (visibility === 'internal') return 'internal';
  if (visibility === 'private' || repository.private) return 'private';
  return visibility === 'public' ? 'public' : 'unknown';
}
