// Sessions of tool clients (API.md 17.1): each belongs to the caller that opened it. They are held in memory, so many of a
// caller and in all, and end when nobody has used them for an hour.

import { randomUUID } from 'node:crypto';
import type { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import { LRUCache } from 'lru-cache';
import { HOUR_MS } from '../../base/durations.ts';
import { ApiError } from '../shapes/api-error.ts';
import type { CallContext } from '../shapes/endpoint.ts';
import { RequestsUnderWay } from './requests-under-way.ts';

export interface SessionLimits {
  /** In all. */
  readonly countMax: number;
  /** Of a caller: with one more the one ends that was used least lately. */
  readonly ownCountMax: number;
  /** Of all callers of one user, who may make any number of tokens: with one more the same. */
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
  readonly underWay: RequestsUnderWay;
}

export interface Session extends Connection {
  readonly owner: string;
  readonly holder: string;
  readonly server: Server;
}

type Caller = Pick<CallContext, 'caller' | 'holder'>;

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

  /**
   * Makes a session, which is known by its id once the library has taken its first message.
   *
   * Errors: SERVER_OVERLOADED.
   */
  async open(caller: Caller, makeServer: (connection: Connection) => Server): Promise<Session> {
    const { holder } = caller;
    const owner = ownerOf(caller);
    this.#makeRoom(owner, holder);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#sessions.set(id, session),
    });
    const connection = { transport, underWay: new RequestsUnderWay(transport) };
    const server = makeServer(connection);
    const session = { ...connection, owner, holder, server };
    await server.connect(transport);
    return session;
  }

  #makeRoom(owner: string, holder: string): void {
    const { countMax, ownCountMax, userCountMax } = this.#limits;
    this.#sessions.purgeStale();
    const ofUser = [...this.#sessions.rvalues()].filter((session) => session?.holder === holder);
    const own = ofUser.filter((session) => session?.owner === owner);
    const [oldest] = own.length >= ownCountMax ? own : ofUser.length >= userCountMax ? ofUser : [];
    if (oldest !== undefined) this.end(oldest);
    else if (this.#sessions.size >= countMax)
      throw new ApiError('SERVER_OVERLOADED', 'Too many sessions are open.');
  }

  /** Errors: INVALID_REQUEST_BODY where none is named; NOT_FOUND; INSUFFICIENT_PERMISSIONS for another caller's. */
  find(id: string | null, caller: Caller): Session {
    if (id === null)
      throw new ApiError('INVALID_REQUEST_BODY', 'The header MCP-Session-Id is missing.');
    const session = this.#sessions.get(id);
    if (session === undefined)
      throw new ApiError('NOT_FOUND', 'There is no such session; begin a new one.');
    if (session.owner !== ownerOf(caller))
      throw new ApiError('INSUFFICIENT_PERMISSIONS', 'The session belongs to another caller.');
    return session;
  }

  end({ transport }: Session): void {
    if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
  }
}

/** A caller, known by its credential; guests by where they are. */
function ownerOf({ caller, holder }: Caller): string {
  const { source = 'guest', credentialId = '', sessionHash = '' } = caller ?? {};
  return [source, holder, credentialId, sessionHash].join(' ');
}
