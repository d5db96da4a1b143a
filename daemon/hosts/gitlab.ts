// GitLab, gitlab.com and own servers, over Gitbeaker with our transport as its requester. Pages are followed here, not by
// Gitbeaker, because a listing must resume after a restart.

import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { SettingsOf } from '../base/config/connections.ts';
import { checked, withoutSlash } from './answers.ts';
import { answerFailure, type Question } from './failures.ts';
import { openGitLabClient, type GitLabClient } from './gitlab-client.ts';
import { projectReader, projectSchema, repoOfGitLab, type Project } from './gitlab-projects.ts';
import {
  HostError,
  type GitCredential,
  type Host,
  type HostMember,
  type HostRepo,
  type ListingPage,
} from './host.ts';
import { readNumbered } from './numbered-pages.ts';
import { HttpHost } from './http-host.ts';
import type { HostParts } from './parts.ts';
import type { AnonymousProbe } from './anonymous-probe.ts';
import { listTargets, oneRepo, type Listed, type Target } from './targets.ts';
import { HOUR_MS } from '../base/durations.ts';

type Settings = SettingsOf<'gitlab'>;

const PAGE_SIZE = 100;

/** A page from Gitbeaker; `totalPages` is NaN for more than 10,000 items, which GitLab does not count. */
function pageOf<Item extends z.ZodType>(item: Item) {
  return z.object({
    data: z.array(item).max(PAGE_SIZE),
    paginationInfo: z.object({
      current: z.int(),
      next: z.int().nullable(),
      totalPages: z.int().nullable().catch(null),
    }),
  });
}
const projectPage = pageOf(projectSchema);
const memberPage = pageOf(
  z.object({ id: z.int().positive(), state: z.string(), access_level: z.int() }),
);
const callerSchema = z.object({ username: z.string() });
const userSchema = z.object({ email: z.string().nullish(), confirmed_at: z.string().nullish() });

/** Reporter: the lowest role that reads the code of a private project. */
const READS_CODE = 20;
const EMAILS_MAX = 20_000;
const EMAIL_AGE_MS = HOUR_MS;

