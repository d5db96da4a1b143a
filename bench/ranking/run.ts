// Ranks of the expected files in answers: the daemon with several match counts, Zoekt with its score and with BM25.

import { createClient, search, type SearchClient } from '../client.ts';
import { send } from '../../daemon/cli/bench/load.ts';
import { quoteLiteral } from '../cases.ts';
import { escapeLiteral } from '../dialect.ts';
import type { RankingQuery } from './draw.ts';
import type { Tree } from './trees.ts';

export interface System {
  readonly name: string;
  /** The best path first. Rejects if the query is refused. */
  find(query: RankingQuery): Promise<readonly string[]>;
}

export interface RankedQuery extends RankingQuery {
  /** Rank of the first expected file by system; 0: not found. */
  readonly locations: Readonly<Record<string, number>>;
  /** By system. */
  readonly first: Readonly<Record<string, readonly string[]>>;
}

export const FIRST_FILES = 3;

/** No anchor: a folder is a repo `local/NAME` of ours, and `NAME` of Zoekt's. */
function scopeOf(tree: string): string {
  return `repo:\\b${escapeLiteral(tree)}$`;
}

function daemonSystem(client: SearchClient, matches: number): System {
  return {
    name: String(matches),
    async find(query) {
      const text = query.isPhrase ? quoteLiteral(query.text) : query.text;
      const body = JSON.stringify({ query: `${scopeOf(query.tree)} ${text}`, matches });
      const { files } = await search(client, body);
      return files.map(({ fileName }) => fileName.text);
    },
  };
}

/** One for each number of matches; the caller closes the client. */
export function daemonSystems(
  url: string,
  matches: readonly number[],
): { systems: System[]; client: SearchClient } {
  const client = createClient(url, 1);
  return { systems: matches.map((count) => daemonSystem(client, count)), client };
}

/** Rejects if the server does not serve one of the trees. */
export async function checkTrees(client: SearchClient, trees: readonly Tree[]): Promise<void> {
  for (const { name, root } of trees) {
    const { files } = await search(
      client,
      JSON.stringify({ query: `${scopeOf(name)} -()`, matches: 1 }),
    );
    if (files.length === 0)
      throw new Error(`the server has no files of ${name}: have it serve ${root}`);
  }
}

interface ZoektAnswer {
  readonly Result: { readonly Files: readonly { readonly FileName: string }[] | null };
}

function zoektSystem(url: string, useBm25: boolean): System {
  const address = new URL('/api/search', url);
  const options = { method: 'POST', headers: { 'content-type': 'application/json' } };
  return {
    name: useBm25 ? 'Zoekt BM25' : 'Zoekt',
    async find(query) {
      // Zoekt reads quoted texts as regular expressions.
      const text = query.isPhrase ? quoteLiteral(escapeLiteral(query.text)) : query.text;
      const body = JSON.stringify({
        Q: `${scopeOf(query.tree)} ${text}`,
        Opts: { ChunkMatches: true, MaxDocDisplayCount: 10_000, UseBM25Scoring: useBm25 },
      });
      const answer = await send(address, options, body);
      if (answer.status !== 200) throw new Error(`Zoekt: ${answer.body.toString()}`);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its own contract
      const { Result: result } = JSON.parse(answer.body.toString()) as ZoektAnswer;
      return (result.Files ?? []).map(({ FileName: file }) => file);
    },
  };
}

/** Its webserver at `url`, started with `-rpc`, in both modes. */
export function zoektSystems(url: string): System[] {
  return [zoektSystem(url, false), zoektSystem(url, true)];
}

async function rankQuery(query: RankingQuery, systems: readonly System[]): Promise<RankedQuery> {
  const locations: Record<string, number> = {};
  const first: Record<string, readonly string[]> = {};
  for (const system of systems) {
    const files = await system.find(query);
    locations[system.name] = 1 + files.findIndex((file) => query.expected.includes(file));
    first[system.name] = files.slice(0, FIRST_FILES);
  }
  return { ...query, locations, first };
}

/** Rejects if a system refuses a query. */
export async function rankQueries(
  queries: readonly RankingQuery[],
  systems: readonly System[],
): Promise<RankedQuery[]> {
  const ranked: RankedQuery[] = [];
  for (const query of queries) ranked.push(await rankQuery(query, systems));
  return ranked;
}
