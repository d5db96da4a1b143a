// What the configuration says of all repos of a connection, and what follows for a repo that several connections list: the
// strictest of what they say of who may see it (API.md 4.7), and all the revisions that any of them wants.

import { hash } from 'node:crypto';
import type { ConnectionRules } from '../../store/connections.ts';
import type { StoredRepo } from '../../store/repos.ts';
import type { ConnectionSettings } from '../../base/config/connections.ts';

export function rulesOf(settings: ConnectionSettings): ConnectionRules {
  return {
    isEnforcing: settings.enforcePermissions,
    isEnforcingPublic: settings.enforcePermissionsForPublicRepos,
    keepsDeleted: settings.keepDeleted,
    branches: settings.revisions.branches,
    tags: settings.revisions.tags,
    digest: hash('sha256', JSON.stringify(settings)),
  };
}

/**
 * The host of a connection, as one text for all connections to it: ids of its repos are those of this host alone.
 *
 * @param instance  the daemon whose machine it is, where paths are meant
 */
export function addressOf(settings: ConnectionSettings, instance: string): string {
  const { type } = settings;
  const url = new URL(settings.url);
  if (url.protocol === 'file:') return `${type} file://${instance}`;
  const path = type === 'git' ? '' : url.pathname.replace(/\/+$/, '');
  return `${type} ${url.protocol}//${url.host}${path}`;
}

/** A repo under the rules of the connections that list it, or did; without any it stays as it is. */
export function underRules(repo: StoredRepo, rules: readonly ConnectionRules[]): StoredRepo {
  if (rules.length === 0) return repo;
  const { selection: _, ...rest } = repo;
  const selection = {
    branches: [...new Set(rules.flatMap(({ branches }) => branches))].sort(),
    tags: [...new Set(rules.flatMap(({ tags }) => tags))].sort(),
  };
  const isNone = selection.branches.length + selection.tags.length === 0;
  return { ...rest, enforcement: enforcementOf(rules), ...(isNone ? {} : { selection }) };
}

function enforcementOf(rules: readonly ConnectionRules[]): StoredRepo['enforcement'] {
  if (!rules.some(({ isEnforcing }) => isEnforcing)) return 'none';
  return rules.some(({ isEnforcingPublic }) => isEnforcingPublic) ? 'all' : 'restricted';
}
