// Zod schemas of the connections in the configuration file (API.md 19.4): which repositories of which code host, and how
// they are fetched and displayed. Sends no requests. Editors show the descriptions (schema-document.ts).

import { z } from 'zod';
import { hostUrl } from './address.ts';
import { secretSchema } from './secret-source.ts';

const text = z.string().min(1);
const globs = z.array(text).default([]);
const names = z.array(text).default([]);
const flag = z.boolean().default(false);
const bytes = z.int().min(0);
const size = z
  .strictObject({
    min: bytes.exactOptional().describe('Smaller ones are left out.'),
    max: bytes.exactOptional().describe('Larger ones are left out.'),
  })
  .refine(({ min = 0, max = Infinity }) => min <= max, { error: 'min is above max' })
  .describe('Leave out by size, in bytes.');
const secret = secretSchema.exactOptional();

/** Paths with this number of segments, separated by `/`. */
function paths(form: string, parts: RegExp): z.ZodDefault<z.ZodArray<z.ZodString>> {
  return z.array(z.string().regex(parts, { error: `expected ${form}` })).default([]);
}
const TWO_PARTS = /^[^/]+\/[^/]+$/;
const THREE_PARTS = /^[^/]+\/[^/]+\/[^/]+$/;
const TWO_OR_MORE = /^[^/]+(?:\/[^/]+)+$/;

const shortNames = z
  .array(
    text.refine((glob) => !glob.startsWith('refs/'), {
      error: 'globs are matched against short names: main, not refs/heads/main',
    }),
  )
  .default([]);

const common = {
  revisions: z
    .strictObject({
      branches: shortNames.describe('Globs over short names of branches: main, release/**.'),
      tags: shortNames.describe('Globs over short names of tags: v1.*, v{2,3}.?.'),
    })
    .prefault({})
    .describe('What is indexed besides the default branch.'),
  enforcePermissions: flag.describe(
    'Only owners and users with a grant see the repositories, unless they are public, or internal and the user has signed in.',
  ),
  enforcePermissionsForPublicRepos: flag.describe(
    'With enforcePermissions: public and internal ones too.',
  ),
  tls: z
    .strictObject({
      caFile: text
        .exactOptional()
        .describe(
          "Path of certificates to trust besides the system's: for the host's API and for git.",
        ),
    })
    .prefault({})
    .describe('How the host is trusted.'),
  submodules: flag.describe(
    'Index submodules of the default branch whose repositories are in this configuration too: each as a repository, named after the outer one plus its path.',
  ),
  keepDeleted: flag.describe(
    'Repositories that the host no longer has stay searchable, marked as archived.',
  ),
};
const ofMembers = {
  syncPermissions: flag.describe('Who may read a private repository at the host may read it here.'),
};
/** What a connection leaves out, which beats everything else. */
function excluding<Shape extends z.ZodRawShape>(shape: Shape) {
  const schema = z.strictObject(shape);
  // Safety: each key may be absent.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return schema.prefault({} as z.input<typeof schema>).describe('Beats everything else.');
}

const forks = flag.describe('Leave out forks.');
const archived = flag.describe('Leave out archived repositories.');
const topics = globs.describe('Keep only repositories with one of these topics (globs).');
const noTopics = globs.describe('Leave out repositories with one of these topics (globs).');

function isPresent(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : value === true;
}

/** Refuses a connection that selects nothing. */
function selects(...keys: readonly string[]): [(value: object) => boolean, { error: string }] {
  return [
    (settings) =>
      Object.entries(settings).some(([key, value]) => keys.includes(key) && isPresent(value)),
    { error: `selects nothing: give at least one of ${keys.join(', ')}` },
  ];
}

type Deployment = Readonly<Record<'deploymentType' | 'url', string>>;

/** Refuses a self-hosted server whose address is that of the cloud service. */
function namesOwn(
  service: string,
): [(value: Deployment) => boolean, { error: string; path: string[] }] {
  return [
    ({ deploymentType, url }) => deploymentType === 'cloud' || url !== service,
    { error: 'required for deploymentType server', path: ['url'] },
  ];
}

