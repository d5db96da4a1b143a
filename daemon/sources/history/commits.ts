// Lists of commits: which ones, newest first, how many there are in all, and what is said of each. Which ones and
// how many never change for a start that is named by its id; what is said of them does, as branches and tags move.

import type { NamedPath } from '../../base/paths.ts';
import { type HistoryContext, runHistory } from './process.ts';

export interface CommitFilter {
  /** POSIX basic regular expressions, without regard to case. */
  readonly query?: string | undefined;
  readonly author?: string | undefined;
  /** Seconds since 1970, inclusive, of the committer. */
  readonly since?: number | undefined;
  readonly until?: number | undefined;
}

export interface CommitFields {
  /** Full id. */
  readonly hash: string;
  /** Of the author, ISO 8601 with the author's offset. */
  readonly date: string;
  /** Subject line. */
  readonly message: string;
  /** Names that point at it, comma-separated. */
  readonly refs: string;
  /** Rest of the message. */
  readonly body: string;
  readonly authorName: string;
  readonly authorEmail: string;
  readonly parents: readonly string[];
}

export interface CommitWindow {
  readonly offset: number;
  readonly limit: number;
}

/** Messages of one page. */
const FIELDS_SIZE_MAX = 64 << 20;
/** Ids of 4 million commits. */
const WALK_SIZE_MAX = 256 << 20;
/** Ids kept of a walk: those of 100,000 commits, more than people page through. */
const KEPT_SIZE_MAX = 4 << 20;
/** Largest number of commits that git can be told to skip. */
const OFFSET_MAX = 2 ** 31 - 1;

/** A command that writes ids, one a line, newest first. */
function listCommand({ query, author, since, until }: CommitFilter): string[] {
  // Why not always rev-list: it knows authors only as they wrote themselves.
  const command =
    author === undefined
      ? ['rev-list']
      : ['log', '--format=%H', '--no-decorate', '--use-mailmap', `--author=${author}`];
  return [
    ...command,
    '--basic-regexp',
    '--regexp-ignore-case',
    ...(query === undefined ? [] : [`--grep=${query}`]),
    ...(since === undefined ? [] : [`--max-age=${since}`]),
    ...(until === undefined ? [] : [`--min-age=${until}`]),
  ];
}

/**
 * Ids of some of the commits that lead to `start`, one a line, newest first.
 *
 * @param path  only those that touched it
 *
 * Errors: GitError; the reason of the signal.
 */
export function listCommits(
  context: HistoryContext,
  start: string,
  filter: CommitFilter,
  path: NamedPath | undefined,
  { offset, limit }: CommitWindow,
): Promise<Buffer> {
  const skip = `--skip=${Math.min(offset, OFFSET_MAX)}`;
  const args = [...listCommand(filter), `--max-count=${limit}`, skip, start];
  return runHistory(args, context, { path, outputSizeMax: WALK_SIZE_MAX });
}

/** How many commits lead to `start`, as decimal text. Errors: as `listCommits`. */
export function countCommits(context: HistoryContext, start: string): Promise<Buffer> {
  return runHistory(['rev-list', '--count', start], context, { outputSizeMax: 100 });
}

/**
 * Goes through all commits that `listCommits` could give: the first line of the result says how many they are, those
 * behind it are the first ids. Why: to count them is to find them.
 *
 * Errors: as `listCommits`.
 */
export async function walkCommits(
  context: HistoryContext,
  start: string,
  filter: CommitFilter,
  path: NamedPath | undefined,
): Promise<Buffer> {
  const options = { path, outputSizeMax: WALK_SIZE_MAX };
  const ids = await runHistory([...listCommand(filter), start], context, options);
  const lineSize = ids.indexOf(LINE_END) + 1;
  if (lineSize === 0) return Buffer.from('0\n');
  const keptSize = Math.floor(KEPT_SIZE_MAX / lineSize) * lineSize;
  return Buffer.concat([Buffer.from(`${ids.length / lineSize}\n`), ids.subarray(0, keptSize)]);
}

const LINE_END = 0x0a;

export interface WalkPart {
  /** Of all commits. */
  readonly total: number;
  /** Undefined: not among those that are kept. */
  readonly hashes: readonly string[] | undefined;
}

/** A part of what `walkCommits` gave. */
export function partOfWalk(walk: Buffer, { offset, limit }: CommitWindow): WalkPart {
  const head = walk.indexOf(LINE_END) + 1;
  const total = Number(walk.toString('latin1', 0, head));
  const lineSize = walk.indexOf(LINE_END, head) + 1 - head;
  const end = Math.min(total, offset + limit);
  if (offset >= end) return { total, hashes: [] };
  if (head + end * lineSize > walk.length) return { total, hashes: undefined };
  const lines = walk.toString('latin1', head + offset * lineSize, head + end * lineSize);
  return { total, hashes: linesOf(lines) };
}

/** Lines without their ends. */
export function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

const FIELDS = ['%H', '%aI', '%s', '%D', '%b', '%aN', '%aE', '%P'];

/** What git shows of a date that it cannot read; in this form it repeats `%aI`, or gives years of seven digits. */
const NO_DATE = '1970-01-01T00:00:00+00:00';

/** Which refs count as names of a commit: those that git itself shows. */
const NAMES = ['HEAD', 'refs/heads/', 'refs/tags/', 'refs/remotes/', 'refs/stash'];

/**
 * What is said of these commits, in their order.
 *
 * Errors: GitError, also if one of them is gone; the reason of the signal.
 */
export async function readCommits(
  context: HistoryContext,
  hashes: readonly string[],
): Promise<CommitFields[]> {
  if (hashes.length === 0) return [];
  const args = [
    'log',
    '--no-walk=unsorted',
    '--stdin',
    '-z',
    `--format=tformat:${FIELDS.join('%x00')}`,
    '--decorate=full',
    ...NAMES.map((name) => `--decorate-refs=${name}`),
    '--encoding=UTF-8',
    '--no-show-signature',
    '--use-mailmap',
  ];
  const input = `${hashes.join('\n')}\n`;
  const output = await runHistory(args, context, { input, outputSizeMax: FIELDS_SIZE_MAX });
  return parseCommits(output.toString('utf8'));
}

/** As git shortens them. `grafted` without a path is no name: there the history of a shallow clone ends. */
function shortNames(decoration: string): string {
  return decoration
    .split(', ')
    .filter((name) => name !== 'grafted')
    .map((name) => name.replace(/(?<=^|: |-> )refs\/(?:heads|tags|remotes)\//, ''))
    .join(', ');
}

function parseCommits(text: string): CommitFields[] {
  const values = text.split('\0');
  const commits: CommitFields[] = [];
  for (let i = 0; i + FIELDS.length <= values.length; i += FIELDS.length) {
    const [hash = '', date = '', message = '', refs = '', body = '', ...rest] = values.slice(
      i,
      i + FIELDS.length,
    );
    const [authorName = '', authorEmail = '', parents = ''] = rest;
    commits.push({
      hash,
      date: /^\d{4}-/.test(date) ? date : NO_DATE,
      message,
      refs: shortNames(refs),
      body,
      authorName,
      authorEmail,
      parents: parents === '' ? [] : parents.split(' '),
    });
  }
  return commits;
}
