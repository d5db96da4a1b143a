// Has files on disk listed and read by another thread (scan-worker.ts), one for the process.

import { Worker } from 'node:worker_threads';
import { threadFile } from '../../base/program-files.ts';
import { ReusableThread } from '../../base/reusable-thread.ts';
import { unlessAborted } from '../../base/shared-work.ts';
import { type RepoSource, rulesOf } from '../../repos/records.ts';
import { knownRepos } from '../disk/known-repos.ts';
import { ownFolders } from '../disk/own-folder.ts';
import { readIgnoredList, readWorktreeList } from '../git/objects.ts';
import type { BlobIds } from './disk-reader.ts';
import { FileList } from './file-list.ts';
import { FileStates } from './file-states.ts';
import type { FromScanWorker, Scan, ScanOrder, ScanResults } from './scan-worker.ts';
import { checkRoot, countAllIgnored } from './source-disk.ts';
import type { DiskListing, SourceSpec } from './source.ts';

/** It calls no foreign function. Measured: after a list of 78,635 files an idle thread keeps 100 MB. */
const REST_MS = 10_000;

export class ScanThread {
  readonly #thread: ReusableThread<FromScanWorker>;
  #startedCount = 0;
  #runningCount = 0;

  /** @param file  script of the thread */
  constructor(file = threadFile('scan-worker')) {
    // Why: each running scan listens.
    this.#thread = new ReusableThread(() => new Worker(file).setMaxListeners(0), REST_MS);
  }

  /** Errors: those of the scan, without their class; if the thread fails; the reason of the signal, at once. */
  async run<Kind extends Scan['kind']>(
    scan: Scan & { readonly kind: Kind },
    signal?: AbortSignal,
  ): Promise<ScanResults[Kind]> {
    signal?.throwIfAborted();
    const worker = this.#thread.take();
    const id = this.#startedCount++;
    this.#runningCount++;
    try {
      const known = isOfReposApart(scan) ? { knownRepos: knownRepos() } : {};
      const order: ScanOrder = { kind: 'scan', id, scan, ownFolders: ownFolders(), ...known };
      worker.postMessage(order);
      const outcome = this.#outcomeOf<Kind>(worker, id);
      // Why not awaited: a file system that does not answer must not keep the process.
      return await (signal === undefined ? outcome : unlessAborted(outcome, signal));
    } finally {
      this.#runningCount--;
      if (this.#runningCount === 0) this.#thread.rest();
    }
  }

  #outcomeOf<Kind extends Scan['kind']>(worker: Worker, id: number): Promise<ScanResults[Kind]> {
    return this.#thread.outcomeOf<ScanResults[Kind]>(
      worker,
      'the thread that reads files ended early',
      (answer, { resolve, reject }) => {
        if (answer.kind === 'loaded' || answer.id !== id) return;
        // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- Safety: the answer to this scan.
        if (answer.kind === 'done') resolve(answer.result as ScanResults[Kind]);
        else reject(Object.assign(new Error(answer.message), answer.properties));
      },
    );
  }
}

function isOfReposApart(scan: Scan): boolean {
  if (scan.kind === 'hash') return false;
  return (scan.kind === 'list' ? scan.spec : scan.source).reposApart === true;
}

const thread = new ScanThread();

/**
 * As `listDisk`, with the list of git. `within`: only these paths in UTF-8, and everything below them. Errors: also GitError;
 * the reason of the signal.
 */
export async function scanDisk(
  spec: SourceSpec,
  within?: readonly string[],
  signal?: AbortSignal,
): Promise<DiskListing> {
  const startMs = Date.now();
  const gitList = await gitListOf(spec, within, signal);
  const scan = { kind: 'list' as const, spec, options: { within, gitList, startMs } };
  const { states, ignored, ...listing } = await thread.run(scan, signal);
  return {
    ...listing,
    files: new FileList(states.files),
    states: new FileStates(states),
    ignored: () => countAllIgnored(spec, ignored),
  };
}

async function gitListOf(
  spec: SourceSpec,
  within: readonly string[] | undefined,
  signal: AbortSignal | undefined,
): Promise<Uint8Array | undefined> {
  if (spec.kind !== 'worktree') return undefined;
  // Why here too: git's own words would say less.
  checkRoot(spec.path);
  return readWorktreeList(spec.path, { ...rulesOf(spec), within, signal });
}

/** As `hashFiles`, of these files of a list. Errors: also the reason of the signal. */
export function hashOnDisk(
  root: string,
  files: FileList,
  indexes: readonly number[],
  signal?: AbortSignal,
): Promise<BlobIds> {
  const packed = files.packed();
  return thread.run(
    { kind: 'hash', root, files: packed, indexes: Uint32Array.from(indexes) },
    signal,
  );
}

/** As `foldersOf`, with the list of git. Errors: also GitError; the reason of the signal. */
export async function scanFolders(
  source: RepoSource,
  within?: readonly string[],
  signal?: AbortSignal,
): Promise<readonly string[]> {
  const { kind, path, noIgnore } = source;
  const some = within?.filter((one) => one !== '') ?? [];
  const gitList =
    kind === 'folder' || noIgnore === true ? undefined : await readIgnoredList(path, some, signal);
  return thread.run({ kind: 'folders', source, within, gitList }, signal);
}
