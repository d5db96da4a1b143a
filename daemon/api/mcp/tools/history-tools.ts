// The tools `list_commits` and `get_diff`.

import { z } from 'zod';
import type { CommitFields } from '../../../sources/history/commits.ts';
import { jsonInteger } from '../../shapes/input.ts';
import { commitDateText } from '../../history/commit-dates.ts';
import { commitsOf } from '../../history/commit-endpoints.ts';
import { diffOf, type FileDiff } from '../../history/diff-endpoints.ts';
import { expressionText } from '../../history/history-input.ts';
import { BoundedText, TEXT_SIZE_MAX, displayName } from './bounded-text.ts';
import { pageArguments, partOf, requestedRepo, pathField, repoField } from './tool-arguments.ts';
import { tool } from './tool.ts';

const DATE = '2024-05-06, 2 weeks ago, yesterday';

export const listCommits = tool(
  {
    name: 'list_commits',
    description: 'List commits, newest first, by message, author, time or path.',
    input: z.strictObject({
      repo: repoField,
      query: expressionText()
        .exactOptional()
        .describe('Matches in the message: POSIX basic regular expression, case-insensitive.'),
      since: commitDateText('start').exactOptional().describe(DATE),
      until: commitDateText('end').exactOptional().describe(DATE),
      author: expressionText().exactOptional().describe('Matches in name or e-mail.'),
      ref: z
        .string()
        .exactOptional()
        .describe('Branch, tag or commit; default: the default branch.'),
      path: pathField('Only commits that changed this path.').exactOptional(),
      ...pageArguments(50),
    }),
  },
  async (args, context) => {
    const repo = requestedRepo(args.repo, context).name;
    const { total, items } = await commitsOf({ ...args, repo }, context);
    const textWith = (fieldSize: number): string => {
      const commits = items.map((commit) => commitOf(commit, fieldSize));
      const note = fieldSize === Infinity ? {} : { cut: CUT_COMMITS };
      return partOf({ commits, totalCount: total, ...note }, args);
    };
    for (const fieldSize of [Infinity, 4000, 1000, 250, 60]) {
      const text = textWith(fieldSize);
      if (text.length <= TEXT_SIZE_MAX) return text;
    }
    // Fits even if each character is escaped.
    return textWith(15);
  },
);

const CUT_COMMITS = 'texts that end with … are shortened; call again with a smaller perPage';

/** Empty values and e-mail addresses do not help a model. */
function commitOf(
  { hash, date, message, body, refs, authorName }: CommitFields,
  fieldSize: number,
) {
  return {
    hash,
    date,
    message: shortened(message, fieldSize),
    ...(body === '' ? {} : { body: shortened(body, fieldSize) }),
    ...(refs === '' ? {} : { refs: shortened(refs, fieldSize) }),
    authorName: shortened(authorName, fieldSize),
  };
}

function shortened(text: string, size: number): string {
  return text.length <= size ? text : `${text.slice(0, size)}…`;
}

const FILES_MAX = 200;

export const getDiff = tool(
  {
    name: 'get_diff',
    description: 'Differences between two commits, as a unified diff.',
    input: z.strictObject({
      repo: repoField,
      base: z.string().describe('Branch, tag or commit; X^ is the parent of X.'),
      head: z.string().describe('Branch, tag or commit.'),
      path: pathField('Only this file or folder.').exactOptional(),
      page: jsonInteger(1).default(1).describe(`Pages of ${FILES_MAX} files.`),
    }),
  },
  async ({ page, ...args }, context) => {
    const repo = requestedRepo(args.repo, context).name;
    const window = { offset: (page - 1) * FILES_MAX, limit: FILES_MAX };
    const { json, total } = await diffOf({ ...args, repo, window }, context);
    // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- our own answer
    const { files } = JSON.parse(json.toString()) as { readonly files: readonly FileDiff[] };
    if (files.length === 0) return total === 0 ? 'No differences' : noFiles(page, total);
    return diffText(files, total, page);
  },
);

/** A page is cut by size, and the next one does not continue it: the model must set `path`. */
function noFiles(page: number, total: number): string {
  const last = Math.ceil(total / FILES_MAX);
  return `No files on page ${page}: the last of the ${total} files is on page ${last}. What was cut from a page is not on the next one: set path to a file or folder to read it`;
}

function diffText(files: readonly FileDiff[], total: number, page: number): string {
  const text = new BoundedText();
  const remaining: FileDiff[] = [];
  let isFull = false;
  for (const file of files) {
    if (!isFull && text.add(...linesOf(file))) continue;
    if (file === files[0]) addStart(text, file);
    else remaining.push(file);
    isFull = true;
  }
  if (page * FILES_MAX < total)
    text.end(`(cut: page ${page} of ${total} files; continue with page ${page + 1}, or set path)`);
  if (remaining.length > 0) addNames(text, remaining);
  return text.toString();
}

function addStart(text: BoundedText, file: FileDiff): void {
  const lines = linesOf(file).flatMap((part) => part.split('\n'));
  const addedCount = lines.findIndex((line) => !text.add(line));
  text.end(
    `(cut: ${lines.length - addedCount} more lines of this file; read_file shows it at both commits)`,
  );
}

const NAMES_MAX = 50;

function addNames(text: BoundedText, files: readonly FileDiff[]): void {
  text.end(
    `(cut: ${files.length} more files of this page; call again with path, a file or a folder. Changed lines of the first ones:)`,
  );
  for (const file of files.slice(0, NAMES_MAX)) if (!text.end(changeOf(file))) break;
}

function changeOf({ oldPath, newPath, additions, deletions }: FileDiff): string {
  return `  ${displayName(newPath ?? oldPath ?? '')} +${additions} -${deletions}`;
}

function linesOf({ oldPath, newPath, isBinary, hunks }: FileDiff): string[] {
  const [before, after] = [oldPath ?? newPath ?? '', newPath ?? oldPath ?? ''];
  const renamed =
    before === after
      ? []
      : [`rename from ${displayName(before)}`, `rename to ${displayName(after)}`];
  const head = [
    `diff --git ${displayName(`a/${before}`)} ${displayName(`b/${after}`)}`,
    ...renamed,
  ];
  if (isBinary) return [...head, 'Binary files differ'];
  const names = [
    `--- ${oldPath === null ? '/dev/null' : displayName(`a/${oldPath}`)}`,
    `+++ ${newPath === null ? '/dev/null' : displayName(`b/${newPath}`)}`,
  ];
  const body = hunks.flatMap(({ oldRange, newRange, heading, body }) => [
    `@@ -${spanOf(oldRange)} +${spanOf(newRange)} @@${heading === undefined ? '' : ` ${heading}`}`,
    body.replace(/\n$/, ''),
  ]);
  return hunks.length === 0 ? head : [...head, ...names, ...body];
}

function spanOf({ start, lines }: { readonly start: number; readonly lines: number }): string {
  return lines === 1 ? String(start) : `${start},${lines}`;
}
