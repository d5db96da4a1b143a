// The command line: exit codes, output streams, help, unknown options, the environment, searches through a real HTTP
// server. Closed pipes, signals and the code cache run as child processes.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import type { IncomingHttpHeaders } from 'node:http';
import path from 'node:path';
import test from 'node:test';
import type { SearchCall } from '../../daemon/api/search/search-schemas.ts';
import { index, MAIN, refuses, shardNames, startTrawl, trawl } from '../e2e/daemon.ts';
import { startPlainServer } from '../http/plain-server.ts';
import { git, makeRepo, temporaryFolder } from '../sources/git/fixture.ts';
import { chunk, explanation, file, response } from './responses.ts';

/** The call of a search for `b`. */
const CALL = {
  query: 'b',
  matches: 100_000,
  contextLines: 0,
  whole: false,
  isRegexEnabled: false,
  isCaseSensitivityEnabled: false,
};

const COMMANDS =
  'serve,index,search,explain,bench,inspect,verify,version,user,key,grant,audit,backup,restore,' +
  'license,license keygen,license issue,license verify';

test('help: of the program and each command', async () => {
  for (const name of ['', ...COMMANDS.split(',')]) {
    const { code, stdout, stderr } = await trawl([...name.split(' ').filter(Boolean), '--help']);
    assert.deepEqual([code, stderr], [0, ''], name);
    assert.match(stdout, /^Usage: trawl /);
    assert.match(stdout, /\nExamples:\n {2}\$ trawl /);
  }
});

const LEAVES =
  'mcp,status,config check,config schema,repo list,repo set,repo remove,grant add,grant remove,key create';

test('help: lines fill 80 columns, except at the end of a sentence, an item or an example', async () => {
  for (const name of [...COMMANDS.split(','), ...LEAVES.split(','), 'user add', 'user password']) {
    const { stdout } = await trawl([...name.split(' '), '--help']);
    const [usage = '', ...lines] = stdout.split('\nExamples:')[0]!.split('\n');
    assert.match(usage, /^Usage/);
    lines.forEach((line, i) => {
      assert.ok(line.length <= 80, `${name}: ${line}`);
      const [next] = lines[i + 1]?.trimStart().split(' ') ?? [];
      const isEnd = /[.:]$/.test(line) || line === '' || !next;
      // The next line begins an item if it has another indentation and a term.
      const isItem = /^ {2}\S/.test(lines[i + 1] ?? '');
      if (!isEnd && !isItem) assert.ok(line.length + 1 + next.length > 80, `${name}: ${line}`);
    });
  }
});

test('help: examples name shards as they are named, or by a word in their place', async () => {
  const { stdout } = await trawl(['inspect', '--help']);
  const names = [...stdout.matchAll(/shards\/(\w+)\.shard/g)].map(([, name]) => name ?? '');
  assert.ok(names.length > 0);
  for (const name of names) assert.match(name, /^(?:[0-9a-f]{64}|ID)$/);
});

const INVALID_CALLS: readonly (readonly [args: readonly string[], message: RegExp])[] = [
  [[], /Usage: trawl/],
  [['serach', 'x'], /unknown command 'serach'[^]*search/],
  [['search', '--mathces', '3', 'x'], /unknown option '--mathces'[^]*--matches/],
  [['search'], /^error: the query is empty; give words/],
  [['search', '-e', '', 'x'], /a pattern is empty/],
  [['explain'], /^error: the query is empty; give words/],
  [['search', '--matches', '0', 'x'], /'0' is invalid.*1 or more/],
  [['search', '-m', '1.5', 'x'], /'1.5' is invalid/],
  [['search', '-v', 'x'], /-v, --invert-match of ripgrep is not an option here.*-content:OTHER/],
  [['search', '-A', '101', 'x'], /'101' is invalid.*0 to 100/],
  [['search', '-C', '-1', 'x'], /invalid|unknown option/],
  [['search', '--sort', 'size', 'x'], /rank, path/],
  [['search', '--json', '-l', 'x'], /cannot be used with/],
  [['search', '--json', '--sort', 'path', 'x'], /cannot be used with/],
  [['search', '-c', '-l', 'x'], /cannot be used with/],
  [['index', '--mode', 'fast'], /commits, worktree/],
  [['index', '--tags', 'release/{1,2', 'a'], /A } is missing/],
  [['index', '--tags', 'v[0-9', 'a'], /A \] is missing/],
  [['index', '--tags', 'a,,b', 'a'], /empty glob/],
  [['index', '--tags', 'a b', 'a'], /no blanks/],
  [['index', '--tags', 'refs/heads/main', 'a'], /short names/],
  [['serve', '--port', '65536'], /0 to 65535/],
  [['search', '--url'], /argument missing/],
  [
    ['search', '--url', 'localhost:1', 'x'],
    /not an http or https address: localhost:1; write http:\/\/localhost:1$/m,
  ],
  [['search', '--url', 'ftp://x', 'x'], /not an http or https address: ftp:\/\/x$/m],
  [['search', '--foo'], /unknown option '--foo'[^]*put -- before a query that begins with -/],
  [['search', ' '], /^error: the query is empty; /],
  ...['--docs', '--skipped', '--trigram=abc'].map(
    (flag) => [['inspect', flag], /apply to a shard: give the path/] as const,
  ),
];

