// What a search of this machine opens: the daemon of a data directory, else its index; and the configuration of a command. The
// index and the configuration are loaded when they are needed.

import path from 'node:path';
import type { Configuration, Flags } from '../base/config/configuration.ts';
import { unconfigured } from '../base/config/search-configuration.ts';
import { findOwnDaemon } from './own-daemon.ts';
import { openRemoteSearch } from './remote-search.ts';
import type { SearchSource } from './search-source.ts';

export interface CommonOptions {
  readonly dataDir: string;
  readonly config?: string | undefined;
  readonly logLevel?: string | undefined;
}

/** Flags of a command beat its variables. Errors: ConfigError. */
export async function configurationOf(
  { dataDir, logLevel, config }: CommonOptions,
  flags: Flags = {},
  onWait?: (reason: string) => void,
): Promise<Configuration> {
  const flagValues = { dataDir, logLevel, config, ...flags };
  // Why here: a search through a daemon needs none of it.
  const { openConfiguration } = await import('../base/config/configuration.ts');
  return openConfiguration({ env: process.env, flags: flagValues }, onWait);
}

/** As configurationOf; only warnings are logged. */
export function quietly(options: CommonOptions): Promise<Configuration> {
  return configurationOf({ ...options, logLevel: options.logLevel ?? 'warn' });
}

/** The daemon of a data directory, else its index, opened read-only; every repo is visible. Errors: no index. */
export async function openLocalSearch(options: CommonOptions): Promise<SearchSource> {
  // A file that is named may have other settings than the daemon's.
  if (options.config === undefined) {
    const daemon = await findOwnDaemon(path.resolve(options.dataDir));
    if (daemon !== undefined) return openRemoteSearch(daemon);
  }
  const { dataDir, config, logLevel = 'warn' } = options;
  const plain = config === undefined ? unconfigured(dataDir, logLevel, process.env) : undefined;
  const local = await import('./local-search.ts');
  return local.openLocalSearch(plain ?? (await quietly(options)));
}
