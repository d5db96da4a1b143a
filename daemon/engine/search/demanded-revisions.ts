// Finds the revisions that a search requests and that are not indexed (API.md 9.6, "Any revision"), and the snapshot that has
// them. index/on-demand/on-demand.ts fetches and keeps their docs.

import { signalOf } from '../../base/cancellation.ts';
import { type QueryTexts, wholeQuerySteps } from '../query/filter.ts';
import { planSteps } from '../query/plan.ts';
import { isInSet, possibleRepos } from '../query/repo-set.ts';
import {
  onDemandName,
  hasRevisionFilter,
  matchRevisions,
  revisionTexts,
} from '../query/revisions.ts';
import type { Steps } from '../../base/steps.ts';
import type { RepoRecord } from '../../repos/records.ts';
import { runInSlices } from './run-in-slices.ts';
import type { EngineParts, SearchEnvironment } from './prepare.ts';
import type { SearchRequest } from '../query/request.ts';
import type { Snapshot } from './snapshot.ts';
import { needsDocSets, visibleRepos } from './visible.ts';

interface Demand {
  readonly repos: readonly RepoRecord[];
  readonly names: readonly string[];
}

/**
 * The current snapshot, or one with the on-demand revisions that the query names; to be released. The search gives up its
 * permit while these are built. Errors: QueryError; UnknownContextError; those of RevisionPort.
 */
export async function acquireFor(
  parts: EngineParts,
  request: SearchRequest,
  environment: SearchEnvironment,
): Promise<Snapshot> {
  const { snapshots, revisions } = parts;
  const current = snapshots.acquire();
  if (revisions === undefined || !mayDemand(request)) return current;
  let demand: Demand | undefined;
  try {
    demand = await runInSlices(demandSteps(parts, request, environment, current), environment);
  } catch (error) {
    snapshots.release(current);
    throw error;
  }
  if (demand === undefined) return current;
  // The wait may be long, and a newer snapshot may be published meanwhile.
  snapshots.release(current);
  const { permit, signal } = environment;
  permit?.rest();
  try {
    return (
      (await revisions(demand.repos, demand.names, permit?.clientKey ?? '', signalOf(signal))) ??
      snapshots.acquire()
    );
  } finally {
    permit?.want();
  }
}

/** Whether a query may have `rev:`. By text: nearly no query has it, and this saves parsing twice. */
function mayDemand({ query, filter }: QueryTexts): boolean {
  const hasRevision = typeof query === 'string' ? query.includes('rev:') : hasRevisionFilter(query);
  return hasRevision || filter?.includes('rev:') === true;
}

/** Undefined: all names are indexed. */
function* demandSteps(
  { searcher, connectionsOf }: EngineParts,
  request: SearchRequest,
  { repoAccess, contexts }: SearchEnvironment,
  snapshot: Snapshot,
): Steps<Demand | undefined> {
  const { isRegexEnabled, isCaseSensitivityEnabled } = request;
  const isFolded = !isCaseSensitivityEnabled;
  const query = yield* wholeQuerySteps(request, { isRegexEnabled, isFolded });
  const texts = [...revisionTexts(query)].filter((text) => onDemandName(text) !== undefined);
  if (texts.length === 0) return undefined;
  const visible = visibleRepos(snapshot, repoAccess);
  const plan = yield* planSteps(query, {
    repos: () => visible,
    contexts,
    connectionsOf,
    needsDocSets: needsDocSets(snapshot, repoAccess),
    testNames: (program, names) => searcher.testNames(program, names),
  });
  const wanted = possibleRepos(plan);
  const repos = visible.filter(({ repoId }) => isInSet(wanted, repoId));
  const names = texts
    .filter((text) => repos.every((repo) => matchRevisions(repo, text).length === 0))
    .flatMap((text) => onDemandName(text) ?? [])
    .sort();
  return repos.length === 0 || names.length === 0 ? undefined : { repos, names };
}
