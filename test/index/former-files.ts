// The catalog file of earlier versions.

import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { FORMAT_VERSION } from '../../core/shared/format.ts';
import type { CatalogRepo } from '../../daemon/index/catalog/catalog-records.ts';

export function writeFormerCatalog(
  dataDir: string,
  repos: readonly CatalogRepo[],
  formatVersion: number = FORMAT_VERSION,
): void {
  const text = JSON.stringify({ formatVersion, nextRepoId: 1_000, repos }, null, 1);
  writeFileSync(path.join(dataDir, 'catalog.json'), `${text}\n`);
}
