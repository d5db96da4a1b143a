// Hints for queries in the syntax of other tools, in blocking answers and streams; for doubtful queries, and
// revisions that are not indexed, only without results.

import assert from 'node:assert/strict';
import test from 'node:test';
import { isDeepStrictEqual } from 'node:util';
import { type Hint, hintsFor, HINTS_MAX } from '../../../daemon/engine/query/hints.ts';
import { parseQuery } from '../../../daemon/engine/query/parser.ts';
import type { SearchRequest } from '../../../daemon/engine/query/request.ts';
import { withCarriageReturns } from '../../../daemon/engine/regex/line-ends.ts';
import { NO_REPOS, SEES_ALL } from '../../../daemon/repos/repo-access.ts';
import { RevisionTable, RevisionWriter } from '../../../daemon/engine/shards/revisions.ts';
import { Engine, repoRecord, requestOf, streamEvents } from '../host/harness.ts';

const raw = String.raw;

/** A query, and the queries of its hints; undefined: only a message. */
const CASES: readonly (readonly [string, ...(string | undefined)[]])[] = [
  ['case:yes foo', 'foo'],
  ['case:yes', undefined],
  ['foo or case:yes', undefined],
  ['case:yes or foo', undefined],
  ['(foo or && )', undefined],
  ['(AND or foo)', undefined],
  ['(case:yes) foo', undefined],
  ['foo -(type:file)', undefined],
  ['(foo type:file) or bar', '(foo ) or bar'],
  ['main() case:yes', 'main()'],
  ['foo type:diff', 'foo'],
  ['foo -type:diff', 'foo'],
  ['foo or - type:x', undefined],
  ['(- case:yes) foo', undefined],
  ['path:src foo', 'file:src foo'],
  ['language:go foo', 'lang:go foo'],
  ['branch:main foo', 'rev:main foo'],
  ['-path:test foo', '-file:test foo'],
  // Each hint has the query that does all of them.
  ['filename:x l:go', 'file:x lang:go'],
  ['path:src/*.ts NOT foo', raw`file:src/.*\.ts$ -content:foo`],
  ['type:"a b" "c d" && x', '"c d" x'],
  ['ext:ts foo', raw`file:\.ts$ foo`],
  ['symbol:main', 'sym:main'],
  ['org:acme foo', 'repo:acme foo'],
  ['regex:foo', 'content:foo'],
  ['a:only foo', 'archived:only foo'],
  ['public:no foo', 'visibility:private foo'],
  ['NOT context:web foo', '-context:web foo'],
  ['foo NOT bar', 'foo -content:bar'],
  ['foo NOT file:test', 'foo -file:test'],
  ['foo !bar', 'foo -content:bar'],
  ['foo -bar', 'foo -content:bar'],
  ['a && b', 'a b'],
  ['a || b', 'a or b'],
  ['/fo+/', 'fo+'],
  ['/a(/', undefined],
  ['/a(/ && path:x', undefined],
  ['repo:x@v1 foo', 'repo:x rev:v1 foo'],
  ['file:src/*.ts foo', raw`file:src/.*\.ts$ foo`],
  ['(path:a or path:b)', '(file:a or file:b)'],
  ['foo.*bar', undefined],
  [raw`\w+Error`, undefined],
  ['[a-z]+x y', undefined],
  ['foo|bar', undefined],
  ['"a b" && path:x', '"a b" file:x'],
  // What is no habit, or is meant as it stands.
  ['foo'],
  ['"case:yes"'],
  ['"a && b"'],
  ['file:.*\\.ts$ foo'],
  ['file:ab*c'],
  ['foo or bar'],
  ['-file:x foo'],
  ['a != b'],
  ['a - b'],
  ['a:x'],
  ['a[i] = b.c'],
  ['"foo.*bar"'],
  ['x++ y**2'],
  ['usr/lib/x'],
];

for (const [text, ...queries] of CASES) {
  test(`hints of ${text}`, () => {
    const hints = hintsFor(text, false);
    assert.deepEqual(new Set(hints.map(({ query }) => query)), new Set(queries));
    assert.ok(hints.length <= HINTS_MAX);
    for (const { message, query, isRegexEnabled = false } of hints) {
      assert.match(message, /^[^ ].*\.$/);
      if (query !== undefined) parseQuery(query, { isRegexEnabled });
    }
  });
}

