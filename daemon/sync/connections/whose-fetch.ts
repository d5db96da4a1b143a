// Whether what was fetched is of the repo that it was fetched for. Git fetches by address, and since the last listing another
// repository may have come to that, or this one may have turned private: its host is asked, before anything of it can be read.

import type { HostFacts, RepoBook, RepoDecision, RepoHost, StoredRepo } from '../../store/repos.ts';
import { type Host, HostError, type HostRepo, type SaidVisibility } from '../../hosts/host.ts';

type Visibility = StoredRepo['visibility'];

/** What was fetched is not to be read as this repo. The message has the next step. */
export class OtherRepositoryError extends Error {
  override readonly name = 'OtherRepositoryError';
  /** What is known of who may see the repo. */
  readonly visibility: Visibility;

  constructor(message: string, visibility: Visibility) {
    super(message);
    this.visibility = visibility;
  }
}

/**
 * Asks a host what is now where a repo was fetched from. Resolves where that is the repo, and no fewer may see it than are
 * said to; also where an address is all that the host knows a repository by.
 *
 * Errors: OtherRepositoryError; HostError, where the host cannot be asked; the reason of the signal.
 */
export async function checkWhose(
  { hostId, facts: { path } }: RepoHost,
  visibility: Visibility,
  host: Pick<Host, 'repository'>,
  signal: AbortSignal,
): Promise<void> {
  if (host.repository === undefined) return;
  const there = await foundOrNone(host.repository(path, signal));
  const left = 'nothing of it was taken over, and its connection is listed again';
  if (there === undefined)
    throw new OtherRepositoryError(
      `its host has nothing at ${path} any more that the credential sees; ${left}`,
      'unknown',
    );
  if (there.hostId !== hostId)
    throw new OtherRepositoryError(`another repository is at ${path} now; ${left}`, 'unknown');
  if (there.visibility !== 'maybe-public' && isStricter(there.visibility, visibility))
    throw new OtherRepositoryError(
      `${path} was ${visibility} and is ${there.visibility} now; ${left}`,
      there.visibility,
    );
}

/**
 * What is to be fetched again where it changes: the last push, and where the repo is. Why where: another repository may have
 * been there when it was fetched, or was found there and nothing was taken over.
 */
export function newsOf({ pushedAt, cloneUrl, path }: HostFacts): string {
  return JSON.stringify([pushedAt, cloneUrl, path]);
}

async function foundOrNone(asked: Promise<HostRepo>): Promise<HostRepo | undefined> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof HostError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

const STRICTNESS = { public: 0, 'maybe-public': 0, internal: 1, private: 2, unknown: 2 } as const;

/** Whether fewer may see what is the first than what is the other. */
export function isStricter(one: SaidVisibility, other: SaidVisibility): boolean {
  return STRICTNESS[one] > STRICTNESS[other];
}

/** A repo that no more may see than these, until a listing says more. The result: whether that is news. */
export function narrowed(
  { repos }: RepoBook,
  repoId: number,
  visibility: Visibility,
): RepoDecision<boolean> {
  const repo = repos.find((one) => one.repoId === repoId);
  if (repo === undefined || !isStricter(visibility, repo.visibility))
    return { changed: [], result: false };
  return { changed: [{ ...repo, visibility }], result: true };
}
