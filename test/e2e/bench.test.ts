// `trawl bench` against a real daemon: queries of a file and of a log, records, comparison, report; and that the open
// loop counts from the time a request was due.

import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { readCommit } from '../../daemon/base/config/version.ts';
import { closedLoop, openLoop, type Reply } from '../../daemon/cli/bench/load.ts';
import { parseQueries } from '../../daemon/cli/bench/queries.ts';
import { readRecord } from '../../daemon/cli/bench/record.ts';
import { startPlainServer } from '../http/plain-server.ts';
import { temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { serveIndexed, trawl } from './daemon.ts';

const BODY = JSON.stringify({ query: 'beta', matches: 1 });

test('queries: plain lines, bodies, and lines of a log', () => {
  const logged = JSON.stringify({ body: { query: 'gamma', isRegexEnabled: true } });
  const { cases, order, skippedCount } = parseQueries(
    [
      'alpha file:x',
      '',
      BODY,
      'alpha file:x',
      JSON.stringify({ msg: 'search', body: logged }),
      JSON.stringify({ msg: 'search', body: logged.slice(0, 20) }),
      JSON.stringify({ msg: 'request', path: '/' }),
      JSON.stringify({ message: 'slow search', requestId: 'r', query: 'alpha file:x' }),
      JSON.stringify({ message: 'slow search', plan: 'p' }),
      'beta',
    ].join('\n'),
  );
  assert.deepEqual(
    cases.map(({ id }) => id),
    ['alpha file:x', BODY, 'gamma', '{"query":"beta","matches":1000}'],
  );
  assert.deepEqual(order, [0, 1, 0, 2, 0, 3]);
  assert.equal(skippedCount, 3);
  assert.throws(() => parseQueries('\n{}\n'), /no query/);
});

test('open loop: a request that could not be sent in time counts from when it was due', async () => {
  const reply: Reply = { status: 200, body: Buffer.alloc(0) };
  const stall = (index: number): Promise<Reply> => {
    const endMs = performance.now() + (index === 0 ? 300 : 0);
    // As a stalled generator: nothing is sent meanwhile.
    while (performance.now() < endMs);
    return Promise.resolve(reply);
  };
  const seen: number[] = [];
  await openLoop(stall, 100, 20, (index, _, ms) => (seen[index] = ms));
  assert.equal(seen.length, 20);
  // The tenth was due after 100 ms, and answered after 300 at least.
  for (const [index, ms] of seen.entries()) assert.ok(ms >= 290 - index * 10, `${index}: ${ms}`);
  const lost: number[] = [];
  const fail = (): Promise<Reply> => Promise.reject(new Error('lost'));
  await openLoop(fail, 1000, 3, (_, { status }) => lost.push(status));
  assert.deepEqual(lost, [0, 0, 0]);
  const closed: number[] = [];
  await closedLoop(
    stall,
    1,
    (index) => index >= 20,
    (index, _, ms) => (closed[index] = ms),
  );
  assert.equal(closed.length, 20);
});

test('an instance is timed, stored and compared', async () => {
  const folder = temporaryFolder();
  writeFiles(folder, { 'tree/a.txt': 'alpha beta\n', 'tree/b.txt': 'beta beta <gamma>\n' });
  const at = (name: string): string => path.join(folder, name);
  const { url, process: daemon } = await serveIndexed(at('data'), [at('tree')], {
    flags: ['--anonymous'],
  });
  try {
    writeFileSync(at('queries'), `alpha\n"<gamma>"\n${BODY}\n`);
    const bench = (...args: string[]) =>
      trawl(['bench', '--url', url, '--seconds', '1', '--rate', '50', ...args]);
    const first = await bench('--queries', at('queries'), '--out', at('1.json'));
    assert.equal(first.code, 0, first.stderr);
    assert.equal(readRecord(at('1.json')).commit, readCommit());
    const record = readRecord(at('1.json'));
    const ids = record.cases.map(({ id }) => id);
    assert.deepEqual(ids, [
      'alpha',
      '"<gamma>"',
      'beta',
      'closed loop, 8 connections',
      'open loop, 50 a second',
    ]);
    const counts = record.cases.map((one) => one.counts);
    assert.deepEqual(counts, [
      { files: 1, matches: 1 },
      { files: 1, matches: 1 },
      { matches: 1 },
      {},
      {},
    ]);
    for (const { id, starts } of record.cases) assert.ok(starts.flat().length >= 20, id);
    assert.equal(record.cases[4]?.starts.flat().length, 50);
    assert.equal(record.cases[0]?.stats['fileCount'], 1);

    const html = at('report.html');
    const files = ['--against', at('1.json'), '--html', html];
    const again = await bench('--queries', at('queries'), ...files);
    assert.match(again.stdout, /Fixed work took \d/);
    assert.match(again.stdout, /undecided/);
    const text = readFileSync(html, 'utf8');
    assert.ok(!/<script|<link|src=|https?:/.test(text), 'opens offline');
    assert.ok(!text.includes('<gamma>') && text.includes('&lt;gamma>'));
    assert.equal(text.match(/<svg/g)?.length, 3);

    // Other data is found: no time is compared.
    const changed = structuredClone(record);
    changed.cases[0]!.counts['files'] = 2;
    writeFileSync(at('2.json'), JSON.stringify(changed));
    const wrong = await bench('--queries', at('queries'), '--against', at('2.json'));
    assert.match(wrong.stdout, /^alpha .*WRONG, or other data: 1 files, before 2/m);
    assert.equal(wrong.code, 1);

    writeFileSync(at('bad'), 'alpha\nlang:nothing-like-it\n"open\n');
    const bad = await bench('--queries', at('bad'), '--against', at('1.json'));
    assert.equal(bad.code, 2);
    assert.match(bad.stderr, /other queries/);

    // Before anything is measured.
    const lost = await bench('--queries', at('queries'), '--out', at('nowhere/1.json'));
    assert.match(lost.stderr, /^error: cannot write .*nowhere/);
    const none = await bench('--queries', at('nowhere'));
    assert.match(none.stderr, /^error: cannot read .*nowhere/);
  } finally {
    await daemon.stop();
  }
  const gone = await trawl(['bench', '--url', url, '--queries', at('queries')]);
  assert.equal(gone.code, 2);
  assert.match(gone.stderr, /cannot reach http\S+: ECONNREFUSED$/m);
  const other = await startPlainServer((_request, _body, reply) => reply.end('<html>'));
  const page = await trawl(['bench', '--url', other.url, '--queries', at('queries')]);
  await other.close();
  assert.match(page.stderr, /unexpected answer from .*; is it a Trawl daemon\?$/m);
});
