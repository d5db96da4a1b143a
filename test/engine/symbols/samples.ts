// Samples of languages with the symbols that are in them, checked by hand: `<name>.txt` beside
// `<name>.symbols.txt`, whose lines say which engine finds the symbol, its line, name, kind and parent.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import * as fc from 'fast-check';
import type { EngineName } from '../../../daemon/engine/symbols/extractor.ts';
import type { FoundSymbol } from '../../../daemon/engine/symbols/found.ts';
import { SYMBOL_KINDS } from '../../../daemon/engine/symbols/kinds.ts';

const FOLDER = path.join('test', 'engine', 'symbols', 'samples');

const BOTH = ['ctags', 'tree-sitter'] as const;

/** With the engines that have lines in them. */
export const SAMPLES: readonly (readonly [
  name: string,
  language: string,
  engines: readonly EngineName[],
])[] = [
  ['c', 'C', BOTH],
  ['cpp', 'C++', BOTH],
  ['csharp', 'C#', BOTH],
  ['dart', 'Dart', ['tree-sitter']],
  ['dockerfile', 'Dockerfile', ['patterns']],
  ['elixir', 'Elixir', ['patterns']],
  ['go', 'Go', BOTH],
  ['graphql', 'GraphQL', ['patterns']],
  ['hcl', 'HCL', ['tree-sitter']],
  ['java', 'Java', BOTH],
  ['javascript', 'JavaScript', BOTH],
  ['kotlin', 'Kotlin', BOTH],
  ['lua', 'Lua', BOTH],
  ['makefile', 'Makefile', ['ctags', 'patterns']],
  ['php', 'PHP', BOTH],
  ['protobuf', 'Protocol Buffer', ['patterns']],
  ['python', 'Python', BOTH],
  ['ruby', 'Ruby', BOTH],
  ['rust', 'Rust', BOTH],
  ['scala', 'Scala', ['tree-sitter']],
  ['shell', 'Shell', BOTH],
  ['solidity', 'Solidity', ['tree-sitter']],
  ['sql', 'SQL', ['patterns']],
  ['svelte', 'Svelte', ['tree-sitter']],
  ['swift', 'Swift', ['tree-sitter']],
  ['tsx', 'TSX', BOTH],
  ['typescript', 'TypeScript', BOTH],
  ['vue', 'Vue', ['tree-sitter']],
  ['zig', 'Zig', ['tree-sitter']],
];

export function sampleContent(name: string): Buffer {
  return readFileSync(path.join(FOLDER, `${name}.txt`));
}

/** Samples with a part replaced by other bytes. */
export function fragmentsOf(samples: typeof SAMPLES): fc.Arbitrary<Buffer> {
  return fc
    .tuple(fc.constantFrom(...samples), fc.nat(), fc.nat(), fc.uint8Array({ maxLength: 4 }))
    .map(([[name], a, b, noise]) => {
      const content = sampleContent(name);
      const [start, end] = [a % content.length, b % content.length].sort((x, y) => x - y);
      return Buffer.concat([content.subarray(0, start), noise, content.subarray(end)]);
    });
}

/** The lines of a sample that hold for an engine, without its name; `both`: only those for all of its engines. */
export function expectedSymbols(name: string, engine: EngineName | 'both'): string[] {
  return readFileSync(path.join(FOLDER, `${name}.symbols.txt`), 'utf8')
    .split('\n')
    .map((line) => /^(both|ctags|tree-sitter|patterns) +(.+)$/.exec(line))
    .filter((row) => row !== null && (row[1] === 'both' || row[1] === engine))
    .map((row) => row![2]!);
}

export function formatSymbols(content: Buffer, symbols: readonly FoundSymbol[]): string[] {
  return symbols.map(({ start, size, kind, parent }) => {
    const line = content.subarray(0, start).toString('latin1').split('\n').length;
    const name = content.toString('utf8', start, start + size);
    const clientKey = parent === undefined ? '' : ` in ${SYMBOL_KINDS[parent.kind]} ${parent.name}`;
    return `${line} ${SYMBOL_KINDS[kind]} ${name}${clientKey}`;
  });
}