test('usage errors are refused with the reason', async () => {
  for (const [args, message] of INVALID_CALLS) await refuses(args, message);
});

test('a usage error shows arguments without control characters', async () => {
  const evil = '\u001b]0;owned\u0007\nerror: forged\u202e';
  const calls = [
    [`--${evil}`],
    ['search', `--${evil}`, 'x'],
    ['search', `--matches${evil}`, 'x'],
    [evil],
    ['search', '-m', evil, 'x'],
    ['index', '--mode', evil],
    ['version', evil],
    ['search', '--url', evil, 'x'],
  ];
  for (const args of calls) {
    const stderr = await refuses(args, /error/);
    // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
    assert.doesNotMatch(stderr, /[\u0000-\u0009\u000b-\u001f\u202e]|^error: forged/m, args.join());
  }
});

test('a current folder that was removed is named as the reason', async () => {
  const folder = temporaryFolder();
  const program = `mkdir -p ${folder} && cd ${folder} && rmdir ${folder} && exec "$0" "$@"`;
  for (const command of [['search', 'b'], ['version']]) {
    const args = ['-c', program, process.execPath, MAIN, ...command];
    const { status, stderr } = spawnSync('sh', args, { encoding: 'utf8' });
    assert.equal(status, 2, command[0]);
    assert.equal(stderr, 'error: the current folder no longer exists; change to another one\n');
  }
});

test('user add creates only a data directory that is named', async () => {
  const cwd = temporaryFolder();
  const add = (args: readonly string[], env = {}) =>
    trawl(['user', 'add', 'a@x.org', ...args], { cwd, env });
  assert.match((await add([])).stderr, /there is no data directory/);
  assert.equal((await add(['--data-dir', 'd'])).code, 0);
  assert.equal((await add([], { TRAWL_DATA_DIR: 'e' })).code, 0);
  assert.deepEqual(readdirSync(cwd).sort(), ['d', 'e']);
});

const repo = makeRepo({ 'many.txt': 'plum\n'.repeat(100_000), 'odd.bin': 'a\0b' });
const dataDir = path.join(temporaryFolder(), 'data');
const PLUM = ['search', '--data-dir', dataDir, 'plum'];

test('index: results, progress, and revisions', async () => {
  git(repo, 'branch', 'release/1');
  git(repo, 'tag', 'v2');
  const flags = ['--mode', 'commits', '--branches', 'x,release/*', '--tags=v{1,2}', '--no-symbols'];
  const { stdout, stderr } = await index(dataDir, [repo], flags);
  const name = `local/${path.basename(repo)}`;
  const facts =
    '2 docs, 3 revisions, 500 kB of content, .* of shards, .* \\(content left out: binary 1\\)';
  assert.match(stdout, new RegExp(`^${name}: ${facts}\n$`));
  assert.match(stderr, new RegExp(`^reading ${name}: \\d/2 files`, 'm'));
  const missing = path.join(repo, 'missing');
  const both = await trawl(['index', '--json', '--data-dir', dataDir, repo, missing]);
  assert.equal(both.code, 2);
  const results = both.stdout.trimEnd().split('\n');
  const states = results.map((line) => (JSON.parse(line) as { state: string }).state);
  assert.deepEqual(states.sort(), ['COMPLETED', 'FAILED']);
  // The reader of its messages has gone.
  const running = startTrawl(['index', '--data-dir', dataDir, repo, missing]);
  running.child.stderr?.destroy();
  const { code, stdout: said } = await running.ended;
  assert.equal(code, 2);
  assert.match(said, /missing: failed/);
});

