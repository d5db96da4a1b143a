// The thread that lists files on disk, and reads those that may have changed: what grows with a source does not run on the
// thread that owns the sockets. Several scans take turns. Git is run by the main thread, which checks and ends it.

import { parentPort } from 'node:worker_threads';
import { errorOf } from '../../base/caught.ts';
import { lowerPriority } from '../../base/priority.ts';
import type { EndOrder, LoadedNotice } from '../../base/reusable-thread.ts';
import type { RepoSource } from '../../repos/records.ts';
import { setKnownRepos } from '../disk/known-repos.ts';
import { setOwnFolders } from '../disk/own-folder.ts';
import { type BlobIds, hashFiles } from './disk-reader.ts';
import { FileList, type PackedFiles } from './file-list.ts';
import type { PackedStates } from './file-states.ts';
import { listDisk, type ListedDisk, type ListOptions } from './source-disk.ts';
import { foldersOf } from './source-folders.ts';
import type { SourceSpec } from './source.ts';

export type Scan =
  | { readonly kind: 'list'; readonly spec: SourceSpec; readonly options: ListOptions }
  | {
      readonly kind: 'hash';
      readonly root: string;
      readonly files: PackedFiles;
      /** Of the files to read. */
      readonly indexes: Uint32Array;
    }
  | {
      readonly kind: 'folders';
      readonly source: RepoSource;
      readonly within?: readonly string[] | undefined;
      readonly gitList?: Uint8Array | undefined;
    };

/** What each kind of scan returns. */
export interface ScanResults {
  readonly list: Omit<ListedDisk, 'files' | 'states'> & { readonly states: PackedStates };
  readonly hash: BlobIds;
  readonly folders: readonly string[];
}

export interface ScanOrder {
  readonly kind: 'scan';
  readonly id: number;
  readonly scan: Scan;
  /** The data directories, as the thread may be older than one. */
  readonly ownFolders: readonly string[];
  /** For scans that need them: there may be thousands. */
  readonly knownRepos?: readonly string[];
}

export type FromScanWorker =
  | LoadedNotice
  | { readonly kind: 'done'; readonly id: number; readonly result: ScanResults[keyof ScanResults] }
  | {
      readonly kind: 'failed';
      readonly id: number;
      readonly message: string;
      /** The code among them, which a posted error lacks. */
      readonly properties: object;
    };

const port = parentPort!;

post({ kind: 'loaded' });
lowerPriority('background');
port.on('message', (message: EndOrder | ScanOrder) => {
  if (message.kind === 'end') port.close();
  else void runAndPost(message);
});

async function runAndPost({ id, scan, ownFolders, knownRepos }: ScanOrder): Promise<void> {
  setOwnFolders(ownFolders);
  if (knownRepos !== undefined) setKnownRepos(() => knownRepos);
  try {
    const result = await run(scan);
    post({ kind: 'done', id, result }, buffersIn(result));
  } catch (error) {
    const { message, ...properties } = errorOf(error);
    post({ kind: 'failed', id, message, properties });
  }
}

async function run(scan: Scan): Promise<ScanResults[Scan['kind']]> {
  switch (scan.kind) {
    case 'list': {
      const { files: _, states, ...listed } = await listDisk(scan.spec, scan.options);
      return { ...listed, states: states.packed };
    }
    case 'hash': {
      const files = new FileList(scan.files);
      return hashFiles(
        scan.root,
        Array.from(scan.indexes, (index) => files.at(index)),
      );
    }
    case 'folders':
      return foldersOf(scan.source, scan.within, scan.gitList);
  }
}

/** The memory of columns, which nothing else uses. */
function buffersIn(value: object): ArrayBuffer[] {
  return Object.values(value).flatMap((column: unknown) => {
    if (ArrayBuffer.isView(column))
      return column.buffer instanceof ArrayBuffer ? column.buffer : [];
    return typeof column === 'object' && column !== null ? buffersIn(column) : [];
  });
}

function post(message: FromScanWorker, transferList: readonly ArrayBuffer[] = []): void {
  port.postMessage(message, transferList);
}
