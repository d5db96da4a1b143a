// Where a search finds no index: asks whether to make one, of the repository around the current folder.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { describeResult } from './commands/index-sources.ts';
import { ownDataDir } from './known-sources.ts';
import { createProgress } from './progress.ts';
import { indexSources } from './services.ts';
import type { CommonOptions } from './open-local.ts';
import { escapeControls } from './terminal-text.ts';

/** The new data directory; undefined: nobody was asked, or the answer was no. Errors: as of `trawl index`. */
export async function offerIndex(options: CommonOptions): Promise<string | undefined> {
  const { stdin, stderr } = process;
  const folder = around(process.cwd());
  stderr.write(`There is no index here. Index ${escapeControls(folder)} now? [Y/n] `);
  const answer = await new Promise<string>((resolve) => {
    stdin.once('data', (data) => resolve(String(data)));
    stdin.once('end', () => resolve('n'));
  });
  stdin.pause();
  if (!/^\s*(?:y(?:es)?\s*)?$/i.test(answer)) return undefined;
  const dataDir = ownDataDir(folder);
  const progress = createProgress(stderr, true);
  const made = { ...options, dataDir, logLevel: options.logLevel ?? 'warn', symbols: true };
  try {
    const results = await indexSources([folder], made, progress.update);
    progress.stop();
    for (const result of results) stderr.write(`${describeResult(result)}\n`);
  } finally {
    progress.stop();
  }
  return dataDir;
}

/** The root of the work tree that a folder is in, or the folder itself. */
function around(folder: string): string {
  for (let at = folder; ; at = path.dirname(at)) {
    if (existsSync(path.join(at, '.git'))) return at;
    if (at === path.dirname(at)) return folder;
  }
}
