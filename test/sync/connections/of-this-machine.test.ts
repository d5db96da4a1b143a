// Connections to folders of this machine (`file://`), with real git and the real index: sources are read in place,
// under the rules of their connection; missing ones are removed after the grace period, and a missing disk removes
// nothing.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {
  connectionSchema,
  type ConnectionSettings,
} from '../../../daemon/base/config/connections.ts';
import { createLog } from '../../../daemon/base/log.ts';
import { openConnection } from '../../../daemon/sync/sources/local-host.ts';
import {
  commitAll,
  git,
  makeRepo,
  temporaryFolder,
  writeFiles,
} from '../../sources/git/fixture.ts';
import { openIndexOf } from '../index-of.ts';
import { type ConnectedIndex, found, openConnected } from './connected-index.ts';

const log = createLog({ level: 'error', format: 'text', write: () => {} });

function settingsOf(url: string, more: object = {}): ConnectionSettings {
  return connectionSchema.parse({ type: 'git', url: `file://${url}`, ...more });
}

async function open(
  settings: Readonly<Record<string, ConnectionSettings>>,
  dataDir = temporaryFolder(),
): Promise<ConnectedIndex> {
  const hosts = new Map<string, Awaited<ReturnType<typeof openConnection>>>();
  const all = async (some: typeof settings): Promise<void> => {
    for (const [name, one] of Object.entries(some))
      hosts.set(name, await openConnection(name, one, { log, env: {}, apps: [] }));
  };
  await all(settings);
  const index = await openConnected(
    dataDir,
    (name) => ({ open: () => hosts.get(name)! }),
    settings,
  );
  await index.settle();
  return {
    ...index,
    async configure(now) {
      await all(now);
      await index.configure(now);
      await index.settle();
    },
  };
}

/** A mirror: two bare ones of one remote, a work tree with a linked one, a plain folder, a file. */
function makeMirror(): string {
  const root = temporaryFolder();
  const repo = makeRepo({ 'a.txt': 'plum\n', '.gitignore': 'secret\n' });
  for (const name of ['one.git', 'two.git']) {
    git(root, 'clone', '-q', '--bare', repo, name);
    git(path.join(root, name), 'config', 'remote.origin.url', 'https://git.example.com/o/one.git');
  }
  git(root, 'clone', '-q', repo, 'work');
  git(path.join(root, 'work'), 'remote', 'remove', 'origin');
  git(path.join(root, 'work'), 'worktree', 'add', '-q', '../linked');
  writeFiles(root, { 'plain/b.txt': 'plum\n', 'plain/gen/c.txt': 'plum\n', README: 'plum\n' });
  return root;
}

const ALL = [
  'git.example.com/o/one-2:a.txt',
  'git.example.com/o/one:a.txt',
  'local/linked:a.txt',
  'local/plain:b.txt',
  'local/plain:gen/c.txt',
  'local/work:a.txt',
];

test('repositories of a glob are read in place, named by their remote; changes follow the listing', async () => {
  const root = makeMirror();
  await using index = await open({ disk: settingsOf(`${root}/*`) });
  assert.deepEqual(await found(index, 'plum'), ALL);
  const { issues } = (await index.sync('disk')).result!;
  assert.match(JSON.stringify(issues), /NOT_A_FOLDER.*README.*TARGET_SKIPPED/);
  assert.equal(existsSync(path.join(index.dataDir, 'clones')), false);

  const other = makeRepo({ 'd.txt': 'plum\n' });
  git(root, 'clone', '-q', '--bare', other, 'three.git');
  rmSync(path.join(root, 'two.git'), { recursive: true });
  writeFiles(path.join(root, 'work'), { 'e.txt': 'plum\n' });
  commitAll(path.join(root, 'work'));
  const before = readdirSync(root, { recursive: true });
  const { result } = await index.sync('disk');
  assert.equal(result!['missing'], 1);
  const work = index.instance.served.records.find(({ name }) => name === 'local/work')!;
  index.connections.requestFetch(work.repoId);
  await index.settle();
  const now = ALL.filter((one) => !one.includes('one-2'));
  assert.deepEqual(
    await found(index, 'plum'),
    [...now, 'local/three.git:d.txt', 'local/work:e.txt'].sort(),
  );
  assert.deepEqual(readdirSync(root, { recursive: true }), before);

  // As if its disk was not mounted.
  renameSync(root, `${root}-away`);
  assert.equal((await index.sync('disk')).result!['status'], 'PARTIAL_SUCCESS');
  mkdirSync(root);
  assert.match(JSON.stringify((await index.sync('disk')).result), /EMPTY_LISTING/);
  assert.equal((await found(index, 'plum')).length, 7);
  rmSync(root, { recursive: true });
  renameSync(`${root}-away`, root);
  await index.close();

  await using again = await open({ disk: settingsOf(`${root}/*`) }, index.dataDir);
  assert.equal((await found(again, 'plum')).length, 7);
  await again.configure({});
  assert.deepEqual(await found(again, 'plum'), []);
  assert.deepEqual(readdirSync(root, { recursive: true }), before);
});

