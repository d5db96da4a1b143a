// The server that is asked: one that runs already, so that two builds can be compared, or one that is started on an index of
// the trees, with their symbols.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildIndex, findSymbols, startDaemon } from '../daemon.ts';

export interface ServerOptions {
  /** Address of a server that runs; default: one is started. */
  readonly url?: string | undefined;
  /** Folder of the build to start, default: our own. */
  readonly build?: string | undefined;
  /** Data directory that stays for the next run; default: a temporary one. */
  readonly data?: string | undefined;
}

async function start<T>(
  roots: readonly string[],
  dataDir: string,
  build: string | undefined,
  use: (url: string) => Promise<T>,
): Promise<T> {
  process.stderr.write('Indexing ...\n');
  await buildIndex(roots, dataDir, build);
  await findSymbols(roots, dataDir, build);
  const daemon = await startDaemon(roots, dataDir, { build });
  try {
    return await use(daemon.url);
  } finally {
    await daemon.stop();
  }
}

/** Runs `use` with the address of the server. Errors: rejects if a tree cannot be indexed, or as `use` does. */
export async function withServer<T>(
  roots: readonly string[],
  { url, build, data }: ServerOptions,
  use: (url: string) => Promise<T>,
): Promise<T> {
  if (url !== undefined) return use(url);
  const dataDir = data ?? mkdtempSync(path.join(tmpdir(), 'trawl-bench-'));
  try {
    return await start(roots, dataDir, build, use);
  } finally {
    if (data === undefined) rmSync(dataDir, { recursive: true, force: true });
  }
}
