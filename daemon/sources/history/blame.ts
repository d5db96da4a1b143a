// Blame of a file: reads `git blame --incremental`, which gives the commit of each run of lines without the lines, and
// sorts the runs into file order.

import type { TreePath } from '../../base/paths.ts';
import { type HistoryContext, runHistory } from './process.ts';
import { unquoteName } from './quoted.ts';

export interface BlameRange {
  readonly hash: string;
  /** Path of the file in that commit. */
  readonly path: string;
  /** 1-based. */
  readonly startLine: number;
  readonly lineCount: number;
}

export interface BlameCommit {
  readonly hash: string;
  /** Time of the author, ISO 8601, UTC. */
  readonly date: string;
  /** First line. */
  readonly message: string;
  readonly authorName: string;
  readonly authorEmail: string;
  /** The previous commit with other lines there, and the path in it. */
  readonly previous?: { readonly hash: string; readonly path: string };
}

export interface Blame {
  /** In file order; neighbours differ in commit or path. */
  readonly ranges: readonly BlameRange[];
  readonly commits: Readonly<Record<string, BlameCommit>>;
}

/** About 200 bytes a run of lines: enough for a million runs. */
const OUTPUT_SIZE_MAX = 256 << 20;

/** Ignores the repository's lists of skipped commits, which may name missing files. */
const OPTIONS = ['--no-ignore-revs-file', '--no-textconv', '--encoding=UTF-8'];

/** Blames all lines of a file in a commit. Errors: GitError; the reason of the signal. */
export async function readBlame(
  context: HistoryContext,
  commit: string,
  path: TreePath,
): Promise<Blame> {
  const args = ['blame', '--incremental', ...OPTIONS, commit];
  const output = await runHistory(args, context, { path, outputSizeMax: OUTPUT_SIZE_MAX });
  return parseBlame(output.toString('utf8'));
}

interface Draft {
  authorName: string;
  authorEmail: string;
  authorTime: number;
  message: string;
  previous?: { hash: string; path: string };
}

const RUN = /^([0-9a-f]{40,64}) \d+ (\d+) (\d+)$/;

/** Parses incremental output: a line `<id> <line then> <line now> <count>`, facts, and `filename` as the last. */
export function parseBlame(output: string): Blame {
  const drafts = new Map<string, Draft>();
  const ranges: BlameRange[] = [];
  let hash = '';
  let [startLine, lineCount] = [0, 0];
  for (const line of output.split('\n')) {
    const run = RUN.exec(line);
    if (run !== null) {
      [hash = '', startLine, lineCount] = [run[1], Number(run[2]), Number(run[3])];
      continue;
    }
    const space = line.indexOf(' ');
    const [name, value] = space < 0 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)];
    if (name === 'filename') ranges.push({ hash, path: unquoteName(value), startLine, lineCount });
    else if (name !== '') Object.assign(draftOf(drafts, hash), FACTS[name]?.(value));
  }
  ranges.sort((a, b) => a.startLine - b.startLine);
  return { ranges: joinNeighbours(ranges), commits: commitsOf(ranges, drafts) };
}

function draftOf(drafts: Map<string, Draft>, hash: string): Draft {
  let draft = drafts.get(hash);
  if (draft === undefined) {
    draft = { authorName: '', authorEmail: '', authorTime: 0, message: '' };
    drafts.set(hash, draft);
  }
  return draft;
}

/** The facts that count, by git's name. */
const FACTS: Readonly<Record<string, (value: string) => Partial<Draft>>> = {
  author: (authorName) => ({ authorName }),
  'author-mail': (mail) => ({ authorEmail: mail.replace(/^<(.*)>$/s, '$1') }),
  'author-time': (seconds) => ({ authorTime: Number(seconds) }),
  summary: (message) => ({ message }),
  previous: (value) => {
    const [hash = ''] = value.split(' ', 1);
    return { previous: { hash, path: unquoteName(value.slice(hash.length + 1)) } };
  },
};

function joinNeighbours(sorted: readonly BlameRange[]): BlameRange[] {
  const joined: BlameRange[] = [];
  for (const range of sorted) {
    const last = joined.at(-1);
    const isSame = last?.hash === range.hash && last.path === range.path;
    if (last !== undefined && isSame)
      joined[joined.length - 1] = { ...last, lineCount: last.lineCount + range.lineCount };
    else joined.push(range);
  }
  return joined;
}

/** In the order of their first lines. */
function commitsOf(
  ranges: readonly BlameRange[],
  drafts: ReadonlyMap<string, Draft>,
): Record<string, BlameCommit> {
  const commits: Record<string, BlameCommit> = {};
  for (const { hash } of ranges) {
    const draft = drafts.get(hash);
    if (draft === undefined || hash in commits) continue;
    const { authorTime, message, authorName, authorEmail, previous } = draft;
    const date = clampedTime(authorTime);
    const head = { hash, date, message, authorName, authorEmail };
    commits[hash] = previous === undefined ? head : { ...head, previous };
  }
  return commits;
}

/** Seconds that the calendar of JavaScript knows, to ISO 8601; a commit may claim any time. */
const SECONDS_MAX = 8.64e12;

function clampedTime(seconds: number): string {
  const clamped = Math.min(Math.max(seconds, -SECONDS_MAX), SECONDS_MAX);
  return new Date(clamped * 1000).toISOString();
}
