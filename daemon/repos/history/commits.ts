// Lists of commits: which ones, newest first, how many there are in all, and what is said of each. Which ones and
// how many never change for a start that is named by its id; what is said of them does, as branches and tags move.

import type { NamedPath } from '../paths.ts';
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

const LIST_SIZE_MAX = 1 << 20;
/** Two bytes a commit. */
const COUNT_SIZE_MAX = 256 << 20;
/** Messages of one page. */
const FIELDS_SIZE_MAX = 64 << 20;
/** Largest number of commits that git can be told to skip. */
const OFFSET_MAX = 2 ** 31 - 1;

function filterArguments({ query, author, since, until }: CommitFilter): string[] {
  return [
    '--basic-regexp',
    '--regexp-ignore-case',
    ...(query === undefined ? [] : [`--grep=${query}`]),
    ...(author === undefined ? [] : [`--author=${author}`]),
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
  const args = [
    'log',
    '--format=%H',
    '--no-decorate',
    '--use-mailmap',
    `--max-count=${limit}`,
    `--skip=${Math.min(offset, OFFSET_MAX)}`,
    ...filterArguments(filter),
    start,
  ];
  return runHistory(args, context, { path, outputSizeMax: LIST_SIZE_MAX });
}

/** How many commits `listCommits` could give, as decimal text. Errors: as there. */
export async function countCommits(
  context: HistoryContext,
  start: string,
  filter: CommitFilter,
  path: NamedPath | undefined,
): Promise<Buffer> {
  const options = { path, outputSizeMax: COUNT_SIZE_MAX };
  const filters = filterArguments(filter);
  if (filter.author === undefined)
    return runHistory(['rev-list', '--count', ...filters, start], context, options);
  // Why not rev-list: it knows authors only as they wrote themselves.
  const args = ['log', '--format=tformat:x', '--no-decorate', '--use-mailmap', ...filters, start];
  const output = await runHistory(args, context, options);
  return Buffer.from(String(output.length / 2));
}

const FIELDS = ['%H', '%aI', '%s', '%D', '%b', '%aN', '%aE', '%P'];

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
    ...NAMES.map((name) => `--decorate-refs=${name}`),
    '--encoding=UTF-8',
    '--no-show-signature',
    '--use-mailmap',
  ];
  const input = `${hashes.join('\n')}\n`;
  const output = await runHistory(args, context, { input, outputSizeMax: FIELDS_SIZE_MAX });
  return parseCommits(output.toString('utf8'));
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
      date,
      message,
      refs,
      body,
      authorName,
      authorEmail,
      parents: parents === '' ? [] : parents.split(' '),
    });
  }
  return commits;
}
