// Git runs with a clean environment, without hostile settings, within limits and with masked secrets.

import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { GitError, runGit, startGit, tryGit } from '../../../daemon/sources/git/git.ts';
import { findObjects, resolveCommit } from '../../../daemon/sources/git/objects.ts';
import { findDefault, probeSource } from '../../../daemon/sources/git/probe.ts';
import { childrenOf, untilGone } from '../../engine/symbols/processes.ts';
import { goneSoon } from '../history/braked-git.ts';
import { git, makeRepo, temporaryFolder, writeFiles } from './fixture.ts';

/** Rejection of a promise that must reject with a GitError. */
async function gitErrorOf(promise: Promise<unknown>): Promise<GitError> {
  const error: unknown = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof GitError, `expected a GitError, got ${String(error)}`);
  return error;
}

test('a last argument may have any bytes but NUL', async () => {
  const repo = makeRepo({ 'a.txt': 'a' });
  const bytes = Buffer.from(Array.from({ length: 255 }, (_, i) => i + 1));
  const show = ['-c', 'alias.show-it=!printf "%s|%s"', 'show-it', 'first'];
  for (const rawTail of [bytes, Buffer.from('-n $(id) `id` "x" \\n%s\n\n'), Buffer.alloc(0)]) {
    const output = await runGit(show, { repoPath: repo, rawTail });
    assert.deepEqual(output, Buffer.concat([Buffer.from('first|'), rawTail]));
  }
});

test('an exit code becomes a GitError with the message of git', async () => {
  const repo = makeRepo({});
  const error = await gitErrorOf(runGit(['cat-file', 'blob', 'nosuch'], { repoPath: repo }));
  assert.equal(error.failure, 'exit');
  assert.equal(error.exitCode, 128);
  assert.equal(error.command, 'cat-file');
  assert.match(error.detail, /nosuch/);
  assert.doesNotMatch(error.message, /\n/);
  assert.equal(await tryGit(['cat-file', 'blob', 'nosuch'], { repoPath: repo }), undefined);
});

test('a commit that was removed after its ref was read is a lost object', async () => {
  const repo = makeRepo({ a: 'a' });
  const oid = '1'.repeat(40);
  for (const command of ['rev-list', 'log', 'shortlog'])
    await assert.rejects(runGit([command, oid, '--'], { repoPath: repo }), {
      errorCode: 'NOT_FOUND',
      oid,
    });
});

test('the last message of git is reported, whatever precedes it', async () => {
  const repo = makeRepo({});
  const detailOf = async (...lines: string[]): Promise<string> => {
    const echo = lines.map((line) => `echo '${line}' >&2;`).join(' ');
    const say = ['-c', `alias.say=!${echo} exit 128; :`, 'say'];
    return (await gitErrorOf(runGit(say, { repoPath: repo }))).detail;
  };
  const noise = Array.from({ length: 5 }, (_, i) => `warning: ignoring broken ref ${i}`);
  assert.equal(await detailOf(...noise, 'fatal: bad object'), 'bad object');
  assert.equal(
    await detailOf('error: no object', 'error: no object', 'hint: fetch', 'fatal: early EOF'),
    'no object; early EOF',
  );
  assert.equal(await detailOf('usage: git say', 'more'), 'usage: git say');
  assert.equal(await detailOf('hm', 'fatal: ssh://a:b@host/x'), 'ssh://***@host/x');
  const long = [
    '-c',
    'alias.say=!yes warning: w | head -c 110000 >&2; echo fatal: end >&2; exit 1; :',
  ];
  const error = await gitErrorOf(runGit([...long, 'say'], { repoPath: repo }));
  assert.equal(error.detail, 'end');
});

test('credentials in addresses are not in the message', async () => {
  const repo = makeRepo({});
  const url = 'https://user:s3cret@localhost:1/x.git';
  const error = await gitErrorOf(
    runGit(['ls-remote', '--', url], { repoPath: repo, env: { GIT_ALLOW_PROTOCOL: 'https' } }),
  );
  assert.match(error.message, /localhost/);
  assert.doesNotMatch(error.message, /s3cret/);
});

test('transports are off unless the caller allows them', async () => {
  const repo = makeRepo({});
  const error = await gitErrorOf(runGit(['ls-remote', '--', `file://${repo}`], { repoPath: repo }));
  assert.match(error.detail, /not allowed/);
});

test('variables of the daemon, GIT_* ones and others, do not reach git', async () => {
  const repo = makeRepo({});
  process.env['GIT_DIR'] = '/nonexistent';
  process.env['TRAWL_SECRET'] = 's3cret';
  try {
    const env = await runGit(['-c', 'alias.env=!env', 'env'], { repoPath: repo });
    assert.doesNotMatch(env.toString(), /s3cret|nonexistent/);
    assert.match(env.toString(), /^GIT_TERMINAL_PROMPT=0$/m);
  } finally {
    delete process.env['GIT_DIR'];
    delete process.env['TRAWL_SECRET'];
  }
});

