// Opens and reconciles catalog and store for the owner of a data directory.

import { randomUUID } from 'node:crypto';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { auditRecord, inListedParts, OPERATOR, ORG, repoFields } from '../accounts/audit-log.ts';
import { systemCodeOf } from '../base/caught.ts';
import { addToList } from '../base/lists.ts';
import { readProductVersion } from '../base/config/version.ts';
import { readOwn, writeOwn } from '../base/own-file.ts';
import { Catalog } from '../index/catalog/catalog.ts';
import { setKnownRepos } from '../sources/disk/known-repos.ts';
import type { StoredRepo } from '../store/repos.ts';
import { ANSWER_MS_MAX, openStore, type Store } from '../store/store.ts';
import { openCatalog } from '../index/register/open-catalog.ts';
import { isWary, RepoRegistry, repoPathsOf, type Witness } from '../index/register/registry.ts';
import type { Log } from '../base/log.ts';

export interface Index {
  readonly catalog: Catalog;
  readonly store: Store;
  readonly registry: RepoRegistry;
  /** Identifies this data directory among those that share the store: each has its own jobs. */
  readonly instanceId: string;
  readonly close: () => Promise<void>;
}

const INSTANCE_FILE = 'instance';

/** The data directory must be locked. `databaseUrl` undefined: the embedded store. Errors: NOT_READY; CatalogError. */
export async function openIndex(
  dataDir: string,
  databaseUrl: string | undefined,
  log: Log,
): Promise<Index> {
  const store = await openStore({ dataDir, databaseUrl, log, answerMsMax: ANSWER_MS_MAX });
  const catalog = new Catalog(dataDir);
  const close = async (): Promise<void> => {
    await catalog.close();
    await store.close();
  };
  try {
    const registry = await RepoRegistry.open(store.repos, log, ruleChanges(log));
    await openCatalog(catalog, registry, store.kind === 'embedded', log);
    setKnownRepos(knownRepoPaths(registry, catalog, store.kind === 'embedded'));
    return { catalog, store, registry, instanceId: instanceOf(store, dataDir), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * The paths of the repositories that this daemon reads. A shared store has those of other machines too: there its own are
 * those of its index. An embedded one has only its own, also after the index was lost.
 */
function knownRepoPaths(
  registry: RepoRegistry,
  catalog: Catalog,
  isOwnStore: boolean,
): () => readonly string[] {
  let paths: readonly string[] = [];
  let version = '';
  return () => {
    const current = `${registry.version} ${catalog.version}`;
    if (version !== current) {
      const isOwn = ({ repoId }: StoredRepo): boolean =>
        isOwnStore || catalog.repo(repoId) !== undefined;
      paths = registry.all.filter(isOwn).flatMap(repoPathsOf);
      version = current;
    }
    return paths;
  };
}

/** Whether a repo is in the store only because of another daemon, as far as this index knows. */
export function isElsewhere(
  { store, catalog }: Pick<Index, 'store' | 'catalog'>,
  repoId: number,
): boolean {
  return store.kind !== 'embedded' && catalog.repo(repoId) === undefined;
}

/** The data directory must be locked. */
export function instanceOf({ kind }: Pick<Store, 'kind'>, dataDir: string): string {
  if (kind === 'embedded') return 'embedded';
  const file = path.join(dataDir, INSTANCE_FILE);
  try {
    return readOwn(file).toString().trim();
  } catch (error) {
    if (systemCodeOf(error) !== 'ENOENT') throw error;
    const id = randomUUID();
    writeOwn(file, `${id}\n`, { mode: 0o600 });
    return id;
  }
}

/** Who may see a repo; null: there is none. */
type Rules = Pick<StoredRepo, 'visibility' | 'enforcement'> | null;

function rulesOf(repo: StoredRepo | undefined): Rules {
  return repo === undefined ? null : { visibility: repo.visibility, enforcement: repo.enforcement };
}

/**
 * Records who may see repos, added and removed ones in the audit trail (API.md 24.3): a record for each hundred repos
 * with the same change. Warns if flags of the command line make hidden repos visible to all.
 */
export function ruleChanges(log: Log): Witness {
  const version = readProductVersion();
  return ({ actor = OPERATOR, flags }, before, now, removed) => {
    const former = new Map(before.repos.map((repo) => [repo.repoId, repo]));
    const gone = removed.flatMap((repoId) => former.get(repoId) ?? []);
    const groups = new Map<string, { from: Rules; to: Rules; repo: StoredRepo }[]>();
    for (const repo of [...now, ...gone]) {
      const from = rulesOf(former.get(repo.repoId));
      const to = gone.includes(repo) ? null : rulesOf(repo);
      if (!isDeepStrictEqual(from, to))
        addToList(groups, JSON.stringify([from, to]), { from, to, repo });
    }
    const records = [...groups.values()].flatMap((group) =>
      inListedParts(group.map(({ repo }) => repo)).map((part) => {
        const { from, to } = group[0]!;
        const facts = { from, to, ...repoFields(part) };
        return auditRecord(version, Date.now(), actor, 'settings.changed', ORG, facts);
      }),
    );
    const unknown = isWary(before) ? 'restricted' : 'none';
    const wasHidden = ({ repoId }: StoredRepo): boolean =>
      (former.get(repoId)?.enforcement ?? unknown) !== 'none';
    const opened = flags?.enforcement === 'none' ? now.filter(wasHidden) : [];
    const warning = 'permissions are no longer enforced, because of --no-enforce-permissions';
    return { records, note: () => opened.length > 0 && log.warn(warning, repoFields(opened)) };
  };
}
