// Gitea, and Forgejo with the same API, over gitea-js.

import { giteaApi, type RequestParams } from 'gitea-js';
import { z } from 'zod';
import type { SettingsOf } from '../base/config/connections.ts';
import { omitUndefined } from '../base/omit-undefined.ts';
import { checked, hostText, idAndAddresses, isoTime, ownerName, withoutSlash } from './answers.ts';
import { failureOf, type Question } from './failures.ts';
import type { GitCredential, Host, HostRepo, ListingPage } from './host.ts';
import { readNumbered, type NumberedPage } from './numbered-pages.ts';
import { HttpHost } from './http-host.ts';
import type { HostParts } from './parts.ts';
import { selectionFilter, listedAs } from './select.ts';
import { listTargets, oneRepo, type Listed, type Target } from './targets.ts';

type Settings = SettingsOf<'gitea'>;

/** An answer of gitea-js: the parsed body with the response. */
type Called = Pick<Response, 'headers'> & { readonly data: unknown };
type Call = (given: RequestParams) => Promise<Called>;

/** Any name goes with a token. */
const TOKEN_USER = 'x-access-token';
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
  /** Without commits; it names a default branch nevertheless. */
  empty: z.boolean().default(false),
  /** KiB. */
  size: z.number().nonnegative().optional(),
  default_branch: hostText.optional(),
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
  readonly #client: ReturnType<typeof giteaApi>;
  readonly #isKept: (repo: HostRepo) => boolean;
  readonly #anonymous = this.anonymousProbe(
    () => `${withoutSlash(this.apiUrl)}/api/v1/repos/search?limit=1`,
  );

  /** Errors: ConfigError for invalid certificates or proxies. */
  constructor(settings: Settings, parts: HostParts) {
    super(settings, parts);
    const { url, exclude } = settings;
    this.#client = giteaApi(withoutSlash(url), { customFetch: this.transport.fetch });
    this.#isKept = selectionFilter({ exclude: { ...exclude, paths: exclude.repos } });
  }

  async *list(from: unknown, signal: AbortSignal): AsyncIterable<ListingPage> {
    const { orgs, users, repos } = this.settings;
    // Fails early: without it all targets would fail for the same reason.
    this.token();
    const anonymousProbe = this.#anonymous.restart();
    const { orgs: ofOrgs, users: ofUsers } = this.#client;
    const targets = [
      ...orgs.map((org) =>
        this.#ofOwner(`orgs: ${org}`, signal, (given) => ofOrgs.orgGet(inPath(org), given)),
      ),
      ...users.map((user) =>
        this.#ofOwner(`users: ${user}`, signal, (given) => ofUsers.userGet(inPath(user), given)),
      ),
      ...repos.map((path) => this.#ofRepo(path, signal)),
    ];
    yield* listTargets({ targets, issues: [], anonymousProbe }, from, signal);
  }

  async repository(path: string, signal: AbortSignal): Promise<HostRepo> {
    const repo = repoOfGitea(await this.#repository(path, path, signal), this.settings.url);
    return this.#anonymous.of(repo, signal);
  }

  async gitCredential(): Promise<GitCredential | undefined> {
    return this.credential(TOKEN_USER);
  }

  async probe(signal: AbortSignal): Promise<string> {
    const { user, version } = this.#client;
    if (this.token() === undefined) {
      await this.#call('version', signal, (given) => version.getVersion(given));
      return 'anonymous';
    }
    const { data } = await this.#call('user', signal, (given) => user.userGetCurrent(given));
    return checked(callerSchema, data, this.#question('user')).login;
  }

  /** Repositories of an owner, searched by the owner's id, as only a search has a stable order. */
  #ofOwner(name: string, signal: AbortSignal, callOwner: Call): Target {
    let owner: number | undefined;
    const read = async (page: number): Promise<NumberedPage> => {
      if (owner === undefined) {
        const { data } = await this.#call(name, signal, callOwner);
        owner = checked(ownerSchema, data, this.#question(name)).id;
      }
      const order = { sort: 'id', order: 'asc', limit: PAGE_SIZE, page };
      const { data, headers } = await this.#call(name, signal, (given) =>
        this.#client.repos.repoSearch({ uid: owner!, exclusive: true, ...order }, given),
      );
      const { data: found } = checked(searchSchema, data, this.#question(name));
      const listed = found.map((repository) => this.#listed(repository));
      const count = headers.get('x-total-count');
      const total = count === null ? undefined : Number(count);
      return { listed, total, last: lastPage(page, listed.length, total) };
    };
    return { name, readPage: (cursor) => readNumbered(cursor, this.#question(name), read) };
  }

  #ofRepo(path: string, signal: AbortSignal): Target {
    const name = `repos: ${path}`;
    return oneRepo(name, async () => this.#listed(await this.#repository(path, name, signal)));
  }

  /** @param what  the request, in messages */
  async #repository(path: string, what: string, signal: AbortSignal): Promise<GiteaRepository> {
    const [owner = '', repo = ''] = path.split('/').map(inPath);
    const { data } = await this.#call(what, signal, (given) =>
      this.#client.repos.repoGet(owner, repo, given),
    );
    return checked(repositorySchema, data, this.#question(what));
  }

  #listed(repository: GiteaRepository): Listed {
    return listedAs(repoOfGitea(repository, this.settings.url), this.#isKept);
  }

  /**
   * @param what  the request, in messages
   *
   * Errors: HostError; the reason of the signal.
   */
  async #call(what: string, signal: AbortSignal, call: Call): Promise<Called> {
    const token = this.token();
    const headers = token ? { authorization: `token ${token.reveal()}` } : {};
    try {
      return await call({ signal, headers });
    } catch (error) {
      signal.throwIfAborted();
      throw failureOf(error, this.#question(what), [token]);
    }
  }

  #question(what: string): Question {
    return { host: this.transport.host, what };
  }
}

/** gitea-js does not encode names in paths. */
function inPath(name: string): string {
  return encodeURIComponent(name);
}

/**
 * Number of the last page, computed from the first: servers may send fewer items than requested.
 *
 * @param total  the server's count; undefined: none, so an empty page ends the listing
 */
function lastPage(page: number, length: number, total: number | undefined): number | undefined {
  if (length === 0) return page;
  return total === undefined ? undefined : Math.ceil(total / length);
}

/** @param url  of the connection; Gitea's own addresses are whatever its operator configured */
function repoOfGitea(repository: GiteaRepository, url: string): HostRepo {
  const path = repository.full_name;
  const { size, empty: isEmpty, default_branch: branch } = repository;
  const images = [repository.avatar_url, repository.owner?.avatar_url];
  const imageUrl = images.find((image) => /^https?:\/\//.test(image ?? ''));
  // Changed by pushes, but also by edits of the repository's settings.
  const pushedAt = isoTime(repository.updated_at);
  return {
    ...idAndAddresses(repository.id, path, url),
    ...omitUndefined({ imageUrl }),
    isFork: repository.fork,
    isArchived: repository.archived,
    visibility: visibilityOf(repository),
    topics: repository.topics ?? [],
    ...(size === undefined ? {} : { size: size * 1024 }),
    ...(branch && !isEmpty ? { defaultBranch: branch } : {}),
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
