// Connections to hosts on this machine, with real git and the real index: the effect of a listing on repos, their
// visibility and their clones; an incomplete listing removes nothing.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { createHmac, randomBytes } from 'node:crypto';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'node:test';
import { deferred } from '../../../daemon/base/deferred.ts';
import type { ConnectionSettings } from '../../../daemon/base/config/connections.ts';
import { SecretText } from '../../../daemon/base/config/secret-text.ts';
import { HostError } from '../../../daemon/hosts/host.ts';
import type { WebhookRepository } from '../../../daemon/hosts/webhook.ts';
import { type FetchMirror, Mirrors } from '../../../daemon/sync/connections/mirrors.ts';
import {
  commitAll,
  commitFiles,
  git,
  makeRepo,
  temporaryFolder,
  writeFiles,
} from '../../sources/git/fixture.ts';
import { isRunning } from '../../sources/history/braked-git.ts';
import { fetchReporter } from '../../../daemon/sync/jobs/job-step.ts';
import { StoreError } from '../../../daemon/store/error.ts';
import { recordingLog } from '../../hosts/servers.ts';
import { newUser } from '../../store/harness.ts';
import { RepoAccessResolver } from '../../../daemon/accounts/repo-access-resolver.ts';
import { RepoDirectory } from '../../../daemon/repos/directory.ts';
import { type ConnectedIndex, found, openConnected, settled } from './connected-index.ts';
import { SmallDisk } from '../small-disk.ts';
import { EAGER } from '../../index/merge-limits.ts';
import { checkFiles } from '../check-files.ts';
import { fetchLocal, hostedRepo, hostOf, localHost, settingsOf } from './local-host.ts';

const PLUM = { 'a.txt': 'plum\n' };
const ENFORCING = settingsOf({ enforcePermissions: true });

function guestOf(index: ConnectedIndex): (word: string) => Promise<string[]> {
  const directory = new RepoDirectory(() => index.instance.parts.snapshots.current.repos);
  const resolver = new RepoAccessResolver({
    directory,
    configuredGrants: () => [],
    countingLists: () => new Map(),
    hasGrants: () => false,
    areRulesLoaded: () => true,
  });
  return (word) => found(index, word, resolver.ofGuest());
}

/** A listing that begins later says what it says: the repository is public again. */
async function assertNextListingCounts(index: ConnectedIndex, name = 'c'): Promise<void> {
  await index.sync(name);
  assert.notDeepEqual(await guestOf(index)('plum'), []);
}

const clones = (dataDir: string): string[] =>
  readdirSync(path.join(dataDir, 'clones'))
    .filter((name) => name.endsWith('.git'))
    .sort();

test('a listing keeps its host while the hosts are opened again; a changed connection closes it', async () => {
  const host = localHost();
  let closedCount = 0;
  const close = async (): Promise<void> => void closedCount++;
  const open = (name: string) => ({ ...host.open(name), close });
  await using index = await openConnected(temporaryFolder(), { open }, { c: settingsOf() });
  await index.settle();
  host.beforePage = async () => {
    host.beforePage = undefined;
    await index.connections.configure({ c: settingsOf() }, true);
    assert.equal(closedCount, 0);
  };
  assert.equal((await index.sync('c')).state, 'COMPLETED');
  await index.sync('c');
  await index.configure({ c: settingsOf({ keepDeleted: true }) });
  assert.equal(closedCount, 1);
});

test('requests to a host and progress of a fetch are in the job, and regularly in its log', async (t) => {
  const host = localHost();
  const reported: unknown[] = [];
  const fetchMirror: FetchMirror = (options) => {
    const [openJob] = index.instance.indexer.jobs.open;
    assert.equal(openJob?.progress?.phase, 'asking');
    return fetchLocal({
      ...options,
      onProgress(step) {
        options.onProgress?.(step);
        const [job] = index.instance.indexer.jobs.open;
        reported.push(job?.progress && { ...job.progress, since: 0 });
        assert.deepEqual(reported.at(-1), { ...step, since: 0 });
      },
    });
  };
  await using index = await settled(host, { fetchMirror });
  host.repos = [hostedRepo('1', makeRepo(PLUM))];
  await index.sync('c');
  assert.equal((await found(index, 'plum')).length, 1);
  assert.ok(reported.length > 0);

  let nowMs = 0;
  t.mock.method(performance, 'now', () => nowMs);
  const said: unknown[] = [];
  const noteChange = fetchReporter((message, fields) =>
    said.push([message, fields['phase'], fields['percent']]),
  );
  for (nowMs = 0; nowMs <= 40_000; nowMs += 500)
    noteChange({ phase: 'receiving', done: nowMs, total: 50_000, unit: 'objects' });
  t.mock.restoreAll();
  assert.deepEqual(said, [
    ['fetching', 'receiving', 30],
    ['fetching', 'receiving', 60],
  ]);
});

test('listed repositories are cloned, indexed and described; a push is found; deleted ones are removed', async () => {
  const [one, two] = [makeRepo(PLUM), makeRepo({ 'b.txt': 'plum\n' })];
  const host = localHost();
  const facts = {
    webUrl: 'https://host/o/1',
    imageUrl: 'https://host/1.png',
    displayName: 'One',
    topics: ['fruit'],
    isFork: true,
    pushedAt: '2026-01-01T00:00:00.000Z',
  };
  host.repos = [hostedRepo('1', one, facts), hostedRepo('2', two)];
  await using index = await settled(host);
  assert.deepEqual(await found(index, 'plum'), ['host/o/1:a.txt', 'host/o/2:b.txt']);
  const [record] = index.instance.parts.snapshots.current.repos;
  const { webUrl, imageUrl, displayName, topics, isFork, pushedAt, codeHostType } = record!;
  assert.deepEqual({ webUrl, imageUrl, displayName, topics, isFork, pushedAt }, facts);
  assert.equal(codeHostType, 'gitea');

  commitFiles(one, { 'c.txt': 'plum\n' });
  const { result } = await index.sync('c');
  assert.equal(result!['status'], 'SUCCESS');
  assert.equal((await found(index, 'plum')).length, 2, 'nothing says that it was pushed to');
  host.repos[0] = hostedRepo('1', one, { ...facts, pushedAt: '2026-01-02T00:00:00.000Z' });
  await index.sync('c');
  assert.equal((await found(index, 'plum')).length, 3);

  const { id } = await newUser(index.store);
  await index.store.grants.add(id, [1, 2]);
  host.repos.shift();
  assert.equal((await index.sync('c')).result!['missing'], 1);
  await index.settle();
  assert.deepEqual(await found(index, 'plum'), ['host/o/2:b.txt']);
  assert.deepEqual(clones(index.dataDir), ['2.git']);
  assert.deepEqual(await index.store.grants.repoIdsOf(id), [2]);
  const { repos, nextRepoId } = await index.store.repos.read();
  assert.deepEqual([repos.map(({ repoId }) => repoId), nextRepoId], [[2], 3]);
  const audit = await index.store.audit.list({ offset: 0, limit: 10 });
  const gone = audit.rows.find(({ metadata }) => metadata?.['to'] === null);
  assert.deepEqual(gone?.metadata?.['repos'], ['host/o/1']);
  host.repos.unshift(hostedRepo('1', one));
  await index.sync('c');
  assert.deepEqual(await index.store.grants.repoIdsOf(id), [1, 2], 'it has its grants back');
  assert.deepEqual(
    index.instance.served.records.map(({ repoId, name }) => `${repoId} ${name}`).sort(),
    ['1 host/o/1', '2 host/o/2'],
  );
});

