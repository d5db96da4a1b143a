// The tools of a daemon, by the official client; results are read as text, as an agent does.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { omitUndefined } from '../../daemon/base/omit-undefined.ts';
import type { Location, Reading, Toolbox } from './agent.ts';

const LINES_BEFORE = 30;

export interface TrawlToolbox extends Toolbox {
  /** Bytes of the list of tools. */
  readonly listSize: number;
  close(): Promise<void>;
}

/** `nameOf`: the daemon's name of a repository. */
export async function openTrawl(
  url: string,
  nameOf: (repo: string) => string,
): Promise<TrawlToolbox> {
  const client = new Client({ name: 'questions', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${url}/api/mcp`));
  await client.connect(transport);
  const listSize = Buffer.byteLength(JSON.stringify((await client.listTools()).tools));
  const call = async (name: string, repo: string, args: object): Promise<string> => {
    const input = { ...args, repo: nameOf(repo) };
    const result = await client.callTool({ name, arguments: input });
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- one item of text
    const [item] = result.content as readonly { readonly text: string }[];
    return `${name} ${JSON.stringify(input)}\n${item?.text ?? ''}\n`;
  };
  const lines = async (name: string, repo: string, args: object): Promise<Reading> => {
    const text = await call(name, repo, args);
    return { text, locations: linesIn(text), next: hintIn(text) };
  };
  const read = async (repo: string, path: string, offset: number): Promise<Reading> => {
    const text = await call('read_file', repo, { path, offset });
    return { text, locations: numberedIn(text, path) };
  };
  return {
    name: 'trawl',
    isWhole: false,
    listSize,
    search: (repo, pattern, path) =>
      lines('grep', repo, { pattern: `(?i)${pattern}`, ...omitUndefined({ path }) }),
    define: (repo, symbol) => lines('find_symbol_definitions', repo, { symbol }),
    refer: (repo, symbol) => lines('find_symbol_references', repo, { symbol }),
    async commits(repo, query) {
      const text = await call('list_commits', repo, { query });
      return { text, locations: commitsIn(text) };
    },
    async show(repo, commit) {
      const text = await call('get_diff', repo, { base: `${commit}^`, head: commit });
      return { text, locations: [{ commit }] };
    },
    read: (repo, path, line) => read(repo, path, Math.max(1, line - LINES_BEFORE)),
    close: () => client.close(),
  };
}

/** Matching lines in the form of API.md 17.3. */
function linesIn(text: string): Location[] {
  let path = '';
  return text.split('\n').flatMap((line) => {
    path = /^\[[^\]]+\] (.*):$/.exec(line)?.[1] ?? path;
    const [, number, content = ''] = /^ {2}(\d+)[:-] (.*)$/.exec(line) ?? [];
    return number === undefined ? [] : [{ path, line: Number(number), content }];
  });
}

function hintIn(text: string): string | undefined {
  return /^.*there are matches: use (?:\(\?i\))?(.*)$/m.exec(text)?.[1];
}

function commitsIn(text: string): Location[] {
  return [...text.matchAll(/"hash":"([0-9a-f]{40})"/g)].map(([, commit = '']) => ({ commit }));
}

function numberedIn(text: string, path: string): Location[] {
  return [...text.matchAll(/^(\d+): /gm)].map(([, line]) => ({ path, line: Number(line) }));
}
