// The command line: the same answers from the daemon and from the local index, exit codes, and the ways to start a
// checkout.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test, { after, before } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { IndexReport } from '../../daemon/cli/index-files.ts';
import { commitAll, makeRepo, temporaryFolder, writeFiles } from '../sources/git/fixture.ts';
import { Running, serveIndexed, shardNames, trawl, type Outcome, type Served } from './daemon.ts';

const CHECKOUT = fileURLToPath(new URL('../../../', import.meta.url));
const repo = makeRepo({
  'a.ts': 'const plum = 1;\n// a\n// b\nplum + plum;\n',
  'dir/b.txt': 'Plum\r\nünï plum\n',
  'bad.txt': Buffer.from('\xff plum \x1b[31mred\n', 'latin1'),
});
const dataDir = temporaryFolder();
let served: Served;
const configuration = path.join(temporaryFolder(), 'trawl.json');
writeFileSync(configuration, '{}');
/** With a configuration file of its own, a search does not ask the daemon of the data directory. */
const openedHere = ['--data-dir', dataDir, '--config', configuration];

before(async () => {
  served = await serveIndexed(dataDir, [repo]);
  await served.process.until(/ symbols found /);
});
after(() => served.process.stop());

interface StreamEvent {
  readonly files?: readonly unknown[];
  readonly accumulatedStats?: object;
}

/** An outcome without times and addresses. */
function comparable({ code, stdout, stderr }: Outcome): Outcome {
  const clean = (text: string): string =>
    text
      .replaceAll(/http:\/\/localhost:\d+/g, 'URL')
      // Whether the file is on this machine is known of the index of a data directory alone.
      .replaceAll(/^(.*?)[\w/-]+\/(trawl-test-\w+)[:/]/gm, '$1$2:')
      .replaceAll(/"(duration|wait|matchTree\w+)":\d+/g, '"$1":0')
      .replaceAll(/^(duration|wait|matchTree\w+) .*$/gm, '$1');
  return { code, stdout: withoutTimes(clean(stdout)), stderr: clean(stderr) };
}

/** The table of shards in an explanation without its columns of times, which stand last before the reason. */
function withoutTimes(text: string): string {
  const lines = text.split('\n');
  const head = lines.find((line) => line.startsWith('shard '));
  const [start, end] = [head?.indexOf('matchTreeConstruction') ?? -1, head?.indexOf('reason') ?? 0];
  if (start < 0) return text;
  const first = lines.indexOf(head!);
  return lines
    .map((line, index) => (index < first ? line : line.slice(0, start) + line.slice(end)))
    .join('\n')
    .replaceAll(/ +/g, ' ');
}

void test('the daemon and the local index give the same output and exit code', async () => {
  const calls = [
    ['plum'],
    ['plum', '--case-sensitive'],
    ['plum', '-C', '1'],
    ['plum', '-C', '200'],
    ['plum', '-l'],
    ['plum', '-c'],
    ['plum', '--sort', 'path'],
    ['plum', '--matches', '2'],
    ['plum', '--color', 'always'],
    ['plum', '--stats'],
    ['file:b'],
    ['nothinghere'],
    ['path:nothinghere'],
    ['plum (pear'],
    ['file:'],
    ['(plum', '--regex'],
    ['a|b', '--regex'],
    ['plum', '--matches', '9999999'],
  ];
  for (const call of calls) {
    const [remote, local, own] = await Promise.all(
      [['--url', served.url], openedHere, ['--data-dir', dataDir]].map((where) =>
        trawl(['search', ...where, ...call]),
      ),
    );
    const name = call.join(' ').slice(0, 80);
    assert.deepEqual(comparable(local!), comparable(remote!), name);
    assert.deepEqual(comparable(own!), comparable(remote!), name);
  }
  const [local, own] = await Promise.all(
    [openedHere, ['--data-dir', dataDir]].map((where) => trawl(['explain', ...where, 'plum'])),
  );
  assert.equal(own?.code, 0, own?.stderr);
  assert.deepEqual(comparable(own), comparable(local!));
});

void test('a search in the local index applies a configuration file, and says where search contexts work', async () => {
  const file = path.join(temporaryFolder(), 'trawl.json');
  const contexts = { all: { include: ['**'] } };
  writeFileSync(file, JSON.stringify({ settings: { maxMatchCount: 1 }, contexts }));
  const local = ['--data-dir', dataDir, '--config', file];
  const limited = await trawl(['search', ...local, 'plum']);
  assert.equal(limited.stdout.trim().split('\n').length, 1);
  assert.match(
    limited.stderr,
    /^stopped at 1 match; at least \d+ exist; narrow the query, or raise maxMatchCount$/m,
  );
  for (const command of [['search'], ['search', '--json'], ['explain']]) {
    const { code, stderr } = await trawl([...command, ...local, 'context:all plum']);
    assert.equal(code, 2);
    assert.match(
      stderr,
      /running daemon knows search contexts: name its address by --url or TRAWL_URL, and a key/,
    );
  }
});

