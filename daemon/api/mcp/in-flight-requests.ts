// The unanswered requests of a session. If two requests have the same id the library sends both answers to the later
// one, and the other waits for ever.

import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { ApiError } from '../shapes/api-error.ts';

type RequestId = string | number;

export class InFlightRequests {
  readonly #ids = new Set<RequestId>();

  constructor(transport: Pick<Transport, 'send'>) {
    const send = transport.send.bind(transport);
    transport.send = (message, options) => {
      const id = answeredId(message);
      if (id !== undefined) this.end([id]);
      return send(message, options);
    };
  }

  /** Returns their ids. Errors: INVALID_REQUEST_BODY for an id that is in use, or twice in the messages. */
  begin(messages: unknown): RequestId[] {
    const ids = (Array.isArray(messages) ? messages : [messages]).flatMap(requestId);
    const twice = ids.find((id, index) => this.#ids.has(id) || ids.indexOf(id) < index);
    if (twice !== undefined)
      throw new ApiError(
        'INVALID_REQUEST_BODY',
        `id: ${JSON.stringify(twice).slice(0, 100)} is already used by a pending request of this session`,
      );
    for (const id of ids) this.#ids.add(id);
    return ids;
  }

  /** The requests are answered, or will never be. */
  end(ids: readonly RequestId[]): void {
    for (const id of ids) this.#ids.delete(id);
  }
}

function requestId(message: unknown): RequestId[] {
  if (typeof message !== 'object' || message === null) return [];
  if (!('method' in message) || !('id' in message)) return [];
  const { id } = message;
  return typeof id === 'string' || typeof id === 'number' ? [id] : [];
}

function answeredId(message: JSONRPCMessage): RequestId | undefined {
  return 'result' in message || 'error' in message ? message.id : undefined;
}
