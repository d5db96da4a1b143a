// Changes of repos by command line flags: their revisions, and who may see them. Also derives a repo's record from the
// store.

import { omitUndefined } from '../../base/omit-undefined.ts';
import {
  type Enforcement,
  type RepoRecord,
  type RevisionSelection,
  rulesOf,
  type SourceRules,
  type Visibility,
} from '../../repos/records.ts';
import type { HostFacts, StoredRepo } from '../../store/repos.ts';

/** Absent members stay. */
export interface RepoChange extends Partial<RevisionSelection> {
  readonly visibility?: Exclude<Visibility, 'unknown'>;
  /** `none`: everybody who may search sees the repo. */
  readonly enforcement?: Enforcement;
  /** As of a source (repos/records.ts); false and none: remove the setting. */
  readonly noIgnore?: boolean;
  readonly ignore?: readonly string[];
  readonly reposApart?: boolean;
}

export function withChange(repo: StoredRepo, change: RepoChange): StoredRepo {
  const { selection: before, rules: rulesBefore, ...rest } = repo;
  const rules = withRules(rulesBefore, change);
  const { visibility = repo.visibility, enforcement = repo.enforcement } = change;
  const isFolder = repo.location?.kind === 'folder';
  const selection = isFolder ? before : withSelection(before, change);
  return {
    ...rest,
    visibility,
    enforcement,
    ...omitUndefined({ selection }),
    ...(Object.keys(rules).length === 0 ? {} : { rules }),
  };
}

function withRules(before: SourceRules = {}, change: RepoChange): SourceRules {
  const {
    noIgnore = before.noIgnore === true,
    reposApart = before.reposApart === true,
    ignore = before.ignore ?? [],
  } = change;
  return rulesOf({
    ignore,
    ...(noIgnore ? { noIgnore } : {}),
    ...(reposApart ? { reposApart } : {}),
  });
}

function withSelection(
  before: RevisionSelection | undefined,
  change: Partial<RevisionSelection>,
): RevisionSelection | undefined {
  const { branches = before?.branches ?? [], tags = before?.tags ?? [] } = change;
  return branches.length === 0 && tags.length === 0 ? undefined : { branches, tags };
}

/** The record of a repo: from the store, plus what the index knew. */
export function recordOf(repo: StoredRepo, before?: RepoRecord): RepoRecord {
  const { enforcement: _, selection: __, within: ___, ...existing } = before ?? NEW_RECORD;
  const { repoId, name, visibility, enforcement, location, selection, host, rules = {} } = repo;
  const { kind, path } = location ?? existing.source;
  const source = host?.facts.source ?? { kind, path, ...rulesOf(rules) };
  return {
    ...(host === undefined ? existing : withFacts(existing, host.facts)),
    repoId,
    name,
    visibility,
    source,
    ...(enforcement === 'none' ? {} : { enforcement }),
    ...omitUndefined({ selection }),
  };
}

function withFacts(
  existing: Omit<RepoRecord, 'enforcement' | 'selection' | 'within'>,
  facts: HostFacts,
) {
  const { displayName: _, webUrl: __, imageUrl: ___, ...rest } = existing;
  const {
    path: _path,
    cloneUrl: _url,
    name: _name,
    source: _source,
    submodule,
    ...hostFacts
  } = facts;
  return { ...rest, ...hostFacts, ...(submodule === undefined ? {} : { within: submodule.chain }) };
}

const NEW_RECORD: RepoRecord = {
  repoId: 0,
  name: '',
  codeHostType: 'genericGitHost',
  isFork: false,
  isArchived: false,
  visibility: 'unknown',
  source: { kind: 'folder', path: '' },
  defaultRevision: 'HEAD',
};