const github = z
  .strictObject({
    type: z.literal('github').describe('GitHub, or GitHub Enterprise Server.'),
    ...common,
    ...ofMembers,
    token: secret.describe('Personal access token; needed for private repositories.'),
    url: hostUrl.default('https://github.com').describe('Address of an own server.'),
    users: names.describe('All repositories of these users.'),
    orgs: names.describe('All repositories of these organizations.'),
    repos: paths('owner/name', TWO_PARTS).describe('Repositories as owner/name.'),
    topics,
    exclude: excluding({
      forks,
      archived,
      repos: globs.describe('Leave out these: globs over owner/name.'),
      topics: noTopics,
      size: size.exactOptional(),
    }),
  })
  .refine(...selects('users', 'orgs', 'repos'));

const gitlab = z
  .strictObject({
    type: z.literal('gitlab').describe('GitLab.com, or a GitLab of your own.'),
    ...common,
    ...ofMembers,
    token: secret.describe('Personal, group or project access token.'),
    url: hostUrl.default('https://gitlab.com').describe('Address of the API and for cloning.'),
    webUrl: hostUrl.exactOptional().describe('Public address for links, if it differs from url.'),
    all: flag.describe('Everything that the token sees; own servers only.'),
    users: names.describe('All projects of these users.'),
    groups: names.describe('All projects of these groups and their subgroups.'),
    projects: paths('group/name, with all groups', TWO_OR_MORE).describe(
      'Projects as group/sub/name.',
    ),
    topics,
    exclude: excluding({
      forks,
      archived,
      userOwnedProjects: flag.describe('Leave out projects that belong to users.'),
      projects: globs.describe('Leave out these: globs over group/sub/name.'),
      topics: noTopics,
    }),
  })
  .refine(...selects('all', 'users', 'groups', 'projects'))
  .refine(({ all, url }) => !all || url !== 'https://gitlab.com', {
    error: 'allowed on own servers only: give url, or name users, groups or projects',
    path: ['all'],
  });

const gitea = z
  .strictObject({
    type: z.literal('gitea').describe('Gitea or Forgejo.'),
    ...common,
    token: secret.describe('Access token; needed for private repositories.'),
    url: hostUrl.default('https://gitea.com').describe('Address of a Gitea or Forgejo server.'),
    orgs: names.describe('All repositories of these organizations.'),
    users: names.describe('All repositories of these users.'),
    repos: paths('owner/name', TWO_PARTS).describe('Repositories as owner/name.'),
    exclude: excluding({
      forks,
      archived,
      repos: globs.describe('Leave out these: globs over owner/name.'),
    }),
  })
  .refine(...selects('orgs', 'users', 'repos'));

const gerrit = z.strictObject({
  type: z.literal('gerrit').describe('Gerrit.'),
  ...common,
  url: hostUrl.describe('Address of the server.'),
  projects: globs.describe('Globs over names of projects; none: all.'),
  user: text.exactOptional().describe('Name for the HTTP credentials.'),
  token: secret.describe('HTTP password of the user.'),
  exclude: excluding({
    projects: globs.describe('Leave out these: globs over names of projects.'),
    readOnly: flag.describe('Leave out projects in the state READ_ONLY.'),
    hidden: flag.describe('Leave out projects in the state HIDDEN.'),
  }),
});

const bitbucket = z
  .strictObject({
    type: z.literal('bitbucket').describe('Bitbucket Cloud or Data Center.'),
    ...common,
    deploymentType: z
      .enum(['cloud', 'server'])
      .default('cloud')
      .describe('bitbucket.org, or a Bitbucket Data Center of your own.'),
    url: hostUrl.default('https://bitbucket.org').describe('Address; required for server.'),
    user: text.exactOptional().describe('Name for the API.'),
    token: secret.describe('App password, API token or HTTP access token.'),
    gitUser: text.exactOptional().describe('Name for cloning, if it differs from user.'),
    all: flag.describe('Everything that the credential sees.'),
    workspaces: names.describe('All repositories of these workspaces; cloud only.'),
    projects: names.describe('Keys of projects; cloud: workspace/KEY.'),
    repos: paths('workspace/name or PROJECT/name', TWO_PARTS).describe(
      'Repositories: cloud workspace/name, server PROJECT/name.',
    ),
    exclude: excluding({
      forks,
      archived,
      repos: globs.describe('Leave out these: globs over workspace/name or PROJECT/name.'),
    }),
  })
  .refine(...selects('all', 'workspaces', 'projects', 'repos'))
  .refine(...namesOwn('https://bitbucket.org'))
  .refine(
    ({ deploymentType, workspaces }) => deploymentType === 'cloud' || workspaces.length === 0,
    { error: 'allowed for deploymentType cloud only; a server has projects', path: ['workspaces'] },
  )
  .refine(
    ({ deploymentType, projects }) =>
      projects.every((project) => project.includes('/') === (deploymentType === 'cloud')),
    { error: 'expected workspace/KEY (cloud) or KEY (server)', path: ['projects'] },
  );

