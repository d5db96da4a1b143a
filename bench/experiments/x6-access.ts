// Experiment X6: what does it cost to know who asks, what they see, and whether they may still ask today? 100,000 users
// with a key each, 100,000 repos whose permissions are enforced, 1,000,000 grants. The checks of the daemon run on
// requests that never saw a socket, once for guests, who need none of it, and once for members, in turns; what members
// take more is the answer. Users are drawn at random from as many as are active at a time.
//   node build/bench/experiments/x6-access.js [DATABASE_URL]

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createPrivateKey, randomUUID } from 'node:crypto';
import { hashCredential } from '../../daemon/accounts/credentials.ts';
import { issueLicence } from '../../daemon/accounts/licence-issue.ts';
import { makeLicenceKeyPair } from '../../daemon/accounts/licence-key.ts';
import { endpoint, ok } from '../../daemon/api/shapes/endpoint.ts';
import { readConfiguration } from '../../daemon/base/config/configuration.ts';
import type { ControlPlane } from '../../daemon/app/control-plane.ts';
import type { HttpRequest } from '../../daemon/http/adapters/adapter.ts';
import { Pipeline } from '../../daemon/http/pipeline.ts';
import { RepoDirectory } from '../../daemon/repos/directory.ts';
import type { RepoRecord } from '../../daemon/repos/records.ts';
import type { LiveShard, Snapshot } from '../../daemon/engine/search/snapshot.ts';
import { SEES_ALL } from '../../daemon/repos/repo-access.ts';
import type { RepoSet } from '../../daemon/engine/query/repo-set.ts';
import { scopeOf } from '../../daemon/engine/search/scope.ts';
import type { DumpPart } from '../../daemon/store/dump.ts';
import { createLog } from '../../daemon/base/log.ts';
import { openControl } from '../../test/http/harness.ts';
import { seededRandom } from '../samples.ts';
import { formatMs, formatTable, summarizeLatency } from '../../daemon/cli/bench/statistics.ts';

const USER_COUNT = 100_000;
const REPO_COUNT = 100_000;
const GRANTS_EACH = 10;
const ACTIVE_COUNTS = [1, 1000, 100_000];
const PART_SIZE = 5000;
const COLUMNS = ['active users', 'guest p50', 'member p50', 'added p50', 'member p99', 'guest p99'];
const SECRET = 'x'.repeat(32);

const random = seededRandom(6);
const pick = (count: number): number => Math.floor(random() * count);

function keyOf(index: number): string {
  return `svk_${index.toString(16).padStart(64, '0')}`;
}

const REPOS: readonly RepoRecord[] = Array.from({ length: REPO_COUNT }, (_, i) => ({
  repoId: i + 1,
  name: `host/group${i % 997}/repo${i}`,
  codeHostType: 'genericGitHost',
  isFork: false,
  isArchived: false,
  visibility: i % 4 === 0 ? 'internal' : 'private',
  enforcement: 'restricted',
  source: { kind: 'commits', path: '/nowhere' },
  defaultRevision: 'HEAD',
}));

const SNAPSHOT: Snapshot = {
  repos: REPOS,
  quarantined: [],
  shards: REPOS.map(({ repoId }): LiveShard => ({
    shardId: `s${repoId}`,
    path: '',
    size: 1,
    docCount: 1,
    parts: [{ repoId, docStart: 0, docEnd: 1 }],
  })),
};

/** The rows as a dump, which the store reads at once. */
async function* parts(header: DumpPart): AsyncGenerator<DumpPart> {
  yield header;
  const ids = Array.from({ length: USER_COUNT }, () => randomUUID());
  const secret = Buffer.from(SECRET);
  const rowsOf = (index: number) => ({
    users: {
      id: ids[index]!,
      email: `user${index}@example.com`,
      name: null,
      role: index === 0 ? 'OWNER' : 'MEMBER',
      password_hash: null,
      suspended_at: null,
      created_at: index,
      updated_at: index,
      last_activity_at: Date.now(),
      requests_per_day: 1_000_000,
      ordinal: index,
    },
    api_keys: {
      id: randomUUID(),
      user_id: ids[index]!,
      name: 'bench',
      hash: hashCredential(secret, keyOf(index)),
      created_at: index,
      last_used_at: Date.now(),
      ordinal: index,
    },
  });
  for (const table of ['users', 'api_keys'] as const) {
    for (let start = 0; start < USER_COUNT; start += PART_SIZE) {
      const rows = Array.from({ length: PART_SIZE }, (_, i) => rowsOf(start + i)[table]);
      yield { table, rows };
    }
  }
  for (let start = 0; start < USER_COUNT; start += PART_SIZE / GRANTS_EACH) {
    const rows = Array.from({ length: PART_SIZE / GRANTS_EACH }, (_, i) => {
      const repoIds = new Set<number>();
      while (repoIds.size < GRANTS_EACH) repoIds.add(pick(REPO_COUNT) + 1);
      return [...repoIds].map((repoId) => ({ user_id: ids[start + i]!, repo_id: repoId }));
    });
    yield { table: 'grants', rows: rows.flat() };
  }
}

async function fill({ store }: ControlPlane): Promise<void> {
  for await (const header of store.dump()) {
    await store.load(parts(header));
    return;
  }
}

