// Differences between two commits: parses the raw list of changed files and then the patch of `git diff-tree`. The patch
// has a part for each file of the list, or two if its kind changed (a link, a submodule). Lines of hunks are counted, so
// that no content can be taken for a header. For a page of the files, the whole list is read, but only their patch.

import { nextTimeSlice } from '../../base/next-time-slice.ts';
import { type TreePath, REPLACEMENT } from '../../base/paths.ts';
import { utf8TextOfLatin1 } from '../../base/utf8-text.ts';
import { detectLanguage } from '../languages/languages.ts';
import { type HistoryContext, type ListWindow, runHistory } from './process.ts';
import { unquoteName } from './quoted.ts';

export interface LineRange {
  /** 1-based; 0 if `lines` is 0 and nothing precedes. */
  readonly start: number;
  readonly lines: number;
}

export interface Hunk {
  readonly oldRange: LineRange;
  readonly newRange: LineRange;
  /** git's text after the ranges: the first line of the enclosing function. */
  readonly heading?: string;
  /** Lines with their markers, joined by line ends. */
  readonly body: string;
}

/** A file that differs. */
interface ChangedFile {
  /** Null: added. */
  readonly oldPath: string | null;
  /** Null: deleted. */
  readonly newPath: string | null;
  readonly status: 'added' | 'deleted' | 'modified' | 'renamed';
}

export interface FileDiff extends ChangedFile {
  /** Lines. */
  readonly additions: number;
  readonly deletions: number;
  /** Git shows no lines of it. */
  readonly isBinary: boolean;
  /** Empty for binary content, and if only name or mode changed. */
  readonly hunks: readonly Hunk[];
}

const NO_CONTENT = new Uint8Array();

/** Bytes of a patch; a larger one fails. */
const PATCH_SIZE_MAX = 32 << 20;

const LIST_ARGS = [
  'diff-tree',
  '-r',
  '--raw',
  '--full-index',
  '--find-renames',
  '--no-color',
  '--no-ext-diff',
  '--no-textconv',
  '--no-relative',
  '--ignore-submodules=none',
  '--diff-algorithm=default',
];
const PATCH_ARGS = [
  ...LIST_ARGS,
  '--patch',
  '--unified=3',
  '--inter-hunk-context=0',
  '--indent-heuristic',
  '--submodule=short',
  '--src-prefix=a/',
  '--dst-prefix=b/',
];

/** Bytes of JSON per time slice: about 10 ms. */
const BYTES_PER_TIME_SLICE = 1 << 20;

/** The trees to compare, and the selection. */
export interface DiffQuestion {
  /** Full ids of commits, or of the empty tree. */
  readonly base: string;
  readonly head: string;
  /** Only this file, or files below it; renames are detected only inside. */
  readonly path: TreePath | undefined;
  /** Undefined: all files. */
  readonly window: ListWindow | undefined;
  readonly ignoresWhitespace: boolean;
  /** Whom it is for. */
  readonly clientKey?: string | undefined;
}

/**
 * Compares two trees: a line with the number of files that differ, and JSON of `{ files: FileDiff[] }`, each with its
 * `language`. Yields to other work. Errors: GitError; the reason of the signal.
 */
export async function readDiff(context: HistoryContext, question: DiffQuestion): Promise<Buffer> {
  const { window, clientKey = '' } = question;
  const { total, files } =
    window === undefined
      ? { total: undefined, files: await readPatch(context, question) }
      : await readPart(context, question, window);
  const parts: Buffer[] = [];
  let timeSliceSize = 0;
  for (const file of files) {
    // By name only.
    const language = detectLanguage(file.newPath ?? file.oldPath ?? '', NO_CONTENT);
    const separator = parts.length === 0 ? '' : ',';
    const part = Buffer.from(`${separator}${JSON.stringify({ ...file, language })}`);
    parts.push(part);
    timeSliceSize += part.length;
    if (timeSliceSize < BYTES_PER_TIME_SLICE) continue;
    await nextTimeSlice(clientKey);
    context.signal.throwIfAborted();
    timeSliceSize = 0;
  }
  const head = Buffer.from(`${total ?? parts.length}\n{"files":[`);
  return Buffer.concat([head, ...parts, Buffer.from(']}')]);
}

