// The command line: exit codes, output streams, help, unknown options, the environment, searches through a real HTTP
// server. Closed pipes, signals and the code cache run as child processes.
// tier: ci (whole programs)

import assert from 'node:assert/strict';
import { spawn, spawnSync, type StdioOptions } from 'node:child_process';
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
import { fileURLToPath } from 'node:url';
import { startPlainServer } from '../http/plain-server.ts';
import { temporaryFolder } from '../sources/git/fixture.ts';
import { refuses, run, type Outcome } from './fake-services.ts';
import { chunk, explanation, file, response } from './responses.ts';

const FAKE_MAIN = fileURLToPath(new URL('fake-main.js', import.meta.url));
const REAL_MAIN = fileURLToPath(new URL('../../bundle/cli/main.js', import.meta.url));

interface ChildOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly main?: string;
  readonly stdio?: StdioOptions;
}

function start(
  args: readonly string[],
  { env = {}, main = FAKE_MAIN, stdio = ['ignore', 'pipe', 'pipe'] }: ChildOptions = {},
) {
  const child = spawn(process.execPath, [main, ...args], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    stdio,
    timeout: 240_000,
  });
  let stdout = '';
  let stderr = '';
  child.stdout?.on('data', (data: Buffer) => (stdout += data.toString()));
  child.stderr?.on('data', (data: Buffer) => (stderr += data.toString()));
  const outcome = new Promise<Outcome>((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, stdout, stderr }));
  });
  return { child, outcome };
}

/** The JSON that the fake service `name` echoed. */
function echoed(stderr: string, name: string): unknown {
  const line = stderr.split('\n').find((text) => text.startsWith(`${name} `));
  assert.ok(line, `no echo of ${name} in ${stderr}`);
  return JSON.parse(line.slice(name.length + 1)) as unknown;
}

/** The call of a search for `b`. */
const CALL = {
  dataDir: '.trawl',
  query: 'b',
  matches: 100_000,
  contextLines: 0,
  whole: false,
  isRegexEnabled: false,
  isCaseSensitivityEnabled: false,
};

function syntaxErrorAt(position: number): string {
  const message = `no at position ${position}`;
  return JSON.stringify({ statusCode: 400, errorCode: 'FAILED_TO_PARSE_QUERY', message });
}

const NO_CREDENTIAL = JSON.stringify({
  statusCode: 401,
  errorCode: 'NOT_AUTHENTICATED',
  message: 'no credential',
});

const COMMANDS =
  'serve,index,search,explain,bench,inspect,verify,version,user,key,grant,audit,backup,restore,' +
  'license,license keygen,license issue,license verify';

test('help: of the program and each command', async () => {
  for (const name of ['', ...COMMANDS.split(',')]) {
    const { code, stdout, stderr } = await run([...name.split(' ').filter(Boolean), '--help']);
    assert.deepEqual([code, stderr], [0, ''], name);
    assert.match(stdout, /^Usage: trawl /);
    assert.match(stdout, /\nExamples:\n {2}\$ trawl /);
  }
});

const LEAVES =
  'mcp,status,config check,config schema,repo list,repo set,repo remove,grant add,grant remove,key create';

test('help: lines fill 80 columns, except at the end of a sentence, an item or an example', async () => {
  for (const name of [...COMMANDS.split(','), ...LEAVES.split(','), 'user add', 'user password']) {
    const { stdout } = await run([...name.split(' '), '--help']);
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
    const args = ['-c', program, process.execPath, REAL_MAIN, ...command];
    const { status, stderr } = spawnSync('sh', args, { encoding: 'utf8' });
    assert.equal(status, 2, command[0]);
    assert.equal(stderr, 'error: the current folder no longer exists; change to another one\n');
  }
});

test('user add creates only a data directory that is named', async () => {
  const calls = [
    [[], {}, false],
    [['--data-dir', 'd'], {}, true],
    [[], { TRAWL_DATA_DIR: 'd' }, true],
  ] as const;
  for (const [args, env, isMaking] of calls) {
    const { stderr } = await run(['user', 'add', 'a@x.org', ...args], env);
    const dataDir = isMaking ? 'd' : '.trawl';
    assert.deepEqual(echoed(stderr, 'operator'), { dataDir, isMaking });
  }
});

