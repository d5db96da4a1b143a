// The ctags parser for each language, and our names for its kinds. Data languages (JSON, XML) are excluded: every key would be
// a symbol.

import type { SymbolKind } from './kinds.ts';

/** Parser by language, where the name differs; the rest is in SAME_NAMES. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
  AsciiDoc: 'Asciidoc',
  Assembly: 'Asm',
  Batchfile: 'DosBatch',
  COBOL: 'Cobol',
  'Common Lisp': 'Lisp',
  Cuda: 'CUDA',
  'Emacs Lisp': 'EmacsLisp',
  'Fortran Free Form': 'Fortran',
  HCL: 'Terraform',
  JSX: 'JavaScript',
  'Linker Script': 'LdScript',
  M4Sugar: 'M4',
  MATLAB: 'MatLab',
  Makefile: 'Make',
  'Motorola 68K Assembly': 'Asm',
  'Objective-C': 'ObjectiveC',
  'Objective-C++': 'ObjectiveC',
  PLSQL: 'SQL',
  PLpgSQL: 'SQL',
  'Protocol Buffer': 'Protobuf',
  Puppet: 'PuppetManifest',
  Racket: 'Scheme',
  Raku: 'Perl6',
  RobotFramework: 'Robot',
  SQLPL: 'SQL',
  Shell: 'Sh',
  'Standard ML': 'SML',
  Starlark: 'Python',
  TSQL: 'SQL',
  TSX: 'TypeScript',
  TeX: 'Tex',
  'Unix Assembly': 'Asm',
  'Vim script': 'Vim',
  Yacc: 'YACC',
  reStructuredText: 'ReStructuredText',
};

const SAME_NAMES: ReadonlySet<string> = new Set(
  (
    'Ada AutoIt Awk C C++ C# CMake CSS Clojure D Eiffel Elixir Elm Erlang Fortran Go GraphQL HTML Haskell Haxe Java ' +
    'JavaScript Julia Kotlin Lua M4 Markdown Meson NSIS OCaml PHP Pascal Perl PowerShell Python R REXX Ruby Rust ' +
    'SCSS SQL Scheme SystemVerilog Tcl Thrift TypeScript VHDL Verilog Zephir'
  ).split(' '),
);

export function ctagsParserOf(language: string): string | undefined {
  return SAME_NAMES.has(language) ? language : OTHER_NAMES[language];
}

/** Parsers that end an identifier at a non-ASCII byte. */
export const ASCII_PARSERS: ReadonlySet<string> = new Set(
  'C C++ C# CSS CUDA D Java ObjectiveC SCSS'.split(' '),
);

/** Parsers of languages where the type precedes the declared name. */
export const TYPE_FIRST_PARSERS: ReadonlySet<string> = new Set(
  'C C++ C# CUDA D Java ObjectiveC PHP Protobuf SQL Verilog SystemVerilog'.split(' '),
);

/** The parsers' names for each of our kinds. */
const TAG_KINDS: readonly (readonly [SymbolKind, string])[] = [
  ['class', 'category class'],
  ['constant', 'const constant define'],
  ['enum', 'enum'],
  ['enumMember', 'Constructor constructor enumConstant enumerator literal'],
  ['field', 'RecordField anonMember component field member oneof'],
  [
    'function',
    'command delegate func function generator inline operator procedure subprogram subprogspec ' +
      'subroutine subst task test val',
  ],
  ['interface', 'annotation interface protocol service'],
  ['label', 'anchor id label target'],
  ['macro', 'guard macro mixin'],
  ['method', 'method methodSpec rpc singletonMethod slot'],
  ['module', 'architecture entity group module program project'],
  ['namespace', 'namespace'],
  ['object', 'object'],
  ['package', 'package packspec'],
  ['property', 'accessor event getter property setter'],
  [
    'section',
    'chapter heading1 heading2 heading3 l4subsection l5subsection paragraph part section ' +
      'subparagraph subsection subsubsection',
  ],
  ['struct', 'message record struct table view'],
  ['trait', 'trait'],
  ['type', 'Exception alias exception subtype talias type typealias typedef typespec'],
  ['union', 'union'],
  ['variable', 'functionVar global globalVar instance net port register signal var variable'],
];

/** Not definitions. */
const DROPPED =
  'header heredoc implementation import library local makefile packageName parameter ' +
  'prototype script source stylesheet unknown';

/** Of single parsers; '' = dropped. */
const OWN_KINDS: Readonly<Record<string, Readonly<Record<string, SymbolKind | ''>>>> = {
  // Why: names of imports.
  'C#': { typedef: '' },
  CMake: { option: 'variable' },
  CSS: { selector: 'other' },
  Cobol: { group: 'other' },
  Elixir: { implementation: 'module', exception: 'struct' },
  EmacsLisp: { alias: 'function' },
  HTML: { class: '' },
  Make: { macro: 'variable' },
  ObjectiveC: { class: 'method', implementation: 'class', interface: 'class' },
  PHP: { alias: '' },
  Perl: { module: '' },
  Python: { member: 'method', module: '', namespace: '', unknown: '' },
  R: { vector: 'variable', list: 'variable', dataframe: 'variable' },
  // Why dropped: texts of test cases.
  Ruby: { alias: 'method', context: '', describe: '' },
  // Why dropped: an implementation has the name of its type.
  Rust: { interface: 'trait' },
  Sh: { alias: 'function' },
  SystemVerilog: { property: 'other' },
  Vim: { map: 'other', augroup: 'other', filename: '' },
};

// Why maps: `constructor` is a kind, and a member of every object.
const kinds = new Map<string, SymbolKind | ''>(DROPPED.split(' ').map((name) => [name, '']));
for (const [kind, names] of TAG_KINDS) for (const name of names.split(' ')) kinds.set(name, kind);
const ownKinds = new Map(
  Object.entries(OWN_KINDS).map(([parser, own]) => [parser, new Map(Object.entries(own))]),
);

export function kindOfTag(parser: string, kind: string): SymbolKind | undefined {
  const found = ownKinds.get(parser)?.get(kind) ?? kinds.get(kind) ?? 'other';
  return found === '' ? undefined : found;
}

export const CTAGS_LANGUAGES: readonly string[] = [...SAME_NAMES, ...Object.keys(OTHER_NAMES)];

export const CTAGS_PARSERS: ReadonlySet<string> = new Set([
  ...SAME_NAMES,
  ...Object.values(OTHER_NAMES),
]);
