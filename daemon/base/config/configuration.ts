// Reads environment, flags and the configuration file into one typed value at start. Flags beat variables, variables beat
// the file, the file beats defaults; an empty variable counts as unset. Secrets are removed from the environment, so child
// processes do not inherit them. Only the file can be read again.

import { existsSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { z } from 'zod';
import { ConfigError } from './error.ts';
import { type FileConfiguration, NO_FILE, parseConfiguration } from './file.ts';
import { awaitSource, type ConfigurationSource, MissingError, openSource } from './file-source.ts';
import { NoFileError, readOwn } from '../own-file.ts';
import { memberOf } from './schema-document.ts';
import { SecretText } from './secret-text.ts';
import { type ServiceManager, takeServiceManager } from './service-manager.ts';
import { readSettings, type Settings } from './settings.ts';
import { CLIENT_VARIABLES, VARIABLES } from './variables.ts';
import type { LogFormat, LogLevel } from '../log-levels.ts';
import type { HTTP_KINDS, Variable, VariableKey } from './variables.ts';

export interface LogConfiguration {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Absolute path; undefined: standard error. */
  readonly file: string | undefined;
}

export interface OwnerConfiguration {
  readonly email: string;
  readonly password: SecretText | undefined;
  readonly apiKey: SecretText | undefined;
}

/** The current content of the file; what changed is a new object. */
interface FilePart extends FileConfiguration {
  readonly settings: Settings;
  /** Settings given in the file itself, by key. */
  readonly fileSettings: FileConfiguration['settings'];
}

export interface ListenAddress {
  readonly host: string;
  /** 0: the system chooses. */
  readonly port: number;
}

/** Absolute paths of PEM files. */
export interface TlsFiles {
  readonly cert: string;
  readonly key: string;
}

export interface Configuration extends FilePart, ListenAddress {
  /** Without trailing slash; undefined: derived from the bound address. */
  readonly baseUrl: string | undefined;
  readonly dataDir: string;
  /** Absolute paths outside sources that git may read for them. */
  readonly gitPaths: readonly string[];
  /** The instance secret; undefined: it is in the data directory. */
  readonly secret: SecretText | undefined;
  readonly owner: OwnerConfiguration | undefined;
  /** Undefined: the embedded store. */
  readonly databaseUrl: SecretText | undefined;
  readonly licenceKey: SecretText | undefined;
  readonly licencePublicKey: string | undefined;
  /** Undefined: owners decide. */
  readonly anonymousAccess: boolean | undefined;
  /** Programs on this machine may read as long as there is no account. */
  readonly localAccess: boolean;
  readonly workerCount: number;
  readonly http: (typeof HTTP_KINDS)[number];
  /** Undefined: no TLS. */
  readonly tls: TlsFiles | undefined;
  readonly manager: ServiceManager;
  /** Where metrics are served; undefined: nowhere. */
  readonly metrics: ListenAddress | undefined;
  /** Current; `file` never changes. */
  readonly log: LogConfiguration;
  /** Variables that hold the file's secrets and the proxies, without our own secrets. */
  readonly env: Readonly<Environment>;
  /** Location of the configuration file; undefined: there is none. */
  readonly source: ConfigurationSource | undefined;
  /**
   * Reads the file again; environment and flags stay. Returns what changed: settings by name, `permissions`, `apps`,
   * `connections.NAME`, `contexts.NAME`, `identityProviders.ID`. Errors: ConfigError; nothing changes then.
   */
  readonly readAgain: () => readonly string[];
}

export type Environment = Record<string, string | undefined>;
/** By the key of VARIABLES; `true`: a flag without value. */
export type Flags = Partial<Record<VariableKey, string | number | boolean | undefined>>;

export interface ConfigurationInput {
  /** Secrets are deleted from it. */
  readonly env: Environment;
  readonly flags?: Flags;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Base of relative paths; default: the current folder. */
  readonly folder?: string;
  /** The file; default: from variable or flag. An address has been fetched already. */
  readonly source?: ConfigurationSource | undefined;
  /** Why the fetch failed; the stored copy is used. */
  readonly missing?: MissingError | undefined;
}

type Values = {
  readonly [Key in VariableKey]: z.output<(typeof VARIABLES)[Key]['schema']> | undefined;
};

/** Reads the configuration of this run. Errors: ConfigError naming variable, value and allowed values. */
export function readConfiguration(input: ConfigurationInput): Configuration {
  const { env, flags = {}, folder = process.cwd() } = input;
  const unknown = unknownVariables(env);
  const manager = takeServiceManager(env);
  const values = readValues(env, flags);
  checkOwner(values);
  const dataDir = path.resolve(folder, values.dataDir ?? '');
  const source =
    input.source ??
    (values.config === undefined ? undefined : openSource(values.config, folder, env));
  const { missing } = input;
  if (missing !== undefined && source?.recall(dataDir) !== true) throw missing;
  const copied = missing === undefined ? [] : [`${missing.message}; the stored copy is used`];
  let read = readFile(input, source);
  const logFile = values.logFile === undefined ? undefined : path.resolve(folder, values.logFile);
  const configuration: Configuration = {
    ...read,
    host: values.host ?? '',
    port: values.port ?? 0,
    baseUrl: values.baseUrl,
    dataDir,
    gitPaths: values.gitPaths ?? [],
    secret: secretText(values.secret),
    owner: ownerOf(values),
    databaseUrl: secretText(values.databaseUrl),
    licenceKey: secretText(values.licenceKey),
    licencePublicKey: values.licencePublicKey,
    anonymousAccess: values.anonymousAccess,
    localAccess: values.localAccess ?? true,
    workerCount: values.workers ?? availableParallelism(),
    http: values.http ?? 'node',
    tls: tlsFiles(values, folder),
    manager,
    metrics:
      values.metricsPort === undefined
        ? undefined
        : { host: values.metricsHost ?? '', port: values.metricsPort },
    get log() {
      return {
        level: values.logLevel ?? read.settings.logLevel ?? 'info',
        format: values.logFormat ?? read.settings.logFormat ?? 'text',
        file: logFile,
      };
    },
    env,
    source,
    readAgain() {
      const before = read;
      read = keepEqual(before, readFile(input, source));
      const { notices } = read;
      Object.assign(configuration, read, { notices: [...unknown, ...notices] });
      return changesOf(before, read);
    },
    notices: [...unknown, ...copied, ...read.notices],
  };
  return configuration;
}

function ownerOf({ ownerEmail: email, ...owner }: Values): OwnerConfiguration | undefined {
  if (email === undefined) return undefined;
  const { ownerPassword, ownerApiKey } = owner;
  return { email, password: secretText(ownerPassword), apiKey: secretText(ownerApiKey) };
}

/**
 * As readConfiguration, for a file that may be at an http(s) address; if the fetch fails, the stored copy is used.
 * `onWait` is called before each wait for a missing file; without it a missing file is an error at once.
 */
export async function openConfiguration(
  input: ConfigurationInput,
  onWait?: (reason: string) => void,
): Promise<Configuration> {
  const { env, flags = {}, folder = process.cwd() } = input;
  const location = String(flags.config ?? env[VARIABLES.config.name] ?? '');
  if (location === '') return readConfiguration(input);
  const source = openSource(location, folder, env);
  try {
    if (onWait === undefined) await source.refresh();
    else await awaitSource(source, onWait);
  } catch (missing) {
    if (!(missing instanceof MissingError)) throw missing;
    return readConfiguration({ ...input, source, missing });
  }
  return readConfiguration({ ...input, source });
}

/** Errors: ConfigError. */
function readFile(input: ConfigurationInput, source: ConfigurationSource | undefined): FilePart {
  const file = source === undefined ? NO_FILE : parseConfiguration(source.name, source.read());
  return {
    ...file,
    settings: readSettings({ ...file.settings, ...input.settings }),
    fileSettings: file.settings,
  };
}

const BY_NAME = ['connections', 'contexts', 'identityProviders'] as const;
const WHOLE = ['settings', 'permissions', 'apps'] as const;

/** The new parts; a part equal to the old one keeps the old object. */
function keepEqual(before: FilePart, next: FilePart): FilePart {
  const whole = WHOLE.map((part) => [part, keptIfEqual<unknown>(before[part], next[part])]);
  const byName = BY_NAME.map((part) => [part, keptByName(before[part], next[part])]);
  return { ...next, ...Object.fromEntries([...whole, ...byName]) };
}

function keptIfEqual<Value>(before: Value, next: Value): Value {
  return isDeepStrictEqual(before, next) ? before : next;
}

function keptByName(before: object, next: object): object {
  const kept = Object.entries(next).map(([name, value]): [string, unknown] => [
    name,
    keptIfEqual<unknown>(memberOf(before, name), value),
  ]);
  return keptIfEqual(before, Object.fromEntries(kept));
}

function changesOf(before: FilePart, next: FilePart): string[] {
  return [
    ...changedNames(before.settings, next.settings),
    ...WHOLE.slice(1).filter((part) => before[part] !== next[part]),
    ...BY_NAME.flatMap((part) =>
      changedNames(before[part], next[part]).map((name) => `${part}.${name}`),
    ),
  ];
}

function changedNames(then: object, now: object): string[] {
  const names = [...new Set([...Object.keys(then), ...Object.keys(now)])];
  return names.filter((name) => !isDeepStrictEqual(memberOf(then, name), memberOf(now, name)));
}

/** Errors: ConfigError if one is missing. */
function tlsFiles({ tlsCert, tlsKey }: Values, folder: string): TlsFiles | undefined {
  if (tlsCert === undefined && tlsKey === undefined) return undefined;
  if (tlsCert !== undefined && tlsKey !== undefined)
    return { cert: path.resolve(folder, tlsCert), key: path.resolve(folder, tlsKey) };
  const [given, missing] =
    tlsKey === undefined ? (['tlsCert', 'tlsKey'] as const) : (['tlsKey', 'tlsCert'] as const);
  throw new ConfigError(
    VARIABLES[given].name,
    `set without ${VARIABLES[missing].name}`,
    'set both',
  );
}

function secretText(text: string | undefined): SecretText | undefined {
  return text === undefined ? undefined : new SecretText(text);
}

/** Errors: ConfigError. */
function checkOwner({ ownerApiKey, ownerPassword, ownerEmail }: Values): void {
  if (ownerEmail !== undefined) return;
  if (ownerApiKey === undefined && ownerPassword === undefined) return;
  const { name } = ownerApiKey === undefined ? VARIABLES.ownerPassword : VARIABLES.ownerApiKey;
  throw new ConfigError(name, 'set without an owner', `set ${VARIABLES.ownerEmail.name} too`);
}

function readValues(env: Environment, flags: Flags): Values {
  const texts = Object.entries<Variable>(VARIABLES).map(([key, row]) => {
    // Safety: the keys of VARIABLES are VariableKey.
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion
    const flag = flags[key as VariableKey];
    const text = takeText(env, row);
    const source =
      flag === undefined
        ? { name: row.name, text: text ?? row.defaultText }
        : { name: `--${row.flag ?? key}`, text: String(flag) };
    return { key, row, source };
  });
  // Why first: all secrets leave the environment before a value can be refused.
  // Safety: each value came out of the schema of its own row.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return Object.fromEntries(
    texts.map(({ key, row, source }) => [key, parseText(row, source.name, source.text)]),
  ) as Values;
}

