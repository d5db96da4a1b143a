// Hostile contents: each loses only its own symbols.
// tier: ci (long)

import assert from 'node:assert/strict';
import { cpuUsage } from 'node:process';
import { after, before, describe, test } from 'node:test';
import * as fc from 'fast-check';
import type { EngineName, Extractor } from '../../../daemon/engine/symbols/extractor.ts';
import { NO_CTAGS, openTestExtractor, symbolsIn } from './harness.ts';
import { fragmentsOf, SAMPLES } from './samples.ts';

const GOOD = Buffer.from('int good(void) { return 1; }\n');

for (const engine of ['ctags', 'tree-sitter'] as const satisfies EngineName[]) {
  describe(engine, { skip: engine === 'ctags' && NO_CTAGS }, () => {
    let extractor: Extractor;
    before(async () => {
      extractor = await openTestExtractor(engine);
    });
    after(() => extractor.close());

    const names = async (language: string, content: string | Buffer): Promise<string[]> => {
      const bytes = Buffer.from(content);
      const symbols = await symbolsIn(extractor, language, bytes);
      return symbols.map(({ start, size }) => bytes.toString('utf8', start, start + size));
    };

    test('all kinds of line ends, marks and bytes', async () => {
      assert.deepEqual(await names('C', 'int a;\r\nint b(void)\r\n{\r\n}\r\n'), ['a', 'b']);
      assert.deepEqual(await names('C', 'int a; int b;'), ['a', 'b']);
      assert.deepEqual(await names('C', '\ufeffint a;\nint b;\n'), ['a', 'b']);
      assert.deepEqual(await names('Python', '\ufeffdef a(): pass\n'), ['a']);
      const latin1 = Buffer.from(
        '/* é */\nint a; // ü\nchar *b = "ß";\nint c(void) { return 0; }\n',
        'latin1',
      );
      assert.deepEqual(await names('C', latin1), ['a', 'b', 'c']);
    });

    test('names outside of ASCII are found with all their bytes', async () => {
      assert.deepEqual(await names('Python', '# äöü\ndef größe(): pass\nclass Ärger: pass\n'), [
        'größe',
        'Ärger',
      ]);
      assert.deepEqual(await names('Java', 'class Größe { int länge; }\n'), ['Größe', 'länge']);
      assert.deepEqual(await names('JavaScript', 'function 名前() {}\nclass 𝒜 {}\n'), [
        '名前',
        '𝒜',
      ]);
    });

    test('names on the same line stay separate', async () => {
      const content =
        'typedef struct node node; struct node { struct node *node; }; node node_of(node node) { return node; }\n';
      const symbols = await symbolsIn(extractor, 'C', Buffer.from(content));
      const starts = symbols.map(({ start }) => start);
      assert.deepEqual(starts, [
        content.indexOf('node;'),
        content.indexOf('node {'),
        content.indexOf('node; }'),
        content.indexOf('node_of'),
      ]);
    });

    test('a value on the same line is not where the name is declared', async () => {
      const content = 'int z = y, y = 2, (*f)(int) = -g, g;\n';
      const symbols = await symbolsIn(extractor, 'C', Buffer.from(content));
      const starts = symbols.map(({ start }) => start);
      assert.deepEqual(
        starts,
        ['z =', 'y =', 'f)', 'g;'].map((name) => content.indexOf(name)),
      );
    });

    test('a name behind a comment that has it too', async () => {
      const content = 'typedef struct { int a; } /* foo */ foo;\nint /* old: n */ n;\n';
      const symbols = await symbolsIn(extractor, 'C', Buffer.from(content));
      const starts = symbols.map(({ start }) => start);
      for (const name of ['foo;', 'n;\n']) assert.ok(starts.includes(content.indexOf(name)), name);
    });

    test('a line of a megabyte', async () => {
      const parts = Array.from(
        { length: 20_000 },
        (_, i) => `function f${i}(a,b){return a+b}var v${i}=${i};`,
      );
      const found = await names('JavaScript', parts.join(''));
      assert.equal(found.length, 40_000);
      assert.equal(found[39_999], 'v19999');
    });

    test('one name on a line, and unnamed structs in each other, in linear time', async () => {
      const nested = `${'struct{int x;'.repeat(600)}${'}a;'.repeat(600)}\n`;
      for (const content of ['int a;'.repeat(60_000), nested]) {
        const before = cpuUsage();
        const outcome = await extractor.extract('C', Buffer.from(content));
        if ('symbols' in outcome) assert.ok(outcome.symbols.length > 0);
        assert.ok(cpuUsage(before).user < 15e6, content.slice(0, 10));
      }
    });

    test('a hundred thousand nested brackets', async () => {
      const deep = `int a; int x = ${'('.repeat(100_000)}1${')'.repeat(100_000)}; int b;\n`;
      const outcome = await extractor.extract('C', Buffer.from(deep));
      if ('symbols' in outcome) assert.ok(outcome.symbols.length > 0);
      const json = `const a = ${'['.repeat(50_000)}${']'.repeat(50_000)};`;
      await extractor.extract('TypeScript', Buffer.from(json));
      assert.deepEqual(await names('C', GOOD), ['good']);
    });

    test('a file parsed as another language: names whose ends precede their starts', async () => {
      const ruby = [
        "# A library.\nrequire 'set'\n\nmodule Library\n  VERSION = '1.0'\n\n  class A1\n    end\n\n",
        '    def open?\n      true\n    end\n\n    def ==(other)\n      title == other.title\n    end\n\n',
        '    def self.find(id)\n      new(id)\n    end\n\n    alias name title\n\n    private\n\n',
        '    def secret=(value); end\n  end\n\n  class Library::Shelf; end\nend\n\ndef helper\nend\n',
      ];
      await symbolsIn(extractor, 'Python', Buffer.from(ruby.join('')));
    });

    test('a name stretched over earlier lines by error recovery is dropped', async () => {
      const lua = 'end \n\nM.later = function(x) return x end\n\nreturn M\n';
      await symbolsIn(extractor, 'Lua', Buffer.from(lua));
    });

    test('random fragments of every language', async () => {
      const bytes = fc.oneof(fc.uint8Array({ maxLength: 300 }), fragmentsOf(SAMPLES));
      const languages = SAMPLES.map(([, language]) => language);
      await fc.assert(
        fc.asyncProperty(bytes, fc.constantFrom(...languages), async (content, language) => {
          const text = content.map((byte) => (byte === 0 ? 32 : byte));
          // Whatever it is, it is in order, and no failure.
          await symbolsIn(extractor, language, text);
        }),
        { numRuns: 400 },
      );
    });

    test('concurrent requests get their own answers', async () => {
      const found = await Promise.all(
        Array.from({ length: 200 }, (_, i) => names('C', `int a${i};\n`.repeat(1 + (i % 7)))),
      );
      found.forEach((list, i) => assert.equal(list[0], `a${i}`));
    });

    test('a closed extractor refuses requests, and does not hang', async () => {
      const closed = await openTestExtractor(engine);
      const running = closed.extract('C', GOOD);
      const waiting = Array.from({ length: 10 }, () => closed.extract('C', GOOD));
      const settled = Promise.allSettled([running, ...waiting]);
      await closed.close();
      await settled;
      await assert.rejects(closed.extract('C', GOOD));
    });
  });
}
