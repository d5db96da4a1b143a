// The interface of what a command searches: the local index (local-search.ts) or a daemon at a URL (remote-search.ts).
// query-options.ts chooses.

import type { Explanation } from '../api/search/explain-schemas.ts';
import type { SearchCall, SearchEvent, SearchResponse } from '../api/search/search-schemas.ts';

export interface SearchSource {
  /** Errors: rejects with an Error that is also an `ErrorObject`, or with any other Error. */
  search(call: SearchCall, signal: AbortSignal): Promise<SearchResponse>;
  /** Ends after the `final` event. Errors: as `search`; also if the stream is incomplete. */
  stream(call: SearchCall, signal: AbortSignal): AsyncIterable<SearchEvent>;
  /** Errors: as `search`. */
  explain(call: SearchCall, signal: AbortSignal): Promise<Explanation>;
  /** Where the sources of repositories are on this machine, by name; those of others are left out. */
  folders(names: readonly string[]): Promise<ReadonlyMap<string, string>>;
  close(): Promise<void>;
}
