// Repositories for tests of history, commit by commit, written for `git fast-import`: it takes any name, message,
// encoding, time and parents, and is fast. Files are bytes or text.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import { runProgram } from '../../base/run-program.ts';
import { git, temporaryFolder } from '../git/fixture.ts';

const ENVIRONMENT = { PATH: process.env['PATH'], HOME: '/nonexistent', LC_ALL: 'C.UTF-8' };

export interface MadeFile {
  readonly mode?: '100644' | '100755' | '120000' | '160000';
  /** Content; of a submodule the id of its commit. Undefined: the file is removed. */
  readonly content: string | Uint8Array | undefined;
}

export interface MadeCommit {
  /** Default: refs/heads/main. */
  readonly branch?: string;
  readonly author?: string | Uint8Array;
  /** Seconds and offset. */
  readonly date?: string;
  /** Of the committer; default: as `date`. */
  readonly committed?: string;
  readonly message?: string | Uint8Array;
  readonly encoding?: string;
  /** Names of commits (`:1` is the first made) or refs; default: what the branch names. */
  readonly parents?: readonly string[];
  /** By path; in a path git's own quotes may be used. */
  readonly files?: Readonly<Record<string, MadeFile | string | Uint8Array>>;
  /** Old to new path. */
  readonly renames?: Readonly<Record<string, string>>;
}

export interface MadeRepo {
  readonly path: string;
  readonly commits: readonly string[];
}

const START = 1_700_000_000;

function data(content: string | Uint8Array): Buffer {
  const bytes = Buffer.from(content);
  return Buffer.concat([Buffer.from(`data ${bytes.length}\n`), bytes, Buffer.from('\n')]);
}

function fileOf(name: string, made: MadeFile | string | Uint8Array): Buffer {
  const isContent = typeof made === 'string' || made instanceof Uint8Array;
  const { mode = '100644', content } = isContent ? { content: made } : made;
  if (content === undefined) return Buffer.from(`D ${name}\n`);
  if (mode === '160000') return Buffer.from(`M ${mode} ${String(content)} ${name}\n`);
  return Buffer.concat([Buffer.from(`M ${mode} inline ${name}\n`), data(content)]);
}

/** The stream that makes these commits. */
export function importStream(commits: readonly MadeCommit[]): Buffer {
  const parts: (Buffer | string)[] = [];
  for (const [index, commit] of commits.entries()) {
    const { branch = 'refs/heads/main', message = `commit ${index + 1}`, parents } = commit;
    const { author = 'A <a@example.com>', date = `${START + index} +0000` } = commit;
    parts.push(`commit ${branch}\nmark :${index + 1}\n`);
    parts.push('author ', Buffer.from(author), ` ${date}\n`);
    parts.push(`committer C <c@example.com> ${commit.committed ?? date}\n`);
    if (commit.encoding !== undefined) parts.push(`encoding ${commit.encoding}\n`);
    parts.push(data(message));
    for (const [index, parent] of (parents ?? []).entries())
      parts.push(`${index === 0 ? 'from' : 'merge'} ${parent}\n`);
    for (const [from, to] of Object.entries(commit.renames ?? {})) parts.push(`R ${from} ${to}\n`);
    for (const [name, made] of Object.entries(commit.files ?? {})) parts.push(fileOf(name, made));
    parts.push('\n');
  }
  return Buffer.concat(parts.map((part) => Buffer.from(part)));
}

/** A bare repository with these commits, HEAD naming `main`. */
export function makeHistory(
  commits: readonly MadeCommit[],
  { format = 'sha1' }: { readonly format?: 'sha1' | 'sha256' } = {},
): MadeRepo {
  const folder = temporaryFolder();
  git(folder, 'init', '-q', '--bare', '-b', 'main', `--object-format=${format}`);
  const marks = path.join(folder, 'marks');
  const args = [
    'fast-import',
    '--quiet',
    '--date-format=raw-permissive',
    '--force',
    '--export-marks=marks',
  ];
  const options = { cwd: folder, env: ENVIRONMENT, input: importStream(commits) };
  const made = runProgram('git', args, options);
  if (made.status !== 0) throw new Error(made.stderr.toString());
  return { path: folder, commits: readMarks(marks) };
}

/** Ids by number. Source: lines `:<number> <id>`, in any order. */
function readMarks(file: string): string[] {
  const ids: string[] = [];
  for (const line of readFileSync(file, 'utf8').split('\n')) {
    const [, mark, id] = /^:(\d+) (\w+)$/.exec(line) ?? [];
    if (id !== undefined) ids[Number(mark) - 1] = id;
  }
  return ids;
}

/** What git itself writes, without the daemon's settings: as somebody sees it who types the command. */
export function gitBytes(cwd: string, ...args: string[]): Buffer {
  const result = runProgram('git', ['--no-pager', ...args], { cwd, env: ENVIRONMENT });
  if (result.status !== 0) throw new Error(`git ${args.join(' ')}: ${result.stderr.toString()}`);
  return result.stdout;
}