/** @param paths  only these files; undefined: those of the request */
async function readPatch(
  context: HistoryContext,
  { base, head, path, ignoresWhitespace }: DiffQuestion,
  paths?: readonly string[],
): Promise<Iterable<FileDiff>> {
  const args = ignoresWhitespace ? [...PATCH_ARGS, '--ignore-all-space'] : PATCH_ARGS;
  const where = paths === undefined ? { path } : { paths };
  const options = { ...where, outputSizeMax: PATCH_SIZE_MAX };
  const output = await runHistory([...args, base, head], context, options);
  return diffsOf(output.toString('latin1'), ignoresWhitespace);
}

async function readPart(
  context: HistoryContext,
  question: DiffQuestion,
  { offset, limit }: ListWindow,
): Promise<{ readonly total: number; readonly files: readonly FileDiff[] }> {
  const { base, head, path } = question;
  const options = { path, outputSizeMax: PATCH_SIZE_MAX };
  const list = await runHistory([...LIST_ARGS, base, head], context, options);
  const all = changesOf({ text: list.toString('latin1'), offset: 0 }).flatMap(filesOfChange);
  const page = all.slice(offset, offset + limit);
  const both = page.flatMap(({ oldPath, newPath }) => [oldPath, newPath]);
  const paths = [...new Set(both.filter((path) => path !== null))];
  // Why not always: paths that are not UTF-8 cannot be passed together, and git may detect other renames among few files.
  if (paths.length > 0 && !paths.some((one) => one.includes(REPLACEMENT))) {
    const some = [...(await readPatch(context, question, paths))];
    const found = new Map(some.map((file) => [keyOf(file), file]));
    const files = page.flatMap((file) => found.get(keyOf(file)) ?? []);
    if (files.length === page.length) return { total: all.length, files };
  }
  const whole = page.length === 0 ? [] : [...(await readPatch(context, question))];
  return { total: all.length, files: whole.slice(offset, offset + limit) };
}

function keyOf({ oldPath, newPath }: ChangedFile): string {
  return JSON.stringify([oldPath, newPath]);
}

/** Position in the output, moved by the functions below. */
interface Cursor {
  readonly text: string;
  offset: number;
}

/** Reads a line and moves to the next one. */
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
 * Parses a raw list, an empty line, and the patch, in bytes as Latin-1, which is fast. `mayBeMute`: a modified file may
 * have no part, as only white space differs. Errors: an Error if list and patch do not match.
 */
export function* diffsOf(text: string, mayBeMute = false): Generator<FileDiff> {
  const cursor = { text, offset: 0 };
  const changes = changesOf(cursor);
  if (changes.length > 0) readLine(cursor);
  for (const change of changes)
    for (const file of filesOfChange(change)) {
      const isMute = mayBeMute && file.status === 'modified' && !isPartOf(cursor, change);
      yield { ...file, ...(isMute ? NO_PART : readFilePart(cursor)) };
    }
  if (cursor.offset < text.length) throw new Error('the patch has more files than its list');
}

interface RawChange extends ChangedFile {
  /** As in the patch: `<id>..<id>`. */
  readonly ids: string;
  /** The kind of file changed: it is deleted and added again. */
  readonly isRemade: boolean;
}

/** Reads the raw list and moves behind it. */
function changesOf(cursor: Cursor): RawChange[] {
  const changes: RawChange[] = [];
  while (cursor.text.startsWith(':', cursor.offset)) changes.push(parseRaw(readLine(cursor)));
  return changes;
}

const STATUSES: Readonly<Record<string, ChangedFile['status']>> = {
  A: 'added',
  D: 'deleted',
  R: 'renamed',
};

/** Source: `:<mode> <mode> <id> <id> <status>[<score>]\t<path>[\t<path>]`. */
function parseRaw(line: string): RawChange {
  const [head = '', ...written] = line.split('\t');
  const [, , oldId = '', newId = '', score = ''] = head.split(' ');
  const status = score[0] ?? '';
  const names = written.map(unquoteName);
  const oldPath = names[0] ?? '';
  return {
    oldPath: status === 'A' ? null : oldPath,
    newPath: status === 'D' ? null : (names[1] ?? oldPath),
    status: STATUSES[status] ?? 'modified',
    ids: `${oldId}..${newId}`,
    isRemade: status === 'T',
  };
}

