// Who may see repos, whenever that changes, a repo comes in or goes: recorded with the change (API.md 24.3), and logged where
// flags show to all what was hidden. What changes nothing leaves no record.

import { isDeepStrictEqual } from 'node:util';
import { auditRecord, inShownParts, OPERATOR, ORG, shownRepos } from '../accounts/audit-trail.ts';
import type { StoredRepo } from '../store/repos.ts';
import { readProductVersion } from '../base/config/version.ts';
import type { Log } from '../base/log.ts';
import { isWary, type Witness } from '../index/register/register.ts';

/** Null: the repo is not known. */
type Rules = Pick<StoredRepo, 'visibility' | 'enforcement'> | null;

/** A record for each hundred repos whose rules were the same before, and are now; nearly always that is one record. */
export function ruleChanges(log: Log): Witness {
  const version = readProductVersion();
  return ({ actor = OPERATOR, told }, before, now, removed) => {
    const known = new Map(before.repos.map((repo) => [repo.repoId, repo]));
    const groups = new Map<string, { from: Rules; to: Rules; repos: StoredRepo[] }>();
    const gone = removed.flatMap((repoId) => known.get(repoId) ?? []);
    for (const repo of [...now, ...gone]) {
      const to = gone.includes(repo) ? null : rulesOf(repo);
      const from = rulesOf(known.get(repo.repoId));
      if (isDeepStrictEqual(from, to)) continue;
      const key = JSON.stringify([from, to]);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { from, to, repos: [repo] });
      else group.repos.push(repo);
    }
    const records = [...groups.values()].flatMap(({ from, to, repos }) =>
      inShownParts(repos).map((part) =>
        auditRecord(version, Date.now(), actor, 'settings.changed', ORG, {
          from,
          to,
          ...shownRepos(part),
        }),
      ),
    );
    const untold = isWary(before) ? 'restricted' : 'none';
    const wasHidden = ({ repoId }: StoredRepo): boolean =>
      (known.get(repoId)?.enforcement ?? untold) !== 'none';
    const opened = told?.enforcement === 'none' ? now.filter(wasHidden) : [];
    return {
      records,
      note: () => {
        if (opened.length > 0)
          log.warn(
            'permissions are not enforced any more, as --no-enforce-permissions says',
            shownRepos(opened),
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
