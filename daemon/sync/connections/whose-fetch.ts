// Checks whether a fetch got the right repository. Git fetches by address, and since the last listing another
// repository may have taken the address, or the repository may have become private. So the host is asked before anybody
// can read the result.

import type {
  HostFacts,
  StoredRepos,
  RepoDecision,
  RepoHost,
  StoredRepo,
} from '../../store/repos.ts';
import { type Host, HostError, type HostRepo, type SaidVisibility } from '../../hosts/host.ts';

type Visibility = StoredRepo['visibility'];

/** The fetched content must not be used for this repo. The message has the next step. */
export class OtherRepositoryError extends Error {
  override readonly name = 'OtherRepositoryError';
  /** The known visibility of the repo. */
  readonly visibility: Visibility;

  constructor(message: string, visibility: Visibility) {
    super(message);
    this.visibility = visibility;
  }
}

/**
 * Asks a host which repository is at the fetched address. Resolves if it is the right one and its visibility has not
 * narrowed; also if the host knows repositories only by address.
 *
 * Errors: OtherRepositoryError; HostError if the host cannot answer; the reason of the signal.
 */
export async function checkWhose(
  { hostId, facts: { path } }: RepoHost,
  visibility: Visibility,
  host: Pick<Host, 'repository'>,
  signal: AbortSignal,
): Promise<void> {
  if (host.repository === undefined) return;
  const there = await foundOrNone(host.repository(path, signal));
  const outcome = 'nothing of it was used, and its connection is listed again';
  if (there === undefined)
    throw new OtherRepositoryError(
      `its host has nothing at ${path} any more that the credential can see; ${outcome}`,
      'unknown',
    );
  if (there.hostId !== hostId)
    throw new OtherRepositoryError(`another repository is at ${path} now; ${outcome}`, 'unknown');
  if (there.visibility !== 'maybe-public' && isStricter(there.visibility, visibility))
    throw new OtherRepositoryError(
      `${path} was ${visibility} and is ${there.visibility} now; ${outcome}`,
      there.visibility,
    );
}

/**
 * What requires a new fetch when it changes: the last push, and the address. Why the address: the last fetch may have
 * been of another repository, or was rejected.
 */
export function pushMarkOf({ pushedAt, cloneUrl, path }: HostFacts): string {
  return JSON.stringify([pushedAt, cloneUrl, path]);
}

async function foundOrNone(fetched: Promise<HostRepo>): Promise<HostRepo | undefined> {
  try {
    return await fetched;
  } catch (error) {
    if (error instanceof HostError && error.code === 'NOT_FOUND') return undefined;
    throw error;
  }
}

const STRICTNESS = { public: 0, 'maybe-public': 0, internal: 1, private: 2, unknown: 2 } as const;

/** Whether the first visibility is narrower than the second. */
export function isStricter(one: SaidVisibility, other: SaidVisibility): boolean {
  return STRICTNESS[one] > STRICTNESS[other];
}

/**
 * Restricts a repo to this visibility until the next listing. The result: whether that changed it.
 */
export function narrowed(
  { repos }: StoredRepos,
  repoId: number,
  visibility: Visibility,
): RepoDecision<boolean> {
  const repo = repos.find((one) => one.repoId === repoId);
  if (repo === undefined || !isStricter(visibility, repo.visibility))
    return { changed: [], result: false };
  return { changed: [{ ...repo, visibility }], result: true };
}
