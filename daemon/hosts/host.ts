// What is asked of a code host: which repositories it has, how git is let in, and who may read which. One file a kind of host
// implements it, over its own client library; what follows from the answers is decided elsewhere (sync/connections/).

import type { SecretText } from '../base/config/secret-text.ts';
import type { CodeHostType, RepoFacts, RepoSource, Visibility } from '../repos/records.ts';

/** `maybe-public`: it is public to all who sign in; whether it is to others could not be asked. */
export type SaidVisibility = Visibility | 'maybe-public';

/** A repository as its host describes it. */
export interface HostRepo extends RepoFacts {
  /** The host's own id: it stays where the repository is renamed or moved to another owner. */
  readonly hostId: string;
  /** Below the address of the host: `owner/name`. */
  readonly path: string;
  /** The whole name that it is to have; absent: host and path. */
  readonly name?: string;
  /** http(s) or ssh, without credentials; of this machine: file. */
  readonly cloneUrl: string;
  /** Where it is read in place; absent: a clone of it is. */
  readonly source?: RepoSource;
  readonly visibility: SaidVisibility;
  /** Bytes; absent: the host does not say. */
  readonly size?: number;
  /** Short name; absent: unknown, or the repository is empty. */
  readonly defaultBranch?: string;
}

/** Something that was asked for and could not be listed (API.md 20.2). */
export interface ListingIssue {
  /** In capitals, as codes of errors: `NOT_FOUND`, `NOT_ALLOWED`, `RATE_LIMITED`, `HOST_UNAVAILABLE`. */
  readonly code: string;
  /** As the configuration names it: `orgs: acme`. */
  readonly target: string;
  /** `DISCOVERY_INCOMPLETE`: what the target holds is not known, so nothing may be taken for gone. */
  readonly effect: 'TARGET_SKIPPED' | 'DISCOVERY_INCOMPLETE';
  /** A sentence for the operator, with the next step. */
  readonly message: string;
}

/** The target that a page was read from. */
export interface PageTarget {
  /** As issues name it. */
  readonly name: string;
  /** Repositories that the host named on the page, those that the connection leaves out included. */
  readonly namedCount: number;
  /** Those of the page that another target has brought before. */
  readonly again: readonly HostRepo[];
}

export interface ListingPage {
  readonly repos: readonly HostRepo[];
  readonly issues: readonly ListingIssue[];
  /** Absent: the page is of the connection as a whole. */
  readonly target?: PageTarget;
  /** Where a listing goes on behind this page, as JSON can hold it; undefined: it was the last one. */
  readonly next: unknown;
}

/** How git says who it is; over ssh it is the machine's own key. */
export interface GitCredential {
  readonly user: string;
  readonly password: SecretText;
}

/** Somebody who may read a repository. */
export interface HostMember {
  /** Id of the account at the host. */
  readonly accountId: string;
  /** Addresses that the host calls verified; may be empty. */
  readonly emails: readonly string[];
}

/** One connection's view of a code host. */
export interface Host {
  readonly codeHostType: CodeHostType;
  /** What names of its repositories begin with: host, with a port that is not the usual one. */
  readonly nameHost: string;
  /**
   * The repositories that the connection selects, without those that it excludes, page by page, each once as far as the host
   * allows. What goes wrong with one target is an issue of a page, and the listing goes on.
   *
   * @param from  `next` of the last page that was taken; undefined: from the beginning
   *
   * Errors: HostError where nothing can be listed; the reason of the signal.
   */
  list(from: unknown, signal: AbortSignal): AsyncIterable<ListingPage>;
  /** The credential for fetching a repository now; undefined: none. Errors: HostError. */
  gitCredential(
    repo: Pick<HostRepo, 'path' | 'cloneUrl'>,
    signal: AbortSignal,
  ): Promise<GitCredential | undefined>;
  /**
   * What is at a path now, whatever the connection excludes. Absent: an address is all that tells its repositories apart.
   *
   * Errors: HostError, `NOT_FOUND` where there is nothing that the credential sees; the reason of the signal.
   */
  readonly repository?: (path: string, signal: AbortSignal) => Promise<HostRepo>;
  /**
   * Asks whether address and credential are right. Returns what the host calls the caller, for people.
   *
   * Errors: HostError.
   */
  probe(signal: AbortSignal): Promise<string>;
  /** All who may read a private repository. Absent: the host is not asked for that. Errors: HostError. */
  readonly members?: (
    repo: Pick<HostRepo, 'hostId' | 'path'>,
    signal: AbortSignal,
  ) => AsyncIterable<HostMember>;
  close(): Promise<void>;
}

/** A host that cannot be asked, or refuses. The message names host, cause and next step, and holds no credential. */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code: string;
  /** When it is worth trying again, ISO 8601; undefined: not known. */
  readonly retryAt: string | undefined;

  constructor(code: string, message: string, retryAt?: string) {
    super(message);
    this.code = code;
    this.retryAt = retryAt;
  }
}

/** No request reached the host, or no answer came. */
export class UnreachableError extends HostError {}
