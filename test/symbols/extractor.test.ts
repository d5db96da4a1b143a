// What is found in a sample of each language, by each engine.

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { CTAGS_VERSION, NO_CTAGS, openTestExtractor, symbolsIn } from './harness.ts';
import { expectedSymbols, SAMPLES, sampleContent, shownSymbols } from './samples.ts';

const ctags = await openTestExtractor('ctags');
const treeSitter = await openTestExtractor('tree-sitter');
after(() => Promise.all([ctags.close(), treeSitter.close()]));

/** Languages that the ctags of the samples does not know. */
const WITHOUT_CTAGS = new Set(['Scala', 'Swift']);

for (const [name, language] of SAMPLES) {
  test(`${language} by tree-sitter`, async () => {
    const content = sampleContent(name);
    assert.equal(treeSitter.engineOf(language), 'tree-sitter');
    const found = await symbolsIn(treeSitter, language, content);
    assert.deepEqual(shownSymbols(content, found), expectedSymbols(name, 'tree-sitter'));
  });

  test(`${language} by ctags`, { skip: NO_CTAGS || WITHOUT_CTAGS.has(language) }, async () => {
    const content = sampleContent(name);
    assert.equal(ctags.engineOf(language), 'ctags');
    const found = shownSymbols(content, await symbolsIn(ctags, language, content));
    // Other versions find more, but not less.
    if (CTAGS_VERSION.startsWith('Universal Ctags 5.9')) {
      assert.deepEqual(found, expectedSymbols(name, 'ctags'));
    } else {
      const missing = expectedSymbols(name, 'both').filter((line) => !found.includes(line));
      assert.deepEqual(missing, []);
    }
  });
}

test('a language without an engine has no symbols', async () => {
  for (const extractor of [ctags, treeSitter]) {
    assert.equal(extractor.engineOf('JSON'), undefined);
    assert.equal(extractor.engineOf(''), undefined);
    assert.deepEqual(await symbolsIn(extractor, 'JSON', Buffer.from('{"class": 1}')), []);
    assert.deepEqual(await symbolsIn(extractor, 'C', new Uint8Array()), []);
  }
});

test('with both engines each language has the better one', { skip: NO_CTAGS }, async (t) => {
  const both = await openTestExtractor(['ctags', 'tree-sitter']);
  t.after(() => both.close());
  assert.deepEqual(both.engines, ['ctags', 'tree-sitter']);
  const languages = ['C', 'Perl', 'Swift', 'TypeScript', 'Go'];
  assert.deepEqual(
    languages.map((language) => both.engineOf(language)),
    ['ctags', 'ctags', 'tree-sitter', 'tree-sitter', 'tree-sitter'],
  );
  for (const [name, language] of SAMPLES) {
    const content = sampleContent(name);
    const engine = both.engineOf(language) ?? 'both';
    const found = shownSymbols(content, await symbolsIn(both, language, content));
    if (engine === 'tree-sitter') assert.deepEqual(found, expectedSymbols(name, engine));
    else assert.ok(found.length > 0);
  }
  // Too large for tree-sitter.
  const large = Buffer.concat([
    Buffer.alloc(17 << 20, '// nothing\n'),
    Buffer.from('\nfunction f() {}\n'),
  ]);
  assert.equal((await symbolsIn(both, 'JavaScript', large)).length, 1);
});
