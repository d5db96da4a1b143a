// Interruptions of an open page: abandoned streams, another session, a daemon that stops, is busy, or has lost a
// shard. One browser serves all parts.
// tier: ci (browser)

import './parts/page-lifetime.ts';
import './parts/faults.ts';
