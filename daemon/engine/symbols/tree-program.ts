// A tree-sitter process: parses one content at a time. After a trap, or with much of its memory or time used, it asks to be
// replaced. It ends with its parent.

import { argv, cpuUsage } from 'node:process';
import { Language, Parser, Query, type Tree, type Node } from 'web-tree-sitter';
import { messageOf } from '../../base/caught.ts';
import { symbolsOfDefinitions } from './definitions.ts';
import { type Found, orderSymbols } from './found.ts';
import { readGrammar, readParser } from './grammars.ts';
import { mendedText } from './mending.ts';
import { queryOf } from './queries.ts';
import { readText } from './text.ts';
import { frameOf, FrameReader, type TreeAnswer, type TreeRequest } from './tree-messages.ts';
import { definitionsOf } from './tree-symbols.ts';

/** Memory limit of the parser in bytes, time limit of the process in microseconds. */
const [memoryMax = 0, cpuUsMax = 0] = argv.slice(2).map(Number);
const INITIAL_PAGES = 512;
const memory = new WebAssembly.Memory({
  initial: INITIAL_PAGES,
  maximum: Math.min(32_768, Math.max(INITIAL_PAGES, Math.floor(memoryMax / 65_536))),
});
const quiet = (): void => undefined;
// Not awaited here: it is joined into a script (scripts/bundle.mjs).
const opened = openParser();
const grammars = new Map<string, Grammar>();

interface Grammar {
  readonly language: Language;
  readonly query: Query;
}

const requests = new FrameReader<TreeRequest>();
process.stdin.on('data', (bytes: Buffer) => {
  for (const request of requests.take(bytes))
    void answer(request).then((found) => process.stdout.write(frameOf(found)));
});
process.stdin.on('close', () => process.exit());

async function answer(request: TreeRequest): Promise<TreeAnswer> {
  try {
    const outcome = await read(request);
    const isSpent = memory.buffer.byteLength > memoryMax / 2 || cpuUsage().user > cpuUsMax / 2;
    return { outcome, isSpent };
  } catch (error) {
    // Bound: memory grows by at most a fifth, so a failed growth leaves it near its limit.
    const isMemory = memory.buffer.byteLength > memoryMax * 0.7;
    const detail = `tree-sitter: ${messageOf(error)}`;
    return { outcome: { failure: isMemory ? 'memory' : 'crash', detail }, isSpent: true };
  }
}

async function openParser(): Promise<Parser> {
  await Parser.init({
    wasmBinary: readParser(),
    wasmMemory: memory,
    print: quiet,
    printErr: quiet,
  });
  return new Parser();
}

async function read({ language, grammar: name, content }: TreeRequest): Promise<Found> {
  const parser = await opened;
  const grammar = grammars.get(name) ?? (await loadGrammar(name));
  const { text, inBytes, byteOffsets } = readText(content);
  parser.setLanguage(grammar.language);
  const tree = parseMended(parser, name, text);
  try {
    const definitions = definitionsOf(text, grammar.query.matches(tree.rootNode));
    const symbols = orderSymbols(inBytes(symbolsOfDefinitions(language, definitions)));
    // Measured: 2026-11-28: smaller ones cost no definition.
    const large = unreadSpans(tree).filter(({ start, end }) => end - start >= 300);
    if (large.length === 0) return { symbols };
    const offsets = byteOffsets(large.flatMap(({ start, end }) => [start, end]));
    const unread = large.map((_, i) => ({ start: offsets[2 * i]!, end: offsets[2 * i + 1]! }));
    return { symbols, unread };
  } finally {
    tree.delete();
  }
}

/** Parses a text; if it may be misread, parses the mended text instead, unless the grammar reads less of that. */
function parseMended(parser: Parser, name: string, text: string): Tree {
  const tree = parse(parser, text);
  const mended = isMisread(name, tree) ? mendedText(name, text) : undefined;
  if (mended === undefined) return tree;
  const other = parse(parser, mended);
  const [better, worse] = unreadSize(other) <= unreadSize(tree) ? [other, tree] : [tree, other];
  worse.delete();
  return better;
}

/** Why Kotlin: its grammar misreads a delegating class without an error. */
function isMisread(name: string, { rootNode }: Tree): boolean {
  if (rootNode.hasError) return true;
  return name === 'kotlin' && rootNode.descendantsOfType('explicit_delegation').length > 0;
}

function parse(parser: Parser, text: string): Tree {
  const tree = parser.parse(text);
  if (tree === null) throw new Error('not parsed');
  return tree;
}

async function loadGrammar(name: string): Promise<Grammar> {
  const language = await Language.load(readGrammar(name));
  const grammar = { language, query: new Query(language, queryOf(name) ?? '') };
  grammars.set(name, grammar);
  return grammar;
}

interface Span {
  readonly start: number;
  readonly end: number;
}

/** Parts of the text inside an error node but not inside an intact node below it, ascending. */
function unreadSpans({ rootNode }: Tree): Span[] {
  const spans: { start: number; end: number }[] = [];
  const stack: { node: Node; isError: boolean }[] = [{ node: rootNode, isError: false }];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { node } = item;
    const isError = item.isError || node.isError;
    if (node.hasError && node.childCount > 0) {
      for (const child of node.children.toReversed()) stack.push({ node: child, isError });
    } else if (isError && !isWhole(node)) {
      const last = spans.at(-1);
      // Up to 100 blanks and line ends between two tokens belong to them.
      if (last !== undefined && node.startIndex - last.end <= 100) last.end = node.endIndex;
      else spans.push({ start: node.startIndex, end: node.endIndex });
    }
  }
  return spans;
}

function unreadSize(tree: Tree): number {
  return unreadSpans(tree).reduce((size, { start, end }) => size + end - start, 0);
}

/** Whether a node below an error was read intact: it is a statement and not a token. */
function isWhole({ isNamed, startPosition, endPosition }: Node): boolean {
  return isNamed && endPosition.row > startPosition.row;
}
