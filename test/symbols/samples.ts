// Samples of languages with the symbols that are in them, checked by hand: `<name>.txt` beside
// `<name>.symbols.txt`, whose lines say which engine finds the symbol, its line, name, kind and parent.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import type { FoundSymbol } from '../../daemon/symbols/found.ts';
import { SYMBOL_KINDS } from '../../daemon/symbols/kinds.ts';

const FOLDER = path.join('test', 'symbols', 'samples');

export const SAMPLES: readonly (readonly [name: string, language: string])[] = [
  ['c', 'C'],
  ['cpp', 'C++'],
  ['csharp', 'C#'],
  ['go', 'Go'],
  ['java', 'Java'],
  ['javascript', 'JavaScript'],
  ['kotlin', 'Kotlin'],
  ['lua', 'Lua'],
  ['php', 'PHP'],
  ['python', 'Python'],
  ['ruby', 'Ruby'],
  ['rust', 'Rust'],
  ['scala', 'Scala'],
  ['shell', 'Shell'],
  ['swift', 'Swift'],
  ['tsx', 'TSX'],
  ['typescript', 'TypeScript'],
];

export function sampleContent(name: string): Buffer {
  return readFileSync(path.join(FOLDER, `${name}.txt`));
}

/** The lines of a sample that hold for an engine, without its name; `both`: only those for both engines. */
export function expectedSymbols(name: string, engine: 'ctags' | 'tree-sitter' | 'both'): string[] {
  return readFileSync(path.join(FOLDER, `${name}.symbols.txt`), 'utf8')
    .split('\n')
    .map((line) => /^(both|ctags|tree-sitter) +(.+)$/.exec(line))
    .filter((row) => row !== null && (row[1] === 'both' || row[1] === engine))
    .map((row) => row![2]!);
}

/** Symbols as lines of those files. */
export function shownSymbols(content: Buffer, symbols: readonly FoundSymbol[]): string[] {
  return symbols.map(({ start, size, kind, parent }) => {
    const line = content.subarray(0, start).toString('latin1').split('\n').length;
    const name = content.toString('utf8', start, start + size);
    const holder = parent === undefined ? '' : ` in ${SYMBOL_KINDS[parent.kind]} ${parent.name}`;
    return `${line} ${SYMBOL_KINDS[kind]} ${name}${holder}`;
  });
}