test('a moved or copied data directory is served unchanged, and nothing is rebuilt or cloned again', async () => {
  const host = localHost();
  host.repos = ['a', 'b'].map((name, index) =>
    hostedRepo(`${index + 1}`, makeRepo({ [`${name}.txt`]: 'plum\n' })),
  );
  const first = path.join(temporaryFolder(), 'first');
  await using before = await settled(host, { dataDir: first });
  const all = ['host/o/1:a.txt', 'host/o/2:b.txt'];
  assert.deepEqual(await found(before, 'plum'), all);
  const timesOf = (index: ConnectedIndex): (string | undefined)[] =>
    index.instance.catalog.repos.map(({ record }) => record.indexedAt);
  const times = timesOf(before);
  await before.close();
  const [moved, copied] = ['moved', 'copied'].map((name) => path.join(temporaryFolder(), name));
  renameSync(first, moved!);
  cpSync(moved!, copied!, { recursive: true });
  const fetchMirror: FetchMirror = () => Promise.reject(new Error('it is there'));
  for (const dataDir of [moved!, copied!]) {
    await using index = await openConnected(dataDir, host, { c: settingsOf() }, { fetchMirror });
    assert.deepEqual(await found(index, 'plum'), all, 'at once');
    await index.settle();
    assert.deepEqual(timesOf(index), times);
    assert.deepEqual(
      index.instance.served.records.map(({ source }) => path.dirname(source.path)),
      times.map(() => path.join(dataDir, 'clones')),
    );
  }
});

test('a failed, incomplete or empty listing removes nothing', async () => {
  const host = hostOf(...Array<string>(5).fill(makeRepo(PLUM)));
  await using index = await settled(host);
  const all = [1, 2, 3, 4, 5].map((id) => `host/o/${id}:a.txt`);
  assert.deepEqual(await found(index, 'plum'), all);

  const before = host.repos;
  host.repos = before.slice(1);
  host.failAt = 1;
  const failed = await index.sync('c');
  assert.equal(failed.state, 'FAILED');
  assert.match(failed.error!, /c: the host is down; try again later/);
  assert.match(index.connections.degradations.join(), /connection c could not be listed: .*down/);
  host.failAt = undefined;
  host.issues = [
    { code: 'HOST_UNAVAILABLE', target: 'orgs: o', effect: 'DISCOVERY_INCOMPLETE', message: 'no' },
  ];
  const partial = await index.sync('c');
  assert.equal(partial.result!['status'], 'PARTIAL_SUCCESS');
  assert.equal(index.connections.sync.warned.size, 1);
  host.issues = [];
  host.repos = [];
  const empty = await index.sync('c');
  assert.match(JSON.stringify(empty.result!['issues']), /EMPTY_LISTING.*had 5 repositories before/);
  assert.deepEqual(await found(index, 'plum'), all);
  host.repos = before;
  assert.equal((await index.sync('c')).result!['status'], 'SUCCESS');
  assert.deepEqual(index.connections.degradations, []);
  assert.equal(index.connections.sync.warned.size, 0);
});

test('an empty or unreadable target keeps its repositories, and blocks no other', async () => {
  const host = localHost();
  const folder = makeRepo(PLUM);
  const repoOf = (id: number, ...targets: string[]) => hostedRepo(`${id}`, folder, { targets });
  const [acme, ann, lost] = ['orgs: acme', 'users: ann', 'groups: lost'];
  host.targets = { [acme]: 'fine', [ann]: 'fine', [lost]: 'fine', 'repos: o/6': 'fine' };
  const [one, two, three, four, five, six] = [
    repoOf(1, acme),
    repoOf(2, acme),
    repoOf(3, ann),
    repoOf(4, ann, acme),
    repoOf(5, lost),
    repoOf(6, 'repos: o/6'),
  ];
  host.repos = [one, two, three, four, five, six];
  await using index = await settled(host);
  const ids = (): number[] =>
    index.instance.served.records
      .map(({ name }) => Number(name.split('/')[2]))
      .toSorted((a, b) => a - b);
  const sync = async (): Promise<string> => {
    const { result } = await index.sync('c');
    return JSON.stringify(result!['issues']);
  };
  const all = [1, 2, 3, 4, 5, 6];
  assert.deepEqual(ids(), all);
  assert.equal(await sync(), '[]');

  host.targets = { ...host.targets, [acme]: 'empty' };
  const reported = await sync();
  assert.match(
    reported,
    /"EMPTY_LISTING","target":"orgs: acme".*had 2 repositories before: they stay/,
  );
  assert.deepEqual(ids(), all);
  host.targets = { ...host.targets, [acme]: 'fine' };
  assert.equal(await sync(), '[]');

  const gone = new HostError('NOT_FOUND', 'there is nothing');
  const down = new HostError('HOST_UNAVAILABLE', 'it is down');
  host.targets = { ...host.targets, [lost]: gone, [ann]: down };
  host.repos = [two, three, four, six];
  assert.match(await sync(), /NOT_FOUND.*HOST_UNAVAILABLE|HOST_UNAVAILABLE.*NOT_FOUND/);
  assert.deepEqual(ids(), [2, 3, 4, 5, 6], 'of acme 1 is gone, whatever is known of the others');
  host.repos = [two, six];
  await sync();
  assert.deepEqual(ids(), [2, 3, 4, 5, 6], 'ann may have 4, too');
  host.targets = { ...host.targets, [ann]: 'fine', 'repos: o/6': gone };
  host.repos = [two, three];
  await sync();
  assert.deepEqual(ids(), [2, 3, 5], 'a repository that is named by itself is gone with its 404');

  // Other settings, under which `lost` was never read: it holds up no other target for ever.
  await index.configure({ c: settingsOf({ orgs: ['p'] }) });
  await index.settle();
  host.repos = [two];
  host.targets = { [acme]: 'fine', [lost]: gone };
  await sync();
  assert.deepEqual(ids(), [2, 5], 'what no target brings any more goes');
});

test('a repository that moved to another target and was deleted is removed, although the first is empty', async () => {
  const host = localHost();
  const repoOf = (id: string, target: string) =>
    hostedRepo(id, makeRepo(PLUM), { targets: [target] });
  host.targets = { 'orgs: a': 'fine', 'orgs: b': 'fine' };
  const [moving, staying] = [repoOf('1', 'orgs: a'), repoOf('2', 'orgs: b')];
  host.repos = [moving, staying];
  await using index = await settled(host);
  host.repos = [{ ...moving, targets: ['orgs: b'] }, staying];
  await index.sync('c');
  assert.deepEqual(await found(index, 'plum'), ['host/o/1:a.txt', 'host/o/2:a.txt']);
  host.repos = [staying];
  await index.sync('c');
  assert.deepEqual(await found(index, 'plum'), ['host/o/2:a.txt']);
});

