// Verifies a mirror that is in doubt: modified packs, missing objects, files that lead elsewhere. Every object is in a pack
// (remote-git.ts), and packs and their indexes end with a hash of their content.

import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { messageOf, systemCodeOf } from '../../base/caught.ts';
import { GitError, runGit } from '../../sources/git/git.ts';
import { checkAllGitPaths, isMisled } from '../../sources/git/git-paths.ts';

export interface SoundnessOptions {
  /** Digits of an id. */
  readonly idLength: number;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/**
 * The fault; undefined: none. Cost: reads all packs; git walks all history, without contents. Errors: GitError of a git that
 * does not finish; the file system's, of existing files; the reason of the signal.
 */
export async function faultOf(
  folder: string,
  options: SoundnessOptions,
): Promise<string | undefined> {
  const { idLength, timeoutMs, signal } = options;
  const packs = path.join(folder, 'objects/pack');
  try {
    await checkAllGitPaths(folder);
    // Without it git takes the folder for the inside of a work tree, and refuses to fetch.
    const config = await readFile(path.join(folder, 'config'), 'latin1');
    if (!/^\s*bare = true$/m.test(config))
      return 'its configuration is not that of a bare repository';
    for (const name of await readdir(packs)) {
      if (!/\.(?:pack|idx)$/.test(name)) continue;
      const isIntact = await endsWithHash(
        path.join(packs, name),
        idLength === 64 ? 'sha256' : 'sha1',
        signal,
      );
      if (!isIntact) return `${name} is damaged`;
    }
    const args = ['fsck', '--connectivity-only', '--no-dangling', '--no-progress'];
    await runGit(args, { repoPath: folder, timeoutMs, signal, isBackground: true });
    return undefined;
  } catch (error) {
    signal.throwIfAborted();
    if (isMisled(error)) return messageOf(error);
    if (error instanceof GitError && error.failure === 'exit') return error.message;
    if (systemCodeOf(error) === 'ENOENT') return 'files are missing';
    throw error;
  }
}

async function endsWithHash(
  file: string,
  algorithm: 'sha1' | 'sha256',
  signal: AbortSignal,
): Promise<boolean> {
  const hash = createHash(algorithm);
  const size = algorithm === 'sha1' ? 20 : 32;
  let end = Buffer.alloc(0);
  const chunks: AsyncIterable<Buffer> = createReadStream(file, { highWaterMark: 1 << 18, signal });
  for await (const chunk of chunks) {
    const bytes = Buffer.concat([end, chunk]);
    hash.update(bytes.subarray(0, Math.max(0, bytes.length - size)));
    end = bytes.subarray(Math.max(0, bytes.length - size));
  }
  return hash.digest().equals(end);
}
