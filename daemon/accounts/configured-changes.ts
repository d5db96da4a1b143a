// Audits changes of the configuration file (API.md 24.3). At start and after each reload, the configuration is compared
// with the last recorded one, stored in the data directory. So changes made while no daemon ran are recorded too, and a
// start without changes records nothing.

import { omitUndefined } from '../base/omit-undefined.ts';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Configuration } from '../base/config/configuration.ts';
import { NO_PERMISSIONS, type PermissionsConfiguration } from '../base/config/file-schema.ts';
import { readOwn, replaceOwn } from '../base/own-file.ts';
import { messageOf } from '../base/caught.ts';
import type { Log } from '../base/log.ts';
import { type Actor, type AuditLog, ORG } from './audit-log.ts';

/** Actor of the configuration's changes; `metadata.file` has its path. */
export const CONFIGURATION_FILE: Actor = { id: 'configuration-file', type: 'user' };

/** In the data directory. */
const RECORDED_FILE = 'configuration-recorded.json';

/** Names of one list in a record. */
const LISTED_MAX = 100;

const sectionSchema = z.record(z.string(), z.record(z.string(), z.unknown())).default({});
type Section = z.infer<typeof sectionSchema>;

const recordedSchema = z.strictObject({
  /** Path or address of the configuration file; null: none. */
  file: z.string().nullable(),
  settings: z.record(z.string(), z.unknown()),
  permissions: z.strictObject({
    groups: z.record(z.string(), z.array(z.string())),
    grants: z.array(z.strictObject({ to: z.array(z.string()), repos: z.array(z.string()) })),
  }),
  /** By name; secrets only by their location. */
  connections: sectionSchema,
  /** By id, likewise. */
  identityProviders: sectionSchema,
});
type Recorded = z.infer<typeof recordedSchema>;

type Metadata = Readonly<Record<string, unknown>>;

export interface ConfiguredChangesOptions {
  readonly configuration: Configuration;
  readonly auditLog: AuditLog;
  readonly log: Log;
}

export class ConfiguredChanges {
  readonly #options: ConfiguredChangesOptions;
  readonly #recordedFile: string;
  #recorded: Recorded;

  constructor(options: ConfiguredChangesOptions) {
    this.#options = options;
    this.#recordedFile = path.join(options.configuration.dataDir, RECORDED_FILE);
    this.#recorded = readRecorded(this.#recordedFile);
  }

