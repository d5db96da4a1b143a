// Opens the host of a connection: a code host, or folders of this machine.

import type { ConnectionSettings } from '../../base/config/connections.ts';
import type { Host } from '../../hosts/host.ts';
import { type HostOptions, openHost } from '../../hosts/open-host.ts';
import { LocalHost } from './local-host.ts';

/** As `openHost`, and for addresses of this machine. */
export async function openConnection(
  name: string,
  settings: ConnectionSettings,
  options: HostOptions,
): Promise<Host> {
  const isLocal = settings.type === 'git' && /^file:/i.test(settings.url);
  return isLocal ? new LocalHost(settings) : openHost(name, settings, options);
}
