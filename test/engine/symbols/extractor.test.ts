// The symbols of a sample of each language, by each engine.
// tier: ci (long)

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { ENGINE_NAMES } from '../../../daemon/engine/symbols/extractor.ts';
import { type FoundSymbol, mergeSymbols } from '../../../daemon/engine/symbols/found.ts';
import { CTAGS_VERSION, NO_CTAGS, openTestExtractor, symbolsIn } from './harness.ts';
import { expectedSymbols, SAMPLES, sampleContent, formatSymbols } from './samples.ts';

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
      const found = formatSymbols(content, await symbolsIn(extractors[engine], language, content));
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
    const foundNames = found.map(({ start, size }) =>
      content.toString('utf8', start, start + size),
    );
    assert.deepEqual(foundNames, names, language);
  }
});

test('with all engines each language uses the better one', { skip: NO_CTAGS }, async (t) => {
  const both = await openTestExtractor(ENGINE_NAMES);
  t.after(() => both.close());
  assert.deepEqual(both.engines, ENGINE_NAMES);
  const languages = ['C', 'Perl', 'Makefile', 'Swift', 'TypeScript', 'Go', 'Vue', 'GraphQL', 'SQL'];
  assert.equal(
    languages.map((language) => both.engineOf(language)).join(' '),
    'ctags ctags ctags tree-sitter tree-sitter tree-sitter tree-sitter patterns patterns',
  );
  for (const [, language, engines] of SAMPLES)
    assert.ok(engines.includes(both.engineOf(language)!));
  const content = sampleContent('go');
  const found = formatSymbols(content, await symbolsIn(both, 'Go', content));
  assert.deepEqual(found, expectedSymbols('go', 'tree-sitter'));
  // Too large for tree-sitter.
  const large = Buffer.concat([
    Buffer.alloc(17 << 20, '// nothing\n'),
    Buffer.from('\nfunction f() {}\n'),
  ]);
  assert.equal((await symbolsIn(both, 'JavaScript', large)).length, 1);
});

test('methods of a class expression have the class as parent', async () => {
  for (const language of ['JavaScript', 'TypeScript']) {
    const content = Buffer.from(
      'module.exports = class Handler { handle() {} };\nexports.Baz = class { run() {} };\n',
    );
    const symbols = await symbolsIn(extractors['tree-sitter'], language, content);
    assert.deepEqual(formatSymbols(content, symbols), [
      '1 class Handler',
      '1 method handle in class Handler',
      '2 class Baz',
      '2 method run in class Baz',
    ]);
  }
});

test('TypeScript: a call signature after one without a semicolon does not end the file', async () => {
  const signatures =
    '  <A>(a: A): Effect\n  (b: string): Effect // why\n\n  /** Doc. */\n  <B>(b: B): B\n';
  const content = Buffer.from(
    `export const é: {\n${signatures}  [key: string]: any\n} = f\n` +
      `export interface Call {\r\n  (a: A): void\r\n  <T>(a: T): T\r\n}\r\n` +
      'type Told = `no \\`class ${Usage}<Self>(...)\\``\n' +
      'export const after = 1\nexport class Last<in out A> {}\n',
  );
  for (const language of ['TypeScript', 'TSX']) {
    const found = await symbolsIn(extractors['tree-sitter'], language, content);
    assert.deepEqual(formatSymbols(content, found), [
      '1 constant é',
      '9 interface Call',
      '13 type Told',
      '14 constant after',
      '15 class Last',
    ]);
  }
});

const linesOf = async (
  engine: keyof typeof extractors,
  language: string,
  text: string | Buffer,
): Promise<string[]> => {
  const content = Buffer.from(text);
  return formatSymbols(content, await symbolsIn(extractors[engine], language, content));
};

test(
  'headings have the heading above them as parent, whatever is in it',
  { skip: NO_CTAGS },
  async () => {
    const markdown = '# Top v1.2\n## Use a::b\n### Why c/d\n## Say "hi"\n### Last\n';
    assert.deepEqual(await linesOf('ctags', 'Markdown', markdown), [
      '1 section Top v1.2',
      '2 section Use a::b in section Top v1.2',
      '3 section Why c/d in section Use a::b',
      '4 section Say "hi" in section Top v1.2',
      '5 section Last in section Say "hi"',
    ]);
    const tex = '\\section{Top v1.2}\n\\subsection{Use a.b}\n\\subsubsection{Last}\n';
    assert.deepEqual(await linesOf('ctags', 'TeX', tex), [
      '1 section Top v1.2',
      '2 section Use a.b in section Top v1.2',
      '3 section Last in section Use a.b',
    ]);
    const title = (text: string, line: string): string =>
      `${text}\n${line.repeat(text.length)}\n\n`;
    const rst = `${title('Top v1.2', '=')}${title('Use a.b', '-')}${title('Last', '~')}`;
    assert.deepEqual(await linesOf('ctags', 'reStructuredText', rst), [
      '1 section Top v1.2',
      '4 section Use a.b in section Top v1.2',
      '7 section Last in section Use a.b',
    ]);
  },
);

test('PHP: define() in double quotes, and of the global namespace', async () => {
  const php = `<?php\ndefine("PLUM", 1);\n\\define('PEAR', 2);\n\\a\\define('FIG', 3);\n`;
  assert.deepEqual(await linesOf('tree-sitter', 'PHP', php), [
    '2 constant PLUM',
    '3 constant PEAR',
  ]);
});

