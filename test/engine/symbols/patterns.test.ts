// The pattern engine: generated files with known symbols, hidden text against a slow twin, byte positions, and
// contents made to be slow.
// tier: ci (long)

import assert from 'node:assert/strict';
import { cpuUsage } from 'node:process';
import { after, describe, test } from 'node:test';
import * as fc from 'fast-check';
import { hide } from '../../../daemon/engine/symbols/patterns.ts';
import { PATTERN_LANGUAGES } from '../../../daemon/engine/symbols/pattern-tables.ts';
import { openTestExtractor, symbolsIn } from './harness.ts';
import { formatSymbols } from './samples.ts';

const extractor = await openTestExtractor('patterns');
after(() => extractor.close());

const found = async (language: string, content: string | Buffer): Promise<string[]> => {
  const bytes = Buffer.from(content);
  return formatSymbols(bytes, await symbolsIn(extractor, language, bytes));
};

/** A piece of a file, and the lines of its symbols without their numbers. */
interface Fragment {
  readonly text: string;
  readonly symbols: readonly string[];
}

const word = fc
  .tuple(fc.constantFrom('a', 'B', '_c', 'type', 'Map', 'x9', 'message'), fc.nat({ max: 99 }))
  .map(([stem, number]) => `${stem}${number}`);

const joined = (chunks: readonly Fragment[]): Fragment => ({
  text: chunks.map(({ text }) => text).join(''),
  symbols: chunks.flatMap(({ symbols }) => symbols),
});

/** Pieces with anything between them that is no code. */
function among(chunk: fc.Arbitrary<Fragment>, noise: readonly string[]): fc.Arbitrary<Fragment> {
  const some = fc.array(fc.constantFrom('\n', '\r\n', ' ', '\t', ...noise), { maxLength: 3 });
  return fc
    .array(fc.tuple(some, chunk), { maxLength: 6 })
    .map((list) =>
      joined(list.flatMap(([before, one]) => [{ text: before.join(''), symbols: [] }, one])),
    );
}

function block(kind: string, opening: string, name: string, members: Fragment): Fragment {
  const inner = members.symbols.map((line) =>
    line.includes(' in ') ? line : `${line} in ${kind} ${name}`,
  );
  return {
    text: `${opening} ${name}{${members.text}\n}\n`,
    symbols: [`${kind} ${name}`, ...inner],
  };
}

const PROTO_NOISE = ['// message No {\n', '/* enum No { */', 'option a = "message {";\n', ';'];
const protoField = fc
  .tuple(
    fc.constantFrom('string', 'map<a, b.c>', 'repeated .a.b', 'message'),
    word,
    fc.constantFrom('', ' [a = 1, (b).c = {d: 1}]'),
  )
  .map(([type, name, rest]): Fragment => ({
    text: `${type} ${name} = 1${rest};`,
    symbols: [`field ${name}`],
  }));
const protoValue = word.map((name): Fragment => ({
  text: `${name} = -1 [a = 2];\n`,
  symbols: [`enumMember ${name}`],
}));
const protoEnum = fc
  .tuple(word, among(protoValue, PROTO_NOISE))
  .map(([name, members]) => block('enum', 'enum', name, members));
const { message } = fc.letrec<{ message: Fragment }>((tie) => ({
  message: fc
    .tuple(
      word,
      among(fc.oneof({ depthSize: 'small' }, protoField, protoEnum, tie('message')), PROTO_NOISE),
    )
    .map(([name, members]) => block('struct', 'message', name, members)),
}));

test('Protocol Buffer: the symbols of generated files', async () => {
  await fc.assert(
    fc.asyncProperty(
      among(fc.oneof(message, protoEnum), PROTO_NOISE),
      async ({ text, symbols }) => {
        const lines = await found('Protocol Buffer', text);
        assert.deepEqual(
          lines.map((line) => line.replace(/^\d+ /, '')),
          symbols,
        );
      },
    ),
    { numRuns: 300 },
  );
});

