// Gitea, and Forgejo with the same API.

import { z } from 'zod';
import type { SettingsOf } from '../base/config/connections.ts';
import { omitUndefined } from '../base/omit-undefined.ts';
import { hostText, hostTime, idAndAddresses, imageOf, ownerName } from './answers.ts';
import type { Host, HostRepo } from './host.ts';
import { HttpHost, type HostParts } from './http-host.ts';
import { numberedPages, type NumberedPage } from './numbered-pages.ts';
import { pathOf, type PlainApi } from './plain-api.ts';
import { oneRepo, type Target, type Targets } from './targets.ts';

type Settings = SettingsOf<'gitea'>;

/** The servers' default maximum. */
const PAGE_SIZE = 50;

const image = hostText.optional();

const repositorySchema = z.object({
  id: z.int().positive(),
  full_name: ownerName,
  private: z.boolean(),
  /** Not private, but owned by an organization that only its members see. */
  internal: z.boolean().optional(),
  fork: z.boolean(),
  archived: z.boolean().default(false),
  topics: z.array(hostText).max(1_000).nullish(),
  updated_at: z.string().optional(),
  avatar_url: image,
  owner: z.object({ visibility: z.string().optional(), avatar_url: image }).nullish(),
});
type GiteaRepository = z.output<typeof repositorySchema>;

const ownerSchema = z.object({ id: z.int().positive() });
const callerSchema = z.object({ login: z.string() });
const searchSchema = z.object({ data: z.array(repositorySchema).max(PAGE_SIZE) });

export class Gitea extends HttpHost<Settings> implements Host {
  readonly codeHostType = 'gitea';

  constructor(settings: Settings, parts: HostParts) {
    const { url, exclude } = settings;
    super(settings, parts, {
      apiUrl: `${url}/api/v1`,
      // Any name goes with a token.
      gitUser: 'x-access-token',
      selection: { exclude: { ...exclude, paths: exclude.repos } },
    });
    this.anonymous = this.anonymousProbe(() => `${this.apiUrl}/repos/search?limit=1`);
  }

  targets(signal: AbortSignal): Targets {
    const { orgs, users, repos } = this.settings;
    const api = this.#api(signal);
    const targets = [
      ...orgs.map((org) => this.#ofOwner(`orgs: ${org}`, pathOf`/orgs/${org}`, api)),
      ...users.map((user) => this.#ofOwner(`users: ${user}`, pathOf`/users/${user}`, api)),
      ...repos.map((path) =>
        oneRepo(`repos: ${path}`, async () => this.listedAs(await this.#repository(path, api))),
      ),
    ];
    return { targets };
  }

  async repository(path: string, signal: AbortSignal): Promise<HostRepo> {
    return this.probed(await this.#repository(path, this.#api(signal)), signal);
  }

  async probe(signal: AbortSignal): Promise<string> {
    const api = this.#api(signal);
    if (this.token() !== undefined) return (await api.get(callerSchema, '/user')).login;
    await api.get(z.unknown(), '/version');
    return 'anonymous';
  }

  /** Repositories of an owner, searched by the owner's id, as only a search has a stable order. */
  #ofOwner(name: string, address: string, api: PlainApi): Target {
    let owner: number | undefined;
    const read = async (page: number): Promise<NumberedPage> => {
      owner ??= (await api.get(ownerSchema, address)).id;
      const order = { sort: 'id', order: 'asc', limit: PAGE_SIZE, page };
      const query = { uid: owner, exclusive: true, ...order };
      const { data, headers } = await api.page(searchSchema, '/repos/search', query);
      const repos = data.data.map((repository) => repoOfGitea(repository, this.settings.url));
      const count = headers.get('x-total-count');
      const total = count === null ? undefined : Number(count);
      const listed = repos.map((repo) => this.listedAs(repo));
      return { listed, total, last: lastPage(page, listed.length, total) };
    };
    const question = { host: this.nameHost, what: name };
    return { name, pages: () => numberedPages(question, read) };
  }

  async #repository(path: string, api: PlainApi): Promise<HostRepo> {
    const [owner = '', name = ''] = path.split('/');
    const repository = await api.get(repositorySchema, pathOf`/repos/${owner}/${name}`);
    return repoOfGitea(repository, this.settings.url);
  }

  #api(signal: AbortSignal): PlainApi {
    return this.api(signal, { scheme: 'token' });
  }
}

/**
 * Number of the last page, computed from the first: servers may send fewer items than requested.
 * @param total  the server's count; undefined: none, so an empty page ends the listing
 */
function lastPage(page: number, length: number, total: number | undefined): number | undefined {
  if (length === 0) return page;
  return total === undefined ? undefined : Math.ceil(total / length);
}

/** @param url  of the connection; Gitea's own addresses are whatever its operator configured */
function repoOfGitea(repository: GiteaRepository, url: string): HostRepo {
  const path = repository.full_name;
  // Changed by pushes, but also by edits of the repository's settings.
  const pushedAt = hostTime(repository.updated_at);
  return {
    ...idAndAddresses(repository.id, path, url),
    ...imageOf(repository.avatar_url, repository.owner?.avatar_url),
    isFork: repository.fork,
    isArchived: repository.archived,
    visibility: visibilityOf(repository),
    topics: repository.topics ?? [],
    ...omitUndefined({ pushedAt }),
  };
}

/**
 * An owner may be visible only to members, or only to signed-in users: this also limits repositories that are not private.
 */
function visibilityOf(repository: GiteaRepository): HostRepo['visibility'] {
  const owner = repository.owner?.visibility ?? 'public';
  if (repository.private || repository.internal === true || owner === 'private') return 'private';
  if (owner !== 'public' && owner !== 'limited') return 'unknown';
  return owner === 'public' ? 'public' : 'internal';
}