  /**
   * Records the current configuration, if it differs from the recorded one. Errors: none: the record waits for an
   * unreachable store, and is made again at the next start if it may not have been written.
   */
  async record(): Promise<void> {
    const { configuration, auditLog, log } = this.#options;
    const before = this.#recorded;
    const next = recordedOf(configuration);
    const changes = {
      ...settingsChanges(before, next),
      ...permissionsChanges(before, next),
      ...sectionChanges('connections', before.connections, next.connections),
      ...sectionChanges('identityProviders', before.identityProviders, next.identityProviders),
    };
    if (Object.keys(changes).length === 0) return;
    const file = next.file ?? before.file;
    auditLog.note(CONFIGURATION_FILE, 'settings.changed', ORG, { file, ...changes });
    this.#recorded = next;
    await auditLog.flush();
    if (auditLog.isWaiting) return;
    try {
      replaceOwn(this.#recordedFile, JSON.stringify(this.#recorded));
    } catch (error) {
      log.warn('the next start records the configuration file again', { error: messageOf(error) });
    }
  }
}

function recordedOf(configuration: Configuration): Recorded {
  const { source, fileSettings, permissions, connections, identityProviders } = configuration;
  const { groups, grants } = permissions;
  const file = source?.name ?? null;
  const settings = fileSettings;
  const plain = {
    file,
    settings,
    permissions: { groups, grants },
    connections,
    identityProviders,
  };
  return recordedSchema.parse(JSON.parse(JSON.stringify(plain)));
}

function readRecorded(file: string): Recorded {
  try {
    return recordedSchema.parse(JSON.parse(readOwn(file).toString()));
  } catch {
    // Missing or lost: then the whole file is recorded.
    return recordedSchema.parse({ file: null, settings: {}, permissions: NO_PERMISSIONS });
  }
}

/** Null: absent in the file. */
function settingsChanges({ settings: then }: Recorded, { settings: now }: Recorded): Metadata {
  const names = differing(then, now);
  if (names.length === 0) return {};
  const valuesOf = (said: Metadata): Metadata =>
    Object.fromEntries(names.map((name) => [name, said[name] ?? null]));
  return { settings: names, from: valuesOf(then), to: valuesOf(now) };
}

/** Keys present in only one of them. */
function differing(then: Metadata, now: Metadata): string[] {
  const keys = new Set([...Object.keys(then), ...Object.keys(now)]);
  return [...keys].filter((key) => !isDeepStrictEqual(then[key], now[key]));
}

/** By name, the differences of each; `from` or `to` is null for an added or removed one. */
function sectionChanges(
  what: 'connections' | 'identityProviders',
  then: Section,
  now: Section,
): Metadata {
  const names = differing(then, now);
  if (names.length === 0) return {};
  const changeOf = (name: string): Metadata => {
    const keys = differing(then[name] ?? {}, now[name] ?? {});
    return { from: partOf(then[name], keys), to: partOf(now[name], keys) };
  };
  const listedNames = names.slice(0, LISTED_MAX);
  const excerpt = { [what]: Object.fromEntries(listedNames.map((name) => [name, changeOf(name)])) };
  const countName = what === 'connections' ? 'connectionCount' : 'identityProviderCount';
  return names.length <= LISTED_MAX ? excerpt : { ...excerpt, [countName]: names.length };
}

function partOf(said: Metadata | undefined, keys: readonly string[]): Metadata | null {
  if (said === undefined) return null;
  return Object.fromEntries(keys.map((key) => [key, brief(said[key])]));
}

/** The start of long lists, such as those of repositories. */
function brief(value: unknown): unknown {
  return Array.isArray(value) && value.length > LISTED_MAX
    ? [...value.slice(0, LISTED_MAX), `(${value.length} in all)`]
    : (value ?? null);
}

function permissionsChanges(
  { permissions: then }: Recorded,
  { permissions: now }: Recorded,
): Metadata {
  const names = [...new Set([...Object.keys(then.groups), ...Object.keys(now.groups)])];
  const groups = names
    .map((name) => [name, difference(then.groups[name] ?? [], now.groups[name] ?? [])] as const)
    .filter(([, changes]) => changes !== undefined)
    .slice(0, LISTED_MAX);
  const grants = difference(grantTexts(then), grantTexts(now));
  return {
    ...(groups.length === 0 ? {} : { groups: Object.fromEntries(groups) }),
    ...omitUndefined({ grants }),
  };
}

/** One text for each, such as `everyone: github.com/acme/*`. */
function grantTexts({ grants }: PermissionsConfiguration): string[] {
  return grants.map(({ to, repos }) => `${to.join(', ')}: ${repos.join(', ')}`);
}

/** Added and removed texts; undefined: none. */
function difference(then: readonly string[], now: readonly string[]): Metadata | undefined {
  const before = new Set(then);
  const after = new Set(now);
  const added = [...after].filter((one) => !before.has(one));
  const removed = [...before].filter((one) => !after.has(one));
  if (added.length + removed.length === 0) return undefined;
  return { ...excerpt('added', added), ...excerpt('removed', removed) };
}

function excerpt(name: string, all: readonly string[]): Metadata {
  if (all.length === 0) return {};
  return all.length <= LISTED_MAX
    ? { [name]: all }
    : { [name]: all.slice(0, LISTED_MAX), [`${name}Count`]: all.length };
}