test('a repository that returns has its id and its grants, and none of its old content', async () => {
  const [one, two] = [makeRepo(PLUM), makeRepo({ 'b.txt': 'plum\n' })];
  const host = hostOf(one, two, two);
  await using index = await settled(host, { settings: ENFORCING, mergeLimits: EAGER });
  await index.instance.indexer.merger.run();
  const shards = index.instance.catalog.repos.map(({ shards: [shard] }) => shard!.shardId);
  assert.equal(new Set(shards).size, 1, 'they share a shard');
  const { id } = await newUser(index.store);
  await index.store.grants.add(id, [1, 2]);
  const all = host.repos;
  host.repos = all.slice(1);
  await index.sync('c');
  assert.deepEqual(await index.store.grants.repoIdsOf(id), [2]);
  git(one, 'mv', 'a.txt', 'new.txt');
  commitAll(one);
  host.repos = all;
  await index.sync('c');
  const ids = index.instance.served.records.map(({ repoId }) => repoId);
  assert.deepEqual(
    ids.toSorted((a, b) => a - b),
    [1, 2, 3],
  );
  assert.deepEqual(await index.store.grants.repoIdsOf(id), [1, 2]);
  const files = ['host/o/1:new.txt', 'host/o/2:b.txt', 'host/o/3:b.txt'];
  assert.deepEqual(await found(index, 'plum'), files);
});

test('a listing interrupted by a stop starts again', async () => {
  const dataDir = temporaryFolder();
  const host = hostOf(...Array<string>(6).fill(makeRepo(PLUM)));
  let pages = 0;
  const { promise: pending, resolve } = deferred();
  host.beforePage = async () => {
    if (++pages === 2) await sleep(2_100);
    if (pages < 3) return;
    resolve();
    await new Promise(() => {});
  };
  await using before = await openConnected(dataDir, host, { c: settingsOf() });
  await pending;
  await before.close();
  assert.deepEqual(host.requested, [0, 2]);
  host.beforePage = undefined;
  await using index = await settled(host, { dataDir });
  assert.deepEqual(host.requested, [0, 2, 0, 2, 4]);
  assert.equal((await found(index, 'plum')).length, 6);
  const { items } = await index.instance.indexer.jobFacade.list({
    offset: 0,
    limit: 9,
    queue: 'connection-sync',
  });
  assert.deepEqual(
    items.map(({ state, attempt }) => [state, attempt]),
    [['COMPLETED', 1]],
  );
});

test('a newly private repository is hidden first, and lifted enforcement applies at once', async () => {
  const host = localHost();
  const folder = makeRepo(PLUM);
  host.repos = [hostedRepo('1', folder), hostedRepo('2', folder, { visibility: 'internal' })];
  const [paused, release] = [deferred(), deferred()];
  let isPaused = false;
  const fetchMirror: FetchMirror = async (options) => {
    if (isPaused) {
      paused.resolve();
      await release.promise;
    }
    await fetchLocal(options);
  };
  await using index = await settled(host, { settings: ENFORCING, fetchMirror });
  const guestFinds = guestOf(index);
  assert.deepEqual(index.displayed(), [
    'host/o/1 public restricted',
    'host/o/2 internal restricted',
  ]);
  assert.deepEqual(await guestFinds('plum'), ['host/o/1:a.txt']);
  isPaused = true;
  host.repos[0] = hostedRepo('1', folder, {
    visibility: 'private',
    pushedAt: '2026-01-01T00:00:00.000Z',
  });
  const synced = index.sync('c');
  await paused.promise;
  assert.deepEqual(await guestFinds('plum'), [], 'its next index has not begun');
  release.resolve();
  await synced;
  assert.deepEqual(await guestFinds('plum'), []);
  const { repos } = await index.store.repos.read();
  assert.deepEqual(
    repos.map(({ visibility }) => visibility),
    ['private', 'internal'],
  );
  host.failAt = 0;
  const strict = settingsOf({ enforcePermissions: true, enforcePermissionsForPublicRepos: true });
  await index.configure({ c: strict });
  assert.deepEqual(index.displayed(), ['host/o/1 private all', 'host/o/2 internal all']);
  await index.configure({ c: settingsOf() });
  assert.deepEqual(index.displayed(), ['host/o/1 private open', 'host/o/2 internal open']);
});

test('a configuration that cannot be stored restricts meanwhile, and is applied when the store works again', async () => {
  const host = hostOf(makeRepo(PLUM));
  await using index = await settled(host);
  const guestFinds = guestOf(index);
  const { repos } = index.store;
  const { change } = repos;
  const configureWithoutStore = async (c: ConnectionSettings): Promise<void> => {
    repos.change = () => Promise.reject(new StoreError('NOT_READY', 'the store does not answer'));
    await assert.rejects(index.configure({ c }), /does not answer/);
  };
  await configureWithoutStore(ENFORCING);
  assert.deepEqual(index.displayed(), ['host/o/1 unknown all']);
  assert.deepEqual(await guestFinds('plum'), []);
  const reason = 'the connections of the configuration are not applied yet: ';
  assert.deepEqual(index.connections.degradations, [`${reason}the store does not answer`]);
  assert.equal((await index.sync('c')).state, 'FAILED', 'no listing precedes the rules');
  assert.deepEqual(index.displayed(), ['host/o/1 unknown all']);
  repos.change = change;
  await index.sync('c');
  assert.deepEqual(index.displayed(), ['host/o/1 public restricted']);
  assert.deepEqual(
    [await guestFinds('plum'), index.connections.degradations],
    [['host/o/1:a.txt'], []],
  );

  // No listing is requested, and the next one fails.
  host.failAt = 0;
  await configureWithoutStore(settingsOf());
  assert.deepEqual(index.displayed(), ['host/o/1 public restricted']);
  repos.change = change;
  index.connections.tick();
  while (index.displayed()[0] === 'host/o/1 public restricted') await sleep(1);
  assert.deepEqual(index.displayed(), ['host/o/1 public open']);
  await index.settle();
});

test('a new repository at the address of a public one is not shown before a listing', async () => {
  const [open, secret] = [makeRepo(PLUM), makeRepo({ 'b.txt': 'sloe\n' })];
  const folder = path.join(temporaryFolder(), 'place');
  renameSync(open, folder);
  const host = hostOf(folder);
  await using index = await settled(host, { settings: ENFORCING });
  const guestFinds = guestOf(index);
  const round = async (): Promise<string> => {
    index.connections.requestFetch(1);
    await index.settle();
    return index.instance.indexer.jobs.failed.sentences(() => true).join();
  };
  assert.deepEqual(await guestFinds('plum'), ['host/o/1:a.txt']);
  assert.deepEqual(host.requestedPaths, ['o/1'], 'of the first clone');
  assert.equal(await round(), '');
  assert.equal(host.requestedPaths.length, 1, 'nothing had changed');

  // The host is asked what it has, and cannot say.
  host.failAt = 0;
  host.answerPath = () => Promise.reject(new HostError('HOST_UNAVAILABLE', 'the host is down'));
  commitFiles(folder, { 'c.txt': 'plum\n' });
  assert.match(await round(), /the host is down/);
  assert.deepEqual(await found(index, 'plum'), ['host/o/1:a.txt']);
  host.answerPath = undefined;
  assert.equal(await round(), '');
  assert.deepEqual(await guestFinds('plum'), ['host/o/1:a.txt', 'host/o/1:c.txt']);

  // It turns private, and is pushed to.
  host.repos = [hostedRepo('1', folder, { visibility: 'private' })];
  commitFiles(folder, { 'd.txt': 'plum\n' });
  assert.match(await round(), /o\/1 was public and is private now; .* listed again/);
  assert.deepEqual(await guestFinds('plum'), []);
  assert.equal(await round(), '', 'it is known to be private');
  assert.equal((await found(index, 'plum')).length, 3);
  host.failAt = undefined;
  host.repos = [hostedRepo('1', folder)];
  await index.sync('c');
  assert.equal((await guestFinds('plum')).length, 3);

  // A private one takes its name.
  host.failAt = 0;
  const moved = `${folder}-moved`;
  renameSync(folder, moved);
  renameSync(secret, folder);
  const other = hostedRepo('9', folder, { path: 'o/1', visibility: 'private' });
  host.repos = [other, hostedRepo('1', moved, { path: 'o/moved' })];
  const clone = path.join(index.dataDir, 'clones', '1.git');
  const refs = git(clone, 'for-each-ref');
  for (const _ of [1, 2]) assert.match(await round(), /another repository is at o\/1 now/);
  assert.deepEqual([await guestFinds('sloe'), await found(index, 'sloe')], [[], []]);
  assert.equal(git(clone, 'for-each-ref'), refs);
  assert.throws(() => git(clone, 'cat-file', '-e', git(folder, 'rev-parse', 'HEAD')));
  assert.deepEqual(await guestFinds('plum'), [], 'who may see it where it is now is not known');
  host.failAt = undefined;
  await index.sync('c');
  assert.deepEqual(index.displayed(), [
    'host/o/1 private restricted',
    'host/o/moved public restricted',
  ]);
  assert.deepEqual(await found(index, 'sloe'), ['host/o/1:b.txt']);
  assert.deepEqual(await guestFinds('sloe'), []);
  assert.equal((await guestFinds('plum')).length, 3);

  // One that was never cloned is gone when it is.
  host.failAt = undefined;
  host.answerPath = (path) =>
    Promise.reject(new HostError('NOT_FOUND', `${path}: there is nothing`));
  host.repos.push(hostedRepo('5', makeRepo({ 'e.txt': 'sloe\n' })));
  await index.sync('c');
  assert.match(await round(), /nothing at o\/5 any more/);
  assert.deepEqual(clones(index.dataDir), ['1.git', '2.git']);
  assert.deepEqual(await guestFinds('sloe'), []);
});

