// What a command line changes of the repos that it names: which revisions they have, and who may see them; and how the
// record of a repo that the daemon works with follows from what the store says of it.

import { given } from '../../base/given.ts';
import {
  type Enforcement,
  type RepoRecord,
  type RevisionSelection,
  rulesOf,
  type SourceRules,
  type Visibility,
} from '../../repos/records.ts';
import type { HostFacts, StoredRepo } from '../../store/repos.ts';

/** Absent: it stays. */
export interface RepoChange extends Partial<RevisionSelection> {
  readonly visibility?: Exclude<Visibility, 'unknown'>;
  /** `none`: whoever may ask sees the repo. */
  readonly enforcement?: Enforcement;
  /** As of a source (repos/records.ts); false and none: not any more. */
  readonly noIgnore?: boolean;
  readonly ignore?: readonly string[];
  readonly reposApart?: boolean;
}

/** A repo with the change made. */
export function withChange(repo: StoredRepo, change: RepoChange): StoredRepo {
  const { selection: before, rules: rulesBefore, ...rest } = repo;
  const rules = withRules(rulesBefore, change);
  const { visibility = repo.visibility, enforcement = repo.enforcement } = change;
  const isFolder = repo.place?.kind === 'folder';
  const selection = isFolder ? before : withSelection(before, change);
  return {
    ...rest,
    visibility,
    enforcement,
    ...given({ selection }),
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

/** The record of a repo: what the store says, and beside it what the index knew. */
export function recordOf(repo: StoredRepo, before?: RepoRecord): RepoRecord {
  const { enforcement: _, selection: __, within: ___, ...known } = before ?? NEW_RECORD;
  const { repoId, name, visibility, enforcement, place, selection, host, rules = {} } = repo;
  const { kind, path } = place ?? known.source;
  const source = host?.facts.source ?? { kind, path, ...rulesOf(rules) };
  return {
    ...(host === undefined ? known : withFacts(known, host.facts)),
    repoId,
    name,
    visibility,
    source,
    ...(enforcement === 'none' ? {} : { enforcement }),
    ...given({ selection }),
  };
}

/** What the host of a repo says of it, as its record has it. */
function withFacts(
  known: Omit<RepoRecord, 'enforcement' | 'selection' | 'within'>,
  facts: HostFacts,
) {
  const { displayName: _, webUrl: __, imageUrl: ___, ...rest } = known;
  const { path: _path, cloneUrl: _url, name: _name, source: _source, submodule, ...shown } = facts;
  return { ...rest, ...shown, ...(submodule === undefined ? {} : { within: submodule.chain }) };
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
