// The tables as TypeScript sees them: the same on both engines. Times are milliseconds since the epoch, ids
// UUIDs, hashes 64 hex digits. What creates them are the migrations, which call columns `user_id` (engine.ts, PLUGINS).
// Rows leave the store through the files of their group (users.ts, grants.ts, ...).

import type { ConnectionType } from '../base/config/connections.ts';
import type { JobFacts } from '../repos/jobs.ts';
import type { Enforcement, Visibility } from '../repos/records.ts';

/** A file in the data directory, or a PostgreSQL database. */
export type StoreKind = 'embedded' | 'postgres';

export interface UserTable {
  readonly id: string;
  /** Trimmed and lower-cased. */
  readonly email: string;
  readonly name: string | null;
  readonly role: 'OWNER' | 'MEMBER';
  /** argon2id; null: no password is set. */
  readonly passwordHash: string | null;
  readonly suspendedAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly lastActivityAt: number | null;
  /** Null: the default of the instance; -1: unlimited. */
  readonly requestsPerDay: number | null;
  /** Ascends with the rows that one daemon makes: the order of those of one millisecond. */
  readonly ordinal: number;
}

export interface SessionTable {
  readonly hash: string;
  readonly userId: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface SetupLinkTable {
  readonly hash: string;
  /** Null: makes the first owner, who is not yet there. */
  readonly userId: string | null;
  readonly createdAt: number;
  /** Null: valid until it is used or removed. */
  readonly expiresAt: number | null;
}

export interface ApiKeyTable {
  readonly id: string;
  readonly userId: string;
  /** Unique among the keys of the user. */
  readonly name: string;
  readonly hash: string;
  readonly createdAt: number;
  readonly lastUsedAt: number | null;
  readonly ordinal: number;
}

export interface ScopedTokenTable {
  readonly id: string;
  readonly hash: string;
  readonly userId: string;
  /** The key that made it. */
  readonly apiKeyId: string;
  /** JSON array of repoIds in the order they were asked for: always read and written as a whole. */
  readonly repoIds: string;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface GrantTable {
  readonly userId: string;
  readonly repoId: number;
}

/** Requests of a user on a UTC day, `YYYY-MM-DD`. */
export interface UsageTable {
  readonly userId: string;
  readonly day: string;
  readonly used: number;
}

export interface AuditTable {
  readonly timestamp: number;
  readonly ordinal: number;
  readonly id: string;
  readonly action: string;
  readonly actorId: string;
  readonly actorType: string;
  readonly targetId: string;
  readonly targetType: string;
  readonly productVersion: string;
  /** JSON object. */
  readonly metadata: string | null;
  readonly orgId: string;
}

export interface SettingTable {
  readonly name: string;
  readonly value: string;
}

export interface RepoTable {
  /** RepoId. */
  readonly id: number;
  readonly name: string;
  readonly visibility: Visibility;
  readonly enforcement: Enforcement;
  /** JSON of a RepoPlace; null: another repo has taken it. Always read and written as a whole. */
  readonly place: string | null;
  /** Host and path of the remote; null: it has none. */
  readonly remote: string | null;
  /** JSON: globs of further branches and tags, and the rules of the source; null: none. */
  readonly selection: string | null;
}

/** Numbers that only ascend. */
export interface CounterTable {
  readonly name: string;
  readonly value: number;
}

/** A job of one daemon; its last attempt counts. */
export interface JobTable extends Omit<JobFacts, 'result'> {
  /** The daemon whose index it is of. */
  readonly instance: string;
  /** Ascends with the jobs that one daemon makes. */
  readonly ordinal: number;
  /** JSON object. */
  readonly result: string | null;
  /** JSON array of log lines: always read and written as a whole. */
  readonly lines: string;
}

/** A connection of the configuration of one daemon. */
export interface ConnectionTable {
  /** From a counter of its own. */
  readonly id: number;
  /** The daemon whose configuration has it. */
  readonly instance: string;
  readonly name: string;
  readonly type: ConnectionType;
  /** Of the host, the same text for all connections to it. */
  readonly address: string;
  /** JSON of ConnectionRules: always read and written as a whole. */
  readonly rules: string;
  /** When a listing of it ended last; null: none did. */
  readonly syncedAt: number | null;
  /** The same, of one that was whole. */
  readonly wholeAt: number | null;
  /** JSON: how far the listing is that is under way; null: none is. */
  readonly listing: string | null;
}

/** A repo that a connection lists, or did. */
export interface ConnectionRepoTable {
  readonly connectionId: number;
  readonly repoId: number;
  /** Number of the last listing that had it; they ascend. */
  readonly listing: number;
  /** Null: it is there. */
  readonly missingSince: number | null;
  /** JSON array, in order: the targets of the connection that brought it; null: not known. */
  readonly targets: string | null;
}

/** A repo that was removed, for as long as it gets its id and its grants back when its host has it again. */
export interface RemovedRepoTable {
  readonly repoId: number;
  /** Of the host. */
  readonly address: string;
  readonly hostId: string;
  readonly removedAt: number;
}

/** A grant of a repo that was removed. */
export interface RemovedGrantTable {
  readonly repoId: number;
  readonly userId: string;
}

/** What the host of a repo says of it. */
export interface RepoHostTable {
  readonly repoId: number;
  /** Of the host. */
  readonly address: string;
  /** The id that the host gave it. */
  readonly hostId: string;
  /** JSON of HostFacts: always read and written as a whole. */
  readonly facts: string;
}

/** Who may read a repo by its host, as a connection heard it. */
export interface HostReaderListTable {
  /** By a counter, never again. */
  readonly id: number;
  readonly repoId: number;
  /** Name of the connection. */
  readonly connection: string;
  readonly takenAt: number;
  /** Accounts. */
  readonly readerCount: number;
}

/** An account that may read, once for each of its verified addresses. */
export interface HostReaderTable {
  readonly listId: number;
  /** As the host calls it. */
  readonly accountId: string;
  /** Trimmed, letters A to Z lower-cased; empty: none that is verified. */
  readonly email: string;
}

/** An account of an identity provider, linked with a user. */
export interface SignOnAccountTable {
  /** As it calls itself. */
  readonly issuer: string;
  /** The account, as the issuer calls it. */
  readonly subject: string;
  readonly userId: string;
  readonly createdAt: number;
}

/** A program that registered itself to sign people in. */
export interface OAuthClientTable {
  readonly id: string;
  readonly name: string;
  /** JSON array. */
  readonly redirectUris: string;
  readonly createdAt: number;
  /** When it was allowed something, or given tokens, last; null: never. */
  readonly usedAt: number | null;
}

/** What a client asks a user for. */
export interface OAuthRequestTable {
  readonly hash: string;
  readonly userId: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly state: string | null;
  /** Address of what is to be reached. */
  readonly resource: string;
  readonly expiresAt: number;
}

/** What a user lets a client do. */
export interface OAuthConsentTable {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly resource: string;
  readonly codeHash: string;
  /** Of what all its refresh tokens have in common; null: its code was not used yet. */
  readonly familyHash: string | null;
  /** Of the refresh token that is good. */
  readonly refreshHash: string | null;
  /** Thumbprint of the key that its refresh tokens are bound to, as base64url; null: none. */
  readonly keyHash: string | null;
  readonly createdAt: number;
  /** When it gave tokens last. */
  readonly usedAt: number;
  /** Of the code, or of the refresh token. */
  readonly expiresAt: number;
}

/** An access token. */
export interface OAuthTokenTable {
  readonly hash: string;
  readonly consentId: string;
  readonly resource: string;
  /** As in OAuthConsentTable. */
  readonly keyHash: string | null;
  readonly createdAt: number;
  readonly expiresAt: number;
}

export interface Schema {
  users: UserTable;
  sessions: SessionTable;
  setup_links: SetupLinkTable;
  api_keys: ApiKeyTable;
  scoped_tokens: ScopedTokenTable;
  grants: GrantTable;
  usage: UsageTable;
  audit: AuditTable;
  settings: SettingTable;
  repos: RepoTable;
  counters: CounterTable;
  jobs: JobTable;
  connections: ConnectionTable;
  connection_repos: ConnectionRepoTable;
  repo_hosts: RepoHostTable;
  removed_repos: RemovedRepoTable;
  removed_grants: RemovedGrantTable;
  host_reader_lists: HostReaderListTable;
  host_readers: HostReaderTable;
  sign_on_accounts: SignOnAccountTable;
  oauth_clients: OAuthClientTable;
  oauth_requests: OAuthRequestTable;
  oauth_consents: OAuthConsentTable;
  oauth_tokens: OAuthTokenTable;
}
