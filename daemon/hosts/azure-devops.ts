// Azure DevOps, the service and own servers. One answer lists all repositories of an organization: the API has no pages.
// Requests without a version get the server's newest one. If the connection names nothing, the organizations of its
// credential are requested from a separate host of the service, or the collections from a server.

import { z } from 'zod';
import { omitUndefined } from '../base/omit-undefined.ts';
import type { SettingsOf } from '../base/config/connections.ts';
import type { AnonymousProbe } from './anonymous-probe.ts';
import { questionOf } from './answers.ts';
import { statusFailure } from './failures.ts';
import { HostError, type Host, type HostRepo } from './host.ts';
import { HttpHost, type HostParts } from './http-host.ts';
import { pathOf, type PlainApi } from './plain-api.ts';
import { foundTarget, onePage, type Target, type Targets } from './targets.ts';
import type { Fetch, HostTransport } from './transport.ts';

type Settings = SettingsOf<'azuredevops'>;

const repositorySchema = z.object({
  id: z.string().min(1),
  name: z.string().min(1),
  project: z.object({
    name: z.string().min(1),
    /** A project visible to all members of an organization counts as private here. */
    visibility: z.string().optional(),
  }),
  isDisabled: z.boolean().optional(),
  isFork: z.boolean().optional(),
  size: z.number().nonnegative().optional(),
});
type Repository = z.output<typeof repositorySchema>;

const repositoryList = z.object({ value: z.array(repositorySchema) });
const collectionPage = z.object({ value: z.array(z.object({ name: z.string().min(1) })) });
const profileSchema = z.object({ id: z.string().min(1) });
const callerSchema = z.object({
  authenticatedUser: z.object({ id: z.string(), providerDisplayName: z.string().optional() }),
});
const accountList = z.object({ value: z.array(z.object({ accountName: z.string().min(1) })) });

const SERVICE = 'dev.azure.com';
const ACCOUNTS_URL = 'https://app.vssps.visualstudio.com';
const PAGE_SIZE = 100;
/** Bound: a listing that never ends; 10,000 collections. */
const COLLECTION_PAGES_MAX = 100;

export class AzureDevOps extends HttpHost<Settings> implements Host {
  readonly codeHostType = 'azuredevops';
  readonly #accounts: HostTransport;
  readonly #accountsUrl: string;

  constructor(settings: Settings, parts: HostParts) {
    const { url, useTfsPath, exclude } = settings;
    const { projects, repos, size } = exclude;
    const paths = [...repos, ...projects.map((glob) => `${glob}/*`)];
    super(settings, parts, {
      // Names of organizations are appended to it.
      apiUrl: `${url}${useTfsPath ? '/tfs' : ''}`,
      // It accepts any name, but requires one.
      gitUser: 'token',
      // Disabled ones can be neither read nor written, whatever `exclude.disabled` says.
      selection: { exclude: { archived: true, paths, size } },
    });
    // Any other address is a test server with everything in one place.
    this.#accountsUrl = this.nameHost === SERVICE ? ACCOUNTS_URL : this.apiUrl;
    this.#accounts = this.openTransport(this.#accountsUrl);
  }

