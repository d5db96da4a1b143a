// A tool server (MCP) on the official library, for any transport. The transport provides the context of a call.

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
import { checkSizes, type Tool, type ToolContext } from './tools/tool.ts';
import { TOOLS } from './tools/tools.ts';

export const SERVER_NAME = 'trawl-mcp-server';

/** Newest first. */
export const PROTOCOL_VERSIONS: readonly string[] = ['2025-06-18', '2025-03-26'];

const INSTRUCTIONS =
  'Exact search over indexed repositories. Find code with grep and glob, follow names with find_symbol_definitions and ' +
  'find_symbol_references, read with read_file. Repository names come from list_repos and from results.';

export type CallExtra = RequestHandlerExtra<ServerRequest, ServerNotification>;

export interface ToolMount {
  readonly version: string;
  readonly log: Log;
  /** Called first: what a call has, with a signal that is aborted also when its client leaves. */
  begin?(extra: CallExtra): CallExtra;
  /** Called next, also for a call that is then refused. Errors: API_RATE_LIMIT_EXCEEDED. */
  count?(extra: CallExtra): Promise<void>;
  /** Errors: those of the tool, and of the checks before it. */
  run(tool: Tool, args: unknown, extra: CallExtra): Promise<CallToolResult>;
}

const LIST: ListToolsResult = {
  tools: TOOLS.map(({ name, description, inputSchema }) => ({
    name,
    description,
    inputSchema,
    annotations: { readOnlyHint: true, idempotentHint: true },
  })),
};

/** We request nothing from clients that needs validation; the library would create a validator per server. */
const NO_VALIDATOR = {
  getValidator: () => {
    throw new Error('the tool server sends no requests to clients');
  },
};

export function makeToolServer(mount: ToolMount): Server {
  const server = new Server(
    { name: SERVER_NAME, version: mount.version },
    { capabilities: { tools: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator: NO_VALIDATOR },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => LIST);
  // The library rejects arguments that are not an object, but those must become failures of the tool.
  server.fallbackRequestHandler = async ({ method, params }, extra) => {
    if (method !== 'tools/call') throw new McpError(RpcCode.MethodNotFound, 'Method not found');
    const name = params?.['name'];
    if (typeof name !== 'string')
      throw new McpError(RpcCode.InvalidParams, 'name: expected a text');
    return await call(mount, name, params?.['arguments'], mount.begin?.(extra) ?? extra);
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
    await mount.count?.(extra);
    const tool = TOOLS.find((one) => one.name === name);
    if (tool === undefined) return failure(name, 'there is no such tool', `there are ${NAMES}`);
    checkSizes(args);
    return await mount.run(tool, args, extra);
  } catch (error) {
    return failure(name, ...reasonOf(error, mount, extra));
  }
}

const NAMES = TOOLS.map(({ name }) => name).join(', ');

function failure(name: string, reason: string, remedy?: string): CallToolResult {
  const isLong = reason.length > REASON_SIZE_MAX;
  const shortened = isLong ? `${reason.slice(0, REASON_SIZE_MAX)}…` : reason;
  const next = remedy === undefined ? '' : `; ${remedy}`;
  const text = `Tool "${name.slice(0, NAME_SIZE_MAX)}" failed: ${shortened.replace(/\.$/, '')}${next}`;
  return { content: [{ type: 'text', text }], isError: true };
}

/** Characters of a repeated name. */
const NAME_SIZE_MAX = 100;
/** Characters of a reason, which may repeat the arguments. */
const REASON_SIZE_MAX = 1000;

type Reason = readonly [reason: string, remedy: string | undefined];

const REMEDIES: Partial<Readonly<Record<ErrorCode, string>>> = {
  FILE_NOT_FOUND: 'glob finds files by name, list_tree shows a folder at any ref',
  INVALID_GIT_REF: 'list_branches shows branches; names of tags and ids of commits are refs, too',
  SERVER_OVERLOADED: 'call again in a second',
  FAILED_TO_PARSE_QUERY: 'call again with a shorter or simpler argument',
};

function reasonOf(error: unknown, { log }: ToolMount, { signal }: CallExtra): Reason {
  const apiError = toApiError(error);
  if (apiError !== undefined) return [apiError.message, REMEDIES[apiError.errorCode]];
  if (signal.aborted) return ['it was cancelled', undefined];
  log.error('a tool failed unexpectedly', { error });
  if (isShortage(error))
    return ['the machine has run out of files, processes or memory', 'call again in a minute'];
  return ['an unexpected error occurred', 'call again; if it fails again, see the log of Trawl'];
}

export function progressOf(extra: CallExtra): ToolContext['onProgress'] {
  const { _meta: { progressToken } = {}, sendNotification } = extra;
  if (progressToken === undefined) return undefined;
  let reported = -1;
  return ({ done: progress, ...rest }) => {
    // The protocol requires it to increase.
    if (progress <= reported) return;
    reported = progress;
    // Errors are ignored: the client may have left.
    void sendNotification({
      method: 'notifications/progress',
      params: { progressToken, progress, ...rest },
    }).catch(() => {});
  };
}
