// Transports of the mirrors (hosts/transport.ts): one for each host and set of certificates, cached to reuse connections.

import type { Log } from '../../base/log.ts';
import { HostTransport } from '../transport.ts';
import { passedVariables } from '../../sources/git/git.ts';
import { REMOTE_REFS_SIZE_MAX } from './remote-refs.ts';

/** Bound: open connections and memory; the least recently used host is closed. */
const TRANSPORTS_MAX = 32;

/** The last used at the end. */
const open = new Map<string, HostTransport>();

/** Errors: ConfigError. */
export function transportOf(url: string, caFile: string | undefined, log: Log): HostTransport {
  const { origin } = new URL(url);
  const key = `${origin} ${caFile ?? ''}`;
  const transport =
    open.get(key) ??
    new HostTransport({
      url: origin,
      caFile,
      log,
      env: passedVariables(),
      limits: { bytes: REMOTE_REFS_SIZE_MAX },
    });
  open.delete(key);
  open.set(key, transport);
  if (open.size > TRANSPORTS_MAX) close([...open.keys()][0]!);
  return transport;
}

function close(key: string): void {
  void open.get(key)?.close();
  open.delete(key);
}

/** Aborts all waiting requests. */
export function closeTransports(): void {
  for (const key of open.keys()) close(key);
}
