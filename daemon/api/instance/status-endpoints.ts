// /api/status and /api/backup, for the operator (API.md 22.4).

import { signalOf } from '../../base/cancellation.ts';
import { z } from 'zod';
import { endpoint, fetched, ok } from '../shapes/endpoint.ts';
import { ApiError } from '../shapes/api-error.ts';
import { shortText } from '../shapes/input.ts';
import { statusReport } from '../shapes/status-report.ts';

const HEAD = { access: 'operator', isDescribed: false } as const;

export const getStatus = endpoint(
  { ...HEAD, method: 'GET', path: '/api/status', responses: { 200: { body: statusReport } } },
  async (_, { services: { operator } }) => {
    if (operator.status !== undefined) return ok(await operator.status.report());
    throw new ApiError(
      'NOT_READY',
      'No daemon is running on this data directory; "trawl serve" starts one, "trawl repo list" shows what is there.',
    );
  },
);

async function* following<Part>(
  first: IteratorResult<Part>,
  rest: AsyncIterator<Part>,
): AsyncGenerator<Part> {
  if (first.done !== true) yield first.value;
  yield* { [Symbol.asyncIterator]: () => rest };
}

export const makeBackup = endpoint(
  {
    ...HEAD,
    method: 'POST',
    path: '/api/backup',
    input: {
      body: z.object({
        withIndex: z.boolean({ error: 'expected true or false' }),
        passphrase: shortText(1024)
          .min(8, { error: 'fewer than 8 characters' })
          .exactOptional()
          .describe('Encrypts the secrets; without one they are left out.'),
      }),
    },
    responses: { 200: { contentTypes: ['application/gzip'] } },
  },
  async ({ body }, { services, signal }) => {
    const parts = services.operator.backup(body, signalOf(signal))[Symbol.asyncIterator]();
    // An error before the first byte becomes an answer; later the connection can only be closed.
    const first = await parts.next();
    const stream = ReadableStream.from(following(first, parts));
    return fetched(new Response(stream, { headers: { 'content-type': 'application/gzip' } }));
  },
);
