// The catalog as versions before 2026-11-28 kept it: a file, and lines of changes behind it.

import { hash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { FORMAT_VERSION } from '../../core/shared/format.ts';
import type { CatalogChange, CatalogRepo } from '../../daemon/index/catalog/catalog-records.ts';

const sha256 = (text: string): string => hash('sha256', text, 'hex');

export function writeFormerCatalog(
  dataDir: string,
  repos: readonly CatalogRepo[],
  changes: readonly CatalogChange[] = [],
  formatVersion: number = FORMAT_VERSION,
): void {
  const state = { formatVersion, repos };
  let checksum = sha256(JSON.stringify(state));
  const text = JSON.stringify({ checksum, form: 'another', state }, null, 1);
  writeFileSync(path.join(dataDir, 'catalog.json'), `${text}\n`);
  const lines = changes.map((change) => {
    checksum = sha256(`${checksum}\n${JSON.stringify(change)}`);
    return `${JSON.stringify({ checksum, change })}\n`;
  });
  writeFileSync(path.join(dataDir, 'catalog.changes'), lines.join(''));
}