test('a public repository that the host refuses is hidden until the host gives it again', async () => {
  const folder = path.join(temporaryFolder(), 'place');
  renameSync(makeRepo(PLUM), folder);
  const host = hostOf(folder);
  let credentialCount = 0;
  let credentialFault: HostError | undefined;
  const gitCredential = () => {
    credentialCount++;
    return credentialFault === undefined
      ? Promise.resolve(undefined)
      : Promise.reject(credentialFault);
  };
  const open = (name: string) => ({ ...host.open(name), gitCredential });
  await using index = await settled({ open }, { settings: ENFORCING });
  const guestFinds = guestOf(index);
  const fetchNow = async (): Promise<void> => {
    credentialCount = 0;
    index.connections.requestFetch(1);
    await index.settle();
  };
  const refuse = (code: string) => () => Promise.reject(new HostError(code, 'no'));
  // Its connection has no credential.
  for (const [code, count] of [
    ['HOST_UNAVAILABLE', 1],
    ['NOT_ALLOWED', 0],
    ['NOT_AUTHENTICATED', 0],
  ] as const) {
    renameSync(folder, `${folder}-away`);
    host.failAt = 0;
    host.answerPath = refuse(code);
    await fetchNow();
    assert.equal((await guestFinds('plum')).length, count, code);
    assert.equal(credentialCount, 1);
    host.failAt = undefined;
    host.answerPath = undefined;
    renameSync(`${folder}-away`, folder);
    await fetchNow();
    assert.equal((await guestFinds('plum')).length, 1, code);
  }
  // The credential is refused: that says nothing about the repository.
  credentialFault = new HostError('NOT_ALLOWED', 'suspended');
  host.failAt = 0;
  host.answerPath = refuse('NOT_FOUND');
  await fetchNow();
  assert.equal((await guestFinds('plum')).length, 1);
});

test('a page read before a repository became private does not show it again', async () => {
  const host = localHost();
  const folder = makeRepo(PLUM);
  host.pageSize = 1;
  host.repos = [hostedRepo('1', folder), hostedRepo('2', makeRepo({ 'b.txt': 'sloe\n' }))];
  await using index = await settled(host, { settings: ENFORCING });
  const guestFinds = guestOf(index);
  assert.equal((await guestFinds('plum')).length, 1);
  // The first page is read, and kept with the second, which is waited for.
  const [started, release] = [deferred(), deferred()];
  let pages = 0;
  host.beforePage = async () => {
    pages++;
    // The next listing says nothing.
    if (pages === 3) host.failAt = 0;
    if (pages !== 2) return;
    started.resolve();
    await release.promise;
  };
  const listing = index.sync('c');
  await started.promise;
  host.repos[0] = hostedRepo('1', folder, { visibility: 'private' });
  commitFiles(folder, { 'c.txt': 'plum\n' });
  index.connections.requestFetch(1);
  while ((await guestFinds('plum')).length > 0) await sleep(5);
  release.resolve();
  await listing;
  assert.ok(pages >= 3);
  assert.deepEqual(await guestFinds('plum'), []);
  host.beforePage = undefined;
  host.failAt = undefined;
  host.repos[0] = hostedRepo('1', folder);
  await assertNextListingCounts(index);
});

test('a page read before another connection reported a repository as private does not show it', async () => {
  const host = localHost();
  host.pageSize = 1;
  const others = ['2', '3'].map((id) => hostedRepo(id, makeRepo({ 'b.txt': 'sloe\n' })));
  const one = hostedRepo('1', makeRepo(PLUM));
  host.repos = [one, ...others];
  const [started, release] = [deferred(), deferred()];
  let isPaused = false;
  // The listing of one is held at its second page, while its first is not kept yet.
  const pausedHost = (name: string) => ({
    open: () => {
      const opened = host.open(name);
      return {
        ...opened,
        async *list(signal: AbortSignal) {
          let pages = 0;
          for await (const page of opened.list(signal)) {
            if (isPaused && name === 'a' && ++pages === 2) {
              started.resolve();
              await release.promise;
            }
            yield page;
          }
        },
      };
    },
  });
  await using index = await openConnected(temporaryFolder(), pausedHost, {
    a: ENFORCING,
    b: ENFORCING,
  });
  await index.settle();
  const guestFinds = guestOf(index);
  assert.equal((await guestFinds('plum')).length, 1);
  isPaused = true;
  const older = index.connections.requestSync(idOf(index, 'a'));
  await started.promise;
  host.repos = [{ ...one, visibility: 'private' }, ...others];
  const newer = index.connections.requestSync(idOf(index, 'b'));
  while ((await guestFinds('plum')).length > 0) await sleep(5);
  release.resolve();
  await Promise.all([older, newer]);
  await index.settle();
  assert.deepEqual(await guestFinds('plum'), []);
  isPaused = false;
  host.repos = [one, ...others];
  await assertNextListingCounts(index, 'a');
});

function idOf(index: ConnectedIndex, repoName: string): number {
  return index.connections.all.find(({ name }) => name === repoName)!.connectionId;
}

/** A webhook reports repository 1 as private, or this; resolves when that is acknowledged. */
async function reportPrivate(
  { connections }: ConnectedIndex,
  said: object = { private: true },
): Promise<void> {
  const repository = { id: 1, full_name: 'o/1', ...said };
  const body = Buffer.from(JSON.stringify({ repository }));
  const signature = createHmac('sha256', 's').update(body).digest('hex');
  const headers = { 'x-gitea-event': 'repository', 'x-gitea-signature': signature };
  assert.equal((await connections.pushes.take({ headers, body })).outcome, 'taken');
}

