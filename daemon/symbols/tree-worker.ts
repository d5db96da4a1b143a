// A thread with a parser of tree-sitter: parses one content after the other, answers with its symbols. Its
// memory is bounded; after a trap, or when much of the memory is taken, it says that it is spent.

import { isAscii, isUtf8 } from 'node:buffer';
import { parentPort, workerData } from 'node:worker_threads';
import { Language, Parser, Query } from 'web-tree-sitter';
import { messageOf } from '../telemetry/caught.ts';
import { orderSymbols, type PlacedSymbol } from './found.ts';
import { queryOf } from './queries.ts';
import type { TreeAnswer, TreeRequest, TreeWorkerData } from './tree-messages.ts';
import { symbolsOfMatches } from './tree-symbols.ts';

const { memoryMax }: TreeWorkerData = workerData;
const port = parentPort!;
const INITIAL_PAGES = 512;
const memory = new WebAssembly.Memory({
  initial: INITIAL_PAGES,
  maximum: Math.min(32_768, Math.max(INITIAL_PAGES, Math.floor(memoryMax / 65_536))),
});
const quiet = (): void => undefined;
await Parser.init({ wasmMemory: memory, print: quiet, printErr: quiet });
const parser = new Parser();
const grammars = new Map<string, { readonly language: Language; readonly query: Query }>();

port.on('message', (request: TreeRequest) => port.postMessage(answer(request)));

function answer(request: TreeRequest): TreeAnswer {
  try {
    const outcome = { symbols: orderSymbols(read(request)) };
    return { outcome, isSpent: memory.buffer.byteLength > memoryMax / 2 };
  } catch (error) {
    // Bound: memory grows by a fifth at most, so a failed growth leaves it near its limit.
    const isMemory = memory.buffer.byteLength > memoryMax * 0.7;
    const detail = `tree-sitter: ${messageOf(error)}`;
    return { outcome: { failure: isMemory ? 'memory' : 'crash', detail }, isSpent: true };
  }
}

function read({ language, grammar: name, module, content }: TreeRequest): PlacedSymbol[] {
  const grammar = grammarNamed(name, module);
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  const isWide = !isAscii(bytes) && isUtf8(bytes);
  // Why latin1 else: one character for each byte.
  const text = bytes.toString(isWide ? 'utf8' : 'latin1');
  parser.setLanguage(grammar.language);
  const tree = parser.parse(text);
  if (tree === null) throw new Error('not parsed');
  try {
    const placed = symbolsOfMatches(language, text, grammar.query.matches(tree.rootNode));
    return isWide ? inBytes(text, placed) : placed;
  } finally {
    tree.delete();
  }
}

function grammarNamed(
  name: string,
  module: WebAssembly.Module | undefined,
): { readonly language: Language; readonly query: Query } {
  const known = grammars.get(name);
  if (known !== undefined) return known;
  const source = queryOf(name);
  if (module === undefined || source === undefined) throw new Error(`no grammar ${name}`);
  const language = Language.loadSync(module);
  const grammar = { language, query: new Query(language, source) };
  grammars.set(name, grammar);
  return grammar;
}

/** The same places in bytes of UTF-8. */
function inBytes(text: string, placed: readonly PlacedSymbol[]): PlacedSymbol[] {
  let character = 0;
  let byte = 0;
  return [...placed]
    .sort((a, b) => a.start - b.start)
    .map((symbol) => {
      byte += Buffer.byteLength(text.slice(character, symbol.start));
      character = symbol.start;
      const name = text.slice(symbol.start, symbol.start + symbol.size);
      return { ...symbol, start: byte, size: Buffer.byteLength(name) };
    });
}
