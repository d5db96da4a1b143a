// Recovery: kill -9 at any moment of a build and while serving, damaged and missing shard files.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import {
  closeSync,
  cpSync,
  existsSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {
  HEADER_SECTIONS_OFFSET,
  SECTION_BLOCKS,
  SECTION_KIND_OFFSET,
  SECTION_ROW_SIZE,
  SECTION_START_OFFSET,
} from '../../core/shared/format.ts';
import { git, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import {
  eventually,
  get,
  index,
  pathsOf,
  search,
  serve,
  serveIndexed,
  shardNames,
  startTrawl,
  trawl,
  type Served,
} from './daemon.ts';

interface Ready {
  readonly shards: number;
  readonly quarantinedShards: number;
}

function shardFiles(dataDir: string): string[] {
  return shardNames(dataDir).map((name) => path.join(dataDir, 'shards', name));
}

/** Guests search; the owner sees what is out of service. */
const OWNED = {
  env: { TRAWL_OWNER_EMAIL: 'owner@example.com', TRAWL_OWNER_API_KEY: `svk_${'5'.repeat(64)}` },
  flags: ['--anonymous'],
};

async function ready({ url }: Served): Promise<Ready> {
  const headers = { authorization: `Bearer ${OWNED.env.TRAWL_OWNER_API_KEY}` };
  return (await get<Ready>(`${url}/api/ready`, headers)).body;
}

/** What the next start finds is sound, and has no file too many. */
async function checkStart(dataDir: string, repo: string): Promise<void> {
  const served = await serveIndexed(dataDir, [repo], OWNED);
  assert.equal((await search(served.url, 'plum', { matches: 1 })).stats['crashes'], 0);
  assert.equal(shardFiles(dataDir).length, (await ready(served)).shards);
  await served.process.stop();
}

/** Enough that a build takes a while. */
const FILES = 300;

function manyFiles(word: string): Record<string, string> {
  const line = (i: number): string => `${word} ${'abcdefgh'.repeat(20)} ${String(i * 7919)}\n`;
  return Object.fromEntries(
    Array.from({ length: FILES }, (_, i) => [
      `d${String(i % 20)}/f${String(i)}.txt`,
      Array.from({ length: 60 }, (_unused, j) => line(i * 60 + j)).join(''),
    ]),
  );
}

/** Flips a byte of the table of blocks, which is checked when a shard is opened. */
function damageTables(file: string): void {
  const bytes = readFileSync(file);
  let row = HEADER_SECTIONS_OFFSET;
  while (bytes.readUInt32LE(row + SECTION_KIND_OFFSET) !== SECTION_BLOCKS) row += SECTION_ROW_SIZE;
  const start = bytes.readUInt32LE(row + SECTION_START_OFFSET);
  flipByte(file, start, bytes);
}

function flipByte(file: string, offset: number, bytes = readFileSync(file)): void {
  const handle = openSync(file, 'r+');
  writeSync(handle, Uint8Array.of((bytes[offset] ?? 0) ^ 0xff), 0, 1, offset);
  closeSync(handle);
}

interface IndexedPlum {
  readonly repo: string;
  readonly dataDir: string;
  readonly shard: string;
}

async function indexPlum(): Promise<IndexedPlum> {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  const dataDir = temporaryFolder();
  await index(dataDir, [repo]);
  const [shard = ''] = shardFiles(dataDir);
  return { repo, dataDir, shard };
}

let plum: Promise<IndexedPlum> | undefined;

/** A data directory of the test's own, with one repo of one file that holds "plum". The repo is that of all tests. */
async function indexedPlum(): Promise<IndexedPlum> {
  const made = await (plum ??= indexPlum());
  const dataDir = temporaryFolder();
  cpSync(made.dataDir, dataDir, { recursive: true });
  return { repo: made.repo, dataDir, shard: made.shard.replace(made.dataDir, dataDir) };
}

void test('kill -9 during the very first build, also while shard files are written: the next start is a first start', async () => {
  const repo = makeRepo(manyFiles('plum'));
  for (const isMerging of [true, false]) {
    const dataDir = temporaryFolder();
    const folder = path.join(dataDir, 'shards');
    const building = startTrawl(['index', '--data-dir', dataDir, repo]);
    if (isMerging) await building.until(/^merging /m);
    else await eventually(async () => existsSync(folder) && readdirSync(folder).length > 0, 1);
    await building.stop('SIGKILL');
    await checkStart(dataDir, repo);
  }
});

void test('a damaged shard whose source is missing: out of service, reported everywhere', async () => {
  const { repo, dataDir, shard } = await indexPlum();
  damageTables(shard);
  rmSync(repo, { recursive: true });
  const served = await serve(dataDir, [], OWNED);
  await served.process.until(/indexing failed/);
  assert.equal((await ready(served)).quarantinedShards, 1);
  const answer = await search(served.url, 'plum');
  assert.deepEqual(answer.incompleteReasons, ['shard_quarantined']);
  const local = await trawl(['search', '--data-dir', dataDir, 'plum']);
  assert.equal(local.code, 1);
  assert.match(local.stderr, /incomplete: shard_quarantined/);
  await served.process.stop();
});

void test('a search of the command line only reads and never repairs', async () => {
  const { dataDir, shard } = await indexedPlum();
  damageTables(shard);
  const damaged = readFileSync(shard);
  const local = await trawl(['search', '--data-dir', dataDir, 'plum']);
  assert.match(local.stderr, /incomplete: shard_quarantined/);
  assert.deepEqual(readFileSync(shard), damaged);
});

void test('verify checks revision files', async () => {
  const repo = makeRepo({ 'a.txt': 'plum\n' });
  git(repo, 'tag', 'v1');
  const dataDir = temporaryFolder();
  const flags = ['--data-dir', dataDir];
  assert.equal(
    (await trawl(['index', ...flags, '--mode', 'commits', '--tags', 'v1', repo])).code,
    0,
  );
  const folder = path.join(dataDir, 'shards');
  const name = readdirSync(folder).find((one) => one.endsWith('.revisions'))!;
  const file = path.join(folder, name);
  const verify = async (): Promise<[number | undefined, string]> => {
    const { code, stdout } = await trawl(['verify', ...flags]);
    return [code, stdout.split('\n').find((line) => line.includes(name)) ?? ''];
  };
  assert.deepEqual(await verify(), [0, `valid ${file}`]);
  writeFileSync(file, 'x', { flag: 'a' });
  assert.deepEqual(await verify(), [1, `damaged ${file}: wrong checksum`]);
  rmSync(file);
  const [code, line] = await verify();
  assert.equal(code, 1);
  assert.match(line, /^damaged .*ENOENT/);
});

void test('a damaged entry of the catalog: what only reads says that its repository is missing', async () => {
  const { repo, dataDir } = await indexedPlum();
  const flags = ['--data-dir', dataDir];
  const damage = (text: string): void => {
    const file = path.join(dataDir, 'index.db');
    const whole = readFileSync(file).toString('latin1');
    assert.ok(whole.includes(text));
    writeFileSync(file, whole.replace(text, text.toUpperCase()), 'latin1');
  };
  assert.equal((await trawl(['index', ...flags, makeRepo({ 'b.txt': 'plum\n' })])).code, 0);
  damage(`local/${path.basename(repo)}`);
  const found = await trawl(['search', ...flags, '--files', 'plum']);
  assert.match(found.stdout, /b\.txt/);
  assert.match(found.stderr, /not searched until.*entries of index\.db are damaged/);
  assert.match(found.stderr, /incomplete: shard_quarantined/);
  const verified = await trawl(['verify', ...flags]);
  assert.equal(verified.code, 1);
  assert.match(verified.stdout, /^damaged .*index\.db: damaged entries of repositories: 1$/m);
  assert.match((await trawl(['inspect', ...flags])).stdout, /1, 1 more with damaged entries/);
});

void test('a damaged catalog: a read-only search says so and what to do, a start recreates it', async () => {
  const { repo, dataDir } = await indexedPlum();
  truncateSync(path.join(dataDir, 'index.db'), 20);
  const { code, stderr } = await trawl(['search', 'plum', '--data-dir', dataDir]);
  assert.equal(code, 2);
  assert.match(
    stderr,
    /index\.db is damaged: it is not a database; "trawl index .*builds the index/,
  );
  assert.doesNotMatch(stderr, /\n\s+at /);
  const served = await serveIndexed(dataDir, [repo]);
  assert.equal(pathsOf(await search(served.url, 'plum')).length, 1);
  await served.process.stop();
});
