// Sessions of tool clients (API.md 17.1), each of one caller: in memory, limited, and ended after an hour without use.

import { randomUUID } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { LRUCache } from 'lru-cache';
import { HOUR_MS } from '../../base/durations.ts';
import { ApiError } from '../shapes/api-error.ts';
import type { CallContext } from '../shapes/endpoint.ts';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';

export interface SessionLimits {
  /** In total. */
  readonly countMax: number;
  /** Per caller: beyond it the least recently used session without a pending request ends. */
  readonly ownCountMax: number;
  /** Per user over all tokens: likewise. */
  readonly userCountMax: number;
  readonly idleMs: number;
}

const LIMITS: SessionLimits = {
  countMax: 5000,
  ownCountMax: 100,
  userCountMax: 1000,
  idleMs: HOUR_MS,
};

export type Transport = WebStandardStreamableHTTPServerTransport;

export interface Connection {
  readonly transport: Transport;
  readonly inFlight: InFlightRequests;
}

export interface Session extends Connection {
  readonly owner: string;
  readonly clientKey: string;
  readonly server: Server;
}

type Caller = Pick<CallContext, 'caller' | 'clientKey'>;

export class Sessions {
  readonly #limits: SessionLimits;
  readonly #sessions: LRUCache<string, Session>;

  constructor(limits: Partial<SessionLimits> = {}) {
    this.#limits = { ...LIMITS, ...limits };
    this.#sessions = new LRUCache<string, Session>({
      max: this.#limits.countMax,
      ttl: this.#limits.idleMs,
      updateAgeOnGet: true,
      dispose: ({ server }) => void server.close(),
    });
  }

  /** It can be found once the library has processed its first message. Errors: SERVER_OVERLOADED. */
  async open(caller: Caller, makeServer: (connection: Connection) => Server): Promise<Session> {
    const { clientKey } = caller;
    const owner = ownerOf(caller);
    this.#evictIdle(owner, clientKey);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, session),
    });
    const connection = { transport, inFlight: new InFlightRequests(transport) };
    const server = makeServer(connection);
    const session = { ...connection, owner, clientKey, server };
    await server.connect(transport);
    return session;
  }

  #evictIdle(owner: string, clientKey: string): void {
    const { countMax, ownCountMax, userCountMax } = this.#limits;
    this.#sessions.purgeStale();
    const ofUser = [...this.#sessions.rvalues()].filter(
      (session) => session?.clientKey === clientKey,
    );
    const own = ofUser.filter((session) => session?.owner === owner);
    const full = own.length >= ownCountMax ? own : ofUser.length >= userCountMax ? ofUser : [];
    // The client of a session that ends during a call would wait for the answer.
    const oldest = full.find((session) => session?.inFlight.isEmpty === true);
    if (oldest !== undefined) this.end(oldest);
    else if (full.length > 0 || this.#sessions.size >= countMax)
      throw new ApiError('SERVER_OVERLOADED', 'Too many sessions are open.');
  }

  /** Errors: INVALID_REQUEST_BODY without an id; NOT_FOUND; INSUFFICIENT_PERMISSIONS for another caller's session. */
  find(id: string | null, caller: Caller): Session {
    if (id === null)
      throw new ApiError('INVALID_REQUEST_BODY', 'The header MCP-Session-Id is missing.');
    const session = this.#sessions.get(id);
    if (session === undefined)
      throw new ApiError('NOT_FOUND', 'There is no such session; start a new one.');
    if (session.owner !== ownerOf(caller))
      throw new ApiError('INSUFFICIENT_PERMISSIONS', 'The session belongs to another caller.');
    return session;
  }

  end({ transport }: Session): void {
    if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
  }
}

/** Identifies a caller by its credential, a guest by its address. */
function ownerOf({ caller, clientKey }: Caller): string {
  const { source = 'guest', credentialId = '', sessionHash = '' } = caller ?? {};
  return [source, clientKey, credentialId, sessionHash].join(' ');
}

type RequestId = string | number;

/**
 * The unanswered requests of a session. If two requests have the same id the library sends both answers to the later one,
 * and the other waits for ever.
 */
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

  get isEmpty(): boolean {
    return this.#ids.size === 0;
  }

  /** Returns their ids. Errors: INVALID_REQUEST_BODY for an id that is in use, or twice in the messages. */
  begin(messages: unknown): RequestId[] {
    const ids = requestIds(messages);
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

/** Of the messages that get an answer. */
export function requestIds(messages: unknown): RequestId[] {
  return (Array.isArray(messages) ? messages : [messages]).flatMap(requestId);
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