test('mode, ignore, name and permissions; a work tree without its git is not a folder', async () => {
  const root = makeMirror();
  const work = path.join(root, 'work');
  writeFiles(work, { secret: 'plum\n', 'new.txt': 'plum\n' });
  const ofWork = { mode: 'worktree', name: 'team/work' };
  await using index = await open({
    work: settingsOf(work, ofWork),
    plain: settingsOf(`${root}/plain`, { ignore: ['gen/**'], enforcePermissions: true }),
  });
  const displayed = ['local/plain:b.txt', 'team/work:a.txt', 'team/work:new.txt'];
  assert.deepEqual(await found(index, 'plum'), displayed);
  assert.deepEqual(index.displayed(), ['local/plain unknown restricted', 'team/work unknown open']);

  renameSync(path.join(work, '.git'), path.join(root, 'kept'));
  await index.sync('work');
  index.connections.requestFetch(
    index.instance.served.records.find(({ name }) => name === 'team/work')!.repoId,
  );
  await index.settle();
  assert.deepEqual(await found(index, 'plum'), displayed);
  assert.match(index.instance.indexer.degradations.join(), /its \.git is missing/);
  renameSync(path.join(root, 'kept'), path.join(work, '.git'));

  await index.configure({ work: settingsOf(work), plain: settingsOf(`${root}/plain`) });
  assert.deepEqual(await found(index, 'plum'), [
    'local/plain:b.txt',
    'local/plain:gen/c.txt',
    'local/work:a.txt',
  ]);
  assert.deepEqual(index.displayed(), ['local/plain unknown open', 'local/work unknown open']);

  writeFiles(path.join(root, 'plain'), { '.trawlignore': '*\n' });
  const plain = index.instance.served.records.find(({ name }) => name === 'local/plain')!;
  const job = await index.instance.indexer.jobs.indexAll([plain], true);
  assert.match(job[0]!.warnings.join(), /^nothing is indexed: .*\("!\*" includes everything\)$/);
  rmSync(path.join(root, 'plain/.trawlignore'));
  rmSync(path.join(root, 'plain/gen'), { recursive: true });
  git(path.join(root, 'plain'), 'init', '-q');
  commitAll(path.join(root, 'plain'));
  writeFiles(path.join(root, 'plain'), { 'uncommitted.txt': 'plum\n' });
  await index.sync('plain');
  assert.deepEqual(await found(index, 'plum'), ['local/plain:b.txt', 'local/work:a.txt']);
});

/** What is found, then who has each repo: its id, name, kind, and whether a connection lists it. */
async function state(index: ConnectedIndex): Promise<string[]> {
  const { registry } = index.instance.index;
  return [
    ...(await found(index, 'plum')),
    ...index.instance.served.records.map(({ repoId, name, source: { kind } }) => {
      const isListed = registry.byId(repoId)?.host !== undefined;
      return `${repoId} ${name} ${kind}${isListed ? ' listed' : ''}`;
    }),
  ];
}

