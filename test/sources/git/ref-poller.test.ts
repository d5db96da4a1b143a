// Refs are polled in the background, and an unresponsive repository blocks no other.

import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { RefPoller } from '../../../daemon/sources/git/ref-poller.ts';
import { eventually } from '../../e2e/daemon.ts';
import { git, makeRepo, temporaryFolder } from './fixture.ts';

test('a poll reports moved refs, and nothing for the same ones', async () => {
  const probes = new RefPoller();
  const repo = makeRepo({ a: 'a' });
  const first = await probes.poll([repo, '/nonexistent']);
  assert.deepEqual(await probes.poll([repo, '/nonexistent']), first);
  git(repo, 'commit', '-q', '--allow-empty', '-m', 'more');
  const [moved, none] = await probes.poll([repo, '/nonexistent']);
  assert.notEqual(moved, first[0]);
  assert.equal(none, first[1]);
  probes.close();
});

test('an unresponsive repository is skipped until it responds', async () => {
  const thread = new URL('./slow-poll-thread.js', import.meta.url);
  const probes = new RefPoller({ deadlineMs: 100, thread });
  const slow = path.join(temporaryFolder(), 'slow');
  const paths = ['a', slow, 'b', `${slow} too`];
  const others = ['state of a', undefined, 'state of b', undefined];
  for (let round = 0; round < 2; round++) assert.deepEqual(await probes.poll(paths), others);
  writeFileSync(slow, '');
  await eventually(async () => (await probes.poll(paths))[1] === `state of ${slow}`);
  const pending = probes.poll(paths);
  probes.close();
  assert.deepEqual(
    await pending,
    paths.map(() => undefined),
  );
});
