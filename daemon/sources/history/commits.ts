// Lists commits and their authors. Of commits: their ids, newest first, their total, and the fields of each. For a start given by id, ids and total never
// change; the fields do, as branches and tags move.

import { compareText, type TreePath } from '../../base/paths.ts';
import { isoTimeOf } from '../git/iso-time.ts';
import { type HistoryContext, type ListWindow, runHistory } from './process.ts';

export interface CommitFilter {
  /** POSIX basic regular expressions, ignoring case. */
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

/** Messages of one page, or all authors. */
const FIELDS_SIZE_MAX = 64 << 20;
/** Ids of 4 million commits. */
const WALK_SIZE_MAX = 256 << 20;
/** Cached ids of a walk: those of 100,000 commits, more than people page through. */
const KEPT_SIZE_MAX = 4 << 20;
/** Largest number of commits that git can skip. */
const OFFSET_MAX = 2 ** 31 - 1;

/** A command that prints ids, one a line, newest first. */
function listCommand({ query, author, since, until }: CommitFilter): string[] {
  // Why not always rev-list: it ignores the mailmap of authors.
  const command =
    author === undefined
      ? ['rev-list']
      : ['log', '--format=%H', '--no-decorate', '--use-mailmap', `--author=${author}`];
  return [
    ...command,
    '--basic-regexp',
    '--regexp-ignore-case',
    ...(query === undefined ? [] : [`--grep=${query}`]),
    // Why not --max-age: git reads it as a number of 32 bits.
    ...(since === undefined ? [] : [`--since=@${since} +0000`]),
    ...(until === undefined ? [] : [`--until=@${until} +0000`]),
  ];
}

/**
 * Ids of a page of the commits that lead to `start` and touch the path, one a line, newest first. Errors: GitError; the
 * reason of the signal.
 */
export function listCommits(
  context: HistoryContext,
  start: string,
  filter: CommitFilter,
  path: TreePath | undefined,
  { offset, limit }: ListWindow,
): Promise<Buffer> {
  const skip = `--skip=${Math.min(offset, OFFSET_MAX)}`;
  const args = [...listCommand(filter), `--max-count=${limit}`, skip, start];
  return runHistory(args, context, { path, outputSizeMax: WALK_SIZE_MAX });
}

/** Number of commits that lead to `start`, as decimal text. Errors: as `listCommits`. */
export function countCommits(context: HistoryContext, start: string): Promise<Buffer> {
  return runHistory(['rev-list', '--count', start], context, { outputSizeMax: 100 });
}

/**
 * Walks all commits of `listCommits`: the first line of the result is their total, the first ids follow. Why: counting them
 * finds them. Errors: as `listCommits`.
 */
export async function walkCommits(
  context: HistoryContext,
  start: string,
  filter: CommitFilter,
  path: TreePath | undefined,
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
  /** Undefined: beyond the cached ids. */
  readonly hashes: readonly string[] | undefined;
}

/** A page of `walkCommits`. */
export function partOfWalk(walk: Buffer, { offset, limit }: ListWindow): WalkPart {
  const head = walk.indexOf(LINE_END) + 1;
  const total = Number(walk.toString('latin1', 0, head));
  const lineSize = walk.indexOf(LINE_END, head) + 1 - head;
  const end = Math.min(total, offset + limit);
  if (offset >= end) return { total, hashes: [] };
  if (head + end * lineSize > walk.length) return { total, hashes: undefined };
  const lines = walk.toString('latin1', head + offset * lineSize, head + end * lineSize);
  return { total, hashes: linesOf(lines) };
}

/** Lines without line ends. */
export function linesOf(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

const FIELDS = ['%H', '%ad', '%s', '%D', '%b', '%aN', '%aE', '%P'];

/** As git shows an invalid date. */
const NO_DATE = '1970-01-01T00:00:00+00:00';

/** Refs shown as names of a commit, the same as git's. */
const NAMES = ['HEAD', 'refs/heads/', 'refs/tags/', 'refs/remotes/', 'refs/stash'];

/** The fields of these commits, in order. Errors: GitError, also if one of them is gone; the reason of the signal. */
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
    '--date=raw',
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

/** Shortened as git does. `grafted` without a path is no name: it marks the end of a shallow clone's history. */
function shortNames(decoration: string): string {
  return decoration
    .split(', ')
    .filter((name) => name !== 'grafted')
    .map((name) => name.replace(/(?<=^|: |-> )refs\/(?:heads|tags|remotes)\//, ''))
    .join(', ');
}

const ZONE = /^([+-])([01]\d|2[0-3])([0-5]\d)$/;

/**
 * A date in git's raw form, `<seconds> <zone>`, as ISO 8601; with a zone that no clock has in UTC. Why not `%aI`: git fails
 * if the date is before 1970 in that zone.
 */
function dateOf(raw: string): string {
  const [seconds = '', zone = ''] = raw.split(' ');
  const time = seconds === '' ? undefined : isoTimeOf(Number(seconds));
  if (time === undefined) return NO_DATE;
  const [, sign = '+', hours = '00', minutes = '00'] = ZONE.exec(zone) ?? [];
  const offset = Number(`${sign}${Number(hours) * 60 + Number(minutes)}`) * 60_000;
  const local = new Date(Date.parse(time) + offset).toISOString();
  return local.startsWith('+') ? NO_DATE : `${local.slice(0, 19)}${sign}${hours}:${minutes}`;
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
      date: dateOf(date),
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

export interface Author {
  readonly name: string;
  readonly email: string;
  readonly commitCount: number;
}

/**
 * Authors of the commits that touch the path, most commits first, ties by the bytes of the name, then of the e-mail.
 * Errors: GitError; the reason of the signal.
 */
export async function readAuthors(
  context: HistoryContext,
  start: string,
  path: TreePath | undefined,
): Promise<Author[]> {
  const args = ['shortlog', '--summary', '--email', start];
  const output = await runHistory(args, context, { path, outputSizeMax: FIELDS_SIZE_MAX });
  return parseAuthors(output.toString('utf8'));
}

/** Source: `<count>\t<name> <<e-mail>>`; no name contains `<`. */
const AUTHOR_LINE = /^ *(\d+)\t(.*?) ?<(.*)>$/;

function parseAuthors(text: string): Author[] {
  const authors: Author[] = [];
  for (const line of text.split('\n')) {
    const [, count, name, email] = AUTHOR_LINE.exec(line) ?? [];
    if (name === undefined || email === undefined) continue;
    authors.push({ name, email, commitCount: Number(count) });
  }
  // Why not git's order: it compares whole lines, in which the text after a name counts before a longer name.
  return authors.sort(
    (a, b) =>
      b.commitCount - a.commitCount || compareText(a.name, b.name) || compareText(a.email, b.email),
  );
}
