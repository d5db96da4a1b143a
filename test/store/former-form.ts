// What takes a store back to a form that an earlier version of Trawl made.

/** Takes a store back to its second form, with a count. */
export const SECOND_FORM = [
  `ALTER TABLE usage ADD COLUMN leases text NOT NULL DEFAULT '[]'`,
  `ALTER TABLE usage ADD COLUMN wanted_until bigint NOT NULL DEFAULT 0`,
  `INSERT INTO usage (user_id, day, used) VALUES ('u', '2026-06-01', 7)`,
  `DROP TABLE oauth_tokens`,
  `DROP TABLE oauth_consents`,
  `DROP TABLE oauth_requests`,
  `DROP TABLE oauth_clients`,
  `DROP TABLE jobs`,
  `DROP TABLE sign_on_accounts`,
  `DROP TABLE host_readers`,
  `DROP TABLE host_reader_lists`,
  `DROP TABLE removed_grants`,
  `DROP TABLE removed_repos`,
  `DROP TABLE connection_repos`,
  `DROP TABLE connections`,
  `DROP TABLE repo_hosts`,
  `DELETE FROM trawl_migrations WHERE name IN ('0003', '0004', '0005', '0006', '0007', '0008', '0009', '0010')`,
];
