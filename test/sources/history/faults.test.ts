// Failures around git: hostile settings of a repository, damage, time limits, disconnecting clients, many equal
// requests. A git of the test, first in PATH, records its calls, and hangs on request.
// tier: ci (long)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import test, { after } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { GitError, GitSettingsError } from '../../../daemon/sources/git/git.ts';
import { History } from '../../../daemon/sources/history/history.ts';
import { objectPool } from '../../../daemon/sources/git/object-pool.ts';
import { git, temporaryFolder, writeFiles } from '../git/fixture.ts';
import { goneSoon, isRunning, makeBrakedGit } from './braked-git.ts';
import { makeHistory, type MadeCommit } from './repos.ts';
import { graphFolder, historyOf, type HistoryWorld, NEVER } from './world.ts';

const braked = makeBrakedGit();
const oldPath = process.env['PATH'];
process.env['PATH'] = braked.path;
after(() => {
  process.env['PATH'] = oldPath;
});

const COMMITS: readonly MadeCommit[] = [
  {
    message: 'one: caf\u00E9',
    files: {
      'a.txt': 'a\n\nb\nc\n',
      'old.txt': 'same\nsame\nsame\n',
      '.gitattributes': '* diff=evil\n',
    },
  },
  {
    author: 'B <b@example.com>',
    files: { 'a.txt': 'a\n\nb\nd\n' },
    renames: { 'old.txt': 'new.txt' },
  },
];
const plain = makeHistory(COMMITS);

function blameJson(world: HistoryWorld, signal = NEVER): Promise<Buffer> {
  return world.history.blame(world.repo, { ref: 'main', path: 'a.txt' }, signal);
}

test('a hundred equal requests are one process; the answer is cached', async () => {
  const world = historyOf(plain.path);
  braked.blamers();
  const answers = await Promise.all(
    Array.from({ length: 100 }, () => blameJson(world, new AbortController().signal)),
  );
  assert.equal(new Set(answers.map(String)).size, 1);
  const cached = await blameJson(world);
  assert.equal(cached.buffer.byteLength, cached.length, 'it keeps no memory of others');
  assert.equal(braked.blamers().length, 1);
});

test('a process ends when all its clients have left, not before', async () => {
  const world = historyOf(plain.path);
  braked.blamers();
  braked.brake();
  const clients = [new AbortController(), new AbortController(), new AbortController()];
  const last = blameJson(world);
  const pid = await braked.blamerStarted();
  const waiting = clients.map(({ signal }) => blameJson(world, signal));
  await sleep(50);
  clients[0]?.abort(new Error('gone 0'));
  await assert.rejects(waiting[0]!, /gone 0/);
  clients[1]?.abort(new Error('gone 1'));
  await assert.rejects(waiting[1]!, /gone 1/);
  clients[2]?.abort(new Error('gone 2'));
  await assert.rejects(waiting[2]!, /gone 2/);
  await sleep(50);
  assert.ok(isRunning(pid), 'one is still there');
  braked.release();
  assert.ok((await last).length > 2);
  assert.deepEqual(braked.blamers(), [pid]);

  const other = historyOf(plain.path);
  braked.brake();
  const client = new AbortController();
  const alone = blameJson(other, client.signal);
  const second = await braked.blamerStarted();
  client.abort(new Error('gone'));
  await assert.rejects(alone, /gone/);
  await goneSoon(second);
  braked.release();
  assert.ok((await blameJson(other)).length > 2, 'what was given up is made again');
});

test('the time limit ends git', async () => {
  const history = new History({
    timeoutMs: 50,
    sourceSizeMax: 1000,
    graphs: { folder: graphFolder() },
  });
  const { repo } = historyOf(plain.path);
  braked.blamers();
  braked.brake();
  const request = { ref: 'main', path: 'a.txt' };
  await assert.rejects(history.blame(repo, request, NEVER), {
    name: 'GitError',
    failure: 'timeout',
  });
  for (const pid of braked.blamers()) await goneSoon(pid);
  braked.release();
  await history.close();
});

