// A git that waits for ever, as a pipe is among the ignore files of a work tree: the job fails and those after it run,
// and a daemon that is told to stop does, and leaves no git behind.

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { goneSoon } from '../history/braked-git.ts';
import { makeRepo, temporaryFolder } from '../repos/fixture.ts';
import { eventually, jobsEnded, pathsOf, search, serve } from './daemon.ts';

function stuckRepo(): string {
  const repo = makeRepo({ 'stuck.txt': 'plum\n' });
  execFileSync('mkfifo', [path.join(repo, '.gitignore')]);
  return repo;
}

/** Of the git that lists this work tree. */
function gitOf(repo: string): number | undefined {
  const found = spawnSync('pgrep', ['-f', `^git .*--work-tree=${repo} `])
    .stdout.toString()
    .trim();
  return found === '' ? undefined : Number(found.split('\n')[0]);
}

test('a git that waits for ever fails its job, and holds up no other', async () => {
  const good = makeRepo({ 'good.txt': 'plum\n' });
  const config = path.join(temporaryFolder(), 'config.json');
  writeFileSync(config, JSON.stringify({ settings: { gitTimeoutMs: 1000 } }));
  const served = await serve(temporaryFolder(), [stuckRepo(), good], {
    env: { TRAWL_CONFIG: config },
  });
  await jobsEnded(served, 2);
  assert.match(
    served.process.stderr,
    /ERROR .*indexing failed .*\n.*git ls-files: time limit exceeded/,
  );
  assert.deepEqual(pathsOf(await search(served.url, 'plum')), ['good.txt']);
  await served.process.stop();
});

test('a daemon ends although a git does not, and takes it along', async () => {
  const repo = stuckRepo();
  const served = await serve(temporaryFolder(), [repo]);
  let pid: number | undefined;
  await eventually(async () => (pid = gitOf(repo)) !== undefined);
  const { code } = await served.process.stop();
  assert.equal(code, 0);
  await goneSoon(pid!);
});
