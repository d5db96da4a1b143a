// What the rules look up in a tree: text files, definitions with their comments, and headings. Found by patterns, not
// by ctags or a grammar: a search engine's idea of a symbol must not shape the queries.

import { lstatSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { Tree } from './trees.ts';

export interface SourceDoc {
  readonly path: string;
  readonly text: string;
  /** Neither test, example, benchmark, foreign nor generated code, so it may be an expected file. */
  readonly isOwn: boolean;
}

export interface Definition {
  readonly doc: SourceDoc;
  readonly name: string;
  readonly kind: 'type' | 'function';
  readonly rest: string;
  /** Of the first sentence of its comment, in lower case, each once. */
  readonly commentWords: readonly string[];
}

export interface Heading {
  readonly doc: SourceDoc;
  readonly words: readonly string[];
}

export interface Source {
  readonly tree: Tree;
  readonly docs: readonly SourceDoc[];
  readonly definitions: readonly Definition[];
  readonly headings: readonly Heading[];
}

const FILE_SIZE_MAX = 1_000_000;
const FOREIGN_FOLDER =
  /(?:^|\/)(?:\w*tests?|test[-\w]*|specs?|_?examples?|samples?|bench(?:es|marks?)|vendor|third[-_]party|node_modules|fixtures|deps|dist|generated)\//i;
const FOREIGN_NAME =
  /^test|(?:^|[._-])(?:tests?|spec)[._]|Tests?\.java$|\.pb\.|_pb2|[._]generated\.|\.min\.|\.d\.ts$/;

interface Patterns {
  readonly type: RegExp;
  readonly function: RegExp;
}

const C: Patterns = {
  type: /^(?:typedef\s+)?(?:struct|union|enum)\s+(?<name>[A-Za-z_]\w*)\s*\{/dgm,
  function:
    /^(?!return|else|typedef)[A-Za-z_][\w \t*]*?[ \t*\n](?<name>[A-Za-z_]\w*)\([^;{}()]*(?:\([^()]*\)[^;{}()]*)*\)\s*\{/dgm,
};
const GO: Patterns = {
  type: /^type (?<name>\w+)[ [=]/dgm,
  function: /^func (?:\([^)\n]*\) )?(?<name>\w+)[[(]/dgm,
};
const JAVA: Patterns = {
  type: /^[ \t]*(?:(?:public|protected|private|static|final|abstract|sealed) )*(?:class|interface|enum|record|@interface) (?<name>\w+)/dgm,
  function:
    /^[ \t]+(?:(?:public|protected|private|static|final|abstract|synchronized|native|default) )+(?:<[^>\n]*> )?[\w<>[\], .?]+ (?<name>\w+)\(/dgm,
};
const JAVASCRIPT: Patterns = {
  type: /^[ \t]*(?:export )?(?:default )?(?:declare )?(?:abstract )?(?:class|interface|enum|type) (?<name>\w+)/dgm,
  function:
    /^(?:[ \t]*(?:export )?(?:default )?(?:async )?function\*? ?|export const )(?<name>\w+)/dgm,
};
const PYTHON: Patterns = {
  type: /^[ \t]*class (?<name>\w+)\s*[(:]/dgm,
  function: /^[ \t]*(?:async )?def (?<name>\w+)\(/dgm,
};
const RUST: Patterns = {
  type: /^[ \t]*(?:pub(?:\([\w: ]+\))? )?(?:struct|enum|trait|union|type) (?<name>\w+)/dgm,
  function:
    /^[ \t]*(?:pub(?:\([\w: ]+\))? )?(?:const |async |unsafe |extern "C" )*fn (?<name>\w+)/dgm,
};

const PATTERNS: Readonly<Record<string, Patterns>> = {
  '.c': C,
  '.h': C,
  '.go': GO,
  '.java': JAVA,
  '.js': JAVASCRIPT,
  '.ts': JAVASCRIPT,
  '.py': PYTHON,
  '.rs': RUST,
};
const DOCUMENT_ENDINGS: ReadonlySet<string> = new Set(['.md', '.rst', '.txt', '.adoc']);

function isCode(file: string): boolean {
  return path.extname(file) in PATTERNS;
}

/** With definitions or headings. */
export function isSource(file: string): boolean {
  return isCode(file) || DOCUMENT_ENDINGS.has(path.extname(file));
}

/** Calls in headers would be declarations. */
export function mayCall(file: string): boolean {
  return isCode(file) && !file.endsWith('.h');
}

const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    'about after also been before being both cannot could does each else every from given have here into itself just like ' +
    'make many more most much must only other over return returned returns same should some such than that their them then ' +
    'there these they this those through under until upon used uses using very want well were what when where whether which ' +
    'while will with within without would your'
  ).split(' '),
);

/** In order of names, without hidden folders and links. */
export function* pathsBelow(folder: string, prefix = ''): Generator<string> {
  const entries = readdirSync(folder, { withFileTypes: true });
  entries.sort((a, b) => (a.name < b.name ? -1 : 1));
  for (const entry of entries) {
    if (entry.isFile()) yield prefix + entry.name;
    else if (entry.isDirectory() && !entry.name.startsWith('.'))
      yield* pathsBelow(path.join(folder, entry.name), `${prefix}${entry.name}/`);
  }
}

function* readDocs(root: string): Generator<SourceDoc> {
  for (const file of pathsBelow(root)) {
    const full = path.join(root, file);
    if (lstatSync(full).size > FILE_SIZE_MAX) continue;
    const bytes = readFileSync(full);
    if (bytes.includes(0)) continue;
    const isOwn = !FOREIGN_FOLDER.test(file) && !FOREIGN_NAME.test(path.basename(file));
    yield { path: file, text: bytes.toString(), isOwn };
  }
}

/** Four letters or more, no names of code, no common words. */
function plainWords(sentence: string): string[] {
  const tokens = sentence.split(/\s+/).map((token) => token.replace(/^["'(]+|["'.,;:!?)]+$/g, ''));
  const words = tokens.filter((token) => /^[A-Za-z][a-z]{3,}$/.test(token));
  return [...new Set(words.map((word) => word.toLowerCase()))].filter(
    (word) => !STOP_WORDS.has(word),
  );
}

function firstSentence(lines: readonly string[]): string {
  const from = lines.findIndex((line) => line.trim() !== '');
  if (from < 0) return '';
  const end = lines.findIndex((line, i) => i > from && /^\s*(?:$|@)/.test(line));
  const text = lines.slice(from, end < 0 ? undefined : end).join(' ');
  return /^.*?[.:](?=\s|$)/.exec(text)?.[0] ?? text;
}

const COMMENT_LINE = /^\s*(?:\/\/[/!]?|\/?\*+\/?)(.*?)(?:\*\/)?\r?$/;
const ATTRIBUTE_LINE = /^\s*(?:#\[|@\w)/;
const COMMENT_LINES_MAX = 60;

/** Without comment marks. */
function commentAbove(lines: readonly string[], index: number): string[] {
  const found: string[] = [];
  let at = index - 1;
  while (at >= 0 && ATTRIBUTE_LINE.test(lines[at] ?? '')) at--;
  for (; at >= 0 && found.length < COMMENT_LINES_MAX; at--) {
    const line = lines[at] ?? '';
    const text = COMMENT_LINE.exec(line)?.[1];
    if (text === undefined) break;
    found.unshift(text);
    if (/^\s*\/\*/.test(line)) break;
  }
  return found;
}

const LINE_SIZE_MAX = 200;

/** Of a Python definition that begins on line `index`. */
function docstringBelow(lines: readonly string[], index: number): string[] {
  let at = index;
  while (at < index + 12 && !/:\s*(?:#.*)?$/.test(lines[at] ?? '')) at++;
  const opening = /^\s*[rub]*("""|''')(.*)$/i.exec(lines[at + 1] ?? '');
  if (opening === null) return [];
  const [, quote = '', first = ''] = opening;
  const rest = [first, ...lines.slice(at + 2, at + 2 + COMMENT_LINES_MAX)].join('\n');
  return (rest.split(quote, 1)[0] ?? '').split('\n');
}

function* definitionsOf(doc: SourceDoc): Generator<Definition> {
  const ending = path.extname(doc.path);
  const patterns = PATTERNS[ending];
  if (patterns === undefined) return;
  const lines = doc.text.split('\n');
  const comment = ending === '.py' ? docstringBelow : commentAbove;
  for (const kind of ['type', 'function'] as const) {
    let offset = 0;
    let index = 0;
    for (const match of doc.text.matchAll(patterns[kind])) {
      const [start = 0] = match.indices?.groups?.['name'] ?? [];
      const rest = doc.text.slice(start, start + LINE_SIZE_MAX).split('\n', 1)[0] ?? '';
      for (; offset + (lines[index]?.length ?? 0) < match.index; index++)
        offset += (lines[index]?.length ?? 0) + 1;
      const commentWords = plainWords(firstSentence(comment(lines, index)));
      yield { doc, name: match.groups?.['name'] ?? '', kind, rest, commentWords };
    }
  }
}

const HEADING = /^#{1,4} (?<text>.+)$|^(?<title>\S.*)\n(?:={4,}|-{4,}|~{4,}|\^{4,})$/gm;
/** Of a link of Markdown, or in plain text. */
const ADDRESS = /\]\([^)]*\)|\bhttps?:\S+/g;
const LOG_OF_CHANGES = /change|licen[cs]e|copying|news|history|authors|release/i;

function* headingsOf(doc: SourceDoc): Generator<Heading> {
  if (!DOCUMENT_ENDINGS.has(path.extname(doc.path)) || LOG_OF_CHANGES.test(doc.path)) return;
  for (const { groups } of doc.text.matchAll(HEADING)) {
    const text = groups?.['text'] ?? groups?.['title'] ?? '';
    yield { doc, words: text.replaceAll(ADDRESS, ' ').match(/\w+/g) ?? [] };
  }
}

/** Reads a tree. Errors: throws if a file cannot be read. Cost: all text of the tree in memory. */
export function readSource(tree: Tree): Source {
  const docs = [...readDocs(tree.root)];
  return {
    tree,
    docs,
    definitions: docs.flatMap((doc) => [...definitionsOf(doc)]),
    headings: docs.flatMap((doc) => [...headingsOf(doc)]),
  };
}
