// Opens the code host of a connection by its type. Each kind of host is loaded with the first connection of its type:
// client libraries are large, and a daemon without connections needs none.

import type { ConnectionSettings } from '../base/config/connections.ts';
import type { GithubApp } from './github-app.ts';
import type { Host } from './host.ts';
import type { HostParts } from './http-host.ts';

export interface HostOptions extends HostParts {
  /** `apps` of the configuration. */
  readonly apps: readonly GithubApp[];
}

/**
 * The host of the connection of this name; the caller closes it. Sends no request and reads no secret yet. Errors:
 * ConfigError for invalid certificates or proxies.
 */
export async function openHost(
  name: string,
  settings: ConnectionSettings,
  options: HostOptions,
): Promise<Host> {
  const log = options.log.labelled(`connection ${name}`);
  const own = { ...options, log, connection: name };
  switch (settings.type) {
    case 'github':
      return new (await import('./github.ts')).Github(settings, own);
    case 'gitea':
      return new (await import('./gitea.ts')).Gitea(settings, own);
    case 'git':
      return new (await import('./generic-git.ts')).GenericGit(settings, own);
    case 'gitlab':
      return new (await import('./gitlab.ts')).GitLab(settings, own);
    case 'gerrit':
      return new (await import('./gerrit.ts')).Gerrit(settings, own);
    case 'azuredevops':
      return new (await import('./azure-devops.ts')).AzureDevOps(settings, own);
    case 'bitbucket':
      return settings.deploymentType === 'cloud'
        ? new (await import('./bitbucket-cloud.ts')).BitbucketCloud(settings, own)
        : new (await import('./bitbucket-server.ts')).BitbucketServer(settings, own);
  }
}