void test('the daemon and the local index stream the same results, in any chunks', async () => {
  const outcomes = await Promise.all(
    [['--url', served.url], openedHere].map((where) =>
      trawl(['search', '--json', ...where, 'plum']),
    ),
  );
  const [remote, local] = outcomes.map((outcome) => {
    const { code, stderr, stdout } = comparable(outcome);
    const events = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as StreamEvent);
    const files = events.flatMap((event) => event.files ?? []).map((file) => JSON.stringify(file));
    const { accumulatedStats, ...final } = events.at(-1) ?? {};
    return {
      code,
      stderr,
      files: files.sort(),
      final,
      stats: { ...accumulatedStats, flushReason: '' },
    };
  });
  assert.deepEqual(local, remote);
  assert.equal(local?.files.length, 3);
});

void test('inspect and verify on the files of a running daemon', async () => {
  const [name = ''] = shardNames(dataDir);
  const shard = path.join(dataDir, 'shards', name);
  const inspected = await trawl(['inspect', '--json', '--docs', '--trigram', 'plu', shard]);
  assert.equal(inspected.code, 0, inspected.stderr);
  const report = JSON.parse(inspected.stdout) as { docCount: number; docs: { path: string }[] };
  assert.equal(report.docCount, 3);
  assert.deepEqual(report.docs.map((doc) => doc.path).sort(), ['a.ts', 'bad.txt', 'dir/b.txt']);
  const verified = await trawl(['verify', '--data-dir', dataDir]);
  assert.equal(verified.code, 0, verified.stderr);
  for (const ending of ['shard', 'tags']) {
    const found = readdirSync(path.dirname(shard)).find((one) => one.endsWith(`.${ending}`))!;
    const file = path.join(path.dirname(shard), found);
    assert.equal(found, `${hash('sha256', readFileSync(file), 'hex')}.${ending}`);
  }
  const elsewhere = path.join(temporaryFolder(), `${'0'.repeat(64)}.shard`);
  copyFileSync(shard, elsewhere);
  const exchanged = await trawl(['verify', elsewhere]);
  assert.equal(exchanged.code, 1);
  assert.equal(exchanged.stdout, `damaged ${elsewhere}: its content belongs to another name\n`);
  const wrong: [string, RegExp][] = [
    [
      path.join(dataDir, 'nosuch.shard'),
      /^error: there is no file \S+nosuch\.shard: give the path/,
    ],
    [dataDir, /^error: \S+ is a folder, not a shard: /],
  ];
  for (const [place, message] of wrong) {
    const { code, stderr } = await trawl(['verify', place]);
    assert.equal(code, 2);
    assert.match(stderr, message);
  }
});

