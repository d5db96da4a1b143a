// Renders docs on one thread, on the binding that a search left or its own. Retries once on a new instance after a trap; a
// second trap is an error of the whole request.

import { isTrap, neverStops, type StopTest } from './core.ts';
import type { RenderMessage } from './search-messages.ts';
import { REQUEST_WORDS, type RenderedDocs, type Searcher } from './searcher.ts';
import { ShardError } from './space.ts';

type RenderWork = Omit<RenderMessage, 'kind' | 'id'>;

/** Undefined: it was stopped. Errors: ShardError, PlanError, a doc that does not fit, a second trap. */
export function renderDocs(searcher: Searcher, work: RenderWork): RenderedDocs;
export function renderDocs(
  searcher: Searcher,
  work: RenderWork,
  isStopRequested: StopTest,
): RenderedDocs | undefined;
export function renderDocs(
  searcher: Searcher,
  { encodedPlan, shardId, requests, kept, options }: RenderWork,
  isStopRequested = neverStops,
): RenderedDocs | undefined {
  for (let isRetry = false; ; isRetry = true) {
    try {
      searcher.setPlan(encodedPlan);
      const isBound =
        searcher.isBound(shardId) ||
        searcher.bindDocs(shardId, docIdsOf(requests), isStopRequested);
      if (!isBound) return undefined;
      return searcher.render(requests, kept, options, isStopRequested);
    } catch (error) {
      // A refused call left the instance usable, but in the middle of a doc.
      if (error instanceof ShardError) searcher.beginPlan(encodedPlan);
      if (!isTrap(error)) throw error;
      searcher.replaceSpaceOf(shardId);
      if (isRetry) throw error;
    }
  }
}

function docIdsOf(requests: Uint32Array): number[] {
  const docIds: number[] = [];
  for (let i = 0; i < requests.length; i += REQUEST_WORDS) docIds.push(requests[i]!);
  return docIds;
}
