// GET /api/connections: where the repositories come from (API.md 13.2). As long as none can be configured, each source
// that is served is a connection of its own, of kind `git`, with the name and the id of its one repository.

import { z } from 'zod';
import type { RepoRecord } from '../../../repos/records.ts';
import { endpoint, ok } from '../shapes/endpoint.ts';
import { byNameBytes } from './repo-order.ts';
import { integer, text } from '../shapes/schemas.ts';

const connection = z
  .object({
    id: integer('Id of the connection.', 1),
    name: text('Its name.'),
    connectionType: z
      .enum(['github', 'gitlab', 'gitea', 'gerrit', 'bitbucket', 'azuredevops', 'git'])
      .meta({ description: 'What kind of place the repositories come from.' }),
  })
  .meta({ id: 'Connection', description: 'A place that repositories come from.' });

/** The connection of a repo. */
export function connectionIdOf({ repoId }: RepoRecord): number {
  return repoId;
}

export const listConnections = endpoint(
  {
    operationId: 'listConnections',
    method: 'GET',
    path: '/api/connections',
    access: 'opt',
    tag: 'Connections',
    summary: 'List connections',
    isCounted: true,
    responses: {
      200: {
        description: 'Those with a repository that the caller sees, by name.',
        body: z.array(connection),
      },
    },
  },
  (_, { services, sight }) => {
    const repos = byNameBytes(services.repos.list(sight));
    const connections = repos.map((repo) => ({
      id: connectionIdOf(repo),
      name: repo.name,
      connectionType: 'git',
    }));
    return ok(connections);
  },
);