test('explain: text or JSON on standard output, with the options of search; a refusal is exit 2', async () => {
  const text = await run(['explain', '--regex', '--matches', '7', '-C', '2', 'b']);
  assert.equal(text.code, 0);
  assert.match(text.stdout, /^query: {2}and\(text:"pear"/);
  const call = { ...CALL, matches: 7, contextLines: 2, isRegexEnabled: true };
  assert.deepEqual(echoed(text.stderr, 'explain'), call);
  const ofPattern = await run(['explain', '-e', 'b']);
  assert.equal((echoed(ofPattern.stderr, 'explain') as { query: string }).query, 'content:"b"');
  const json = await run(['explain', '--json', 'b']);
  assert.deepEqual(JSON.parse(json.stdout), explanation());
  const refused = await run(['explain', 'b)'], { FAKE_RESPONSE: syntaxErrorAt(1) });
  assert.equal(refused.code, 2);
  assert.equal(refused.stdout, '');
  assert.match(refused.stderr, /no at position 1\n {2}b\)\n {3}\^/);
});

test('search: exit 0 with matches, only results on standard output', async () => {
  const { code, stdout, stderr } = await run(['search', 'b']);
  assert.equal(code, 0);
  assert.equal(stdout, 'r/a:f0:1:a b c\n');
  assert.deepEqual(echoed(stderr, 'search'), CALL);
  assert.deepEqual(echoed(stderr, 'close'), {});
});

test('search: flags reach the request, -- ends options, = joins', async () => {
  const args = 'search --regex --case-sensitive --matches=7 -C3 --data-dir=d -- -x'.split(' ');
  const { stderr } = await run(args);
  assert.deepEqual(echoed(stderr, 'search'), {
    ...CALL,
    dataDir: 'd',
    query: '-x',
    matches: 7,
    contextLines: 3,
    isRegexEnabled: true,
    isCaseSensitivityEnabled: true,
  });
});

test('search: a negated filter is a word, a pattern that looks like one is none', async () => {
  const rows: readonly (readonly [args: string, query: string])[] = [
    ['a -file:b or -lang:c', 'a -file:b or -lang:c'],
    ['-e -c:v', 'content:"-c:v"'],
    ['-le -c:v -f:b', 'content:"-c:v" -f:b'],
    ['-F -c:v', 'content:"-c:v"'],
    ['-F -- -c:v', 'content:"-c:v"'],
  ];
  for (const [args, query] of rows) {
    const { stderr } = await run(['search', ...args.split(' ')]);
    assert.equal((echoed(stderr, 'search') as { query: string }).query, query, args);
  }
});

test('search: without matches exit 1 and no output', async () => {
  const { code, stdout } = await run(['search', 'b'], { FAKE_RESPONSE: 'big:0' });
  assert.equal(code, 1);
  assert.equal(stdout, '');
});

test('search: a bad query is exit 2 with a caret', async () => {
  const env = { FAKE_RESPONSE: syntaxErrorAt(2) };
  const { code, stdout, stderr } = await run(['search', 'a (b'], env);
  assert.equal(code, 2);
  assert.equal(stdout, '');
  assert.ok(stderr.includes('error: no at position 2\n  a (b\n    ^\n'), stderr);
  assert.deepEqual(echoed(stderr, 'close'), {});
});

test('search: statistics go to standard error', async () => {
  const { stdout, stderr } = await run(['search', '--stats', 'b']);
  assert.equal(stdout, 'r/a:f0:1:a b c\n');
  assert.match(stderr, /^duration +1500000 \(1\.500 ms\)$/m);
});

test('search --json: the events of the stream, one a line', async () => {
  const found = await run(['search', '--json', '--stats', 'x'], { FAKE_RESPONSE: 'big:2' });
  assert.equal(found.code, 0);
  const lines = found.stdout.trimEnd().split('\n');
  assert.deepEqual(
    lines.map((line) => (JSON.parse(line) as { type: string }).type),
    ['chunk', 'chunk', 'final'],
  );
  assert.match(found.stderr, /^totalMatchCount +7$/m);
  const around = await run(['search', '--json', '-A2', '-B3', 'x']);
  assert.equal((echoed(around.stderr, 'stream') as { contextLines: number }).contextLines, 3);
  assert.equal((await run(['search', '--json', 'x'], { FAKE_RESPONSE: 'big:0' })).code, 1);
  const broken = await run(['search', '--json', 'x'], { FAKE_RESPONSE: 'broken' });
  assert.equal(broken.code, 2);
  assert.match(broken.stdout, /^\{"type":"error",.*\}\n\{"type":"final",.*\}\n$/);
  assert.match(broken.stderr, /^incomplete: internal_error/m);
});

test('search: colour on request, not in a pipe by default', async () => {
  const always = await run(['search', '--color', 'always', 'b'], { NO_COLOR: '1' });
  assert.ok(always.stdout.includes('\u001b[1;31mb\u001b[0m'));
  const auto = await run(['search', 'b'], { FORCE_COLOR: '1' });
  assert.ok(!auto.stdout.includes('\u001b'));
});

