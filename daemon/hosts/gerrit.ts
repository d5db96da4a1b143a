// Gerrit. Projects have no ids: the name is the identity, and cannot be changed without plugins. Without a credential all
// listed projects are public. With one they are private, even if everybody sees them in a list: rights are granted per ref,
// and a fetch may contain branches that only the credential may read.

import { z } from 'zod';
import { globTest } from '../base/glob-test.ts';
import type { SettingsOf } from '../base/config/connections.ts';
import { HostError, type Host, type HostRepo } from './host.ts';
import { HttpHost, type HostParts } from './http-host.ts';
import type { PlainApi } from './plain-api.ts';
import type { Listed, Targets } from './targets.ts';

type Settings = SettingsOf<'gerrit'>;

/** Marks the last project of a page. */
const MORE = '_more_projects';

const projectSchema = z.object({
  id: z.string(),
  /** `ACTIVE`, `READ_ONLY`, `HIDDEN`. */
  state: z.string().optional(),
  web_links: z
    .array(z.object({ name: z.string(), url: z.string().max(2_000) }))
    .optional()
    .catch(undefined),
  [MORE]: z.boolean().optional(),
});
type Project = z.output<typeof projectSchema>;
type WebLink = NonNullable<Project['web_links']>[number];
/** By name. */
const projectPage = z.record(z.string().min(1), projectSchema);
const accountSchema = z.object({ name: z.string().optional(), username: z.string().optional() });

export class Gerrit extends HttpHost<Settings> implements Host {
  readonly codeHostType = 'gerrit';
  readonly #isSelected: (name: string) => boolean;

  constructor(settings: Settings, parts: HostParts) {
    const { url, token, user, projects, exclude } = settings;
    super(settings, parts, {
      // Below `/a` everything needs the credential.
      apiUrl: `${url}${token === undefined ? '' : '/a'}`,
      gitUser: user ?? '',
      selection: { exclude: { paths: exclude.projects } },
    });
    const matches = globTest(projects, { ignoresCase: true });
    this.#isSelected = (name) => projects.length === 0 || matches(name);
  }

  targets(signal: AbortSignal): Targets {
    const api = this.#api(signal);
    return { targets: [{ name: 'projects', pages: () => this.#pages(api) }] };
  }

  async probe(signal: AbortSignal): Promise<string> {
    const api = this.#api(signal);
    if (this.settings.token === undefined) {
      await api.get(projectPage, '/projects/', { n: 1 });
      return 'anonymous';
    }
    const account = await api.get(accountSchema, '/accounts/self');
    return account.username ?? account.name ?? 'somebody';
  }

  async *#pages(api: PlainApi): AsyncGenerator<readonly Listed[]> {
    let projects;
    for (let skipped = 0; ; skipped += projects.length) {
      // `all` includes hidden ones, if visible to the caller. Projects of type CODE contain more than rights.
      const query = { type: 'CODE', all: '', n: 500, S: skipped };
      projects = Object.entries(await api.get(projectPage, '/projects/', query));
      yield projects.map(([name, project]) => this.#listed(name, project));
      if (!projects.some(([, project]) => project[MORE] === true)) return;
    }
  }

  #listed(name: string, { state = 'ACTIVE', web_links: links = [] }: Project): Listed {
    const { readOnly, hidden } = this.settings.exclude;
    const isExcluded = (readOnly && state === 'READ_ONLY') || (hidden && state === 'HIDDEN');
    const repo = this.#repoOf(name, state, links);
    const isListed = this.#isSelected(name) && !isExcluded && this.isKept(repo);
    return { hostId: name, repo: isListed ? repo : undefined };
  }

  #repoOf(name: string, state: string, links: readonly WebLink[]): HostRepo {
    const path = name.split('/').map(encodeURIComponent).join('/');
    return {
      hostId: name,
      path: name,
      displayName: name,
      cloneUrl: `${this.apiUrl}/${path}`,
      webUrl: pageOf(links, this.settings.url) ?? `${this.settings.url}/plugins/gitiles/${path}`,
      isFork: false,
      isArchived: state === 'READ_ONLY',
      visibility: this.settings.token === undefined ? 'public' : 'private',
      topics: [],
    };
  }

  /** Errors: HostError if a token has no user. */
  #api(signal: AbortSignal): PlainApi {
    const { user, token } = this.settings;
    if (token !== undefined && user === undefined)
      throw new HostError(
        'NO_USER',
        `${this.nameHost}: Gerrit accepts a token only with a user name; give \`user\``,
      );
    return this.api(signal, { prefix: ")]}'" });
  }
}

/** The project's Gitiles page, if it is on the connection's host: links to other hosts are not trusted. */
function pageOf(links: readonly WebLink[], url: string): string | undefined {
  const link = links.find(({ name }) => /^(?:gitiles|browse)$/i.test(name));
  if (link === undefined || !URL.canParse(link.url, url)) return undefined;
  const page = new URL(link.url, url);
  return page.origin === new URL(url).origin ? page.href.replace(/\/+$/, '') : undefined;
}
