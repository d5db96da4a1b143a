// The dashboard and the alert rules (daemon/deploy/) against a real Prometheus that scrapes a real daemon: promtool accepts
// the rules, every query has data, and no alert is raised by a healthy daemon.
// tier: ci (Debian's package prometheus)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { eventually, Running, search, send, serveIndexed } from './daemon.ts';

const RULES = path.resolve('daemon/deploy/alerts.yml');
const CASES = path.resolve('test/e2e/alerts.promtool.yml');
const DASHBOARD = 'daemon/deploy/grafana.json';

const hasPrometheus = spawnSync('prometheus', ['--version']).status === 0;
const skip = hasPrometheus ? false : 'needs the Debian package prometheus';

/** A healthy daemon without code hosts has no data for these. */
const WITHOUT_DATA = /trawl_host_budget_remaining/;

interface Dashboard {
  readonly panels: readonly {
    readonly title: string;
    readonly targets: readonly { readonly expr: string }[];
  }[];
}

interface Result {
  readonly status: string;
  readonly data: { readonly result: readonly { readonly value: readonly [number, string] }[] };
}

/** With the variables of Grafana filled in. */
function dashboardQueries(): string[] {
  const { panels } = JSON.parse(readFileSync(DASHBOARD, 'utf8')) as Dashboard;
  return panels.flatMap(({ targets }) =>
    targets.map(({ expr }) =>
      expr.replaceAll('$__rate_interval', '1m').replaceAll('$instance', '.*'),
    ),
  );
}

function alertQueries(): string[] {
  return [...readFileSync(RULES, 'utf8').matchAll(/^ +expr: (.+)$/gm)].map(([, one = '']) => one);
}

/** The address of a Prometheus that scrapes `target` every half second. */
async function startPrometheus(target: string): Promise<string> {
  const folder = temporaryFolder();
  const file = path.join(folder, 'prometheus.yml');
  const scrape = `{ job_name: trawl, static_configs: [{ targets: ['${target}'] }] }`;
  writeFileSync(
    file,
    `global: { scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 500ms }\n` +
      `rule_files: ['${RULES}']\nscrape_configs: [${scrape}]\n`,
  );
  const flags = ['--web.listen-address=127.0.0.1:0', `--storage.tsdb.path=${folder}/data`];
  const running = new Running('prometheus', [`--config.file=${file}`, ...flags], {});
  const [, address = ''] = await running.until(/msg="Listening on" address=(\S+)/);
  return `http://${address}`;
}

async function ask(prometheus: string, query: string): Promise<Result['data']['result']> {
  const answer = await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(query)}`);
  const text = await answer.text();
  assert.equal(answer.status, 200, `${query}: ${text}`);
  return (JSON.parse(text) as Result).data.result;
}

test('promtool accepts the rules', { skip }, async () => {
  const { code, stdout, stderr } = await new Running('promtool', ['check', 'rules', RULES], {})
    .ended;
  assert.equal(code, 0, stdout + stderr);
  assert.match(stdout, new RegExp(`${alertQueries().length} rules found`));
});

test('each alert is raised by what it is for, and none otherwise', { skip }, async () => {
  const { code, stdout, stderr } = await new Running('promtool', ['test', 'rules', CASES], {})
    .ended;
  assert.equal(code, 0, stdout + stderr);
  const names = [...readFileSync(RULES, 'utf8').matchAll(/alert: (\w+)/g)].map(([, name]) => name);
  const raised = [...readFileSync(CASES, 'utf8').matchAll(/alertname="(\w+)"/g)];
  assert.deepEqual(
    raised.map(([, name]) => name),
    names,
  );
});

test('every query of the dashboard has data, and no alert is raised', { skip }, async (t) => {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const env = { TRAWL_METRICS_PORT: '0' };
  const options = { env, flags: ['--anonymous'] };
  const { url, process: daemon } = await serveIndexed(temporaryFolder(), [repo], options);
  t.after(() => daemon.stop());
  const [, target = ''] = await daemon.until(/metrics are served url="?http:\/\/([^/\s]+)/);
  const prometheus = await startPrometheus(target);
  const count = async (query: string): Promise<number> => (await ask(prometheus, query)).length;
  // A series counts from its second sample on: the first ones may have been missed.
  await eventually(async () => {
    await search(url, 'plum');
    await send(`${url}/api/nowhere`, { method: 'GET' });
    return (await count('rate(trawl_http_errors_total[1m]) > 0')) > 0;
  });
  assert.equal(await count('up{job="trawl"} == 1'), 1);
  const queries = dashboardQueries();
  assert.ok(queries.length > 20);
  for (const query of queries) {
    const found = await ask(prometheus, query);
    assert.equal(found.length > 0, !WITHOUT_DATA.test(query), query);
    for (const { value } of found) assert.ok(Number.isFinite(Number(value[1])), query);
  }
  for (const query of alertQueries()) {
    assert.equal(await count(query), 0, query);
    for (const [name = ''] of query.matchAll(/\b(?:trawl_\w+|up\b)/g))
      assert.equal((await count(name)) > 0, !WITHOUT_DATA.test(name), `${query}: ${name}`);
  }
});