test('a closed pipe ends quietly with 0', async () => {
  const { child, outcome } = start(['search', 'b'], { env: { FAKE_RESPONSE: 'big:200000' } });
  child.stdout?.once('data', () => child.stdout?.destroy());
  const { code, stderr } = await outcome;
  assert.equal(code, 0);
  assert.doesNotMatch(stderr, /EPIPE|rror/);
});

test('a command goes on without the reader of its messages', async () => {
  const { child, outcome } = start(['index', 'bad']);
  child.stderr?.destroy();
  const { code, stdout } = await outcome;
  assert.equal(code, 2);
  assert.match(stdout, /^bad: failed/);
});

test('unwritable results are an error, unwritable messages are ignored', async () => {
  const full = openSync('/dev/full', 'w');
  const results = await start(['search', 'b'], { stdio: ['ignore', full, 'pipe'] }).outcome;
  assert.equal(results.code, 2);
  assert.match(results.stderr, /^error: standard output cannot be written: ENOSPC/m);
  assert.doesNotMatch(results.stderr, /^ +at /m);
  const messages = await start(['search', 'b'], { stdio: ['ignore', 'pipe', full] }).outcome;
  assert.equal(messages.code, 0);
  assert.notEqual(messages.stdout, '');
  closeSync(full);
});

test('index: results, progress and options', async () => {
  const flags = '--mode commits --force --branches x,release/* --tags=v{1,2}'.split(' ');
  const { code, stdout, stderr } = await run(['index', 'a', ...flags]);
  assert.equal(code, 0);
  assert.equal(
    stdout,
    'a: 2 docs, 10 B of content, 9 B of shards, 5 ms (content left out: binary 1)\n',
  );
  assert.match(stderr, /^reading local\/x: 1\/2 files/m);
  assert.deepEqual(echoed(stderr, 'index'), {
    dataDir: '.trawl',
    mode: 'commits',
    change: { branches: ['x', 'release/*'], tags: ['v{1,2}'] },
    sources: ['a'],
    isForced: true,
    findsSymbols: true,
  });
});

test('index: a failed source is exit 2; --json is one object a line', async () => {
  const { code, stdout } = await run(['index', 'a', 'bad', '--json']);
  assert.equal(code, 2);
  const states = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { state: string; error?: string });
  assert.deepEqual(
    states.map(({ state, error }) => [state, error]),
    [
      ['COMPLETED', undefined],
      ['FAILED', 'no such folder'],
    ],
  );
});

test('inspect: text and JSON', async () => {
  const text = await run(['inspect', 's1']);
  assert.equal(text.code, 0);
  assert.match(text.stdout, /^file: +2,400 bytes {2}1\.200 x content$/m);
  assert.match(text.stdout, /^content +64 +2,000 +abcd +1\.000 x content$/m);
  const json = await run(['inspect', 's1', '--json', '--docs', '--trigram', 'abc']);
  assert.match(json.stdout, /^\{"path":"s1",.*"docCount":1,.*\}\n$/);
  assert.deepEqual(echoed(json.stderr, 'inspect'), { path: 's1', docs: 'all', trigram: 'abc' });
  const skipped = await run(['inspect', 's1', '--skipped']);
  assert.deepEqual(echoed(skipped.stderr, 'inspect'), { path: 's1', docs: 'skipped' });
});

