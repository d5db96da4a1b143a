// The tables as TypeScript sees them: the same on both engines. Times are milliseconds since the epoch, ids
// UUIDs, hashes 64 hex digits. What creates them are the migrations; rows leave the store through the
// files of their group (users.ts, grants.ts, ...), which give them the names of the domain.

import type { ConnectionType } from '../../base/config/connections.ts';
import type { JobState } from '../../repos/jobs.ts';
import type { Enforcement, Visibility } from '../../repos/records.ts';

/** A file in the data directory, or a PostgreSQL database. */
export type StoreKind = 'embedded' | 'postgres';

export interface UserTable {
  id: string;
  /** Trimmed and lower-cased. */
  email: string;
  name: string | null;
  role: 'OWNER' | 'MEMBER';
  /** argon2id; null: no password is set. */
  password_hash: string | null;
  suspended_at: number | null;
  created_at: number;
  updated_at: number;
  last_activity_at: number | null;
  /** Null: the default of the instance; -1: unlimited. */
  requests_per_day: number | null;
  /** Ascends with the rows that one daemon makes: the order of those of one millisecond. */
  ordinal: number;
}

export interface SessionTable {
  hash: string;
  user_id: string;
  created_at: number;
  expires_at: number;
}

export interface SetupLinkTable {
  hash: string;
  /** Null: for the first owner, who is not yet there. */
  user_id: string | null;
  created_at: number;
  expires_at: number | null;
}

export interface ApiKeyTable {
  id: string;
  user_id: string;
  name: string;
  hash: string;
  created_at: number;
  last_used_at: number | null;
  ordinal: number;
}

export interface ScopedTokenTable {
  id: string;
  hash: string;
  user_id: string;
  api_key_id: string;
  /** JSON array of repoIds in the order they were asked for: always read and written as a whole. */
  repo_ids: string;
  created_at: number;
  expires_at: number;
}

export interface GrantTable {
  user_id: string;
  repo_id: number;
}

/** Requests of a user on a UTC day, `YYYY-MM-DD`. */
export interface UsageTable {
  user_id: string;
  day: string;
  used: number;
}

export interface AuditTable {
  timestamp: number;
  ordinal: number;
  id: string;
  action: string;
  actor_id: string;
  actor_type: string;
  target_id: string;
  target_type: string;
  product_version: string;
  /** JSON object. */
  metadata: string | null;
  org_id: string;
}

export interface SettingTable {
  name: string;
  value: string;
}

export interface RepoTable {
  /** RepoId. */
  id: number;
  name: string;
  visibility: Visibility;
  enforcement: Enforcement;
  /** JSON of a RepoPlace; null: another repo has taken it. Always read and written as a whole. */
  place: string | null;
  /** Host and path of the remote; null: it has none. */
  remote: string | null;
  /** JSON: globs of further branches and tags, and the rules of the source; null: none. */
  selection: string | null;
}

/** Numbers that only ascend. */
export interface CounterTable {
  name: string;
  value: number;
}

/** A job of one daemon; its last attempt counts. */
export interface JobTable {
  id: string;
  /** The daemon whose index it is of. */
  instance: string;
  queue: string;
  /** RepoId, or id of a connection. */
  target_id: number;
  priority: number;
  state: JobState;
  attempt: number;
  /** Ascends with the jobs that one daemon makes. */
  ordinal: number;
  created_at: number;
  started_at: number | null;
  finished_at: number | null;
  error: string | null;
  /** JSON object. */
  result: string | null;
  /** JSON array of log lines: always read and written as a whole. */
  lines: string;
}

/** A connection of the configuration of one daemon. */
export interface ConnectionTable {
  /** From a counter of its own. */
  id: number;
  /** The daemon whose configuration has it. */
  instance: string;
  name: string;
  type: ConnectionType;
  /** Of the host, the same text for all connections to it. */
  address: string;
  /** JSON of ConnectionRules: always read and written as a whole. */
  rules: string;
  /** When a listing of it ended last. */
  synced_at: number | null;
  /** The same, of one that was whole. */
  whole_at: number | null;
  /** JSON: how far the listing is that is under way; null: none is. */
  listing: string | null;
}

/** A repo that a connection lists, or did. */
export interface ConnectionRepoTable {
  connection_id: number;
  repo_id: number;
  /** Number of the last listing that had it. */
  listing: number;
  /** Null: it is there. */
  missing_since: number | null;
}

/** What the host of a repo says of it. */
export interface RepoHostTable {
  repo_id: number;
  /** Of the host. */
  address: string;
  /** The id that the host gave it. */
  host_id: string;
  /** JSON of HostFacts: always read and written as a whole. */
  facts: string;
}

/** Who may read a repo by its host, as a connection heard it. */
export interface HostReaderListTable {
  /** By a counter, never again. */
  id: number;
  repo_id: number;
  /** Name of the connection. */
  connection: string;
  taken_at: number;
  /** Accounts. */
  reader_count: number;
}

/** An account that may read, once for each of its verified addresses. */
export interface HostReaderTable {
  list_id: number;
  /** As the host calls it. */
  account_id: string;
  /** Trimmed, letters A to Z lower-cased; empty: none that is verified. */
  email: string;
}

/** An account of an identity provider, linked with a user. */
export interface SignOnAccountTable {
  /** As it calls itself. */
  issuer: string;
  /** The account, as the issuer calls it. */
  subject: string;
  user_id: string;
  created_at: number;
}

/** A program that registered itself to sign people in. */
export interface OAuthClientTable {
  id: string;
  name: string;
  /** JSON array. */
  redirect_uris: string;
  created_at: number;
  /** When it was allowed something, or given tokens, last; null: never. */
  used_at: number | null;
}

/** What a client asks a user for. */
export interface OAuthRequestTable {
  hash: string;
  user_id: string;
  client_id: string;
  redirect_uri: string;
  code_challenge: string;
  state: string | null;
  resource: string;
  expires_at: number;
}

/** What a user lets a client do. */
export interface OAuthConsentTable {
  id: string;
  user_id: string;
  client_id: string;
  redirect_uri: string;
  code_challenge: string;
  resource: string;
  code_hash: string;
  /** Null: the code was not used. */
  family_hash: string | null;
  refresh_hash: string | null;
  /** Thumbprint of a key, as base64url. */
  key_hash: string | null;
  created_at: number;
  used_at: number;
  expires_at: number;
}

/** An access token. */
export interface OAuthTokenTable {
  hash: string;
  consent_id: string;
  resource: string;
  /** As in OAuthConsentTable. */
  key_hash: string | null;
  created_at: number;
  expires_at: number;
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
  host_reader_lists: HostReaderListTable;
  host_readers: HostReaderTable;
  sign_on_accounts: SignOnAccountTable;
  oauth_clients: OAuthClientTable;
  oauth_requests: OAuthRequestTable;
  oauth_consents: OAuthConsentTable;
  oauth_tokens: OAuthTokenTable;
}