test('hooks and the file system monitor of a repository do not run', async () => {
  const repo = makeRepo({ 'a.txt': 'a' });
  const mark = path.join(temporaryFolder(), 'ran');
  writeFiles(repo, { '.git/evil': `#!/bin/sh\ntouch ${mark}\n` });
  writeFiles(repo, { '.git/hooks/post-index-change': `#!/bin/sh\ntouch ${mark}\n` });
  chmodSync(path.join(repo, '.git/evil'), 0o755);
  chmodSync(path.join(repo, '.git/hooks/post-index-change'), 0o755);
  git(repo, 'config', 'core.fsmonitor', path.join(repo, '.git/evil'));
  await runGit(['status', '--porcelain'], { repoPath: repo, usesWorkTree: true });
  await runGit(['add', '-A'], { repoPath: repo, usesWorkTree: true });
  assert.equal(existsSync(mark), false);
  git(repo, 'status', '--porcelain');
  assert.equal(existsSync(mark), true, 'the trap works where nothing guards against it');
});

test('a folder in a repository is not taken for that repository', async () => {
  const repo = makeRepo({ 'sub/a.txt': 'a' });
  const error = await gitErrorOf(
    runGit(['rev-parse', '--git-dir'], { repoPath: path.join(repo, 'sub') }),
  );
  assert.equal(error.failure, 'exit');
});

test('time limit, abort and output cap end git', async () => {
  const repo = makeRepo({ 'big.txt': 'x'.repeat(100_000) });
  const sleep = ['-c', 'alias.nap=!sleep 60', 'nap'];
  const late = await gitErrorOf(runGit(sleep, { repoPath: repo, timeoutMs: 50 }));
  assert.equal(late.failure, 'timeout');

  const aborter = new AbortController();
  const aborted = gitErrorOf(runGit(sleep, { repoPath: repo, signal: aborter.signal }));
  aborter.abort();
  assert.equal((await aborted).failure, 'aborted');
  const early = await gitErrorOf(runGit(sleep, { repoPath: repo, signal: AbortSignal.abort() }));
  assert.equal(early.failure, 'aborted');

  const show = ['cat-file', 'blob', 'HEAD:big.txt'];
  const large = await gitErrorOf(runGit(show, { repoPath: repo, outputSizeMax: 99_999 }));
  assert.equal(large.failure, 'output_too_large');
  const fits = await runGit(show, { repoPath: repo, outputSizeMax: 100_000 });
  assert.equal(fits.length, 100_000);
});

test('endless output of git is ended at the limit, named in the error', async () => {
  const repo = makeRepo({ 'a.txt': 'a' });
  const gush = ['-c', 'alias.gush=!yes', 'gush'];
  const error = await gitErrorOf(runGit(gush, { repoPath: repo }));
  assert.equal(error.message, 'git -c: output too large: limit 1048576 bytes');

  const tools = temporaryFolder();
  writeFiles(tools, { git: '#!/bin/sh\nexec yes refs/heads/main\n' });
  chmodSync(path.join(tools, 'git'), 0o755);
  const oldPath = process.env['PATH'];
  process.env['PATH'] = `${tools}:${oldPath}`;
  try {
    const questions = [
      () => resolveCommit(repo, 'HEAD'),
      () => findDefault(repo),
      () => findObjects(repo, ['HEAD']),
      () => findObjects(repo, ['0'.repeat(40)]),
      () => probeSource(repo),
    ];
    for (const question of questions) {
      const { failure, detail } = await gitErrorOf(question());
      assert.equal(failure, 'output_too_large');
      assert.ok(Number(/^limit (\d+) bytes$/.exec(detail)?.[1]) <= 1 << 20, detail);
    }
  } finally {
    process.env['PATH'] = oldPath;
  }
});

test('child processes of git are killed with it', async () => {
  const repo = makeRepo({});
  const running = startGit(['-c', 'alias.nap=!echo $$; sleep 60', 'nap'], { repoPath: repo });
  const pid = await new Promise<number>((resolve) => {
    running.stdout.once('data', (chunk: Buffer) => resolve(Number(chunk.toString())));
  });
  running.kill('aborted');
  await gitErrorOf(running.ended);
  assert.ok(pid > 0);
  await goneSoon(pid);
});

test('a missing folder is named', async () => {
  const error = await gitErrorOf(runGit(['status'], { repoPath: '/nonexistent/repo' }));
  assert.equal(error.failure, 'not_started');
  assert.match(error.message, /folder is gone/);
});

// No other program that the parent has started holds the other ends of their pipes.
test(
  'waiting processes end with a killed parent',
  { skip: process.platform !== 'linux' },
  async () => {
    const file = fileURLToPath(new URL('./orphan-child.js', import.meta.url));
    const child = fork(file, [makeRepo({ 'a.txt': 'plum\n' })]);
    await once(child, 'message');
    const gits = childrenOf(child.pid!, 'cat-file');
    child.kill('SIGKILL');
    assert.equal(gits.length, 4);
    await untilGone(gits);
  },
);
