// Answers of a real daemon with as many optional members as possible, in both encodings: they fit the API
// description, and rare members are present.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import test, { after, before } from 'node:test';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { call, serveIndexed, type Served } from './daemon.ts';

const repo = makeRepo({
  'a.txt': 'plum and pear\nplum\n',
  'src/b.ts': 'export const plum = 1;\nfunction peach() {}\n',
  'plum.bin': Buffer.from([0, 1, 2, 0]),
  'large-plum.txt': 'plum '.repeat(1_000_000),
});
git(repo, 'checkout', '-q', '-b', 'next');
writeFiles(repo, { 'c.txt': 'plum of the next version\n' });
commitAll(repo);
git(repo, 'checkout', '-q', 'main');

const KEY = `svk_${'3'.repeat(64)}`;
const OWNER = { authorization: `Bearer ${KEY}` };
const PACKED = { ...OWNER, accept: 'application/x-msgpack' };

const dataDir = temporaryFolder();
let served: Served;
before(async () => {
  served = await serveIndexed(dataDir, [repo], {
    flags: ['--mode', 'commits', '--branches', '*'],
    env: { TRAWL_OWNER_EMAIL: 'owner@example.com', TRAWL_OWNER_API_KEY: KEY },
  });
});
after(() => served.process.stop());

/** Asked twice, as JSON and as MessagePack; the JSON text. */
async function fetchBoth(path: string, body?: object): Promise<string> {
  const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
  const packed = await call(served.url + path, { ...init, headers: PACKED });
  const plain = await call(served.url + path, { ...init, headers: OWNER });
  assert.deepEqual([packed.status, plain.status], [200, 200], path);
  return plain.text();
}

function assertMembers(text: string, members: readonly string[]): void {
  for (const member of members) assert.ok(text.includes(`"${member}":`), `no ${member}`);
}

const SEARCHES = [
  { query: 'plum', whole: true, contextLines: 1 },
  { query: 'plum', matches: 1 },
  { query: 'pl[a-z]+\\s(and|=) or (?i)PEACH', isRegexEnabled: true },
  { query: 'plum rev:next -file:large', isCaseSensitivityEnabled: true },
  { query: 'file:plum' },
  { query: 'nothing at all' },
];

test('searches, streams and explanations', async () => {
  const texts: string[] = [];
  for (const search of SEARCHES) {
    const body = { matches: 100, ...search };
    texts.push(await fetchBoth('/api/search', body), await fetchBoth('/api/stream_search', body));
    const explained = await fetchBoth('/api/explain', body);
    assertMembers(explained, ['conditions', 'totals', 'shards', 'canonical']);
    texts.push(explained);
  }
  const members = ['content', 'skipReason', 'branches', 'incompleteReasons', 'webUrl'];
  const explained = ['implicitRevision', 'gram', 'begins', 'needles', 'condition'];
  assertMembers(texts.join('\n'), [...members, ...explained, 'accumulatedStats']);
});

test('repositories and files', async () => {
  const repos = await fetchBoth('/api/repos');
  assertMembers(repos, ['defaultBranch', 'indexedAt', 'pushedAt']);
  const [{ repoName }] = JSON.parse(repos) as [{ repoName: string }];
  for (const query of [
    'path=src/b.ts',
    'path=c.txt&ref=next',
    'path=plum.bin&ref=refs/heads/main',
  ]) {
    const source = await fetchBoth(`/api/source?repo=${encodeURIComponent(repoName)}&${query}`);
    assertMembers(source, ['blobSha']);
  }
});
