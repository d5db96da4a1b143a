// A reader of history over repositories made for a test, and its answers as values.

import { after } from 'node:test';
import type { Blame } from '../../daemon/repos/history/blame.ts';
import type { FileDiff } from '../../daemon/repos/history/diff.ts';
import { type CommitsCall, History } from '../../daemon/repos/history/history.ts';
import type { RepoRecord } from '../../daemon/repos/records.ts';
import { temporaryFolder } from '../repos/fixture.ts';

export interface HistoryWorld {
  readonly history: History;
  readonly repo: RepoRecord;
  blame(path: string, ref?: string): Promise<Blame>;
  diff(base: string, head: string, path?: string): Promise<readonly FileDiff[]>;
  commits(call?: Partial<CommitsCall>): ReturnType<History['commits']>;
}

export const NEVER = new AbortController().signal;

let lastId = 0;

/** Reads a repository; graphs are made of the shortest histories too. */
export function historyOf(
  path: string,
  more: Partial<RepoRecord> & { readonly commitCountMin?: number; readonly folder?: string } = {},
): HistoryWorld {
  const { commitCountMin = 1, folder = temporaryFolder(), ...fields } = more;
  const history = new History({
    timeoutMs: 60_000,
    sourceSizeMax: 1 << 20,
    graphs: {
      folder,
      commitCountMin,
      onFailure: (_, error) => {
        throw error;
      },
    },
  });
  after(() => history.close());
  lastId++;
  const repo: RepoRecord = {
    repoId: lastId,
    name: `local/${lastId}`,
    codeHostType: 'genericGitHost',
    isFork: false,
    isArchived: false,
    visibility: 'unknown',
    source: { kind: 'commits', path },
    defaultRevision: 'HEAD',
    ...fields,
  };
  return {
    history,
    repo,
    async blame(file, ref) {
      const json = await history.blame(repo, { ref, path: file }, NEVER);
      return JSON.parse(json.toString()) as Blame;
    },
    async diff(base, head, file) {
      const json = await history.diff(repo, { base, head, path: file }, NEVER);
      return (JSON.parse(json.toString()) as { files: FileDiff[] }).files;
    },
    commits: (call = {}) =>
      history.commits(
        repo,
        { ref: undefined, path: undefined, offset: 0, limit: 100, ...call },
        NEVER,
      ),
  };
}
