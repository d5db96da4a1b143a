// Grants of the configuration (API.md 19.5): to users, groups or everyone, for repos by globs over their names. Evaluated
// by repo-access-resolver.ts.

import { globTest } from '../base/glob-test.ts';
import type { PermissionsConfiguration } from '../base/config/file-schema.ts';

export interface ConfiguredGrant {
  readonly isForEveryone: boolean;
  /** Lower-cased. */
  readonly emails: ReadonlySet<string>;
  readonly covers: (repoName: string) => boolean;
}

/** The grants with resolved groups. Unknown principals were refused before. */
export function configuredGrants({
  groups,
  grants,
}: PermissionsConfiguration): readonly ConfiguredGrant[] {
  return grants.map(({ to, repos }) => ({
    isForEveryone: to.includes('everyone'),
    emails: new Set(to.flatMap((one) => emailsOf(one, groups)).map((email) => email.toLowerCase())),
    covers: globTest(repos),
  }));
}

function emailsOf(receiver: string, groups: PermissionsConfiguration['groups']): readonly string[] {
  if (receiver.startsWith('user:')) return [receiver.slice('user:'.length).trim()];
  return receiver.startsWith('group:') ? (groups[receiver.slice('group:'.length)] ?? []) : [];
}
