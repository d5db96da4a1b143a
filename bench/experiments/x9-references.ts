// Experiment X9: how many of the places that find_references gives are uses of a name, and not words of comments and
// texts? References are words of the content; tree-sitter says which of them are identifiers. For each language: the
// names that the files below the folders define, their words in these files, and the share that are identifiers.
//   node build/bench/experiments/x9-references.js FOLDER...

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { Language, type Node, Parser } from 'web-tree-sitter';
import { detectLanguage } from '../../daemon/sources/languages/languages.ts';
import { openExtractor } from '../../daemon/engine/symbols/extractor.ts';
import { grammarOf, readGrammar } from '../../daemon/engine/symbols/grammars.ts';
import { type Column, formatTable } from '../../daemon/cli/bench/statistics.ts';

const FILE_SIZE_MAX = 1 << 20;
const WORD = /\w+/g;
/** Shorter names are words of any text. */
const NAME = /^[A-Za-z_]\w{2,}$/;

interface Parsed {
  readonly words: ReadonlyMap<number, string>;
  readonly identifiers: ReadonlySet<number>;
}

interface Counts {
  readonly files: Parsed[];
  readonly names: Set<string>;
}

await Parser.init();
const parser = new Parser();
const grammars = new Map<string, Language>();
const extractor = await openExtractor({
  concurrency: 2,
  fileTimeoutMs: 20_000,
  fileMemoryMax: 1 << 30,
});
const tallies = new Map<string, Counts>();
for (const folder of process.argv.slice(2)) {
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    await read(path.join(folder, name));
}
await extractor.close();
print();

async function read(file: string): Promise<void> {
  const content = readText(file);
  if (content === undefined) return;
  const language = detectLanguage(file, content);
  const grammar = grammarOf(language);
  if (grammar === undefined) return;
  const counts = tallies.get(language) ?? { files: [], names: new Set() };
  tallies.set(language, counts);
  if (counts.files.length >= 400) return;
  const found = await extractor.extract(language, content);
  if (!('symbols' in found)) return;
  for (const { start, size } of found.symbols)
    counts.names.add(content.toString('latin1', start, start + size));
  // One character per byte, so that places equal those of the symbols.
  const text = content.toString('latin1');
  parser.setLanguage(grammars.get(grammar) ?? (await loadGrammar(grammar)));
  const tree = parser.parse(text);
  if (tree === null) return;
  const words = new Map([...text.matchAll(WORD)].map((match) => [match.index, match[0]]));
  counts.files.push({ words, identifiers: identifiersOf(tree.rootNode) });
  tree.delete();
}

function readText(file: string): Buffer | undefined {
  try {
    const content = readFileSync(file);
    return content.length <= FILE_SIZE_MAX && !content.includes(0) ? content : undefined;
  } catch {
    return undefined;
  }
}

async function loadGrammar(name: string): Promise<Language> {
  const language = await Language.load(readGrammar(name));
  grammars.set(name, language);
  return language;
}

/** Starts of the named leaves that are neither comments nor parts of texts. */
function identifiersOf(root: Node): Set<number> {
  const starts = new Set<number>();
  const cursor = root.walk();
  for (let isDone = false; !isDone;) {
    const isText = /comment|string|char|heredoc|text/.test(cursor.nodeType);
    const isCode = !isText || /interpolat|substitution/.test(cursor.nodeType);
    if (isCode && cursor.gotoFirstChild()) continue;
    if (isCode && cursor.nodeIsNamed) starts.add(cursor.startIndex);
    while (!cursor.gotoNextSibling()) {
      if (cursor.gotoParent()) continue;
      isDone = true;
      break;
    }
  }
  cursor.delete();
  return starts;
}

function print(): void {
  const rows = [...tallies].map(([language, { files, names }]) => {
    let all = 0;
    let uses = 0;
    for (const { words, identifiers } of files) {
      for (const [start, word] of words) {
        if (!NAME.test(word) || !names.has(word)) continue;
        all++;
        if (identifiers.has(start)) uses++;
      }
    }
    const share = all === 0 ? '-' : `${((100 * uses) / all).toFixed(1)}%`;
    return [language, ...[files.length, names.size, all, uses].map(String), share];
  });
  const columns = ['files', 'names', 'references', 'identifiers', 'precision'].map(
    (title): Column => ({ title, align: 'right' }),
  );
  process.stdout.write(formatTable([{ title: 'language', align: 'left' }, ...columns], rows));
}
