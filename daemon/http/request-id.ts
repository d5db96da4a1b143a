// The id that ties a response to its log lines.

import { randomUUID } from 'node:crypto';

export function newRequestId(given: string | undefined): string {
  return given !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID();
}
