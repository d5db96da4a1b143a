// The product version from package.json, beside build/, and the commit that was built.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { builtFile } from '../program-files.ts';

/** Version of the API that clients know (API.md 2). */
export const API_LABEL = 'v5.1.6';

const packageSchema = z.object({
  name: z.literal('trawl'),
  version: z.string(),
  engines: z.object({ node: z.string().regex(/^>=\d+\.\d+$/) }),
});

/** For example `0.1.0`. Errors: throws if the package file is missing or not ours. */
export function readProductVersion(): string {
  return readPackage().version;
}

/** `20.19`. Errors: as readProductVersion. */
export function readNodeVersionMin(): string {
  return readPackage().engines.node.slice('>='.length);
}

function readPackage(): z.output<typeof packageSchema> {
  return packageSchema.parse(JSON.parse(readFileSync(builtFile('../package.json'), 'utf8')));
}

/** Twelve digits, with `+` if files were changed; empty: not built in a checkout (scripts/versions.mjs). */
export function readCommit(): string {
  try {
    return readFileSync(builtFile('commit.txt'), 'utf8');
  } catch {
    return '';
  }
}
