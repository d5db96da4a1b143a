// The connections of the configuration file (API.md 19.4) as zod checks them: which repositories of which code host, and how
// they are fetched and shown. Nothing here asks a host.

import { z } from 'zod';
import { secretSchema } from './secret-source.ts';

const globs = z.array(z.string().min(1)).default([]);
const names = z.array(z.string().min(1)).default([]);
const flag = z.boolean().default(false);
const size = z.strictObject({
  min: z.number().int().nonnegative().exactOptional(),
  max: z.number().int().nonnegative().exactOptional(),
});
const secret = secretSchema.exactOptional();
/** Of a host: no path but the one it is installed below, no query, no credentials. */
const hostUrl = z.url({ protocol: /^https?$/, error: 'expected an http or https address' });

const common = {
  revisions: z.strictObject({ branches: globs, tags: globs }).prefault({}),
  enforcePermissions: flag,
  enforcePermissionsForPublicRepos: flag,
  tls: z.strictObject({ caFile: z.string().min(1).exactOptional() }).prefault({}),
  submodules: flag,
  keepDeleted: flag,
};
const ofMembers = { syncPermissions: flag };

const github = z.strictObject({
  type: z.literal('github'),
  ...common,
  ...ofMembers,
  token: secret,
  url: hostUrl.default('https://github.com'),
  users: names,
  orgs: names,
  repos: names,
  topics: globs,
  exclude: z
    .strictObject({
      forks: flag,
      archived: flag,
      repos: globs,
      topics: globs,
      size: size.exactOptional(),
    })
    .prefault({}),
});

const gitlab = z.strictObject({
  type: z.literal('gitlab'),
  ...common,
  ...ofMembers,
  token: secret,
  url: hostUrl.default('https://gitlab.com'),
  webUrl: hostUrl.exactOptional(),
  all: flag,
  users: names,
  groups: names,
  projects: names,
  topics: globs,
  exclude: z
    .strictObject({
      forks: flag,
      archived: flag,
      userOwnedProjects: flag,
      projects: globs,
      topics: globs,
    })
    .prefault({}),
});

const gitea = z.strictObject({
  type: z.literal('gitea'),
  ...common,
  token: secret,
  url: hostUrl.default('https://gitea.com'),
  orgs: names,
  users: names,
  repos: names,
  exclude: z.strictObject({ forks: flag, archived: flag, repos: globs }).prefault({}),
});

const gerrit = z.strictObject({
  type: z.literal('gerrit'),
  ...common,
  url: hostUrl,
  projects: globs,
  user: z.string().min(1).exactOptional(),
  token: secret,
  exclude: z.strictObject({ projects: globs, readOnly: flag, hidden: flag }).prefault({}),
});

const bitbucket = z.strictObject({
  type: z.literal('bitbucket'),
  ...common,
  deploymentType: z.enum(['cloud', 'server']).default('cloud'),
  url: hostUrl.default('https://bitbucket.org'),
  user: z.string().min(1).exactOptional(),
  token: secret,
  gitUser: z.string().min(1).exactOptional(),
  all: flag,
  workspaces: names,
  projects: names,
  repos: names,
  exclude: z.strictObject({ forks: flag, archived: flag, repos: globs }).prefault({}),
});

const azuredevops = z.strictObject({
  type: z.literal('azuredevops'),
  ...common,
  token: secretSchema,
  deploymentType: z.enum(['cloud', 'server']),
  url: hostUrl.default('https://dev.azure.com'),
  useTfsPath: flag,
  orgs: names,
  projects: names,
  repos: names,
  exclude: z
    .strictObject({ disabled: flag, projects: globs, repos: globs, size: size.exactOptional() })
    .prefault({}),
});

const git = z.strictObject({
  type: z.literal('git'),
  ...common,
  url: z.url({
    protocol: /^(?:https?|ssh|file)$/,
    error: 'expected http(s)://, ssh:// or file:///',
  }),
  token: secret,
  user: z.string().min(1).exactOptional(),
  name: z.string().min(1).exactOptional(),
  mode: z.enum(['commits', 'worktree']).exactOptional(),
  ignore: globs,
});

export const connectionSchema = z.discriminatedUnion('type', [
  github,
  gitlab,
  gitea,
  gerrit,
  bitbucket,
  azuredevops,
  git,
]);

/** As the file says it, with defaults; secrets are not read yet. */
export type ConnectionSettings = z.output<typeof connectionSchema>;
export type ConnectionType = ConnectionSettings['type'];
export type SettingsOf<Type extends ConnectionType> = Extract<ConnectionSettings, { type: Type }>;
