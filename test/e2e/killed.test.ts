// A whole daemon is killed at random moments during jobs, on-demand revisions, changes of files and merges:
// everything acknowledged is there after the next start, all files are valid, and none is left over. TRAWL_KILLS: how
// many; TRAWL_TEST_SEED.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { readdirSync, renameSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import test from 'node:test';
import { commitAll, git, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { randomOf } from '../sync/history.ts';
import {
  call,
  eventually,
  get,
  search,
  type Served,
  serve,
  serveIndexed,
  trawl,
} from './daemon.ts';
import { SEED } from '../seed.ts';

const KILLS = Number(process.env['TRAWL_KILLS'] ?? 2);
const REPOS = 8;
const KEY = `svk_${'a1'.repeat(32)}`;
const OWNER = { authorization: `Bearer ${KEY}` };
const OPTIONS = {
  env: { TRAWL_OWNER_EMAIL: 'owner@example.com', TRAWL_OWNER_API_KEY: KEY },
  flags: ['--anonymous'],
};

type JobList = readonly { readonly id: string }[];

/** Repos that change all the time, and what searches have shown of them. */
class World {
  readonly dataDir = temporaryFolder();
  readonly random = randomOf(SEED);
  readonly repos: string[] = [];
  readonly worktree: string;
  /** By repo, the number that a search has shown last. */
  readonly displayed: number[] = [];
  readonly jobIds = new Set<string>();
  #count = 0;

  constructor() {
    for (let i = 0; i < REPOS; i++) this.repos.push(makeRepo({ 'a.c': `int plum${i}_0;\n` }));
    this.worktree = makeRepo({ 'a.c': 'int tree_0;\n' });
  }

  commit(repo: number): void {
    const count = ++this.#count;
    const folder = this.repos[repo]!;
    put(folder, 'a.c', `int plum${repo}_${count};\n`);
    put(folder, `f${count}.c`, 'int pear;\n'.repeat(50));
    commitAll(folder);
  }

  save(): void {
    put(this.worktree, 'a.c', `int tree_${++this.#count};\n`);
  }
}

/** As a whole: a file that is written in place is empty for a moment. */
function put(folder: string, name: string, text: string): void {
  const next = path.join(folder, '.git', 'next');
  writeFileSync(next, text);
  renameSync(next, path.join(folder, name));
}

async function numberOf({ url }: Served, word: string): Promise<number> {
  const { files } = await search(url, `${word}_`, { matches: 10 });
  const texts = files.flatMap(({ chunks }) => chunks.map(({ content }) => content));
  return Math.max(-1, ...texts.map((text) => Number(/_(\d+)/.exec(text)?.[1])));
}

/** Lets things happen until the daemon is killed. */
async function work(world: World, served: Served): Promise<void> {
  const { random, repos, jobIds } = world;
  while (!served.process.isOver) {
    const repo = Math.floor(random() * REPOS);
    const what = random();
    if (what < 0.4) {
      world.commit(repo);
      const answer = await call(`${served.url}/api/repos/${repo + 1}/index`, {
        method: 'POST',
        headers: OWNER,
      });
      if (answer.status === 202) jobIds.add(((await answer.json()) as { jobId: string }).jobId);
    } else if (what < 0.6) {
      const commits = git(repos[repo]!, 'rev-list', 'HEAD').split('\n');
      const commit = commits[Math.floor(random() * commits.length)]!;
      await search(served.url, `plum${repo} rev:${commit}`);
    } else if (what < 0.8) {
      // Of the start: the other worker may see a later number meanwhile.
      const previous = world.displayed[repo] ?? -1;
      const number = await numberOf(served, `plum${repo}`);
      assert.ok(number >= previous, `${repo}: ${number}`);
      world.displayed[repo] = Math.max(number, world.displayed[repo] ?? -1);
    } else world.save();
    await sleep(random() * 30);
  }
}

function temporaryFiles(dataDir: string): string[] {
  const names = readdirSync(dataDir, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => /\.(next|tmp)|segment|restor/.test(name));
}

async function check(world: World, served: Served, message: string): Promise<void> {
  const { dataDir, jobIds } = world;
  assert.deepEqual(
    readdirSync(path.join(dataDir, 'on-demand')).filter((name) => !name.startsWith('build-')),
    [],
    message,
  );
  for (let repo = 0; repo < REPOS; repo++) {
    const number = await numberOf(served, `plum${repo}`);
    const previous = world.displayed[repo] ?? -1;
    assert.ok(number >= previous, `${message}: ${repo} is ${number}, was ${previous}`);
  }
  for (const jobId of jobIds) {
    const body = JSON.stringify({ queue: 'repo-index', jobId });
    const headers = { ...OWNER, 'content-type': 'application/json' };
    const { status } = await call(`${served.url}/api/job-logs`, { method: 'POST', headers, body });
    assert.equal(status, 200, `${message}: job ${jobId}`);
  }
}

void test(`killed at work, seed ${SEED}`, { timeout: 3_000_000 }, async () => {
  const world = new World();
  const { dataDir, random } = world;
  const sources = [...world.repos, world.worktree];
  for (let kill = 0; kill <= KILLS; kill++) {
    const message = `seed ${SEED}, kill ${kill}`;
    const started = kill === 0 ? serveIndexed : serve;
    const served = await started(dataDir, sources, OPTIONS);
    if (kill > 0) await check(world, served, message);
    if (kill === KILLS) {
      await eventually(
        async () =>
          (await get<JobList>(`${served.url}/api/jobs?status=PENDING`, OWNER)).body.length === 0,
      );
      await served.process.stop();
      break;
    }
    const working = Promise.all([work(world, served), work(world, served)]).catch(
      (error: unknown) => {
        // What is under way when the daemon goes gets no answer.
        if (error instanceof assert.AssertionError || !served.process.child.killed) throw error;
      },
    );
    await sleep(2500 * random());
    served.process.child.kill('SIGKILL');
    await served.process.ended;
    await working;
    const crashes = served.process.stderr.match(/.*(quarantined|damaged|cannot be used).*/g);
    assert.deepEqual(crashes, null, message);
    if (kill % 5 === 1) {
      const verified = await trawl(['verify', '--data-dir', dataDir]);
      assert.equal(verified.code, 0, `${message}: ${verified.stdout}${verified.stderr}`);
    }
  }
  assert.deepEqual(temporaryFiles(dataDir), []);
});
