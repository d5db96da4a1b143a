// Confirms at the host that a fetch got the right repository, before anybody can read it: git fetches by address, where
// another repository may be by now, or this one may have become private.

import type {
  HostFacts,
  StoredRepos,
  RepoDecision,
  RepoHost,
  StoredRepo,
} from '../../store/repos.ts';
import { ENFORCEMENTS } from '../../repos/records.ts';
import { type Host, HostError, type HostRepo, type SaidVisibility } from '../../hosts/host.ts';

type Visibility = StoredRepo['visibility'];

/** The fetched content must not be used for this repo. The message has the next step. */
export class OtherRepositoryError extends Error {
  override readonly name = 'OtherRepositoryError';
  readonly visibility: Visibility;

  constructor(message: string, visibility: Visibility) {
    super(message);
    this.visibility = visibility;
  }
}

/**
 * Errors: OtherRepositoryError; HostError if the host cannot answer; the reason of the signal.
 * @param isOpen  the connection has no credential
 */
export async function confirmRepository(
  { hostId, facts: { path } }: RepoHost,
  visibility: Visibility,
  host: Pick<Host, 'repository'>,
  signal: AbortSignal,
  isOpen: boolean,
): Promise<void> {
  if (host.repository === undefined) return;
  const unseen = isOpen ? [...UNSEEN, 'NOT_AUTHENTICATED'] : UNSEEN;
  const there = await foundOrNone(host.repository(path, signal), unseen);
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

/** A repo is fetched again when this text changes. Why with the address: the last fetch may be of another repository. */
export function pushMarkOf({ pushedAt, cloneUrl, path }: HostFacts): string {
  return JSON.stringify([pushedAt, cloneUrl, path]);
}

/** Some hosts answer 403 instead of 404. */
const UNSEEN: readonly string[] = ['NOT_FOUND', 'NOT_ALLOWED'];

async function foundOrNone(
  fetched: Promise<HostRepo>,
  unseen: readonly string[],
): Promise<HostRepo | undefined> {
  try {
    return await fetched;
  } catch (error) {
    if (error instanceof HostError && unseen.includes(error.code)) return undefined;
    throw error;
  }
}

const STRICTNESS = { public: 0, 'maybe-public': 0, internal: 1, private: 2, unknown: 2 } as const;

export function isStricter(one: SaidVisibility, other: SaidVisibility): boolean {
  return STRICTNESS[one] > STRICTNESS[other];
}

/** Whether fewer people may see a repo than before. */
export function isRestricted(repo: StoredRepo, before: StoredRepo | undefined): boolean {
  if (before === undefined) return false;
  const isEnforcedMore =
    ENFORCEMENTS.indexOf(repo.enforcement) > ENFORCEMENTS.indexOf(before.enforcement);
  return isEnforcedMore || isStricter(repo.visibility, before.visibility);
}

/** Restricts a repo to this visibility until the next listing. The result: whether that changed it. */
export function restrictedTo(
  { repos }: StoredRepos,
  repoId: number,
  visibility: Visibility,
): RepoDecision<boolean> {
  const repo = repos.find((one) => one.repoId === repoId);
  if (repo === undefined || !isStricter(visibility, repo.visibility))
    return { changed: [], result: false };
  return { changed: [{ ...repo, visibility }], result: true };
}

type Which = Pick<RepoHost, 'address' | 'hostId'>;

/** The last visibility that hosts reported. A listed page may be older than a webhook that arrived before it. */
export class LatestVisibility {
  /** By address and id. Bound: the repositories that are not public. `ms` is of performance.now. */
  readonly #last = new Map<string, { readonly visibility: SaidVisibility; readonly ms: number }>();

  note(which: Which, visibility: SaidVisibility): void {
    // Public repositories need no entry: `atMost` only makes answers stricter.
    if (visibility !== 'public' && visibility !== 'maybe-public')
      this.#last.set(keyOf(which), { visibility, ms: performance.now() });
  }

  /** Notes the stricter one of this visibility and the last: answers may arrive in the wrong order. */
  restrict(which: Which, visibility: SaidVisibility): void {
    this.note(which, this.atMost(which, visibility, -Infinity));
  }

  /** The reported visibility, but no wider than anything heard since the request (performance.now). */
  atMost(which: Which, said: SaidVisibility, sentMs: number): SaidVisibility {
    const last = this.#last.get(keyOf(which));
    if (last === undefined || last.ms <= sentMs || !isStricter(last.visibility, said)) return said;
    return last.visibility;
  }
}

function keyOf({ address, hostId }: Which): string {
  return `${address} ${hostId}`;
}