/** An index of a public repository that guests find, whose next listing has something to store. */
async function withNewsToStore(): Promise<ConnectedIndex> {
  const host = hostOf(makeRepo(PLUM));
  const webhookSecret = new SecretText('s');
  const index = await settled(host, { settings: ENFORCING, webhookSecret });
  assert.equal((await guestOf(index)('plum')).length, 1);
  host.repos = [{ ...host.repos[0]!, topics: ['new'] }];
  return index;
}

test('a webhook while a listing waits for the store: the listing does not undo it', async () => {
  await using index = await withNewsToStore();
  const guestFinds = guestOf(index);
  const { repos } = index.store;
  const { change } = repos;
  repos.change = async (decide) => {
    repos.change = change;
    await reportPrivate(index);
    // Sent before, perhaps.
    await reportPrivate(index, { internal: true });
    assert.deepEqual(await guestFinds('plum'), []);
    return change(decide);
  };
  await index.sync('c');
  assert.deepEqual(await guestFinds('plum'), []);
  assert.deepEqual(index.displayed(), ['host/o/1 private restricted']);
  await assertNextListingCounts(index);
});

test('a webhook that cannot be stored after a listing was: the listing does not undo it', async () => {
  await using index = await withNewsToStore();
  const guestFinds = guestOf(index);
  const { repos } = index.store;
  const { change } = repos;
  repos.change = async (decide) => {
    const stored = await change(decide);
    repos.change = () => Promise.reject(new StoreError('NOT_READY', 'the store does not answer'));
    await reportPrivate(index);
    repos.change = change;
    return stored;
  };
  await index.sync('c');
  assert.deepEqual(await guestFinds('plum'), []);
  await assertNextListingCounts(index);
});

test('a webhook that a listing stores first is in effect when it is acknowledged', async () => {
  await using index = await withNewsToStore();
  const guestFinds = guestOf(index);
  const { repos } = index.store;
  const { change } = repos;
  repos.change = async (decide) => {
    const listed = deferred();
    repos.change = async (later) => {
      await listed.promise;
      return change(later);
    };
    const reported = reportPrivate(index);
    repos.change = change;
    const stored = await change(decide);
    assert.equal((await repos.read()).repos[0]!.visibility, 'private');
    listed.resolve();
    await reported;
    assert.deepEqual(await guestFinds('plum'), []);
    return stored;
  };
  await index.sync('c');
  assert.deepEqual(await guestFinds('plum'), []);
});

test('a repo of two connections: the strictest rules apply, and it is removed with the last', async () => {
  const host = localHost();
  const folder = makeRepo(PLUM);
  host.repos = [hostedRepo('1', folder, { at: ['a', 'b'] }), hostedRepo('2', folder)];
  const strict = settingsOf({ enforcePermissions: true, orgs: ['b'] });
  await using index = await openConnected(temporaryFolder(), host, { a: settingsOf(), b: strict });
  await index.settle();
  assert.deepEqual(index.displayed(), ['host/o/1 public restricted', 'host/o/2 public restricted']);
  assert.deepEqual(index.connections.idsOf(1).length, 2);
  await index.configure({ a: settingsOf() });
  await index.settle();
  assert.deepEqual(index.displayed(), ['host/o/1 public open', 'host/o/2 public open']);
  host.repos.shift();
  await index.sync('a');
  assert.deepEqual(index.displayed(), ['host/o/2 public open']);
  assert.equal((await index.store.repos.read()).connections.length, 1);
});

test('a renamed connection keeps its repos; a removed one removes them; an empty configuration removes nothing', async () => {
  const dataDir = temporaryFolder();
  const host = localHost();
  const folder = makeRepo(PLUM);
  host.repos = [hostedRepo('1', folder, { visibility: 'private' })];
  await using index = await openConnected(dataDir, host, { old: ENFORCING });
  await index.settle();
  host.failAt = 0;
  await index.configure({ new: ENFORCING });
  await index.settle();
  assert.deepEqual(index.displayed(), [], 'nobody lists it now, and it is not gone');
  const [kept] = (await index.store.repos.read()).repos;
  assert.deepEqual(
    [kept?.repoId, kept?.enforcement, clones(dataDir)],
    [1, 'restricted', ['1.git']],
  );
  host.failAt = undefined;
  await index.sync('new');
  assert.deepEqual(index.displayed(), ['host/o/1 private restricted']);
  assert.equal(index.instance.served.records[0]?.repoId, 1);
  await index.configure({});
  await index.settle();
  assert.deepEqual((await index.store.repos.read()).repos, []);
  assert.deepEqual(clones(dataDir), []);
});

test('keepDeleted: deleted repositories stay, archived, hidden from users whose access cannot be confirmed', async () => {
  const folder = makeRepo(PLUM);
  const host = hostOf(folder, folder);
  const keeping = settingsOf({ keepDeleted: true, enforcePermissions: true });
  await using index = await settled(host, { settings: keeping });
  host.repos.shift();
  await index.sync('c');
  assert.deepEqual(index.displayed(), [
    'host/o/1 unknown restricted',
    'host/o/2 public restricted',
  ]);
  const [one] = index.instance.parts.snapshots.current.repos;
  assert.deepEqual([one?.isArchived, (await found(index, 'plum')).length], [true, 2]);
  // Another one comes to its name.
  host.repos.unshift(hostedRepo('9', folder, { path: 'o/1' }));
  await index.sync('c');
  assert.deepEqual(
    index.instance.served.records.map(({ repoId, name }) => `${repoId} ${name}`),
    ['1 host/o/1-2', '2 host/o/2', '3 host/o/1'],
  );
  await index.configure({ c: settingsOf() });
  await index.sync('c');
  assert.deepEqual(index.displayed(), ['host/o/1 public open', 'host/o/2 public open']);
});

test('a restart finds repos, clones and names unchanged, and does not use a foreign clone', async () => {
  const dataDir = temporaryFolder();
  const [one, two] = [makeRepo(PLUM), makeRepo({ 'b.txt': 'plum\n' })];
  const host = hostOf(one, two);
  await using first = await settled(host, { dataDir });
  await first.close();
  host.failAt = 0;
  let fetches = 0;
  const fetchMirror = (): Promise<never> => {
    fetches++;
    return Promise.reject(new Error('the host is down'));
  };
  await using index = await settled(host, { dataDir, fetchMirror });
  assert.deepEqual(await found(index, 'plum'), ['host/o/1:a.txt', 'host/o/2:b.txt']);
  assert.equal(fetches, 0, 'nothing is due');
  const { mirrors: kept } = index.connections;
  assert.deepEqual([kept.fetchHostOf(1), kept.fetchHostOf(2)], [undefined, undefined]);
  index.connections.requestFetch(1);
  await index.settle();
  assert.equal(fetches, 1);
  // What could not be fetched is asked for again, and by its jobs alone.
  assert.notEqual(kept.fetchHostOf(1), undefined);
  assert.equal(kept.fetchHostOf(2), undefined);
  assert.match(index.connections.degradations.join(), /^$/);
  assert.deepEqual(await found(index, 'plum'), ['host/o/1:a.txt', 'host/o/2:b.txt']);
  await index.close();

  git(dataDir, 'clone', '-q', '--mirror', two, path.join(dataDir, 'clones/7.git'));
  const stamp = path.join(dataDir, 'clones/1.json');
  writeFiles(dataDir, {
    'clones/1.json': '{"address":"gitea https://other","hostId":"1","fetchedAt":1}',
  });
  assert.ok(existsSync(stamp));
  // What kills leave: a clone that was about to be moved in, another one, and certificates, which are written again.
  const cloneOf = (name: string): string => path.join(dataDir, 'clones', name);
  renameSync(cloneOf('2.git'), cloneOf('2.git.new-1-2-3'));
  writeFiles(dataDir, {
    'clones/2.git.new-1-2-3/kept': '',
    'clones/1.git.new-1-2-3/x': '',
    'clones/certificates-1.pem': '',
  });
  host.failAt = undefined;
  await using last = await openConnected(dataDir, host, { c: settingsOf() });
  last.connections.requestFetch(1);
  last.connections.requestFetch(2);
  await last.settle();
  assert.deepEqual(readdirSync(path.join(dataDir, 'clones')).sort(), [
    '1.git',
    '1.json',
    '2.git',
    '2.json',
  ]);
  assert.ok(existsSync(cloneOf('2.git/kept')));
  assert.deepEqual(await found(last, 'plum'), ['host/o/1:a.txt', 'host/o/2:b.txt']);
});

