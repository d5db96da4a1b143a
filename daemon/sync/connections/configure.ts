// Applies a configuration to the connections and repos of the store, before any host is contacted. A connection that
// was removed from it lists nothing any more; its repos stay until they are removed, or another connection lists them.

import { isDeepStrictEqual } from 'node:util';
import type { ConnectionRules, StoredConnection, StoredLink } from '../../store/connections.ts';
import type { StoredRepos, RepoDecision } from '../../store/repos.ts';
import type { ConnectionSettings } from '../../base/config/connections.ts';
import { withoutHost } from './end-listing.ts';
import { LinkIndex } from './link-index.ts';
import { addressOf, rulesOf, underRules } from './rules.ts';

export interface AppliedConfiguration {
  readonly instance: string;
  /** No other daemon uses the store: foreign connections came with a backup; they are taken over by name, or gone. */
  readonly isAlone: boolean;
  readonly connections: Readonly<Record<string, ConnectionSettings>>;
  readonly now: number;
}

/** The result: changed repos, and those whose selected revisions changed. */
export function configure(
  stored: StoredRepos,
  { instance, isAlone, connections, now }: AppliedConfiguration,
): RepoDecision<{
  readonly changedIds: ReadonlySet<number>;
  readonly dueIds: ReadonlySet<number>;
}> {
  const own = stored.connections.filter((one) => isAlone || one.instance === instance);
  // Its own connection precedes a foreign one of the same name.
  own.sort((a, b) => Number(a.instance === instance) - Number(b.instance === instance));
  const before = new Map(own.map((one) => [one.name, one]));
  let nextId = stored.nextConnectionId;
  const configured = Object.entries(connections).map(([name, settings]): StoredConnection => {
    const existing = before.get(name);
    return connectionOf(existing?.connectionId ?? nextId++, instance, name, settings, existing);
  });
  const isConfigured = new Set(configured.map(({ connectionId }) => connectionId));
  const gone = own.filter(({ connectionId }) => !isConfigured.has(connectionId)).map(goneOf);
  const puts = new Map([...configured, ...gone].map((one) => [one.connectionId, one]));
  const after = stored.connections.filter(({ connectionId }) => !puts.has(connectionId));
  const links = new LinkIndex({ ...stored, connections: [...after, ...puts.values()] });
  const lost = lostLinks(links, puts, now);
  for (const link of lost) links.put(link);
  const touched = stored.links.filter(({ connectionId }) => puts.has(connectionId));
  const changed = [...new Set(touched.map(({ repoId }) => repoId))].flatMap((repoId) => {
    const repo = withoutHost(links, repoId)[0] ?? links.repo(repoId);
    const now = repo && underRules(repo, links.rulesOf(repoId));
    return now === undefined || isDeepStrictEqual(now, links.repo(repoId)) ? [] : [now];
  });
  const due = changed.filter(
    ({ repoId, selection }) => !isDeepStrictEqual(links.repo(repoId)?.selection, selection),
  );
  const removedConnections = links.spentConnections;
  const stays = ({ connectionId }: { readonly connectionId: number }): boolean =>
    !removedConnections.includes(connectionId);
  return {
    changed,
    connections: [...puts.values()].filter((one) => stays(one) && !isSame(one, stored)),
    removedConnections,
    links: lost.filter(stays),
    result: {
      changedIds: new Set(changed.map(({ repoId }) => repoId)),
      dueIds: new Set(due.map(({ repoId }) => repoId)),
    },
  };
}

function connectionOf(
  connectionId: number,
  instance: string,
  name: string,
  settings: ConnectionSettings,
  existing: StoredConnection | undefined,
): StoredConnection {
  const rules = rulesOf(settings);
  const isSame = existing?.rules.digest === rules.digest;
  return {
    connectionId,
    instance,
    name,
    type: settings.type,
    address: addressOf(settings, instance),
    rules,
    syncedAt: existing?.syncedAt ?? null,
    // Under other settings the listing is unknown.
    wholeAt: isSame ? existing.wholeAt : null,
  };
}

function goneOf(connection: StoredConnection): StoredConnection {
  const rules: ConnectionRules = { ...connection.rules, digest: '' };
  return { ...connection, rules, wholeAt: null };
}

/** Links of connections that were removed or now have another host. */
function lostLinks(
  links: LinkIndex,
  connections: ReadonlyMap<number, StoredConnection>,
  now: number,
): StoredLink[] {
  return links.stored.links.flatMap((link) => {
    const connection = connections.get(link.connectionId);
    if (connection === undefined || link.missingSince !== null) return [];
    const isOfHost = links.repo(link.repoId)?.host?.address === connection.address;
    return isOfHost && connection.rules.digest !== '' ? [] : [{ ...link, missingSince: now }];
  });
}

function isSame(connection: StoredConnection, { connections }: StoredRepos): boolean {
  const before = connections.find(({ connectionId }) => connectionId === connection.connectionId);
  return isDeepStrictEqual(before, connection);
}
