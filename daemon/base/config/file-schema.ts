// Zod schema of the whole configuration file (API.md 19). Editors show the descriptions of the keys.

import { z } from 'zod';
import { hostUrl, plainUrl } from './address.ts';
import { connectionSchema } from './connections.ts';
import { secretSchema } from './secret-source.ts';
import { settingsSchema } from './settings.ts';

const globs = z.array(z.string().min(1)).default([]);
const INCLUDES = ['include', 'includeConnections', 'includeTopics'] as const;

/** Search contexts: named sets of repositories for `context:` in a query. */
export const contextSchema = z
  .strictObject({
    include: globs.describe('Globs over names of repositories that are in it.'),
    exclude: globs.describe(
      'Globs over names of repositories that are not in it, whatever includes them.',
    ),
    includeConnections: globs.describe('Names of connections whose repositories are in it.'),
    excludeConnections: globs.describe('Names of connections whose repositories are not in it.'),
    includeTopics: globs.describe(
      'Repositories with one of these topics are in it; case does not count.',
    ),
    excludeTopics: globs.describe(
      'Repositories with one of these topics are not in it; case does not count.',
    ),
    description: z.string().max(1000).exactOptional().describe('What it is for.'),
  })
  .refine((context) => INCLUDES.some((key) => context[key].length > 0), {
    error: `holds no repository: give at least one of ${INCLUDES.join(', ')}`,
  });

export type ContextSettings = z.output<typeof contextSchema>;

const RECEIVER = /^(?:everyone|group:.+|user:[^@\s]+@[^@\s]+)$/;

const permissionsSchema = z
  .strictObject({
    groups: z
      .record(z.string(), z.array(z.email({ error: 'expected an e-mail address' })))
      .default({})
      .describe('Name of a group -> e-mail addresses of its users.'),
    grants: z
      .array(
        z.strictObject({
          to: z
            .array(
              z.string().regex(RECEIVER, {
                error: 'expected user:<email>, group:<name> or everyone',
              }),
            )
            .min(1)
            .describe('user:<email>, group:<name> or everyone.'),
          repos: z
            .array(
              z
                .string()
                .min(1)
                .refine((glob) => !glob.startsWith('!'), {
                  error: 'grants have no exceptions; name only what this one covers',
                }),
            )
            .min(1)
            .describe('Globs over names of repositories.'),
        }),
      )
      .default([])
      .describe('Who sees which repositories whose permissions are enforced.'),
  })
  .superRefine(({ groups, grants }, context) => {
    for (const [index, { to }] of grants.entries())
      for (const [position, one] of to.entries()) {
        if (!one.startsWith('group:') || Object.hasOwn(groups, one.slice('group:'.length)))
          continue;
        const path = ['grants', index, 'to', position];
        context.addIssue({ code: 'custom', path, message: 'there is no such group' });
      }
  });

const appSchema = z.strictObject({
  type: z
    .literal('githubApp')
    .describe('Used for GitHub connections of its address that have no token.'),
  id: z
    .union([z.int().min(1), z.string().min(1)], { error: 'expected the id of the app' })
    .describe('Id of the app.'),
  privateKey: secretSchema.describe('Its private key (PEM).'),
  url: hostUrl.default('https://github.com').describe('Address of the host that has the app.'),
});

const displayName = z.string().min(1).exactOptional().describe('What the sign-in page calls it.');

const openIdSchema = z
  .strictObject({
    type: z.literal('oidc').describe('OpenID Connect.'),
    issuer: plainUrl.describe('Address of the issuer.'),
    clientId: z.string().min(1).describe('Client id of Trawl at the issuer.'),
    clientSecret: secretSchema.describe('Client secret for that id.'),
    displayName,
    scopes: z
      .string()
      .regex(/(?:^| )openid(?: |$)/, { error: 'expected openid among them' })
      .default('openid email profile')
      .describe('Separated by blanks.'),
    allowSignUp: z.boolean().default(false).describe('Creates users that do not exist yet.'),
    acceptBearer: z.boolean().default(false).describe('Accepts access tokens of the issuer.'),
    audience: z.string().min(1).exactOptional().describe('Audience of these tokens.'),
  })
  .refine(({ acceptBearer, audience }) => !acceptBearer || audience !== undefined, {
    error: 'required with acceptBearer',
    path: ['audience'],
  });

/** Why no sign-up: anybody can create an account at github.com. */
const githubSignOnSchema = z.strictObject({
  type: z
    .literal('github')
    .describe('An OAuth app or GitHub App of GitHub, which signs in existing users.'),
  url: hostUrl.default('https://github.com').describe('Address of the GitHub server.'),
  clientId: z.string().min(1).describe('Client id of the app.'),
  clientSecret: secretSchema.describe('A client secret of the app.'),
  displayName,
});

const identityProviderSchema = z.discriminatedUnion('type', [openIdSchema, githubSignOnSchema]);

const providerId = z
  .string()
  .regex(/^[A-Za-z0-9_-]{1,100}$/, { error: 'an id of letters, digits, _ and - is expected' });

const connectionName = z
  .string()
  .regex(/^[A-Za-z0-9_-]+$/, { error: 'a name of letters, digits, _ and - is expected' });
const plainName = z
  .string()
  .regex(/^[^\p{Cc}"]{1,100}$/u, { error: 'a name of 1 to 100 characters is expected' });

export const fileSchema = z.strictObject({
  $schema: z.string().exactOptional().describe('Address of this schema; for editors.'),
  settings: settingsSchema.prefault({}).describe('How the instance behaves.'),
  connections: z
    .record(connectionName, connectionSchema)
    .default({})
    .describe('Name -> where repositories come from.'),
  contexts: z
    .record(plainName, contextSchema)
    .default({})
    .describe('Name -> repositories that context:NAME of a query picks. Needs a licence.'),
  permissions: permissionsSchema
    .prefault({})
    .describe('Groups and grants. Grants count with a licence.'),
  apps: z.array(appSchema).default([]).describe('Credentials of apps at code hosts.'),
  identityProviders: z
    .record(providerId, identityProviderSchema)
    .default({})
    .describe('Id -> identity provider. Its access tokens count with a licence.'),
});

export type FileContent = z.output<typeof fileSchema>;
export type PermissionsConfiguration = FileContent['permissions'];
export type AppSettings = FileContent['apps'][number];
export type ProviderSettings = FileContent['identityProviders'][string];
export type OpenIdSettings = Extract<ProviderSettings, { type: 'oidc' }>;
export type GithubSignOnSettings = Extract<ProviderSettings, { type: 'github' }>;