test('a fetch that begins before the sweep of a start keeps what it writes', async () => {
  const dataDir = temporaryFolder();
  const host = hostOf(makeRepo(PLUM));
  await using index = await settled(host, { dataDir });
  const left = path.join(dataDir, 'clones/certificates-1.pem');
  const written = ['1.git.new-1-2-3', 'certificates-2.pem'].map((name) =>
    path.join(dataDir, 'clones', name),
  );
  let keptCount: number | undefined;
  const mirrors = new Mirrors({
    ...index.instance.index,
    fetchMirror: async () => {
      for (const file of written) writeFileSync(file, '');
      await mirrors.sweep();
      keptCount = written.filter((file) => existsSync(file)).length;
    },
    remotesOf: () => Promise.resolve([{ host: host.open('c') }]),
    timeoutMs: () => 60_000,
    onFetched: () => {},
    onOther: () => Promise.resolve(),
    relist: () => {},
    log: recordingLog().log,
  });
  writeFileSync(left, '');
  mirrors.markStale(1);
  const { signal } = new AbortController();
  await mirrors.bringUp(index.instance.served.record(1)!, { signal, onFetch: () => {} });
  assert.equal(keptCount, 2);
  assert.equal(existsSync(left), false);
});

test('connections in a backup of another daemon are matched by name, or removed', async () => {
  const dataDir = temporaryFolder();
  const host = hostOf(makeRepo(PLUM));
  await using index = await openConnected(dataDir, host, { c: settingsOf(), d: settingsOf() });
  await index.settle();
  const idOf = new Map(index.connections.all.map(({ name, connectionId }) => [name, connectionId]));
  await index.instance.index.registry.decide(({ connections }) => ({
    changed: [],
    connections: connections.map((one) => ({ ...one, instance: 'another' })),
    result: undefined,
  }));
  await index.close();

  await using other = await settled(host, { dataDir });
  const { registry } = other.instance.index;
  const registered = registry.connections.map((one) => [one.name, one.connectionId, one.instance]);
  assert.deepEqual(registered, [['c', idOf.get('c'), 'embedded']]);
  assert.deepEqual(await found(other, 'plum'), ['host/o/1:a.txt']);
  await other.configure({});
  await other.settle();
  assert.deepEqual(registry.all, [], 'nobody has it any more');
});

test('a clock set during or between runs removes nothing early and loses nothing', async (t) => {
  const dataDir = temporaryFolder();
  const host = hostOf(...Array<string>(3).fill(makeRepo(PLUM)));
  const [now, day] = [Date.now.bind(Date), 86_400_000];
  let jump = 0;
  t.mock.method(Date, 'now', () => now() + jump);
  await using index = await settled(host, { dataDir });
  for (jump of [-400 * day, 30 * day, -day]) {
    await index.sync('c');
    assert.equal((await found(index, 'plum')).length, 3, String(jump));
  }
  jump = -500 * day;
  host.repos.shift();
  await index.sync('c');
  assert.deepEqual(await found(index, 'plum'), ['host/o/2:a.txt', 'host/o/3:a.txt']);
  await index.close();
  jump = 500 * day;
  await using later = await settled(host, { dataDir });
  host.repos.shift();
  await later.sync('c');
  assert.deepEqual(await found(later, 'plum'), ['host/o/3:a.txt']);
});

test('a full disk during a sync: all or nothing of each repository, and nobody sees more', async (t) => {
  const disk = SmallDisk.mount('32m');
  if (typeof disk === 'string') {
    t.skip(disk);
    return;
  }
  const [open, closing, late] = ['fig', 'secret', 'late'].map((word) =>
    makeRepo({ 'a.txt': `plum ${word}\n` }),
  ) as [string, string, string];
  const host = hostOf(open, closing);
  await using index = await settled(host, { dataDir: disk.folder, settings: ENFORCING });
  const guestFinds = guestOf(index);
  assert.deepEqual(await guestFinds('plum'), ['host/o/1:a.txt', 'host/o/2:a.txt']);
  const pushedAt = '2026-01-01T00:00:00.000Z';
  commitFiles(open, { 'a.txt': 'plum again\n', 'b.txt': randomBytes(1_000_000).toString('hex') });
  host.repos = [
    hostedRepo('1', open, { pushedAt }),
    hostedRepo('2', closing, { visibility: 'private' }),
    hostedRepo('3', late),
  ];
  let failed = 0;
  for (const pagesRemaining of [0, 1, 4, 16, 64, 128, 256, 512, 1024, 2048]) {
    disk.fill(pagesRemaining);
    const message = `${pagesRemaining} pages left`;
    // Not even its job can be kept.
    const job = await index.sync('c').catch(() => undefined);
    const before = await found(index, 'fig');
    const after = await found(index, 'again');
    assert.equal(before.length + after.length, 1, message);
    if (job?.state !== 'COMPLETED') failed++;
    // Told by the host and not written down: nobody is shown what he would not be shown.
    assert.deepEqual(await guestFinds('secret'), [], message);
    disk.clear();
    if (pagesRemaining > 0) continue;
    host.repos[1] = hostedRepo('2', closing);
    await index.sync('c');
    assert.deepEqual(
      await guestFinds('secret'),
      ['host/o/2:a.txt'],
      'it was never private for the store',
    );
    host.repos[1] = hostedRepo('2', closing, { visibility: 'private' });
  }
  assert.ok(failed > 0);
  await index.sync('c');
  await index.instance.indexer.jobs.indexAll(index.instance.served.records, false);
  await index.settle();
  assert.deepEqual(await found(index, 'plum'), [
    'host/o/1:a.txt',
    'host/o/2:a.txt',
    'host/o/3:a.txt',
  ]);
  assert.deepEqual(await guestFinds('plum'), ['host/o/1:a.txt', 'host/o/3:a.txt']);
  for (const name of clones(disk.folder))
    git(path.join(disk.folder, 'clones', name), 'fsck', '--full', '--no-dangling');
  await checkFiles(index);
});

test('a failure is reported for the repository, not its name, and only while it exists', async () => {
  const host = localHost();
  const gone = path.join(temporaryFolder(), 'gone');
  const fine = hostedRepo('1', makeRepo(PLUM));
  host.repos = [fine, hostedRepo('2', gone)];
  await using index = await openConnected(temporaryFolder(), host, { c: settingsOf() });
  const { jobs, jobFacade } = index.instance.indexer;
  const reported = (): string => jobs.failed.sentences(() => true).join();
  const failedIds = (): number[] => {
    const stateOf = jobFacade.states();
    const { records } = index.instance.served;
    return records.filter((one) => stateOf(one) === 'failed').map(({ repoId }) => repoId);
  };
  await index.settle();
  assert.match(reported(), /^host\/o\/2 could not be indexed: /);
  assert.deepEqual(failedIds(), [2]);
  host.repos = [{ ...fine, path: 'o/2' }];
  await index.sync('c');
  assert.deepEqual(index.displayed(), ['host/o/2 public open']);
  assert.deepEqual([reported(), failedIds()], ['', []]);
});

