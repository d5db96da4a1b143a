// Runs the tool calls of `trawl mcp` through the control socket. Without a daemon this process becomes it. Searches
// wait for the first index. Results name sources that the daemon of another process does not search.

import { setMaxListeners } from 'node:events';
import { Readable } from 'node:stream';
import { json } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  type CallToolResult,
  CallToolResultSchema,
  ErrorCode,
  McpError,
} from '@modelcontextprotocol/sdk/types.js';
import { type CallExtra, progressOf } from '../api/mcp/tool-server.ts';
import type { Tool, ToolContext } from '../api/mcp/tools/tool.ts';
import { ApiError } from '../api/shapes/api-error.ts';
import type { listRepoRules } from '../api/sources/repo-rule-endpoints.ts';
import type { Daemon } from '../app/main.ts';
import { messageOf } from '../base/caught.ts';
import type { Configuration } from '../base/config/configuration.ts';
import { readProductVersion } from '../base/config/version.ts';
import type { Log } from '../base/log.ts';
import type { BuildProgress } from '../engine/build/build.ts';
import { callControl, NoDaemonError, systemAccount } from './control-client.ts';
import { isErrorObject, RequestError } from './errors.ts';
import { isBelow, realPathOf } from './known-sources.ts';
import { Operator, reach } from './operator.ts';

/** Tool clients give a call a minute by default. The index of Linux, 79,000 files, takes 13 s. */
const INDEX_WAIT_MS = 50_000;
const PROGRESS_MS = 200;
const NO_CONNECTION: number = ErrorCode.ConnectionClosed;
const ADDRESS = new URL('http://localhost/api/mcp');

export interface ToolCallsOptions {
  readonly configuration: Configuration;
  readonly log: Log;
  /** Absolute paths; a daemon that runs already has its own. */
  readonly sources: readonly string[];
  readonly indexWaitMs?: number;
}

export class ToolCalls {
  readonly #options: ToolCallsOptions;
  /** Undefined: not connected. */
  #client: Promise<Client> | undefined;
  #daemon: Daemon | undefined;
  /** Sources that the daemon of another process did not serve when it was last asked. */
  #unserved: readonly string[] = [];
  #operator: Operator | undefined;
  #progress: BuildProgress | undefined;

  constructor(options: ToolCallsOptions) {
    this.#options = options;
    // Errors are reported by tool calls.
    this.#connectOnce().catch(() => {});
  }

