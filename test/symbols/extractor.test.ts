// What is found in a sample of each language, by each engine.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ENGINE_NAMES } from '../../daemon/symbols/extractor.ts';
import { CTAGS_VERSION, NO_CTAGS, openTestExtractor, symbolsIn } from './harness.ts';
import { expectedSymbols, SAMPLES, sampleContent, shownSymbols } from './samples.ts';

const extractors = {
  ctags: await openTestExtractor('ctags'),
  'tree-sitter': await openTestExtractor('tree-sitter'),
  patterns: await openTestExtractor('patterns'),
};
after(() => Promise.all(Object.values(extractors).map((extractor) => extractor.close())));

for (const [name, language, engines] of SAMPLES) {
  for (const engine of engines) {
    const skip = engine === 'ctags' && NO_CTAGS;
    test(`${language} by ${engine}`, { skip }, async () => {
      const content = sampleContent(name);
      assert.equal(extractors[engine].engineOf(language), engine);
      const found = shownSymbols(content, await symbolsIn(extractors[engine], language, content));
      // Other versions of ctags find more, but not less.
      if (engine !== 'ctags' || CTAGS_VERSION.startsWith('Universal Ctags 5.9')) {
        assert.deepEqual(found, expectedSymbols(name, engine));
      } else {
        const missing = expectedSymbols(name, 'both').filter((line) => !found.includes(line));
        assert.deepEqual(missing, []);
      }
    });
  }
}

test('a language without an engine has no symbols', async () => {
  for (const extractor of Object.values(extractors)) {
    assert.equal(extractor.engineOf('JSON'), undefined);
    assert.equal(extractor.engineOf(''), undefined);
    assert.deepEqual(await symbolsIn(extractor, 'JSON', Buffer.from('{"class": 1}')), []);
    assert.deepEqual(await symbolsIn(extractor, 'C', new Uint8Array()), []);
  }
});

test('a blank identifier declares nothing; elsewhere it is a name', async () => {
  const cases = [
    [
      'Go',
      'package a\n\nvar _ Shape = plum{}\n\nfunc _() {}\n\nvar pear, _ = two()\n',
      ['a', 'pear'],
    ],
    ['Rust', 'const _: () = assert!(true);\nfn plum() {}\n', ['plum']],
    ['Python', 'def _(text):\n    return text\n', ['_']],
  ] as const;
  for (const [language, text, names] of cases) {
    const content = Buffer.from(text);
    const found = await symbolsIn(extractors['tree-sitter'], language, content);
    const named = found.map(({ start, size }) => content.toString('utf8', start, start + size));
    assert.deepEqual(named, names, language);
  }
});

test('with all engines each language has the better one', { skip: NO_CTAGS }, async (t) => {
  const both = await openTestExtractor(ENGINE_NAMES);
  t.after(() => both.close());
  assert.deepEqual(both.engines, ENGINE_NAMES);
  const languages = ['C', 'Perl', 'Makefile', 'Swift', 'TypeScript', 'Go', 'Vue', 'GraphQL', 'SQL'];
  assert.equal(
    languages.map((language) => both.engineOf(language)).join(' '),
    'ctags ctags ctags tree-sitter tree-sitter tree-sitter tree-sitter patterns patterns',
  );
  for (const [name, language] of SAMPLES) {
    const content = sampleContent(name);
    const engine = both.engineOf(language) ?? 'both';
    const found = shownSymbols(content, await symbolsIn(both, language, content));
    if (engine !== 'ctags') assert.deepEqual(found, expectedSymbols(name, engine));
    else assert.ok(found.length > 0);
  }
  // Too large for tree-sitter.
  const large = Buffer.concat([
    Buffer.alloc(17 << 20, '// nothing\n'),
    Buffer.from('\nfunction f() {}\n'),
  ]);
  assert.equal((await symbolsIn(both, 'JavaScript', large)).length, 1);
});
