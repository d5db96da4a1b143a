// Records each change of who may see repos, and added or removed repos, in the audit trail (API.md 24.3). Logs a
// warning if command line flags make hidden repos visible to all.

import { isDeepStrictEqual } from 'node:util';
import { auditRecord, inListedParts, OPERATOR, ORG, repoFields } from '../accounts/audit-log.ts';
import type { StoredRepo } from '../store/repos.ts';
import { readProductVersion } from '../base/config/version.ts';
import type { Log } from '../base/log.ts';
import { isWary, type Witness } from '../index/register/registry.ts';

/** Null: no such repo. */
type Rules = Pick<StoredRepo, 'visibility' | 'enforcement'> | null;

/** One record per hundred repos with the same old and new permissions; nearly always one in all. */
export function ruleChanges(log: Log): Witness {
  const version = readProductVersion();
  return ({ actor = OPERATOR, flags }, before, now, removed) => {
    const indexed = new Map(before.repos.map((repo) => [repo.repoId, repo]));
    const groups = new Map<string, { from: Rules; to: Rules; repos: StoredRepo[] }>();
    const gone = removed.flatMap((repoId) => indexed.get(repoId) ?? []);
    for (const repo of [...now, ...gone]) {
      const to = gone.includes(repo) ? null : rulesOf(repo);
      const from = rulesOf(indexed.get(repo.repoId));
      if (isDeepStrictEqual(from, to)) continue;
      const key = JSON.stringify([from, to]);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { from, to, repos: [repo] });
      else group.repos.push(repo);
    }
    const records = [...groups.values()].flatMap(({ from, to, repos }) =>
      inListedParts(repos).map((part) =>
        auditRecord(version, Date.now(), actor, 'settings.changed', ORG, {
          from,
          to,
          ...repoFields(part),
        }),
      ),
    );
    const untold = isWary(before) ? 'restricted' : 'none';
    const wasHidden = ({ repoId }: StoredRepo): boolean =>
      (indexed.get(repoId)?.enforcement ?? untold) !== 'none';
    const opened = flags?.enforcement === 'none' ? now.filter(wasHidden) : [];
    return {
      records,
      note: () => {
        if (opened.length > 0)
          log.warn(
            'permissions are no longer enforced, because of --no-enforce-permissions',
            repoFields(opened),
          );
      },
    };
  };
}

function rulesOf(repo: StoredRepo | undefined): Rules {
  if (repo === undefined) return null;
  const { visibility, enforcement } = repo;
  return { visibility, enforcement };
}
