// Opens a data directory to change its accounts while no daemon runs, without engine, on the control socket alone.

import { takeDataDir } from '../index/catalog/data-dir.ts';
import type { Configuration } from '../base/config/configuration.ts';
import { ApiError } from '../api/shapes/api-error.ts';
import type { Services } from '../api/shapes/endpoint-services.ts';
import type { OperatorService } from '../api/shapes/operator-service.ts';
import { createLocalServer } from '../http/server.ts';
import { openControlPlane } from './control-plane.ts';
import { type Index, isElsewhere, openIndex } from './open-index.ts';
import { omitUndefined } from '../base/omit-undefined.ts';
import { removeOffline, unlistedOf } from '../sync/connections/remove-repos.ts';
import { RepoDirectory } from '../repos/directory.ts';
import type { Log } from '../base/log.ts';

export interface Offline {
  close(): Promise<void>;
}

/** Creates a missing directory. Errors: LockedError; those of openControlPlane; an unreadable catalog; no socket. */
export async function openOffline(configuration: Configuration, log: Log): Promise<Offline> {
  const { dataDir, databaseUrl } = configuration;
  const unlock = await takeDataDir(dataDir, true);
  let index: Index | undefined;
  try {
    const opened = await openIndex(dataDir, databaseUrl?.reveal(), log);
    index = opened;
    const { catalog, store, registry } = opened;
    const repos = catalog.repos.map(({ record }) => registry.ruled(record));
    const directory = new RepoDirectory(() => repos);
    // Only the daemon creates the owner given by the environment.
    const control = await openControlPlane(
      { ...configuration, owner: undefined },
      directory,
      log,
      store,
    );
    const services = servicesOf(operatorServiceOf(configuration, opened));
    const server = await createLocalServer({ configuration, services, log, ...control });
    const socket = await server.openControl();
    return {
      async close() {
        await socket.close();
        await control.close();
        await opened.close();
        unlock();
      },
    };
  } catch (error) {
    await index?.close();
    unlock();
    throw error;
  }
}

function operatorServiceOf(
  configuration: Configuration,
  { catalog, store, registry }: Index,
): OperatorService {
  return {
    rules: {
      list: () =>
        registry.all.map((repo) => ({
          ...repo,
          isListed: unlistedOf(registry.stored, [repo.repoId]).size === 0,
          isElsewhere: isElsewhere({ catalog, store }, repo.repoId),
          ...omitUndefined({ indexedAt: catalog.repo(repo.repoId)?.record.indexedAt }),
        })),
      change: (repoIds, change, actor) => registry.change(repoIds, change, { actor }),
      remove: (...call) => removeOffline({ catalog, registry }, ...call),
    },
    status: undefined,
    async *backup(input, signal) {
      const { makeBackup } = await import('../backup/make.ts');
      yield* makeBackup({ configuration, catalog, store }, input, signal);
    },
  };
}

/** The services of the endpoints; those that need a daemon refuse with NOT_READY. */
function servicesOf(operator: OperatorService): Services {
  const services: Partial<Services> = { operator };
  // Safety: a member that is missing throws instead of being undefined.
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion
  return new Proxy(services, {
    get: (_, name) => {
      if (name === 'operator') return operator;
      throw new ApiError('NOT_READY', 'No daemon is running on this data directory.');
    },
  }) as Services;
}
