// Real git repositories and folders in temporary locations.

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { runProgram } from '../../base/run-program.ts';

const ENVIRONMENT = {
  PATH: process.env['PATH'],
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.com',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.com',
  GIT_AUTHOR_DATE: '2024-05-06T07:08:09Z',
  GIT_COMMITTER_DATE: '2024-05-06T07:08:09Z',
};

/** The second: each commit would start a process that looks whether there is something to tidy up. */
const SETTINGS = ['-c', 'protocol.file.allow=always', '-c', 'maintenance.auto=false'];

const folders: string[] = [];
// Why not `after`: called in a hook it counts for the hook, and behind a promise that tests share for the first of them.
process.once('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true, maxRetries: 20 });
});

export function temporaryFolder(): string {
  const folder = realpathSync(mkdtempSync(path.join(tmpdir(), 'trawl-test-')));
  folders.push(folder);
  return folder;
}

/** Runs git and returns its output without the line end; throws if it fails. */
export function git(cwd: string, ...args: string[]): string {
  const result = runProgram('git', [...SETTINGS, ...args], { cwd, env: ENVIRONMENT });
  if (result.status !== 0) throw new Error(`git ${args.join(' ')}: ${result.stderr.toString()}`);
  return result.stdout.toString().trimEnd();
}

/** Writes files, keys being paths below the folder. */
export function writeFiles(
  folder: string,
  files: Readonly<Record<string, string | Uint8Array>>,
): void {
  for (const [name, content] of Object.entries(files)) {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, content);
  }
}

/** Adds everything, also what is ignored, and commits. Returns the commit id. */
export function commitAll(repo: string, message = 'change'): string {
  git(repo, 'add', '-A', '-f', '.');
  git(repo, 'commit', '-q', '--allow-empty', '-m', message);
  return git(repo, 'rev-parse', 'HEAD');
}

export function commitFiles(repo: string, files: Parameters<typeof writeFiles>[1]): string {
  writeFiles(repo, files);
  return commitAll(repo);
}

/** A work tree on branch `main` with one commit of these files. */
export function makeRepo(
  files: Readonly<Record<string, string | Uint8Array>>,
  format: 'sha1' | 'sha256' = 'sha1',
): string {
  const repo = temporaryFolder();
  git(repo, 'init', '-q', '-b', 'main', `--object-format=${format}`);
  commitFiles(repo, files);
  return repo;
}
