// Writes a backup to a temporary file beside its own, synced, then renamed. A failure leaves an old file unchanged. Files of
// the data directory, folders and devices are never replaced.

import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { open, realpath, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { syncPath } from '../base/synced.ts';
import { isDiskFull, messageOf } from '../base/caught.ts';
import { UsageError } from './errors.ts';

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Errors: UsageError if the file cannot be written, or must not be; the errors of `parts`. */
export async function writeBackupFile(
  name: string,
  dataDir: string,
  parts: AsyncIterable<Uint8Array>,
): Promise<{ readonly size: number }> {
  const file = await targetOf(name, dataDir);
  const partial = `${file}.${randomBytes(4).toString('hex')}.partial`;
  const refused = (error: unknown): never => {
    // Why another remedy: the full disk is not that of the data directory.
    const why = isDiskFull(error)
      ? 'its disk is full; free space there, or name a file on another disk'
      : messageOf(error);
    throw new UsageError(`cannot write ${file}: ${why}`, { cause: error });
  };
  const handle = await open(partial, 'wx', 0o600).catch(refused);
  const isInterrupted = (signal: NodeJS.Signals): void => {
    rmSync(partial, { force: true });
    process.off(signal, isInterrupted);
    process.kill(process.pid, signal);
  };
  for (const signal of SIGNALS) process.on(signal, isInterrupted);
  let size = 0;
  try {
    for await (const part of parts) {
      size += part.length;
      await handle.writeFile(part).catch(refused);
    }
    await handle.sync().catch(refused);
    await handle.close();
    await rename(partial, file);
  } catch (error) {
    await handle.close().catch(() => {});
    await rm(partial, { force: true });
    throw error;
  } finally {
    for (const signal of SIGNALS) process.off(signal, isInterrupted);
  }
  await syncPath(path.dirname(file));
  return { size };
}

/** Names of what a process has open: its standard output may be a file, which would lose what others write to it. */
const OPENED = /^\/dev\/(?:stdin|stdout|stderr|fd\/.*)$|^\/proc\//;

/** The file itself, where `name` is a link. */
async function targetOf(name: string, dataDir: string): Promise<string> {
  if (OPENED.test(path.resolve(name)))
    throw new UsageError(`${name} is a file that is open already; name the file itself`);
  const found = await stat(name).catch(() => undefined);
  if (found?.isDirectory() === true)
    throw new UsageError(
      `${name} is a folder; name a file, such as ${path.join(name, 'trawl.backup')}`,
    );
  if (found?.isFile() === false)
    throw new UsageError(`${name} is not a regular file, so no backup can replace it`);
  const folder = path.dirname(path.resolve(name));
  const real = await realpath(found === undefined ? folder : name).catch(() => folder);
  const own = path.relative(await realpath(dataDir), real);
  const isOutside = own.split(path.sep, 1)[0] === '..' || path.isAbsolute(own);
  if (!isOutside)
    throw new UsageError(`${name} is in the data directory ${dataDir}; name a file outside of it`);
  return found === undefined ? path.resolve(name) : real;
}