test('at most three hints for any text; none for overlong text', () => {
  assert.equal(hintsFor('case:yes type:x path:x NOT y !z a && b', false).length, HINTS_MAX);
  for (const text of [
    '(',
    'file:*',
    '!a ',
    'NOT ',
    'repo:a@',
    '"\\',
    '/a',
    'NOT\n ',
    '.*:',
    '[a-',
    'a|b(',
  ])
    assert.ok(hintsFor(text.repeat(1000 / text.length), false).length <= HINTS_MAX);
  assert.notDeepEqual(hintsFor(`NOT ${'x'.repeat(996)}`, false), []);
  assert.deepEqual(hintsFor(`NOT ${'x'.repeat(997)}`, false), []);
});

test('no hint to enable expressions where they are enabled', () => {
  assert.deepEqual(hintsFor('foo.*bar', true), []);
  assert.match(hintsFor('foo.*bar', false)[0]?.message ?? '', /isRegexEnabled/);
});

test('a query of a hint that needs expressions says so, whatever its message is about', () => {
  const needs = (text: string, isRegexEnabled = false) =>
    hintsFor(text, isRegexEnabled).map((hint) => hint.isRegexEnabled);
  assert.deepEqual(needs('/fo+/ && x'), [true, true]);
  assert.deepEqual(needs('regex:fo+'), [true]);
  for (const found of [needs('foo && x'), needs('/fo+/', true), needs('foo.*bar')])
    assert.deepEqual(found, [undefined]);
});

test('a doubtful hint is omitted where the query finds something', () => {
  assert.notDeepEqual(hintsFor('NOT plum', false, true), []);
  assert.notDeepEqual(hintsFor('type:diff plum', false, true), []);
  assert.notDeepEqual(hintsFor('/plum/', false, true), []);
  for (const text of ['foo -bar', 'foo.*bar']) {
    assert.notDeepEqual(hintsFor(text, false), []);
    assert.deepEqual(hintsFor(text, false, true), []);
  }
});

/**
 * The hints of an answer and of a stream, which are the same. A search that takes longer than hints may on a busy machine
 * has fewer: then both are asked again.
 */
async function hintsOf(...requested: Parameters<typeof bothHints>): Promise<readonly Hint[]> {
  for (let remaining = 5; remaining > 0; remaining--) {
    const [answered, streamed] = await bothHints(...requested);
    if (isDeepStrictEqual(answered, streamed)) return answered;
  }
  const [answered, streamed] = await bothHints(...requested);
  assert.deepEqual(streamed, answered);
  return answered;
}

async function bothHints(
  engine: Engine,
  query: string,
  request: Partial<SearchRequest> = {},
  repoAccess = SEES_ALL,
): Promise<readonly [answered: readonly Hint[], streamed: readonly Hint[]]> {
  const answer = await engine.search(query, request, undefined, repoAccess);
  const requested = requestOf(query, { matches: 10, ...request });
  const events = await streamEvents<{ readonly hints?: readonly Hint[] }>(engine.parts, requested, {
    repoAccess,
    eventSizeMax: 1 << 20,
  });
  const { hints } = events.at(-1)!;
  return [answer.hints ?? [], hints ?? []];
}

test('answers and streams have the same hints', async () => {
  await using engine = await Engine.over([{ path: 'a', bytes: Buffer.from('plum !pear\n') }]);
  for (const [query, count] of [
    ['plum !apple', 1],
    ['plum !pear', 1],
    ['apple', 0],
    ['plum -pear', 1],
    ['plum', 0],
  ] as const)
    assert.equal((await hintsOf(engine, query)).length, count, query);
});

