// Hints for a `rev:` that names no indexed revision (API.md 6.2, 9.6): lists the indexed ones, only of repos that the caller
// sees and the query includes.

import { addToList } from '../../base/lists.ts';
import { type Hint, HINTS_MAX } from '../query/hints.ts';
import type { QueryNode } from '../query/tree.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { UnreadRevision } from './snapshot.ts';
import {
  DEFAULT_REVISION,
  onDemandName,
  matchRevisions,
  revisionTexts,
} from '../query/revisions.ts';

/** Most revisions, or repos, in a message. */
const LISTED_MAX = 5;
/** Characters of a revision shown in a message. */
const VALUE_SIZE_MAX = 100;

/** For answers without results; `unreadNames` have other hints. Cost: up to HINTS_MAX tests of each repo's revisions. */
export function revisionHints(
  query: QueryNode,
  text: string,
  all: readonly RepoRecord[],
  hasQueriedGit: boolean,
  unreadNames: ReadonlySet<string>,
): Hint[] {
  // Git is not asked about the others.
  const repos = all.filter(({ indexedAt }) => indexedAt !== undefined);
  if (repos.length === 0) return [];
  const hasQueriedAll = hasQueriedGit && repos.length === all.length;
  const missing = [...revisionTexts(query)]
    .slice(0, HINTS_MAX)
    .filter((revision) => !unreadNames.has(onDemandName(revision) ?? ''))
    .filter((revision) => repos.every((repo) => matchRevisions(repo, revision).length === 0));
  return missing.map((revision) => {
    const isQueried = hasQueriedAll && onDemandName(revision) !== undefined;
    const byGit = isQueried ? unknownToGit(revision) : '';
    const message = `No indexed revision has "${revision.slice(0, VALUE_SIZE_MAX)}" in its name${byGit}; indexed: ${indexedNames(repos)}.`;
    const isDefault = repos.some(({ defaultBranch }) => defaultBranch?.includes(revision) === true);
    const instead = isDefault ? withDefault(text, revision) : text;
    const more = hasQueriedGit ? '' : NOT_QUERIED;
    return instead === text ? { message: message + more } : { message, query: instead };
  });
}

/** For each revision that git knows but could not read completely: its repos, and the first one's reason. */
export function unreadHints(unread: readonly UnreadRevision[]): Hint[] {
  const byName = new Map<string, UnreadRevision[]>();
  for (const one of unread) addToList(byName, one.name, one);
  return [...byName].slice(0, HINTS_MAX).map(([name, all]) => {
    const repos = all.map(({ repoName }) => repoName);
    const more = repos.length > LISTED_MAX ? ` and ${repos.length - LISTED_MAX} more` : '';
    const where = repos.slice(0, LISTED_MAX).join(', ') + more;
    return {
      message: `The revision "${name.slice(0, VALUE_SIZE_MAX)}" could not be read completely in ${where}: ${all[0]!.detail}`,
    };
  });
}

const NOT_QUERIED =
  ' Further branches and tags are indexed by the options --branches and --tags; a daemon finds any revision that git ' +
  'knows: "trawl search --url".';

function unknownToGit(revision: string): string {
  const isShortId = /^[0-9a-f]{1,6}$/.test(revision);
  return `, and git knows no such revision${isShortId ? ' (ids of commits have at least 7 digits)' : ''}`;
}

function indexedNames(repos: readonly RepoRecord[]): string {
  const searched = repos.slice(0, 100);
  const names = new Set(
    searched.flatMap(({ revisions, defaultRevision }) =>
      (revisions ?? [defaultRevision]).slice(0, LISTED_MAX + 1),
    ),
  );
  const listed = [...names].slice(0, LISTED_MAX).map(describe).join(', ');
  return names.size <= LISTED_MAX ? listed : `${listed} and more`;
}

function describe(name: string): string {
  return name === DEFAULT_REVISION ? 'HEAD (the files on disk, or a detached commit)' : name;
}

/** With `rev:HEAD` in place of `rev:` with this text; unchanged where it is written in another form. */
function withDefault(text: string, revision: string): string {
  const written = `rev:${revision}`;
  return text
    .split(/([\s()]+)/)
    .map((part) => (part === written ? `rev:${DEFAULT_REVISION}` : part))
    .join('');
}
