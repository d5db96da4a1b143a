// A process that lists, fetches, indexes and removes is killed at random moments. The next one, with the host down, shows the
// host as it was: nothing is lost, no private repository is visible; with the host up again it becomes what the host has.
// TRAWL_KILLS: how many; TRAWL_TEST_SEED.
// tier: ci (kills and full disks)

import assert from 'node:assert/strict';
import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { commitFiles, makeRepo, temporaryFolder } from '../../sources/git/fixture.ts';
import { SEED } from '../../seed.ts';
import { randomOf, workAndKill } from '../history.ts';
import { checkFiles } from '../check-files.ts';
import { type ConnectedIndex, openConnected } from './connected-index.ts';
import { type HostedRepo, hostedRepo, localHost, settingsOf } from './local-host.ts';

const KILLS = Number(process.env['TRAWL_KILLS'] ?? 3);
const REPOS = 5;
const PROGRAM = new URL('./killed-child.js', import.meta.url);
const SETTINGS = { c: settingsOf({ enforcePermissions: true }) };

type Visibility = NonNullable<HostedRepo['visibility']>;

/** A host that changes, kept in a file for the process that asks it. */
class ChangingHost {
  readonly file = path.join(temporaryFolder(), 'repos.json');
  readonly folders = new Map<string, string>();
  repos: HostedRepo[] = [];
  /** Since `calm`: what each repository was said to be, and those that were there all the time. */
  observed = new Map<string, Set<Visibility>>();
  stayed = new Set<string>();
  readonly #random: () => number;
  #made = 0;
  #pushes = 0;

  constructor(random: () => number) {
    this.#random = random;
    while (this.repos.length < REPOS) this.#make();
    this.calm();
    this.#write();
  }

  /** From now on changes are told. */
  calm(): void {
    this.observed = new Map(
      this.repos.map(({ hostId, visibility }) => [hostId, new Set([visibility!])]),
    );
    this.stayed = new Set(this.repos.map(({ hostId }) => hostId));
  }

  change(): void {
    const index = Math.floor(this.#random() * this.repos.length);
    const repo = this.repos[index]!;
    const kind = Math.floor(this.#random() * 5);
    if (kind === 0) this.#remove(index);
    else if (kind === 1)
      this.repos[index] = {
        ...repo,
        visibility: repo.visibility === 'public' ? 'private' : 'public',
      };
    else if (kind === 2) this.#exchangeNames(index);
    else this.#push(index);
    for (const { hostId, visibility } of this.repos)
      this.observed.set(hostId, (this.observed.get(hostId) ?? new Set()).add(visibility!));
    this.#write();
  }

  /** Another one comes to its path. */
  #remove(index: number): void {
    const [gone] = this.repos.splice(index, 1);
    this.stayed.delete(gone!.hostId);
    this.#make(gone!.path);
  }

  #make(dataDir?: string): void {
    const hostId = `${++this.#made}`;
    const folder = makeRepo({ [`h${hostId}-0.txt`]: 'plum\n' });
    this.folders.set(hostId, folder);
    const visibility = this.#random() < 0.5 ? 'public' : 'private';
    this.repos.push(hostedRepo(hostId, folder, { path: dataDir ?? `o/${hostId}`, visibility }));
  }

  #exchangeNames(index: number): void {
    const other = (index + 1) % this.repos.length;
    const [one, two] = [this.repos[index]!, this.repos[other]!];
    this.repos[index] = { ...one, path: two.path };
    this.repos[other] = { ...two, path: one.path };
  }

  #push(index: number): void {
    const { hostId } = this.repos[index]!;
    const folder = this.folders.get(hostId)!;
    commitFiles(folder, { [`h${hostId}-${++this.#pushes}.txt`]: 'plum\n' });
    const pushedAt = new Date(1.7e12 + 1000 * this.#pushes).toISOString();
    this.repos[index] = { ...this.repos[index]!, pushedAt };
  }

  #write(): void {
    writeFileSync(`${this.file}.next`, JSON.stringify(this.repos));
    renameSync(`${this.file}.next`, this.file);
  }
}

/** Files that are found, by the id at the host of the repo that they are found in. */
async function filesFound(index: ConnectedIndex): Promise<Map<string, string[]>> {
  const before = await index.store.repos.read();
  const { files } = await index.search('plum');
  const after = await index.store.repos.read();
  // Why by id: names of the index follow those of the store. Why twice: what left may go meanwhile.
  const ids = new Map(
    [...before.repos, ...after.repos].map((one) => [one.repoId, one.host!.hostId]),
  );
  const found = new Map<string, string[]>();
  for (const { repository, repositoryId, path: file } of files) {
    const hostId = ids.get(repositoryId)!;
    assert.ok(file.startsWith(`h${hostId}-`), `${file} in ${repository}, which is ${hostId}`);
    found.set(hostId, [...(found.get(hostId) ?? []), file].sort());
  }
  return found;
}

/** With the host down: of what it was since it was calm. */
async function checkDown(dataDir: string, host: ChangingHost, message: string): Promise<void> {
  const down = localHost();
  down.failAt = 0;
  await using index = await openConnected(dataDir, down, SETTINGS);
  const { repos } = await index.store.repos.read();
  const ids = new Map(
    repos.map(({ repoId, host: { hostId } = { hostId: '' } }) => [repoId, hostId]),
  );
  for (const { repoId, visibility, enforcement } of index.instance.parts.snapshots.current.repos) {
    const hostId = ids.get(repoId)!;
    assert.equal(enforcement, 'restricted', message);
    const isSaid = visibility === 'unknown' || host.observed.get(hostId)?.has(visibility);
    assert.ok(isSaid === true, `${message}: ${hostId} is shown as ${visibility}`);
  }
  const found = await filesFound(index);
  for (const hostId of host.stayed) assert.ok(found.has(hostId), `${message}: ${hostId} is lost`);
}

async function checkUp(dataDir: string, host: ChangingHost, message: string): Promise<void> {
  const up = localHost();
  up.repos = host.repos;
  await using index = await openConnected(dataDir, up, SETTINGS);
  await index.settle();
  for (const { repoId } of index.instance.served.records) index.connections.requestFetch(repoId);
  // The first may go on with a listing that is older.
  for (let i = 0; i < 2; i++) await index.sync('c');
  await index.settle();
  const expected = host.repos.map(
    ({ path, visibility }) => `host/${path} ${visibility} restricted`,
  );
  assert.deepEqual(index.displayed(), expected.sort(), message);
  const found = await filesFound(index);
  for (const { hostId } of host.repos) {
    const files = readdirSync(host.folders.get(hostId)!).filter((name) => name.startsWith('h'));
    assert.deepEqual(found.get(hostId), files.sort(), `${message}: ${hostId}`);
  }
  const { repos } = await index.store.repos.read();
  const clones = readdirSync(path.join(dataDir, 'clones')).filter((name) => name.endsWith('.git'));
  assert.deepEqual(clones.sort(), repos.map(({ repoId }) => `${repoId}.git`).sort(), message);
  await checkFiles(index, message);
}

void test(`killed during a sync, seed ${SEED}`, { timeout: 7_200_000 }, async () => {
  const random = randomOf(SEED);
  const host = new ChangingHost(random);
  const dataDir = temporaryFolder();
  await checkUp(dataDir, host, 'first');
  for (let kill = 0; kill < KILLS; kill++) {
    const message = `seed ${SEED}, kill ${kill}`;
    host.calm();
    await workAndKill(PROGRAM, [dataDir, host.file], 3000 * random(), () => host.change());
    await checkDown(dataDir, host, message);
    await checkUp(dataDir, host, message);
  }
});
