// Who may see repos, where the flags of a command change that: recorded with the change, and logged (API.md 24.3). Flags that
// change nothing leave no record.

import { auditRecord, OPERATOR, ORG } from './accounts/audit-trail.ts';
import type { StoredRepo } from './accounts/store/repos.ts';
import { readProductVersion } from './base/config/version.ts';
import type { Log } from './base/log.ts';
import { isWary, type Witness } from './sync/register.ts';

/** Names that a record holds. */
const SHOWN_MAX = 100;

type Rules = Pick<StoredRepo, 'visibility' | 'enforcement'>;

/** Says what flags change of who may see repos, if anything. */
export function toldRules(log: Log): Witness {
  return ({ visibility, enforcement }, before, now) => {
    if (visibility === undefined && enforcement === undefined) return undefined;
    const known = new Map<number, Rules>(before.repos.map((repo) => [repo.repoId, repo]));
    const untold: Rules = {
      visibility: 'unknown',
      enforcement: isWary(before) ? 'restricted' : 'none',
    };
    const wasOf = ({ repoId }: StoredRepo): Rules => known.get(repoId) ?? untold;
    const opened = now.filter((repo) => wasOf(repo).enforcement !== repo.enforcement);
    const changed = now.filter(
      (repo) => opened.includes(repo) || wasOf(repo).visibility !== repo.visibility,
    );
    if (changed.length === 0) return undefined;
    const told = {
      ...(visibility === undefined ? {} : { visibility }),
      ...(enforcement === undefined ? {} : { enforcement }),
    };
    const metadata = { ...told, ...namesOf(changed) };
    const version = readProductVersion();
    return {
      records: [auditRecord(version, Date.now(), OPERATOR, 'settings.changed', ORG, metadata)],
      note: () => {
        if (enforcement === 'none' && opened.length > 0)
          log.warn(
            'permissions are not enforced any more, as --no-enforce-permissions says',
            namesOf(opened),
          );
      },
    };
  };
}

function namesOf(repos: readonly StoredRepo[]): { repos: string[]; repoCount: number } {
  return { repos: repos.slice(0, SHOWN_MAX).map(({ name }) => name), repoCount: repos.length };
}
