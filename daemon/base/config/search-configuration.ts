// The part of the configuration that a local search needs, and its defaults. `unconfigured` makes it without the configuration
// module if nothing is configured: to load the schemas of all settings takes a sixth of such a search.

import { statSync } from 'node:fs';
import path from 'node:path';
import { LOG_LEVELS, type LogFormat, type LogLevel } from '../log-levels.ts';

/** Part of VARIABLES and of the settings. */
export const DEFAULTS = { port: 3000, maxMatchCount: 100_000, searchTimeoutMs: 30_000 };

/** Variables that are also options of the command. */
const OPTIONS = new Set(['TRAWL_DATA_DIR', 'TRAWL_LOG_LEVEL']);

/** Part of Configuration. */
export interface SearchConfiguration {
  readonly dataDir: string;
  readonly log: {
    readonly level: LogLevel;
    readonly format: LogFormat;
    readonly file: string | undefined;
  };
  readonly baseUrl: string | undefined;
  readonly port: number;
  readonly settings: { readonly maxMatchCount: number; readonly searchTimeoutMs: number };
}

/**
 * The defaults with these options; undefined: another setting is configured, or an option is invalid.
 * @param env  all variables of the process
 */
export function unconfigured(
  dataDir: string,
  logLevel: string,
  env: Readonly<Record<string, string | undefined>>,
): SearchConfiguration | undefined {
  const isPlain = Object.keys(env).every((name) => !name.startsWith('TRAWL_') || OPTIONS.has(name));
  const isFolder = statSync(dataDir, { throwIfNoEntry: false })?.isDirectory() === true;
  const level = LOG_LEVELS.find((one) => one === logLevel);
  if (!isPlain || !isFolder || level === undefined) return undefined;
  const { port, ...settings } = DEFAULTS;
  const log = { level, format: 'text', file: undefined } as const;
  return { dataDir: path.resolve(dataDir), log, baseUrl: undefined, port, settings };
}
