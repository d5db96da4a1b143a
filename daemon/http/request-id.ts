// The id that ties a response to its log lines.

import { randomUUID } from 'node:crypto';

export function newRequestId(requested: string | undefined): string {
  return requested !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(requested)
    ? requested
    : randomUUID();
}