test('a revision that is not indexed: the indexed ones, and the query that finds it', async () => {
  await using engine = await Engine.open();
  const repo = {
    ...repoRecord(1, 'host/tree'),
    defaultRevision: 'HEAD',
    defaultBranch: 'refs/heads/main',
  };
  const other = { ...repoRecord(2, 'host/bare'), defaultRevision: 'refs/heads/trunk' };
  const docs = [{ path: 'a', bytes: Buffer.from('plum\n') }];
  const shards = [repo, other].map((one) => engine.shardOf(one, docs));
  engine.publish(shards, [repo, other]);

  const [main] = await hintsOf(engine, 'rev:main (plum)');
  assert.equal(main?.query, 'rev:HEAD (plum)');
  assert.match(main.message, /"main".*indexed: HEAD \(.*\), refs\/heads\/trunk\.$/);
  const [release] = await hintsOf(engine, 'rev:v1 plum');
  assert.equal(release?.query, undefined);
  assert.match(release?.message ?? '', /--branches.* daemon .*--url/);
  // Repos excluded by the query, and hidden ones, are not reported.
  const [narrow] = await hintsOf(engine, 'rev:main plum repo:bare');
  assert.doesNotMatch(narrow?.message ?? 'HEAD', /HEAD/);
  assert.equal(narrow?.query, undefined);
  for (const query of ['rev:trunk plum', 'rev:trunk pear', '-rev:main pear', 'pear'])
    assert.deepEqual(await hintsOf(engine, query), [], query);
});

test('nothing in the default revision: other revisions with matches', async () => {
  await using engine = await Engine.open();
  const names = ['refs/heads/main', 'refs/heads/c'];
  const repo = { ...repoRecord(1, 'host/repo'), defaultRevision: names[0]!, revisions: names };
  const docs = ['plum', 'pear (or) fig'].map((text, docId) => ({
    path: `${docId}.txt`,
    bytes: Buffer.from(`${text}\n`),
  }));
  const shard = engine.shardOf(repo, docs);
  const writer = new RevisionWriter([{ docCount: 2, unstored: [] }]);
  for (const bits of [1, 3]) writer.add([Uint8Array.of(bits)]);
  const table = RevisionTable.open(writer.bytes(), 2, [2]);
  const parts = shard.parts.map((part) => ({ ...part, revisions: table.shards[0] }));
  engine.publish([{ ...shard, parts }], [repo, repoRecord(2, 'host/other')]);
  for (const [query, instead, count] of [
    ['pear', 'rev:* pear', 'is 1 match'],
    ['pear file:1', 'rev:* pear file:1', 'is 1 match'],
    ['file:1', 'rev:* file:1', 'is 1 match'],
    ['pear or kiwi fig', 'rev:* (pear or kiwi fig)', 'is 1 match'],
    ['(or) fig pear', 'rev:* (or) fig pear', 'are 3 matches'],
  ] as const)
    assert.deepEqual(await hintsOf(engine, query), [
      { message: `In other revisions there ${count}.`, query: instead },
    ]);
  for (const query of ['nowhere', 'plum', 'pear -rev:c', 'pear rev:main', 'or pear'])
    assert.deepEqual(await hintsOf(engine, query), [], query);
  // The file is in that revision only.
  assert.deepEqual(await hintsOf(engine, 'rev:c file:1 kiwi'), []);
  assert.deepEqual(await hintsOf(engine, 'file:1 kiwi', { filter: 'rev:c' }), []);
  const repoAccess = { base: new Set([2]), extra: NO_REPOS };
  assert.deepEqual(await hintsOf(engine, 'pear', {}, repoAccess), []);
});

const REGEX = { isRegexEnabled: true };
const EXACT = { isCaseSensitivityEnabled: true };