  /** Errors: NOT_READY if the index cannot be opened; RequestError, a refusal. */
  async run(tool: Tool, args: unknown, extra: CallExtra): Promise<CallToolResult> {
    const onProgress = progressOf(extra);
    const request = { method: 'tools/call', params: { name: tool.name, arguments: args } } as const;
    for (let isRepeated = false; ; isRepeated = true) {
      const client = await this.#connectOnce();
      if (tool.isSearch) await this.#waitForIndex(extra.signal, onProgress);
      let result: CallToolResult;
      try {
        result = await client.request(request, CallToolResultSchema, {
          signal: extra.signal,
          // The longest that a timer takes: the daemon limits calls.
          timeout: 2 ** 31 - 1,
          ...(onProgress && {
            onprogress: ({ progress, total = 0 }) => onProgress({ done: progress, total }),
          }),
        });
      } catch (error) {
        if (isRepeated || extra.signal.aborted || !isConnectionLost(error)) throw error;
        this.#client = undefined;
        await client.close();
        continue;
      }
      return await this.#withUnserved(result).catch((error: unknown) => {
        this.#options.log.warn('the served sources could not be listed', { error });
        return result;
      });
    }
  }

  async close(): Promise<void> {
    const client = await this.#client?.catch(() => undefined);
    await client?.close();
    await this.#daemon?.close();
  }

  /** The running or successful attempt, else a new one. Errors: NOT_READY. */
  #connectOnce(): Promise<Client> {
    if (this.#client !== undefined) return this.#client;
    const client = this.#connect().catch((error: unknown) => {
      if (this.#client === client) this.#client = undefined;
      throw new ApiError('NOT_READY', `the index cannot be opened: ${messageOf(error)}`);
    });
    this.#client = client;
    return client;
  }

  async #connect(): Promise<Client> {
    const { configuration } = this.#options;
    const opened = await reach(configuration, () => this.#startDaemon(), INDEX_WAIT_MS);
    const { socketPath } = opened;
    if (this.#daemon === undefined) this.#unserved = this.#options.sources;
    const isGone = (): Promise<never> =>
      Promise.reject(new NoDaemonError(`no daemon answers at ${socketPath}`));
    this.#operator = new Operator(isGone, opened);
    const client = new Client({ name: 'trawl-mcp', version: readProductVersion() });
    // The calls of a lost stream would never end.
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the library has no other way
    client.onerror = () => void client.close();
    await client.connect(
      new StreamableHTTPClientTransport(ADDRESS, {
        fetch: (_, init) => fetchControl(socketPath, init),
      }),
    );
    return client;
  }

  /** Agents read nothing but results. */
  async #withUnserved(result: CallToolResult): Promise<CallToolResult> {
    if (this.#daemon !== undefined || this.#unserved.length === 0) return result;
    const served: string[] = [];
    for await (const rows of this.#operator!.pages<typeof listRepoRules>('/api/ee/repos'))
      for (const { state, path: place } of rows)
        if (state === 'served' && place !== null) served.push(realPathOf(place));
    this.#unserved = this.#unserved.filter((source) => {
      const real = realPathOf(source);
      return !served.some((place) => isBelow(real, place) || isBelow(place, real));
    });
    if (this.#unserved.length === 0) return result;
    const text =
      `Not searched: ${this.#unserved.join(', ')}. Another process owns the data directory ` +
      `${this.#options.configuration.dataDir}, and its sources are searched instead. ` +
      'Give trawl mcp a --data-dir of its own to search these.';
    return { ...result, content: [...result.content, { type: 'text', text }] };
  }

  async #startDaemon(): Promise<Daemon> {
    // Loading the engine takes longer than a client should wait for its first answer.
    const { startDaemon } = await import('../app/main.ts');
    this.#daemon = await startDaemon({
      ...this.#options,
      isLocal: true,
      onProgress: (_, progress) => void (this.#progress = progress),
    });
    return this.#daemon;
  }

  /** Waits until each source has an index, or has failed. Errors: NOT_READY after the limit. */
  async #waitForIndex(signal: AbortSignal, onProgress: ToolContext['onProgress']): Promise<void> {
    const daemon = this.#daemon;
    const endMs = performance.now() + (this.#options.indexWaitMs ?? INDEX_WAIT_MS);
    while (daemon?.isFirstIndexing() === true) {
      const { filesDone: done = 0, filesTotal: total = 0 } = this.#progress ?? {};
      const message = 'the index is being built';
      const files = total > 0 ? ` (${done} of ${total} files)` : '';
      if (performance.now() >= endMs)
        throw new ApiError('NOT_READY', `${message}${files}; try again in a while`);
      onProgress?.({ done, total, message });
      const pause = sleep(PROGRESS_MS, undefined, { ref: false, signal });
      await Promise.race([daemon.indexed.catch(() => {}), pause]);
    }
  }
}

/** The daemon is gone, or it has ended the session. */
function isConnectionLost(error: unknown): boolean {
  if (error instanceof RequestError) return error.errorCode === 'NOT_FOUND';
  return !(error instanceof McpError) || error.code === NO_CONNECTION;
}

/** Errors: NoDaemonError; RequestError, a refusal. */
async function fetchControl(
  socketPath: string,
  { method = 'GET', headers, body, signal }: RequestInit = {},
): Promise<Response> {
  // The library has one signal for all calls that run.
  if (signal) setMaxListeners(0, signal);
  const response = await callControl(socketPath, {
    method,
    path: ADDRESS.pathname,
    headers: Object.fromEntries(new Headers(headers)),
    ...(typeof body === 'string' && { body }),
    account: systemAccount(),
    ...(signal && { signal }),
  });
  const { statusCode: status = 0 } = response;
  // 405: the daemon sends nothing but answers.
  if (status >= 400 && status !== 405) {
    const error: unknown = await json(response);
    if (isErrorObject(error)) throw new RequestError(error);
  }
  return new Response(Readable.toWeb(response), {
    status,
    headers: Object.entries(response.headers).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, String(value)]],
    ),
  });
}
