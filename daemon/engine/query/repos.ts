// Filters on repos, evaluated once for all shards: each becomes a set of repos (repo-set.ts).

import type { RepoRecord } from '../../repos/records.ts';
import {
  type ContextRepo,
  reposOfContext,
  type SearchContexts,
} from '../../repos/search-context.ts';
import type { LiteralChoice } from '../regex/literals.ts';
import type { Steps } from '../../base/steps.ts';
import type { ChoiceOrProgram } from './expressions.ts';
import { not, type PlanNode } from './plan-tree.ts';
import { isInName, type RepoNames } from './repo-names.ts';
import { intersectionOf, isInSet, possibleRepos, type RepoSet, unionOf } from './repo-set.ts';
import type { ValuePrefix } from './tree.ts';

/** The search context is not configured, or has no visible repo: one error for both. */
export class UnknownContextError extends Error {
  readonly errorCode = 'SEARCH_CONTEXT_NOT_FOUND';
}

const NAMES_AT_ONCE = 256;

export interface RepoContext {
  readonly repos: () => readonly RepoRecord[];
  /** Names of these and of other repos, and which of them are these; absent: `repos` are read instead. */
  readonly allNames?: { readonly names: RepoNames; isVisible(repoId: number): boolean } | undefined;
  /** Which of the names the program matches (engine/host/searcher.ts). */
  testNames(program: Uint8Array, names: readonly string[]): readonly boolean[];
  /** Absent: there are none. */
  readonly contexts?: SearchContexts | undefined;
  /** Names of the connections of a repo; absent: none. */
  readonly connectionsOf?: ((repoId: number) => readonly string[]) | undefined;
}

/** The repos whose names match an expression. */
export function* planRepoPattern(
  expression: ChoiceOrProgram,
  context: RepoContext,
): Steps<PlanNode> {
  const repos = context.repos();
  const matching =
    expression.kind === 'literals'
      ? yield* reposNamed(expression.choice, context)
      : yield* reposTested(repos, (names) => context.testNames(expression.regex.program, names));
  return nodeOf(matching, repos);
}

function* reposNamed(choice: LiteralChoice, { repos, allNames }: RepoContext): Steps<Set<number>> {
  const visible = repos();
  // A caller who sees few of them: their names are read one by one.
  if (allNames === undefined || visible.length * 8 < allNames.names.count)
    return yield* reposTested(visible, (names) => names.map((name) => isInName(choice, name)));
  const found = yield* allNames.names.matching(choice);
  for (const repoId of found) if (!allNames.isVisible(repoId)) found.delete(repoId);
  return found;
}

function* reposTested(
  repos: readonly RepoRecord[],
  testNames: (names: readonly string[]) => readonly boolean[],
): Steps<Set<number>> {
  const matching = new Set<number>();
  for (let start = 0; start < repos.length; start += NAMES_AT_ONCE) {
    const some = repos.slice(start, start + NAMES_AT_ONCE);
    const matches = testNames(some.map(({ name }) => name));
    for (const [index, { repoId }] of some.entries()) if (matches[index]) matching.add(repoId);
    yield;
  }
  return matching;
}

/** The repos of a search context. Errors: UnknownContextError. */
export function* planRepoContext(
  name: string,
  { repos, contexts = {}, connectionsOf }: RepoContext,
): Steps<PlanNode> {
  const context = Object.hasOwn(contexts, name) ? contexts[name] : undefined;
  const all = repos();
  const matching = new Set<number>();
  if (context !== undefined)
    for (let start = 0; start < all.length; start += NAMES_AT_ONCE) {
      const some = all.slice(start, start + NAMES_AT_ONCE);
      const found = reposOfContext(
        context,
        some.map((repo) => contextRepoOf(repo, connectionsOf)),
      );
      for (const { repoId } of found) matching.add(repoId);
      yield;
    }
  if (matching.size === 0)
    throw new UnknownContextError(
      `Search context ${JSON.stringify(name)} not found, or you see none of its repositories.`,
    );
  return nodeOf(matching, all);
}

export function contextRepoOf(
  { repoId, name, topics = [] }: RepoRecord,
  connectionsOf: RepoContext['connectionsOf'],
): ContextRepo & { readonly repoId: number } {
  return {
    repoId,
    name,
    topics,
    get connections() {
      return connectionsOf?.(repoId) ?? [];
    },
  };
}

/** @param ids  of some of `repos` */
function nodeOf(ids: ReadonlySet<number>, repos: readonly RepoRecord[]): PlanNode {
  if (ids.size === 0) return { kind: 'const', value: false };
  return ids.size === repos.length ? { kind: 'const', value: true } : { kind: 'repos', ids };
}

function reposNode(repos: readonly RepoRecord[], matches: (repo: RepoRecord) => boolean): PlanNode {
  return nodeOf(new Set(repos.filter(matches).map(({ repoId }) => repoId)), repos);
}

export function planRepoValue(
  prefix: Exclude<ValuePrefix, 'lang' | 'rev' | 'context'>,
  value: string,
  repos: readonly RepoRecord[],
): PlanNode {
  switch (prefix) {
    case 'reposet': {
      const names = new Set(value.split(','));
      return reposNode(repos, (repo) => names.has(repo.name));
    }
    case 'archived':
      return reposNode(repos, (repo) => isSelected(value, repo.isArchived));
    case 'fork':
      return reposNode(repos, (repo) => isSelected(value, repo.isFork));
    case 'visibility':
      return reposNode(repos, (repo) => isVisible(value, repo.visibility));
  }
}

function isSelected(value: string, has: boolean): boolean {
  return value === 'yes' || (value === 'only') === has;
}

function isVisible(value: string, visibility: RepoRecord['visibility']): boolean {
  return value === 'any' || (value === 'public') === (visibility === 'public');
}

export function isOfRepos(plan: PlanNode): boolean {
  return plan.kind === 'not' ? plan.child.kind === 'repos' : plan.kind === 'repos';
}

/** Joins two conditions on repos that are children of one list; a constant if all repos, or none, satisfy them. */
export function joinRepos(
  kind: 'and' | 'or',
  left: PlanNode,
  right: PlanNode,
  repos: readonly RepoRecord[],
): PlanNode {
  const sets = [possibleRepos(left), possibleRepos(right)];
  const joined = kind === 'and' ? intersectionOf(sets) : unionOf(sets);
  if (joined.ids.size <= repos.length / 2) return nodeOfSet(joined, repos);
  const others = repos.filter(({ repoId }) => isInSet(joined, repoId) === joined.isOfOthers);
  const ids = new Set(others.map(({ repoId }) => repoId));
  return nodeOfSet({ ids, isOfOthers: !joined.isOfOthers }, repos);
}

function nodeOfSet({ ids, isOfOthers }: RepoSet, repos: readonly RepoRecord[]): PlanNode {
  return isOfOthers ? not(nodeOf(ids, repos)) : nodeOf(ids, repos);
}