/** Comments and texts of Protobuf as spaces, one character after the other. */
function slowlyHidden(text: string): string {
  let end = '';
  let displayed = '';
  for (let i = 0; i < text.length; i++) {
    const two = text.slice(i, i + 2);
    const isEnd = end !== '' && text.startsWith(end, i);
    const isTextsEnd = text[i] === '\n' && end.length === 1;
    if (end === '' && (two === '//' || two === '/*' || text[i] === '"' || text[i] === "'")) {
      end = two === '//' ? '\n' : two === '/*' ? '*/' : text[i]!;
      displayed += end === '*/' || end === '\n' ? '  ' : ' ';
      i += end === '*/' || end === '\n' ? 1 : 0;
    } else if (isEnd || isTextsEnd) {
      displayed += text[i] === '\n' ? '\n' : ' '.repeat(end.length);
      i += isTextsEnd ? 0 : end.length - 1;
      end = '';
    } else if (
      end.length === 1 &&
      end !== '\n' &&
      two.length === 2 &&
      text[i] === '\\' &&
      two[1] !== '\n'
    ) {
      displayed += '  ';
      i++;
    } else displayed += end === '' || text[i] === '\n' ? text[i]! : ' ';
  }
  return displayed;
}

test('hidden text equals that of a slow twin', () => {
  const text = fc.string({
    unit: fc.constantFrom('/', '*', '"', "'", '\\', '\n', 'a', ' '),
    maxLength: 30,
  });
  fc.assert(
    fc.property(text, (content) =>
      assert.equal(hide('Protocol Buffer', content), slowlyHidden(content)),
    ),
    { numRuns: 5000 },
  );
});

test('hiding text does not move anything', () => {
  const chunks = [...PATTERN_LANGUAGES.values()].flatMap(({ hidden }) =>
    hidden.flatMap(({ opens }) => [opens.replaceAll('\\', ''), opens.at(-1)!]),
  );
  const text = fc
    .array(
      fc.constantFrom(...chunks, '\n', '\r\n', '\\', 'a', "'", '"', '$$', '<<A\n', '\nA', '\ufeff'),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.constantFrom(...PATTERN_LANGUAGES.keys()), text, (language, content) => {
      assert.equal(hide(language, content).length, content.length);
    }),
  );
});

test('positions are in bytes, after marks, line ends and characters of all kinds', async () => {
  assert.deepEqual(
    await found('GraphQL', '\ufeff# é\r\n"""\r\nü 𝒜"""\r\ntype A {\r\n  # 名\r\n  b: C\r\n}\r\n'),
    ['4 class A', '6 field b in class A'],
  );
  assert.deepEqual(await found('Dockerfile', '\ufeffFROM a AS b\r\nENV c=é \\\r\n d=1\r\n'), [
    '1 label b',
    '2 variable c',
    '3 variable d',
  ]);
  assert.deepEqual(await found('SQL', "create table größe (länge int, n text default 'é');"), [
    '1 struct größe',
    '1 field länge in struct größe',
    '1 field n in struct größe',
  ]);
  const latin1 = Buffer.from(
    "-- \xfc\ncreate table gr\xf6\xdfe (a int default '\xe9', b int);",
    'latin1',
  );
  const symbols = await symbolsIn(extractor, 'SQL', latin1);
  assert.deepEqual(
    symbols.map(({ start, size }) => latin1.toString('latin1', start, start + size)),
    ['größe', 'a', 'b'],
  );
});

test('unclosed constructs', async () => {
  assert.deepEqual(await found('GraphQL', 'type A { b: C'), ['1 class A', '1 field b in class A']);
  assert.deepEqual(
    await found('Protocol Buffer', '} message A { string b = 1; ) enum C { D = 1;'),
    ['1 struct A', '1 field b in struct A', '1 enum C in struct A', '1 enumMember D in enum C'],
  );
  assert.deepEqual(await found('SQL', 'create table a (b int, c int\ncreate view d as select 1'), [
    '1 struct a',
    '1 field b in struct a',
    '1 field c in struct a',
    '2 struct d',
  ]);
  assert.deepEqual(await found('SQL', "create table a (b int default 'c int, d int)"), [
    '1 struct a',
    '1 field b in struct a',
  ]);
});

test('depth is limited', async () => {
  const lines = await found('Protocol Buffer', 'message A { '.repeat(100_000));
  assert.equal(lines.length, 256);
});

test('names of any length, and overlong ones', async () => {
  const long = 'a'.repeat(1024);
  assert.deepEqual(await found('GraphQL', `scalar ${long} scalar ${long}b scalar C`), [
    `1 type ${long}`,
    '1 type C',
  ]);
});

