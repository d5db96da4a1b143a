// Chooses the HTTP library: uWebSockets.js if it is configured, installed and loads, else node:http.

import type { Configuration } from '../../base/config/configuration.ts';
import { systemCodeOf } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import type { AdapterOptions, HttpAdapter } from './adapter.ts';
import { NodeAdapter } from './node-adapter.ts';
import { UwsAdapter, loadUws } from './uws-adapter.ts';

/** The version that package.json uses for tests. Why not a dependency: 257 MB that a default start never loads. */
const INSTALL = 'npm install uWebSockets.js@npm:uwebsockets@3.0.6';

/** Does not listen yet. `load` imports uWebSockets.js; tests pass one that fails. */
export async function openAdapter(
  kind: Configuration['http'],
  options: AdapterOptions,
  log: Log,
  load: typeof loadUws = loadUws,
): Promise<HttpAdapter> {
  if (kind === 'node') return new NodeAdapter(options);
  try {
    return new UwsAdapter(await load(), options);
  } catch (error) {
    const reason = error instanceof Error ? error.message.split('\n')[0] : 'unknown';
    const isMissing = systemCodeOf(error)?.endsWith('MODULE_NOT_FOUND') === true;
    const message = isMissing
      ? `uWebSockets.js is not installed (${INSTALL}), serving with node:http`
      : 'uWebSockets.js does not load on this machine, serving with node:http';
    log.warn(message, isMissing ? {} : { reason });
    return new NodeAdapter(options);
  }
}
