// Files whose definitions are marked at the ends of their lines, in forms that parsers often miss: the results of the
// best engines are compared with the marks.

import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { after, test } from 'node:test';
import { openTestExtractor, symbolsIn } from './harness.ts';
import { formatSymbols } from './samples.ts';

const FOLDER = path.join('test', 'engine', 'symbols', 'marked');

const LANGUAGES: ReadonlyMap<string, string> = new Map([
  ['clojure', 'Clojure'],
  ['csharp', 'C#'],
  ['haskell', 'Haskell'],
  ['java', 'Java'],
  ['javascript', 'JavaScript'],
  ['kotlin', 'Kotlin'],
  ['ruby', 'Ruby'],
  ['typescript', 'TypeScript'],
]);

/** `// = first second`, in the form of the language's comments. */
const MARK = /(?:\/\/|#|;|-- )= (.*)$/;

// Without ctags, so that the outcome is the same everywhere.
const extractor = await openTestExtractor(['tree-sitter', 'patterns']);
after(() => extractor.close());

for (const file of readdirSync(FOLDER)) {
  test(file, async () => {
    const content = readFileSync(path.join(FOLDER, file));
    const marked = content
      .toString()
      .split('\n')
      .flatMap((line, index) =>
        (MARK.exec(line)?.[1]?.match(/`[^`]+`|\S+/g) ?? []).map((name) => `${index + 1} ${name}`),
      );
    const symbols = await symbolsIn(extractor, LANGUAGES.get(file.split('-')[0]!)!, content);
    const found = formatSymbols(content, symbols).map((line) =>
      line.replace(/^(\d+) \w+ (.*?)(?: in \w+ \S+)?$/, '$1 $2'),
    );
    assert.deepEqual(found.sort(), marked.sort());
  });
}