function parseText(row: Variable, name: string, text: string | undefined): unknown {
  if (text === undefined) return undefined;
  const result = row.schema.safeParse(text);
  if (result.success) return result.data;
  const quoted = row.isSecret === true ? '(hidden)' : JSON.stringify(text);
  throw new ConfigError(name, quoted, `allowed: ${row.allowed}`);
}

/** The text of a variable; undefined: unset or empty. Removes secrets from `env`. */
function takeText(env: Environment, row: Variable): string | undefined {
  const text = env[row.name];
  if (row.isSecret !== true) return text === '' ? undefined : text;
  const fileName = `${row.name}_FILE`;
  const file = env[fileName] ?? credentialFile(env, row.name);
  delete env[row.name];
  delete env[fileName];
  if (text !== undefined && text !== '') return text;
  return file === undefined || file === '' ? undefined : readSecretFile(fileName, file);
}

/** Of systemd's `LoadCredential`. */
function credentialFile({ CREDENTIALS_DIRECTORY: folder }: Environment, name: string) {
  const file = path.join(folder ?? '', name);
  return folder !== undefined && existsSync(file) ? file : undefined;
}

function readSecretFile(name: string, file: string): string {
  try {
    return readOwn(file).toString().trim();
  } catch (error) {
    const other = error instanceof NoFileError ? 'no file' : 'unreadable';
    const reason = error instanceof Error && 'code' in error ? String(error.code) : other;
    throw new ConfigError(name, JSON.stringify(file), `${reason}; allowed: a readable file`);
  }
}

function unknownVariables(env: Environment): string[] {
  const rows: readonly Variable[] = Object.values(VARIABLES);
  const allowed = new Set([...rows.map((row) => row.name), ...CLIENT_VARIABLES]);
  for (const row of rows) if (row.isSecret === true) allowed.add(`${row.name}_FILE`);
  return Object.keys(env)
    .filter((name) => name.startsWith('TRAWL_') && !allowed.has(name))
    .map((name) => `${name} is not a variable of this version and has no effect`);
}