test('settings and programs of the repository have no effect and do not run', async () => {
  const evil = makeHistory(COMMITS).path;
  const mark = path.join(temporaryFolder(), 'ran');
  writeFiles(evil, {
    'evil.sh': `#!/bin/sh\ntouch ${mark}\ncat "$1" 2>/dev/null\n`,
    order: 'z*\n',
  });
  const script = path.join(evil, 'evil.sh');
  chmodSync(script, 0o755);
  writeFiles(evil, {
    'info/attributes': '* diff=evil\n',
    mailmap: 'X <x@example.com> <a@example.com>\n',
  });
  const settings: Readonly<Record<string, string>> = {
    'diff.external': script,
    'diff.evil.command': script,
    'diff.evil.textconv': script,
    'diff.renames': 'false',
    'diff.algorithm': 'patience',
    'diff.context': '0',
    'diff.interHunkContext': '9',
    'diff.noprefix': 'true',
    'diff.mnemonicPrefix': 'true',
    'diff.orderFile': path.join(evil, 'order'),
    'diff.suppressBlankEmpty': 'true',
    'diff.submodule': 'log',
    'diff.ignoreSubmodules': 'all',
    'diff.colorMoved': 'zebra',
    'color.ui': 'always',
    'core.quotePath': 'false',
    'core.pager': script,
    'core.abbrev': '4',
    'gpg.program': script,
    'log.showSignature': 'true',
    'log.follow': 'true',
    'log.mailmap': 'false',
    'log.decorate': 'full',
    'log.excludeDecoration': 'refs/heads/*',
    'log.date': 'relative',
    'format.pretty': 'oneline',
    'format.notes': '*',
    'mailmap.file': path.join(evil, 'mailmap'),
    'i18n.logOutputEncoding': 'ISO-8859-1',
    'grep.patternType': 'perl',
    'blame.ignoreRevsFile': '/nonexistent',
    'blame.showEmail': 'true',
    'blame.date': 'relative',
    'alias.log': `!${script}`,
    'alias.blame': `!${script}`,
  };
  for (const [name, value] of Object.entries(settings)) git(evil, 'config', name, value);
  const [good, bad] = [historyOf(plain.path), historyOf(evil)];
  const answersOf = async (world: HistoryWorld): Promise<unknown[]> => [
    await world.blame('a.txt'),
    await world.diff('main~1', 'main'),
    await world.commits(),
    await world.commits({ path: 'new.txt' }),
    await world.commits({ query: 'caf\u00E9' }),
    await world.commits({ query: 'c(a)?' }),
    await world.history.authors(world.repo, { ref: undefined, path: undefined }, NEVER),
    await world.history.commit(world.repo, 'main', NEVER),
  ];
  assert.deepEqual(await answersOf(bad), await answersOf(good));
  assert.equal(existsSync(mark), false);
  spawnSync(braked.real, ['diff', 'main~1', 'main'], { cwd: evil });
  assert.equal(existsSync(mark), true, 'the trap works where nothing guards against it');
});

/** Settings that some git of ours reads, and that are wrong with one of the values below. */
const READ_SETTINGS =
  `author.name blame.blankBoundary blame.date blame.showEmail blame.showRoot branch.autoSetupMerge
  color.advice color.blame.highlightRecent color.decorate.HEAD color.diff color.diff.meta color.grep color.pager color.ui
  column.ui commitGraph.generationVersion core.abbrev core.attributesFile core.autocrlf core.bigFileThreshold
  core.checkStat core.commentChar core.compression core.createObject core.deltaBaseCacheLimit core.excludesFile
  core.ignoreCase core.packedGitLimit core.preloadIndex core.quotePath core.safecrlf core.sparseCheckout core.worktree
  core.useReplaceRefs core.warnAmbiguousRefs core.whitespace diff.algorithm diff.colorMoved diff.colorMovedWS
  diff.context diff.dirstat diff.ignoreSubmodules diff.interHunkContext diff.noprefix diff.orderFile diff.relative
  diff.renameLimit diff.renames diff.statGraphWidth diff.submodule diff.wordRegex diff.wsErrorHighlight
  feature.manyFiles fetch.negotiationAlgorithm format.encodeEmailHeaders format.pretty format.subjectPrefix
  gc.writeCommitGraph gpg.format gpg.minTrustLevel grep.column grep.patternType i18n.commitEncoding
  i18n.logOutputEncoding include.path index.threads index.version log.abbrevCommit log.date log.diffMerges log.follow
  log.initialDecorationSet log.showRoot log.showSignature mailmap.file pack.compression pager.log push.default
  status.short user.useConfigOnly`.split(/\s+/);

