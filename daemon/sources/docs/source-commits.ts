// Docs of one commit, read from git objects. The commit id never changes its content, so it is the fingerprint.

import { isGitExit } from '../git/git.ts';
import { listTree } from '../git/objects.ts';
import { RULES_PATH, withoutIgnored } from './committed-rules.ts';
import { RULES_SIZE_MAX, RULES_TOO_LARGE } from '../disk/ignore-rules.ts';
import type { ExcludedPath } from '../disk/excluded-path.ts';
import { FileList } from './file-list.ts';
import { listRevisions } from './source-revisions.ts';
import type { IngestSource, SourceListing, SourceSpec } from './source.ts';

export function openCommitSource(spec: SourceSpec): IngestSource {
  const fingerprint = `commit:${spec.commit ?? 'none'}`;
  const source: IngestSource = {
    spec,
    fingerprint: () => Promise.resolve(fingerprint),
    list: () => listCommit(spec, fingerprint).catch(listWithoutLost),
  };
  return source;

  /** Git lists nothing of a commit if a folder, or in a partial clone a file, is missing. */
  async function listWithoutLost(error: unknown): Promise<SourceListing> {
    if (!isGitExit(error)) throw error;
    const { revisions: _, ...listing } = await listRevisions(spec, source, '');
    return listing;
  }
}

async function listCommit(spec: SourceSpec, fingerprint: string): Promise<SourceListing> {
  const listed = new FileList();
  if (spec.commit === undefined)
    return { files: listed, excluded: [], ignored: () => Promise.resolve({}), fingerprint };
  let rulesId: string | undefined;
  const unread: ExcludedPath[] = [];
  const { submodulePaths, outerPaths } = await listTree(spec.path, spec.commit, {}, (entry) => {
    if (entry.path === RULES_PATH && !entry.isSymlink && spec.noIgnore !== true) {
      if (entry.size > RULES_SIZE_MAX) unread.push({ path: RULES_PATH, reason: RULES_TOO_LARGE });
      rulesId = entry.oid;
    }
    listed.add(entry);
  });
  const { files, ignored } =
    rulesId === undefined
      ? { files: listed, ignored: {} }
      : await withoutIgnored(spec.path, listed, rulesId);
  const excluded = [
    ...unread,
    ...submodulePaths.map((path) => ({ path, reason: 'submodule' as const })),
    ...outerPaths.map((path) => ({ path, reason: 'outer_path' as const })),
  ];
  return { files, excluded, ignored: () => Promise.resolve(ignored), fingerprint };
}
