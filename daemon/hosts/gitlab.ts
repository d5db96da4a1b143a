// GitLab, gitlab.com and own servers.

import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import { HOUR_MS } from '../base/durations.ts';
import { omitUndefined } from '../base/omit-undefined.ts';
import type { SettingsOf } from '../base/config/connections.ts';
import { hostText, hostTime, idAndAddresses, imageOf } from './answers.ts';
import { answerFailure } from './failures.ts';
import { HostError, type Host, type HostMember, type HostRepo } from './host.ts';
import { HttpHost, type HostParts } from './http-host.ts';
import { numberedPages } from './numbered-pages.ts';
import { pathOf, type PlainApi } from './plain-api.ts';
import { oneRepo, type Listed, type Target, type Targets } from './targets.ts';

type Settings = SettingsOf<'gitlab'>;

const PAGE_SIZE = 100;

/** The used fields of a project. Without a token GitLab sends only those before `namespace`. */
const projectSchema = z.object({
  id: z.int().positive(),
  path_with_namespace: z.string().min(1),
  default_branch: hostText.nullish(),
  topics: z.array(hostText).max(1_000).nullish(),
  avatar_url: hostText.nullish(),
  last_activity_at: z.string().nullish(),
  namespace: z.object({ kind: z.string() }).nullish(),
  visibility: z.string().optional(),
  archived: z.boolean().optional(),
  forked_from_project: z.unknown().optional(),
  repository_access_level: z.string().nullish(),
});
type Project = z.output<typeof projectSchema>;

const projectPage = z.array(projectSchema).max(PAGE_SIZE);
const memberPage = z
  .array(
    z.object({
      id: z.int().positive(),
      /** Of the account. */
      state: z.string(),
      /** `active`, or `awaiting` approval by an owner of the group; older servers lack it. */
      membership_state: z.string().nullish(),
      access_level: z.int(),
    }),
  )
  .max(PAGE_SIZE);
const callerSchema = z.object({ username: z.string() });
const userSchema = z.object({ email: z.string().nullish(), confirmed_at: z.string().nullish() });

/** Reporter: the lowest role that reads the code of a private project. */
const READS_CODE = 20;

export class GitLab extends HttpHost<Settings> implements Host {
  readonly codeHostType = 'gitlab';
  /** Verified addresses by account id. */
  readonly #emails = new LRUCache<number, readonly string[]>({ max: 20_000, ttl: HOUR_MS });

  constructor(settings: Settings, parts: HostParts) {
    const { url, token, topics, exclude } = settings;
    super(settings, parts, {
      apiUrl: `${url}/api/v4`,
      // GitLab accepts this name with tokens of every kind.
      gitUser: 'oauth2',
      selection: { topics, exclude: { ...exclude, paths: exclude.projects } },
    });
    if (this.nameHost !== 'gitlab.com' && token !== undefined)
      this.anonymous = this.anonymousProbe(({ hostId }) => `${this.apiUrl}/projects/${hostId}`);
  }

