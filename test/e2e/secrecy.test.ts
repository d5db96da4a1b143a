// Access rules outlive the index: a hidden repository stays hidden and keeps its grants, whatever happens to the
// catalog and however its source is named; an unknown source is hidden where anything is hidden.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { cpSync, renameSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import type { SearchResponse } from '../../daemon/api/search/search-schemas.ts';
import type { SourceKind } from '../../daemon/repos/records.ts';
import { licenceEnvironment } from '../accounts/licences.ts';
import { git, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { type App, startApp } from '../api/app.ts';
import { createLog } from '../../daemon/base/log.ts';
import { suggestedBy, trawl } from './daemon.ts';

const ENV = { TRAWL_ANONYMOUS_ACCESS: 'true', ...licenceEnvironment() };

type Listed = readonly { readonly repoId: number; readonly repoName: string }[];

interface World {
  readonly dataDir: string;
  /** Has the folders `a`, open, and `b`, hidden. */
  readonly folder: string;
  /** Key of a member who was granted `b`. */
  readonly memberKey: string;
}

async function ok(dataDir: string, args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await trawl([...args, '--data-dir', dataDir], { env: ENV });
  assert.equal(code, 0, stderr);
  return stdout;
}

async function makeTemplate(): Promise<World> {
  const [dataDir, folder] = [path.join(temporaryFolder(), 'data'), temporaryFolder()];
  for (const name of ['a', 'b']) {
    const repo = path.join(folder, name);
    writeFiles(repo, { [`${name}.txt`]: 'plum\n' });
    git(repo, 'init', '-q', '-b', 'main');
    git(repo, 'add', '.');
    git(repo, 'commit', '-q', '-m', name);
  }
  await ok(dataDir, ['index', path.join(folder, 'a')]);
  const hidden = ['--enforce-permissions', '--visibility', 'private', '--mode', 'commits'];
  await ok(dataDir, ['index', path.join(folder, 'b'), ...hidden]);
  await ok(dataDir, ['user', 'add', 'owner@example.com', '--role', 'owner']);
  await ok(dataDir, ['user', 'add', 'member@example.com', '--role', 'member']);
  await ok(dataDir, ['grant', 'add', 'member@example.com', 'local/b']);
  const memberKey = await ok(dataDir, [
    'key',
    'create',
    '--user',
    'member@example.com',
    '--name',
    'k',
  ]);
  return { dataDir, folder, memberKey: /svk_[0-9a-f]{64}/.exec(memberKey)![0] };
}

const TEMPLATE = await makeTemplate();

/** Runs on a copy of the data directory; what was moved lies where it was afterwards. */
async function inWorld(run: (world: World, move: Move) => Promise<void>): Promise<void> {
  const dataDir = path.join(temporaryFolder(), 'data');
  cpSync(TEMPLATE.dataDir, dataDir, { recursive: true });
  const back: (() => void)[] = [];
  const move = (from: string, to: string): void => {
    renameSync(from, to);
    back.unshift(() => renameSync(to, from));
  };
  try {
    await run({ ...TEMPLATE, dataDir }, move);
  } finally {
    for (const one of back) one();
  }
}

type Move = (from: string, to: string) => void;

async function visibleTo(app: App, key?: string): Promise<string[]> {
  const headers: Record<string, string> =
    key === undefined ? {} : { authorization: `Bearer ${key}` };
  const { status, body } = await app.get<Listed>('/api/repos', headers);
  assert.equal(status, 200);
  const request = { query: 'plum', matches: 100 };
  const { files } = (await app.post<SearchResponse>('/api/search', request, headers)).body;
  const names = body.map(({ repoName }) => repoName).sort();
  const suggested = async (kind: string, query = '', countMin = 1): Promise<string[]> => {
    const parameters = new URLSearchParams({ kind, prefix: '', query }).toString();
    const address = `/api/suggestions?${parameters}`;
    const fetchValues = async () =>
      (await app.get<readonly { readonly value: string }[]>(address, headers)).body;
    return (await suggestedBy(fetchValues, countMin)).map(({ value }) => value).sort();
  };
  assert.deepEqual(await suggested('repo'), names);
  const fileNames = files.map(({ fileName }) => fileName.text).sort();
  assert.deepEqual(await suggested('file', '', fileNames.length), fileNames);
  // Asked for by name, or counted with what others see, a hidden one is as one that is not there.
  assert.deepEqual(
    await suggested('file', 'repo:^local/b$'),
    names.includes('local/b') ? ['b.txt'] : [],
  );
  const [text] = await suggested('lang');
  assert.equal(text, names.length === 0 ? undefined : 'Text');
  assert.deepEqual([...new Set(files.map(({ repository }) => repository))].sort(), names);
  return body.map(({ repoId, repoName }) => `${repoId} ${repoName}`).sort();
}

/** Serves the sources, in the process of the test; returns what was warned of, too. */
async function serve(dataDir: string, sources: readonly string[], mode?: SourceKind) {
  const warnings: string[] = [];
  const write = (line: string): void => void warnings.push(line);
  const log = createLog({ level: 'warn', format: 'text', write });
  const app = await startApp(sources, { dataDir, env: ENV, log, mode, mayFail: true });
  return { app, warnings };
}

/** Serves the sources, and tells what a guest and the member see. */
async function displayed(
  { dataDir, memberKey }: World,
  sources: readonly string[],
  mode?: SourceKind,
): Promise<{ guest: string[]; member: string[]; warnings: string }> {
  const { app, warnings } = await serve(dataDir, sources, mode);
  const [guest, member] = [await visibleTo(app), await visibleTo(app, memberKey)];
  await app.close();
  return { guest, member, warnings: warnings.join('') };
}

const A = '1 local/a';
const B = '2 local/b';

const [A_PATH, B_PATH] = ['a', 'b'].map((name) => path.join(TEMPLATE.folder, name)) as [
  string,
  string,
];

void test('another mode, order or path: the same repo', () =>
  inWorld(async (world, move) => {
    const same = async (sources: readonly string[], mode?: SourceKind): Promise<void> => {
      const { guest, member } = await displayed(world, sources, mode);
      assert.deepEqual([guest, member], [[A], [A, B]]);
    };
    await same([B_PATH, A_PATH], 'commits');
    const moved = path.join(temporaryFolder(), 'moved');
    move(B_PATH, moved);
    await same([A_PATH, moved]);
  }));

void test('an unknown source is hidden until an owner decides', () =>
  inWorld(async (world) => {
    const copy = path.join(temporaryFolder(), 'copy');
    cpSync(B_PATH, copy, { recursive: true });
    const plain = temporaryFolder();
    writeFiles(plain, { 'p.txt': 'plum\n' });
    const before = await displayed(world, [A_PATH, copy, plain]);
    assert.deepEqual([before.guest, before.member], [[A], [A]]);
    assert.match(before.warnings, /only to owners.*repo set --no-enforce-permissions local\/copy/);
    await ok(world.dataDir, ['repo', 'set', '--no-enforce-permissions', 'local/copy']);
    const after = await displayed(world, [A_PATH, copy]);
    assert.deepEqual(after.guest, [A, '3 local/copy']);
  }));

void test('another repository at the path of an open one is not shown as that one', () =>
  inWorld(async (world, move) => {
    move(A_PATH, path.join(temporaryFolder(), 'old'));
    move(B_PATH, A_PATH);
    const unnamed = path.join(temporaryFolder(), 'data');
    cpSync(world.dataDir, unnamed, { recursive: true });
    for (const [dataDir, sources] of [
      [world.dataDir, [A_PATH]],
      [unnamed, []],
    ] as const) {
      const { app } = await serve(dataDir, sources);
      assert.equal((await visibleTo(app)).includes(A), false, dataDir);
      await app.close();
    }
  }));

/** Of the repository that all see: it is hidden, and shown again. */
async function checkRuleChange(world: World, app: App): Promise<void> {
  const set = (flag: string) => ok(world.dataDir, ['repo', 'set', flag, 'local/a']);
  assert.deepEqual(await visibleTo(app), [A]);
  assert.match(await set('--enforce-permissions'), /1 +local\/a +unknown +restricted/);
  assert.deepEqual(await visibleTo(app), []);
  const [record] = (await ok(world.dataDir, ['audit', '--json'])).split('\n');
  const { actorId, targetType, metadata } = JSON.parse(record!) as Record<string, unknown>;
  assert.deepEqual([actorId, targetType], ['operator', 'org']);
  const { account: _, ...rest } = metadata as Record<string, unknown>;
  assert.deepEqual(rest, {
    from: { visibility: 'unknown', enforcement: 'none' },
    to: { visibility: 'unknown', enforcement: 'restricted' },
    repoIds: [1],
    repos: ['local/a'],
    repoCount: 1,
  });
  await set('--no-enforce-permissions');
  assert.deepEqual(await visibleTo(app), [A]);
  assert.match(await ok(world.dataDir, ['repo', 'list']), /2 +local\/b +private +restricted/);
}

void test('a command to a running daemon applies from the next request on, also for unserved repositories', () =>
  inWorld(async (world) => {
    const { app, warnings } = await serve(world.dataDir, [A_PATH]);
    await checkRuleChange(world, app);
    const grant = (...args: string[]) => ok(world.dataDir, ['grant', ...args]);
    const listed = await ok(world.dataDir, ['repo', 'list']);
    assert.match(listed, /^ *1 +local\/a .* none +served +20\S+Z /m);
    assert.match(listed, /^ *2 +local\/b .* not served +20\S+Z /m);
    const granted = /^member@example.com +local\/b +store\n$/;
    assert.match(await grant('list'), granted);
    for (const text of ['local/b', '#2', '2']) {
      await grant('remove', 'member@example.com', text);
      assert.equal(await grant('list', '--repo', text), '');
      await grant('add', 'member@example.com', text);
      assert.match(await grant('list', '--repo', text), granted);
    }
    await grant('remove', 'member@example.com', 'local/b');
    await app.close();
    assert.match(
      warnings.join(''),
      /WARN .*1 known repository is not among the sources, and not served: local\/b/,
    );
    const whole = await displayed(world, [A_PATH, B_PATH]);
    assert.deepEqual(whole.member, [A]);
    assert.doesNotMatch(whole.warnings, /not among the sources/);
    assert.match(await ok(world.dataDir, ['repo', 'list']), /^ *2 +local\/b .* - +20\S+Z /m);
  }));

void test('an unserved repository is removed with its grants, with or without a daemon; a served one stays', () =>
  inWorld(async (world) => {
    const { app } = await serve(world.dataDir, [A_PATH]);
    const remove = (...names: string[]) =>
      trawl(['repo', 'remove', '--data-dir', world.dataDir, ...names], {});
    const refused = await remove('local/b', 'local/a');
    assert.notEqual(refused.code, 0);
    assert.match(refused.stderr, /Nothing was removed: local\/a is served/);
    assert.match(await ok(world.dataDir, ['grant', 'list']), /local\/b/);
    assert.match((await remove('local/b')).stdout, /^ *2 +local\/b /m);
    assert.equal(await ok(world.dataDir, ['grant', 'list']), '');
    assert.doesNotMatch(await ok(world.dataDir, ['repo', 'list']), /local\/b/);
    const audit = await ok(world.dataDir, ['audit', '--json']);
    assert.match(audit, /"to":null.*"repos":\["local\/b"\]/);
    await app.close();
    await ok(world.dataDir, ['repo', 'remove', 'local/a']);
    assert.doesNotMatch(await ok(world.dataDir, ['repo', 'list']), /local/);
    await ok(world.dataDir, ['index', B_PATH]);
    assert.match(await ok(world.dataDir, ['repo', 'list']), /^ *3 +local\/b /m);
  }));
