// Writes the certificates trusted for the host's API (base/config/dispatcher.ts) as the one file that git accepts, beside the
// mirrors.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { trustedCertificates } from '../../base/config/dispatcher.ts';
import { passedVariables } from '../../sources/git/git.ts';
import type { Protocol } from '../remote-address.ts';

/**
 * The file in the folder of the mirrors, written if missing; undefined: git's own certificates suffice. Errors:
 * ConfigError; the file system's.
 */
export async function certificateFile(
  folder: string,
  protocol: Protocol,
  caFile: string | undefined,
): Promise<string | undefined> {
  if (protocol !== 'https') return undefined;
  const env = passedVariables();
  const isUsual = ['SSL_CERT_FILE', 'NODE_EXTRA_CA_CERTS'].every(
    (name) => (env[name] ?? '') === '',
  );
  if (caFile === undefined && isUsual) return undefined;
  const text = [...new Set(trustedCertificates({ caFile, env }))].join('\n');
  const name = `certificates-${createHash('sha256').update(text).digest('hex').slice(0, 16)}.pem`;
  const file = path.join(folder, name);
  if (existsSync(file)) return file;
  const fresh = `${file}.${process.pid}`;
  await writeFile(fresh, text);
  await rename(fresh, file);
  return file;
}
