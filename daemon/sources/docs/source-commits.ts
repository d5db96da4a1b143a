// Docs of one commit, read from git objects. The commit id names them for ever, so it is the
// fingerprint.

import { listTree } from '../git/objects.ts';
import { withoutIgnored } from './committed-rules.ts';
import type { IngestSource, SourceListing, SourceSpec } from './source.ts';

export function openCommitSource(spec: SourceSpec): IngestSource {
  const fingerprint = `commit:${spec.commit ?? 'none'}`;
  return {
    spec,
    fingerprint: () => Promise.resolve(fingerprint),
    list: () => listCommit(spec, fingerprint),
  };
}

async function listCommit(spec: SourceSpec, fingerprint: string): Promise<SourceListing> {
  if (spec.commit === undefined)
    return { files: [], leftOut: [], ignored: () => Promise.resolve({}), fingerprint };
  const { entries, submodulePaths, outerPaths } = await listTree(spec.path, spec.commit);
  const { entries: files, ignored } = await withoutIgnored(spec.path, entries);
  const leftOut = [
    ...submodulePaths.map((path) => ({ path, reason: 'submodule' as const })),
    ...outerPaths.map((path) => ({ path, reason: 'outer_path' as const })),
  ];
  return { files, leftOut, ignored: () => Promise.resolve(ignored), fingerprint };
}
