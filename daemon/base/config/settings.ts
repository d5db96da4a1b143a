// The daemon's settings: bounds, defaults and help, which editors show. API.md 19.3 has the keys and defaults; a test
// compares.

import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { ConfigError } from './error.ts';
import { DEFAULTS } from './search-configuration.ts';
import { secretSchema } from './secret-source.ts';
import { LOG_FORMATS, LOG_LEVELS } from '../log-levels.ts';

/** An address, or all addresses with the same first `prefix` bits. */
export interface Network {
  readonly address: string;
  readonly prefix: number;
  readonly family: 'ipv4' | 'ipv6';
}

/** `10.0.0.0/8`, `::1`; undefined: neither an address nor a network. */
export function readNetwork(text: string): Network | undefined {
  const [address = '', size, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return undefined;
  const bits = version === 4 ? 32 : 128;
  const prefix = size === undefined ? bits : Number(size);
  const isSize = size === undefined || (/^\d{1,3}$/.test(size) && prefix <= bits);
  return isSize ? { address, prefix, family: version === 4 ? 'ipv4' : 'ipv6' } : undefined;
}

function integer(min: number, defaultValue: number | (() => number)) {
  const error = `allowed: integers from ${min}`;
  const value = typeof defaultValue === 'number' ? () => defaultValue : defaultValue;
  return z.int({ error }).min(min, { error }).default(value);
}

const flag = z.boolean({ error: 'allowed: true or false' });
const logLevel = z.enum(LOG_LEVELS, { error: `allowed: ${LOG_LEVELS.join(', ')}` });
const logFormat = z.enum(LOG_FORMATS, { error: `allowed: ${LOG_FORMATS.join(', ')}` });
/** Who may create API keys, and use them. */
export const WHO_MAY = ['all', 'owners'] as const;
export type WhoMay = (typeof WHO_MAY)[number];
const whoMay = z.enum(WHO_MAY, { error: `allowed: ${WHO_MAY.join(' or ')}` });

const GLOBS = 'allowed: a list of globs';
const HEADERS = 'allowed: a list of header names';
const NETWORKS = 'allowed: a list of IP addresses and networks such as 10.0.0.0/8';

/** Seconds; a year at most. */
function ttl(defaultSeconds: number) {
  return z.int().min(1).max(31_536_000).default(defaultSeconds);
}

export const settingsSchema = z.strictObject({
  maxFileSize: integer(1, 4194304).describe('bytes; of a larger file only the name is indexed'),
  maxTrigramCount: integer(0, 0).describe(
    'distinct trigrams of a file; above, only the name is indexed; 0 = no limit',
  ),
  maxRepoIndexingJobConcurrency: integer(1, 8).describe(
    'repositories that are indexed at a time, as far as cores and memory allow',
  ),
  repoIndexTimeoutMs: integer(1, 7200000).describe('deadline of an index job'),
  reindexIntervalMs: integer(1, 3600000).describe(
    'how often a repository of a connection is fetched and indexed',
  ),
  resyncConnectionIntervalMs: integer(1, 86400000).describe(
    'how often the repositories of a connection are listed',
  ),
  maxConnectionSyncJobConcurrency: integer(1, 8).describe('connections that are listed at a time'),
  maxRepoGarbageCollectionJobConcurrency: integer(1, 8).describe(
    'repositories that are removed at a time',
  ),
  repoGarbageCollectionGracePeriodMs: integer(1, 10000).describe(
    'how long a repository that no connection lists any more is kept',
  ),
  permissionSyncIntervalMs: integer(1, 21600000).describe(
    'how often hosts are asked who may read private repositories (`syncPermissions`)',
  ),
  permissionSyncMaxAgeMs: integer(1, 86400000).describe(
    'how long the last answer counts while a host cannot be asked',
  ),
  maxMatchCount: integer(1, DEFAULTS.maxMatchCount).describe(
    'a search that asks for more gets this',
  ),
  searchTimeoutMs: integer(0, DEFAULTS.searchTimeoutMs).describe('deadline of a search; 0 = none'),
  slowSearchMs: integer(0, 0).describe(
    'a search that takes longer is logged with its query; 0 = none',
  ),
  maxConcurrentSearches: integer(1, () => 2 * availableParallelism()).describe(
    'searches that run at a time, half of them by one caller while others wait',
  ),
  maxQueuedSearches: integer(1, 64).describe(
    'searches that wait; the next is refused, or the last one of the caller with most',
  ),
  maxSourceBytes: integer(1, 67108864).describe('largest file content that is served'),
  maxRequestBodyBytes: integer(1, 1048576).describe(
    'largest request body; without a credential 64 KiB',
  ),
  gitTimeoutMs: integer(1, 30000).describe('deadline of a git command'),
  memory: integer(1, 536870912).describe(
    'bytes of requests and waiting answers; a caller may hold an eighth',
  ),
  storeGraceMs: integer(1, 60000).describe(
    'how long known callers are served while PostgreSQL is unreachable',
  ),
  auditRetentionDays: integer(0, 180).describe(
    'days after which audit records are removed; 0 = never',
  ),
  alwaysIndexFilePatterns: z
    .array(z.string({ error: GLOBS }), { error: GLOBS })
    .default([])
    .describe('globs over paths; lift maxFileSize and maxTrigramCount'),
  apiKeyHeaderAliases: z
    .array(
      z.string({ error: HEADERS }).regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: HEADERS }),
      { error: HEADERS },
    )
    .default([])
    .describe('further headers that carry API keys'),
  trustedProxies: z
    .array(
      z
        .string({ error: NETWORKS })
        .refine((text) => readNetwork(text) !== undefined, { error: NETWORKS }),
      { error: NETWORKS },
    )
    .default([])
    .describe('addresses or networks whose `X-Forwarded-For` counts'),
  anonymousAccess: flag.exactOptional().describe('serve guests'),
  passwordLogin: flag.exactOptional().describe('sign-in with e-mail and password'),
  apiKeyCreation: whoMay.exactOptional().describe('who may create API keys: `all` or `owners`'),
  apiKeyUsage: whoMay.exactOptional().describe('whose API keys count: `all` or `owners`'),
  rateLimit: z
    .strictObject(
      {
        requestsPerDay: z
          .int()
          .min(1)
          .nullable()
          .default(10_000)
          .describe('Requests of a user a day; null: no limit.'),
        contact: z
          .string()
          .min(1)
          .max(200)
          .default('an owner of this instance')
          .describe('Whom to ask for a higher limit.'),
      },
      { error: 'allowed: requestsPerDay (an integer from 1, or null) and contact (a text)' },
    )
    .prefault({})
    .describe('`requestsPerDay` of a user (10000; null = no limit), `contact` for a higher limit'),
  onDemandRevisions: z
    .strictObject(
      {
        repos: z
          .int()
          .min(0)
          .default(20)
          .describe('Repositories that one search may look for them in.'),
        docs: z.int().min(0).default(50_000).describe('Files that differ from what is indexed.'),
        timeoutMs: z.int().min(1).default(10_000).describe('How long a search waits for them.'),
        diskBytes: z
          .int()
          .min(0)
          .default(2 ** 32)
          .describe('Bytes of all that are stored.'),
      },
      { error: 'allowed: repos, docs, diskBytes (integers from 0) and timeoutMs (one from 1)' },
    )
    .prefault({})
    .describe(
      'of any revision: `repos` (20), `docs` (50000), `timeoutMs` (10000), `diskBytes` (4294967296)',
    ),
  webhooks: z
    .strictObject(
      { secret: secretSchema.exactOptional().describe('Code hosts sign pushes with it.') },
      { error: 'allowed: secret' },
    )
    .prefault({})
    .describe('`secret`: location of the secret that code hosts sign pushes with'),
  oauth: z
    .strictObject(
      {
        codeTtlSeconds: ttl(600).describe('Life of a code.'),
        accessTokenTtlSeconds: ttl(3600).describe('Life of an access token.'),
        refreshTokenTtlSeconds: ttl(7_776_000).describe('Life of a refresh token.'),
      },
      {
        error:
          'allowed: codeTtlSeconds, accessTokenTtlSeconds, refreshTokenTtlSeconds (integers from 1)',
      },
    )
    .prefault({})
    .describe(
      'seconds: `codeTtlSeconds` (600), `accessTokenTtlSeconds` (3600), `refreshTokenTtlSeconds` (7776000)',
    ),
  logLevel: logLevel
    .exactOptional()
    .describe(
      'minimum level of log lines, unless set by variable or flag: `debug`, `info`, `warn`, `error`',
    ),
  logFormat: logFormat
    .exactOptional()
    .describe('format of the log lines, unless set by the variable: `text` or `json`'),
});

/** Defaults as text, where they depend on the machine or are set elsewhere. */
export const DEFAULT_NOTES: Readonly<Record<string, string>> = {
  maxConcurrentSearches: 'twice the cores',
  anonymousAccess: 'set by an owner, initially false',
  passwordLogin: 'set by an owner, initially true',
  apiKeyCreation: 'set by an owner, initially `all`',
  apiKeyUsage: 'set by an owner, initially `all`',
  logLevel: 'info',
  logFormat: 'text',
};

/** The webhook secret is not read yet. Absent settings are set by owners; those of the log by variables and flags. */
export type Settings = Readonly<z.output<typeof settingsSchema>>;

/** The settings with their defaults. Errors: ConfigError naming an unknown key or a wrong value. */
export function readSettings(values: Readonly<Record<string, unknown>> = {}): Settings {
  const result = settingsSchema.safeParse(values);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const key = String(issue?.path[0] ?? unknown ?? 'settings');
  const allowed =
    unknown === undefined || key !== unknown
      ? (issue?.message ?? 'invalid')
      : `no such setting; allowed: ${Object.keys(settingsSchema.shape).join(', ')}`;
  throw new ConfigError(`settings.${key}`, JSON.stringify(values[key]), allowed);
}
