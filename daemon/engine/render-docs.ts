// Renders docs on one thread: sets the plan, binds the shard unless the search left it bound, renders. An
// instance that traps is replaced and the docs are tried once more; what traps again is an error of the whole request, on a sound instance.

import { isTrap } from './core.ts';
import type { RenderMessage } from './search-messages.ts';
import type { RenderedDocs, Searcher } from './searcher.ts';

/** Errors: ShardError, PlanError, a doc that does not fit, a second trap. */
export function renderDocs(
  searcher: Searcher,
  { plan, shardId, requests, options }: Omit<RenderMessage, 'kind' | 'id'>,
): RenderedDocs {
  for (let isRetry = false; ; isRetry = true) {
    try {
      searcher.setPlan(plan);
      if (!searcher.isBound(shardId)) searcher.bind(shardId);
      return searcher.render(requests, options);
    } catch (error) {
      if (!isTrap(error)) throw error;
      searcher.replaceSpaceOf(shardId);
      if (isRetry) throw error;
    }
  }
}