  targets(signal: AbortSignal): Targets {
    const { all, groups, users, projects, exclude } = this.settings;
    if (exclude.forks && this.token() === undefined)
      throw new HostError(
        'NOT_ALLOWED',
        `${this.nameHost}: exclude.forks: GitLab reports forks only with a token; give \`token\``,
      );
    const api = this.api(signal);
    const targets = [
      ...(all ? [this.#byId('all', '/projects', api)] : []),
      ...groups.map((group) => this.#ofGroup(group, api)),
      ...users.map((user) => this.#byId(`users: ${user}`, pathOf`/users/${user}/projects`, api)),
      ...projects.map((path) =>
        oneRepo(`projects: ${path}`, async () => this.#listed(await showProject(path, api))),
      ),
    ];
    return { targets };
  }

  async repository(path: string, signal: AbortSignal): Promise<HostRepo> {
    return this.probed(this.#repoOf(await showProject(path, this.api(signal))), signal);
  }

  async probe(signal: AbortSignal): Promise<string> {
    const api = this.api(signal);
    if (this.token() !== undefined) return (await api.get(callerSchema, '/user')).username;
    await api.get(projectPage, '/projects', { per_page: 1 });
    return 'anonymous';
  }

  async *members(
    { hostId }: Pick<HostRepo, 'hostId'>,
    signal: AbortSignal,
  ): AsyncIterable<HostMember> {
    const api = this.api(signal);
    const emailsOf = this.#emailReader(api);
    for (let page: number | undefined = 1; page !== undefined;) {
      const read: PageOf<z.output<typeof memberPage>> = await this.#page(
        memberPage,
        pathOf`/projects/${hostId}/members/all`,
        page,
        api,
      );
      const readers = read.data.filter(
        (one) =>
          one.state === 'active' &&
          (one.membership_state ?? 'active') === 'active' &&
          one.access_level >= READS_CODE,
      );
      const memberOf = async ({ id }: { readonly id: number }): Promise<HostMember> => ({
        accountId: String(id),
        emails: await emailsOf(id),
      });
      // Only the first: it shows whether the others are worth a request.
      for (const member of readers.slice(0, 1)) yield memberOf(member);
      yield* await Promise.all(readers.slice(1).map(memberOf));
      page = read.next;
    }
  }

  /** Pages by last id, not by number: removals cause no gaps, and GitLab counts only to 50,000. */
  #byId(name: string, address: string, api: PlainApi): Target {
    return { name, pages: () => this.#pagesById(address, api) };
  }

  async *#pagesById(address: string, api: PlainApi): AsyncGenerator<Listed[]> {
    let page;
    for (let after = 0; ; after = page.data.at(-1)?.id ?? after) {
      const query = { ...this.#inOrder(), id_after: after };
      page = await this.#page(projectPage, address, 1, api, query);
      if ((page.data.at(-1)?.id ?? Infinity) <= after) throw this.#disorder(address);
      yield this.#listedOf(page.data);
      if (page.next === undefined) return;
    }
  }

  #ofGroup(group: string, api: PlainApi): Target {
    const name = `groups: ${group}`;
    const address = pathOf`/groups/${group}/projects`;
    // Projects shared with a group belong to another one.
    const query = { ...this.#inOrder(), include_subgroups: true, with_shared: false };
    const read = async (page: number) => {
      const { data, next, last } = await this.#page(projectPage, address, page, api, query);
      return { listed: this.#listedOf(data), last: next === undefined ? page : last };
    };
    const question = { host: this.nameHost, what: name };
    return { name, pages: () => numberedPages(question, read) };
  }

  /** Errors: HostError; the reason of the signal. */
  async #page<Schema extends z.ZodType>(
    schema: Schema,
    address: string,
    page: number,
    api: PlainApi,
    more: Readonly<Record<string, string | number | boolean>> = {},
  ): Promise<PageOf<z.output<Schema>>> {
    const query = { ...more, page, per_page: PAGE_SIZE };
    const { data, headers } = await api.page(schema, address, query);
    const [current, next, last] = ['x-page', 'x-next-page', 'x-total-pages'].map(
      (name) => Number(headers.get(name)) || undefined,
    );
    if (current !== page || (next ?? Infinity) <= page) throw this.#disorder(address);
    return { data, next, last };
  }

  /** By age: new ones come last. */
  #inOrder() {
    // Without a token GitLab does not report whether a project is archived.
    const only = this.settings.exclude.archived ? { archived: false } : {};
    return { order_by: 'id', sort: 'asc', ...only };
  }

  #listedOf(projects: readonly Project[]): Listed[] {
    return projects.map((project) => this.#listed(project));
  }

  #listed(project: Project): Listed {
    const listed = this.listedAs(this.#repoOf(project));
    const { userOwnedProjects } = this.settings.exclude;
    const isPersonal = userOwnedProjects && project.namespace?.kind === 'user';
    // A project may have only issues or packages.
    const hasCode = project.repository_access_level !== 'disabled';
    return hasCode && !isPersonal ? listed : { ...listed, repo: undefined };
  }

  #repoOf(project: Project): HostRepo {
    return repoOfGitLab(project, this.settings, this.token() === undefined);
  }

  /** Reads the addresses verified by GitLab. Only administrators may see them, which the first answer shows. */
  #emailReader(api: PlainApi): (id: number) => Promise<readonly string[]> {
    let isPublicEmail = true;
    return async (id) => {
      const cached = this.#emails.get(id);
      if (cached !== undefined || !isPublicEmail) return cached ?? [];
      const user = await api.get(userSchema, `/users/${id}`);
      isPublicEmail = user.email !== undefined;
      const emails = user.email && user.confirmed_at ? [user.email] : [];
      if (isPublicEmail) this.#emails.set(id, emails);
      return emails;
    };
  }

  #disorder(what: string): HostError {
    const question = { host: this.nameHost, what };
    return answerFailure('another page than was requested', question);
  }
}

interface PageOf<Data> {
  readonly data: Data;
  /** Numbers of pages; `last` is unknown above 10,000 items, which GitLab does not count. */
  readonly next: number | undefined;
  readonly last: number | undefined;
}

function showProject(path: string, api: PlainApi): Promise<Project> {
  return api.get(projectSchema, pathOf`/projects/${path}`);
}

/** @param isAnonymous  requested without a token, so every listed project is public */
function repoOfGitLab(project: Project, settings: Settings, isAnonymous: boolean): HostRepo {
  const { path_with_namespace: path } = project;
  const pushedAt = hostTime(project.last_activity_at);
  return {
    // Not GitLab's own address, which may differ.
    ...idAndAddresses(project.id, path, settings.url, settings.webUrl),
    ...imageOf(project.avatar_url),
    isFork: project.forked_from_project !== undefined && project.forked_from_project !== null,
    isArchived: project.archived === true,
    visibility: visibilityOf(project, isAnonymous),
    topics: project.topics ?? [],
    // The last activity of any kind, updated once an hour at most: it may report news too early.
    ...omitUndefined({ pushedAt }),
  };
}

/**
 * Of the code: a public project may restrict its repository to members. GitLab omits the default branch for callers who may
 * not read the code.
 */
function visibilityOf(project: Project, isAnonymous: boolean): HostRepo['visibility'] {
  if (project.repository_access_level === 'private') return 'private';
  if (project.default_branch === undefined) return 'private';
  if (isAnonymous) return 'public';
  const { visibility } = project;
  return visibility === 'public' || visibility === 'internal' || visibility === 'private'
    ? visibility
    : 'unknown';
}
