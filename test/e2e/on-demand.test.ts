// Revisions on demand over HTTP, with a real daemon: the search endpoints, the error beyond a limit, and the output
// of the command line.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { commitAll, git, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { call, eventually, pathsOf, post, search, serveIndexed } from './daemon.ts';

interface ErrorBody {
  readonly errorCode: string;
  readonly message: string;
}

function postTo(url: string, body: object): Promise<Response> {
  const headers = { 'content-type': 'application/json' };
  return call(url, { method: 'POST', headers, body: JSON.stringify(body) });
}

void test('any revision is searched within the configured limits', async () => {
  const repo = makeRepo({ 'a.c': 'int plum(void) { return 1; }\n' });
  writeFiles(repo, { 'a.c': 'int pear(void) { return 2; }\n', 'b.c': 'int b;\n' });
  commitAll(repo);
  git(repo, 'checkout', '-q', '-b', 'large');
  writeFiles(repo, { 'c.c': 'int plum;\n', 'd.c': 'int plum;\n' });
  commitAll(repo);
  git(repo, 'checkout', '-q', 'main');
  const dataDir = temporaryFolder();
  const config = path.join(temporaryFolder(), 'trawl.json');
  writeFileSync(config, JSON.stringify({ settings: { onDemandRevisions: { docs: 1 } } }));
  const { url, process } = await serveIndexed(dataDir, [repo], { flags: ['--config', config] });

  const found = await search(url, 'plum rev:main~1');
  assert.deepEqual(pathsOf(found), ['a.c']);
  assert.deepEqual(found.files[0]!.branches, ['main~1']);
  assert.match(found.files[0]!.webUrl, /@main~1\/-\/blob\/a\.c$/);
  const built = readdirSync(path.join(dataDir, 'on-demand'));
  assert.equal(built.filter((name) => !name.includes('.tags')).length, 1);
  // They are found behind the first answer, and kept.
  await process.until(/symbols found in revisions on demand/);
  const symbols = await search(url, 'sym:plum rev:main~1');
  assert.deepEqual(symbols.incompleteReasons, undefined);
  assert.deepEqual(pathsOf(symbols), ['a.c']);

  const refused = await post<ErrorBody>(url, { query: 'plum rev:large' });
  assert.equal(refused.status, 400);
  assert.equal(refused.body.errorCode, 'REVISION_TOO_LARGE');
  assert.match(refused.body.message, /^2 files .* limit is 1 \(onDemandRevisions\.docs\)/);
  const stream = await postTo(`${url}/api/stream_search`, {
    query: 'plum rev:large',
    matches: 10,
    contextLines: 0,
    whole: false,
    isRegexEnabled: false,
    isCaseSensitivityEnabled: false,
  });
  assert.equal(stream.status, 400);
  // The file is read again.
  writeFileSync(config, JSON.stringify({ settings: { onDemandRevisions: { docs: 2 } } }));
  process.child.kill('SIGHUP');
  await eventually(async () => (await post(url, { query: 'plum rev:large' })).status === 200);
  assert.deepEqual(pathsOf(await search(url, 'plum rev:large')), ['c.c', 'd.c']);
  process.child.kill('SIGTERM');
  assert.equal((await process.ended).code, 0);
});
