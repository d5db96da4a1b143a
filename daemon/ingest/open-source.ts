// Opens the source or the reader that a description asks for.

import { openCommitReader, openCommitSource } from './source-commits.ts';
import { DiskReader } from './disk-reader.ts';
import { openDiskSource } from './source-disk.ts';
import type { IngestSource, SourceReader, SourceSpec } from './source.ts';

/** The source. Touches nothing yet. */
export function openSource(spec: SourceSpec): IngestSource {
  return spec.kind === 'commits' ? openCommitSource(spec) : openDiskSource(spec);
}

/**
 * A reader for the files that the source lists, usable in any thread. The owner must close it.
 *
 * Errors: GitError.
 */
export async function openReader(spec: SourceSpec): Promise<SourceReader> {
  return spec.kind === 'commits' ? openCommitReader(spec) : new DiskReader(spec.path);
}
