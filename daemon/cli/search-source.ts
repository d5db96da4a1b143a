// What answers searches for a command: the local index (local-search.ts) or a daemon behind a URL (remote-search.ts).

import type { Explanation } from '../api/search/explain-schemas.ts';
import type { SearchCall, SearchEvent, SearchResponse } from '../api/search/search-schemas.ts';

export interface SearchSource {
  /** Errors: rejects with an Error that is also an `ErrorObject`, or with any other Error. */
  search(call: SearchCall, signal: AbortSignal): Promise<SearchResponse>;
  /**
   * The events of a search while it runs. Ends behind the `final` event, or rejects.
   * Errors: as `search`; also if the stream ends before its end.
   */
  stream(call: SearchCall, signal: AbortSignal): AsyncIterable<SearchEvent>;
  /** Runs a search and tells how. Errors: as `search`. */
  explain(call: SearchCall, signal: AbortSignal): Promise<Explanation>;
  close(): Promise<void>;
}
