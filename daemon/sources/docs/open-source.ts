// Opens the source or the reader that a description asks for.

import { openCommitReader, openCommitSource } from './source-commits.ts';
import { DiskReader } from './disk-reader.ts';
import { openDiskSource } from './source-disk.ts';
import { openRevisionReader, openRevisionSource } from './source-revisions.ts';
import type { IngestSource, SourceReader, SourceSpec } from './source.ts';

/** The source. Touches nothing yet. */
export function openSource(spec: SourceSpec): IngestSource {
  const base = spec.kind === 'commits' ? openCommitSource(spec) : openDiskSource(spec);
  return hasRevisions(spec) ? openRevisionSource(spec, base) : base;
}

/**
 * A reader for the files that the source lists, usable in any thread. The owner must close it.
 *
 * Errors: GitError.
 */
export async function openReader(spec: SourceSpec): Promise<SourceReader> {
  if (spec.kind === 'commits') return openCommitReader(spec);
  return hasRevisions(spec) ? openRevisionReader(spec) : new DiskReader(spec.path);
}

function hasRevisions({ revisions = [] }: SourceSpec): boolean {
  return revisions.length > 0;
}
