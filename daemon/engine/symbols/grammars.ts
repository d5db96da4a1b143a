// The tree-sitter grammar for each language, and the path of its built file.

import { fileURLToPath } from 'node:url';
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

export function grammarFile(grammar: string): string {
  return fileURLToPath(builtFile(`grammars/${grammar}.wasm`));
}
