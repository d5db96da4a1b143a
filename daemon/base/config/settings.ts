// The settings that the daemon uses, as one table: default, bounds, help. All numbers are integers.
// daemon/README.md, "Settings", shows the same table; a test keeps them equal.

import { isIP } from 'node:net';
import { availableParallelism } from 'node:os';
import { z } from 'zod';
import { ConfigError } from './error.ts';
import { type SecretSource, secretSchema } from './secret-source.ts';
import { LOG_FORMATS, LOG_LEVELS, type LogFormat, type LogLevel } from '../log-levels.ts';

/** An address, or all that begin with the first `prefix` bits. */
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
  /** A text stands for a default that depends on the machine. */
  readonly defaultValue: number | 'twice the cores';
  readonly help: string;
}

export const INTEGER_SETTINGS = {
  maxFileSize: {
    min: 1,
    defaultValue: 2097152,
    help: 'bytes; of a larger file only the name is indexed',
  },
  maxTrigramCount: {
    min: 0,
    defaultValue: 0,
    help: 'distinct trigrams of a file; above, only the name is indexed; 0 = no limit',
  },
  maxRepoIndexingJobConcurrency: {
    min: 1,
    defaultValue: 8,
    help: 'repositories that are indexed at a time, as far as cores and memory allow',
  },
  repoIndexTimeoutMs: {
    min: 1,
    defaultValue: 7200000,
    help: 'deadline of an index job',
  },
  reindexIntervalMs: {
    min: 1,
    defaultValue: 3600000,
    help: 'how often a repository of a connection is fetched and indexed',
  },
  resyncConnectionIntervalMs: {
    min: 1,
    defaultValue: 86400000,
    help: 'how often the repositories of a connection are listed',
  },
  maxConnectionSyncJobConcurrency: {
    min: 1,
    defaultValue: 8,
    help: 'connections that are listed at a time',
  },
  maxRepoGarbageCollectionJobConcurrency: {
    min: 1,
    defaultValue: 8,
    help: 'repositories that are removed at a time',
  },
  repoGarbageCollectionGracePeriodMs: {
    min: 1,
    defaultValue: 10000,
    help: 'how long a repository that no connection lists any more is kept',
  },
  permissionSyncIntervalMs: {
    min: 1,
    defaultValue: 21600000,
    help: 'how often hosts are asked who may read private repositories (`syncPermissions`)',
  },
  permissionSyncMaxAgeMs: {
    min: 1,
    defaultValue: 86400000,
    help: 'how long the last answer counts while a host cannot be asked',
  },
  maxMatchCount: { min: 1, defaultValue: 100000, help: 'a search that asks for more gets this' },
  searchTimeoutMs: { min: 0, defaultValue: 30000, help: 'deadline of a search; 0 = none' },
  maxConcurrentSearches: {
    min: 1,
    defaultValue: 'twice the cores',
    help: 'searches that run at a time, half of them by one caller while others wait',
  },
  maxQueuedSearches: {
    min: 1,
    defaultValue: 64,
    help: 'searches that wait; the next is refused, or the last of whoever has most',
  },
  maxSourceBytes: { min: 1, defaultValue: 67108864, help: 'largest file content that is served' },
  maxRequestBodyBytes: { min: 1, defaultValue: 1048576, help: 'largest request body' },
  gitTimeoutMs: { min: 1, defaultValue: 30000, help: 'deadline of a call of git' },
  memory: {
    min: 1,
    defaultValue: 536870912,
    help: 'bytes of requests and waiting answers; a caller may hold an eighth',
  },
  storeGraceMs: {
    min: 1,
    defaultValue: 60000,
    help: 'so long callers that are known are served while PostgreSQL is away',
  },
  auditRetentionDays: {
    min: 0,
    defaultValue: 180,
    help: 'days after which audit records are removed; 0 = never',
  },
} as const satisfies Record<string, IntegerSetting>;

/** The settings that are no integers: their default and help as people read them. */
export const OTHER_SETTINGS = {
  alwaysIndexFilePatterns: {
    defaultNote: '[]',
    help: 'globs over paths; lift maxFileSize and maxTrigramCount',
  },
  apiKeyHeaderAliases: { defaultNote: '[]', help: 'further headers that carry API keys' },
  anonymousAccess: { defaultNote: 'as an owner set it, at first false', help: 'serve guests' },
  passwordLogin: {
    defaultNote: 'as an owner set it, at first true',
    help: 'sign-in with e-mail and password',
  },
  apiKeyCreation: {
    defaultNote: 'as an owner set it, at first `all`',
    help: 'who may make API keys: `all` or `owners`',
  },
  apiKeyUsage: {
    defaultNote: 'as an owner set it, at first `all`',
    help: 'whose API keys count: `all` or `owners`',
  },
  trustedProxies: {
    defaultNote: '[]',
    help: 'addresses or networks whose `X-Forwarded-For` counts',
  },
  rateLimit: {
    defaultNote: '{}',
    help: '`requestsPerDay` of a user (10000; null = no limit), `contact` for a higher limit',
  },
  onDemandRevisions: {
    defaultNote: '{}',
    help: 'of any revision: `repos` (20), `docs` (50000), `timeoutMs` (10000), `diskBytes` (4294967296)',
  },
  webhooks: {
    defaultNote: '{}',
    help: '`secret`: where the secret is that code hosts prove pushes with',
  },
  oauth: {
    defaultNote: '{}',
    help: 'seconds: `codeTtlSeconds` (600), `accessTokenTtlSeconds` (3600), `refreshTokenTtlSeconds` (7776000)',
  },
  logLevel: {
    defaultNote: 'info',
    help: 'least level that is logged, unless variable or flag says: `debug`, `info`, `warn`, `error`',
  },
  logFormat: {
    defaultNote: 'text',
    help: 'form of the log lines, unless the variable says: `text` or `json`',
  },
} as const;

