// Unpacks a backup into a folder and verifies all of it against its manifest before any use. All errors name the backup
// file.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, open, readFile } from 'node:fs/promises';
import path from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { extract as makeExtract, type Header } from 'tar-stream';
import { ZodError } from 'zod';
import { messageOf, systemCodeOf } from '../base/caught.ts';
import {
  BackupError,
  type BackupHeader,
  CATALOG_MEMBER,
  BACKUP_FORMAT_VERSION,
  HEADER_MEMBER,
  headerSchema,
  type Manifest,
  MANIFEST_MEMBER,
  manifestSchema,
  MEMBER_NAME,
} from './format.ts';

export interface UnpackedBackup {
  readonly header: BackupHeader;
  /** In the order of the file; without the manifest. */
  readonly names: readonly string[];
}

/**
 * Unpacks `file` into the empty `folder` and syncs it.
 * Errors: BackupError naming the file, which is missing, not a backup, truncated, damaged, or of another version.
 */
export async function unpackBackup(file: string, folder: string): Promise<UnpackedBackup> {
  const found: Manifest['members'] = [];
  try {
    await mkdir(path.join(folder, 'shards'), { mode: 0o700 });
    await mkdir(path.join(folder, 'store'), { mode: 0o700 });
    const extract = makeExtract();
    const reading = pipeline(createReadStream(file), createGunzip(), extract);
    reading.catch(() => {});
    for await (const entry of extract) found.push(await unpackMember(entry, folder, found));
    await reading;
    return await check(folder, found);
  } catch (error) {
    throw describe(error, file, found.length > 0);
  }
}

async function unpackMember(
  entry: AsyncIterable<unknown> & { readonly header: Header },
  folder: string,
  found: Manifest['members'],
): Promise<Manifest['members'][number]> {
  const { name, type } = entry.header;
  const isFirst = found.length === 0;
  if (isFirst !== (name === HEADER_MEMBER)) throw new ForeignError();
  if (type !== 'file' || !MEMBER_NAME.test(name))
    throw new DamageError(`it has an unknown member ${name}`);
  if (found.some((member) => member.name === name || member.name === MANIFEST_MEMBER))
    throw new DamageError(`it has member ${name} twice`);
  const hash = createHash('sha256');
  const handle = await open(path.join(folder, name), 'wx', 0o600);
  let size = 0;
  try {
    for await (const part of entry) {
      if (!(part instanceof Uint8Array)) throw new DamageError(`${name} is empty`);
      hash.update(part);
      size += part.length;
      await handle.writeFile(part);
    }
    await handle.sync();
  } finally {
    await handle.close();
  }
  if (isFirst) await readHeader(folder);
  return { name, size, sha256: hash.digest('hex') };
}

/** Errors: ForeignError; BackupError for another version. */
async function readHeader(folder: string): Promise<BackupHeader> {
  const text = await readFile(path.join(folder, HEADER_MEMBER), 'utf8');
  const { success, data } = headerSchema.safeParse(parseJson(text));
  if (!success) throw new ForeignError();
  if (data.formatVersion === BACKUP_FORMAT_VERSION) return data;
  throw new BackupError(
    `it has format ${data.formatVersion} (written by version ${data.productVersion}), this version reads format ${BACKUP_FORMAT_VERSION}`,
  );
}

async function check(folder: string, found: Manifest['members']): Promise<UnpackedBackup> {
  if (found.length === 0) throw new ForeignError();
  const manifestText = await readFile(path.join(folder, MANIFEST_MEMBER), 'utf8').catch(() => '');
  if (manifestText === '') throw new DamageError('it ends before its manifest');
  const { members } = manifestSchema.parse(parseJson(manifestText));
  const others = found.filter(({ name }) => name !== MANIFEST_MEMBER);
  members.forEach((expected, index) => {
    const { name = expected.name, size, sha256 } = others[index] ?? {};
    if (name !== expected.name || size !== expected.size || sha256 !== expected.sha256)
      throw new DamageError(`${expected.name} does not match the manifest`);
  });
  if (members.length !== others.length)
    throw new DamageError('it has members that the manifest lacks');
  const names = others.map(({ name }) => name);
  if (!names.includes(CATALOG_MEMBER)) throw new DamageError('it has no catalog');
  return { header: await readHeader(folder), names };
}

/** Not a backup of ours. */
class ForeignError extends Error {}

/** A backup of ours that was changed. */
class DamageError extends Error {}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describe(error: unknown, file: string, hasStarted: boolean): Error {
  const code = systemCodeOf(error) ?? '';
  if (error instanceof BackupError) return new BackupError(`${file}: ${error.message}`);
  if (code === 'ENOENT' || code === 'EACCES' || code === 'EISDIR')
    return new BackupError(`cannot read ${file}: ${messageOf(error)}`, { cause: error });
  // A system error of the data directory: disk full, no permission.
  if (/^E[A-Z]+$/.test(code)) return new Error(`cannot unpack ${file}: ${messageOf(error)}`);
  if (!hasStarted) return new BackupError(`${file} is not a backup of Trawl`, { cause: error });
  const reason = error instanceof ZodError ? 'its manifest is invalid' : messageOf(error);
  return new BackupError(`${file} is damaged or truncated: ${reason}`, { cause: error });
}
