// Random corpora and queries for the property tests of the engine. Alphabets are small so that most queries match;
// texts favour hard cases: code points that fold into ASCII, invalid bytes, lines longer than a block, blocks that
// end inside things, equal contents under several paths.

import * as fc from 'fast-check';
import { generalize } from '../../bench/expressions.ts';
import { seededRandom } from '../../bench/samples.ts';
import type { QueryNode } from '../../daemon/engine/query/tree.ts';
import { parseRegex } from '../../daemon/engine/regex/syntax.ts';
import { type BruteSymbol, offsetsOf } from './brute-force.ts';
import type { OracleDoc } from './scores.ts';

const ALPHABETS: readonly (readonly string[])[] = [
  ['a', 'b', 'B', '\n', 'ab'],
  ['k', 'K', '\u212a', 's', 'S', '\u017f', '\n', '_', ' '],
  ['σ', 'ς', 'Σ', 'é', 'É', '\u00df', '\u1e9e', '\n', 'a'],
  ['日', '本', '語', '\n', '\ufffd', '\ufeff', '😀'],
  ['𐐀', '𐐨', 'İ', 'ı', 'i', 'I', '\r\n', '\t'],
  ['x', 'y', '\xc3', '\xe2\x84', '\x80', '\xf0\x9f', '\xe2\x84\xaa', '\n'],
  ['(', ')', '"', '\\', '.', '-', 'or', ' ', '\n', '$', '^'],
];
/** Of this alphabet each character is a byte. */
const BYTES_ALPHABET = 5;

interface Alphabet {
  readonly characters: readonly Uint8Array[];
}

const alphabet: fc.Arbitrary<Alphabet> = fc.nat(ALPHABETS.length - 1).map((index) => ({
  characters: ALPHABETS[index]!.map((text) =>
    Buffer.from(text, index === BYTES_ALPHABET ? 'latin1' : 'utf8'),
  ),
}));

function joined({ characters }: Alphabet, choice: readonly number[]): Uint8Array {
  return Uint8Array.from(choice.flatMap((index) => [...characters[index % characters.length]!]));
}

/** Small texts, and sometimes one so placed that a block ends inside or beside it. */
function bytesOf(chosen: Alphabet): fc.Arbitrary<Uint8Array> {
  const choice = fc.array(fc.nat(19), { maxLength: 40 });
  const small = choice.map((list) => joined(chosen, list));
  const filler = fc.constantFrom('z', 'zzzzzzz\n', '\n', 'zz\r\n');
  const size = fc.constantFrom(4060, 4080, 4090, 4095, 4096, 8180, 8200, 12290);
  const around = fc
    .tuple(choice, filler, size, fc.nat(12), choice)
    .map(([before, fill, at, shift, after]) => {
      const start = joined(chosen, before);
      const count = Math.max(0, at - shift - start.length);
      const middle = Buffer.from(fill.repeat(Math.ceil(count / fill.length)).slice(0, count));
      return Uint8Array.from([...start, ...middle, ...joined(chosen, after)]);
    });
  const marked = small.map((bytes) => Uint8Array.from([...Buffer.from('\ufeff'), ...bytes]));
  return fc.oneof(
    { weight: 7, arbitrary: small },
    { weight: 1, arbitrary: marked },
    { weight: 1, arbitrary: around },
  );
}

const FOLDERS = ['', 'src/', 'Test/kK/', 'a/b/', 'ΣΑΣ/'];
const NAMES = ['main', 'kelvin', 'aaa', 'x', 'ſet', '日本'];
const EXTENSIONS = ['', '.go', '.py', '.txt', '.GO'];
const LANGUAGES = ['', 'Go', 'Python'];
export const REPO_NAMES = ['host/alpha', 'host/beta', 'Other'];

export interface Corpus {
  readonly docs: readonly OracleDoc[];
  /** For each doc the number of the shard, within its repo, that holds it. */
  readonly shardOf: readonly number[];
}