test('a closed pipe ends quietly with 0', async () => {
  const { child, ended } = startTrawl(PLUM);
  child.stdout?.once('data', () => child.stdout?.destroy());
  const { code, stderr } = await ended;
  assert.equal(code, 0);
  assert.doesNotMatch(stderr, /EPIPE|rror/);
});

test('unwritable results are an error, unwritable messages are ignored', () => {
  const full = openSync('/dev/full', 'w');
  const search = (stdout: number | 'pipe', stderr: number | 'pipe') =>
    spawnSync(process.execPath, [MAIN, ...PLUM], {
      stdio: ['ignore', stdout, stderr],
      maxBuffer: 2 ** 28,
      encoding: 'utf8',
    });
  const results = search(full, 'pipe');
  assert.equal(results.status, 2);
  assert.match(results.stderr, /^error: standard output cannot be written: ENOSPC/m);
  assert.doesNotMatch(results.stderr, /^ +at /m);
  const messages = search('pipe', full);
  assert.equal(messages.status, 0);
  assert.notEqual(messages.stdout, '');
  closeSync(full);
});

test('inspect: a shard as text', async () => {
  const [name = ''] = shardNames(dataDir).filter((one) => one.endsWith('.shard'));
  const { code, stdout } = await trawl(['inspect', path.join(dataDir, 'shards', name)]);
  assert.equal(code, 0);
  assert.match(stdout, /^file: +[\d,]+ bytes {2}[\d.]+ x content$/m);
  assert.match(stdout, /^content +[\d,]+ +[\d,]+ +[\da-f]+ +[\d.]+ x content$/m);
});

test('version: product, commit, format, API, engines, Node.js; a text that the build kept', async () => {
  // The program itself answers with more than one word.
  const [kept, program, whole] = await Promise.all(
    [['--version'], ['--version', '--'], ['version']].map((args) => startTrawl(args).ended),
  );
  const real =
    /^trawl \d+\.\d+\.\d+( \([\da-f]{12}\+?\))?\nshard format \d+\napi v5\.1\.6\nsymbols tree-sitter [\d.]+/;
  assert.match(kept!.stdout, real);
  assert.equal(kept!.stdout.replace(/, \/.*ctags$/m, ''), program!.stdout);
  assert.equal((await trawl(['-V'])).stdout, program!.stdout);
  assert.equal(whole!.stdout.split('\n')[0], kept!.stdout.split('\n')[0]);
  assert.match(whole!.stdout, /tree-sitter [\d.]+\nnode v[\d.]+\n$/);
});

