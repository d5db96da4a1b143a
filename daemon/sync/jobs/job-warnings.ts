// Warnings of a finished index job for users who may miss files: nothing, or less than half of the files, was indexed;
// names the rule responsible and the remedy.

import { OBJECT_MISSING } from '../../sources/disk/excluded-path.ts';
import { type IgnoredCounts, totalOf } from '../../sources/docs/ignored.ts';
import type { SourceKind } from '../../repos/records.ts';

export interface WarnedSource {
  readonly kind: SourceKind;
  /** A connection lists it: command line flags do not apply. */
  readonly isListed: boolean;
  readonly hasWorkTree: boolean;
}

const REMEDIES: Readonly<Record<SourceKind, string>> = {
  folder: 'include what you need in a .trawlignore file ("!*" includes everything)',
  worktree: 'index what is committed',
  commits: 'change .trawlignore and commit it',
};

const EMPTY: Readonly<Record<SourceKind, string>> = {
  folder: 'the folder has no files',
  worktree: 'the work tree has no files',
  commits: 'no files are committed',
};

export function warningsOf(
  source: WarnedSource,
  job: {
    readonly docCount: number;
    readonly ignored: IgnoredCounts;
    readonly excluded: Readonly<Record<string, number>>;
  },
): string[] {
  const { docCount, ignored, excluded } = job;
  const lost = excluded[OBJECT_MISSING];
  const lostWarnings = lost === undefined ? [] : [`${lost} ${LOST}`];
  return [...lostWarnings, ...ignoredWarnings(source, docCount, ignored, excluded)];
}

/** Reasons where git lists an object but cannot read it. */
const LOST =
  'committed files or folders are not searched: the repository lacks their git objects, as a partial clone does; ' +
  'the log names them';

function ignoredWarnings(
  source: WarnedSource,
  docCount: number,
  ignored: IgnoredCounts,
  excluded: Readonly<Record<string, number>>,
): string[] {
  const count = totalOf(ignored);
  if (docCount === 0 && count === 0) return [`nothing is indexed: ${reasonsOf(source, excluded)}`];
  if (count <= docCount) return [];
  const [rule = '', most = 0] = Object.entries(ignored)[0] ?? [];
  const what =
    docCount === 0
      ? 'nothing is indexed'
      : `only ${docCount === 1 ? '1 file is' : `${docCount} files are`} indexed`;
  const things = count === 1 ? 'file or folder is' : 'files or folders are';
  const where = `${count} ${things} ignored, a folder counted as one, ${most} of them by "${rule}"`;
  return [`${what}: ${where}; ${remedyOf(source)}`];
}

function remedyOf({ kind, isListed }: WarnedSource): string {
  const mode = kind === 'worktree' ? ` with ${modeText('commits', isListed)}` : '';
  const own = kind === 'commits' ? REMEDIES[kind] : `change the rule, or ${REMEDIES[kind]}${mode}`;
  return isListed ? own : `${own}; --no-ignore reads all`;
}

function reasonsOf(source: WarnedSource, excluded: Readonly<Record<string, number>>): string {
  const reasons = Object.entries(excluded).map(([reason, count]) => `${count} ${reason}`);
  if (reasons.length > 0) return `it contains no files: ${reasons.join(', ')}`;
  const { kind, isListed, hasWorkTree } = source;
  if (kind === 'worktree')
    return `${EMPTY[kind]}; to index commits use ${modeText('commits', isListed)}`;
  if (kind === 'folder' || !hasWorkTree) return EMPTY[kind];
  return `${EMPTY[kind]}; to index the files on disk use ${modeText('worktree', isListed)}`;
}

/** In the syntax of a command or of the configuration. */
function modeText(mode: 'commits' | 'worktree', isListed: boolean): string {
  return isListed ? `"mode": "${mode}" in its connection` : `--mode ${mode}`;
}
