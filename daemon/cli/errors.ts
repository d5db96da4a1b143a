// Errors that end a command, and their output; a bad query gets a caret under the culprit.

import path from 'node:path';
import { messageOf } from '../base/caught.ts';
import { RefusedFileError } from '../base/config/error.ts';
import { escapeControls } from './terminal-text.ts';
import type { ErrorObject } from '../api/shapes/api-error.ts';

export class UsageError extends Error {
  override readonly name = 'UsageError';
}

export function noFileError(file: string): UsageError {
  return new UsageError(
    `there is no file ${file}: give the path of a shard; "trawl inspect" lists the shards`,
  );
}

/** A data directory without an index. */
export class NoIndexError extends UsageError {}

export function noIndexError(dataDir: string): NoIndexError {
  const folder = path.resolve(dataDir);
  return new NoIndexError(
    `no index in ${folder}; make one with "trawl index PATH", or name its folder with --data-dir or a daemon with --url`,
  );
}

/** The data directory has repos, after a restore for example, but none was indexed yet. */
export function notIndexedYetError(dataDir: string, repoCount: number): UsageError {
  const folder = path.resolve(dataDir);
  return new UsageError(
    `no repository in ${folder} is indexed yet (repositories: ${repoCount}); ` +
      '"trawl serve" with their sources or configuration file indexes them, or "trawl index PATH"',
  );
}

export class RequestError extends Error implements ErrorObject {
  override readonly name = 'RequestError';
  readonly statusCode: number;
  readonly errorCode: ErrorObject['errorCode'];

  constructor(error: ErrorObject) {
    super(error.message);
    this.statusCode = error.statusCode;
    this.errorCode = error.errorCode;
  }
}

export function isErrorObject(value: unknown): value is ErrorObject {
  if (typeof value !== 'object' || value === null) return false;
  if (!('statusCode' in value && 'errorCode' in value && 'message' in value)) return false;
  const { statusCode, errorCode, message } = value;
  return [typeof statusCode, typeof errorCode, typeof message].join() === 'number,string,string';
}

/** Without a final newline. A syntax error of `query` points at its culprit. */
export function describeError(error: unknown, query?: string): string {
  if (error instanceof RefusedFileError)
    return error.diagnostics.map((diagnostic) => `error: ${escapeControls(diagnostic)}`).join('\n');
  if (!(error instanceof Error)) return `error: ${escapeControls(String(error))}`;
  const line = `error: ${escapeControls(isFolderGone(error) ? FOLDER_GONE : messageOf(error))}`;
  const isSyntaxError = isErrorObject(error) && error.errorCode === 'FAILED_TO_PARSE_QUERY';
  const position = isSyntaxError ? /at position (\d+)/.exec(error.message)?.[1] : undefined;
  if (query === undefined || position === undefined) return line;
  return `${line}\n${pointAt(query, Number(position))}`;
}

const FOLDER_GONE = 'the current folder no longer exists; change to another one';

function isFolderGone(error: Error): boolean {
  return 'syscall' in error && error.syscall === 'uv_cwd';
}

/** A caret below `position` (0-based, in code points), or just after the last character. */
export function pointAt(query: string, position: number): string {
  const characters = Array.from(query);
  const end = Math.min(position, characters.length);
  const lineStart = characters.lastIndexOf('\n', end - 1) + 1;
  const nextBreak = characters.indexOf('\n', end);
  const lineEnd = nextBreak === -1 ? characters.length : nextBreak;
  // A tab would move the caret by an unknown width; other control characters are escaped.
  const show = (from: number, to: number): string =>
    escapeControls(characters.slice(from, to).join('').replaceAll('\t', ' '));
  const indent = ' '.repeat(Array.from(show(lineStart, end)).length);
  return `  ${show(lineStart, lineEnd)}\n  ${indent}^`;
}
