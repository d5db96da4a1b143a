// Scripts in components of Vue and Svelte: their language, and that each symbol keeps its position.

import assert from 'node:assert/strict';
import { cpuUsage } from 'node:process';
import { after, test } from 'node:test';
import * as fc from 'fast-check';
import { scriptOf } from '../../../daemon/engine/symbols/scripts.ts';
import { openTestExtractor, symbolsIn } from './harness.ts';
import { formatSymbols } from './samples.ts';

const extractor = await openTestExtractor('tree-sitter');
after(() => extractor.close());

const found = async (content: string): Promise<string[]> => {
  const bytes = Buffer.from(content);
  return formatSymbols(bytes, await symbolsIn(extractor, 'Vue', bytes));
};

test('the language is that of the tags', () => {
  const languageOf = (content: string): string => scriptOf('Vue', Buffer.from(content)).language;
  assert.equal(languageOf('<script>a</script>'), 'JavaScript');
  assert.equal(languageOf('<script setup lang="ts">a</script>'), 'TypeScript');
  assert.equal(languageOf('<script>a</script><script lang=typescript >b</script>'), 'TypeScript');
  assert.equal(languageOf("<script lang='tsx'>a</script>"), 'TSX');
  assert.equal(languageOf('<script lang="jsx">a</script><script lang="ts">b</script>'), 'TSX');
  assert.equal(languageOf('<SCRIPT LANG="JSX">a</SCRIPT>'), 'JSX');
  assert.deepEqual(scriptOf('C', Buffer.from('int a;')).language, 'C');
});

test('symbols keep their positions', async () => {
  const lines = '\ufeff<template>é "</template>\r\n<script lang="ts" generic="T extends A<B>">\r\n';
  assert.deepEqual(await found(`${lines}const größe = 1;\r\nfunction f() {}\r\n</script>\r\n`), [
    '3 constant größe',
    '4 function f',
  ]);
});

test('content that is not a script', async () => {
  assert.deepEqual(await found('<template>let a = 1</template><style>function b() {}</style>'), []);
  assert.deepEqual(await found('<!-- <script>let a = 1</script> --><scripts>let b</scripts>'), []);
  assert.deepEqual(await found('<script type="application/json">{"a": 1}</script>'), []);
  assert.deepEqual(await found('<script type="module">let a = 1</script>'), ['1 variable a']);
  assert.deepEqual(await found('<script type = "module">let a = 1</script>'), ['1 variable a']);
  assert.deepEqual(await found('<script type = "importmap">let a = 1</script>'), []);
  assert.deepEqual(await found('<script src="./a.js" />\n<script>let a = 1</script>'), [
    '2 variable a',
  ]);
  assert.deepEqual(await found('<script>let a = 1'), ['1 variable a']);
  assert.deepEqual(await found('<script lang="ts'), []);
});

test('everything but scripts becomes spaces, and nothing moves', () => {
  const chunk = fc.constantFrom(
    '<script',
    '<script>',
    '</script>',
    '<!--',
    '-->',
    '"',
    "'",
    '>',
    ' ',
    '\n',
    'é',
    'a',
  );
  fc.assert(
    fc.property(fc.array(chunk), (chunks) => {
      const content = Buffer.from(chunks.join(''));
      const { content: script } = scriptOf('Svelte', content);
      if (script.length === 0) return;
      assert.equal(script.length, content.length);
      script.forEach((byte, i) => assert.ok(byte === content[i] || byte === 32));
      content.forEach((byte, i) => assert.equal(script[i] === 10, byte === 10));
    }),
    { numRuns: 2000 },
  );
});

test('megabytes that never close', () => {
  for (const chunk of [
    '<script',
    '<script "',
    '<script >',
    '<!--',
    '<script a="',
    `<script '"`,
    'a ',
    '"a"',
  ]) {
    const content = Buffer.from(`<script ${chunk.repeat((5 << 20) / chunk.length)}`);
    const before = cpuUsage();
    scriptOf('Vue', content);
    assert.ok(cpuUsage(before).user < 5e6, chunk);
  }
});
