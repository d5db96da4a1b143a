// Mirrors in temporary folders, and what they are compared with.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { SecretText } from '../../../daemon/base/config/secret-text.ts';
import type { GitCredential } from '../../../daemon/hosts/host.ts';
import { fetchMirror, type MirrorOptions } from '../../../daemon/hosts/mirrors/fetch-mirror.ts';
import { recordingLog } from '../servers.ts';
import { git, temporaryFolder } from '../../sources/git/fixture.ts';

/** What is written to logs by all mirrors of a test file. */
export const { log, lines: logLines } = recordingLog();

export function credentialOf(user: string, password: string): GitCredential {
  return { user, password: new SecretText(password) };
}

export function mirrorFolder(): string {
  return path.join(temporaryFolder(), '7.git');
}

/** Fetches a mirror; returns what that did to its files. */
export async function fetchInto(folder: string, url: string, more: Partial<MirrorOptions> = {}) {
  const signal = new AbortController().signal;
  const inodeOf = (): number | undefined => statSync(folder, { throwIfNoEntry: false })?.ino;
  const [inode, before] = [inodeOf(), stateOf(folder)];
  await fetchMirror({ folder, url, log, signal, timeoutMs: 60_000, ...more });
  const { refs, defaultBranch } = stateOf(folder)!;
  const isNew = inodeOf() !== inode;
  const isSame = refs === before?.refs && defaultBranch === before.defaultBranch;
  const branch = Buffer.from(defaultBranch ?? '', 'latin1').toString();
  return {
    isNew,
    isChanged: isNew || !isSame,
    ...(defaultBranch === null ? {} : { defaultBranch: branch }),
  };
}

/** Undefined: there is no complete mirror. */
function stateOf(folder: string): { refs: string; defaultBranch: string | null } | undefined {
  const file = path.join(folder, 'trawl-mirror.json');
  const isThere = statSync(file, { throwIfNoEntry: false })?.isFile() === true;
  return isThere ? JSON.parse(readFileSync(file, 'latin1')) : undefined;
}

/** `id name` of branches and tags. */
export function refsOf(repo: string): string {
  return git(repo, 'for-each-ref', '--format=%(objectname) %(refname)', 'refs/heads', 'refs/tags');
}

/** The branch that HEAD names. */
export function headOf(repo: string): string {
  return git(repo, 'symbolic-ref', 'HEAD');
}

/** The mirror has exactly the branches and tags of the other one, is valid, and has no other files beside it. */
export function assertMirrors(folder: string, origin: string, head = headOf(origin)): void {
  assert.equal(refsOf(folder), refsOf(origin));
  assert.equal(headOf(folder), head);
  assert.equal(
    git(folder, 'for-each-ref')
      .split('\n')
      .filter((line) => !/refs\/(?:heads|tags)\//.test(line))
      .join(''),
    '',
  );
  assert.deepEqual(
    readdirSync(folder).filter((name) => ['logs', 'hooks', 'FETCH_HEAD'].includes(name)),
    [],
  );
  git(folder, 'fsck', '--full', '--no-dangling');
  assert.deepEqual(
    readdirSync(path.dirname(folder)).filter((name) => name.includes('.git')),
    [path.basename(folder)],
  );
}

/** Rejection of a promise that must reject with an error of this code. */
export async function failureOf(
  promise: Promise<unknown>,
  code?: string,
): Promise<Error & { readonly code: unknown }> {
  const error: unknown = await promise.then(
    (value) => `resolved with ${JSON.stringify(value)}`,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof Error && 'code' in error, String(error));
  if (code !== undefined) assert.equal(error.code, code, error.message);
  return error;
}