test('a path given as argument and listed by a connection is one repo, of the connection', async () => {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  writeFiles(repo, { 'new.txt': 'plum\n' });
  const name = `local/${path.basename(repo)}`;
  await using index = await open({});
  await index.index([repo], { enforcement: 'all' });
  const [a, uncommitted] = [`${name}:a.txt`, `${name}:new.txt`];
  assert.deepEqual(await state(index), [a, uncommitted, `1 ${name} worktree`]);
  // Its settings apply, and the repo is the same one.
  await index.configure({ disk: settingsOf(repo) });
  assert.deepEqual(await state(index), [a, `1 ${name} commits listed`]);
  assert.deepEqual(index.displayed(), [`${name} unknown open`]);
  const link = path.join(temporaryFolder(), 'link');
  symlinkSync(repo, link);
  for (const repoName of [repo, link]) {
    await index.index([repoName], { enforcement: 'all' });
    await index.sync('disk');
    assert.deepEqual(await state(index), [a, `1 ${name} commits listed`], repoName);
  }
  assert.match(index.warningLines.join(), /a connection lists it, and the settings of that apply/);
  await index.close();
  // Without its connections, as "trawl index" has it.
  await using offline = await openIndexOf(index.dataDir);
  assert.deepEqual(
    (await offline.index([repo])).map(({ repo: one, state: how }) => `${one} ${how}`),
    [`${name} COMPLETED`],
  );
  await offline.close();
  await using again = await open({ disk: settingsOf(repo) }, index.dataDir);
  await again.index([repo]);
  assert.deepEqual(await state(again), [a, `1 ${name} commits listed`]);
  // Without the connection it is a named one again.
  await again.configure({});
  assert.deepEqual(await state(again), [a, uncommitted, `1 ${name} worktree`]);
  await again.configure({ disk: settingsOf(repo, { enforcePermissions: true }) });
  assert.deepEqual(await state(again), [a, `1 ${name} commits listed`]);
  assert.deepEqual(again.displayed(), [`${name} unknown restricted`]);
});

test('a folder of two connections has the settings of the first one, in any order of listings', async () => {
  const root = makeMirror();
  const [all, plain] = [settingsOf(`${root}/p*`), settingsOf(`${root}/plain`, { name: 'b' })];
  const some = settingsOf(`${root}/plain`, { name: 'team/plain', ignore: ['gen/**'] });
  await using index = await open({ some, all, plain });
  for (const name of ['all', 'some', 'plain', 'all']) {
    const { result } = await index.sync(name);
    assert.deepEqual(await found(index, 'plum'), ['team/plain:b.txt'], name);
    assert.deepEqual(result!['issues'], []);
  }
  await index.configure({ all, some });
  await index.sync('all');
  await index.sync('some');
  const names = ['local/plain:b.txt', 'local/plain:gen/c.txt'];
  assert.deepEqual(await found(index, 'plum'), names);
});

test('a listed work tree without its git: its files are not those of a named folder around it', async () => {
  const root = makeMirror();
  git(path.join(root, 'work'), 'worktree', 'remove', '../linked');
  writeFiles(path.join(root, 'work'), { secret: 'plum\n' });
  await using index = await open({
    work: settingsOf(`${root}/work`, { enforcePermissions: true }),
  });
  await index.index([root]);
  const before = await found(index, 'plum');
  assert.ok(before.includes('local/work:a.txt') && before.some((one) => one.endsWith(':README')));
  renameSync(path.join(root, 'work/.git'), path.join(temporaryFolder(), 'away'));
  await index.sync('work');
  await index.index([root]);
  assert.deepEqual(await found(index, 'plum'), before);
});

test('a path first listed by a connection and then given as argument', async () => {
  const root = makeMirror();
  await using index = await open({ disk: settingsOf(`${root}/*.git`) });
  await index.index([root]);
  const kinds = (): string[] =>
    index.instance.served.records
      .map(({ repoId, name, source }) => `${repoId} ${name} ${source.kind}`)
      .sort();
  const before = kinds();
  assert.deepEqual(
    before.map((one) => one.slice(2)).sort(),
    [
      'git.example.com/o/one commits',
      'git.example.com/o/one-2 commits',
      'local/linked worktree',
      `local/${path.basename(root)} folder`,
      'local/work worktree',
    ].sort(),
  );
  await index.configure({});
  assert.deepEqual(kinds(), before);
});
