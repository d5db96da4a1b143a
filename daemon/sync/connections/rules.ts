// Rules that a connection sets for its repos. A repo of several connections gets the strictest visibility of all
// (API.md 4.7), and every revision that any of them selects.

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

/** The host of a connection, the same text for all to it; repo ids are unique within it. */
export function addressOf(settings: ConnectionSettings, instance: string): string {
  const { type } = settings;
  const url = new URL(settings.url);
  if (url.protocol === 'file:') return localAddress(instance);
  const path = type === 'git' ? '' : url.pathname.replace(/\/+$/, '');
  // Why: with a credential mirrors may contain branches that not everybody may read.
  if (type === 'gerrit' && settings.token === undefined)
    return `${type} ${url.protocol}//${url.host}${path} anonymous`;
  return `${type} ${url.protocol}//${url.host}${path}`;
}

/** The host of connections to folders of the machine of a daemon. */
export function localAddress(instance: string): string {
  return `git file://${instance}`;
}

/** Applies the rules of the connections that list a repo, or did; a repo without any, or a named one, is unchanged. */
export function underRules(repo: StoredRepo, rules: readonly ConnectionRules[]): StoredRepo {
  if (rules.length === 0 || repo.host === undefined) return repo;
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