test('inspect without a shard shows the index; lists need a shard', async () => {
  const text = await run(['inspect', '--data-dir', 'd']);
  assert.equal(text.code, 0);
  assert.deepEqual(echoed(text.stderr, 'survey'), { dataDir: 'd' });
  assert.match(
    text.stdout,
    /^index: +d\nrepositories: +6\nshards: +4, 1 shared, 1 out of service$/m,
  );
  const json = await run(['inspect', '--json']);
  assert.match(
    json.stdout,
    /^\{"dataDir":".trawl","repoCount":6,.*"nextMerge":null,"shards":\[.*\}\n$/,
  );
  for (const flag of ['--docs', '--skipped', '--trigram=abc'])
    assert.equal((await run(['inspect', flag])).code, 2);
});

test('verify: one line for each shard, exit 1 on problems', async () => {
  assert.deepEqual(await run(['verify', 'a']), { code: 0, stdout: 'valid a\n', stderr: '' });
  const damaged = await run(['verify', 'a', 'bad']);
  assert.equal(damaged.code, 1);
  assert.equal(damaged.stdout, 'valid a\ndamaged bad: checksum of content\n');
  // Of an index more is known than of files.
  const all = await run(['verify']);
  assert.deepEqual(all, {
    code: 0,
    stdout: 'valid a\nvalid b: 2 docs in no revision; out of service: page 1\n',
    stderr:
      '2 files checked, all valid; 2 docs in no revision, which is no damage: merges remove them\n',
  });
});

test('version: product, commit, format, API, engines, Node.js; the real entry prints a text that the build kept', async () => {
  const head = 'trawl 1.2.3 (0123456789ab)\nshard format 4\napi v5\nsymbols ';
  const node = `node ${process.version}\n`;
  const { stdout } = await run(['version']);
  assert.equal(stdout, `${head}ctags 5 /ctags, tree-sitter 0.1\n${node}`);
  for (const flag of ['--version', '-V'])
    assert.equal((await run([flag])).stdout, `${head}tree-sitter 0.1\n${node}`, flag);
  // The program itself answers with more than one word.
  const [kept, program, whole] = await Promise.all(
    [['--version'], ['--version', '--'], ['version']].map(
      (args) => start(args, { main: REAL_MAIN }).outcome,
    ),
  );
  const real =
    /^trawl \d+\.\d+\.\d+( \([\da-f]{12}\+?\))?\nshard format \d+\napi v5\.1\.6\nsymbols tree-sitter [\d.]+/;
  assert.match(kept!.stdout, real);
  assert.equal(kept!.stdout.replace(/, \/.*ctags$/m, ''), program!.stdout);
  assert.equal(whole!.stdout.split('\n')[0], kept!.stdout.split('\n')[0]);
  assert.match(whole!.stdout, /tree-sitter [\d.]+\nnode v[\d.]+\n$/);
});

test('serve: greets, takes the default source, ends with 0 on SIGTERM', async () => {
  const args = ['serve', '--default-source', '/checkout', '--port', '0'];
  const env = { TRAWL_ANONYMOUS_ACCESS: 'true', TRAWL_WORKERS: '3' };
  const { child, outcome } = start(args, { env });
  child.stderr?.on('data', (data: Buffer) => {
    if (data.toString().includes('Try: curl')) child.kill('SIGTERM');
  });
  const { code, stdout, stderr } = await outcome;
  assert.equal(code, 0);
  assert.equal(stdout, '');
  assert.match(stderr, /^Serving on http:\/\/127\.0\.0\.1:4711$/m);
  assert.ok(stderr.includes(`Index and accounts are in ${path.resolve('.trawl')}\n`));
  assert.match(stderr, /^  http:\/\/127\.0\.0\.1:4711\/setup\?token=t$/m);
  assert.deepEqual(echoed(stderr, 'closed'), {});
  assert.deepEqual(echoed(stderr, 'serve'), {
    dataDir: '.trawl',
    change: {},
    workers: 3,
    sources: [],
    defaultSource: '/checkout',
    host: '127.0.0.1',
    port: 0,
    isAnonymous: true,
  });
});

test('serve: named sources override the default one; a bad variable is exit 2', async () => {
  const bad = await run(['serve', 'x'], { TRAWL_ANONYMOUS_ACCESS: 'yes' });
  assert.equal(bad.code, 2);
  assert.match(bad.stderr, /TRAWL_ANONYMOUS_ACCESS must be true or false/);
  const { child, outcome } = start(['serve', '--default-source', '/checkout', 'mine']);
  child.stderr?.once('data', () => child.kill('SIGINT'));
  assert.match((await outcome).stderr, /"sources":\["mine"\]/);
});

interface Request {
  readonly url: string | undefined;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
}

/** Runs `use` against a server that answers every request with `status` and `text`. */
async function withServer(
  status: number,
  text: string,
  use: (url: string, requests: readonly Request[]) => Promise<void>,
): Promise<void> {
  const contentType = text.startsWith('data: ') ? 'text/event-stream' : 'application/json';
  const requests: Request[] = [];
  const server = await startPlainServer(({ url, headers }, body, reply) => {
    requests.push({ url, headers, body: JSON.parse(body) });
    reply.writeHead(status, { 'content-type': contentType }).end(text);
  });
  try {
    await use(server.url, requests);
  } finally {
    await server.close();
  }
}

test('search --url: posts the request with the key and prints the answer', async () => {
  const answer = JSON.stringify(response([file('f', [chunk('«b»\n')])]));
  await withServer(200, answer, async (url, requests) => {
    const { code, stdout } = await run(['search', '--url', url, '--matches', '5', 'b'], {
      TRAWL_API_KEY: 'svk_1',
    });
    assert.equal(code, 0);
    assert.equal(stdout, 'r/a:f:1:b\n');
    assert.equal(requests[0]?.url, '/api/search');
    assert.equal(requests[0].headers.authorization, 'Bearer svk_1');
    assert.match(JSON.stringify(requests[0].body), /"matches":5,/);
  });
});

test('search: TRAWL_URL, and a key from a file', async () => {
  const keyFile = path.join(temporaryFolder(), 'key');
  writeFileSync(keyFile, 'svk_2\n');
  await withServer(200, JSON.stringify(response([])), async (url, requests) => {
    const env = { TRAWL_URL: `${url}/`, TRAWL_API_KEY_FILE: keyFile };
    assert.equal((await run(['search', 'b'], env)).code, 1);
    assert.equal(requests[0]?.headers.authorization, 'Bearer svk_2');
  });
});

test('search --url: refusals and other servers are exit 2', async () => {
  await withServer(401, NO_CREDENTIAL, async (url) => {
    const { code, stderr } = await run(['search', '--url', url, 'b']);
    assert.equal(code, 2);
    assert.match(stderr, /^error: no credential .*--api-key or TRAWL_API_KEY.*key create/);
    const wrong = await run(['search', '--url', url, '--api-key', 'svk_1', 'b']);
    assert.equal(wrong.stderr, 'error: no credential\n');
  });
  const { files, ...rest } = response([file('f', [chunk('«b»')])]);
  const others = [
    ...[5, [null], [{ ...files[0], chunks: [{}] }]].map((other) => ({ ...rest, files: other })),
    { ...rest, files, stats: null },
    { query: 1, plan: {}, totals: {}, best: [] },
  ].map((other) => JSON.stringify(other));
  for (const body of ['<html>', ...others])
    await withServer(200, body, async (url) => {
      for (const command of ['search', 'explain']) {
        const { code, stderr } = await run([command, '--url', url, 'b']);
        assert.equal(code, 2);
        assert.match(stderr, /unexpected answer .*HTTP 200; is it a Trawl daemon\?$/m, body);
      }
    });
  const nobody = await run(['search', '--url', 'http://127.0.0.1:1', 'b']);
  assert.equal(nobody.code, 2);
  assert.match(nobody.stderr, /cannot reach http:\/\/127\.0\.0\.1:1/);
});

test('search --json --url: events as they arrive; an end without [DONE] is exit 2', async () => {
  const { stats, files, repositoryInfo } = response([file('f', [chunk('«größe»\n')])]);
  const events = [
    { type: 'chunk', stats, files, repositoryInfo },
    { type: 'final', accumulatedStats: stats, isSearchExhaustive: true },
  ].map((event) => JSON.stringify(event));
  const body = events.map((event) => `data: ${event}\n\n`).join('');
  const lines = events.map((event) => `${event}\n`).join('');
  await withServer(200, `${body}data: [DONE]\n\n`, async (url, requests) => {
    const args = ['search', '--json', '--url', url, 'b'];
    const whole = await run(args, { TRAWL_API_KEY: 'svk_1' });
    assert.deepEqual([whole.code, whole.stdout, whole.stderr], [0, lines, '']);
    assert.equal(requests[0]?.url, '/api/stream_search');
    assert.equal(requests[0].headers.authorization, 'Bearer svk_1');
  });
  await withServer(200, body, async (url) => {
    const cut = await run(['search', '--json', '--url', url, 'b']);
    assert.deepEqual([cut.code, cut.stdout], [2, lines]);
    assert.match(cut.stderr, /the stream ended early/);
  });
  await withServer(401, NO_CREDENTIAL, async (url) => {
    const { code, stderr } = await run(['search', '--json', '--url', url, 'b']);
    assert.equal(code, 2);
    assert.match(stderr, /^error: no credential .*--api-key/);
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
  const kept = path.dirname(REAL_MAIN);
  // Two folders below build/, as the bundle is.
  const copy = mkdtempSync(path.join(kept, '..', 'test-'));
  try {
    const filter = (file: string): boolean => !file.endsWith('.code');
    cpSync(kept, copy, { recursive: true, filter });
    const cache = temporaryFolder();
    const folder = path.join(cache, 'trawl');
    const search = async (env = { XDG_CACHE_HOME: cache, HOME: '' }): Promise<string> => {
      const args = ['search', '--data-dir', path.join(cache, 'none'), 'b'];
      return (await start(args, { main: path.join(copy, 'main.js'), env }).outcome).stderr;
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
  const kept = path.dirname(REAL_MAIN);
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
      assert.match((await start(['--help'], { main }).outcome).stdout, /^Usage: trawl /);
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
    assert.match((await start(['--help'], { main }).outcome).stdout, / CODE /);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
});
