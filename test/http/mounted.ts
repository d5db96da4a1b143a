// A server with endpoints of a test on a free port, everybody welcome.

import { readSettings } from '../../daemon/base/config/settings.ts';
import { type Environment, readConfiguration } from '../../daemon/base/config/configuration.ts';
import { createLog } from '../../daemon/base/log.ts';
import { type ControlPlane, openControlPlane } from '../../daemon/app/control-plane.ts';
import type { AdapterOptions, BoundAddress } from '../../daemon/http/adapters/adapter.ts';
import { openAdapter } from '../../daemon/http/adapters/open-adapter.ts';
import type { Endpoint } from '../../daemon/api/shapes/endpoint.ts';
import { Pipeline } from '../../daemon/http/pipeline.ts';
import { RepoDirectory } from '../../daemon/repos/directory.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

export interface Mounted {
  readonly address: BoundAddress;
  readonly control: ControlPlane;
  readonly pipeline: Pipeline;
  /** Log lines, parsed. */
  readonly lines: Record<string, unknown>[];
  close(): Promise<void>;
}

export async function serveEndpoints(
  kind: 'uws' | 'node',
  endpoints: readonly Endpoint[],
  settings: Parameters<typeof readSettings>[0] = {},
  env: Environment = {},
  times: Pick<AdapterOptions, 'requestTimeoutMs'> = {},
): Promise<Mounted> {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => lines.push(JSON.parse(line) as Record<string, unknown>);
  const log = createLog({ level: 'info', format: 'json', write });
  const guests = { TRAWL_ANONYMOUS_ACCESS: 'true', TRAWL_DATA_DIR: temporaryFolder() };
  const configuration = readConfiguration({ env: { ...guests, ...env } });
  const control = await openControlPlane(configuration, new RepoDirectory(() => []), log);
  await control.accounts.begin({ baseUrl: 'http://localhost', isLoopback: true });
  const pipeline = new Pipeline({
    endpoints,
    services: {} as never,
    settings: readSettings(settings),
    ...control,
    baseUrl: 'http://localhost',
    hosts: undefined,
    version: '0',
    log,
  });
  const handle = pipeline.handle.bind(pipeline);
  const adapter = await openAdapter(kind, { handle, ...times }, log);
  const address = await adapter.listen('127.0.0.1', 0);
  const close = async () => {
    await adapter.close(0);
    await control.close();
  };
  return { address, control, pipeline, lines, close };
}
