// Asks search engines the queries and notes the place of the first file that was meant. The daemon is asked for more and more
// matches, because how soon it stops decides which files it ranks; Zoekt with its default score and with BM25. Times do not
// count here, so a busy machine does no harm.

import { createClient, ask, send } from '../client.ts';
import type { SearchClient } from '../client.ts';
import { quoteLiteral } from '../cases.ts';
import { escapeLiteral } from '../dialect.ts';
import type { RankingQuery } from './draw.ts';
import type { Tree } from './trees.ts';

/** A way to have queries answered. */
export interface System {
  readonly name: string;
  /** Paths of the files found, the best first. Errors: rejects if the query is refused. */
  find(query: RankingQuery): Promise<readonly string[]>;
}

export interface RankedQuery extends RankingQuery {
  /** By the name of the system: the place of the first file that was meant, 1 for the best; 0: it was not found. */
  readonly locations: Readonly<Record<string, number>>;
  /** By the name of the system: the first files of its answer. */
  readonly first: Readonly<Record<string, readonly string[]>>;
}

/** Kept of an answer. */
export const FIRST_FILES = 3;

/** Why no beginning: a folder is a repo `local/NAME` of ours, and `NAME` of Zoekt's. */
function scopeOf(tree: string): string {
  return `repo:\\b${escapeLiteral(tree)}$`;
}

function daemonSystem(client: SearchClient, matches: number): System {
  return {
    name: String(matches),
    async find(query) {
      const text = query.isPhrase ? quoteLiteral(query.text) : query.text;
      const body = JSON.stringify({ query: `${scopeOf(query.tree)} ${text}`, matches });
      const { files } = await ask(client, body);
      return files.map(({ fileName }) => fileName.text);
    },
  };
}

/** The daemon at `url`, once for each number of matches, and its client, for the caller to close. */
export function daemonSystems(
  url: string,
  matches: readonly number[],
): { systems: System[]; client: SearchClient } {
  const client = createClient(url, 1);
  return { systems: matches.map((count) => daemonSystem(client, count)), client };
}

/** Errors: rejects if the server does not serve one of the trees; its queries would find nothing. */
export async function checkTrees(client: SearchClient, trees: readonly Tree[]): Promise<void> {
  for (const { name, root } of trees) {
    const { files } = await ask(
      client,
      JSON.stringify({ query: `${scopeOf(name)} -()`, matches: 1 }),
    );
    if (files.length === 0)
      throw new Error(`the server has no files of ${name}: have it serve ${root}`);
  }
}

const ZOEKT_FILES_MAX = 10_000;

interface ZoektAnswer {
  readonly Result: { readonly Files: readonly { readonly FileName: string }[] | null };
}

function zoektSystem(url: string, useBm25: boolean): System {
  const address = new URL('/api/search', url);
  const options = { method: 'POST', headers: { 'content-type': 'application/json' } };
  return {
    name: useBm25 ? 'Zoekt BM25' : 'Zoekt',
    async find(query) {
      // Its quoted texts are regular expressions.
      const text = query.isPhrase ? quoteLiteral(escapeLiteral(query.text)) : query.text;
      const body = JSON.stringify({
        Q: `${scopeOf(query.tree)} ${text}`,
        Opts: { ChunkMatches: true, MaxDocDisplayCount: ZOEKT_FILES_MAX, UseBM25Scoring: useBm25 },
      });
      const answer = await send(address, options, body);
      if (answer.status !== 200) throw new Error(`Zoekt: ${answer.body.toString()}`);
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- its own contract
      const { Result: result } = JSON.parse(answer.body.toString()) as ZoektAnswer;
      return (result.Files ?? []).map(({ FileName: file }) => file);
    },
  };
}

/** Zoekt's webserver at `url`, started with `-rpc`, in both modes. */
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

/** The queries with their places in the answers of all systems. Errors: rejects if one refuses a query. */
export async function rankQueries(
  queries: readonly RankingQuery[],
  systems: readonly System[],
): Promise<RankedQuery[]> {
  const ranked: RankedQuery[] = [];
  for (const query of queries) ranked.push(await rankQuery(query, systems));
  return ranked;
}
