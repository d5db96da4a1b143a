// POST /api/webhook: pushes reported by code hosts (API.md 13.6). Without a configured secret it does not exist.

import { z } from 'zod';
import { ApiError } from '../shapes/api-error.ts';
import { answer, endpoint } from '../shapes/endpoint.ts';
import { integer } from '../shapes/schemas.ts';

/** Bytes; GitHub's maximum. */
export const DELIVERY_MAX = 25 * 1024 * 1024;

export const receiveWebhook = endpoint(
  {
    operationId: 'receiveWebhook',
    method: 'POST',
    path: '/api/webhook',
    access: 'none',
    bodySizeMax: DELIVERY_MAX,
    tag: 'Connections',
    summary: 'Report a push',
    description:
      'For code hosts. The repositories that were pushed to are fetched and indexed at once. GitHub, Gitea, Forgejo and Bitbucket authenticate ' +
      'by an HMAC-SHA256 of the body in `X-Hub-Signature-256`, `X-Gitea-Signature` or `X-Hub-Signature`, GitLab by the secret in ' +
      '`X-Gitlab-Token`. Other events, and repositories that no connection lists, change nothing.',
    responses: {
      202: {
        description: 'Number of repositories that are updated.',
        body: z.object({ repositories: integer('Number of new jobs.') }),
      },
    },
    errors: ['NOT_FOUND', 'NOT_AUTHENTICATED', 'REQUEST_BODY_TOO_LARGE', 'SERVER_OVERLOADED'],
  },
  async (_, { fetchRequest, services }) => {
    // Before the body is read, which may be large.
    if (!services.webhooks.isOn())
      throw new ApiError('NOT_FOUND', 'Webhooks are off: settings.webhooks.secret is not set.');
    const request = fetchRequest();
    const body = new Uint8Array(await request.arrayBuffer());
    const { outcome, repositories } = await services.webhooks.take({
      headers: Object.fromEntries(request.headers),
      body,
    });
    if (outcome === 'unproven')
      throw new ApiError(
        'NOT_AUTHENTICATED',
        'The delivery does not prove that the sender knows the secret.',
      );
    return answer(202, { repositories });
  },
);
