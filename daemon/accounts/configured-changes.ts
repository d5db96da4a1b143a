// Audits changes of the configuration file (API.md 24.3). At start and after each reload, the configuration is compared
// with the last recorded one, stored in the data directory. So changes made while no daemon ran are recorded too, and a
// start without changes records nothing.

import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';
import type { Configuration } from '../base/config/configuration.ts';
import { readOwn, replaceOwn } from '../base/own-file.ts';
import { messageOf } from '../base/caught.ts';
import { type Actor, ORG } from './audit-log.ts';
import type { AccountsContext } from './context.ts';

/** `metadata.file` has its path. */
const CONFIGURATION_FILE: Actor = { id: 'configuration-file', type: 'user' };

/** Keys of a record, and items of a list. */
const LISTED_MAX = 100;

/** By key. */
type Values = Readonly<Record<string, unknown>>;

const recordedSchema = z.strictObject({
  /** Path or address of the configuration file; null: none. */
  file: z.string().nullable(),
  values: z.record(z.string(), z.unknown()),
});

interface ConfiguredChangesOptions extends Pick<AccountsContext, 'auditLog' | 'log'> {
  readonly configuration: Configuration;
}

export class ConfiguredChanges {
  readonly #options: ConfiguredChangesOptions;
  readonly #recordedFile: string;
  #recorded: z.infer<typeof recordedSchema>;

  constructor(options: ConfiguredChangesOptions) {
    this.#options = options;
    const { dataDir } = options.configuration;
    this.#recordedFile = path.join(dataDir, 'configuration-recorded.json');
    this.#recorded = readRecorded(this.#recordedFile);
  }

  /**
   * Records the current configuration, if it differs from the recorded one. Errors: none: the record waits for an
   * unreachable store, and is made again at the next start if it may not have been written.
   */
  async record(): Promise<void> {
    const { configuration, auditLog, log } = this.#options;
    const before = this.#recorded;
    const next = { file: configuration.source?.name ?? null, values: valuesOf(configuration) };
    const changes = differences(before.values, next.values);
    if (changes === undefined) return;
    const file = next.file ?? before.file;
    auditLog.note(CONFIGURATION_FILE, 'settings.changed', ORG, { file, ...changes });
    this.#recorded = next;
    await auditLog.flush();
    if (auditLog.isWaiting) return;
    try {
      replaceOwn(this.#recordedFile, JSON.stringify(next));
    } catch (error) {
      log.warn('the next start records the configuration file again', { error: messageOf(error) });
    }
  }
}

function readRecorded(file: string): z.infer<typeof recordedSchema> {
  try {
    return recordedSchema.parse(JSON.parse(readOwn(file).toString()));
  } catch {
    // Missing or lost: then the whole file is recorded.
    return { file: null, values: {} };
  }
}

/** Secrets appear only by their location. */
function valuesOf(configuration: Configuration): Values {
  const { fileSettings: settings, permissions, connections, identityProviders } = configuration;
  const { groups, grants } = permissions;
  const all = { settings, permissions: { groups, grants }, connections, identityProviders };
  // The form in which values are read back.
  return Object.fromEntries(leaves(JSON.parse(JSON.stringify(all)), []));
}

/** Keys have at most three parts, such as `connections.acme.orgs`. An empty list counts as absent. */
function leaves(value: unknown, keys: readonly string[]): [key: string, value: unknown][] {
  if (Array.isArray(value) && value.length === 0) return [];
  const isInner = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isInner || keys.length === 3) return [[keys.join('.'), value]];
  return Object.entries(value).flatMap(([key, inner]) => leaves(inner, [...keys, key]));
}

/** What differs, by key; null: absent. Of lists the items that the other one lacks. Undefined: nothing. */
function differences(before: Values, after: Values): Values | undefined {
  const all = new Set([...Object.keys(before), ...Object.keys(after)]);
  const keys = [...all].filter((key) => !isDeepStrictEqual(before[key], after[key]));
  if (keys.length === 0) return undefined;
  const partOf = (own: Values, other: Values): Values =>
    Object.fromEntries(keys.slice(0, LISTED_MAX).map((key) => [key, brief(own[key], other[key])]));
  const count = keys.length > LISTED_MAX ? { changeCount: keys.length } : {};
  return { from: partOf(before, after), to: partOf(after, before), ...count };
}

function brief(own: unknown, other: unknown): unknown {
  if (!Array.isArray(own)) return own ?? null;
  const others = new Set(Array.isArray(other) ? other.map((one) => JSON.stringify(one)) : []);
  const items: unknown[] = own.filter((one) => !others.has(JSON.stringify(one)));
  return items.length > LISTED_MAX
    ? [...items.slice(0, LISTED_MAX), `(${items.length} in all)`]
    : items;
}
