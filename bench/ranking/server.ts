// The server to ask: a running one, or one started on an index of the trees, with their symbols.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { buildIndex, findSymbols, startDaemon } from '../daemon.ts';

export interface ServerOptions {
  /** Default: a server is started. */
  readonly url?: string | undefined;
  /** Default: our own. */
  readonly build?: string | undefined;
  /** Kept for the next run; default: a temporary one. */
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

/** Rejects if a tree cannot be indexed, or as `use` does. */
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