test('a git left by a killed daemon, still writing, does not block the next start', async () => {
  const dataDir = temporaryFolder();
  const clone = path.join(dataDir, 'clones/9.git.new-1-1-1');
  mkdirSync(clone, { recursive: true });
  // As long as its data directory is there; a process of nobody, with a session of its own.
  const writes =
    'mkdir -p "$1/a"; echo $$ > "$1/a/pid"; while [ -d "${1%/*}" ]; do mkdir -p "$1/a/b"; touch "$1/a/b/c"; done';
  const words = ['sh', '-c', writes, 'sh', clone, `trawl.mirror=${clone}`];
  execFileSync('sh', ['-c', 'setsid "$@" > /dev/null 2>&1 &', 'sh', ...words]);
  while (!existsSync(path.join(clone, 'a/b/c'))) await sleep(5);
  const orphanPid = Number(readFileSync(path.join(clone, 'a/pid'), 'latin1'));
  await (await openConnected(dataDir, localHost(), { c: settingsOf() })).close();
  // Or a zombie, where nobody collects those of nobody.
  assert.equal(isRunning(orphanPid), false);
  assert.equal(existsSync(clone), false);
});

const packOf = (clone: string): string => {
  const packs = path.join(clone, 'objects/pack');
  const file = path.join(
    packs,
    readdirSync(packs).find((name) => name.endsWith('.pack'))!,
  );
  chmodSync(file, 0o600);
  return file;
};

for (const [what, damage, reason] of [
  ['no objects', (clone) => rmSync(path.join(clone, 'objects'), { recursive: true }), /./],
  ['no HEAD', (clone) => writeFileSync(path.join(clone, 'HEAD'), Buffer.alloc(20, 0xff)), /./],
  [
    'a damaged pack',
    (clone) => {
      const pack = packOf(clone);
      const bytes = readFileSync(pack);
      writeFileSync(pack, bytes.fill(0x55, 12, bytes.length - 20));
    },
    /./,
  ],
  [
    'damaged contents, which the threads of a build read',
    (clone) => {
      const pack = packOf(clone);
      const listed = git(clone, 'verify-pack', '-v', pack);
      const start = Number(/ blob +4000 \d+ (\d+)$/m.exec(listed)![1]);
      writeFileSync(pack, readFileSync(pack).fill(0x55, start + 4, start + 14));
    },
    /^The git object \w+ is missing or damaged/,
  ],
] as const satisfies readonly (readonly [string, (clone: string) => void, RegExp])[])
  test(`a damaged clone is recreated by the next attempt: ${what}`, async () => {
    const host = hostOf(makeRepo({ ...PLUM, 'b.txt': 'fig\n'.repeat(1000) }));
    const doubts: boolean[] = [];
    const fetchMirror: FetchMirror = (options) => {
      doubts.push(options.isDoubted === true);
      return fetchLocal(options);
    };
    await using index = await settled(host, { fetchMirror });
    const clone = path.join(index.dataDir, 'clones/1.git');
    damage(clone);
    const { jobs } = index.instance.indexer;
    const all = index.instance.served.records;
    const [failed] = await jobs.indexAll(all, true);
    assert.match(failed!.error ?? '', reason);
    assert.deepEqual(doubts, [false]);
    const [mended] = await jobs.indexAll(all, true);
    assert.deepEqual([doubts, mended?.state], [[false, true], 'COMPLETED']);
    assert.equal((await found(index, 'plum')).length, 1);
    git(clone, 'fsck', '--full', '--no-dangling');
    await index.settle();
    assert.ok(existsSync(path.join(clone, 'objects/info/commit-graphs/commit-graph-chain')));
  });

test('content fetched from an address taken by another repository is removed with the next listing', async () => {
  const root = temporaryFolder();
  const [one, two] = [path.join(root, '1'), path.join(root, '2')];
  renameSync(makeRepo(PLUM), one);
  renameSync(makeRepo({ 'b.txt': 'plum\n' }), two);
  const host = hostOf(one, two);
  await using index = await settled(host);
  for (const [from, to] of [
    ['1', 'x'],
    ['2', '1'],
    ['x', '2'],
  ] as const)
    renameSync(path.join(root, from), path.join(root, to));
  index.connections.requestFetch(1);
  await index.settle();
  assert.deepEqual(await found(index, 'plum'), ['host/o/1:b.txt', 'host/o/2:b.txt']);
  host.repos = [hostedRepo('1', two), hostedRepo('2', one)];
  await index.sync('c');
  assert.deepEqual(await found(index, 'plum'), ['host/o/1:a.txt', 'host/o/2:b.txt']);
});

test('possibly public repositories stay public if they were, otherwise need sign-in', async () => {
  const host = localHost();
  const folder = makeRepo(PLUM);
  host.repos = [
    hostedRepo('1', folder),
    hostedRepo('2', folder, { visibility: 'private' }),
    hostedRepo('3', folder, { visibility: 'internal' }),
  ];
  await using index = await openConnected(temporaryFolder(), host, { c: ENFORCING });
  await index.settle();
  host.repos = [...host.repos, hostedRepo('4', folder)].map((repo) => ({
    ...repo,
    visibility: 'maybe-public',
  }));
  await index.sync('c');
  assert.deepEqual(index.displayed(), [
    'host/o/1 public restricted',
    'host/o/2 internal restricted',
    'host/o/3 internal restricted',
    'host/o/4 internal restricted',
  ]);
  index.connections.requestFetch(1);
  await index.settle();
  assert.equal(index.displayed()[0], 'host/o/1 public restricted', 'nor does a fetch hide it');
});

test('webhooks stored while no daemon ran are applied at the start: a private repository, and a push', async () => {
  const dataDir = temporaryFolder();
  const [one, two] = [makeRepo(PLUM), makeRepo({ 'b.txt': 'plum\n' })];
  const host = hostOf(one, two);
  await using first = await settled(host, { dataDir, settings: ENFORCING });
  await first.close();
  const at = '2026-01-01T00:00:00Z';
  host.repos = [
    { ...host.repos[0]!, visibility: 'private' },
    { ...host.repos[1]!, pushedAt: at },
  ];
  commitFiles(two, { 'new.txt': 'plum\n' });
  await using without = await settled(host, { dataDir, settings: ENFORCING });
  assert.deepEqual(host.requested, [0], 'it is not due yet, and nobody was to be told');
  await without.close();
  await using next = await settled(host, {
    dataDir,
    settings: ENFORCING,
    webhookSecret: new SecretText('s'),
  });
  assert.deepEqual(next.displayed(), ['host/o/1 private restricted', 'host/o/2 public restricted']);
  assert.deepEqual(await found(next, 'plum repo:o/2'), ['host/o/2:b.txt', 'host/o/2:new.txt']);
});

