// Summary of a configuration file for `trawl config check`: its mistakes, the selection of each connection, and whether
// each secret and certificate can be read. Contents of secrets are never printed.

import type { ConnectionSettings } from './connections.ts';
import type { Environment } from './dispatcher.ts';
import { ConfigError, RefusedFileError } from './error.ts';
import { type FileConfiguration, NO_FILE, parseConfiguration } from './file.ts';
import type { ConfigurationSource } from './file-source.ts';
import { readSecretSource, type SecretSource } from './secret-source.ts';
import { readSettings } from './settings.ts';

export interface ReferencedSecret {
  /** Path of the key: `connections.acme.token`. */
  readonly key: string;
  /** `variable NAME` or `file PATH`. */
  readonly from: string;
  /** Why it cannot be read; undefined: it can. */
  readonly problem: string | undefined;
}

export interface FileCheck {
  /** Empty: the file is valid. */
  readonly diagnostics: readonly string[];
  /** The parsed file; empty if it has mistakes. */
  readonly file: FileConfiguration;
  readonly secrets: readonly ReferencedSecret[];
}

/** Errors: ConfigError if the file cannot be read. */
export function checkFile(source: ConfigurationSource, env: Environment): FileCheck {
  const text = source.read();
  try {
    const file = parseConfiguration(source.name, text);
    return { diagnostics: [], file, secrets: referencedSecrets(file, env) };
  } catch (error) {
    if (!(error instanceof RefusedFileError)) throw error;
    return { diagnostics: error.diagnostics, file: NO_FILE, secrets: [] };
  }
}

function referencedSecrets(
  { connections, apps, identityProviders, settings }: FileConfiguration,
  env: Environment,
): ReferencedSecret[] {
  const sources: [string, SecretSource | undefined][] = [];
  for (const [name, { token, tls }] of Object.entries(connections)) {
    const caFile = tls.caFile === undefined ? undefined : { file: tls.caFile };
    sources.push([`connections.${name}.token`, token], [`connections.${name}.tls.caFile`, caFile]);
  }
  sources.push(['settings.webhooks.secret', readSettings(settings).webhooks.secret]);
  for (const [index, { privateKey }] of apps.entries())
    sources.push([`apps.${index}.privateKey`, privateKey]);
  for (const [id, { clientSecret }] of Object.entries(identityProviders))
    sources.push([`identityProviders.${id}.clientSecret`, clientSecret]);
  return sources.flatMap(([key, source]) =>
    source === undefined ? [] : [{ key, from: originOf(source), problem: problemOf(source, env) }],
  );
}

function originOf(source: SecretSource): string {
  return 'env' in source ? `variable ${source.env}` : `file ${source.file}`;
}

function problemOf(source: SecretSource, env: Environment): string | undefined {
  try {
    readSecretSource(source, env);
    return undefined;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return 'env' in source ? 'not set' : 'not readable, or empty';
  }
}

const SELECTING = ['users', 'orgs', 'groups', 'workspaces', 'projects', 'repos'] as const;

export function selectionOf(connection: ConnectionSettings): string {
  if (connection.type === 'git') return connection.url;
  const all = 'all' in connection && connection.all ? ['everything the credential sees'] : [];
  const lists = listsOf(connection, SELECTING);
  const selected = [...all, ...lists];
  const topics = listsOf(connection, ['topics']);
  const excluded = Object.entries(connection.exclude).flatMap(([key, value]) =>
    excludedBy(key, value),
  );
  return [
    selected.length === 0 ? 'everything the credential can list' : selected.join('; '),
    ...topics.map((text) => `only with ${text}`),
    ...(excluded.length === 0 ? [] : [`without ${excluded.join(', ')}`]),
    `at ${connection.url}`,
  ].join('; ');
}

function listsOf(connection: object, keys: readonly string[]): string[] {
  return Object.entries(connection).flatMap(([key, value]) =>
    keys.includes(key) && Array.isArray(value) && value.length > 0
      ? [`${key} ${value.join(', ')}`]
      : [],
  );
}

function excludedBy(key: string, value: unknown): string[] {
  if (value === true) return [key];
  if (Array.isArray(value)) return value.length > 0 ? [`${key} ${value.join(' ')}`] : [];
  if (typeof value !== 'object' || value === null) return [];
  const bounds = Object.entries(value).map(([bound, bytes]) => `${bound} ${String(bytes)}`);
  return bounds.length > 0 ? [`${key} beyond ${bounds.join(' and ')} bytes`] : [];
}
