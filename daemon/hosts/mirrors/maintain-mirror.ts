// Maintenance of a mirror: repacks, as each fetch leaves a pack, and writes a commit graph for fast walks. The files show
// what is necessary; if nothing is, no git is started.

import { readdir, stat } from 'node:fs/promises';
import path from 'node:path';
import { sumOf } from '../../base/lists.ts';
import { gitVersion, runGit } from '../../sources/git/git.ts';
import { type MirrorOptions, withMirror } from './fetch-mirror.ts';
import { checkSpace } from './free-space.ts';
import { readState, tidyInside } from './mirror-folder.ts';
import { markOf } from './orphans.ts';

/** `timeoutMs` is of each step. */
export type MaintainOptions = Pick<MirrorOptions, 'folder' | 'timeoutMs' | 'signal' | 'log'>;

/** Bound: time for finding an object; git searches each pack. */
const PACKS_MAX = 12;
/** How long unreached commits are kept: a search may still show them. */
const UNREACHED_KEPT = '14.days.ago';
/** Of each run; the others follow. Measured: 2026-11-23, see daemon/DECISIONS.md. */
const FILTERS_MAX = 20_000;
/** Bounds on memory. */
const SETTINGS = ['pack.threads=1', 'pack.windowMemory=64m', 'pack.deltaCacheSize=32m'];

type Packing = 'none' | 'small' | 'all';

/**
 * Does what is necessary, and returns whether anything was; a fetch of the mirror waits meanwhile. Errors, which leave
 * the mirror unchanged: GitError; MirrorError if the disk lacks space; the file system's; the reason of the signal.
 */
export function maintainMirror(options: MaintainOptions): Promise<boolean> {
  const { folder, signal, log } = options;
  return withMirror(folder, signal, async () => {
    // An incomplete mirror is left to the next fetch.
    if ((await readState(folder)) === undefined) return false;
    const packs = await packsOf(folder);
    const [packing, isGraphOld] = [packingOf(packs), await isBehind(folder, packs)];
    if (packing === 'none' && !isGraphOld) return false;
    await tidyInside(folder);
    await repack(packing, packs, options);
    await run(graphArguments(packing), options);
    log.debug('a mirror was maintained', { folder, packs: packs.length, packing });
    return true;
  });
}

interface Pack {
  readonly size: number;
  readonly writtenMs: number;
  /** It contains unreached objects. */
  readonly isCruft: boolean;
}

async function packsOf(folder: string): Promise<Pack[]> {
  const location = path.join(folder, 'objects/pack');
  const names = new Set(await readdir(location));
  const found = [...names].filter((name) => name.endsWith('.pack'));
  return Promise.all(
    found.map(async (name) => {
      const { size, mtimeMs } = await stat(path.join(location, name));
      return { size, writtenMs: mtimeMs, isCruft: names.has(name.replace(/\.pack$/, '.mtimes')) };
    }),
  );
}

function sizeOf({ size }: Pack): number {
  return size;
}

/** All are repacked once the others reach half of the largest: at most each time a mirror doubles. */
function packingOf(packs: readonly Pack[]): Packing {
  const counted = packs.filter(({ isCruft }) => !isCruft);
  if (counted.length <= PACKS_MAX) return 'none';
  const largest = Math.max(...counted.map(sizeOf));
  return sumOf(counted, sizeOf) - largest > largest / 2 ? 'all' : 'small';
}

/** Whether packs are newer than the commit graph. */
async function isBehind(folder: string, packs: readonly Pack[]): Promise<boolean> {
  if (packs.length === 0) return false;
  const chain = path.join(folder, 'objects/info/commit-graphs/commit-graph-chain');
  const status = await stat(chain).catch(() => undefined);
  return status === undefined || packs.some(({ writtenMs }) => writtenMs > status.mtimeMs);
}

async function repack(
  packing: Packing,
  packs: readonly Pack[],
  options: MaintainOptions,
): Promise<void> {
  const [major, minor] = await gitVersion();
  const isSince = (required: number): boolean => major > 2 || (major === 2 && minor >= required);
  const common = ['repack', '-d', '-q', '--no-write-bitmap-index'];
  // Source: release notes of git 2.37 and 2.33.
  if (packing === 'all' && isSince(37)) {
    await checkSpace(options.folder, sumOf(packs, sizeOf));
    await run([...common, '-a', '--cruft', `--cruft-expiration=${UNREACHED_KEPT}`], options);
  } else if (packing !== 'none' && isSince(33)) await run([...common, '--geometric=2'], options);
}

/** After a full repack, older graphs may name removed commits. */
function graphArguments(packing: Packing): string[] {
  const split = packing === 'all' ? '--split=replace' : '--split';
  const filters = ['--changed-paths', `--max-new-filters=${FILTERS_MAX}`];
  return ['commit-graph', 'write', '--reachable', split, ...filters, '--no-progress'];
}

async function run(
  args: readonly string[],
  { folder, timeoutMs, signal }: MaintainOptions,
): Promise<void> {
  const settings = [...SETTINGS, markOf(folder)];
  await runGit(args, { repoPath: folder, timeoutMs, signal, settings, isBackground: true });
}
