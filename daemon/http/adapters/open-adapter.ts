// Chooses the HTTP library: uWebSockets.js where it is wished for and its binary loads, else node:http.

import type { Configuration } from '../../base/config/configuration.ts';
import type { Log } from '../../base/log.ts';
import type { AdapterOptions, HttpAdapter } from './adapter.ts';
import { NodeAdapter } from './node-adapter.ts';
import { UwsAdapter, loadUws } from './uws-adapter.ts';

/** An adapter that does not listen yet. `load` brings uWebSockets.js; tests pass one that fails. */
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
    log.warn('uWebSockets.js does not load on this machine, serving with node:http', { reason });
    return new NodeAdapter(options);
  }
}
