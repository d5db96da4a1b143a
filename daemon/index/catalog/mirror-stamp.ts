// The stamp file beside a mirror: the repo that was fetched, and when. So a leftover mirror is never used for another
// repo.

import path from 'node:path';
import { z } from 'zod';
import { readOwn, replaceOwn } from '../../base/own-file.ts';
import type { RepoHost } from '../../store/repos.ts';

const stampSchema = z.object({
  address: z.string(),
  hostId: z.string(),
  /** Milliseconds since the epoch; null: never. */
  fetchedAt: z.number().nullable(),
  /** What `pushMarkOf` returned at the time of the fetch, under the key of existing stamps. */
  warnings: z.string().optional(),
});
export type Stamp = z.infer<typeof stampSchema>;

export function stampPath(mirrorFolder: string, repoId: number): string {
  return path.join(mirrorFolder, `${repoId}.json`);
}

/** Undefined: missing or unreadable. */
export function readStamp(mirrorFolder: string, repoId: number): Stamp | undefined {
  try {
    return stampSchema.parse(JSON.parse(readOwn(stampPath(mirrorFolder, repoId)).toString()));
  } catch {
    return undefined;
  }
}

export function writeStamp(mirrorFolder: string, repoId: number, stamp: Stamp): void {
  replaceOwn(stampPath(mirrorFolder, repoId), `${JSON.stringify(stamp)}\n`);
}

export function isStampOf(
  stamp: Stamp | undefined,
  { address, hostId }: Pick<RepoHost, 'address' | 'hostId'>,
): stamp is Stamp {
  return stamp?.address === address && stamp.hostId === hostId;
}
