// Checks the connections of a configuration file: which ones a daemon would refuse, and how their hosts answer.

import { messageOf } from '../base/caught.ts';
import { ConfigError } from '../base/config/error.ts';
import type { ConnectionSettings } from '../base/config/connections.ts';
import type { FileCheck } from '../base/config/file-check.ts';
import type { Host } from '../hosts/host.ts';
import type { ProbedProvider } from './probe-providers.ts';

export interface ProbedConnection {
  readonly connection: string;
  readonly state: 'reached' | 'failed';
  /** The host's name for the caller, or the error. */
  readonly says: string;
  /** Of the host's clock, ms; undefined: unknown. */
  readonly clockAheadMs?: number | undefined;
}

export interface CheckedFile extends FileCheck {
  /** Answers of hosts; empty if they were not contacted. */
  readonly probed: readonly ProbedConnection[];
  readonly probedProviders: readonly ProbedProvider[];
}

export type HostOpener = (name: string, settings: ConnectionSettings) => Promise<Host>;

const TIMEOUT_MS = 60_000;
const PROBES_MAX = 8;

/** No host is contacted. */
export async function refusedConnections(
  connections: Readonly<Record<string, ConnectionSettings>>,
  open: HostOpener,
): Promise<string[]> {
  const diagnostics: string[] = [];
  for (const [name, settings] of Object.entries(connections)) {
    try {
      await (await open(name, settings)).close();
    } catch (error) {
      // Problems outside of the file are reported with their variable (`tls.caFile`).
      const isOfFile = error instanceof ConfigError && error.variable !== 'tls.caFile';
      if (isOfFile) diagnostics.push(`connections.${name}: ${error.message}`);
    }
  }
  return diagnostics;
}

/** In the order of the connections. @param timeoutMs  of each */
export async function probeConnections(
  connections: Readonly<Record<string, ConnectionSettings>>,
  open: HostOpener,
  timeoutMs = TIMEOUT_MS,
): Promise<ProbedConnection[]> {
  const all = Object.entries(connections);
  const probed: ProbedConnection[] = [];
  for (let start = 0; start < all.length; start += PROBES_MAX) {
    const some = all.slice(start, start + PROBES_MAX);
    probed.push(
      ...(await Promise.all(
        some.map(([name, settings]) => probe(name, settings, open, timeoutMs)),
      )),
    );
  }
  return probed;
}

async function probe(
  connection: string,
  settings: ConnectionSettings,
  open: HostOpener,
  timeoutMs: number,
): Promise<ProbedConnection> {
  try {
    const host = await open(connection, settings);
    try {
      const says = await host.probe(AbortSignal.timeout(timeoutMs));
      return { connection, state: 'reached', says, clockAheadMs: host.clockAheadMs };
    } finally {
      await host.close();
    }
  } catch (error) {
    return { connection, state: 'failed', says: messageOf(error) };
  }
}
