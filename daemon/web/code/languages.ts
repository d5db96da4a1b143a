// The parsers, by the daemon's language names. Each is a separate file, loaded when text of its language is first
// displayed. The code view and the workers share this table.

import type { Parser } from '@lezer/common';
import type { StreamParser } from '@codemirror/language';

type Loader = () => Promise<Parser>;

/** A CodeMirror 5 style mode, which needs extra code. Used only if there is no Lezer grammar. */
async function ofMode(load: Promise<StreamParser<unknown>>): Promise<Parser> {
  const [{ StreamLanguage }, mode] = await Promise.all([import('@codemirror/language'), load]);
  return StreamLanguage.define(mode).parser;
}

const javaScript =
  (dialect: string): Loader =>
  async () =>
    (await import('@lezer/javascript')).parser.configure({ dialect });
const cpp: Loader = async () => (await import('@lezer/cpp')).parser;
const sass: Loader = async () => (await import('@lezer/sass')).parser;
const xml: Loader = async () => (await import('@lezer/xml')).parser;
const clike =
  (name: 'csharp' | 'kotlin' | 'scala' | 'dart' | 'objectiveC'): Loader =>
  () =>
    ofMode(import('@codemirror/legacy-modes/mode/clike').then((modes) => modes[name]));

const LOADERS: Readonly<Record<string, Loader>> = {
  C: cpp,
  'C++': cpp,
  CSS: async () => (await import('@lezer/css')).parser,
  Go: async () => (await import('@lezer/go')).parser,
  HTML: async () => (await import('@lezer/html')).parser,
  Java: async () => (await import('@lezer/java')).parser,
  JavaScript: javaScript('jsx'),
  JSON: async () => (await import('@lezer/json')).parser,
  'JSON with Comments': javaScript(''),
  Less: sass,
  Markdown: async () => (await import('@lezer/markdown')).parser,
  PHP: async () => (await import('@lezer/php')).parser,
  Python: async () => (await import('@lezer/python')).parser,
  Rust: async () => (await import('@lezer/rust')).parser,
  SCSS: sass,
  SVG: xml,
  TSX: javaScript('ts jsx'),
  TypeScript: javaScript('ts'),
  XML: xml,
  YAML: async () => (await import('@lezer/yaml')).parser,
  'C#': clike('csharp'),
  Dart: clike('dart'),
  Kotlin: clike('kotlin'),
  'Objective-C': clike('objectiveC'),
  Scala: clike('scala'),
  CMake: () => ofMode(import('@codemirror/legacy-modes/mode/cmake').then(({ cmake }) => cmake)),
  Clojure: () =>
    ofMode(import('@codemirror/legacy-modes/mode/clojure').then(({ clojure }) => clojure)),
  Dockerfile: () =>
    ofMode(import('@codemirror/legacy-modes/mode/dockerfile').then(({ dockerFile }) => dockerFile)),
  Elm: () => ofMode(import('@codemirror/legacy-modes/mode/elm').then(({ elm }) => elm)),
  Erlang: () => ofMode(import('@codemirror/legacy-modes/mode/erlang').then(({ erlang }) => erlang)),
  Fortran: () =>
    ofMode(import('@codemirror/legacy-modes/mode/fortran').then(({ fortran }) => fortran)),
  Groovy: () => ofMode(import('@codemirror/legacy-modes/mode/groovy').then(({ groovy }) => groovy)),
  Haskell: () =>
    ofMode(import('@codemirror/legacy-modes/mode/haskell').then(({ haskell }) => haskell)),
  INI: () =>
    ofMode(import('@codemirror/legacy-modes/mode/properties').then(({ properties }) => properties)),
  Julia: () => ofMode(import('@codemirror/legacy-modes/mode/julia').then(({ julia }) => julia)),
  Lua: () => ofMode(import('@codemirror/legacy-modes/mode/lua').then(({ lua }) => lua)),
  OCaml: () => ofMode(import('@codemirror/legacy-modes/mode/mllike').then(({ oCaml }) => oCaml)),
  Perl: () => ofMode(import('@codemirror/legacy-modes/mode/perl').then(({ perl }) => perl)),
  PowerShell: () =>
    ofMode(import('@codemirror/legacy-modes/mode/powershell').then(({ powerShell }) => powerShell)),
  'Protocol Buffer': () =>
    ofMode(import('@codemirror/legacy-modes/mode/protobuf').then(({ protobuf }) => protobuf)),
  R: () => ofMode(import('@codemirror/legacy-modes/mode/r').then(({ r }) => r)),
  Ruby: () => ofMode(import('@codemirror/legacy-modes/mode/ruby').then(({ ruby }) => ruby)),
  Shell: () => ofMode(import('@codemirror/legacy-modes/mode/shell').then(({ shell }) => shell)),
  SQL: () =>
    ofMode(import('@codemirror/legacy-modes/mode/sql').then(({ standardSQL }) => standardSQL)),
  Swift: () => ofMode(import('@codemirror/legacy-modes/mode/swift').then(({ swift }) => swift)),
  TOML: () => ofMode(import('@codemirror/legacy-modes/mode/toml').then(({ toml }) => toml)),
};

const loaded = new Map<string, Promise<Parser | undefined>>();

/** Why: a fragment of a PHP file seldom contains the opening tag. */
const phpCode: Loader = async () =>
  (await import('@lezer/php')).parser.configure({ top: 'Program' });

/** The parser for lines without the lines before them. Otherwise as `parserOf`. */
export function fragmentParserOf(
  language: string,
  lines: readonly string[],
): Promise<Parser | undefined> {
  const isPhpCode = language === 'PHP' && !lines.some((line) => /<\?|\?>|^\s*<\/?\w/.test(line));
  return isPhpCode ? parserBy('PHP code', phpCode) : parserOf(language);
}

/** The parser of a language; undefined: its text stays plain. Errors: rejects if it cannot be loaded. */
export function parserOf(language: string): Promise<Parser | undefined> {
  return parserBy(language, LOADERS[language]);
}

function parserBy(name: string, loader: Loader | undefined): Promise<Parser | undefined> {
  const cached = loaded.get(name);
  if (cached !== undefined) return cached;
  const parser = loader?.() ?? Promise.resolve(undefined);
  loaded.set(name, parser);
  parser.catch(() => loaded.delete(name));
  return parser;
}