function filesOfChange({ oldPath, newPath, status, isRemade }: RawChange): ChangedFile[] {
  if (!isRemade) return [{ oldPath, newPath, status }];
  return [
    { oldPath, newPath: null, status: 'deleted' },
    { oldPath: null, newPath, status: 'added' },
  ];
}

type Part = Pick<FileDiff, 'additions' | 'deletions' | 'isBinary' | 'hunks'>;

const NO_PART: Part = { additions: 0, deletions: 0, isBinary: false, hunks: [] };
const PART_HEAD = 'diff --git ';

/** Whether the next part is that of a modified file. */
function isPartOf({ text, offset }: Cursor, { ids }: RawChange): boolean {
  const ahead = { text, offset };
  if (!text.startsWith(PART_HEAD, offset)) return false;
  readLine(ahead);
  while (/^(?:old mode|new mode|index) /.test(text.slice(ahead.offset, ahead.offset + 9))) {
    const line = readLine(ahead);
    if (line.startsWith('index ')) return line.split(' ')[1] === ids;
  }
  // Absent if only the mode differs.
  const [oldId, newId] = ids.split('..');
  return oldId === newId;
}

const HUNK_HEAD = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@(?: (.*))?$/s;

/** Reads one part of the patch, from its `diff --git` line on. */
function readFilePart(cursor: Cursor): Part {
  const { text } = cursor;
  if (!text.startsWith(PART_HEAD, cursor.offset))
    throw new Error('the patch has fewer files than its list');
  readLine(cursor);
  const hunks: Hunk[] = [];
  const counts = { additions: 0, deletions: 0 };
  let isBinary = false;
  while (cursor.offset < text.length && !text.startsWith(PART_HEAD, cursor.offset)) {
    const line = readLine(cursor);
    const head = HUNK_HEAD.exec(line);
    // Other lines are about modes and names, which the list has too.
    if (head !== null) hunks.push(readHunk(head, cursor, counts));
    else if (line.startsWith('Binary files ')) isBinary = true;
  }
  return { ...counts, isBinary, hunks };
}

/** Lines. */
interface LineCounts {
  additions: number;
  deletions: number;
}

function readHunk(head: RegExpExecArray, cursor: Cursor, counts: LineCounts): Hunk {
  const [, oldStart, oldLines = '1', newStart, newLines = '1', heading = ''] = head;
  const oldRange = { start: Number(oldStart), lines: Number(oldLines) };
  const newRange = { start: Number(newStart), lines: Number(newLines) };
  const body = readBody(cursor, oldRange.lines, newRange.lines, counts);
  const hunk = { oldRange, newRange };
  return heading === '' ? { ...hunk, body } : { ...hunk, heading: utf8TextOfLatin1(heading), body };
}

const [PLUS, MINUS, BACKSLASH] = ['+', '-', '\\'].map((mark) => mark.charCodeAt(0));

/** As many lines as the ranges have, and the notes about missing line ends. */
function readBody(cursor: Cursor, oldLines: number, newLines: number, counts: LineCounts): string {
  const { text, offset: start } = cursor;
  let [oldRemaining, newRemaining] = [oldLines, newLines];
  let end = start;
  while (cursor.offset < text.length) {
    const mark = text.charCodeAt(cursor.offset);
    const isOver = oldRemaining <= 0 && newRemaining <= 0;
    if (isOver && mark !== BACKSLASH) break;
    if (mark === PLUS) counts.additions++;
    if (mark === MINUS) counts.deletions++;
    if (mark !== PLUS && mark !== BACKSLASH) oldRemaining--;
    if (mark !== MINUS && mark !== BACKSLASH) newRemaining--;
    end = lineEnd(cursor);
    cursor.offset = end + 1;
  }
  return utf8TextOfLatin1(text.slice(start, end));
}
