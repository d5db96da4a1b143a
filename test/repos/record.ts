// A repo for tests that are not about repos.

import type { RepoRecord } from '../../daemon/repos/records.ts';

export function repoRecord(repoId: number, name: string): RepoRecord {
  return {
    repoId,
    name,
    codeHostType: 'genericGitHost',
    isFork: false,
    isArchived: false,
    visibility: 'unknown',
    source: { kind: 'folder', path: '/' },
    defaultRevision: 'HEAD',
    indexedAt: '2026-01-01T00:00:00.000Z',
  };
}
