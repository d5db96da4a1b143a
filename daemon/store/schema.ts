// The tables as TypeScript types, the same on both engines. Times are milliseconds since the epoch, ids UUIDs, hashes 64
// hex digits. Migrations create the tables, with column names like `user_id` (engine.ts, PLUGINS). Rows leave the store
// through the files of their group (users.ts, grants.ts, ...).

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
  /** Ascends with the rows of one daemon: the order within one millisecond. */
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
  /** Null: creates the first owner, who does not exist yet. */
  readonly userId: string | null;
  readonly createdAt: number;
  /** Null: valid until used or removed. */
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
  /** The key that created it. */
  readonly apiKeyId: string;
  /** JSON array of repoIds as requested: always read and written as a whole. */
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
  /** JSON of a RepoLocation; null: another repo is there now. Always read and written as a whole. */
  readonly place: string | null;
  /** Host and path of the remote; null: none. */
  readonly remote: string | null;
  /** JSON: globs of further branches and tags, and the rules of the source; null: none. */
  readonly selection: string | null;
}

/** Counters that never decrease. */
export interface CounterTable {
  readonly name: string;
  readonly value: number;
}

/** A job of one daemon; its last attempt. */
export interface JobTable extends Omit<JobFacts, 'result'> {
  /** The daemon whose index it belongs to. */
  readonly instance: string;
  /** Ascends with the jobs of one daemon. */
  readonly ordinal: number;
  /** The code host that it contacts; '': none. */
  readonly host: string;
  /** A pending job starts then, the lease of a running one ends, a failed one is followed by another. Null: never. */
  readonly dueAt: number | null;
  /** Failed attempts of the target since the last success. */
  readonly failures: number;
  /** The process that runs it; null: none. */
  readonly owner: string | null;
  /** JSON object. */
  readonly result: string | null;
  /** JSON array of log lines: always read and written as a whole. */
  readonly lines: string;
}

export interface ConnectionTable {
  /** From its own counter. */
  readonly id: number;
  /** The daemon whose configuration contains it. */
  readonly instance: string;
  readonly name: string;
  readonly type: ConnectionType;
  /** Of the host, the same text for all its connections. */
  readonly address: string;
  /** JSON of ConnectionRules: always read and written as a whole. */
  readonly rules: string;
  /** End of its last listing; null: none. */
  readonly syncedAt: number | null;
  /** End of its last complete listing. */
  readonly wholeAt: number | null;
  /** Unused. */
  readonly listing: string | null;
}

/** A repo that a connection lists, or listed. */
export interface ConnectionRepoTable {
  readonly connectionId: number;
  readonly repoId: number;
  /** Number of the last listing that contained it; ascending. */
  readonly listing: number;
  /** Null: present. */
  readonly missingSince: number | null;
  /** JSON array, in order: the targets of the connection that listed it; null: unknown. */
  readonly targets: string | null;
}

export interface RemovedRepoTable {
  readonly repoId: number;
  /** Of the host. */
  readonly address: string;
  readonly hostId: string;
  readonly removedAt: number;
}

/** A host's facts about a repo. */
export interface RepoHostTable {
  readonly repoId: number;
  /** Of the host. */
  readonly address: string;
  /** The host's id. */
  readonly hostId: string;
  /** JSON of HostFacts: always read and written as a whole. */
  readonly facts: string;
}

/** Readers of a repo according to its host, as fetched by a connection. */
export interface HostReaderListTable {
  /** From a counter, never reused. */
  readonly id: number;
  readonly repoId: number;
  /** From listingConnection. */
  readonly connection: string;
  readonly takenAt: number;
  /** Accounts. */
  readonly readerCount: number;
}

/** An account that may read, once for each of its verified addresses. */
export interface HostReaderTable {
  readonly listId: number;
  /** The host's id. */
  readonly accountId: string;
  /** Trimmed, letters A to Z lower-cased; empty: no verified one. */
  readonly email: string;
}

/** An account of an identity provider, linked with a user. */
export interface SignOnAccountTable {
  /** Its own name. */
  readonly issuer: string;
  /** The issuer's id of the account. */
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
  /** When it last got a consent or tokens; null: never. */
  readonly usedAt: number | null;
}

export interface OAuthRequestTable {
  readonly hash: string;
  readonly userId: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly state: string | null;
  /** Address of the requested resource. */
  readonly resource: string;
  readonly expiresAt: number;
}

export interface OAuthConsentTable {
  readonly id: string;
  readonly userId: string;
  readonly clientId: string;
  readonly redirectUri: string;
  readonly codeChallenge: string;
  readonly resource: string;
  readonly codeHash: string;
  /** Of the part common to all its refresh tokens; null: its code was not used yet. */
  readonly familyHash: string | null;
  /** Of the current refresh token. */
  readonly refreshHash: string | null;
  /** Thumbprint of the key that its refresh tokens are bound to, as base64url; null: none. */
  readonly keyHash: string | null;
  readonly createdAt: number;
  /** When it last issued tokens. */
  readonly usedAt: number;
  /** Of the code, or of the refresh token. */
  readonly expiresAt: number;
}

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
  /** Of repos that were removed. */
  removed_grants: GrantTable;
  host_reader_lists: HostReaderListTable;
  host_readers: HostReaderTable;
  sign_on_accounts: SignOnAccountTable;
  oauth_clients: OAuthClientTable;
  oauth_requests: OAuthRequestTable;
  oauth_consents: OAuthConsentTable;
  oauth_tokens: OAuthTokenTable;
}