/** A query without results, its hint, and the query with results. */
const NEAR: readonly (readonly [string, Partial<SearchRequest>, RegExp, string | undefined])[] = [
  [
    'plum repo:nosuch',
    {},
    /^No repository matches repo:nosuch\. Without repo:nosuch there are 2 m/,
    'plum',
  ],
  ['r:nosuch', {}, /^No repository matches repo:nosuch\.$/, undefined],
  [
    'plum repo:empty',
    {},
    /^No file is indexed in the repositories that match repo:empty\. Without/,
    'plum',
  ],
  [
    'plum f:"no such" pear',
    {},
    /^No file matches file:no such\. Without .* there are 3 matches\.$/,
    'plum pear',
  ],
  ['plum lang:go', {}, /^No file has the language of lang:go\. Without/, 'plum'],
  ['plum lang:pyton', {}, /^There is no language "pyton"; similar: lang:python\. Without/, 'plum'],
  ['nowhere lang:pyton', {}, /^There is no language "pyton"; similar: lang:python\.$/, undefined],
  // Blanks in quotation marks are part of the text.
  ['"a plum  pear" file:nosuch', {}, /^No file matches file:nosuch\.$/, undefined],
  ['"a plum pear" file:nosuch', {}, /^No file matches .* 1 match\.$/, '"a plum pear"'],
  // What the filter of the request excludes is not what this filter excludes.
  ['kiwi file:a.txt', { filter: 'file:b' }, /^Without file:a\.txt there/, 'kiwi'],
  ['kiwi file:.*x', {}, /^Without file:\.\*x there is 1 match\.$/, 'kiwi'],
  ['file:a.txt kiwi', {}, /^Without file:a\.txt there/, 'kiwi'],
  [
    'PLUM',
    EXACT,
    /^Without regard to case \(isCaseSensitivityEnabled\) there are 2 matches\.$/,
    undefined,
  ],
  [
    'pear$',
    REGEX,
    /^\$ does not hold before the carriage return of CRLF; .* 1 match\.$/,
    raw`pear\r?$`,
  ],
  ['(pl\\w+ pe..$)', REGEX, /^\$ does not hold/, raw`(pl\w+ pe..\r?$)`],
];

test('no matches: the filter that excludes everything, and the nearest form with matches', async () => {
  await using engine = await Engine.open();
  const [visible, hidden] = [repoRecord(1, 'host/seen'), repoRecord(2, 'host/hidden')];
  const bare = [repoRecord(3, 'host/empty'), repoRecord(4, 'host/hidden-empty')];
  const docs = [
    { path: 'a.txt', bytes: Buffer.from('a plum pear\r\nplum\r\n') },
    { path: 'b.py', bytes: Buffer.from('kiwi\n') },
  ];
  const secret = [{ path: 'a.go', bytes: Buffer.from('plum kiwi secret\n') }];
  const shards = [engine.shardOf(visible, docs), engine.shardOf(hidden, secret)];
  engine.publish(shards, [visible, hidden, ...bare]);
  const repoAccess = { base: new Set([1, 3]), extra: NO_REPOS };
  for (const [query, request, message, instead] of NEAR) {
    const [hint, ...more] = await hintsOf(engine, query, request, repoAccess);
    assert.match(hint?.message ?? '', message, query);
    assert.equal(hint?.query, instead, query);
    assert.deepEqual(more, [], query);
  }
  // What the caller does not see is as if it were not there.
  const [reported] = await hintsOf(engine, 'plum repo:hidden', {}, repoAccess);
  assert.match(
    reported?.message ?? '',
    /^No repository matches repo:hidden\. Without .* 2 matches/,
  );
  for (const query of ['nowhere', 'secret', 'nowhere file:a.txt', 'secret file:b.py'])
    assert.deepEqual(await hintsOf(engine, query, {}, repoAccess), [], query);
  assert.deepEqual(await hintsOf(engine, 'nowhere$', REGEX, repoAccess), []);
  // Without regard to case it has more than 10,000 states.
  const large = '[k-l]{1000}'.repeat(9);
  assert.deepEqual(await hintsOf(engine, large, { ...REGEX, ...EXACT }, repoAccess), []);
});

