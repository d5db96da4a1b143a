// POST and DELETE /api/mcp: the tool server (MCP, Streamable HTTP).

import { z } from 'zod';
import type { Log } from '../../base/log.ts';
import { type Endpoint, endpoint, noContent } from '../shapes/endpoint.ts';
import type { HttpMount } from './http-mount.ts';
import type { SessionLimits } from './sessions.ts';

/** Shared by both endpoints. */
const SHAPE = {
  path: '/api/mcp',
  access: 'opt',
  tag: 'System',
  isDescribed: false,
  requiresSameOrigin: true,
  isForTools: true,
} as const;

/** The endpoints of one server, with its sessions. */
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
        operationId: 'postToolMessages',
        method: 'POST',
        summary: 'Messages of a tool client',
        input: { body: z.unknown() },
        responses: { 200: { description: 'The answers.', body: z.unknown() } },
      },
      async ({ body }, context) => await (await mount()).post(body, context),
    ),
    endpoint(
      {
        ...SHAPE,
        operationId: 'endToolSession',
        method: 'DELETE',
        summary: 'End a session',
        responses: { 204: { description: 'The session has ended.' } },
      },
      async (_, context) => {
        (await mount()).end(context);
        return noContent();
      },
    ),
  ];
}
