// The tool server over HTTP (API.md 17.1). Each tool call is counted and admitted separately.

import { signalOf } from '../../base/cancellation.ts';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Log } from '../../base/log.ts';
import { ApiError, type ErrorCode } from '../shapes/api-error.ts';
import { type Answer, type CallContext, fetched } from '../shapes/endpoint.ts';
import {
  type Connection,
  requestIds,
  type Session,
  type SessionLimits,
  Sessions,
} from './sessions.ts';
import { type CallExtra, makeToolServer, progressOf, PROTOCOL_VERSIONS } from './tool-server.ts';
import type { Tool } from './tools/tool.ts';

const SESSION_HEADER = 'mcp-session-id';
const VERSION_HEADER = 'mcp-protocol-version';
/** Assumed for clients that name no version; only this version has batches. */
const OLDEST_VERSION = '2025-03-26';

const BATCH_MAX = 100;

/** Bytes reserved for an answer, whose text has at most 60,000 characters. */
const ANSWER_SIZE = 262_144;

export class HttpMount {
  readonly #version: string;
  readonly #log: Log;
  readonly #sessions: Sessions;

  constructor(version: string, log: Log, limits?: Partial<SessionLimits>) {
    this.#version = version;
    this.#log = log;
    this.#sessions = new Sessions(limits);
  }

  /** Errors: SERVER_OVERLOADED; INVALID_REQUEST_BODY; those of finding a session. */
  async post(messages: unknown, context: CallContext): Promise<Answer> {
    const request = context.fetchRequest();
    // First: after a refusal nothing would stop a tool, and no session is ended for one that is refused.
    context.takeMemory(Math.min(requestIds(messages).length, BATCH_MAX) * ANSWER_SIZE);
    // Before the header names the negotiated version, clients send the one they prefer.
    if (isOpening(messages))
      return await passTo(await this.#open(context), request, messages, context);
    checkVersion(request, messages);
    const session = this.#sessions.find(request.headers.get(SESSION_HEADER), context);
    return await passTo(session, request, messages, context);
  }

  /** Errors: those of finding the session. */
  end(context: CallContext): void {
    const { headers } = context.fetchRequest();
    this.#sessions.end(this.#sessions.find(headers.get(SESSION_HEADER), context));
  }

  #open(context: CallContext): Promise<Session> {
    const [version, log] = [this.#version, this.#log];
    return this.#sessions.open(context, (connection) =>
      makeToolServer({
        version,
        log,
        begin: (extra) => {
          endWhenCancelled(connection, extra);
          const { context } = passedTo(extra);
          return { ...extra, signal: AbortSignal.any([signalOf(context.signal), extra.signal]) };
        },
        count: (extra) => passedTo(extra).context.calls.count(),
        run: runTool,
      }),
    );
  }
}

/**
 * The library gives a cancelled call no answer, and its response would never end. Only a batch gets one: its other answers are
 * still to come. On a closed stream the message is not sent, but ends what the library keeps of the call.
 */
function endWhenCancelled({ transport }: Connection, extra: CallExtra): void {
  const { signal, requestId: id } = extra;
  const end = (): void => {
    if (!passedTo(extra).isBatch) transport.closeSSEStream(id);
    const error = { code: CANCELLED, message: 'cancelled' };
    void transport.send({ jsonrpc: '2.0', id, error }).catch(() => {});
  };
  signal.addEventListener('abort', end, { once: true });
}

/** An error of the server, in JSON-RPC. */
const CANCELLED = -32_000;

/** What `passTo` adds to a message. */
interface Passed extends Record<string, unknown> {
  readonly context: CallContext;
  readonly isBatch: boolean;
}

function passedTo({ authInfo }: CallExtra): Passed {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: each message has it.
  return authInfo?.extra as Passed;
}

/** Errors: INVALID_REQUEST_BODY for an unsupported version, or a message that the version does not have. */
function checkVersion({ headers }: Request, messages: unknown): void {
  const version = headers.get(VERSION_HEADER) ?? OLDEST_VERSION;
  if (!PROTOCOL_VERSIONS.includes(version))
    throw new ApiError(
      'INVALID_REQUEST_BODY',
      `MCP-Protocol-Version: expected ${PROTOCOL_VERSIONS.join(' or ')}`,
    );
  if (!Array.isArray(messages)) return;
  if (version !== OLDEST_VERSION)
    throw new ApiError('INVALID_REQUEST_BODY', `Version ${version} has no batches.`);
  if (messages.length === 0) throw new ApiError('INVALID_REQUEST_BODY', 'The batch is empty.');
  if (messages.length > BATCH_MAX)
    throw new ApiError('INVALID_REQUEST_BODY', `A batch has at most ${BATCH_MAX} messages.`);
}

interface Opening {
  readonly method: 'initialize';
  readonly params?: unknown;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isOpening(messages: unknown): messages is Opening {
  return isObject(messages) && 'method' in messages && messages.method === 'initialize';
}

/** The messages for the library: an unsupported version becomes our newest one. */
function negotiated(messages: unknown): unknown {
  if (!isOpening(messages) || !isObject(messages.params)) return messages;
  const { params } = messages;
  const requestedVersion = 'protocolVersion' in params ? params.protocolVersion : undefined;
  if (typeof requestedVersion !== 'string' || PROTOCOL_VERSIONS.includes(requestedVersion))
    return messages;
  return { ...messages, params: { ...params, protocolVersion: PROTOCOL_VERSIONS[0] } };
}

/** Errors: INVALID_REQUEST_BODY. */
async function passTo(
  { transport, inFlight }: Session,
  request: Request,
  messages: unknown,
  context: CallContext,
): Promise<Answer> {
  // The body was already read, and JSON is accepted with any content type (API.md 2.2).
  const headers = new Headers(request.headers);
  headers.set('content-type', 'application/json');
  const ids = inFlight.begin(messages);
  try {
    const extra: Passed = { context, isBatch: Array.isArray(messages) };
    const response = await transport.handleRequest(
      new Request(request.url, { method: 'POST', headers }),
      {
        parsedBody: negotiated(messages),
        authInfo: { token: '', clientId: '', scopes: [], extra },
      },
    );
    if (response.ok) return fetched(response);
    throw new ApiError(CODES[response.status] ?? 'INVALID_REQUEST_BODY', await reasonOf(response));
  } catch (error) {
    inFlight.end(ids);
    throw error;
  }
}

const CODES: Readonly<Record<number, ErrorCode>> = {
  404: 'NOT_FOUND',
  413: 'REQUEST_BODY_TOO_LARGE',
};

async function reasonOf(response: Response): Promise<string> {
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- an error of JSON-RPC
  const { error } = (await response.json()) as { readonly error: { readonly message: string } };
  return error.message;
}

async function runTool(tool: Tool, args: unknown, extra: CallExtra): Promise<CallToolResult> {
  const { context } = passedTo(extra);
  const permit = tool.isSearch ? await context.calls.admit() : undefined;
  try {
    const { signal } = extra;
    const onProgress = progressOf(extra);
    const text = await tool.run(args, { ...context, permit, signal, onProgress });
    return { content: [{ type: 'text', text }] };
  } finally {
    permit?.release();
  }
}
