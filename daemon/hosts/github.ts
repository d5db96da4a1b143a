// Lists the repositories of a GitHub connection (github.com, ghe.com, own servers) and who may read them, and gives git its
// credential: a token, that of an app of its address, or none.

import { z } from 'zod';
import { omitUndefined } from '../base/omit-undefined.ts';
import type { SettingsOf } from '../base/config/connections.ts';
import { githubApiUrl, isGithubCloud } from '../base/config/github-address.ts';
import type { SecretText } from '../base/config/secret-text.ts';
import { checked, hostText, idAndAddresses, isoTime, ownerName, withoutSlash } from './answers.ts';
import { GithubApps, type GithubApp } from './github-app.ts';
import { GithubClient, type GithubAnswer } from './github-client.ts';
import {
  HostError,
  type GitCredential,
  type Host,
  type HostMember,
  type HostRepo,
  type ListingIssue,
  type ListingPage,
} from './host.ts';
import { readNumbered, type NumberedPage } from './numbered-pages.ts';
import { HttpHost } from './http-host.ts';
import type { HostParts } from './parts.ts';
import type { AnonymousProbe } from './anonymous-probe.ts';
import { selectionFilter, listedAs } from './select.ts';
import { listTargets, oneRepo, type Listed, type Target } from './targets.ts';

type Settings = SettingsOf<'github'>;

export interface GithubOptions extends HostParts {
  /** The configured apps; those of the connection's address count. */
  readonly apps: readonly GithubApp[];
}

/** User name for tokens of every kind. */
const TOKEN_USER = 'x-access-token';
const PAGE_SIZE = 100;
/** Bound: a listing that never ends; a million members. */
const MEMBER_PAGES_MAX = 10_000;

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
  default_branch: hostText.nullish(),
  pushed_at: z.string().nullish(),
  owner: z.object({ avatar_url: hostText.nullish() }).nullish(),
});
type GithubRepository = z.output<typeof repositorySchema>;

const repositoryPage = z.array(repositorySchema).max(PAGE_SIZE);
const callerSchema = z.object({ login: z.string() });
const memberPage = z
  .array(
    z.object({
      id: z.int().positive(),
      permissions: z.object({ pull: z.boolean().default(false) }).optional(),
    }),
  )
  .max(PAGE_SIZE);

export class Github extends HttpHost<Settings> implements Host {
  readonly codeHostType = 'github';
  readonly #client: GithubClient;
  /** Empty if the connection has a token. */
  readonly #apps: GithubApps;
  readonly #isKept: (repo: HostRepo) => boolean;
  readonly #anonymous: AnonymousProbe | undefined;