test('a setting that git refuses is a separate error, and no setting changes an answer', async () => {
  const good = historyOf(plain.path);
  const callsOf = (world: HistoryWorld): (() => Promise<unknown>)[] => [
    () => world.blame('a.txt'),
    () => world.diff('main~1', 'main'),
    () => world.commits({ author: 'B' }),
    () => world.history.commit(world.repo, 'main', NEVER),
    () => world.history.authors(world.repo, { ref: undefined, path: undefined }, NEVER),
  ];
  const expected = await Promise.all(callsOf(good).map((call) => call()));
  let refusedCount = 0;
  for (const name of READ_SETTINGS)
    for (const value of [' = bogus', '']) {
      const repo = path.join(temporaryFolder(), 'repo');
      cpSync(plain.path, repo, { recursive: true });
      const [section, variable] = [name.slice(0, name.indexOf('.')), name.split('.').at(-1)];
      const sub = name.split('.').slice(1, -1).join('.');
      const head = sub === '' ? `[${section}]` : `[${section} "${sub}"]`;
      appendFileSync(path.join(repo, 'config'), `${head}\n\t${variable}${value}\n`);
      const answers = await Promise.allSettled(callsOf(historyOf(repo)).map((call) => call()));
      for (const [index, answer] of answers.entries()) {
        const what = `${name}${value}, call ${index}`;
        if (answer.status === 'fulfilled') assert.deepEqual(answer.value, expected[index], what);
        else if (!isCrash(answer.reason)) {
          assert.ok(answer.reason instanceof GitSettingsError, `${what}: ${answer.reason}`);
          assert.match(answer.reason.message, /^The repository cannot be read: git refuses /);
          refusedCount++;
        }
      }
      if (name === 'diff.algorithm' && value !== '')
        await assert.rejects(callsOf(historyOf(repo))[3]!(), /the setting diff\.algorithm of its/);
      await objectPool.close(repo);
    }
  assert.ok(refusedCount > 60, `${refusedCount}`);
});

test('a diff driver with an invalid expression is a refused setting', async () => {
  for (const expression of ['([', '!x']) {
    const repo = path.join(temporaryFolder(), 'repo');
    cpSync(plain.path, repo, { recursive: true });
    git(repo, 'config', 'diff.own.xfuncname', expression);
    mkdirSync(path.join(repo, 'info'), { recursive: true });
    writeFileSync(path.join(repo, 'info', 'attributes'), '* diff=own\n');
    await assert.rejects(historyOf(repo).diff('main~1', 'main'), GitSettingsError, expression);
    await objectPool.close(repo);
  }
});

/** Git itself dies of a colour without a value. */
function isCrash(error: unknown): boolean {
  return error instanceof GitError && /ended by a signal/.test(error.message);
}

test('a work tree elsewhere named by a repository is not read', async () => {
  const outside = temporaryFolder();
  const repo = path.join(outside, 'source', 'repo');
  cpSync(plain.path, repo, { recursive: true });
  writeFiles(outside, {
    '.mailmap': 'Outside <o@example.com> <b@example.com>\n',
    '.gitattributes': '*.txt -diff\n',
  });
  const config = path.join(repo, 'config');
  const good = historyOf(plain.path);
  const answersOf = async (world: HistoryWorld): Promise<unknown[]> => [
    await world.blame('a.txt'),
    await world.diff('main~1', 'main'),
    await world.commits({ path: 'a.txt' }),
  ];
  const expected = await answersOf(good);
  for (const worktree of [outside, '../..', '/nonexistent']) {
    writeFileSync(
      config,
      `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = ${worktree}\n`,
    );
    assert.deepEqual(await answersOf(historyOf(repo)), expected, worktree);
  }
  assert.match(git(repo, 'log', '-1', '--format=%aN', 'main'), /\w/);
});

test('damage is an error, not a wrong or missing answer', async () => {
  const damaged = makeHistory(COMMITS).path;
  const blob = git(damaged, 'rev-parse', 'main~1:a.txt');
  rmSync(path.join(damaged, 'objects', blob.slice(0, 2), blob.slice(2)));
  const world = historyOf(damaged);
  const refusal = { name: 'GitError', failure: 'exit', errorCode: 'NOT_FOUND', oid: blob };
  await assert.rejects(blameJson(world), refusal);
  await assert.rejects(world.diff('main~1', 'main'), refusal);
  await assert.rejects(world.blame('a.txt', 'main~1'), refusal);
  const first = git(damaged, 'rev-parse', 'main~1');
  rmSync(path.join(damaged, 'objects', first.slice(0, 2), first.slice(2)));
  await assert.rejects(world.commits(), { name: 'GitError', failure: 'exit' });
});

test('files above the limit have no blame', async () => {
  const { path: repo } = makeHistory([
    { files: { 'a.txt': 'x'.repeat((1 << 20) + 1), 'b.txt': 'x'.repeat(1 << 20) } },
  ]);
  const world = historyOf(repo);
  await assert.rejects(blameJson(world), {
    errorCode: 'UNEXPECTED_ERROR',
    message: 'File "a.txt" is too large: 1048577 bytes, limit 1048576.',
  });
  assert.equal((await world.blame('b.txt')).ranges.length, 1);
});

test('no process is left', async () => {
  const children = readdirSync(`/proc/${process.pid}/task`).flatMap((task) => {
    const text = readFileSync(`/proc/${process.pid}/task/${task}/children`, 'utf8');
    return text.split(' ').filter((pid) => pid !== '');
  });
  const commands = children.map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  assert.deepEqual(
    commands.filter((command) => !command.includes('cat-file')),
    [],
  );
});
