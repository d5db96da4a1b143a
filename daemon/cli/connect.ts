// Binds the services of the command line to the engine, the build and the server. The heavy parts are
// to be loaded inside each service, on first use, so that `--help` and `version` stay quick.

import { readFileSync } from 'node:fs';
import { UsageError } from './errors.ts';
import type { CliServices } from './services.ts';

const API_LABEL = 'v5.1.6';
const SHARD_FORMAT_VERSION = 1;

/** The product version, from package.json beside build/. */
function productVersion(): string {
  const file = new URL('../../../package.json', import.meta.url);
  const manifest: unknown = JSON.parse(readFileSync(file, 'utf8'));
  const hasVersion = typeof manifest === 'object' && manifest !== null && 'version' in manifest;
  return hasVersion ? String(manifest.version) : 'unknown';
}

function notConnected(): Promise<never> {
  return Promise.reject(new UsageError('this build has no engine'));
}

/** The services of this installation. */
export function connectServices(): CliServices {
  return {
    openLocalSearch: notConnected,
    serve: notConnected,
    indexSources: notConnected,
    inspectShard: notConnected,
    verifyShards: notConnected,
    versions: () => ({
      product: productVersion(),
      shardFormat: SHARD_FORMAT_VERSION,
      api: API_LABEL,
    }),
  };
}