export class GitLab extends HttpHost<Settings> implements Host {
  readonly codeHostType = 'gitlab';
  readonly #listed: ReturnType<typeof projectReader>;
  readonly #anonymous: AnonymousProbe | undefined;
  /** Verified addresses by account id. */
  readonly #emails = new LRUCache<number, readonly string[]>({
    max: EMAILS_MAX,
    ttl: EMAIL_AGE_MS,
  });

  /** Errors: ConfigError for invalid certificates or proxies. */
  constructor(settings: Settings, parts: HostParts) {
    super(settings, parts);
    this.#listed = projectReader(settings);
    if (this.nameHost !== 'gitlab.com' && settings.token !== undefined)
      this.#anonymous = this.anonymousProbe(
        ({ hostId }) => `${withoutSlash(settings.url)}/api/v4/projects/${hostId}`,
      );
  }

  async *list(from: unknown, signal: AbortSignal): AsyncIterable<ListingPage> {
    if (this.settings.exclude.forks && this.token() === undefined)
      throw new HostError(
        'NOT_ALLOWED',
        `${this.nameHost}: exclude.forks: GitLab reports forks only with a token; give \`token\``,
      );
    const targets = this.#targets(await this.#client(signal));
    const anonymousProbe = this.#anonymous?.restart();
    yield* listTargets({ targets, issues: [], anonymousProbe }, from, signal);
  }

  async repository(path: string, signal: AbortSignal): Promise<HostRepo> {
    const { projects } = await this.#client(signal);
    const project = this.#check(projectSchema, await projects.show(path), `project ${path}`);
    const repo = repoOfGitLab(project, this.settings, this.token() === undefined);
    return this.#anonymous?.of(repo, signal) ?? repo;
  }

  async gitCredential(): Promise<GitCredential | undefined> {
    // User name for tokens of every kind.
    return this.credential('oauth2');
  }

  async probe(signal: AbortSignal): Promise<string> {
    const { projects, users } = await this.#client(signal);
    if (this.token() !== undefined)
      return this.#check(callerSchema, await users.showCurrentUser(), 'user').username;
    const first = { page: 1, perPage: 1, showExpanded: true } as const;
    this.#check(projectPage, await projects.all<true, 'offset'>(first), 'projects');
    return 'anonymous';
  }

  async *members(
    { hostId }: Pick<HostRepo, 'hostId'>,
    signal: AbortSignal,
  ): AsyncIterable<HostMember> {
    const what = `members of project ${hostId}`;
    const { members, users } = await this.#client(signal);
    const emailsOf = this.#emailReader(users);
    for (let page: number | undefined = 1; page !== undefined;) {
      const options = { ...pageNumber(page), includeInherited: true };
      const answer: unknown = await members.all<true>(hostId, options);
      const { data, paginationInfo } = this.#check(memberPage, answer, what);
      const readers = data.filter(
        (one) => one.state === 'active' && one.access_level >= READS_CODE,
      );
      const read = async ({ id }: { readonly id: number }): Promise<HostMember> => ({
        accountId: String(id),
        emails: await emailsOf(id),
      });
      // Only the first: it shows whether the others are worth a request.
      for (const member of readers.slice(0, 1)) yield read(member);
      yield* await Promise.all(readers.slice(1).map(read));
      page = this.#pageAfter(page, paginationInfo.next, what);
    }
  }

  #targets(client: GitLabClient): Target[] {
    const { all, groups, users, projects } = this.settings;
    return [
      ...(all ? [this.#everything(client)] : []),
      ...groups.map((group) => this.#projectsOfGroup(group, client)),
      ...users.map((user) => this.#projectsOfUser(user, client)),
      ...projects.map((path) => this.#project(path, client)),
    ];
  }

  #everything({ projects }: GitLabClient): Target {
    return this.#byId('all', (options) => projects.all<true, 'offset'>(options));
  }

  #projectsOfUser(user: string, { users }: GitLabClient): Target {
    return this.#byId(`users: ${user}`, (options) =>
      users.allProjects<true, 'offset'>(user, options),
    );
  }

  /** Pages by last id, not by number: removals cause no gaps, and GitLab counts only to 50,000. */
  #byId(name: string, ask: (options: InOrder & { idAfter: number }) => Promise<unknown>): Target {
    return {
      name,
      readPage: async (cursor) => {
        const idAfter = Number(cursor ?? 0);
        const answer = await ask({ ...this.#inOrder(1), idAfter });
        const { data, paginationInfo } = this.#check(projectPage, answer, name);
        const last = data.at(-1)?.id;
        if (last !== undefined && last <= idAfter) throw this.#disorder(name);
        const isLast = paginationInfo.next === null;
        return { listed: this.#listedOf(data), next: isLast ? undefined : last };
      },
    };
  }

  #projectsOfGroup(group: string, { groups }: GitLabClient): Target {
    const name = `groups: ${group}`;
    const read = async (page: number) => {
      const answer = await groups.allProjects<true>(group, {
        ...this.#inOrder(page),
        includeSubgroups: true,
        // Projects shared with a group belong to another one.
        withShared: false,
      });
      const { data, paginationInfo } = this.#check(projectPage, answer, name);
      const { current, next, totalPages } = paginationInfo;
      if (current !== page) throw this.#disorder(name);
      return {
        listed: this.#listedOf(data),
        last: next === null ? page : (totalPages ?? undefined),
      };
    };
    return { name, readPage: (cursor) => readNumbered(cursor, this.#question(name), read) };
  }

  #project(path: string, { projects }: GitLabClient): Target {
    const name = `projects: ${path}`;
    return oneRepo(name, async () => {
      const project = this.#check(projectSchema, await projects.show(path), name);
      return this.#listed(project, this.token() === undefined);
    });
  }

  /** By age: new ones come last. */
  #inOrder(page: number): InOrder {
    // Without a token GitLab does not report whether a project is archived.
    const only = this.settings.exclude.archived ? { archived: false } : {};
    return { ...pageNumber(page), orderBy: 'id', sort: 'asc', ...only };
  }

  #listedOf(projects: readonly Project[]): Listed[] {
    const isAnonymous = this.token() === undefined;
    return projects.map((project) => this.#listed(project, isAnonymous));
  }

  #pageAfter(page: number, next: number | null, what: string): number | undefined {
    if (next !== null && next <= page) throw this.#disorder(what);
    return next ?? undefined;
  }

  /** Reads the addresses verified by GitLab. Only administrators may see them, which the first answer shows. */
  #emailReader(users: GitLabClient['users']): (id: number) => Promise<readonly string[]> {
    let isPublicEmail = true;
    return async (id) => {
      const cached = this.#emails.get(id);
      if (cached !== undefined || !isPublicEmail) return cached ?? [];
      const user = this.#check(userSchema, await users.show(id), `user ${id}`);
      isPublicEmail = user.email !== undefined;
      const emails = user.email && user.confirmed_at ? [user.email] : [];
      if (isPublicEmail) this.#emails.set(id, emails);
      return emails;
    };
  }

  #client(signal: AbortSignal): Promise<GitLabClient> {
    return openGitLabClient({
      url: withoutSlash(this.settings.url),
      token: () => this.token(),
      fetch: this.transport.fetchUntil(signal),
    });
  }

  #check<Schema extends z.ZodType>(schema: Schema, answer: unknown, what: string) {
    return checked(schema, answer, this.#question(what));
  }

  #question(what: string): Question {
    return { host: this.nameHost, what };
  }

  #disorder(what: string): HostError {
    return answerFailure('another page than was asked for', this.#question(what));
  }
}

interface InOrder extends ReturnType<typeof pageNumber> {
  readonly orderBy: 'id';
  readonly sort: 'asc';
  readonly archived?: boolean;
}

/** Parameters of Gitbeaker for one page and its successor. */
function pageNumber(page: number) {
  return { page, perPage: PAGE_SIZE, showExpanded: true } as const;
}