test('serve: greets, takes the default source, ends with 0 on SIGTERM; a bad variable is exit 2', async () => {
  const own = temporaryFolder();
  const args = ['serve', '--default-source', repo, '--port', '0', '--data-dir', own];
  const bad = await trawl(args, { env: { TRAWL_ANONYMOUS_ACCESS: 'yes' } });
  assert.equal(bad.code, 2);
  assert.match(bad.stderr, /TRAWL_ANONYMOUS_ACCESS: "yes"; allowed: true or false/);
  const running = startTrawl(args, { env: { TRAWL_ANONYMOUS_ACCESS: 'true' } });
  await running.until(/ repo indexed /);
  const { code, stdout, stderr } = await running.stop();
  assert.deepEqual([code, stdout], [0, '']);
  assert.match(stderr, /^Serving on http:\/\/localhost:\d+$/m);
  assert.ok(stderr.includes(`Index and accounts are in ${own}\n`));
  assert.match(stderr, /^ {2}http:\/\/localhost:\d+\/setup\?token=\w+$/m);
  assert.match(stderr, /^Try: curl -s http:\/\/localhost:\d+\/api\/search -H 'content-type/m);
});

interface Request {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: SearchCall;
}

interface Asked {
  readonly url: string;
  readonly requests: readonly Request[];
  /** Runs a command with `--url`. */
  readonly run: (args: string, env?: Record<string, string>) => ReturnType<typeof trawl>;
}

/** Runs `use` against a server that answers every request with `status` and a text, or a value as JSON. */
async function withServer(
  status: number,
  answer: unknown,
  use: (asked: Asked) => Promise<void>,
): Promise<void> {
  const text = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const contentType = text.startsWith('data: ') ? 'text/event-stream' : 'application/json';
  const requests: Request[] = [];
  const server = await startPlainServer(({ url, headers }, body, reply) => {
    requests.push({ url, headers, body: JSON.parse(body) });
    reply.writeHead(status, { 'content-type': contentType }).end(text);
  });
  const { url } = server;
  const run = (args: string, env = {}) => {
    const [command = '', ...rest] = args.split(' ');
    return trawl([command, '--url', url, ...rest], { env });
  };
  try {
    await use({ url, requests, run });
  } finally {
    await server.close();
  }
}

const FOUND = response([file('f', [chunk('a «b» c\n')])]);

const REQUESTED: readonly (readonly [args: string, call: Partial<SearchCall>])[] = [
  ['search b', {}],
  [
    'search --regex --case-sensitive --matches=7 -C3 -- -x',
    {
      query: '-x',
      matches: 7,
      contextLines: 3,
      isRegexEnabled: true,
      isCaseSensitivityEnabled: true,
    },
  ],
  ['search --json -A2 -B3 b', { matches: 1000, contextLines: 3 }],
  ['explain --regex --matches 7 -C 2 b', { matches: 7, contextLines: 2, isRegexEnabled: true }],
  ['explain -e b', { query: 'content:"b"', matches: 1000, isRegexEnabled: true }],
  // A negated filter is a word, a pattern that looks like one is none.
  ['search a -file:b or -lang:c', { query: 'a -file:b or -lang:c' }],
  ['search -e -c:v', { query: 'content:"-c:v"', isRegexEnabled: true }],
  ['search -le -c:v -f:b', { query: 'content:"-c:v" -f:b', isRegexEnabled: true }],
  ['search -F -c:v', { query: 'content:"-c:v"', isRegexEnabled: true }],
  ['search -F -- -c:v', { query: 'content:"-c:v"', isRegexEnabled: true }],
];

test('search, explain: flags reach the request, -- ends options, = joins', async () => {
  await withServer(200, FOUND, async ({ run, requests }) => {
    for (const [args, call] of REQUESTED) {
      await run(args);
      assert.deepEqual(requests.at(-1)?.body, { ...CALL, ...call }, args);
    }
  });
});

test('search --url: the request has the key; results go to standard output, statistics do not', async () => {
  await withServer(200, FOUND, async ({ url, run, requests }) => {
    const { code, stdout, stderr } = await run('search --stats b', { TRAWL_API_KEY: 'svk_1' });
    assert.deepEqual([code, stdout], [0, 'r/a:f:1:a b c\n']);
    assert.match(stderr, /^duration +1500000 \(1\.500 ms\)$/m);
    assert.equal(requests[0]?.url, '/api/search');
    assert.equal(requests[0].headers.authorization, 'Bearer svk_1');
    const keyFile = path.join(temporaryFolder(), 'key');
    writeFileSync(keyFile, 'svk_2\n');
    const env = { TRAWL_URL: `${url}/`, TRAWL_API_KEY_FILE: keyFile };
    assert.equal((await trawl(['search', 'b'], { env })).code, 0);
    assert.equal(requests[1]?.headers.authorization, 'Bearer svk_2');
    const always = await run('search --color always b', { NO_COLOR: '1' });
    assert.ok(always.stdout.includes('\u001b[1;31mb\u001b[0m'));
    const auto = await run('search b', { FORCE_COLOR: '1' });
    assert.ok(!auto.stdout.includes('\u001b'));
  });
  await withServer(200, response([]), async ({ run }) => {
    const { code, stdout } = await run('search b');
    assert.deepEqual([code, stdout], [1, '']);
  });
});

test('explain: text or JSON on standard output', async () => {
  await withServer(200, explanation(), async ({ run }) => {
    const text = await run('explain b');
    assert.equal(text.code, 0);
    assert.match(text.stdout, /^query: {2}and\(text:"pear"/);
    const json = await run('explain --json b');
    assert.deepEqual(JSON.parse(json.stdout), explanation());
  });
});

const NO_CREDENTIAL = {
  statusCode: 401,
  errorCode: 'NOT_AUTHENTICATED',
  message: 'no credential',
};

test('search --url: refusals and other servers are exit 2, a bad query with a caret', async () => {
  const syntax = {
    statusCode: 400,
    errorCode: 'FAILED_TO_PARSE_QUERY',
    message: 'no at position 2',
  };
  await withServer(400, syntax, async ({ run }) => {
    for (const command of ['search', 'explain']) {
      const { code, stdout, stderr } = await run(`${command} a (b`);
      assert.deepEqual([code, stdout], [2, '']);
      assert.equal(stderr, 'error: no at position 2\n  a (b\n    ^\n');
    }
  });
  await withServer(401, NO_CREDENTIAL, async ({ run }) => {
    for (const command of ['search', 'search --json']) {
      const { code, stderr } = await run(`${command} b`);
      assert.equal(code, 2);
      assert.match(stderr, /^error: no credential .*--api-key or TRAWL_API_KEY.*key create/);
    }
    const wrong = await run('search --api-key svk_1 b');
    assert.equal(wrong.stderr, 'error: no credential\n');
  });
  const { files, ...rest } = FOUND;
  const others = [
    ...[5, [null], [{ ...files[0], chunks: [{}] }]].map((other) => ({ ...rest, files: other })),
    { ...rest, files, stats: null },
    { query: 1, plan: {}, totals: {}, best: [] },
  ];
  for (const body of ['<html>', ...others])
    await withServer(200, body, async ({ run }) => {
      for (const command of ['search', 'explain']) {
        const { code, stderr } = await run(`${command} b`);
        assert.equal(code, 2);
        assert.match(stderr, /unexpected answer .*HTTP 200; is it a Trawl daemon\?$/m);
      }
    });
  const nobody = await trawl(['search', '--url', 'http://127.0.0.1:1', 'b']);
  assert.equal(nobody.code, 2);
  assert.match(nobody.stderr, /cannot reach http:\/\/127\.0\.0\.1:1/);
});

test('search --json: events as they arrive, one a line; an end without [DONE] is exit 2', async () => {
  const { stats, repositoryInfo } = FOUND;
  const chunkOf = (...files: (typeof FOUND)['files']) => ({
    type: 'chunk',
    stats,
    files,
    repositoryInfo,
  });
  const found = chunkOf(file('f', [chunk('«größe»\n')]));
  const end = { type: 'final', accumulatedStats: stats, isSearchExhaustive: true };
  const bodyOf = (events: readonly object[]): string =>
    events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('');
  const linesOf = (events: readonly object[]): string =>
    events.map((event) => `${JSON.stringify(event)}\n`).join('');
  const error = { statusCode: 500, errorCode: 'UNEXPECTED_ERROR', message: 'no' };
  const incompleteReasons = ['internal_error'];
  const broken = [
    { type: 'error', error },
    { ...end, isSearchExhaustive: false, incompleteReasons },
  ];
  for (const [events, code] of [
    [[found, found, end], 0],
    [[chunkOf(), end], 1],
    [broken, 2],
  ] as const)
    await withServer(200, `${bodyOf(events)}data: [DONE]\n\n`, async ({ run, requests }) => {
      const whole = await run('search --json --stats b', { TRAWL_API_KEY: 'svk_1' });
      assert.deepEqual([whole.code, whole.stdout], [code, linesOf(events)]);
      assert.match(whole.stderr, /^totalMatchCount +7$/m);
      assert.equal(/^incomplete: internal_error/m.test(whole.stderr), code === 2);
      assert.equal(requests[0]?.url, '/api/stream_search');
      assert.equal(requests[0].headers.authorization, 'Bearer svk_1');
    });
  await withServer(200, bodyOf([found, end]), async ({ run }) => {
    const cut = await run('search --json b');
    assert.deepEqual([cut.code, cut.stdout], [2, linesOf([found, end])]);
    assert.match(cut.stderr, /the stream ended early/);
  });
});

/** Prints whether V8 refuses the codes of a bundle; not in this process, which has other flags. */
const REFUSAL = `
  const { readFileSync } = require('node:fs');
  for (const [kept, bundle] of [['serve', 'trawl'], ['search', 'search'], ['help', 'trawl']]) {
    const text = readFileSync(bundle + '.cjs', 'latin1');
    const code = readFileSync(kept + '.code');
    const { cachedDataRejected } = new vm.Script(text, { cachedData: code.subarray(24) });
    console.log(code.toString('latin1', 0, 16) === text.slice(2, 18), cachedDataRejected);
  }`;

test('the first search of an installed package keeps its code for the next, in the folder of the user', async () => {
  const kept = path.dirname(MAIN);
  // Two folders below build/, as the bundle is.
  const copy = mkdtempSync(path.join(kept, '..', 'test-'));
  try {
    const filter = (file: string): boolean => !file.endsWith('.code');
    cpSync(kept, copy, { recursive: true, filter });
    const cache = temporaryFolder();
    const folder = path.join(cache, 'trawl');
    const search = async (env = { XDG_CACHE_HOME: cache, HOME: '' }): Promise<string> => {
      const args = ['search', '--data-dir', path.join(cache, 'none'), 'b'];
      return (await startTrawl(args, { main: path.join(copy, 'main.js'), env }).ended).stderr;
    };
    const output = await search();
    assert.match(output, /^error: /);
    const [name, ...others] = readdirSync(folder);
    assert.match(name!, /^search-v.*\.code$/);
    assert.deepEqual(others, []);
    const file = path.join(folder, name!);
    const code = readFileSync(file);
    const { ino } = statSync(file);
    assert.equal(await search(), output);
    // Used: what V8 refuses is replaced.
    assert.equal(statSync(file).ino, ino);
    writeFileSync(file, code.subarray(0, code.length >> 1));
    assert.equal(await search(), output);
    assert.notEqual(statSync(file).ino, ino);
    // Others could have written it: neither run nor replaced.
    const foreign = code.subarray(0, 100);
    writeFileSync(file, foreign);
    chmodSync(folder, 0o777);
    assert.equal(await search(), output);
    assert.deepEqual(readFileSync(file), foreign);
    assert.deepEqual(readdirSync(folder), [name]);
    const ofFolder = { XDG_CACHE_HOME: '', HOME: path.relative('.', cache) };
    assert.equal(await search(ofFolder), output);
    assert.ok(!existsSync(path.join(cache, '.cache')));
    // Only root can give a folder away.
    if (process.getuid!() !== 0) return;
    rmSync(folder, { recursive: true });
    chownSync(cache, 12_345, 12_345);
    assert.equal(await search(), output);
    assert.ok(!existsSync(folder));
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});

test('Node.js takes the code cache of the build; a damaged one, or that of another text, is rejected', async () => {
  const kept = path.dirname(MAIN);
  const child = spawnSync(process.execPath, ['-e', REFUSAL], { cwd: kept, encoding: 'utf8' });
  assert.equal(child.stdout, 'true false\n'.repeat(3), child.stderr);

  // Two folders below build/, as the bundle is.
  const copy = mkdtempSync(path.join(kept, '..', 'test-'));
  try {
    cpSync(kept, copy, { recursive: true });
    const main = path.join(copy, 'main.js');
    const code = readFileSync(path.join(kept, 'help.code'));
    // V8 would read this, and end the process.
    const damaged = Buffer.from(code).fill(0, code.length >> 1, (code.length >> 1) + 4096);
    for (const bad of [code.subarray(0, code.length >> 1), damaged]) {
      writeFileSync(path.join(copy, 'help.code'), bad);
      assert.match((await startTrawl(['--help'], { main }).ended).stdout, /^Usage: trawl /);
    }
    // V8 would take this code: it compares lengths.
    const other = readFileSync(path.join(kept, 'trawl.cjs'));
    other.write('0'.repeat(16), 2, 'latin1');
    // A line may end inside of one of them.
    const [at = -1] = ['show versions', 'time an instance', 'show the state']
      .map((text) => other.indexOf(text))
      .filter((place) => place >= 0);
    other.write('CODE', at, 'latin1');
    writeFileSync(path.join(copy, 'trawl.cjs'), other);
    writeFileSync(path.join(copy, 'help.code'), code);
    assert.match((await startTrawl(['--help'], { main }).ended).stdout, / CODE /);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});