/** Some symbols of a content, always the same ones. */
function symbolsOf(bytes: Uint8Array): BruteSymbol[] {
  const draw = seededRandom(bytes.reduce((hash, byte) => (hash * 31 + byte) % 65_521, 7));
  const random = (below: number): number => Math.floor(draw() * below);
  const offsets = [...offsetsOf(bytes), bytes.length];
  const symbols: BruteSymbol[] = [];
  for (let at = random(4); at < offsets.length - 1;) {
    const end = Math.min(at + 1 + random(8), offsets.length - 1);
    const [start, size] = [offsets[at]!, offsets[end]! - offsets[at]!];
    if (!bytes.subarray(start, start + size).includes(10)) {
      const parent = { name: `Parent${random(3)}`, kind: random(KIND_COUNT) };
      symbols.push({ start, size, kind: random(KIND_COUNT), ...(random(2) ? { parent } : {}) });
    }
    at = end + random(6);
  }
  return symbols;
}
const KIND_COUNT = 23;

const seedsArbitrary = alphabet.chain((chosen) =>
  fc.array(
    fc.record({
      bytes: bytesOf(chosen),
      repeats: fc.constantFrom(1, 1, 1, 2, 3),
      choices: fc.tuple(fc.nat(), fc.nat(), fc.nat(), fc.nat(), fc.nat(), fc.nat(2), fc.nat(1)),
    }),
    { minLength: 1, maxLength: 14 },
  ),
);

export const corpusArbitrary: fc.Arbitrary<Corpus> = fc
  .tuple(seedsArbitrary, fc.boolean())
  .map(([seeds, hasSymbols]) => {
    const docs = new Map<string, { doc: OracleDoc; shard: number }>();
    for (const { bytes, repeats, choices } of seeds) {
      for (let i = 0; i < repeats; i++) {
        const [folder, name, extension, language, repo, tier, shard] = choices;
        const pick = <T>(list: readonly T[], index: number): T => list[(index + i) % list.length]!;
        const path = `${pick(FOLDERS, folder)}${pick(NAMES, name)}${pick(EXTENSIONS, extension)}`;
        const doc = {
          path,
          bytes,
          language: pick(LANGUAGES, language),
          repo: pick(REPO_NAMES, repo),
          tier,
          ...(hasSymbols ? { symbols: symbolsOf(bytes) } : {}),
        };
        docs.set(`${doc.repo}/${path}`, { doc, shard });
      }
    }
    const all = [...docs.values()];
    return { docs: all.map(({ doc }) => doc), shardOf: all.map(({ shard }) => shard) };
  });

/** A query as the oracle reads it, and as text for the engine. */
export interface OracleQuery {
  readonly tree: QueryNode;
  readonly isRegexEnabled: boolean;
  readonly text: string;
}

const decoder = new TextDecoder('utf-8', { ignoreBOM: true });

/** A literal of 1 to 12 code points out of a content of the corpus, or its paths too, or nearly. */
function literalArbitrary({ docs }: Corpus, isOfPaths = false): fc.Arbitrary<string> {
  return fc
    .tuple(
      fc.nat(),
      fc.nat(),
      fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 12 })),
      fc.constantFrom('none', 'none', 'upper', 'lower', 'other', 'kelvin'),
      fc.boolean(),
    )
    .map(([which, at, size, change, isFromEnd]) => {
      const doc = docs[which % docs.length]!;
      const bytes = isOfPaths && at % 3 === 0 ? Buffer.from(doc.path) : doc.bytes;
      // Bad bytes become U+FFFD, at times fewer than the engine sees: then the literal may miss.
      const points = Array.from(decoder.decode(bytes));
      const position = at % Math.max(1, points.length);
      const start = isFromEnd ? Math.max(0, points.length - size - (at % 4)) : position;
      const text = points.slice(start, start + size).join('') || 'a';
      if (change === 'upper') return text.toUpperCase().slice(0, 24);
      if (change === 'lower') return text.toLowerCase();
      if (change === 'other') return `${text.slice(0, -1)}k`.replaceAll(/[\ud800-\udfff]/gu, 'q');
      return change === 'kelvin' ? text.replaceAll('k', '\u212a').replaceAll('s', '\u017f') : text;
    });
}

