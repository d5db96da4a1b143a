// Filters on repos, evaluated once for all shards: each becomes a set of repos. Also evaluates a whole plan for one repo.

import type { RepoRecord } from '../../repos/records.ts';
import {
  type ContextRepo,
  reposOfContext,
  type SearchContexts,
} from '../../repos/search-context.ts';
import { foldText } from '../regex/fold.ts';
import type { LiteralAlternative, LiteralChoice } from '../regex/literals.ts';
import type { Steps } from '../../base/steps.ts';
import type { ChoiceOrProgram } from './expressions.ts';
import { not, type PlanNode } from './plan-tree.ts';
import type { ValuePrefix } from './tree.ts';

/** The search context is not configured, or has no visible repo: one error for both. */
export class UnknownContextError extends Error {
  readonly errorCode = 'SEARCH_CONTEXT_NOT_FOUND';
}

const NAMES_AT_ONCE = 256;

export interface RepoContext {
  readonly repos: () => readonly RepoRecord[];
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
  const matching = new Set<RepoRecord>();
  for (let start = 0; start < repos.length; start += NAMES_AT_ONCE) {
    const some = repos.slice(start, start + NAMES_AT_ONCE);
    const names = some.map(({ name }) => name);
    const matches =
      expression.kind === 'program'
        ? context.testNames(expression.regex.program, names)
        : names.map((name) => isInName(expression.choice, name));
    for (const [index, repo] of some.entries()) if (matches[index]) matching.add(repo);
    yield;
  }
  return reposNode(repos, (repo) => matching.has(repo));
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
  return reposNode(all, ({ repoId }) => matching.has(repoId));
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

function isInName({ alternatives, letterCase }: LiteralChoice, name: string): boolean {
  const compared = letterCase === 'folded' ? foldText(name) : name;
  return alternatives.some((one) => isLiteralIn(one, compared));
}

function isLiteralIn(
  { text, anchoredStart, anchoredEnd }: LiteralAlternative,
  name: string,
): boolean {
  if (anchoredStart && anchoredEnd) return name === text;
  if (anchoredStart) return name.startsWith(text);
  return anchoredEnd ? name.endsWith(text) : name.includes(text);
}

function reposNode(repos: readonly RepoRecord[], matches: (repo: RepoRecord) => boolean): PlanNode {
  const ids = repos.filter(matches).map((repo) => repo.repoId);
  if (ids.length === 0) return { kind: 'const', value: false };
  return ids.length === repos.length
    ? { kind: 'const', value: true }
    : { kind: 'repos', ids: new Set(ids) };
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
  const test = repoTestOfList(kind === 'or', [repoTestOf(left), repoTestOf(right)]);
  const joined = reposNode(repos, ({ repoId }) => test(repoId) === true);
  const isMost = joined.kind === 'repos' && joined.ids.size > repos.length / 2;
  return isMost ? not(reposNode(repos, ({ repoId }) => test(repoId) !== true)) : joined;
}

/** The result of a plan for a repo: false: no doc matches; true: all do; undefined: it depends on the doc. */
export type RepoTest = (repoId: number) => boolean | undefined;

const depends: RepoTest = () => undefined;

/** The test of a plan, made once for all repos: only its leaves on repos decide. */
export function repoTestOf(plan: PlanNode): RepoTest {
  switch (plan.kind) {
    case 'const':
      return () => plan.value;
    case 'repos':
      return (repoId) => plan.ids.has(repoId);
    case 'not': {
      const test = repoTestOf(plan.child);
      return test === depends ? depends : (repoId) => negated(test(repoId));
    }
    case 'and':
    case 'or':
      return repoTestOfList(plan.kind === 'or', plan.children.map(repoTestOf));
    default:
      return depends;
  }
}

function negated(verdict: boolean | undefined): boolean | undefined {
  return verdict === undefined ? undefined : !verdict;
}

/** @param deciding  the child result that decides the whole list */
function repoTestOfList(deciding: boolean, tests: readonly RepoTest[]): RepoTest {
  const sure = tests.filter((test) => test !== depends);
  if (sure.length === 0) return depends;
  const isSure = sure.length === tests.length;
  return (repoId) => {
    const verdicts = sure.map((test) => test(repoId));
    if (verdicts.includes(deciding)) return deciding;
    return isSure && !verdicts.includes(undefined) ? !deciding : undefined;
  };
}
