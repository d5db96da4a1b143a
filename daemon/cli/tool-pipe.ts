// The tool server over two streams, for programs that start `trawl mcp`.

import { type Readable, Transform, type Writable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import type { Log } from '../base/log.ts';
import { makeToolServer } from '../api/mcp/tool-server.ts';
import type { ToolCalls } from './tool-calls.ts';

/** Answers all messages until the input ends, or one exceeds 10 MB. The first message does not wait for `open`. */
export async function servePipe(
  open: () => Promise<ToolCalls>,
  { stdin, stdout }: { readonly stdin: Readable; readonly stdout: Writable },
  version: string,
  log: Log,
): Promise<void> {
  const running = new Set<Promise<CallToolResult>>();
  const server = makeToolServer({
    version,
    log,
    run: async (...call) => {
      const result = open().then((tools) => tools.run(...call));
      running.add(result);
      return await result.finally(() => running.delete(result));
    },
  });
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the library has no other way
  server.onerror = (error) =>
    log.warn('a message could not be parsed', { error: error.message.slice(0, 300) });
  server.oninitialized = () => void open();
  const messages = stdin.pipe(withoutBatches());
  const ended = new Promise<void>((resolve) => {
    messages.once('end', resolve);
    stdin.once('close', () => messages.end());
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- as above
    server.onclose = resolve;
  });
  await server.connect(new StdioServerTransport(messages, stdout));
  await ended;
  // The library begins a call, and sends its answer, within a turn.
  await nextTurn();
  await Promise.allSettled(running);
  await nextTurn();
  await server.close();
  // The library stops at a message that is too long; its rest would keep the process alive.
  stdin.destroy();
}

/** Bytes; the library has the same limit, and stops at what is longer. */
const LINE_SIZE_MAX = 10 * 1024 * 1024;

/** Passes lines on. A batch becomes a line for each of its messages, because the library knows none on a pipe. */
function withoutBatches(): Transform {
  /** Of the line that has not ended. */
  let pieces: Buffer[] = [];
  let size = 0;
  return new Transform({
    transform(chunk: Buffer, _, onDone) {
      pieces.push(chunk);
      size += chunk.length;
      if (size <= LINE_SIZE_MAX && !chunk.includes('\n')) return onDone();
      const bytes = Buffer.concat(pieces);
      const end = size > LINE_SIZE_MAX ? size : bytes.lastIndexOf('\n') + 1;
      pieces = [bytes.subarray(end)];
      size -= end;
      const lines = bytes.toString('utf8', 0, end).split('\n');
      onDone(null, lines.map((line) => (line.startsWith('[') ? split(line) : line)).join('\n'));
    },
  });
}

function split(line: string): string {
  try {
    const batch: unknown = JSON.parse(line);
    if (!Array.isArray(batch)) return line;
    return batch.map((message) => JSON.stringify(message)).join('\n');
  } catch {
    return line;
  }
}