  /** Errors: ConfigError for invalid certificates or proxies. */
  constructor(settings: Settings, options: GithubOptions) {
    const { url, topics, exclude } = settings;
    super(settings, options, githubApiUrl(url));
    this.#client = new GithubClient(url, this.transport, options.log);
    this.#apps = new GithubApps({
      apps: settings.token === undefined ? options.apps.filter((app) => isSame(app.url, url)) : [],
      client: this.#client,
      transport: this.transport,
      env: options.env,
    });
    this.#isKept = selectionFilter({ topics, exclude: { ...exclude, paths: exclude.repos } });
    if (!isGithubCloud(url)) this.#anonymous = this.anonymousProbe(() => `${this.apiUrl}/meta`);
  }

  async *list(from: unknown, signal: AbortSignal): AsyncIterable<ListingPage> {
    const { orgs, users, repos } = this.settings;
    // Fails early: without it all targets would fail for the same reason.
    this.token();
    const anonymousProbe = this.#anonymous?.restart();
    let asking: Promise<string | undefined> | undefined;
    const isCaller = async (user: string): Promise<boolean> => {
      asking ??= this.#callerIfAny(signal);
      return (await asking)?.toLowerCase() === user.toLowerCase();
    };
    const targets = [
      ...orgs.map((org) => this.#ofOrg(org, signal)),
      ...users.flatMap((user) => this.#ofUser(user, isCaller, signal)),
      ...repos.map((path) => this.#ofRepo(path, signal)),
    ];
    const issues = from === undefined ? await this.#notInstalled(signal) : [];
    yield* listTargets({ targets, issues, anonymousProbe }, from, signal);
  }

  async repository(path: string, signal: AbortSignal): Promise<HostRepo> {
    const repo = repoOfGithub(await this.#repository(path, signal), this.settings.url);
    return this.#anonymous?.of(repo, signal) ?? repo;
  }

  async gitCredential(
    { path }: Pick<HostRepo, 'path'>,
    signal: AbortSignal,
  ): Promise<GitCredential | undefined> {
    const password = await this.#tokenFor(path, signal);
    return password === undefined ? undefined : { user: TOKEN_USER, password };
  }

  async probe(signal: AbortSignal): Promise<string> {
    if (!this.#apps.isEmpty) return this.#apps.describe(signal);
    const token = this.token();
    if (token !== undefined) return this.#caller(signal);
    await this.#client.request({ route: 'GET /meta', token, signal });
    return 'anonymous';
  }

  async *members({ path }: Pick<HostRepo, 'path'>, signal: AbortSignal): AsyncIterable<HostMember> {
    const [owner = '', repo = ''] = path.split('/');
    for (let page = 1; page <= MEMBER_PAGES_MAX; page++) {
      const { data, link, question } = await this.#client.request({
        route: 'GET /repos/{owner}/{repo}/collaborators',
        parameters: { owner, repo, affiliation: 'all', per_page: PAGE_SIZE, page },
        token: await this.#tokenFor(path, signal),
        signal,
      });
      for (const { id, permissions } of checked(memberPage, data, question))
        // GitHub does not report which addresses of others are verified.
        if (permissions?.pull === true) yield { accountId: String(id), emails: [] };
      if (lastPageOf(link, page) === page) return;
    }
  }

  #ofOrg(org: string, signal: AbortSignal): Target {
    return this.#paged(`orgs: ${org}`, signal, async () => ({
      route: 'GET /orgs/{org}/repos',
      parameters: { org, type: 'all' },
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
        ? { route: 'GET /user/repos', parameters: { affiliation: 'owner' }, token }
        : { route: 'GET /users/{username}/repos', parameters: { username, type: 'owner' }, token };
    });
    return this.#apps.isEmpty ? [publicOnes] : [publicOnes, this.#ofInstallation(username, signal)];
  }

  #ofInstallation(owner: string, signal: AbortSignal): Target {
    const name = `users: ${owner}, what the app was given`;
    return this.#paged(name, signal, async () => {
      const token = await this.#tokenFor(owner, signal);
      return token && { route: 'GET /installation/repositories', parameters: {}, token };
    });
  }

  #ofRepo(path: string, signal: AbortSignal): Target {
    return oneRepo(`repos: ${path}`, async () =>
      this.#listed(await this.#repository(path, signal)),
    );
  }

  async #repository(path: string, signal: AbortSignal): Promise<GithubRepository> {
    const [owner = '', repo = ''] = path.split('/');
    const { data, question } = await this.#client.request({
      route: 'GET /repos/{owner}/{repo}',
      parameters: { owner, repo },
      token: await this.#tokenFor(owner, signal),
      signal,
    });
    return checked(repositorySchema, data, question);
  }

  /** @param request  the request; undefined: nothing to list */
  #paged(name: string, signal: AbortSignal, request: () => Promise<Paged | undefined>): Target {
    const read = async (page: number): Promise<NumberedPage> => {
      const call = await request();
      if (call === undefined) return { listed: [], last: 1 };
      const order = { sort: 'created', direction: 'asc', per_page: PAGE_SIZE, page };
      const parameters = { ...call.parameters, ...order };
      const answer = await this.#client.request({ ...call, parameters, signal });
      const listed = repositoriesIn(answer).map((repository) => this.#listed(repository));
      return { listed, last: lastPageOf(answer.link, page) };
    };
    const question = { host: this.transport.host, what: name };
    return { name, readPage: (cursor) => readNumbered(cursor, question, read) };
  }

  #listed(repository: GithubRepository): Listed {
    return listedAs(repoOfGithub(repository, this.settings.url), this.#isKept);
  }

  /** @param path  of a repository, or its owner */
  async #tokenFor(path: string, signal: AbortSignal): Promise<SecretText | undefined> {
    return this.token() ?? this.#apps.tokenOf(path.split('/')[0] ?? '', signal);
  }

  async #caller(signal: AbortSignal): Promise<string> {
    const call = { route: 'GET /user', token: this.token(), signal };
    const { data, question } = await this.#client.request(call);
    return checked(callerSchema, data, question).login;
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
  readonly route: string;
  readonly parameters: Readonly<Record<string, string>>;
  readonly token: SecretText | undefined;
}

/** Those of an installation are inside an object. */
function repositoriesIn({ data, question }: GithubAnswer): GithubRepository[] {
  const isWrapped = typeof data === 'object' && data !== null && 'repositories' in data;
  return checked(repositoryPage, isWrapped ? data.repositories : data, question);
}

/** Number of the last page from a page's links; undefined: the links only have a next page. */
function lastPageOf(link: string, page: number): number | undefined {
  const last = /[?&]page=(\d+)[^<>]*>; rel="last"/.exec(link)?.[1];
  if (last !== undefined) return Number(last);
  return /\brel="next"/.test(link) ? undefined : page;
}

function isSame(one: string, other: string): boolean {
  return withoutSlash(one).toLowerCase() === withoutSlash(other).toLowerCase();
}

/** @param url  of the connection; GitHub's own addresses may lead elsewhere */
function repoOfGithub(repository: GithubRepository, url: string): HostRepo {
  const path = repository.full_name;
  const image = repository.owner?.avatar_url ?? '';
  const pushedAt = isoTime(repository.pushed_at);
  return {
    ...idAndAddresses(repository.id, path, url),
    ...(/^https?:\/\//.test(image) ? { imageUrl: image } : {}),
    isFork: repository.fork,
    isArchived: repository.archived,
    visibility: visibilityOf(repository),
    topics: repository.topics,
    ...(repository.size === undefined ? {} : { size: repository.size * 1024 }),
    ...(repository.default_branch ? { defaultBranch: repository.default_branch } : {}),
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
