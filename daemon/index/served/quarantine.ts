// Which shards are out of service and why, as it is kept with the catalog: after a restart they stay so until their repos
// are built again.

import { z } from 'zod';
import type { Catalog } from '../catalog/catalog.ts';

const reasonsSchema = z.record(z.string(), z.string());

/** Reasons by shardId. */
export function quarantineIn(catalog: Catalog): Map<string, string> {
  try {
    const text = catalog.states.get('quarantine') ?? '{}';
    return new Map(Object.entries(reasonsSchema.parse(JSON.parse(text))));
  } catch {
    // Damage is found again when it is read.
    return new Map();
  }
}

export function quarantineText(reasons: Iterable<readonly [string, string]>): string {
  return JSON.stringify(Object.fromEntries(reasons));
}
