// Environment variables and their flags as one table: name, default, help and the schema that reads the text.
// API.md 21.2 has the same rows; a test keeps them equal.

import path from 'node:path';
import { z } from 'zod';
import { LOG_FORMATS, LOG_LEVELS } from '../log-levels.ts';

export interface Variable<Value> {
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
  readonly help: string;
  /** Text -> value; a failure means that the text is not allowed. */
  readonly schema: z.ZodType<Value, string>;
}

function variable<Value>(row: Variable<Value>): Variable<Value> {
  return row;
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

/** http or https, nothing after the path; the trailing slash is removed. */
const baseUrl = z
  .string()
  .refine((text) => {
    const url = URL.canParse(text) ? new URL(text) : undefined;
    if (url === undefined || !/^https?:$/.test(url.protocol)) return false;
    return url.username === '' && url.password === '' && !/[?#]/.test(text);
  })
  .transform((text) => new URL(text).href.replace(/\/+$/, ''));

export const HTTP_KINDS = ['node', 'uws'] as const;

export const VARIABLES = {
  port: variable({
    name: 'TRAWL_PORT',
    flag: 'port',
    defaultText: '3000',
    allowed: '0 to 65535',
    help: 'port to listen on; 0 takes a free one',
    schema: integer(0, 65535),
  }),
  host: variable({
    name: 'TRAWL_HOST',
    flag: 'host',
    defaultText: '127.0.0.1',
    allowed: 'an address of this machine or a host name',
    help: 'address to listen on',
    schema: z.string().regex(/^(?:[A-Za-z0-9.:_-]+|\[[0-9A-Fa-f.:]+\])$/),
  }),
  baseUrl: variable({
    name: 'TRAWL_BASE_URL',
    flag: 'base-url',
    defaultNote: '`http://localhost:{port}` or the bound address',
    allowed: 'an http or https address without query',
    help: 'public address, may have a path, which a proxy passes on as it is; used in links and the Host check',
    schema: baseUrl,
  }),
  dataDir: variable({
    name: 'TRAWL_DATA_DIR',
    flag: 'data-dir',
    defaultText: '.trawl',
    allowed: 'a path',
    help: 'index, clones and secret; created with mode 0700',
    schema: anyText,
  }),
  gitPaths: variable({
    name: 'TRAWL_GIT_PATHS',
    defaultNote: 'paths inside the source',
    allowed: 'absolute paths, `:` between them',
    help: 'folders outside of sources whose git directories and objects may be read for them',
    schema: z
      .string()
      .transform((text) => text.split(path.delimiter))
      .refine((paths) => paths.every((one) => path.isAbsolute(one))),
  }),
  config: variable({
    name: 'TRAWL_CONFIG',
    flag: 'config',
    allowed: 'a path or an http(s) address',
    help: 'configuration file, JSON with comments; an address is polled every minute, and its last text is stored',
    schema: anyText,
  }),
  secret: variable({
    name: 'TRAWL_SECRET',
    isSecret: true,
    defaultNote: 'created at first use, stored in the data directory',
    allowed: 'at least 32 bytes',
    help: 'instance secret; changing it voids all keys, tokens and sessions',
    schema: z.string().refine((text) => Buffer.byteLength(text) >= 32),
  }),
  ownerEmail: variable({
    name: 'TRAWL_OWNER_EMAIL',
    allowed: 'an e-mail address',
    help: 'the first owner, created if there is no user; required by the owner key',
    schema: z.email(),
  }),
  ownerPassword: variable({
    name: 'TRAWL_OWNER_PASSWORD',
    isSecret: true,
    allowed: '8 to 256 characters',
    help: 'password of the owner that TRAWL_OWNER_EMAIL creates; without it a request to set it is printed',
    schema: z.string().refine((text) => text.length >= 8 && text.length <= 256),
  }),
  ownerApiKey: variable({
    name: 'TRAWL_OWNER_API_KEY',
    isSecret: true,
    allowed: 'svk_ and 64 lower-case hex digits',
    help: 'an API key of that owner, named `bootstrap`; another value replaces it',
    schema: z.string().regex(/^svk_[0-9a-f]{64}$/),
  }),
  databaseUrl: variable({
    name: 'TRAWL_DATABASE_URL',
    isSecret: true,
    defaultNote: 'embedded store in the data directory',
    allowed: 'a postgres:// address',
    help: 'PostgreSQL that keeps accounts and counters',
    schema: z.string().regex(/^postgres(?:ql)?:\/\//),
  }),
  licenceKey: variable({
    name: 'TRAWL_LICENSE_KEY',
    isSecret: true,
    allowed: 'a licence key',
    help: 'licence key; beats the one that an owner set',
    schema: anyText,
  }),
  licencePublicKey: variable({
    name: 'TRAWL_LICENSE_PUBLIC_KEY',
    defaultNote: 'built in',
    allowed: 'an Ed25519 public key: PEM or base64',
    help: 'whose licence keys count; for tests and own builds',
    schema: anyText,
  }),
  anonymousAccess: variable({
    name: 'TRAWL_ANONYMOUS_ACCESS',
    flag: 'anonymous',
    defaultNote: 'set by an owner, initially false',
    allowed: 'true or false',
    help: 'serve search and files without a credential',
    schema: boolean,
  }),
  localAccess: variable({
    name: 'TRAWL_LOCAL_ACCESS',
    defaultNote: 'true',
    allowed: 'true or false',
    help: 'serve search and files without a credential to this machine while there is no account',
    schema: boolean,
  }),
  workers: variable({
    name: 'TRAWL_WORKERS',
    flag: 'workers',
    defaultNote: 'number of cores',
    allowed: '1 to 1024',
    help: 'engine threads',
    schema: integer(1, 1024),
  }),
  http: variable({
    name: 'TRAWL_HTTP',
    defaultText: 'node',
    allowed: 'node or uws',
    help: 'HTTP server: node:http, or uWebSockets.js, which listens on loopback addresses only',
    schema: z.enum(HTTP_KINDS),
  }),
  logLevel: variable({
    name: 'TRAWL_LOG_LEVEL',
    flag: 'log-level',
    defaultNote: '`logLevel` of the file, else info',
    allowed: 'debug, info, warn or error',
    help: 'minimum level of log lines; queries appear at debug only',
    schema: z.enum(LOG_LEVELS),
  }),
  logFormat: variable({
    name: 'TRAWL_LOG_FORMAT',
    defaultNote: '`logFormat` of the file, else text',
    allowed: 'text or json',
    help: 'format of the log lines',
    schema: z.enum(LOG_FORMATS),
  }),
  logFile: variable({
    name: 'TRAWL_LOG_FILE',
    defaultNote: 'standard error',
    allowed: 'a path',
    help: 'file that log lines are appended to',
    schema: anyText,
  }),
};

/** Variables read by other parts of the program; listed so that they are not reported as unknown. */
export const CLIENT_VARIABLES = [
  'TRAWL_URL',
  'TRAWL_API_KEY',
  'TRAWL_API_KEY_FILE',
  'TRAWL_BACKUP_PASSPHRASE',
  'TRAWL_BACKUP_PASSPHRASE_FILE',
];

export type VariableKey = keyof typeof VARIABLES;
