// A history reader over repositories made for a test, and its answers as values.

import assert from 'node:assert/strict';
import { mkdtempSync } from 'node:fs';
import path from 'node:path';
import { after } from 'node:test';
import type { Blame } from '../../../daemon/sources/history/blame.ts';
import type { FileDiff } from '../../../daemon/sources/history/diff.ts';
import {
  type CommitsCall,
  type DiffCall,
  History,
} from '../../../daemon/sources/history/history.ts';
import type { RepoRecord } from '../../../daemon/repos/records.ts';
import { repoRecord } from '../../repos/record.ts';
import { temporaryFolder } from '../git/fixture.ts';

export interface HistoryWorld {
  readonly history: History;
  readonly repo: RepoRecord;
  /** Why graphs could not be written. */
  readonly failures: unknown[];
  blame(path: string, ref?: string): Promise<Blame>;
  diff(
    base: string,
    head: string,
    path?: string,
    more?: Partial<DiffCall>,
  ): Promise<readonly FileDiff[]>;
  commits(call?: Partial<CommitsCall>): ReturnType<History['commits']>;
}

export const NEVER = new AbortController().signal;

const root = temporaryFolder();

export function graphFolder(): string {
  return mkdtempSync(path.join(root, 'graphs-'));
}

let lastId = 0;

/** Reads a repository; graphs are made of the shortest histories too. */
export function historyOf(
  repoPath: string,
  more: Partial<RepoRecord> & { readonly commitCountMin?: number; readonly folder?: string } = {},
): HistoryWorld {
  const { commitCountMin = 1, folder = graphFolder(), ...fields } = more;
  const failures: unknown[] = [];
  const history = new History({
    timeoutMs: 60_000,
    sourceSizeMax: 1 << 20,
    graphs: { folder, commitCountMin, onFailure: (_, error) => failures.push(error) },
  });
  after(() => history.close());
  lastId++;
  const repo: RepoRecord = {
    ...repoRecord(lastId, `local/${lastId}`),
    source: { kind: 'commits', path: repoPath },
    ...fields,
  };
  return {
    history,
    repo,
    failures,
    async blame(file, ref) {
      const json = await history.blame(repo, { ref, path: file }, NEVER);
      return JSON.parse(json.toString()) as Blame;
    },
    async diff(base, head, file, more) {
      const { json, total } = await history.diff(repo, { base, head, path: file, ...more }, NEVER);
      const { files } = JSON.parse(json.toString()) as { files: FileDiff[] };
      assert.ok(more?.window === undefined ? total === files.length : total >= files.length);
      return files;
    },
    commits: (call = {}) =>
      history.commits(
        repo,
        { ref: undefined, path: undefined, offset: 0, limit: 100, ...call },
        NEVER,
      ),
  };
}
