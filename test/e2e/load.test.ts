// Many clients at once, disconnecting clients, deadlines, and a stop while searches run.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { Agent, request } from 'node:http';
import test, { after, before } from 'node:test';
import { checkReply } from '../api/checker.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { eventually, get, post, serve, serveIndexed, type Served } from './daemon.ts';

const TEXT = 'the quick brown plum jumps over the lazy pear and the fig\n';
const FILES = Object.fromEntries(
  Array.from({ length: 200 }, (_, i) => [
    `d${String(i % 9)}/f${String(i)}.txt`,
    `${String(i)} ${TEXT.repeat(i)}`,
  ]),
);

const repo = makeRepo(FILES);
const dataDir = temporaryFolder();
let served: Served;

before(async () => {
  served = await serveIndexed(dataDir, [repo]);
});
after(() => served.process.stop());

function postWith(
  agent: Agent,
  query: string,
  matches: number,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const call = request(`${served.url}/api/search`, { agent, method: 'POST' }, (answer) => {
      const parts: Buffer[] = [];
      answer.on('data', (part: Buffer) => parts.push(part));
      answer.on('end', () => {
        const reply = { status: answer.statusCode ?? 0, body: Buffer.concat(parts) };
        checkReply({ method: 'POST', path: '/api/search' }, { ...reply, headers: answer.headers });
        resolve({ status: reply.status, text: reply.body.toString() });
      });
    });
    call.on('error', reject);
    call.end(JSON.stringify({ query, matches }));
  });
}

/** The part of an answer that equal requests must have in common. */
function resultsOf(text: string): unknown {
  const { files, isSearchExhaustive } = JSON.parse(text) as Record<string, unknown>;
  return { files, isSearchExhaustive };
}

void test('200 searches on 64 connections: each equals its answer alone, or is 503', async () => {
  const queries = [
    'plum',
    'quick pear',
    'lazy or fig',
    'nothing at all',
    'th',
    'f19 or plum -file:d1',
    'FIG',
  ];
  // One caller alone could not have so many at a time: these come from several addresses.
  const agents = [1, 2, 3, 4].map(
    (host) => new Agent({ keepAlive: true, maxSockets: 16, localAddress: `127.0.0.${host}` }),
  );
  const agent = agents[0]!;
  const alone = new Map<string, unknown>();
  for (const query of queries)
    alone.set(query, resultsOf((await postWith(agent, query, 500)).text));
  const answers = await Promise.all(
    Array.from({ length: 200 }, async (_, i) => {
      const query = queries[i % queries.length] ?? '';
      return { query, ...(await postWith(agents[i % 4]!, query, 500)) };
    }),
  );
  for (const one of agents) one.destroy();
  const counts = { answered: 0, refused: 0 };
  for (const { query, status, text } of answers) {
    if (status === 503) {
      counts.refused++;
      assert.match(text, /SERVER_OVERLOADED/);
      continue;
    }
    counts.answered++;
    assert.equal(status, 200, text);
    assert.deepEqual(resultsOf(text), alone.get(query), query);
  }
  assert.ok(counts.answered >= 64, JSON.stringify(counts));
});

void test('SIGTERM while searches run: they are answered, then exit 0', async () => {
  const own = await serveIndexed(temporaryFolder(), [repo]);
  const answers = Array.from({ length: 4 }, () =>
    post(own.url, { query: 'th', matches: 100_000 }).catch((error: unknown) => error),
  );
  await eventually(async () => (await get(`${own.url}/api/health`)).status === 200, 1);
  const { code, stderr } = await own.process.stop('SIGTERM');
  assert.equal(code, 0, stderr);
  await Promise.all(answers);
  assert.doesNotMatch(stderr, /\n\s+at /);
  assert.match(stderr, / the daemon has stopped\n$/);
});

void test('SIGTERM while indexing: exit 0', async () => {
  const indexing = await serve(temporaryFolder(), [repo]);
  await indexing.process.until(/^reading /m);
  assert.equal((await indexing.process.stop()).code, 0);
});
