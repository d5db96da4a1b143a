// The metrics of a whole daemon: searches and requests are counted, pools are read, and no label contains text of a
// client.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readConfiguration } from '../../daemon/base/config/configuration.ts';
import { createLog } from '../../daemon/base/log.ts';
import { startDaemon } from '../../daemon/app/main.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';

const folder = makeRepo({ 'secret.txt': 'secretplum\nand a secretplum\n' });

/** Value of a line; undefined: there is none. */
function valueOf(text: string, start: string): number | undefined {
  const line = text.split('\n').find((one) => one.startsWith(`${start} `));
  return line === undefined ? undefined : Number(line.slice(start.length));
}

void test('searches, requests, refusals, pools and caches', async () => {
  const configuration = readConfiguration({
    env: { TRAWL_LOG_LEVEL: 'error' },
    flags: { port: 0, dataDir: temporaryFolder(), anonymousAccess: true },
  });
  const log = createLog(configuration.log);
  const daemon = await startDaemon({ configuration, log, sources: [folder], mode: 'commits' });
  await daemon.indexed;
  const send = async (path: string, body?: object) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const reply = await fetch(daemon.url + path, init);
    await reply.text();
    return reply.status;
  };
  const query = { query: 'secretplum', matches: 10 };
  for (const limit of [1, 10])
    assert.equal(await send('/api/search', { ...query, matches: limit }), 200);
  assert.equal(await send('/api/stream_search', query), 200);
  assert.equal(
    await send('/api/search', { query: 'secret(', isRegexEnabled: true, matches: 1 }),
    400,
  );
  assert.equal(await send('/api/reference/secret.js'), 404);
  assert.equal(await send('/secret'), 404);
  const [repo] = (await (await fetch(`${daemon.url}/api/repos`)).json()) as { repoName: string }[];
  assert.equal(
    await send(`/api/source?repo=${encodeURIComponent(repo!.repoName)}&path=secret.txt`),
    200,
  );
  const text = await daemon.metricsText();
  const counts: [string, number][] = [
    [
      'trawl_http_request_duration_seconds_count{method="POST",route="/api/search",status="200"}',
      2,
    ],
    [
      'trawl_http_request_duration_seconds_count{method="POST",route="/api/search",status="400"}',
      1,
    ],
    [
      'trawl_http_request_duration_seconds_count{method="GET",route="/api/reference/{file}",status="404"}',
      1,
    ],
    ['trawl_http_request_duration_seconds_count{method="GET",route="none",status="404"}', 1],
    [
      'trawl_http_request_duration_seconds_count{method="POST",route="/api/stream_search",status="200"}',
      1,
    ],
    ['trawl_search_duration_seconds_count{kind="search"}', 2],
    ['trawl_search_wait_seconds_count{kind="stream"}', 1],
    ['trawl_search_first_result_seconds_count{kind="stream"}', 1],
    ['trawl_search_stat_total{field="actualMatchCount"}', 1 + 2 + 2],
    ['trawl_search_incomplete_total{reason="match_limit"}', 1],
    ['trawl_searches_active', 0],
    ['trawl_searches_queued', 0],
    ['trawl_searches_refused_total', 0],
    ['trawl_shards', 1],
    ['trawl_shards_quarantined', 0],
    ['trawl_repositories', 1],
    ['trawl_search_threads_lost_total', 0],
    ['trawl_build_info{version="0.1.0"}', 1],
    ['trawl_pool{pool="git",kind="running"}', 0],
    ['trawl_pool{pool="git objects",kind="waiting"}', 0],
  ];
  for (const [start, value] of counts) assert.equal(valueOf(text, start), value, start);
  assert.ok((valueOf(text, 'trawl_cache_entries{cache="git blobs"}') ?? 0) > 0);
  assert.doesNotMatch(text, /secret/);
  assert.ok(!text.includes(repo!.repoName));
  await daemon.close();
});
