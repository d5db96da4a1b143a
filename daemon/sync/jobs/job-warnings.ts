// What a finished index job says to somebody who may miss files: that nothing, or less than half of what is there, was
// indexed, which rule did most of it, and the way out.

import { type IgnoredCounts, totalOf } from '../../sources/docs/ignored.ts';
import type { SourceKind } from '../../repos/records.ts';

const WAYS_OUT: Readonly<Record<SourceKind, string>> = {
  folder:
    'change the rule, take back what you need in a .trawlignore file ("!*" takes back all), or read all with --no-ignore',
  worktree:
    'change the rule, index what is committed with --mode commits, or read all with --no-ignore',
  commits: 'change .trawlignore and commit it, or read all with --no-ignore',
};

const EMPTY: Readonly<Record<SourceKind, string>> = {
  folder: 'the folder has no files',
  worktree: 'the work tree has no files; to index what is committed use --mode commits',
  commits: 'no files are committed; those of a work tree are indexed with --mode worktree',
};

/** Sentences, none if nothing is odd. */
export function warningsOf(
  kind: SourceKind,
  job: {
    readonly docCount: number;
    readonly ignored: IgnoredCounts;
    readonly leftOut: Readonly<Record<string, number>>;
  },
): string[] {
  const { docCount, ignored, leftOut } = job;
  const count = totalOf(ignored);
  if (docCount === 0 && count === 0) return [`nothing is indexed: ${reasonsOf(kind, leftOut)}`];
  if (count <= docCount) return [];
  const [rule = '', most = 0] = Object.entries(ignored)[0] ?? [];
  const what = docCount === 0 ? 'nothing is indexed' : `only ${docCount} files are indexed`;
  const where = `${count} files and folders are ignored, ${most} of them by "${rule}"`;
  return [`${what}: ${where}; ${WAYS_OUT[kind]}`];
}

function reasonsOf(kind: SourceKind, leftOut: Readonly<Record<string, number>>): string {
  const reasons = Object.entries(leftOut).map(([reason, count]) => `${count} ${reason}`);
  return reasons.length === 0 ? EMPTY[kind] : `what is there are no files: ${reasons.join(', ')}`;
}
