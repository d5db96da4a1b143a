// What differs between two commits: reads the list of changed files and the patch that `git diff-tree` writes, one
// after the other. The list says which files there are; the patch has a part for each of them, or two where a file
// became something else (a link, a submodule). Lines of hunks are counted, so that no content can be taken for a
// head line.

import { nextTurn } from '../../base/next-turn.ts';
import type { NamedPath } from '../../base/paths.ts';
import { utf8TextOfLatin1 } from '../../base/utf8-text.ts';
import { type HistoryContext, runHistory } from './process.ts';
import { unquoteName } from './quoted.ts';

export interface LineRange {
  /** 1-based; 0 where `lines` is 0 and nothing is before. */
  readonly start: number;
  readonly lines: number;
}

export interface Hunk {
  readonly oldRange: LineRange;
  readonly newRange: LineRange;
  /** What git shows behind the ranges: the line that begins the function around. */
  readonly heading?: string;
  /** Lines with their markers, joined by line ends. */
  readonly body: string;
}

export interface FileDiff {
  /** Null: added. */
  readonly oldPath: string | null;
  /** Null: deleted. */
  readonly newPath: string | null;
  /** Empty for binary content, and where only name or mode changed. */
  readonly hunks: readonly Hunk[];
}

/** Bytes of a patch; above, the diff fails. */
const PATCH_SIZE_MAX = 32 << 20;

const ARGS = [
  'diff-tree',
  '-r',
  '--raw',
  '--patch',
  '--full-index',
  '--find-renames',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--no-relative',
  '--unified=3',
  '--inter-hunk-context=0',
  '--indent-heuristic',
  '--diff-algorithm=default',
  '--ignore-submodules=none',
  '--submodule=short',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

/** Bytes of JSON made at a time: about 10 ms. */
const TURN_SIZE = 1 << 20;

/**
 * Compares the trees of two commits; JSON of `{ files: FileDiff[] }`. Others get their turn while it is made.
 *
 * @param base, head  full ids
 * @param holder      whom it is for
 * @param path        only this file, or files below it; renames are seen only inside
 *
 * Errors: GitError; the reason of the signal.
 */
export async function readDiff(
  context: HistoryContext,
  base: string,
  head: string,
  path: NamedPath | undefined,
  holder = '',
): Promise<Buffer> {
  const options = { path, outputSizeMax: PATCH_SIZE_MAX };
  const output = await runHistory([...ARGS, base, head], context, options);
  const parts: Buffer[] = [];
  let turnSize = 0;
  for (const file of diffsOf(output.toString('latin1'))) {
    const part = Buffer.from(`${parts.length === 0 ? '' : ','}${JSON.stringify(file)}`);
    parts.push(part);
    turnSize += part.length;
    if (turnSize < TURN_SIZE) continue;
    await nextTurn(holder);
    context.signal.throwIfAborted();
    turnSize = 0;
  }
  return Buffer.concat([Buffer.from('{"files":['), ...parts, Buffer.from(']}')]);
}

/** Position in the output, which the functions below move. */
interface Cursor {
  readonly text: string;
  offset: number;
}

/** Start of the next line, and moves behind it. */
function readLine(cursor: Cursor): string {
  const end = lineEnd(cursor);
  const line = cursor.text.slice(cursor.offset, end);
  cursor.offset = end + 1;
  return line;
}

function lineEnd({ text, offset }: Cursor): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end;
}

/**
 * Parses a raw list, an empty line, and the patch.
 *
 * @param text  bytes as Latin-1, which is quick; what is found is decoded as UTF-8
 *
 * Errors: an Error if list and patch do not fit together.
 */
export function* diffsOf(text: string): Generator<FileDiff> {
  const cursor = { text, offset: 0 };
  const changes: RawChange[] = [];
  while (text.startsWith(':', cursor.offset)) changes.push(parseRaw(readLine(cursor)));
  if (changes.length > 0) readLine(cursor);
  for (const { oldPath, newPath, isRemade } of changes) {
    if (isRemade) yield { oldPath, newPath: null, hunks: readHunks(cursor) };
    yield { oldPath: isRemade ? null : oldPath, newPath, hunks: readHunks(cursor) };
  }
  if (cursor.offset < text.length) throw new Error('the patch has more files than its list');
}

interface RawChange {
  readonly oldPath: string | null;
  readonly newPath: string | null;
  /** The kind of file changed: it is deleted and added again. */
  readonly isRemade: boolean;
}

/** Source: `:<mode> <mode> <id> <id> <status>[<score>]\t<path>[\t<path>]`. */
function parseRaw(line: string): RawChange {
  const [head = '', ...written] = line.split('\t');
  const status = head.split(' ')[4]?.[0];
  const names = written.map(unquoteName);
  const oldPath = names[0] ?? '';
  return {
    oldPath: status === 'A' ? null : oldPath,
    newPath: status === 'D' ? null : (names[1] ?? oldPath),
    isRemade: status === 'T',
  };
}

const HUNK_HEAD = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(?: (.*))?$/s;

/** The hunks of one part of the patch, whose `diff --git` line is next. */
function readHunks(cursor: Cursor): Hunk[] {
  if (!cursor.text.startsWith('diff --git ', cursor.offset))
    throw new Error('the patch has fewer files than its list');
  readLine(cursor);
  const hunks: Hunk[] = [];
  const { text } = cursor;
  while (cursor.offset < text.length && !text.startsWith('diff --git ', cursor.offset)) {
    const head = HUNK_HEAD.exec(readLine(cursor));
    // Other lines say what happened to modes and names, which the list says too.
    if (head !== null) hunks.push(readHunk(head, cursor));
  }
  return hunks;
}

function readHunk(head: RegExpExecArray, cursor: Cursor): Hunk {
  const [, oldStart, oldLines = '1', newStart, newLines = '1', heading = ''] = head;
  const oldRange = { start: Number(oldStart), lines: Number(oldLines) };
  const newRange = { start: Number(newStart), lines: Number(newLines) };
  const body = readBody(cursor, oldRange.lines, newRange.lines);
  const hunk = { oldRange, newRange };
  return heading === '' ? { ...hunk, body } : { ...hunk, heading: utf8TextOfLatin1(heading), body };
}

const [PLUS, MINUS, BACKSLASH] = ['+', '-', '\\'].map((mark) => mark.charCodeAt(0));

/** As many lines as the ranges have, and the notes that a line end is missing. */
function readBody(cursor: Cursor, oldLines: number, newLines: number): string {
  const { text, offset: start } = cursor;
  let [oldLeft, newLeft] = [oldLines, newLines];
  let end = start;
  while (cursor.offset < text.length) {
    const mark = text.charCodeAt(cursor.offset);
    const isOver = oldLeft <= 0 && newLeft <= 0;
    if (isOver && mark !== BACKSLASH) break;
    if (mark !== PLUS && mark !== BACKSLASH) oldLeft--;
    if (mark !== MINUS && mark !== BACKSLASH) newLeft--;
    end = lineEnd(cursor);
    cursor.offset = end + 1;
  }
  return utf8TextOfLatin1(text.slice(start, end));
}
