// The product version from package.json, which is some folders above the running file (sources and build output have
// different depths).

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';

/** Version of the API that clients know (API.md 2). */
export const API_LABEL = 'v5.1.6';

const packageSchema = z.object({ name: z.literal('trawl'), version: z.string() });

/** For example `0.1.0`. Errors: throws if the package file is missing or not ours. */
export function readProductVersion(): string {
  let folder = path.dirname(fileURLToPath(import.meta.url));
  while (!existsSync(path.join(folder, 'package.json'))) {
    const parent = path.dirname(folder);
    if (parent === folder) throw new Error('package.json not found above the running file');
    folder = parent;
  }
  const text = readFileSync(path.join(folder, 'package.json'), 'utf8');
  return packageSchema.parse(JSON.parse(text)).version;
}
