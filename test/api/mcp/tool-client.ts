// Tool clients for tests: the official one over HTTP, and its answers as text.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

export interface Result {
  readonly text: string;
  readonly isError: boolean;
}

/** A connected client; the caller closes it. @param key  absent: none is sent */
export async function toolClient(url: string, key?: string): Promise<Client> {
  const headers: Record<string, string> =
    key === undefined ? {} : { authorization: `Bearer ${key}` };
  const client = new Client({ name: 'test', version: '1' });
  const address = new URL(`${url}/api/mcp`);
  const transport = new StreamableHTTPClientTransport(address, { requestInit: { headers } });
  await client.connect(transport);
  return client;
}

/** The text of a result, which holds nothing else. */
export async function callTool(
  client: Client,
  name: string,
  args: Readonly<Record<string, unknown>> = {},
  options: Parameters<Client['callTool']>[2] = {},
): Promise<Result> {
  const result = await client.callTool({ name, arguments: args }, undefined, options);
  const content = result.content as readonly { readonly type: string; readonly text: string }[];
  const [item] = content;
  if (content.length !== 1 || item?.type !== 'text') throw new Error(JSON.stringify(result));
  return { text: item.text, isError: result.isError === true };
}