const probe = endpoint(
  {
    operationId: 'probe',
    method: 'GET',
    path: '/api/probe',
    access: 'opt',
    tag: 'System',
    summary: 'A probe',
    isCounted: true,
    responses: { 200: { description: 'Done.' } },
  },
  () => ok(null),
);

function requestAs(key: string | undefined): HttpRequest {
  const authorization = key === undefined ? undefined : `Bearer ${key}`;
  return {
    method: 'GET',
    path: '/api/probe',
    rawQuery: '',
    remoteAddress: '127.0.0.1',
    signal: new AbortController().signal,
    headers: new Map(authorization === undefined ? [] : [['authorization', authorization]]),
    body: () => Promise.reject(new Error('no body')),
  };
}

async function timeOf(pipeline: Pipeline, key: string | undefined): Promise<number> {
  const request = requestAs(key);
  const start = process.hrtime.bigint();
  const { status } = await pipeline.handle(request);
  const ms = Number(process.hrtime.bigint() - start) / 1e6;
  if (status !== 200) throw new Error(`status ${status}`);
  return ms;
}

async function measure(pipeline: Pipeline, activeCount: number): Promise<string[]> {
  const active = Array.from({ length: activeCount }, () => pick(USER_COUNT - 1) + 1);
  const times = { guest: [] as number[], member: [] as number[] };
  for (const index of active) await timeOf(pipeline, keyOf(index));
  for (let i = 0; i < 20_000; i++) {
    const key = keyOf(active[pick(activeCount)]!);
    times.guest.push(await timeOf(pipeline, undefined));
    times.member.push(await timeOf(pipeline, key));
  }
  const [guest, member] = [summarizeLatency(times.guest), summarizeLatency(times.member)];
  return [
    activeCount.toLocaleString('en'),
    formatMs(guest.p50Ms),
    formatMs(member.p50Ms),
    formatMs(member.p50Ms - guest.p50Ms),
    formatMs(member.p99Ms),
    formatMs(guest.p99Ms),
  ];
}

const request = () => ({ method: 'POST', path: '/api/search', origins: [] });

const SOME_REPOS: RepoSet = {
  ids: new Set(REPOS.map(({ repoId }) => repoId).filter((repoId) => repoId % 1000 === 1)),
  isOfOthers: false,
};

/** All shards, or those of a member. */
async function scopeTimes({ accounts }: ControlPlane): Promise<string> {
  const times = { all: [] as number[], member: [] as number[] };
  for (let i = 0; i < 1000; i++) {
    const authorization = `Bearer ${keyOf(pick(1000) + 1)}`;
    const headers = new Map([['authorization', authorization]]);
    const caller = await accounts.callers.finder(headers, request)();
    if (caller === undefined) throw new Error('a key is not known');
    for (const [kind, repoAccess] of [
      ['all', SEES_ALL],
      ['member', caller.repoAccess],
    ] as const) {
      const start = process.hrtime.bigint();
      scopeOf(SNAPSHOT, repoAccess, SOME_REPOS);
      times[kind].push(Number(process.hrtime.bigint() - start) / 1e6);
    }
  }
  const [all, member] = [summarizeLatency(times.all), summarizeLatency(times.member)];
  return `taking the shards in scope, p50: ${formatMs(all.p50Ms)} ms of all, ${formatMs(member.p50Ms)} ms of a member's`;
}

async function main(databaseUrl: string | undefined): Promise<void> {
  const dataDir = mkdtempSync(path.join(tmpdir(), 'trawl-x6-'));
  const pair = makeLicenceKeyPair();
  const licence = await issueLicence(createPrivateKey(pair.privateKey), {
    exp: Math.ceil(Date.now() / 1000) + 86_400,
    entitlements: ['permissions'],
  });
  const configuration = readConfiguration({
    env: {
      TRAWL_DATA_DIR: dataDir,
      TRAWL_SECRET: SECRET,
      TRAWL_ANONYMOUS_ACCESS: 'true',
      TRAWL_LICENSE_KEY: licence,
      TRAWL_LICENSE_PUBLIC_KEY: pair.publicKey,
      ...(databaseUrl === undefined ? {} : { TRAWL_DATABASE_URL: databaseUrl }),
    },
  });
  const log = createLog({ level: 'error', format: 'text', write: (line) => console.error(line) });
  const control = await openControl(configuration, new RepoDirectory(() => REPOS), log);
  try {
    console.error('filling the store');
    await fill(control);
    await control.accounts.begin({ baseUrl: 'http://localhost', isLoopback: true });
    const { store: _, close: __, ...parts } = control;
    const pipeline = new Pipeline({
      endpoints: [probe],
      // Safety: the probe calls none.
      // oxlint-disable-next-line typescript/no-unsafe-type-assertion
      services: {} as never,
      settings: configuration.settings,
      ...parts,
      baseUrl: 'http://localhost',
      hasPages: true,
      hosts: undefined,
      version: '0',
      log,
    });
    const rows: string[][] = [];
    for (const activeCount of ACTIVE_COUNTS) rows.push(await measure(pipeline, activeCount));
    const columns = COLUMNS.map((title) => ({ title, align: 'right' as const }));
    console.log(formatTable(columns, rows));
    console.log(await scopeTimes(control));
    console.log(`memory ${Math.round(process.memoryUsage().rss / 2 ** 20)} MiB`);
  } finally {
    await control.close();
    rmSync(dataDir, { recursive: true });
  }
}

await main(process.argv[2]);
