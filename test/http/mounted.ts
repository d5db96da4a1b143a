// A pipeline with endpoints of a test, without authentication; also on a free port.

import { readSettings } from '../../daemon/base/config/settings.ts';
import { type Environment, readConfiguration } from '../../daemon/base/config/configuration.ts';
import { createLog, type Log } from '../../daemon/base/log.ts';
import type { ControlPlane } from '../../daemon/app/control-plane.ts';
import type {
  AdapterOptions,
  BoundAddress,
  HttpHandler,
} from '../../daemon/http/adapters/adapter.ts';
import { openAdapter } from '../../daemon/http/adapters/open-adapter.ts';
import type { Endpoint } from '../../daemon/api/shapes/endpoint.ts';
import { Pipeline } from '../../daemon/http/pipeline.ts';
import { RepoDirectory } from '../../daemon/repos/directory.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { closeLater, openControl } from './harness.ts';

export interface Mounted {
  readonly handle: HttpHandler;
  readonly control: ControlPlane;
  readonly pipeline: Pipeline;
  readonly log: Log;
  readonly lines: Record<string, unknown>[];
}

interface Served extends Mounted {
  readonly address: BoundAddress;
}

type SettingsInput = Parameters<typeof readSettings>[0];

/** Closed by `closeWorlds`. */
export async function mountEndpoints(
  endpoints: readonly Endpoint[],
  settings: SettingsInput = {},
  env: Environment = {},
): Promise<Mounted> {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>);
  const log = createLog({ level: 'info', format: 'json', write });
  const guests = { TRAWL_ANONYMOUS_ACCESS: 'true', TRAWL_DATA_DIR: temporaryFolder() };
  const configuration = readConfiguration({ env: { ...guests, ...env } });
  const control = await openControl(configuration, new RepoDirectory(() => []), log);
  await control.accounts.begin({ baseUrl: 'http://localhost', isLoopback: true });
  const pipeline = new Pipeline({
    endpoints,
    services: {} as never,
    settings: readSettings(settings),
    ...control,
    baseUrl: 'http://localhost',
    hasPages: true,
    hosts: undefined,
    version: '0',
    log,
  });
  closeLater(control);
  const handle: HttpHandler = (request) => pipeline.handle(request);
  return { handle, control, pipeline, log, lines };
}

/** The same behind an adapter. Closed by `closeWorlds`. */
export async function serveEndpoints(
  kind: 'uws' | 'node',
  endpoints: readonly Endpoint[],
  settings: SettingsInput = {},
  env: Environment = {},
  times: Pick<AdapterOptions, 'requestTimeoutMs'> = {},
): Promise<Served> {
  const mounted = await mountEndpoints(endpoints, settings, env);
  const adapter = await openAdapter(kind, { handle: mounted.handle, ...times }, mounted.log);
  closeLater({ close: () => adapter.close(0) });
  return { ...mounted, address: await adapter.listen('127.0.0.1', 0) };
}
