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
export const ASCII_PARSERS: ReadonlySet<string> = new Set([
  'C',
  'C++',
  'C#',
  'CUDA',
  'D',
  'Java',
  'ObjectiveC',
]);

/** Parsers of languages where the type precedes the declared name. */
export const TYPE_FIRST_PARSERS: ReadonlySet<string> = new Set([
  ...ASCII_PARSERS,
  'PHP',
  'Protobuf',
  'SQL',
  'Verilog',
  'SystemVerilog',
]);

/** A parser's kind -> our kind; '' = not a definition, dropped. */
type Kinds = Readonly<Record<string, SymbolKind | ''>>;

const KINDS: Kinds = {
  Constructor: 'enumMember',
  Exception: 'type',
  RecordField: 'field',
  accessor: 'property',
  alias: 'type',
  anchor: 'label',
  annotation: 'interface',
  anonMember: 'field',
  architecture: 'module',
  category: 'class',
  chapter: 'section',
  class: 'class',
  command: 'function',
  component: 'field',
  const: 'constant',
  constant: 'constant',
  define: 'constant',
  delegate: 'function',
  entity: 'module',
  enum: 'enum',
  enumConstant: 'enumMember',
  enumerator: 'enumMember',
  event: 'property',
  exception: 'type',
  field: 'field',
  func: 'function',
  function: 'function',
  functionVar: 'variable',
  generator: 'function',
  getter: 'property',
  global: 'variable',
  globalVar: 'variable',
  group: 'module',
  guard: 'macro',
  header: '',
  heading1: 'section',
  heading2: 'section',
  heading3: 'section',
  heredoc: '',
  id: 'label',
  implementation: '',
  import: '',
  inline: 'function',
  instance: 'variable',
  interface: 'interface',
  l4subsection: 'section',
  l5subsection: 'section',
  label: 'label',
  library: '',
  literal: 'enumMember',
  local: '',
  macro: 'macro',
  makefile: '',
  member: 'field',
  message: 'struct',
  method: 'method',
  methodSpec: 'method',
  mixin: 'macro',
  module: 'module',
  namespace: 'namespace',
  net: 'variable',
  object: 'object',
  oneof: 'field',
  operator: 'function',
  package: 'package',
  packageName: '',
  packspec: 'package',
  paragraph: 'section',
  parameter: '',
  part: 'section',
  port: 'variable',
  procedure: 'function',
  program: 'module',
  project: 'module',
  property: 'property',
  protocol: 'interface',
  prototype: '',
  record: 'struct',
  register: 'variable',
  rpc: 'method',
  script: '',
  section: 'section',
  service: 'interface',
  setter: 'property',
  signal: 'variable',
  singletonMethod: 'method',
  slot: 'method',
  source: '',
  struct: 'struct',
  stylesheet: '',
  subparagraph: 'section',
  subroutine: 'function',
  subprogram: 'function',
  subprogspec: 'function',
  subsection: 'section',
  subst: 'function',
  subsubsection: 'section',
  subtype: 'type',
  table: 'struct',
  talias: 'type',
  target: 'label',
  task: 'function',
  test: 'function',
  trait: 'trait',
  type: 'type',
  typealias: 'type',
  typedef: 'type',
  typespec: 'type',
  union: 'union',
  unknown: '',
  val: 'function',
  var: 'variable',
  variable: 'variable',
  view: 'struct',
};

const OWN_KINDS: Readonly<Record<string, Kinds>> = {
  // Why: names of imports.
  'C#': { typedef: '' },
  CMake: { option: 'variable' },
  CSS: { selector: 'other' },
  Elixir: { implementation: 'module', exception: 'struct' },
  HTML: { class: '' },
  Make: { macro: 'variable' },
  ObjectiveC: { implementation: 'class', interface: 'class' },
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
const kinds = new Map<string, SymbolKind | ''>([
  ...Object.entries(KINDS),
  ['constructor', 'enumMember'],
]);
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
