// Environment variables and their flags as one table: name, default and the schema that reads the text.
// API.md 21.2 says what each is for; a test keeps both equal.

import { existsSync, statSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { LOG_FORMATS, LOG_LEVELS } from '../log-levels.ts';
import { DEFAULTS } from './search-configuration.ts';

export interface Variable {
  readonly name: string;
  /** Flag of `trawl serve`, without `--`. It beats the variable. */
  readonly flag?: string;
  /** Default text; undefined: the value stays unset. */
  readonly defaultText?: string;
  /** The default as text for people, if it depends on the machine or on other values. */
  readonly defaultNote?: string;
  /** Read, then removed from the environment; never printed. `NAME_FILE` names a file that holds it. */
  readonly isSecret?: boolean;
  /** Allowed values as text for people. */
  readonly allowed: string;
  /** Text -> value; a failure means that the text is not allowed. */
  readonly schema: z.ZodType<unknown, string>;
}

function integer(min: number, max: number): z.ZodType<number, string> {
  return z
    .string()
    .regex(/^[0-9]{1,9}$/)
    .transform(Number)
    .refine((value) => value >= min && value <= max);
}

const boolean = z.enum(['true', 'false']).transform((text) => text === 'true');

const anyText = z.string();

function isFolder(location: string): boolean {
  return existsSync(location) && statSync(location).isDirectory();
}

/** http or https, nothing after the path; the trailing slash is removed. */
const baseUrl = z
  .string()
  .refine((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
    return url.username === '' && url.password === '' && !/[?#]/.test(text);
  })
  .transform((text) => new URL(text).href.replace(/\/+$/, ''));

const host = z.string().regex(/^(?:[A-Za-z0-9.:_-]+|\[[0-9A-Fa-f.:]+\])$/);
const HOST_ALLOWED = 'an address of this machine or a host name';

export const API_KEY_PREFIX = 'svk_';

export const HTTP_KINDS = ['node', 'uws'] as const;

export const VARIABLES = {
  port: {
    name: 'TRAWL_PORT',
    flag: 'port',
    defaultText: String(DEFAULTS.port),
    allowed: '0 to 65535',
    schema: integer(0, 65535),
  },
  host: {
    name: 'TRAWL_HOST',
    flag: 'host',
    defaultText: '127.0.0.1',
    allowed: HOST_ALLOWED,
    schema: host,
  },
  baseUrl: {
    name: 'TRAWL_BASE_URL',
    flag: 'base-url',
    defaultNote: '`http://localhost:{port}` or the bound address',
    allowed: 'an http or https address without query',
    schema: baseUrl,
  },
  dataDir: {
    name: 'TRAWL_DATA_DIR',
    flag: 'data-dir',
    defaultText: '.trawl',
    allowed: 'a folder, or a path where nothing is',
    schema: anyText.refine((text) => !existsSync(text) || isFolder(text)),
  },
  gitPaths: {
    name: 'TRAWL_GIT_PATHS',
    defaultNote: 'paths inside the source',
    allowed: 'absolute paths, `:` between them',
    schema: z
      .string()
      .transform((text) => text.split(path.delimiter))
      .refine((paths) => paths.every((one) => path.isAbsolute(one))),
  },
  config: {
    name: 'TRAWL_CONFIG',
    flag: 'config',
    allowed: 'a path or an http(s) address',
    schema: anyText,
  },
  secret: {
    name: 'TRAWL_SECRET',
    isSecret: true,
    defaultNote: 'created at first use, stored in the data directory',
    allowed: 'at least 32 bytes',
    schema: z.string().refine((text) => Buffer.byteLength(text) >= 32),
  },
  ownerEmail: { name: 'TRAWL_OWNER_EMAIL', allowed: 'an e-mail address', schema: z.email() },
  ownerPassword: {
    name: 'TRAWL_OWNER_PASSWORD',
    isSecret: true,
    allowed: '8 to 256 characters',
    schema: z.string().refine((text) => text.length >= 8 && text.length <= 256),
  },
  ownerApiKey: {
    name: 'TRAWL_OWNER_API_KEY',
    isSecret: true,
    allowed: `${API_KEY_PREFIX} and 64 lower-case hex digits`,
    schema: z.string().regex(new RegExp(`^${API_KEY_PREFIX}[0-9a-f]{64}$`)),
  },
  databaseUrl: {
    name: 'TRAWL_DATABASE_URL',
    isSecret: true,
    defaultNote: 'embedded store in the data directory',
    allowed: 'a postgres:// address',
    schema: z.string().regex(/^postgres(?:ql)?:\/\//),
  },
  licenceKey: {
    name: 'TRAWL_LICENSE_KEY',
    isSecret: true,
    allowed: 'a licence key',
    schema: anyText,
  },
  licencePublicKey: {
    name: 'TRAWL_LICENSE_PUBLIC_KEY',
    defaultNote: 'built in',
    allowed: 'an Ed25519 public key: PEM or base64',
    schema: anyText,
  },
  anonymousAccess: {
    name: 'TRAWL_ANONYMOUS_ACCESS',
    flag: 'anonymous',
    defaultNote: 'set by an owner, initially false',
    allowed: 'true or false',
    schema: boolean,
  },
  localAccess: {
    name: 'TRAWL_LOCAL_ACCESS',
    defaultNote: 'true',
    allowed: 'true or false',
    schema: boolean,
  },
  workers: {
    name: 'TRAWL_WORKERS',
    flag: 'workers',
    defaultNote: 'number of cores',
    allowed: '1 to 1024',
    schema: integer(1, 1024),
  },
  http: {
    name: 'TRAWL_HTTP',
    defaultText: 'node',
    allowed: 'node or uws',
    schema: z.enum(HTTP_KINDS),
  },
  tlsCert: { name: 'TRAWL_TLS_CERT', defaultNote: 'no TLS', allowed: 'a path', schema: anyText },
  tlsKey: { name: 'TRAWL_TLS_KEY', defaultNote: 'no TLS', allowed: 'a path', schema: anyText },
  metricsPort: {
    name: 'TRAWL_METRICS_PORT',
    defaultNote: 'off',
    allowed: '0 to 65535',
    schema: integer(0, 65535),
  },
  metricsHost: {
    name: 'TRAWL_METRICS_HOST',
    defaultText: '127.0.0.1',
    allowed: HOST_ALLOWED,
    schema: host,
  },
  logLevel: {
    name: 'TRAWL_LOG_LEVEL',
    flag: 'log-level',
    defaultNote: '`logLevel` of the file, else info',
    allowed: 'debug, info, warn or error',
    schema: z.enum(LOG_LEVELS),
  },
  logFormat: {
    name: 'TRAWL_LOG_FORMAT',
    defaultNote: '`logFormat` of the file, else text',
    allowed: 'text or json',
    schema: z.enum(LOG_FORMATS),
  },
  logFile: {
    name: 'TRAWL_LOG_FILE',
    defaultNote: 'standard error',
    allowed: 'a path where no folder is',
    schema: anyText.refine((text) => !isFolder(text)),
  },
} as const satisfies Readonly<Record<string, Variable>>;

/** Variables read by other parts of the program; listed so that they are not reported as unknown. */
export const CLIENT_VARIABLES = [
  'TRAWL_URL',
  'TRAWL_API_KEY',
  'TRAWL_API_KEY_FILE',
  'TRAWL_BACKUP_PASSPHRASE',
  'TRAWL_BACKUP_PASSPHRASE_FILE',
];

export type VariableKey = keyof typeof VARIABLES;
