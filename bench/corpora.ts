// The trees to search: `linux` (Debian's linux-source-6.1, fetched without root and cached), or any path.

import { existsSync, mkdirSync, readdirSync, renameSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import spawn from 'nano-spawn';
import { COMMON_CASES, LINUX_CASES } from './cases.ts';
import type { BenchCase } from './cases.ts';

const LINUX_PACKAGE = 'linux-source-6.1';

export interface Corpus {
  readonly name: string;
  /** Expected counts are kept by `name@version`; `unknown` for a path. */
  readonly version: string;
  readonly root: string;
  readonly cases: readonly BenchCase[];
}

/** The folder for downloads and peers' indexes: `given`, or by the XDG convention. */
export function cacheFolder(folder: string | undefined): string {
  const base = process.env['XDG_CACHE_HOME'] || path.join(os.homedir(), '.cache');
  return path.resolve(folder ?? path.join(base, 'trawl-bench'));
}

function say(text: string): void {
  process.stderr.write(`${text}\n`);
}

/** Errors: apt does not know the package. */
async function packageVersion(): Promise<string> {
  const { stdout } = await spawn('apt-cache', ['show', '--no-all-versions', LINUX_PACKAGE]);
  const version = /^Version: (\S+)$/m.exec(stdout)?.[1];
  if (version === undefined) throw new Error(`apt knows no package ${LINUX_PACKAGE}`);
  return version;
}

/** Unpacks into a folder beside `folder`, which is renamed at the end. */
async function unpackLinux(folder: string): Promise<void> {
  const work = `${folder}.partial`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { recursive: true });
  say(`Fetching ${LINUX_PACKAGE} (about 140 MB) ...`);
  await spawn('apt-get', ['download', LINUX_PACKAGE], { cwd: work });
  const deb = readdirSync(work).find((name) => name.endsWith('.deb'));
  if (deb === undefined) throw new Error(`apt-get download left no package in ${work}`);
  say('Unpacking ...');
  await spawn('dpkg-deb', ['-x', deb, 'package'], { cwd: work });
  const sources = path.join(work, 'package', 'usr', 'src');
  const tar = readdirSync(sources).find((name) => name.includes('.tar.'));
  if (tar === undefined) throw new Error(`no tar file in ${sources}`);
  mkdirSync(path.join(work, 'tree'));
  await spawn('tar', ['xf', path.join(sources, tar), '-C', 'tree', '--strip-components=1'], {
    cwd: work,
  });
  // Debian's own ignore file ignores everything.
  rmSync(path.join(work, 'tree', '.gitignore'));
  renameSync(path.join(work, 'tree'), folder);
  rmSync(work, { recursive: true, force: true });
}

/** `given`: an unpacked tree. Rejects without apt, or without network on the first use. */
async function openLinux(cache: string, folder: string | undefined): Promise<Corpus> {
  const version = await packageVersion();
  const root = folder ?? path.join(cache, `${LINUX_PACKAGE}_${version.replaceAll(':', '%3a')}`);
  if (!existsSync(root)) {
    if (folder !== undefined) throw new Error(`no such folder: ${folder}`);
    await unpackLinux(root);
  }
  return { name: 'linux', version, root: path.resolve(root), cases: LINUX_CASES };
}

/** `linux`, or the path of a folder; `treePath`: an unpacked tree. Rejects if there is no folder or no download. */
export async function openCorpus(
  name: string,
  cache: string,
  treePath: string | undefined,
): Promise<Corpus> {
  if (name === 'linux') return openLinux(cache, treePath);
  const root = path.resolve(name);
  if (!existsSync(root))
    throw new Error(`no such corpus: ${name} (linux, or the path of a folder)`);
  return { name: path.basename(root), version: 'unknown', root, cases: COMMON_CASES };
}