void test('an index of shared shards and docs without a revision: output of the commands', async () => {
  const repos = Array.from({ length: 16 }, (_, i) =>
    makeRepo({ 'a.txt': `a${i}`, 'b.txt': `b${i}`, 'c.txt': `c${i}` }),
  );
  const dir = temporaryFolder();
  const index = (...args: string[]): Promise<Outcome> =>
    trawl(['index', '--mode', 'commits', '--data-dir', dir, ...args]);
  const summary = async (dataDirectory: string): Promise<IndexReport> => {
    const { stdout } = await trawl(['inspect', '--json', '--data-dir', dataDirectory]);
    return JSON.parse(stdout) as IndexReport;
  };
  assert.equal((await index(...repos)).code, 0);
  writeFiles(repos[0]!, { 'a.txt': 'other' });
  commitAll(repos[0]!);
  const followed = await index(repos[0]!);
  assert.match(followed.stderr, /repo indexed .*built=delta .*deadCount=1/);
  assert.match(followed.stdout, /: 3 docs, 1 in no revision, /);
  const before = await summary(dir);
  assert.deepEqual([before.repoCount, before.docCount, before.deadCount], [16, 49, 1]);
  assert.equal(before.nextMerge, null);
  const shared = before.shards.find((shard) => shard.repos.length === 16)!;
  assert.deepEqual([before.shards.length, shared.docCount, shared.deadCount], [2, 48, 1]);

  const file = path.join(dir, 'shards', `${shared.shardId}.shard`);
  const inspected = await trawl(['inspect', file]);
  assert.match(inspected.stdout, /^held by: +\S+, \S+, \S+ and 13 more$/m);
  const table = await trawl(['inspect', '--data-dir', dir]);
  assert.match(table.stdout, new RegExp(`^${shared.shardId.slice(0, 16)}  `, 'm'));
  const nothing = await trawl(['inspect', 'local/none', '--data-dir', temporaryFolder()]);
  assert.match(nothing.stderr, /no file local\/none: give the path of a shard; /);
  assert.match(inspected.stdout, /^live docs: +47, and 1 in no revision \(about 2 bytes/m);
  const verified = await trawl(['verify', '--data-dir', dir]);
  assert.equal(verified.code, 0);
  assert.ok(verified.stdout.includes(`valid ${file}: 1 doc in no revision\n`));
  assert.match(verified.stderr, /files checked, all valid; 1 doc in no revision/);

  const backup = path.join(temporaryFolder(), 'b.tar');
  const elsewhere = temporaryFolder();
  assert.equal((await trawl(['backup', '--with-index', '--data-dir', dir, backup])).code, 0);
  assert.equal((await trawl(['restore', '--data-dir', elsewhere, backup])).code, 0);
  assert.deepEqual(await summary(elsewhere), { ...before, dataDir: elsewhere });
  assert.equal((await trawl(['verify', '--data-dir', elsewhere])).code, 0);
  const found = await trawl(['search', '--data-dir', elsewhere, 'b15']);
  assert.equal(found.code, 0, found.stderr);
  const unchanged = await trawl(['index', '--mode', 'commits', '--data-dir', elsewhere, ...repos]);
  assert.equal(unchanged.code, 0);
  assert.doesNotMatch(unchanged.stderr, /built=/);
  assert.deepEqual((await summary(elsewhere)).shards, before.shards);
  const forced = await index('--force', '--repo', shared.repos[0]!);
  assert.match(forced.stderr, /repo indexed .*built=whole reason=requested/);
  assert.match(forced.stdout, / \(rebuilt: requested\)\n$/);
  assert.equal((await summary(dir)).deadCount, 0);
});

void test('npx trawl version', async () => {
  const { code, stdout } = await new Running('npx', ['--no-install', 'trawl', 'version'], {
    cwd: CHECKOUT,
  }).ended;
  assert.equal(code, 0);
  const manifest = readFileSync(path.join(CHECKOUT, 'package.json'), 'utf8');
  assert.match(
    stdout,
    new RegExp(`^trawl ${/"version": "([^"]+)"/.exec(manifest)?.[1] ?? ''}(?: \\(.*\\))?\n`),
  );
});

void test('npm start: the printed curl line works', async () => {
  // Why not through npm: it does not pass signals on to what it started.
  const args = ['scripts/start.mjs', repo, '--port', '0', '--data-dir', temporaryFolder()];
  const running = new Running(process.execPath, args, { cwd: CHECKOUT });
  const [, line = ''] = await running.until(/^Try: (curl .*)$/m);
  await running.until(/ repo indexed /);
  const pasted = await new Running('sh', ['-c', line.replace('TODO', 'plum')], {}).ended;
  assert.equal(pasted.code, 0);
  assert.match(pasted.stdout, /"totalMatchCount":6/);
  const [, url = ''] = /^Serving on (http:\/\/localhost:\d+)$/m.exec(running.stderr) ?? [];
  assert.ok(url !== '' && line.includes(`${url}/`), line);
  assert.equal((await running.stop('SIGTERM')).code, 0);
});

void test('progress of indexing is in the log where logs are JSON', async () => {
  const env = { TRAWL_LOG_FORMAT: 'json' };
  const { code, stderr } = await trawl(['index', '--data-dir', temporaryFolder(), repo], { env });
  assert.equal(code, 0);
  const lines = stderr
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>);
  const phases = lines.filter(({ message }) => message === 'indexing').map(({ phase }) => phase);
  // One that takes seconds is told again.
  const changes = phases.filter((phase, i) => phase !== phases[i - 1]);
  assert.deepEqual(changes.slice(0, 3), ['listing', 'reading', 'merging']);
  assert.ok(changes.slice(3).every((phase) => phase === 'symbols'));
  const last = lines.find(({ phase }) => phase === 'merging')?.['progress'];
  assert.deepEqual(Object.keys(last ?? {}).sort(), [
    'bytesDone',
    'bytesPerSecond',
    'bytesTotal',
    'filesDone',
    'filesTotal',
    'skipped',
  ]);
});
