// POST /api/webhook: code hosts tell of pushes (API.md 13.6). Who sends proves it by the secret of the configuration; without
// one there is no such endpoint.

import { z } from 'zod';
import { ApiError } from '../shapes/api-error.ts';
import { answer, endpoint } from '../shapes/endpoint.ts';
import { integer } from '../shapes/schemas.ts';

export const receiveWebhook = endpoint(
  {
    operationId: 'receiveWebhook',
    method: 'POST',
    path: '/api/webhook',
    access: 'none',
    tag: 'Connections',
    summary: 'Tell of a push',
    description:
      'For code hosts. The repositories that were pushed to are fetched and indexed at once. GitHub, Gitea, Forgejo and Bitbucket prove ' +
      'themselves by an HMAC-SHA256 of the body in `X-Hub-Signature-256`, `X-Gitea-Signature` or `X-Hub-Signature`, GitLab by the secret in ' +
      '`X-Gitlab-Token`. Other events, and repositories that no connection lists, change nothing.',
    responses: {
      202: {
        description: 'How many repositories are due by it.',
        body: z.object({ repositories: integer('Number of jobs that were made due.') }),
      },
    },
    errors: ['NOT_FOUND', 'NOT_AUTHENTICATED', 'REQUEST_BODY_TOO_LARGE'],
  },
  async (_, { fetchRequest, services }) => {
    const request = fetchRequest();
    const body = new Uint8Array(await request.arrayBuffer());
    const { outcome, repositories } = await services.webhooks.take({
      headers: Object.fromEntries(request.headers),
      body,
    });
    if (outcome === 'off')
      throw new ApiError('NOT_FOUND', 'No webhook is taken: settings.webhooks.secret is not set.');
    if (outcome === 'unproven')
      throw new ApiError(
        'NOT_AUTHENTICATED',
        'The delivery does not prove that it comes from a host that knows the secret.',
      );
    return answer(202, { repositories });
  },
);
