// Opens the source of a description.

import { openCommitSource } from './source-commits.ts';
import { openDiskSource } from './source-disk.ts';
import { openRevisionSource } from './source-revisions.ts';
import type { IngestSource, SourceSpec } from './source.ts';

/** The source. Reads nothing yet. */
export function openSource(spec: SourceSpec): IngestSource {
  const base = spec.kind === 'commits' ? openCommitSource(spec) : openDiskSource(spec);
  return (spec.revisions ?? []).length > 0 ? openRevisionSource(spec, base) : base;
}