  async targets(signal: AbortSignal): Promise<Targets> {
    const { orgs, projects, repos } = this.settings;
    const isSelectionEmpty = orgs.length + projects.length + repos.length === 0;
    const found = isSelectionEmpty ? await this.#everyOrg(signal) : undefined;
    const targets = [
      ...orgs.map((name) => this.#org(`orgs: ${name}`, name, signal)),
      ...(found ?? []).map((name) => this.#org(foundTarget(name), name, signal)),
      ...projects.map((name) => this.#project(name, signal)),
      ...repos.map((name) => this.#repo(name, signal)),
    ];
    return { targets, foundCount: found?.length };
  }

  async repository(path: string, signal: AbortSignal): Promise<HostRepo> {
    const [org = '', project = '', name = ''] = path.split('/');
    const url = this.#urlOf(org);
    const repository = await this.#repository(project, name, this.#apiAt(url, signal));
    return this.#probe(url).of(repoOfAzure(repository, org, url), signal);
  }

  async probe(signal: AbortSignal): Promise<string> {
    const { orgs, projects, repos } = this.settings;
    const [path] = [...orgs, ...projects, ...repos];
    const org = path?.split('/')[0] ?? (await this.#everyOrg(signal))[0];
    if (org === undefined) return 'somebody who sees nothing';
    const api = this.#apiAt(this.apiUrl, signal);
    const { authenticatedUser } = await api.get(callerSchema, pathOf`/${org}/_apis/connectionData`);
    return authenticatedUser.providerDisplayName ?? authenticatedUser.id;
  }

  override async close(): Promise<void> {
    await Promise.all([super.close(), this.#accounts.close()]);
  }

  /** Errors: HostError; the reason of the signal. */
  #everyOrg(signal: AbortSignal): Promise<string[]> {
    const isServer = this.settings.deploymentType === 'server';
    return isServer ? this.#everyCollection(signal) : this.#everyAccount(signal);
  }

  async #everyAccount(signal: AbortSignal): Promise<string[]> {
    const api = this.#apiAt(this.#accountsUrl, signal, this.#accounts);
    const version = { 'api-version': '7.0' };
    try {
      const { id } = await api.get(profileSchema, '/_apis/profile/profiles/me', version);
      const query = { ...version, memberId: id };
      const { value } = await api.get(accountList, '/_apis/accounts', query);
      return value.map(({ accountName }) => accountName);
    } catch (error) {
      if (!(error instanceof HostError) || error.code !== 'NOT_AUTHENTICATED') throw error;
      const hint = 'a token of a single organization cannot list organizations: name it in `orgs`';
      throw new HostError(error.code, `${error.message}; ${hint}`);
    }
  }

  async #everyCollection(signal: AbortSignal): Promise<string[]> {
    const api = this.#apiAt(this.apiUrl, signal);
    const names = new Set<string>();
    for (let page = 0; page < COLLECTION_PAGES_MAX; page++) {
      const query = { $top: PAGE_SIZE, $skip: page * PAGE_SIZE };
      const { value } = await api.get(collectionPage, '/_apis/projectCollections', query);
      for (const { name } of value) names.add(name);
      if (value.length < PAGE_SIZE) break;
    }
    return [...names];
  }

  #apiAt(url: string, signal: AbortSignal, transport = this.transport): PlainApi {
    return this.api(signal, { url, user: '', fetch: signedIn(transport.fetchUntil(signal)) });
  }

  #org(name: string, org: string, signal: AbortSignal): Target {
    return this.#target(name, org, signal, (api) => repositoriesAt('/_apis/git/repositories', api));
  }

  #project(path: string, signal: AbortSignal): Target {
    const [org = '', project = ''] = path.split('/');
    const address = pathOf`/${project}/_apis/git/repositories`;
    return this.#target(`projects: ${path}`, org, signal, (api) => repositoriesAt(address, api));
  }

  #repo(path: string, signal: AbortSignal): Target {
    const [org = '', project = '', name = ''] = path.split('/');
    const read = async (api: PlainApi) => [await this.#repository(project, name, api)];
    return { ...this.#target(`repos: ${path}`, org, signal, read), isRepo: true };
  }

  #repository(project: string, name: string, api: PlainApi): Promise<Repository> {
    return api.get(repositorySchema, pathOf`/${project}/_apis/git/repositories/${name}`);
  }

  #target(
    name: string,
    org: string,
    signal: AbortSignal,
    read: (api: PlainApi) => Promise<readonly Repository[]>,
  ): Target {
    const url = this.#urlOf(org);
    return {
      name,
      anonymousProbe: this.#probe(url),
      pages: () =>
        onePage(async () => {
          const repos = await read(this.#apiAt(url, signal));
          return repos.map((repo) => this.listedAs(repoOfAzure(repo, org, url)));
        }),
    };
  }

  #urlOf(org: string): string {
    return `${this.apiUrl}/${encodeURIComponent(org)}`;
  }

  /** Each organization decides whether it shows public projects. @param url  of the organization */
  #probe(url: string): AnonymousProbe {
    return this.anonymousProbe(({ hostId }) => `${url}/_apis/git/repositories/${hostId}`);
  }
}

async function repositoriesAt(address: string, api: PlainApi): Promise<readonly Repository[]> {
  return (await api.get(repositoryList, address)).value;
}

/** @param url  of the organization */
function repoOfAzure(repository: Repository, org: string, url: string): HostRepo {
  const { id, name, project, size } = repository;
  const path = [org, project.name, name].join('/');
  // Not the host's address: it contains a user name.
  const page = `${url}/${encodeURIComponent(project.name)}/_git/${encodeURIComponent(name)}`;
  return {
    hostId: id,
    path,
    displayName: path,
    cloneUrl: page,
    webUrl: page,
    isFork: repository.isFork === true,
    isArchived: repository.isDisabled === true,
    visibility: visibilityOf(project.visibility),
    topics: [],
    ...omitUndefined({ size }),
  };
}

function visibilityOf(visibility: string | undefined): HostRepo['visibility'] {
  if (visibility === undefined) return 'unknown';
  return visibility === 'public' ? 'public' : 'private';
}

/** Azure DevOps answers unauthenticated requests with a sign-in page and a success status, or with a redirect to one. */
function signedIn(fetch: Fetch): Fetch {
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
