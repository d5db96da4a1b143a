// A hanging git, caused by a pipe among the ignore files of a work tree: the job fails and later ones run, and a
// stopping daemon ends and leaves no git behind. A slow check of a source does not delay the start.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { goneSoon } from '../sources/history/braked-git.ts';
import { commitAll, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import {
  call,
  eventually,
  index,
  jobsEnded,
  pathsOf,
  search,
  serve,
  serveIndexed,
} from './daemon.ts';

function stuckRepo(): string {
  const repo = makeRepo({ 'stuck.txt': 'plum\n' });
  execFileSync('mkfifo', [path.join(repo, '.gitignore')]);
  return repo;
}

/** Of the git that lists this work tree. */
function gitOf(repo: string): number | undefined {
  const isGit = (pid: string): boolean => {
    try {
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      return args.startsWith('git\0') && args.includes(`--work-tree=${repo}\0`);
    } catch {
      return false;
    }
  };
  const pid = readdirSync('/proc').find((name) => /^\d+$/.test(name) && isGit(name));
  return pid === undefined ? undefined : Number(pid);
}

test('a hanging git fails its job, and blocks no other', async () => {
  const good = makeRepo({ 'good.txt': 'plum\n' });
  const config = path.join(temporaryFolder(), 'config.json');
  writeFileSync(config, JSON.stringify({ settings: { gitTimeoutMs: 2000 } }));
  const served = await serve(temporaryFolder(), [stuckRepo(), good], {
    env: { TRAWL_CONFIG: config },
  });
  await jobsEnded(served, 2);
  assert.match(
    served.process.stderr,
    /ERROR .*indexing failed .*git ls-files: time limit exceeded/,
  );
  assert.deepEqual(pathsOf(await search(served.url, 'plum')), ['good.txt']);
  await served.process.stop();
});

test('a daemon ends although a git hangs, and ends it too', async () => {
  const repo = stuckRepo();
  const served = await serve(temporaryFolder(), [repo]);
  let pid: number | undefined;
  await eventually(async () => (pid = gitOf(repo)) !== undefined);
  const { code } = await served.process.stop();
  assert.equal(code, 0);
  await goneSoon(pid!);
});

/** A value of PATH with a git that waits before it looks at this repository, until `release` is called. */
function slowGit(repo: string): { readonly path: string; release(): void } {
  const tools = temporaryFolder();
  const brake = path.join(tools, 'brake');
  const real = spawnSync('sh', ['-c', 'command -v git']).stdout.toString().trim();
  writeFiles(tools, {
    brake: '',
    git: `#!/bin/sh
case " $* " in
  *"--git-dir=${repo}/"*) while [ -e ${brake} ]; do sleep 0.02; done
esac
exec ${real} "$@"
`,
  });
  chmodSync(path.join(tools, 'git'), 0o755);
  return { path: `${tools}:${process.env['PATH'] ?? ''}`, release: () => rmSync(brake) };
}

test('a slow check of a source blocks neither the daemon nor the others', async () => {
  const dataDir = temporaryFolder();
  const [slow, good] = [makeRepo({ 'slow.txt': 'plum\n' }), makeRepo({ 'good.txt': 'plum\n' })];
  await index(dataDir, [good]);
  const braked = slowGit(slow);
  const options = { env: { PATH: braked.path } };
  const served = await serve(dataDir, [slow, good], options);
  assert.deepEqual(pathsOf(await search(served.url, 'plum')), ['good.txt']);
  braked.release();
  await jobsEnded(served, 2);
  assert.deepEqual(pathsOf(await search(served.url, 'plum')), ['good.txt', 'slow.txt']);
  await served.process.stop();
});

/** A value of PATH with a git that stops itself when it looks at this repository while `stop` is a file. */
function stoppingGit(repo: string): { readonly path: string; readonly stop: string } {
  const tools = temporaryFolder();
  const stop = path.join(tools, 'stop');
  const real = spawnSync('sh', ['-c', 'command -v git']).stdout.toString().trim();
  writeFiles(tools, {
    git: `#!/bin/sh
case " $* " in
  *"--git-dir=${repo}/"*) if [ -e ${stop} ]; then kill -STOP $$; fi
esac
exec ${real} "$@"
`,
  });
  chmodSync(path.join(tools, 'git'), 0o755);
  return { path: `${tools}:${process.env['PATH'] ?? ''}`, stop };
}

/** Ids of the processes that the daemon has started and that look at this repository. */
function gitsOf(daemonPid: number, repo: string): number[] {
  const tasks = `/proc/${daemonPid}/task`;
  const children = readdirSync(tasks).flatMap((task) => {
    try {
      return readFileSync(`${tasks}/${task}/children`, 'utf8').split(' ').filter(Boolean);
    } catch {
      // A thread that has ended since.
      return [];
    }
  });
  return children.map(Number).filter((pid) => {
    try {
      const args = readFileSync(`/proc/${pid}/cmdline`, 'utf8');
      // One that is still to become git has the arguments of the daemon.
      return args.includes(`--git-dir=${repo}/`);
    } catch {
      return false;
    }
  });
}

test('a stopped git: an error at the deadline, no remains, other requests are answered', async () => {
  const [bad, good] = [makeRepo({ 'bad.txt': 'plum\n' }), makeRepo({ 'good.txt': 'plum\n' })];
  for (const repo of [bad, good]) {
    writeFiles(repo, { 'more.txt': 'plum\n' });
    commitAll(repo, 'second');
  }
  const config = path.join(temporaryFolder(), 'config.json');
  writeFileSync(config, JSON.stringify({ settings: { gitTimeoutMs: 4000 } }));
  const stopping = stoppingGit(bad);
  const served = await serveIndexed(temporaryFolder(), [bad, good], {
    env: { TRAWL_CONFIG: config, PATH: stopping.path },
    flags: ['--mode', 'commits'],
  });
  const { files } = await search(served.url, 'file:^(bad|good).txt');
  const nameOf = (file: string): string =>
    files.find(({ fileName }) => fileName.text === file)!.repository;
  const routesOf = (repo: string, file: string): string[] => [
    `source?repo=${repo}&path=${file}&ref=main~1`,
    `blame?repo=${repo}&path=${file}`,
    `commits?repo=${repo}`,
    `commits?repo=${repo}&path=${file}`,
    `commits/authors?repo=${repo}`,
    `commit?repo=${repo}&ref=main`,
    `diff?repo=${repo}&base=main~1&head=main`,
    `refs?repo=${repo}`,
    `folder_contents?repoName=${repo}&revisionName=main~1&path=`,
  ];
  const statusOf = async (route: string): Promise<number> =>
    (await call(`${served.url}/api/${route}`)).status;
  const [badRoutes, goodRoutes] = [
    routesOf(nameOf('bad.txt'), 'bad.txt'),
    routesOf(nameOf('good.txt'), 'good.txt'),
  ];
  // One that runs already is stopped too.
  assert.equal(await statusOf(badRoutes[0]!), 200);
  writeFileSync(stopping.stop, '');
  for (const pid of gitsOf(served.process.child.pid!, bad)) process.kill(pid, 'SIGSTOP');
  const refused = Promise.all(badRoutes.map(statusOf));
  const answered = await Promise.all(goodRoutes.map(statusOf));
  assert.deepEqual(new Set(answered), new Set([200]));
  assert.deepEqual(
    await refused,
    badRoutes.map(() => 500),
  );
  await eventually(async () => gitsOf(served.process.child.pid!, bad).length === 0);
  rmSync(stopping.stop);
  assert.deepEqual(
    await Promise.all(badRoutes.map(statusOf)),
    badRoutes.map(() => 200),
  );
  await served.process.stop();
});
