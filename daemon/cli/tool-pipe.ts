// The tool server over two streams, for programs that start `trawl mcp`.

import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { Log } from '../base/log.ts';
import { makeToolServer } from '../api/mcp/tool-server.ts';
import type { ToolCalls } from './tool-calls.ts';

/** Answers until the input ends, or a message exceeds 10 MB. The first message does not wait for `open`. */
export async function servePipe(
  open: () => Promise<ToolCalls>,
  { stdin, stdout }: { readonly stdin: Readable; readonly stdout: Writable },
  version: string,
  log: Log,
): Promise<void> {
  const server = makeToolServer({
    version,
    log,
    run: async (...call) => (await open()).run(...call),
  });
  // oxlint-disable-next-line unicorn/prefer-add-event-listener -- the library has no other way
  server.onerror = (error) =>
    log.warn('a message could not be parsed', { error: error.message.slice(0, 300) });
  server.oninitialized = () => void open();
  const ended = new Promise<void>((resolve) => {
    stdin.once('end', resolve);
    stdin.once('close', resolve);
    // oxlint-disable-next-line unicorn/prefer-add-event-listener -- as above
    server.onclose = resolve;
  });
  await server.connect(new StdioServerTransport(stdin, stdout));
  await ended;
  await server.close();
  // The library stops at a message that is too long; its rest would keep the process alive.
  stdin.destroy();
}
