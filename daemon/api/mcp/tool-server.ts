// A server of the protocol (MCP) with our tools, by the official library. Whoever mounts it says what a call may use; here is
// what all mounts have in common: the list of tools, results as text, failures as results.

import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { RequestHandlerExtra } from '@modelcontextprotocol/sdk/shared/protocol.js';
import {
  type CallToolResult,
  ErrorCode as RpcCode,
  ListToolsRequestSchema,
  type ListToolsResult,
  McpError,
  type ServerNotification,
  type ServerRequest,
} from '@modelcontextprotocol/sdk/types.js';
import { isShortage } from '../../base/caught.ts';
import type { Log } from '../../base/log.ts';
import { type ErrorCode, toApiError } from '../shapes/api-error.ts';
import type { Tool, ToolContext } from './tools/tool.ts';
import { TOOLS } from './tools/tools.ts';

export const SERVER_NAME = 'trawl-mcp-server';

/** Newest first. */
export const PROTOCOL_VERSIONS: readonly string[] = ['2025-06-18', '2025-03-26'];

const INSTRUCTIONS =
  'Exact search over indexed repositories. Find code with grep and glob, follow names with find_symbol_definitions and ' +
  'find_symbol_references, read with read_file. Repository names come from list_repos and from results.';

/** What the library tells of a call. */
export type CallExtra = RequestHandlerExtra<ServerRequest, ServerNotification>;

export interface ToolMount {
  readonly version: string;
  readonly log: Log;
  /** Runs a call with what it may use. Errors: those of the tool, and of what comes before it. */
  run(tool: Tool, args: unknown, extra: CallExtra): Promise<string>;
}

const LIST: ListToolsResult = {
  tools: TOOLS.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
    annotations: { readOnlyHint: true, idempotentHint: true },
  })),
};

/** Nothing is asked of clients that would have to be validated. Why: the library makes a validator of each server's own. */
const NO_VALIDATOR = {
  getValidator: () => {
    throw new Error('nothing is asked of clients');
  },
};

/** A server for one session. */
export function makeToolServer(mount: ToolMount): Server {
  const server = new Server(
    { name: SERVER_NAME, version: mount.version },
    {
      capabilities: { tools: {} },
      instructions: INSTRUCTIONS,
      jsonSchemaValidator: NO_VALIDATOR,
    },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => LIST);
  // Why not by a handler: the library lets no arguments through that are no object, and those are failures of the tool.
  server.fallbackRequestHandler = async ({ method, params }, extra) => {
    if (method !== 'tools/call') throw new McpError(RpcCode.MethodNotFound, 'Method not found');
    const name = params?.['name'];
    if (typeof name !== 'string')
      throw new McpError(RpcCode.InvalidParams, 'name: expected a text');
    return await call(mount, name, params?.['arguments'], extra);
  };
  return server;
}

async function call(
  mount: ToolMount,
  name: string,
  args: unknown,
  extra: CallExtra,
): Promise<CallToolResult> {
  try {
    const tool = TOOLS.find((one) => one.name === name);
    if (tool === undefined) return failure(name, 'there is no such tool', `there are ${NAMES}`);
    return { content: [{ type: 'text', text: await mount.run(tool, args, extra) }] };
  } catch (error) {
    return failure(name, ...reasonOf(error, mount, extra));
  }
}

const NAMES = TOOLS.map(({ name }) => name).join(', ');

/** @param remedy  the next call, where the reason does not name it */
function failure(name: string, reason: string, remedy?: string): CallToolResult {
  const isLong = reason.length > REASON_SIZE_MAX;
  const shown = isLong ? `${reason.slice(0, REASON_SIZE_MAX)}…` : reason;
  const next = remedy === undefined ? '' : `; ${remedy}`;
  const text = `Tool "${name.slice(0, NAME_SIZE_MAX)}" failed: ${shown.replace(/\.$/, '')}${next}`;
  return { content: [{ type: 'text', text }], isError: true };
}

/** Characters of a name that are repeated. */
const NAME_SIZE_MAX = 100;
/** Of a reason, which may repeat what was asked for. */
const REASON_SIZE_MAX = 1000;

type Reason = readonly [reason: string, remedy: string | undefined];

/** What to do about an error whose message does not say it. */
const REMEDIES: Partial<Readonly<Record<ErrorCode, string>>> = {
  FILE_NOT_FOUND: 'glob finds files by name, list_tree shows a folder at any ref',
  INVALID_GIT_REF: 'list_branches shows branches; names of tags and ids of commits are refs, too',
  SERVER_OVERLOADED: 'call again in a second',
  FAILED_TO_PARSE_QUERY: 'call again with a shorter or simpler argument',
};

function reasonOf(error: unknown, { log }: ToolMount, { signal }: CallExtra): Reason {
  const known = toApiError(error);
  if (known !== undefined) return [known.message, REMEDIES[known.errorCode]];
  if (signal.aborted) return ['it was cancelled', undefined];
  log.error('a tool failed unexpectedly', { error });
  if (isShortage(error))
    return ['the machine has no more files, processes or memory now', 'call again in a minute'];
  return ['an unexpected error occurred', 'call again; if it stays, the log of Trawl says why'];
}

/** What a call tells of its progress to clients that want to know. */
export function progressOf(extra: CallExtra): ToolContext['onProgress'] {
  const { _meta: { progressToken } = {}, sendNotification } = extra;
  if (progressToken === undefined) return undefined;
  let told = -1;
  return ({ done: progress, ...rest }) => {
    // The protocol wants it to rise each time.
    if (progress <= told) return;
    told = progress;
    // Whoever is gone is told nothing.
    void sendNotification({
      method: 'notifications/progress',
      params: { progressToken, progress, ...rest },
    }).catch(() => {});
  };
}
