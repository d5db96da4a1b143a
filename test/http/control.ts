// A control plane of its own for tests of the pipeline: an embedded store in a temporary folder, without repos.

import { readConfiguration } from '../../daemon/base/config/configuration.ts';
import type { Environment } from '../../daemon/base/config/configuration.ts';
import { openControlPlane } from '../../daemon/app/control-plane.ts';
import type { ControlPlane } from '../../daemon/app/control-plane.ts';
import { RepoDirectory } from '../../daemon/repos/directory.ts';
import { createLog } from '../../daemon/base/log.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';

/** @param isLoopback  as if the daemon listened for this machine only */
export async function startControl(env: Environment, isLoopback: boolean): Promise<ControlPlane> {
  const log = createLog({ level: 'error', format: 'json', write: () => {} });
  const configuration = readConfiguration({ env: { TRAWL_DATA_DIR: temporaryFolder(), ...env } });
  const control = await openControlPlane(configuration, new RepoDirectory(() => []), log);
  await control.accounts.begin({ baseUrl: 'http://localhost', isLoopback });
  return control;
}
