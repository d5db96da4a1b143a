// POST and DELETE /api/mcp: the tool server (MCP, Streamable HTTP).

import { z } from 'zod';
import type { Log } from '../../base/log.ts';
import { type Endpoint, endpoint, noContent } from '../shapes/endpoint.ts';
import type { HttpMount } from './http-mount.ts';
import type { SessionLimits } from './sessions.ts';

const SHAPE = {
  path: '/api/mcp',
  access: 'opt',
  isDescribed: false,
  requiresSameOrigin: true,
  isForTools: true,
} as const;

export function mcpEndpoints(
  version: string,
  log: Log,
  limits?: Partial<SessionLimits>,
): readonly Endpoint[] {
  let opened: Promise<HttpMount> | undefined;
  // Why loaded on the first request: the library adds some ten milliseconds to a start.
  const open = async (): Promise<HttpMount> => {
    const { HttpMount: Mount } = await import('./http-mount.ts');
    return new Mount(version, log, limits);
  };
  const mount = (): Promise<HttpMount> => (opened ??= open());
  return [
    endpoint(
      {
        ...SHAPE,
        method: 'POST',
        input: { body: z.unknown() },
        responses: { 200: { body: z.unknown() } },
      },
      async ({ body }, context) => await (await mount()).post(body, context),
    ),
    endpoint(
      {
        ...SHAPE,
        method: 'DELETE',
        responses: { 204: {} },
      },
      async (_, context) => {
        (await mount()).end(context);
        return noContent();
      },
    ),
  ];
}