test('kinds that ctags names otherwise', { skip: NO_CTAGS }, async () => {
  const objc = '@interface Plum\n+ (int)make:(int)size;\n- (void)go;\n@end\n';
  assert.deepEqual(await linesOf('ctags', 'Objective-C', objc), [
    '1 class Plum',
    '2 method make: in class Plum',
    '3 method go in class Plum',
  ]);
  assert.deepEqual(await linesOf('ctags', 'Emacs Lisp', "(defalias 'plum #'pear)\n"), [
    '1 function plum',
  ]);
  const cobol = ['WORKING-STORAGE SECTION.', '01 REC.', '   05 ITEM PIC 9.'];
  assert.deepEqual(
    await linesOf('ctags', 'COBOL', cobol.map((line) => `       ${line}\n`).join('')),
    ['1 section WORKING-STORAGE', '2 other REC', '3 other ITEM in other REC'],
  );
});

test('names outside ASCII of parents, of selectors, and beside a bad byte', async (t) => {
  const java =
    'class Größe { int länge; }\nclass Größer { Größer() {} class Öl { int dichte; } }\n';
  const expected = [
    '1 class Größe',
    '1 field länge in class Größe',
    '2 class Größer',
    '2 constructor Größer in class Größer',
    '2 class Öl in class Größer',
    '2 field dichte in class Öl',
  ];
  assert.deepEqual(await linesOf('tree-sitter', 'Java', java), expected);
  const python = Buffer.concat([
    Buffer.from([0x23, 0x20, 0xff, 0xe2, 0x82, 0x0a]),
    Buffer.from('class Größe4:\n    def maß(self): pass\n'),
    Buffer.from('def länge(): pass\n', 'latin1'),
    Buffer.from('def 名前(): pass\n'),
  ]);
  assert.deepEqual(await linesOf('tree-sitter', 'Python', python), [
    '2 class Größe4',
    '3 method maß in class Größe4',
    '4 function l\ufffdnge',
    '5 function 名前',
  ]);
  if (NO_CTAGS) return t.diagnostic(NO_CTAGS);
  assert.deepEqual(await linesOf('ctags', 'Java', java), expected);
  assert.deepEqual(await linesOf('ctags', 'C++', 'int Öl::größe() { return 1; }\n'), [
    '1 method größe in class Öl',
  ]);
  assert.deepEqual(await linesOf('ctags', 'C', 'typedef struct { int länge; } Größe;\n'), [
    '1 field länge in type Größe',
    '1 type Größe',
  ]);
  for (const language of ['CSS', 'SCSS'])
    assert.deepEqual(await linesOf('ctags', language, '.été-bar { color: red }\n'), [
      '1 class .été-bar',
    ]);
});

test('names on long lines that are not words', { skip: NO_CTAGS }, async () => {
  const css = Array.from({ length: 200 }, (_, i) => `.c${i}{top:0}.c${i} .d{top:0}`).join('');
  const names = Array.from({ length: 200 }, (_, i) => [`1 class .c${i}`, `1 class .c${i} .d`]);
  assert.deepEqual(await linesOf('ctags', 'CSS', css), names.flat());
  const gap = `/*${'-'.repeat(1000)}*/`;
  const classes = `class Lc1 { ~Lc1(); Lc1 &operator+=(int a) { return *this; } }; ${gap}\n`;
  const found = await linesOf('ctags', 'C++', `${classes}Lc1::~Lc1() {} ${gap}\n`);
  assert.deepEqual(found, [
    '1 class Lc1',
    '1 method operator+= in class Lc1',
    '2 method ~Lc1 in class Lc1',
  ]);
  const heading = `A title: ${'x'.repeat(1000)}`;
  assert.deepEqual(await linesOf('ctags', 'Markdown', `# ${heading}\n`), [`1 section ${heading}`]);
});

test('large parts that tree-sitter cannot parse are reported', async () => {
  const unknown = '@@ '.repeat(160);
  const content = Buffer.from(`function é() {}\n${unknown}\nfunction b() {}\n`);
  const extraction = await extractors['tree-sitter'].extract('JavaScript', content);
  assert.ok('symbols' in extraction);
  assert.deepEqual(formatSymbols(content, extraction.symbols), ['1 function é', '3 function b']);
  assert.equal(extraction.unread?.length, 1);
  const { start = 0, end = 0 } = extraction.unread[0] ?? {};
  assert.ok(start >= 17 && start < 40 && end > 480 && end <= 497, `${start} to ${end}`);
});

test('symbols that ctags loses after an unclosed brace are found', { skip: NO_CTAGS }, async () => {
  const extractor = await openTestExtractor(['ctags', 'tree-sitter']);
  const content = Buffer.from(
    'int a(void) { return 1; }\nint b(int x)\n{\n  if (x) {\n    return 1;\n\n}\n\nvoid c(void)\n{\n}\n',
  );
  const extraction = await extractor.extract('C', content);
  await extractor.close();
  assert.ok('symbols' in extraction);
  const found = ['1 function a', '2 function b', '9 function c in function b'];
  assert.deepEqual(formatSymbols(content, extraction.symbols), found);
  assert.deepEqual(extraction.unread, [{ start: 26, end: content.length }]);
});

test('symbols of another engine are used in unparsed parts only', () => {
  const at = (start: number, size: number): FoundSymbol => ({ start, size, kind: 0 });
  const found = { symbols: [at(0, 5), at(50, 5)], unread: [{ start: 10, end: 60 }] };
  const others = [at(0, 5), at(8, 4), at(10, 2), at(48, 4), at(52, 2), at(55, 5), at(61, 3)];
  assert.deepEqual(mergeSymbols(found, others), [at(0, 5), at(10, 2), at(50, 5), at(55, 5)]);
});