function patternArbitrary(corpus: Corpus): fc.Arbitrary<string> {
  return fc.tuple(literalArbitrary(corpus), fc.nat()).map(([text, seed]) => {
    return generalize(text.replaceAll(/\p{Surrogate}/gu, 'q'), seededRandom(seed));
  });
}

const POSITION = { position: 0 };
const expression = (pattern: string) => ({ pattern, tree: parseRegex(pattern), ...POSITION });
const escapeRegex = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|]/gu, '\\$&');

/** `sym:` with a part of a name of the corpus, anchored or not. */
function symbolArbitrary(corpus: Corpus): fc.Arbitrary<QueryNode> {
  return fc
    .tuple(fc.nat(), fc.nat(), fc.nat(), fc.constantFrom('^', '$', '^$', 'b', 'be', '', '', 'x'))
    .map(([which, at, seed, shape]): QueryNode => {
      const { bytes, symbols = [] } = corpus.docs[which % corpus.docs.length]!;
      const { start, size } = symbols[at % Math.max(1, symbols.length)] ?? { start: 0, size: 3 };
      const name = Array.from(decoder.decode(bytes.subarray(start, start + size)));
      const part = name.slice(shape.includes('^') ? 0 : seed % name.length || 0);
      const text = part.slice(0, shape.includes('$') ? undefined : 1 + (seed % 5)).join('') || 'a';
      const safe = text.replaceAll(/\p{Surrogate}|\n/gu, 'q');
      const first = shape.includes('^') ? '^' : shape.startsWith('b') ? '\\b' : '';
      const last = shape.includes('$') ? '$' : shape === 'be' ? '\\b' : '';
      const general = generalize(safe, seededRandom(seed));
      const literal = first + escapeRegex(safe) + last;
      const pattern = (shape === 'x' ? general : literal)
        .replaceAll('"', '\\x22')
        .replaceAll('\r', '\\r');
      return { kind: 'pattern', prefix: 'sym', ...expression(pattern) };
    });
}

function leafArbitrary(corpus: Corpus, hasExpressions: boolean): fc.Arbitrary<QueryNode> {
  const text = fc
    .tuple(literalArbitrary(corpus, true), fc.nat(3))
    .map(([value, kind]): QueryNode => ({
      kind: 'text',
      text: value,
      ...(kind === 0 || hasExpressions ? { isOfContent: true } : {}),
      ...POSITION,
    }));
  const path = fc
    .tuple(fc.nat(), fc.nat(), fc.nat(5), fc.constantFrom('', '', '^', '$', '^$'), fc.boolean())
    .map(([which, at, size, anchors, isSwapped]): QueryNode => {
      const points = Array.from(corpus.docs[which % corpus.docs.length]!.path);
      const slice = points.slice(at % points.length, (at % points.length) + size + 1);
      const part = (anchors === '^$' ? points : slice).join('');
      const name = isSwapped ? part.toUpperCase() : part;
      const start = anchors.includes('^') ? '^' : '';
      const pattern = `${start}${escapeRegex(name)}${anchors.includes('$') ? '$' : ''}`;
      return { kind: 'pattern', prefix: 'file', ...expression(pattern) };
    });
  const regex = patternArbitrary(corpus).map((pattern): QueryNode => ({
    kind: 'regex',
    ...expression(pattern),
  }));
  const pathRegex = fc.tuple(fc.nat(), fc.nat(), fc.nat()).map(([which, at, seed]): QueryNode => {
    const points = Array.from(corpus.docs[which % corpus.docs.length]!.path);
    const start = at % points.length;
    const text = points.slice(start, start + 1 + (seed % 8)).join('');
    const pattern = generalize(text, seededRandom(seed));
    return { kind: 'pattern', prefix: 'file', ...expression(pattern) };
  });
  const symbol = symbolArbitrary(corpus);
  const repo = fc
    .constantFrom(
      'host',
      '^host',
      'alpha$',
      'a',
      'o',
      'other',
      '^Other$',
      'h.*a$',
      '(?i)OTHER',
      'x*',
    )
    .map((pattern): QueryNode => ({ kind: 'pattern', prefix: 'repo', ...expression(pattern) }));
  const language = fc
    .constantFrom('Go', 'Python')
    .map((value): QueryNode => ({ kind: 'value', prefix: 'lang', value, ...POSITION }));
  const constant = fc.boolean().map((value): QueryNode => ({ kind: 'const', value }));
  return fc.oneof(
    { weight: 8, arbitrary: text },
    { weight: hasExpressions ? 8 : 0, arbitrary: regex },
    { weight: 2, arbitrary: path },
    { weight: 2, arbitrary: pathRegex },
    { weight: 4, arbitrary: symbol },
    { weight: 1, arbitrary: repo },
    { weight: 1, arbitrary: language },
    { weight: 1, arbitrary: constant },
  );
}

