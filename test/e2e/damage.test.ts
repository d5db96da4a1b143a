// Damage under a running daemon, as a child process: a changed byte, a truncated file. It is never served as a
// complete answer, the shard goes out of service and is rebuilt, and the daemon stays up; where the system kills it,
// the next start checks the searched shard before mapping it.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { closeSync, openSync, readdirSync, readFileSync, truncateSync, writeSync } from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import { canMap } from '../../daemon/engine/host/mapping.ts';
import { makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { call, eventually, get, search, serve, serveIndexed } from './daemon.ts';
import type { Served } from './daemon.ts';

const ON_MAPPINGS = { skip: canMap() ? false : 'files cannot be mapped here' };

function changeByte(file: string, offset: number): void {
  const byte = readFileSync(file)[offset]!;
  const handle = openSync(file, 'r+');
  writeSync(handle, Uint8Array.of(byte ^ 1), 0, 1, offset);
  closeSync(handle);
}

/** Serves the sources; resolves when they are indexed and the passes over their symbols, which map shards too, are over. */
async function serveSettled(dataDir: string, sources: readonly string[]): Promise<Served> {
  const served = await serveIndexed(dataDir, [...sources]);
  const passCount = (): number => (served.process.stderr.match(/symbols found/g) ?? []).length;
  await eventually(async () => passCount() === sources.length);
  return served;
}

const ALL = { matches: 1_000_000 };

async function repoNameOf(served: Served, source: string): Promise<string> {
  const { body } = await get<{ repoName: string }[]>(`${served.url}/api/repos`);
  return body.find(({ repoName }) => source.endsWith(path.basename(repoName)))!.repoName;
}

/** Number of definitions of "plum" in a repo; undefined: something is missing. */
async function definitions(served: Served, repoName: string): Promise<number | undefined> {
  const answer = await call(`${served.url}/api/find_definitions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ symbolName: 'plum', language: 'C', repoName }),
  });
  const { stats, isSearchExhaustive } = (await answer.json()) as {
    stats: { matchCount: number };
    isSearchExhaustive: boolean;
  };
  return isSearchExhaustive ? stats.matchCount : undefined;
}

/** Of a repo; each has ten definitions, one of them of the same name. */
const FILES = 80;

/** Two repos whose files of contents and of symbols have several pages. */
function makeCode(): string[] {
  const code = (word: string): Record<string, string> =>
    Object.fromEntries(
      Array.from({ length: FILES }, (_, i) => [
        `c/f${i}.c`,
        `int ${word}(int a) { return a; }\n` +
          Array.from({ length: 9 }, (_, k) => `int ${word}_${i}_${k};\n`).join(''),
      ]),
    );
  return [makeRepo(code('plum')), makeRepo(code('pear'))];
}

for (const [what, ending, size] of [
  ['contents', '.shard', 8192],
  ['symbols', '.tags', 4096],
] as const) {
  test(`a truncated file of ${what} ends the daemon at most once`, ON_MAPPINGS, async () => {
    const sources = makeCode();
    const dataDir = temporaryFolder();
    let served = await serveSettled(dataDir, sources);
    const repoName = await repoNameOf(served, sources[0]!);
    const isWholeAgain = async (): Promise<boolean> =>
      (await definitions(served, repoName)) === FILES &&
      (await search(served.url, 'plum', ALL)).isSearchExhaustive;
    // All threads know every page of the files to be sound.
    for (let i = 0; i < 6; i++) assert.ok(await isWholeAgain());
    const folder = path.join(dataDir, 'shards');
    const files = readdirSync(folder).filter((name) => name.endsWith(ending));
    assert.equal(files.length, 2);
    for (const name of files) truncateSync(path.join(folder, name), size);
    try {
      await eventually(isWholeAgain);
    } catch (error) {
      // Only the system may end it.
      const { code } = await served.process.stop('SIGKILL');
      assert.equal(code, undefined, String(error));
      served = await serve(dataDir, sources);
      await eventually(isWholeAgain);
    }
    assert.match(served.process.stderr, /its file has \d+ bytes instead of \d+/);
    assert.ok((await search(served.url, 'pear', ALL)).isSearchExhaustive);
    const { body } = await get<object>(`${served.url}/api/ready`);
    assert.deepEqual(body, { status: 'ready' });
    await served.process.stop();
  });
}

for (const [what, ending, offset, reported] of [
  ['contents', '.shard', 4096 + 8000, /shard quarantined.*page 2 is damaged/],
  ['symbols', '.tags', 5000, /symbols taken out of service.*page 1 is damaged/],
] as const) {
  test(
    `where ${what} end the daemon, the next start verifies them before mapping`,
    ON_MAPPINGS,
    async () => {
      const sources = makeCode().slice(0, 1);
      const dataDir = temporaryFolder();
      const first = await serveSettled(dataDir, sources);
      const repoName = await repoNameOf(first, sources[0]!);
      assert.equal(await definitions(first, repoName), FILES);
      // As the system does for a page that cannot be read.
      await first.process.stop('SIGKILL');
      const folder = path.join(dataDir, 'shards');
      const file = readdirSync(folder).find((name) => name.endsWith(ending));
      changeByte(path.join(folder, file!), offset);
      const second = await serve(dataDir, sources);
      // Nothing was searched yet.
      assert.match(second.process.stderr, /the last process crashed/);
      assert.match(second.process.stderr, reported);
      await eventually(async () => (await definitions(second, repoName)) === FILES);
      await second.process.stop();
    },
  );
}

for (const name of ['store.db-shm', 'searching']) {
  test(
    `${name}, which is mapped too, ends the daemon at most once when it is truncated`,
    ON_MAPPINGS,
    async () => {
      const key = `svk_${'c3'.repeat(32)}`;
      const env = { TRAWL_OWNER_EMAIL: 'owner@example.com', TRAWL_OWNER_API_KEY: key };
      const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
      const sources = makeCode();
      const dataDir = temporaryFolder();
      const use = async ({ url }: Served): Promise<void> => {
        const change = {
          method: 'PATCH',
          headers,
          body: JSON.stringify({ anonymousAccess: true }),
        };
        assert.equal((await call(`${url}/api/instance`, change)).status, 200);
        for (const word of ['plum', 'pear'])
          assert.ok((await search(url, word, ALL)).isSearchExhaustive, word);
      };
      const first = await serveIndexed(dataDir, sources, { env });
      await use(first);
      truncateSync(path.join(dataDir, name), 0);
      await use(first).catch(() => {});
      await first.process.stop('SIGKILL');
      const second = await serve(dataDir, sources, { env });
      for (let i = 0; i < 3; i++) await use(second);
      await second.process.stop();
    },
  );
}
