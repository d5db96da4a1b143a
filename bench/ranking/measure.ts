// One run of `npm run bench -- --ranking`: draws the queries, indexes all trees in one data directory, and asks.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildIndex, findSymbols, startDaemon } from '../daemon.ts';
import type { Tree } from './trees.ts';
import { digestOf, drawQueries } from './queries.ts';
import type { RankingQuery } from './queries.ts';
import { figuresOf } from './report.ts';
import type { RankingReport } from './report.ts';
import { daemonSystems, rankQueries, zoektSystems } from './run.ts';
import { readSource } from './source.ts';

export interface RankingOptions {
  /** Folder of the build to run, default: our own. */
  readonly build?: string | undefined;
  /** Data directory that stays for the next run; default: a temporary one. */
  readonly data?: string | undefined;
  /** Address of Zoekt's webserver. */
  readonly zoekt?: string | undefined;
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

async function ask(
  trees: readonly Tree[],
  queries: readonly RankingQuery[],
  { build, zoekt }: RankingOptions,
  dataDir: string,
): Promise<Pick<RankingReport, 'systems' | 'queries'>> {
  const roots = trees.map(({ root }) => root);
  say('Indexing ...');
  await buildIndex(roots, dataDir, build);
  await findSymbols(roots, dataDir, build);
  const daemon = await startDaemon(roots, dataDir, { build });
  const own = daemonSystems(daemon.url);
  const systems = [...own.systems, ...(zoekt === undefined ? [] : zoektSystems(zoekt))];
  try {
    say(`Asking ${String(queries.length)} queries ...`);
    const ranked = await rankQueries(queries, systems);
    return { systems: systems.map(({ name }) => name), queries: ranked };
  } finally {
    own.close();
    await daemon.stop();
  }
}

/** Errors: rejects if a tree cannot be read or indexed, or a query is refused. */
export async function measureRanking(
  trees: readonly Tree[],
  options: RankingOptions,
): Promise<RankingReport> {
  const startedAt = new Date().toISOString();
  const queries = trees.flatMap((tree) => {
    say(`Drawing queries of ${tree.name} ...`);
    return drawQueries(readSource(tree));
  });
  const folder = options.data ?? mkdtempSync(path.join(tmpdir(), 'trawl-bench-'));
  try {
    const answers = await ask(trees, queries, options, folder);
    return {
      startedAt,
      digest: digestOf(queries),
      trees: trees.map(({ name }) => name),
      figures: figuresOf(answers.queries, answers.systems),
      ...answers,
    };
  } finally {
    if (options.data === undefined) rmSync(folder, { recursive: true, force: true });
  }
}
