// Metrics without a daemon: observations that wait for others are in every scrape.

import assert from 'node:assert/strict';
import test from 'node:test';
import { Metrics } from '../../daemon/app/metrics.ts';

test('a scrape has every search, also those that waited', async () => {
  const metrics = new Metrics([]);
  let count = 0;
  for (const more of [1, 400, 0, 63, 64]) {
    for (let i = 0; i < more; i++)
      metrics.noteSearch({
        kind: 'search',
        durationNs: 2e6,
        waitNs: 1e5,
        bindNs: 1e5,
        matchNs: 2e5,
        reasons: ['match_limit'],
        steps: { beganNs: 0, parsedNs: 0, plannedNs: 0, foundNs: 0 },
      });
    count += more;
    const text = await metrics.text();
    const labels = 'kind="search",outcome="limited"';
    assert.ok(text.includes(`trawl_search_duration_seconds_count{${labels}} ${count}\n`), text);
    const bucket = `trawl_search_duration_seconds_bucket{le="0.0025",${labels}} ${count}\n`;
    assert.ok(text.includes(bucket), text);
    assert.ok(
      text.includes(`trawl_search_phase_seconds_count{kind="search",phase="wait"} ${count}\n`),
    );
  }
});