export interface RateLimitSettings {
  /** Null: no limit. */
  readonly requestsPerDay: number | null;
  /** Whom to ask for a higher limit. */
  readonly contact: string;
}

/** Bounds on the revisions that searches name and no index has. */
export interface OnDemandSettings {
  /** Repositories that one search may look for them in. */
  readonly repos: number;
  /** Docs that differ from what is indexed. */
  readonly docs: number;
  readonly timeoutMs: number;
  /** Of all that are kept. */
  readonly diskBytes: number;
}

export interface WebhookSettings {
  /** Absent: no webhook is taken. */
  readonly secret?: SecretSource;
}

/** Seconds that what OAuth gives is good for. */
export interface OAuthSettings {
  readonly codeTtlSeconds: number;
  readonly accessTokenTtlSeconds: number;
  /** From its last use. */
  readonly refreshTokenTtlSeconds: number;
}

/** Who may make API keys, and use them. */
export const WHO_MAY = ['all', 'owners'] as const;
export type WhoMay = (typeof WHO_MAY)[number];

export type Settings = { readonly [Key in keyof typeof INTEGER_SETTINGS]: number } & {
  readonly alwaysIndexFilePatterns: readonly string[];
  readonly apiKeyHeaderAliases: readonly string[];
  readonly trustedProxies: readonly string[];
  /** The following four are up to the owners where they are absent. */
  readonly anonymousAccess?: boolean;
  readonly passwordLogin?: boolean;
  readonly apiKeyCreation?: WhoMay;
  readonly apiKeyUsage?: WhoMay;
  readonly rateLimit: RateLimitSettings;
  readonly onDemandRevisions: OnDemandSettings;
  readonly webhooks: WebhookSettings;
  readonly oauth: OAuthSettings;
  /** Absent: as usual. Variables and flags beat both. */
  readonly logLevel?: LogLevel;
  readonly logFormat?: LogFormat;
};

/**
 * The settings with their defaults.
 *
 * @param given  what is configured; unknown keys and wrong values are refused
 *
 * Errors: ConfigError naming the key.
 */
export function readSettings(given: Readonly<Record<string, unknown>> = {}): Settings {
  const result = settingsSchema.safeParse(given);
  if (result.success) return result.data;
  const issue = result.error.issues[0];
  const unknown = issue?.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
  const key = String(issue?.path[0] ?? unknown ?? 'settings');
  const allowed =
    unknown === undefined || key !== unknown
      ? (issue?.message ?? 'invalid')
      : `no such setting; allowed: ${Object.keys(settingsSchema.shape).join(', ')}`;
  throw new ConfigError(`settings.${key}`, JSON.stringify(given[key]), allowed);
}

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
const whoMay = z.enum(WHO_MAY, { error: `allowed: ${WHO_MAY.join(' or ')}` });

const GLOBS = 'allowed: a list of globs';
const HEADERS = 'allowed: a list of header names';
const NETWORKS = 'allowed: a list of IP addresses and networks such as 10.0.0.0/8';

/** Seconds; a year at most. */
function ttl(defaultSeconds: number) {
  return z.int().min(1).max(31_536_000).default(defaultSeconds);
}

const otherFields = {
  alwaysIndexFilePatterns: z.array(z.string({ error: GLOBS }), { error: GLOBS }).default([]),
  apiKeyHeaderAliases: z
    .array(
      z.string({ error: HEADERS }).regex(/^[A-Za-z0-9!#$%&'*+.^_`|~-]+$/, { error: HEADERS }),
      {
        error: HEADERS,
      },
    )
    .default([]),
  trustedProxies: z
    .array(
      z
        .string({ error: NETWORKS })
        .refine((text) => readNetwork(text) !== undefined, { error: NETWORKS }),
      { error: NETWORKS },
    )
    .default([]),
  anonymousAccess: flag.exactOptional(),
  passwordLogin: flag.exactOptional(),
  apiKeyCreation: whoMay.exactOptional(),
  apiKeyUsage: whoMay.exactOptional(),
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
    .prefault({}),
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
          .describe('Room for all that are kept.'),
      },
      { error: 'allowed: repos, docs, diskBytes (integers from 0) and timeoutMs (one from 1)' },
    )
    .prefault({}),
  webhooks: z
    .strictObject(
      { secret: secretSchema.exactOptional().describe('Code hosts prove pushes with it.') },
      { error: 'allowed: secret' },
    )
    .prefault({}),
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
    .prefault({}),
  logLevel: logLevel.exactOptional(),
  logFormat: logFormat.exactOptional(),
};

// What editors show of a setting is what the table says of it.
const described = Object.fromEntries(
  Object.entries<z.ZodType>(otherFields).map(([key, field]) => [
    key,
    // Safety: the compiler compares the keys of both below.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    field.describe(OTHER_SETTINGS[key as keyof typeof OTHER_SETTINGS].help),
  ]),
);
// oxlint-disable-next-line typescript/no-unsafe-type-assertion -- each field as before, described
const describedFields = described as Pick<typeof otherFields, keyof typeof OTHER_SETTINGS>;

export const settingsSchema = z.strictObject({ ...integerFields, ...describedFields });