describe('time is linear in the size', () => {
  const SIZE = 1 << 15;
  const CPU_MS_MAX = 1500;
  const FRAGMENTS =
    '\n|\t|"|\'|`|[|(|{|{(|}|)|\\|\\\n|#|--|/*|$$|$a$|<<A |~r/|"""|a.|a b |a:|a=|@a |type |type A {|extend type A @b(|' +
    'a(b: |message A{|oneof a{|option |extend a.b.|enum A{a=|create |create table |create table a(|create or replace |' +
    'create temp |create definer = |create table a.|create table a(b c,|, a b|, key a |FROM |FROM --a |FROM a AS\n|' +
    'ENV A=1 |ENV A=1 "|ARG a |define x\n|endef\n|a b: c\n|override |defmodule A do\n| defmodule A do\n|def a|  @a |' +
    "x\\\"|\\'|'\\|\ufeff|é|( | (|create table é|a \\|(def |(def ^|(def ^{|(defprotocol A (|(ns |^{a} |data A = |data A = A => |" +
    'data A = forall a |data A where\n |\n a,|class |class A where |a, |a,|{-|{- |module A.|= :+ |create package a as |create package a as procedure b |\nprocedure b is |a :: |\n a |a = |=|forall ';
  for (const language of [
    'Clojure',
    'Dockerfile',
    'Elixir',
    'GraphQL',
    'Haskell',
    'Makefile',
    'Protocol Buffer',
    'SQL',
  ]) {
    test(language, async () => {
      for (const chunk of [' ', 'a', ...FRAGMENTS.split('|')]) {
        const content = Buffer.from(chunk.repeat(SIZE / chunk.length));
        const before = cpuUsage();
        await symbolsIn(extractor, language, content);
        const ms = cpuUsage(before).user / 1000;
        assert.ok(ms < CPU_MS_MAX, `${JSON.stringify(chunk)}: ${ms} ms`);
      }
    });
  }

  const CASES: readonly (readonly [string, string, string])[] = [
    ['Protocol Buffer', 'a field of many parts', `message A{${'a.'.repeat(SIZE / 2)}`],
    ['Protocol Buffer', 'a value of many parts', `enum A{${'a.'.repeat(SIZE / 2)}`],
    ['Protocol Buffer', 'an extended one of many parts', `extend ${'a.'.repeat(SIZE / 2)}`],
    [
      'Elixir',
      'modules that no line ends, each as far to the right as no other',
      Array.from({ length: SIZE / 4 }, (_, index) => {
        const bits = index.toString(2).padStart(15, '0');
        return `${bits.replaceAll('0', ' ').replaceAll('1', '\t')}defmodule A do\n`;
      }).join(''),
    ],
  ];
  for (const [language, title, content] of CASES) {
    test(`${language}: ${title}`, async () => {
      const before = cpuUsage();
      await symbolsIn(extractor, language, Buffer.from(content));
      const ms = cpuUsage(before).user / 1000;
      assert.ok(ms < CPU_MS_MAX, `${ms} ms`);
    });
  }

  test('a line of 1 MB', async () => {
    const one = 'type A{a:B} message A{string b=1;} create table a(b int); ENV a=b ';
    const content = Buffer.from(one.repeat((1 << 20) / one.length));
    for (const language of PATTERN_LANGUAGES.keys()) await symbolsIn(extractor, language, content);
  });

  test('oversized names are excluded', async () => {
    const extraction = await extractor.extract('SQL', Buffer.alloc((16 << 20) + 1, ' '));
    assert.ok('failure' in extraction);
  });
});

test('too many symbols or open brackets give none', async () => {
  for (const content of [`type A{${'a:'.repeat(1 << 20)}`, '{'.repeat(1 << 20)]) {
    const extraction = await extractor.extract('GraphQL', Buffer.from(content));
    assert.equal('failure' in extraction && extraction.failure, 'output');
  }
});

test('a word that only starts like an end does not end a module', async () => {
  const lines = [
    'defmodule A do',
    '  def b, do: 1',
    'endpoint :c',
    '  def d, do: 1',
    'end',
    'def e',
  ];
  assert.deepEqual(await found('Elixir', `${lines.join('\n')}\n`), [
    '1 module A',
    '2 function b in module A',
    '4 function d in module A',
    '6 function e',
  ]);
});