const azuredevops = z
  .strictObject({
    type: z.literal('azuredevops').describe('Azure DevOps.'),
    ...common,
    token: secretSchema.describe('Personal access token.'),
    deploymentType: z
      .enum(['cloud', 'server'])
      .describe('dev.azure.com, or an Azure DevOps Server of your own.'),
    url: hostUrl.default('https://dev.azure.com').describe('Address; required for server.'),
    useTfsPath: flag.describe('Addresses of the server have /tfs in them.'),
    orgs: names.describe('All repositories of these organizations; server: collections.'),
    projects: paths('org/project', TWO_PARTS).describe('Projects as org/project.'),
    repos: paths('org/project/repo', THREE_PARTS).describe('Repositories as org/project/repo.'),
    exclude: excluding({
      disabled: flag.describe('No effect: disabled repositories are always left out.'),
      projects: globs.describe('Leave out these: globs over org/project.'),
      repos: globs.describe('Leave out these: globs over org/project/repo.'),
      size: size.exactOptional(),
    }),
  })
  .refine(...namesOwn('https://dev.azure.com'));

const git = z
  .strictObject({
    type: z.literal('git').describe('A git repository at an address, or folders of this machine.'),
    ...common,
    url: z
      .string()
      .regex(/^(?:(?:https?|ssh):\/\/[^\s/]|file:\/\/\/)\S*$/i, {
        error:
          'expected http(s)://, ssh:// or file:///, with %20 for a blank; git:// is refused, as it does not authenticate the host; for git@host:owner/name write ssh://git@host/owner/name',
      })
      .refine((url) => URL.canParse(url) && new URL(url).password === '', {
        error: 'expected an address without a password; it goes to user and token',
      })
      .describe(
        'http(s):// or ssh://: one repository; file:///, which may hold globs: folders of this machine.',
      ),
    token: secret.describe('Password or token; http(s) only.'),
    user: text.exactOptional().describe('Name that goes with token; http(s) only.'),
    name: text
      .exactOptional()
      .describe('Name of the repository, if url is a single one; else host and path.'),
    mode: z
      .enum(['commits', 'worktree'])
      .exactOptional()
      .describe('Of file:///: what is committed, or the files on disk as they are now.'),
    ignore: globs.describe('Of file:/// in mode worktree: globs over excluded paths.'),
  })
  .refine(({ url, token }) => token === undefined || isHttp(url), {
    error: 'allowed with an http(s) url only',
    path: ['token'],
  })
  .refine(({ url, user }) => user === undefined || isHttp(url), {
    error: 'allowed with an http(s) url only; for ssh write ssh://user@host/path',
    path: ['user'],
  })
  .refine(({ url, mode }) => mode !== 'worktree' || isFile(url), {
    error: 'worktree is allowed with a file:/// url only',
    path: ['mode'],
  })
  .refine(({ url, mode, ignore }) => ignore.length === 0 || (isFile(url) && mode !== 'commits'), {
    error: 'allowed with a file:/// url in mode worktree only; .trawlignore holds everywhere',
    path: ['ignore'],
  })
  .refine(({ url, name }) => name === undefined || !(isFile(url) && /[*?[\]{}]/.test(url)), {
    error: 'allowed only where the url has no globs',
    path: ['name'],
  });

function isHttp(url: string): boolean {
  return /^https?:/i.test(url);
}

function isFile(url: string): boolean {
  return /^file:/i.test(url);
}

const OPTIONS = [github, gitlab, gitea, gerrit, bitbucket, azuredevops, git] as const;
export const CONNECTION_TYPES = OPTIONS.map(({ shape }) => shape.type.value);

export const connectionSchema = z.discriminatedUnion('type', OPTIONS, {
  error: ({ code }) =>
    code === 'invalid_union' ? `allowed: ${CONNECTION_TYPES.join(', ')}` : undefined,
});

/** As in the file, with defaults; secrets are not read yet. */
export type ConnectionSettings = z.output<typeof connectionSchema>;
export type ConnectionType = ConnectionSettings['type'];
export type SettingsOf<Type extends ConnectionType> = Extract<ConnectionSettings, { type: Type }>;
