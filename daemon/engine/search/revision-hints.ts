// Hints for a `rev:` that names no indexed revision (API.md 6.2, 9.6): lists the indexed ones, only of repos that the caller
// sees and the query includes.

import { addToList } from '../../base/lists.ts';
import { type Hint, HINTS_MAX } from '../query/hints.ts';
import type { QueryNode } from '../query/tree.ts';
import type { RepoRecord } from '../../repos/records.ts';
import type { UnreadRevision } from './snapshot.ts';
import {
  DEFAULT_REVISION,
  demandedName,
  matchRevisions,
  revisionTexts,
} from '../query/revisions.ts';

/** Most revisions in a message, and most repos whose revisions it names. */
const NAMED_MAX = 5;
const NAMED_REPOS_MAX = 100;
/** Characters of a revision shown in a message. */
const SHOWN_MAX = 100;

/**
 * A hint for each text that matches no indexed revision. For answers without results.
 *
 * @param text      the query as written
 * @param hasAsked  git was asked for revisions that are not indexed
 * @param told      names of revisions that another hint reports as unreadable
 *
 * Cost: tests each revision of each repo, for at most HINTS_MAX texts.
 */
export function revisionHints(
  query: QueryNode,
  text: string,
  repos: readonly RepoRecord[],
  hasAsked: boolean,
  told: ReadonlySet<string>,
): Hint[] {
  if (repos.length === 0) return [];
  const missing = [...revisionTexts(query)]
    .slice(0, HINTS_MAX)
    .filter((revision) => !told.has(demandedName(revision) ?? ''))
    .filter((revision) => repos.every((repo) => matchRevisions(repo, revision).length === 0));
  return missing.map((revision) => {
    const isAsked = hasAsked && demandedName(revision) !== undefined;
    const byGit = isAsked ? unknownToGit(revision) : '';
    const message = `No indexed revision has "${revision.slice(0, SHOWN_MAX)}" in its name${byGit}; indexed: ${indexedNames(repos)}.`;
    const isDefault = repos.some(({ defaultBranch }) => defaultBranch?.includes(revision) === true);
    const instead = isDefault ? withDefault(text, revision) : text;
    const more = hasAsked ? '' : NOT_ASKED;
    return instead === text ? { message: message + more } : { message, query: instead };
  });
}

/** A hint for each revision that git knows but could not read completely: its repos, and the reason in the first of them. */
export function unreadHints(unread: readonly UnreadRevision[]): Hint[] {
  const byName = new Map<string, UnreadRevision[]>();
  for (const one of unread) addToList(byName, one.name, one);
  return [...byName].slice(0, HINTS_MAX).map(([name, all]) => {
    const repos = all.map(({ repoName }) => repoName);
    const more = repos.length > NAMED_MAX ? ` and ${repos.length - NAMED_MAX} more` : '';
    const where = repos.slice(0, NAMED_MAX).join(', ') + more;
    return {
      message: `The revision "${name.slice(0, SHOWN_MAX)}" could not be read completely in ${where}: ${all[0]!.detail}`,
    };
  });
}

const NOT_ASKED =
  ' Further branches and tags are indexed by the options --branches and --tags; a daemon finds any revision that git ' +
  'knows: "trawl search --url".';

function unknownToGit(revision: string): string {
  const isShortId = /^[0-9a-f]{1,6}$/.test(revision);
  return `, and git knows no such revision${isShortId ? ' (ids of commits have at least 7 digits)' : ''}`;
}

function indexedNames(repos: readonly RepoRecord[]): string {
  const looked = repos.slice(0, NAMED_REPOS_MAX);
  const names = new Set(
    looked.flatMap(({ revisions, defaultRevision }) =>
      (revisions ?? [defaultRevision]).slice(0, NAMED_MAX + 1),
    ),
  );
  const shown = [...names].slice(0, NAMED_MAX).map(describe).join(', ');
  return names.size <= NAMED_MAX ? shown : `${shown} and more`;
}

function describe(name: string): string {
  return name === DEFAULT_REVISION ? 'HEAD (the files on disk, or a detached commit)' : name;
}

/** The query with `rev:HEAD` in place of `rev:` with this text; unchanged where it is written in another form. */
function withDefault(text: string, revision: string): string {
  const written = `rev:${revision}`;
  return text
    .split(/([\s()]+)/)
    .map((part) => (part === written ? `rev:${DEFAULT_REVISION}` : part))
    .join('');
}