function treeArbitrary(
  corpus: Corpus,
  hasExpressions: boolean,
  depth: number,
): fc.Arbitrary<QueryNode> {
  const leaf = leafArbitrary(corpus, hasExpressions);
  if (depth === 0) return leaf;
  const child = treeArbitrary(corpus, hasExpressions, depth - 1);
  const list = fc
    .tuple(fc.constantFrom('and', 'or'), fc.array(child, { minLength: 2, maxLength: 3 }))
    .map(([kind, children]): QueryNode => ({ kind, children }));
  const not = child.map((one): QueryNode => ({ kind: 'not', child: one }));
  return fc.oneof(
    { weight: 4, arbitrary: leaf },
    { weight: 3, arbitrary: list },
    { weight: 1, arbitrary: not },
  );
}

/** A query over the corpus; one with expressions or newlines is in regex mode. */
export function queryArbitrary(corpus: Corpus): fc.Arbitrary<OracleQuery> {
  return fc
    .boolean()
    .chain((hasExpressions) => treeArbitrary(corpus, hasExpressions, 2))
    .map((drawn) => {
      const isRegexEnabled = needsRegexMode(drawn);
      const tree = isRegexEnabled ? ofContent(drawn) : drawn;
      return { tree, isRegexEnabled, text: printForEngine(tree, isRegexEnabled) };
    });
}

/** The tree in regex mode, in which words are expressions, which are looked for in contents alone. */
function ofContent(node: QueryNode): QueryNode {
  if (node.kind === 'not') return { ...node, child: ofContent(node.child) };
  if (node.kind === 'and' || node.kind === 'or')
    return { ...node, children: node.children.map(ofContent) };
  return node.kind === 'text' ? { ...node, isOfContent: true } : node;
}

function needsRegexMode(node: QueryNode): boolean {
  if (node.kind === 'not') return needsRegexMode(node.child);
  if (node.kind === 'and' || node.kind === 'or') return node.children.some(needsRegexMode);
  return node.kind === 'regex' || (node.kind === 'text' && node.text.includes('\n'));
}

export function printForEngine(node: QueryNode, isRegexEnabled: boolean): string {
  const print = (one: QueryNode): string => printForEngine(one, isRegexEnabled);
  switch (node.kind) {
    case 'const':
      return node.value ? '-()' : '()';
    case 'not':
      return `-(${print(node.child)})`;
    case 'and':
      return `(${node.children.map(print).join(' ')})`;
    case 'or':
      return `(${node.children.map(print).join(' or ')})`;
    case 'text':
      return isRegexEnabled
        ? `"${escapeRegex(node.text).replaceAll('\n', '\\n').replaceAll('"', '\\x22')}"`
        : `${node.isOfContent === true ? 'c:' : ''}"${node.text.replaceAll(/["\\]/gu, '\\$&')}"`;
    case 'value':
      return `${node.prefix}:"${node.value}"`;
    default:
      return `${node.kind === 'pattern' ? node.prefix : 'c'}:"${node.pattern}"`;
  }
}
