// The daemon's settings as one table: default, bounds, help. All numbers are integers. API.md 19.3 has the
// keys and defaults; a test compares.

import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { ConfigError } from './error.ts';
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

interface IntegerSetting {
  readonly min: number;
  /** A text names a default that depends on the machine. */
  readonly defaultValue: number | 'twice the cores';
  readonly help: string;
}

/** A row: minimum, default, help. */
function row(
  min: number,
  defaultValue: IntegerSetting['defaultValue'],
  help: string,
): IntegerSetting {
  return { min, defaultValue, help };
}

export const INTEGER_SETTINGS = {
  maxFileSize: row(1, 4194304, 'bytes; of a larger file only the name is indexed'),
  maxTrigramCount: row(
    0,
    0,
    'distinct trigrams of a file; above, only the name is indexed; 0 = no limit',
  ),
  maxRepoIndexingJobConcurrency: row(
    1,
    8,
    'repositories that are indexed at a time, as far as cores and memory allow',
  ),
  repoIndexTimeoutMs: row(1, 7200000, 'deadline of an index job'),
  reindexIntervalMs: row(
    1,
    3600000,
    'how often a repository of a connection is fetched and indexed',
  ),
  resyncConnectionIntervalMs: row(
    1,
    86400000,
    'how often the repositories of a connection are listed',
  ),
  maxConnectionSyncJobConcurrency: row(1, 8, 'connections that are listed at a time'),
  maxRepoGarbageCollectionJobConcurrency: row(1, 8, 'repositories that are removed at a time'),
  repoGarbageCollectionGracePeriodMs: row(
    1,
    10000,
    'how long a repository that no connection lists any more is kept',
  ),
  permissionSyncIntervalMs: row(
    1,
    21600000,
    'how often hosts are asked who may read private repositories (`syncPermissions`)',
  ),
  permissionSyncMaxAgeMs: row(
    1,
    86400000,
    'how long the last answer counts while a host cannot be asked',
  ),
  maxMatchCount: row(1, 100000, 'a search that asks for more gets this'),
  searchTimeoutMs: row(0, 30000, 'deadline of a search; 0 = none'),
  maxConcurrentSearches: row(
    1,
    'twice the cores',
    'searches that run at a time, half of them by one caller while others wait',
  ),
  maxQueuedSearches: row(
    1,
    64,
    'searches that wait; the next is refused, or the last one of the caller with most',
  ),
  maxSourceBytes: row(1, 67108864, 'largest file content that is served'),
  maxRequestBodyBytes: row(1, 1048576, 'largest request body; without a credential 64 KiB'),
  gitTimeoutMs: row(1, 30000, 'deadline of a git command'),
  memory: row(1, 536870912, 'bytes of requests and waiting answers; a caller may hold an eighth'),
  storeGraceMs: row(1, 60000, 'how long known callers are served while PostgreSQL is unreachable'),
  auditRetentionDays: row(0, 180, 'days after which audit records are removed; 0 = never'),
};

function integerField({ min, defaultValue, help }: IntegerSetting): z.ZodDefault<z.ZodInt> {
  const error = `allowed: integers from ${min}`;
  return z
    .int({ error })
    .min(min, { error })
    .default(() => (typeof defaultValue === 'number' ? defaultValue : 2 * availableParallelism()))
    .describe(help);
}

type IntegerKey = keyof typeof INTEGER_SETTINGS;

// Safety: one field for each row of the table.
// oxlint-disable-next-line typescript/no-unsafe-type-assertion
const integerFields = Object.fromEntries(
  Object.entries<IntegerSetting>(INTEGER_SETTINGS).map(([key, row]) => [key, integerField(row)]),
) as Record<IntegerKey, z.ZodDefault<z.ZodInt>>;

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

/** Settings that are not integers: default and help as text, and their schema. */
export const OTHER_SETTINGS = {
  alwaysIndexFilePatterns: {
    defaultNote: '[]',
    help: 'globs over paths; lift maxFileSize and maxTrigramCount',
    field: z.array(z.string({ error: GLOBS }), { error: GLOBS }).default([]),
  },
  apiKeyHeaderAliases: {
    defaultNote: '[]',
    help: 'further headers that carry API keys',
    field: z
      .array(
        z.string({ error: HEADERS }).regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: HEADERS }),
        { error: HEADERS },
      )
      .default([]),
  },
  trustedProxies: {
    defaultNote: '[]',
    help: 'addresses or networks whose `X-Forwarded-For` counts',
    field: z
      .array(
        z
          .string({ error: NETWORKS })
          .refine((text) => readNetwork(text) !== undefined, { error: NETWORKS }),
        { error: NETWORKS },
      )
      .default([]),
  },
  anonymousAccess: {
    defaultNote: 'set by an owner, initially false',
    help: 'serve guests',
    field: flag.exactOptional(),
  },
  passwordLogin: {
    defaultNote: 'set by an owner, initially true',
    help: 'sign-in with e-mail and password',
    field: flag.exactOptional(),
  },
  apiKeyCreation: {
    defaultNote: 'set by an owner, initially `all`',
    help: 'who may create API keys: `all` or `owners`',
    field: whoMay.exactOptional(),
  },
  apiKeyUsage: {
    defaultNote: 'set by an owner, initially `all`',
    help: 'whose API keys count: `all` or `owners`',
    field: whoMay.exactOptional(),
  },
  rateLimit: {
    defaultNote: '{}',
    help: '`requestsPerDay` of a user (10000; null = no limit), `contact` for a higher limit',
    field: z
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
      .prefault({}),
  },
  onDemandRevisions: {
    defaultNote: '{}',
    help: 'of any revision: `repos` (20), `docs` (50000), `timeoutMs` (10000), `diskBytes` (4294967296)',
    field: z
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
      .prefault({}),
  },
  webhooks: {
    defaultNote: '{}',
    help: '`secret`: location of the secret that code hosts sign pushes with',
    field: z
      .strictObject(
        { secret: secretSchema.exactOptional().describe('Code hosts sign pushes with it.') },
        { error: 'allowed: secret' },
      )
      .prefault({}),
  },
  oauth: {
    defaultNote: '{}',
    help: 'seconds: `codeTtlSeconds` (600), `accessTokenTtlSeconds` (3600), `refreshTokenTtlSeconds` (7776000)',
    field: z
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
      .prefault({}),
  },
  logLevel: {
    defaultNote: 'info',
    help: 'minimum level of log lines, unless set by variable or flag: `debug`, `info`, `warn`, `error`',
    field: logLevel.exactOptional(),
  },
  logFormat: {
    defaultNote: 'text',
    help: 'format of the log lines, unless set by the variable: `text` or `json`',
    field: logFormat.exactOptional(),
  },
};

type OtherSettings = typeof OTHER_SETTINGS;

const otherRows = Object.entries<{ help: string; field: z.ZodType }>(OTHER_SETTINGS);
/** Fields of a table, each with its help as description for editors. */
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one field for each row of the table
const otherFields = Object.fromEntries(
  otherRows.map(([key, { help, field }]) => [key, field.describe(help)]),
) as { readonly [Key in keyof OtherSettings]: OtherSettings[Key]['field'] };

export const settingsSchema = z.strictObject({ ...integerFields, ...otherFields });

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
