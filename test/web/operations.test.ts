// What owners see of repositories, connections and jobs, and every refusal, in a real browser. One browser serves all
// parts.
// tier: ci (browser)

import './parts/refusals.ts';
import './parts/banners.ts';