test('pending fetches are done by the next process: a push from a listing, and an acknowledged one', async () => {
  const dataDir = temporaryFolder();
  const [one, two] = [makeRepo(PLUM), makeRepo({ 'b.txt': 'plum\n' })];
  const host = hostOf(one, two);
  const pushed: WebhookRepository = {
    codeHostType: 'gitea',
    hostId: '2',
    path: 'o/2',
    hosts: [],
    cloneUrls: [],
  };
  const fetched: string[] = [];
  let isDown = false;
  const fetchMirror: FetchMirror = async (options) => {
    if (isDown) throw new Error('the host is down');
    fetched.push(path.basename(options.folder));
    return fetchLocal(options);
  };
  await using first = await settled(host, { dataDir, fetchMirror });
  for (const folder of [one, two]) {
    commitFiles(folder, { 'new.txt': 'plum\n' });
  }
  isDown = true;
  host.repos = [{ ...host.repos[0]!, pushedAt: '2026-01-01T00:00:00Z' }, host.repos[1]!];
  await first.sync('c');
  assert.equal(first.connections.pushes.note(pushed), 1);
  // Before anything else is kept of it.
  const copy = path.join(temporaryFolder(), 'copy');
  cpSync(path.join(dataDir, 'clones'), copy, { recursive: true });
  await first.settle();
  await first.close();
  rmSync(path.join(dataDir, 'clones'), { recursive: true });
  renameSync(copy, path.join(dataDir, 'clones'));

  [isDown, host.failAt] = [false, 0];
  fetched.length = 0;
  const files = ['host/o/1:a.txt', 'host/o/1:new.txt', 'host/o/2:b.txt', 'host/o/2:new.txt'];
  for (const expected of [['1.git', '2.git'], []]) {
    await using next = await settled(host, { dataDir, fetchMirror });
    assert.deepEqual(fetched.sort(), expected);
    assert.deepEqual(await found(next, 'plum'), files);
    await next.close();
    fetched.length = 0;
  }
});

test('what the index lacks is dated by the push, between the last fetch and the request', async () => {
  const host = hostOf(makeRepo(PLUM), makeRepo({ 'b.txt': 'plum\n' }));
  const released = deferred();
  let isHeld = false;
  const fetchMirror: FetchMirror = async (options) => {
    if (isHeld) await released.promise;
    return fetchLocal(options);
  };
  await using index = await settled(host, { fetchMirror });
  const { connections } = index;
  const { jobs } = index.instance.indexer;
  const fetchedAt = connections.mirrors.lastFetch(1).fetchedAt!;
  await sleep(20);
  const dueAt = Date.now() + 60_000;
  const lacksSince = (repoId: number): number | undefined =>
    jobs.open.find(({ targetId }) => targetId === repoId)?.lacksSince;
  for (const pushedAt of [undefined, 1, fetchedAt - 1, Date.now() + 1_000_000, Infinity, NaN]) {
    connections.requestFetch(1, dueAt, pushedAt);
    assert.equal(lacksSince(1), dueAt, `${pushedAt}`);
  }
  for (const [pushedAt, expected] of [
    [fetchedAt + 10, fetchedAt + 10],
    [fetchedAt + 15, fetchedAt + 10],
    [fetchedAt + 5, fetchedAt + 5],
  ] as const) {
    connections.requestFetch(1, dueAt, pushedAt);
    assert.equal(lacksSince(1), expected);
  }
  // A listing that is late says it, too.
  isHeld = true;
  const listedAt = connections.mirrors.lastFetch(2).fetchedAt! + 7;
  host.repos = [host.repos[0]!, { ...host.repos[1]!, pushedAt: new Date(listedAt).toISOString() }];
  await connections.requestSync(connections.all[0]!.connectionId);
  await connections.sync.whenIdle();
  assert.equal(lacksSince(2), listedAt);
  released.resolve();
  jobs.cancel([1]);
  await index.settle();
  assert.deepEqual(jobs.open, []);
});

test('a repository refused at a taken path is fetched at its current one', async () => {
  const [one, two] = [makeRepo(PLUM), makeRepo({ 'b.txt': 'plum\n' })];
  const host = hostOf(one, two);
  await using index = await settled(host);
  commitFiles(one, { 'new.txt': 'plum\n' });
  const exchanged = [hostedRepo('1', one, { path: 'o/2' }), hostedRepo('2', two, { path: 'o/1' })];
  let isListed = false;
  host.beforePage = async () => {
    // The listing that follows fails, too.
    if (!isListed) throw new HostError('HOST_UNAVAILABLE', 'the host is down');
    return Promise.resolve();
  };
  host.repos = exchanged;
  index.connections.requestFetch(1);
  await index.settle();
  assert.deepEqual(await found(index, 'plum'), ['host/o/1:a.txt', 'host/o/2:b.txt']);
  isListed = true;
  await index.sync('c');
  assert.deepEqual(await found(index, 'plum'), [
    'host/o/1:b.txt',
    'host/o/2:a.txt',
    'host/o/2:new.txt',
  ]);
});

test('a repository missed by shifting pages is not removed', async () => {
  const host = hostOf(...Array<string>(5).fill(makeRepo(PLUM)));
  await using index = await settled(host);
  const [first, ...rest] = host.repos;
  let pages = 0;
  // 3 moves to the first page after that was read, and 1 goes.
  host.beforePage = () => {
    if (pages++ === 1) host.repos = rest;
    return Promise.resolve();
  };
  const { result } = await index.sync('c');
  assert.deepEqual([result!['missing'], host.requested.length > 4], [0, true]);
  assert.equal((await found(index, 'plum')).length, 5, '1 was in the first listing');
  await index.sync('c');
  assert.deepEqual(index.displayed().length, 4, String(first?.hostId));
});

test('fetched but unindexed content is indexed by the next process', async () => {
  const dataDir = temporaryFolder();
  const one = makeRepo(PLUM);
  const host = hostOf(one);
  await using first = await settled(host, { dataDir });
  await first.close();
  commitFiles(one, { 'new.txt': 'plum\n' });
  git(path.join(dataDir, 'clones/1.git'), 'fetch', '-q', one, '+refs/*:refs/*');
  host.failAt = 0;
  const fetchMirror = (): Promise<never> => Promise.reject(new Error('the host is down'));
  await using next = await settled(host, { dataDir, fetchMirror });
  assert.deepEqual(await found(next, 'plum'), ['host/o/1:a.txt', 'host/o/1:new.txt']);
});

test('a host empties a repository, fills it again, and names a missing default branch', async () => {
  const folder = makeRepo(PLUM);
  const host = hostOf(folder, makeRepo({ 'b.txt': 'plum\n' }));
  await using index = await settled(host);
  const foundAfterPush = async (time: string): Promise<string[]> => {
    host.repos[0] = hostedRepo('1', folder, { pushedAt: `2026-01-0${time}T00:00:00.000Z` });
    assert.equal((await index.sync('c')).result!['status'], 'SUCCESS');
    return found(index, 'plum');
  };
  const [branch, commit] = [git(folder, 'symbolic-ref', 'HEAD'), git(folder, 'rev-parse', 'HEAD')];
  git(folder, 'update-ref', '-d', branch);
  assert.deepEqual(await foundAfterPush('1'), ['host/o/2:b.txt']);
  assert.match(index.warnings.join(), /nothing is indexed: no files are committed/);
  assert.equal(index.displayed().length, 2, 'it is still there');
  git(folder, 'update-ref', branch, commit);
  assert.deepEqual(await foundAfterPush('2'), ['host/o/1:a.txt', 'host/o/2:b.txt']);
  git(folder, 'symbolic-ref', 'HEAD', 'refs/heads/gone');
  git(folder, 'branch', 'other', commit);
  assert.deepEqual(await foundAfterPush('3'), ['host/o/1:a.txt', 'host/o/2:b.txt']);
  assert.deepEqual(index.connections.degradations, []);
});
