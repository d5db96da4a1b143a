// The tree-sitter grammar for each language; the files of grammars and parser, which scripts/grammars.mjs writes.

import { existsSync, readFileSync } from 'node:fs';
import { brotliDecompressSync } from 'node:zlib';
import { builtFile } from '../../base/program-files.ts';

const GRAMMARS: Readonly<Record<string, string>> = {
  C: 'c',
  'C++': 'cpp',
  'C#': 'c_sharp',
  Cuda: 'cpp',
  Dart: 'dart',
  Go: 'go',
  HCL: 'hcl',
  JSX: 'javascript',
  Java: 'java',
  JavaScript: 'javascript',
  Kotlin: 'kotlin',
  Lua: 'lua',
  PHP: 'php',
  Python: 'python',
  Ruby: 'ruby',
  Rust: 'rust',
  Scala: 'scala',
  Shell: 'bash',
  Solidity: 'solidity',
  Starlark: 'python',
  Swift: 'swift',
  TSX: 'tsx',
  TypeScript: 'typescript',
  Zig: 'zig',
};

export function grammarOf(language: string): string | undefined {
  return GRAMMARS[language];
}

export const TREE_LANGUAGES: readonly string[] = Object.keys(GRAMMARS);

const VERSION_FILE = builtFile('grammars/parser-version.txt');

/** Version of the parser library; undefined: the grammars are missing. */
export function parserVersion(): string | undefined {
  return existsSync(VERSION_FILE) ? readFileSync(VERSION_FILE, 'utf8') : undefined;
}

/** WebAssembly, as `readGrammar`. Errors: those of the file system if the build is incomplete. */
export function readParser(): Uint8Array {
  return readFileSync(builtFile('grammars/parser.wasm'));
}

export function readGrammar(grammar: string): Uint8Array {
  return brotliDecompressSync(readFileSync(builtFile(`grammars/${grammar}.wasm.br`)));
}
