// Sets of repos: the ids that belong to it, or those that do not. So a filter costs by the repos that it names, not by all.

import type { PlanNode } from './plan-tree.ts';

export interface RepoSet {
  readonly ids: ReadonlySet<number>;
  /** The set holds all repos but `ids`. */
  readonly isOfOthers: boolean;
}

export const ALL_REPOS: RepoSet = { ids: new Set(), isOfOthers: true };
const NO_REPOS = complementOf(ALL_REPOS);

export function isInSet({ ids, isOfOthers }: RepoSet, repoId: number): boolean {
  return ids.has(repoId) !== isOfOthers;
}

export function complementOf({ ids, isOfOthers }: RepoSet): RepoSet {
  return { ids, isOfOthers: !isOfOthers };
}

/** At least one set. */
export function unionOf(sets: readonly RepoSet[]): RepoSet {
  if (sets.length === 1) return sets[0]!;
  const [first, ...rest] = sets.filter(({ isOfOthers }) => isOfOthers);
  if (first === undefined)
    return { ids: new Set(sets.flatMap(({ ids }) => [...ids])), isOfOthers: false };
  const smallest = rest.reduce((a, b) => (b.ids.size < a.ids.size ? b : a), first);
  const missing = [...smallest.ids].filter((repoId) => !sets.some((set) => isInSet(set, repoId)));
  return { ids: new Set(missing), isOfOthers: true };
}

/** At least one set. */
export function intersectionOf(sets: readonly RepoSet[]): RepoSet {
  return complementOf(unionOf(sets.map(complementOf)));
}

/** What a plan means for whole repos. */
interface RepoBounds {
  /** Some of their docs may match. */
  readonly possible: RepoSet;
  /** All of their docs match. */
  readonly certain: RepoSet;
}

const DEPENDS: RepoBounds = { possible: ALL_REPOS, certain: NO_REPOS };

/** The repos in which docs may match a plan: only its leaves on repos decide. */
export function possibleRepos(plan: PlanNode): RepoSet {
  return boundsOf(plan).possible;
}

function boundsOf(plan: PlanNode): RepoBounds {
  switch (plan.kind) {
    case 'const':
      return exactly(plan.value ? ALL_REPOS : NO_REPOS);
    case 'repos':
      return exactly({ ids: plan.ids, isOfOthers: false });
    case 'not': {
      const { possible, certain } = boundsOf(plan.child);
      return { possible: complementOf(certain), certain: complementOf(possible) };
    }
    case 'and':
    case 'or': {
      const join = plan.kind === 'and' ? intersectionOf : unionOf;
      const bounds = plan.children.map(boundsOf);
      return {
        possible: join(bounds.map(({ possible }) => possible)),
        certain: join(bounds.map(({ certain }) => certain)),
      };
    }
    default:
      return DEPENDS;
  }
}

function exactly(set: RepoSet): RepoBounds {
  return { possible: set, certain: set };
}
