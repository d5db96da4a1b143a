// What the first bytes of a doc say about its language, for extensions that several languages
// claim. Only signs that are hard to meet by accident; where none is met the default of the
// extension stands.

type Rules = readonly (readonly [language: string, sign: RegExp])[];

const XML = /^(?:\uFEFF|\xef\xbb\xbf)?\s*<\?xml\b/;

const HEADER_RULES: Rules = [
  [
    'Objective-C',
    /^[ \t]*(?:@(?:interface|protocol|class|property|end|import)\b|#[ \t]*import\b)/m,
  ],
  [
    'C++',
    new RegExp(
      [
        String.raw`^[ \t]*(?:public|private|protected)[ \t]*:`,
        String.raw`^[ \t]*template[ \t]*<`,
        String.raw`^[ \t]*(?:inline[ \t]+)?namespace(?:[ \t]+[\w:]+)?[ \t]*(?:\{|$)`,
        String.raw`^[ \t]*using[ \t]+(?:namespace[ \t]+\w|\w+[ \t]*=|[\w:]+::\w+[ \t]*;)`,
        String.raw`^[ \t]*(?:enum[ \t]+)?class[ \t]+(?:\w+[ \t]+)?\w+(?:[ \t]+final)?[ \t]*(?:[{;]|:[ \t]*(?:public|private|protected|\w+[ \t]*\{))`,
        String.raw`^[ \t]*#[ \t]*include[ \t]*<(?:algorithm|array|atomic|chrono|c(?:assert|math|stddef|stdint|stdio|stdlib|string)|exception|functional|i?o?stream|iosfwd|list|map|memory|mutex|optional|queue|set|span|sstream|string|string_view|thread|tuple|type_traits|unordered_(?:map|set)|utility|variant|vector)>`,
        String.raw`\bstd::[a-z]`,
      ].join('|'),
      'm',
    ),
  ],
];

/** Keys: extension in lower case. */
const RULES: Readonly<Record<string, Rules>> = {
  '.asc': [['Public Key', /^-----BEGIN PGP /m]],
  '.b': [['Brainfuck', /^[<>+\-.,[\]\s]+$/]],
  '.bas': [['Visual Basic 6.0', /^Attribute VB_Name\b/m]],
  '.cl': [['Common Lisp', /^\s*[(;]/]],
  '.cls': [
    ['Visual Basic 6.0', /^VERSION \d/m],
    ['Apex', /\b(?:public|private|global)\s+(?:\w+\s+){0,3}class\s+\w/i],
    ['ObjectScript', /^Class\s+[\w.%]+/m],
  ],
  '.csl': [['XML', /^\s*<[?!\w]/]],
  '.cue': [['Cue Sheet', /^\s*(?:REM|FILE|TRACK|PERFORMER|TITLE) /m]],
  '.d': [
    ['D', /^\s*(?:module|import|alias|unittest)\b/m],
    ['DTrace', /^#!.*dtrace|^(?:BEGIN|END|[\w*]+:[\w*]*:[\w*]*:[\w*]*)\s*(?:\{|$)/m],
    ['Makefile', /^[^\s#:][^:\n]*:(?:[ \t].*)?\\?$/m],
  ],
  '.dsp': [['Microsoft Developer Studio Project', /^# Microsoft Developer Studio/]],
  '.es': [['Erlang', /^#!.*escript|^-module\(/m]],
  '.f': [['Forth', /^: \S+/m]],
  '.for': [['Forth', /^: \S+/m]],
  '.fs': [
    ['GLSL', /^\s*(?:#version|precision\s+\w+p\b|uniform\s|varying\s|void\s+main\s*\()/m],
    ['Forth', /^: \S+/m],
  ],
  '.ftl': [['Fluent', /^-?[a-zA-Z][\w-]* = /m]],
  '.gml': [['Gerber Image', /^[DGMT]\d+\*/m]],
  '.gs': [
    ['Gosu', /^uses java\./m],
    ['GLSL', /^#version\s+\d/m],
  ],
  '.hh': [['Hack', /<\?hh\b/]],
  '.inc': [
    ['PHP', /<\?(?:php\b|=|\s)/],
    ['BitBake', /^(?:[A-Z_]+(?:[:_]\w+)*\s*\?{0,2}[:+.]?=\s*"|inherit\s)/m],
    ['Assembly', /^\s*(?:%(?:define|macro|ifdef|ifndef|include)|\.(?:macro|section|globl?))\b/m],
    ['POV-Ray SDL', /^\s*#(?:declare|local|macro)\b/m],
    ['Pascal', /^\s*(?:\{\$|unit\b|procedure\b|function\b.*:\s*\w+;)/im],
    ['HTML', /^\s*<(?:!doctype|!--|html|div|table|p)\b/i],
  ],
  '.l': [
    ['Common Lisp', /^\((?:def|in-package)/im],
    ['Roff', /^\.\\"/m],
  ],
  '.lean': [['Lean', /^import [a-z]/m]],
  '.m': [
    [
      'Objective-C',
      /^\s*(?:@(?:interface|class|protocol|property|end|synthesize|implementation|import)\b|#\s*(?:import|include|pragma)\b)/m,
    ],
    ['Mercury', /^:- (?:module|import_module)\b/m],
    ['MUF', /^: \S+/m],
    ['Wolfram Language', /\(\*[^)]*\*\)|^\w+\[.*\]\s*:?=/m],
    ['MATLAB', /^\s*(?:%|function\b|classdef\b)/m],
  ],
  '.mc': [
    ['Win32 Message File', /^(?:MessageId|MessageIdTypedef|LanguageNames)\s*=/im],
    ['M4', /^dnl\b/m],
  ],
  '.md': [['GCC Machine Description', /^\(define_(?:insn|expand|attr|c_enum|constants)\b/m]],
  '.mo': [['Motoko', /^\s*(?:import\s+\w+\s+"|actor\b)/m]],
  '.mod': [
    ['Linux Kernel Module', /^\S+\.o(?:\s|$)/],
    ['AMPL', /^\s*(?:param|var|minimize|maximize|subject to)\b/m],
  ],
  '.msg': [['OMNeT++ MSG', /^\s*(?:packet|message|class)\s+\w+.*\{/m]],
  '.p': [['Gnuplot', /^\s*(?:s?plot|set\s+(?:term|terminal|output|xrange))\b/m]],
  '.pc': [['Pro*C', /\bEXEC\s+SQL\b/i]],
  '.php': [['Hack', /^<\?hh\b/]],
  '.pl': [
    ['Prolog', /^[^#%"'\n]*:-/m],
    ['Raku', /^\s*use v6\b/m],
  ],
  '.plist': [['OpenStep Property List', /^\s*(?:\{|\(|\/\/ !\$\*UTF8)/]],
  '.pm': [
    ['X PixMap', /^\s*\/\* XPM \*\//],
    ['Raku', /^\s*(?:use v6\b|unit (?:module|class)\b)/m],
  ],
  '.pp': [['Pascal', /^\s*(?:\{\$|program\b|unit\b|uses\b|interface\s*$)/im]],
  '.pro': [
    ['Prolog', /^[^#%"'\n]*:-/m],
    ['Proguard', /^-(?:keep|dont|optimiz|renamesource)/m],
    ['IDL', /^\s*(?:pro|function)\s+\w+\s*(?:,|$)/im],
  ],
  '.q': [['HiveQL', /\b(?:SELECT|CREATE\s+TABLE|INSERT\s+OVERWRITE)\b/i]],
  '.qs': [['Qt Script', /\b(?:function|var)\s+\w+/]],
  '.r': [['Rebol', /\bREBOL\s*\[/i]],
  '.re': [['C++', /^\s*#\s*(?:include|define|if|pragma)\b|^\s*template\s*</m]],
  '.sc': [['SuperCollider', /^\s*[+*]\s*\w+\s*\{|\^\s*this\b|\bSynthDef\b/m]],
  '.scd': [['Markdown', /^# /m]],
  '.sch': [['KiCad Schematic', /^(?:EESchema-|\(kicad_sch)/]],
  '.scm': [['Tree-sitter Query', /^[([].*\)\s+@[\w.]+/m]],
  '.shader': [['GLSL', /^\s*(?:#version|uniform\s|void\s+main\s*\()/m]],
  '.spec': [
    ['Python', /^(?:# -\*- mode: python|a = Analysis\()/m],
    ['Ruby', /^\s*(?:describe|require)\b/m],
  ],
  '.st': [['StringTemplate', /^\s*(?:group\s+\w+|\w+\([^)]*\)\s*::=)|\$\w[^\n$]*\$/m]],
  '.t': [['Raku', /^\s*use v6\b/m]],
  '.toc': [['World of Warcraft Addon Data', /^## \w+:/m]],
  '.tpl': [['Go Template', /\{\{-?\s*(?:\.|if|range|define|template|include|with|\/\*)/]],
  '.ts': [['XML', /^\s*<(?:!DOCTYPE TS|TS\s)/]],
  '.v': [
    [
      'Rocq Prover',
      /^\s*(?:Require|From\s+\w+|Theorem|Lemma|Proof|Definition|Inductive|Section)\b.*\.?\s*$/m,
    ],
    ['V', /^\s*(?:pub\s+)?fn\s+(?:\(.*\)\s*)?\w+\s*\(/m],
  ],
  '.x': [['Linker Script', /^\s*(?:SECTIONS|OUTPUT_FORMAT|ENTRY)\b/m]],
  '.yy': [['JSON', /^\s*[[{]/]],
};

/**
 * The language that the content is a sign of; undefined if there is none.
 *
 * @param extension   with the dot, in lower case
 * @param candidates  languages that claim the extension
 * @param head        the first bytes of the content, a character for each
 */
export function languageByContent(
  extension: string,
  candidates: readonly string[],
  head: string,
): string | undefined {
  if (candidates.includes('XML') && XML.test(head)) return 'XML';
  const rules = extension === '.h' ? HEADER_RULES : RULES[extension];
  return rules?.find(([, sign]) => sign.test(head))?.[0];
}

/** Languages that rules of an extension can give; for the test against the data set. */
export function ruledLanguages(): [extension: string, language: string][] {
  const all = { ...RULES, '.h': HEADER_RULES };
  return Object.entries(all).flatMap(([extension, rules]) =>
    rules.map(([language]): [string, string] => [extension, language]),
  );
}
