// Opens the code host of a connection, by its type. Each kind of host is loaded when the first connection of its type is
// opened: client libraries are large, and a daemon without connections needs none.

import type { ConnectionSettings } from '../base/config/connections.ts';
import type { GithubApp } from './github-app.ts';
import type { Host } from './host.ts';
import type { HostParts } from './parts.ts';

export interface HostOptions extends HostParts {
  /** `apps` of the configuration. */
  readonly apps: readonly GithubApp[];
}

/**
 * The host of a connection; the caller closes it. Nothing is asked of it yet, and no secret read.
 *
 * @param name  of the connection
 *
 * Errors: ConfigError, where certificates or the address of a proxy are of no use.
 */
export async function openHost(
  name: string,
  settings: ConnectionSettings,
  options: HostOptions,
): Promise<Host> {
  const log = options.log.labelled(`connection ${name}`);
  const own = { ...options, log };
  switch (settings.type) {
    case 'github':
      return (await import('./github.ts')).openGithub(settings, own);
    case 'gitea':
      return (await import('./gitea.ts')).openGitea(settings, own);
    case 'git':
      return (await import('./generic-git.ts')).openGenericGit(settings, own);
    case 'gitlab':
      return (await import('./gitlab.ts')).openGitLab(settings, own);
    case 'gerrit':
      return (await import('./gerrit.ts')).openGerrit(settings, own);
    case 'azuredevops':
      return (await import('./azure-devops.ts')).openAzureDevOps(settings, own);
    case 'bitbucket':
      return settings.deploymentType === 'cloud'
        ? (await import('./bitbucket-cloud.ts')).openBitbucketCloud(settings, own)
        : (await import('./bitbucket-server.ts')).openBitbucketServer(settings, own);
  }
}
