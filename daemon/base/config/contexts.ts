// Zod schemas of the search contexts in the configuration file (API.md 19.5): named sets of repositories for `context:` in
// a query.

import { z } from 'zod';

const globs = z.array(z.string().min(1)).default([]);
const INCLUDES = ['include', 'includeConnections', 'includeTopics'] as const;

export const contextSchema = z
  .strictObject({
    include: globs.describe('Globs over names of repositories that are in it.'),
    exclude: globs.describe(
      'Globs over names of repositories that are not in it, whatever includes them.',
    ),
    includeConnections: globs.describe('Names of connections whose repositories are in it.'),
    excludeConnections: globs.describe('Names of connections whose repositories are not in it.'),
    includeTopics: globs.describe(
      'Repositories with one of these topics are in it; case does not count.',
    ),
    excludeTopics: globs.describe(
      'Repositories with one of these topics are not in it; case does not count.',
    ),
    description: z.string().max(1000).exactOptional().describe('What it is for.'),
  })
  .refine((context) => INCLUDES.some((key) => context[key].length > 0), {
    error: `holds no repository: give at least one of ${INCLUDES.join(', ')}`,
  });

export type ContextSettings = z.output<typeof contextSchema>;
