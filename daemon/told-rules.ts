// Who may see repos, where the flags of a start change that: recorded and logged (API.md 24.3). A start that changes
// nothing leaves no record.

import { type AuditTrail, OPERATOR, ORG } from './accounts/audit-trail.ts';
import type { StoredRepo } from './accounts/store/repos.ts';
import type { Log } from './base/log.ts';
import type { RepoChange } from './sync/change-repo.ts';

/** Names that a record holds. */
const SHOWN_MAX = 100;

type Rules = Pick<StoredRepo, 'visibility' | 'enforcement'>;

/**
 * Records what a start was told of who may see repos, if that is another than before.
 *
 * @param before, now  the repos of the store before and after the change
 */
export function recordToldRules(
  { visibility, enforcement }: RepoChange,
  before: readonly StoredRepo[],
  now: readonly StoredRepo[],
  { trail, log }: { readonly trail: AuditTrail; readonly log: Log },
): void {
  if (visibility === undefined && enforcement === undefined) return;
  const known = new Map<number, Rules>(before.map((repo) => [repo.repoId, repo]));
  const isWary = before.some((repo) => repo.enforcement !== 'none');
  const untold: Rules = { visibility: 'unknown', enforcement: isWary ? 'restricted' : 'none' };
  const wasOf = ({ repoId }: StoredRepo): Rules => known.get(repoId) ?? untold;
  const changed = now.filter((repo) => {
    const was = wasOf(repo);
    return was.visibility !== repo.visibility || was.enforcement !== repo.enforcement;
  });
  if (changed.length === 0) return;
  const repos = changed.map(({ name }) => name);
  const told = {
    ...(visibility === undefined ? {} : { visibility }),
    ...(enforcement === undefined ? {} : { enforcement }),
  };
  const shown = { repos: repos.slice(0, SHOWN_MAX), repoCount: repos.length };
  trail.note(OPERATOR, 'settings.changed', ORG, { ...told, ...shown });
  const opened = changed.filter((repo) => wasOf(repo).enforcement !== repo.enforcement);
  if (enforcement === 'none' && opened.length > 0)
    log.warn('permissions are not enforced any more, as --no-enforce-permissions says', {
      repos: opened.slice(0, SHOWN_MAX).map(({ name }) => name),
      repoCount: opened.length,
    });
}