test('no matches: files too large to search are counted, over any number of repositories', async () => {
  await using engine = await Engine.open();
  const repos = Array.from({ length: 300 }, (_, i) => repoRecord(i + 1, `host/r${i}`));
  const shards = repos.map((repo) =>
    engine.shardOf(repo, [{ path: 'a.txt', bytes: Buffer.from(`plum ${repo.name}\n`) }]),
  );
  engine.publish(shards, repos);
  for (const [repoId, count] of [
    [7, 2],
    [250, 5],
    [300, 1],
  ] as const)
    engine.tooLarge.set(repoId, count);
  const requested = (query: string, repoAccess = SEES_ALL) =>
    hintsOf(engine, query, {}, repoAccess);
  const hintOf = (count: string, name: string) => [
    { message: `${count} not searched: too large; ${name}.`, repo: name.split(' ').at(-1) },
  ];
  assert.deepEqual(await requested('nowhere'), hintOf('8 files are', 'most of them in host/r249'));
  assert.deepEqual(await requested('nowhere repo:r299'), hintOf('1 file is', 'in host/r299'));
  const access = { base: new Set([1, 7, 300]), extra: NO_REPOS };
  assert.deepEqual(
    await requested('nowhere', access),
    hintOf('3 files are', 'most of them in host/r6'),
  );
  // Beside what the query may have meant.
  const [habit, ...unsearched] = await requested('nowhere type:diff');
  assert.equal(habit?.query, 'nowhere');
  assert.deepEqual(unsearched, hintOf('8 files are', 'most of them in host/r249'));
  // With results, without such a file among those searched, or without a content condition.
  for (const query of ['plum', 'nowhere repo:r1$', 'nowhere -repo:.', 'file:nowhere$ lang:go'])
    assert.ok(
      (await requested(query)).every(({ repo }) => repo === undefined),
      query,
    );
});

test('no matches: repositories in scope that are not indexed yet are named, if visible', async () => {
  await using engine = await Engine.open();
  const indexed = repoRecord(1, 'host/a');
  const waiting = [2, 3].map((id) => {
    const { indexedAt: _, ...record } = repoRecord(id, `host/w${id}`);
    return record;
  });
  const shard = engine.shardOf(indexed, [{ path: 'a.txt', bytes: Buffer.from('plum\n') }]);
  engine.publish([shard], [indexed, ...waiting]);
  const requested = async (query: string, repoAccess = SEES_ALL) =>
    (await hintsOf(engine, query, {}, repoAccess)).map(({ message }) => message);
  const both = '2 repositories are not indexed yet, and not searched: host/w2, host/w3.';
  assert.deepEqual(await requested('nowhere'), [both]);
  // What similar queries find says nothing about these repositories.
  assert.deepEqual(await requested('Plum lang:go'), [both]);
  assert.deepEqual(await requested('nowhere repo:w3'), [
    both.replace('2 repositories are', '1 repository is').replace('host/w2, ', ''),
  ]);
  assert.deepEqual(await requested('plum'), []);
  assert.deepEqual(await requested('nowhere', { base: new Set([1]), extra: NO_REPOS }), []);
});

test('matches missing before CRLF: their number', async () => {
  await using engine = await Engine.over([
    { path: 'lf', bytes: Buffer.from('plum;\npear pear\npear\n') },
    { path: 'crlf', bytes: Buffer.from('plum;\r\nplum;\r\npear kiwi\r\n') },
  ]);
  const [hint, ...more] = await hintsOf(engine, 'plum;$', REGEX);
  assert.match(
    hint?.message ?? '',
    /^\$ does not hold .* with \\r\?\$ there are 2 matches more\.$/,
  );
  assert.equal(hint?.query, raw`plum;\r?$`);
  assert.deepEqual(more, []);
  // A carriage return that the expression matches itself, none there, and matches that are cut.
  for (const [query, request] of [
    ['plum.*$', REGEX],
    ['pear$', REGEX],
    ['plum;', REGEX],
    ['plum;$', {}],
    ['pear|plum;$', { ...REGEX, matches: 1 }],
  ] as const)
    assert.deepEqual(await hintsOf(engine, query, request), [], query);
});

test('line ends of an expression: other dollar signs stay', () => {
  for (const [pattern, expected] of [
    ['a$|b$', raw`a\r?$|b\r?$`],
    [raw`\$[$\]$]\Q$\E$`, raw`\$[$\]$]\Q$\E\r?$`],
    ['[]$]$', raw`[]$]\r?$`],
    ['[[:alpha:]$]', '[[:alpha:]$]'],
    [raw`a\r?$`, raw`a\r?$`],
    [raw`\Qa$`, raw`\Qa$`],
  ] as const)
    assert.equal(withCarriageReturns(pattern), expected);
});
