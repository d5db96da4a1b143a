// The page of results, in a real browser: streams, places, focus, keys.
// One browser serves all parts.
// tier: ci (browser)

import './parts/streams.ts';
import './parts/results.ts';
