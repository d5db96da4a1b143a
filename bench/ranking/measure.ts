// One run of `npm run bench -- --ranking SET`: draws the queries and asks them.

import type { QuerySet } from './sets.ts';
import type { Tree } from './trees.ts';
import { digestOf } from './draw.ts';
import { figuresOf, type RankingReport } from './report.ts';
import { checkTrees, daemonSystems, rankQueries, zoektSystems } from './run.ts';
import { type ServerOptions, withServer } from './server.ts';
import { readSource } from './source.ts';

export interface RankingOptions extends ServerOptions {
  readonly zoekt?: string | undefined;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Rejects if a tree cannot be read, indexed or served, or a query is refused. */
export async function measureRanking(
  { draw, matches }: QuerySet,
  trees: readonly Tree[],
  options: RankingOptions,
): Promise<RankingReport> {
  const startedAt = new Date().toISOString();
  const queries = trees.flatMap((tree) => {
    say(`Drawing queries of ${tree.name} ...`);
    return draw(readSource(tree));
  });
  const roots = trees.map(({ root }) => root);
  return withServer(roots, options, async (url) => {
    const own = daemonSystems(url, matches);
    const peers = options.zoekt === undefined ? [] : zoektSystems(options.zoekt);
    const systems = [...own.systems, ...peers];
    try {
      await checkTrees(own.client, trees);
      say(`Asking ${String(queries.length)} queries ...`);
      const ranked = await rankQueries(queries, systems);
      const names = systems.map(({ name }) => name);
      return {
        startedAt,
        digest: digestOf(queries),
        trees: trees.map(({ name }) => name),
        systems: names,
        figures: figuresOf(ranked, names),
        queries: ranked,
      };
    } finally {
      own.client.close();
    }
  });
}
