// Interface of a code host: list repositories, authenticate git, list readers. One file per kind of host implements it;
// sync/connections/ acts on the answers.

import type { SecretText } from '../base/config/secret-text.ts';
import type { CodeHostType, RepoFacts, RepoSource, Visibility } from '../repos/records.ts';

/** `maybe-public`: public to all signed-in users; whether also to others could not be determined. */
export type SaidVisibility = Visibility | 'maybe-public';

/** A repository as its host describes it. */
export interface HostRepo extends RepoFacts {
  /** The host's own id: it survives a rename or a move to another owner. */
  readonly hostId: string;
  /** Below the address of the host: `owner/name`. */
  readonly path: string;
  /** Its whole name; absent: host and path. */
  readonly name?: string;
  /** http(s) or ssh, without credentials; for local ones file. */
  readonly cloneUrl: string;
  /** Where it is read in place; absent: a mirror is read. */
  readonly source?: RepoSource;
  /** File system identity of that folder (sources/disk/identity.ts). */
  readonly fileId?: string;
  readonly visibility: SaidVisibility;
  /** Bytes, for `exclude.size`; absent: not reported. */
  readonly size?: number;
}

/** Something requested that could not be listed (API.md 20.2). */
export interface ListingIssue {
  /** In capitals, as error codes: `NOT_FOUND`, `NOT_ALLOWED`, `RATE_LIMITED`, `HOST_UNAVAILABLE`. */
  readonly code: string;
  /** As in the configuration: `orgs: acme`. */
  readonly target: string;
  /** `DISCOVERY_INCOMPLETE`: the target's content is unknown, so nothing may be treated as gone. */
  readonly effect: 'TARGET_SKIPPED' | 'DISCOVERY_INCOMPLETE';
  /** A sentence for the operator, with the next step. */
  readonly message: string;
}

/** The target of a page. */
export interface PageTarget {
  /** As in issues. */
  readonly name: string;
  /** Repositories on the page, including those that the connection excludes. */
  readonly listedCount: number;
  /** Those of the page that an earlier target listed already. */
  readonly again: readonly HostRepo[];
}

export interface ListingPage {
  readonly repos: readonly HostRepo[];
  readonly issues: readonly ListingIssue[];
  /** Absent: the page is of the connection as a whole. */
  readonly target?: PageTarget;
}

/** git's credential; over ssh the machine's own key is used. */
export interface GitCredential {
  readonly user: string;
  readonly password: SecretText;
}

/** Somebody who may read a repository. */
export interface HostMember {
  /** Id of the account at the host. */
  readonly accountId: string;
  /** Addresses verified by the host; may be empty. */
  readonly emails: readonly string[];
}

/** One connection's view of a code host. */
export interface Host {
  readonly codeHostType: CodeHostType;
  /** Prefix of its repositories' names: host, with a non-default port. */
  readonly nameHost: string;
  /**
   * The repositories that the connection selects and does not exclude, page by page, each once as far as the host allows. A
   * failure of one target is an issue of a page, and the listing continues. Errors: HostError if nothing can be listed; the
   * reason of the signal.
   */
  list(signal: AbortSignal): AsyncIterable<ListingPage>;
  /** The current credential for fetching a repository; undefined: none. Errors: HostError. */
  gitCredential(
    repo: Pick<HostRepo, 'path' | 'cloneUrl'>,
    signal: AbortSignal,
  ): Promise<GitCredential | undefined>;
  /**
   * The repository at a path now, whatever the connection excludes. Absent: only addresses identify its repositories.
   * Errors: HostError, `NOT_FOUND` if the credential sees nothing there; the reason of the signal.
   */
  readonly repository?: (path: string, signal: AbortSignal) => Promise<HostRepo>;
  /** Checks address and credential. Returns the host's name of the caller, for people. Errors: HostError. */
  probe(signal: AbortSignal): Promise<string>;
  /** How far its clock was ahead of ours at its last answer, ms; 0 or absent: unknown. */
  readonly clockAheadMs?: number;
  /**
   * All who may read a private repository. Absent: not supported. Errors: HostError, after all members `OTHER_REPOSITORY` if
   * they are of another repository that is at the path now.
   */
  readonly members?: (
    repo: Pick<HostRepo, 'hostId' | 'path'>,
    signal: AbortSignal,
  ) => AsyncIterable<HostMember>;
  close(): Promise<void>;
}

/** A host that cannot be reached, or refuses. The message names host, cause and next step, and contains no credential. */
export class HostError extends Error {
  override readonly name = 'HostError';
  readonly code: string;
  /** When a retry makes sense, ISO 8601; undefined: unknown. */
  readonly retryAt: string | undefined;

  constructor(code: string, message: string, retryAt?: string) {
    super(message);
    this.code = code;
    this.retryAt = retryAt;
  }
}

/** No request reached the host, or no answer came. */
export class UnreachableError extends HostError {}
