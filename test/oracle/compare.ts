// Compares an answer of the engine with the slow search: the set of files, every range and its position, chunks,
// counts, and order. Throws at the first difference.

import assert from 'node:assert/strict';
import type { QueryNode } from '../../daemon/engine/query/tree.ts';
import type { Explanation } from '../../daemon/engine/search/explain.ts';
import { hashOf, type FileResult, type Range, type SearchAnswer } from '../engine/host/harness.ts';
import {
  type BruteMatch,
  type BruteMode,
  bruteSearch,
  type ByteRange,
  chunksOf,
  expressionRanges,
  locate,
  textOf,
} from './brute-force.ts';
import { bestPoints, KINDS, type OracleDoc, roundedParts, scoreOf, symbolAt } from './scores.ts';

export interface Requested extends BruteMode {
  readonly query: QueryNode;
  readonly matches: number;
  readonly contextLines: number;
  /** Were the members asked for that are left out else? */
  readonly hasFields?: boolean;
}

const keyOf = (repo: string, path: string): string => `${repo}\0${path}`;

export function checkAnswer(
  docs: readonly OracleDoc[],
  requested: Requested,
  answer: SearchAnswer,
): void {
  const found = bruteSearch(docs, requested.query, requested);
  const expected = new Map(found.map((match) => [keyOf(match.doc.repo, match.doc.path), match]));
  const total = found.reduce(
    (sum, { ranges, nameRanges }) => sum + ranges.length + nameRanges.length,
    0,
  );
  checkLoaded(docs, answer);
  const isSymbolless = answer.incompleteReasons?.includes('symbols_missing') ?? false;
  assert.ok(!isSymbolless || docs.some(({ symbols }) => symbols === undefined), 'symbols_missing');
  const isWhole = total <= requested.matches;
  assert.equal(answer.isSearchExhaustive, isWhole && !isSymbolless, 'isSearchExhaustive');
  for (const file of answer.files) {
    const match = expected.get(keyOf(file.repository, file.fileName.text));
    assert.ok(match, `${file.fileName.text} must not match`);
    checkFile(file, match, requested, isWhole || file !== answer.files.at(-1));
    if (requested.hasFields === true) checkFields(file, match, requested);
  }
  if (!isWhole) {
    assert.equal(answer.incompleteReasons?.[0], 'match_limit');
    assert.equal(answer.stats['actualMatchCount'], requested.matches);
    assert.ok(answer.stats['totalMatchCount']! <= total, 'a lower bound');
    assert.ok(answer.stats['fileCount']! <= found.length, 'a lower bound');
    return;
  }
  assert.deepEqual(
    answer.files.map((file) => keyOf(file.repository, file.fileName.text)).sort(),
    [...expected.keys()].sort(),
  );
  assert.equal(answer.stats['totalMatchCount'], total);
  assert.equal(answer.stats['fileCount'], found.length);
  if (areLeaves(requested.query)) checkOrder(answer, found);
}

/** S5: no more bytes than the loaded docs have, which are the largest ones at most. */
function checkLoaded(docs: readonly OracleDoc[], { stats }: SearchAnswer): void {
  const sizes = docs.map(({ bytes }) => bytes.length).sort((a, b) => b - a);
  const most = sizes.slice(0, stats['filesLoaded']).reduce((sum, size) => sum + size, 0);
  assert.ok(stats['contentBytesLoaded']! <= most, 'S5');
}

/**
 * Whether every leaf of the query is an atom of the plan. What the planner decides alone is none, and an
 * expression may be one, several or none, so that the order is left open then.
 */
function areLeaves(node: QueryNode): boolean {
  if (node.kind === 'not') return areLeaves(node.child);
  if (node.kind === 'and' || node.kind === 'or') return node.children.every(areLeaves);
  if (node.kind === 'pattern' && node.prefix === 'sym')
    return isOneLeaf(node.pattern.replaceAll(/^\\b|\\b$/g, ''));
  if (node.kind === 'pattern') return node.prefix === 'file' && isOneLeaf(node.pattern);
  return node.kind === 'text' || (node.kind === 'regex' && isOneLeaf(node.pattern));
}

/** Whether a pattern is a literal, or far from a choice of some; a name may be held to begin or end there. */
function isOneLeaf(pattern: string): boolean {
  // What holds for any name is none.
  if (expressionRanges(Buffer.alloc(0), pattern, true).matchesName) return false;
  return /\.[*+]/.test(pattern) || /^\^?(?:\\\W|[^\\^$.*+?()[\]{}|])+\$?$/u.test(pattern);
}

function spans(ranges: readonly Range[]): ByteRange[] {
  return ranges.map(({ start, end }) => [start.byteOffset, end.byteOffset]);
}

function checkLocations(bytes: Uint8Array, ranges: readonly Range[]): void {
  for (const range of ranges) {
    assert.deepEqual(range.start, locate(bytes, range.start.byteOffset));
    assert.deepEqual(range.end, locate(bytes, range.end.byteOffset));
  }
}

/** A file whose ranges may be cut shows the first chunks in the engine's order, the last one cut. */
function checkFile(
  file: FileResult,
  match: BruteMatch,
  requested: Requested,
  isWhole: boolean,
): void {
  const { bytes, path, language } = match.doc;
  assert.equal(file.language, language);
  const { matchRanges } = file.fileName;
  const isNameWhole = isWhole || file.chunks.length > 0;
  const count = isNameWhole ? match.nameRanges.length : matchRanges.length;
  assert.deepEqual(spans(matchRanges), match.nameRanges.slice(0, count));
  checkLocations(Buffer.from(path), matchRanges);
  const chunks = chunksOf(bytes, match.ranges, requested.contextLines)
    .map((chunk) => ({ ...chunk, points: bestPoints(match.doc, chunk.ranges) }))
    .sort((a, b) => b.points - a.points || a.start - b.start);
  if (isWhole) assert.equal(file.chunks.length, chunks.length);
  for (const [index, chunk] of file.chunks.entries()) {
    const full = chunks[index]!;
    const count = chunk.matchRanges.length;
    const isCut = !isWhole && index === file.chunks.length - 1 && count < full.ranges.length;
    const displayed = isCut
      ? chunksOf(bytes, full.ranges.slice(0, count), requested.contextLines)[0]!
      : full;
    assert.deepEqual(spans(chunk.matchRanges), displayed.ranges);
    assert.equal(chunk.content, displayed.content);
    assert.deepEqual(chunk.contentStart, locate(bytes, displayed.start));
    assert.deepEqual(chunk.symbols, symbolsOf(match, displayed.ranges));
    checkLocations(bytes, chunk.matchRanges);
  }
}

/** The points of the file, and the id of its content. */
function checkFields(file: FileResult, match: BruteMatch, { query }: Requested): void {
  if (areLeaves(query)) assert.equal(file.score, scoreOf(match), 'score');
  const { bytes } = match.doc;
  const isStored = bytes.length > 0 && file.skipReason === undefined;
  const expected = isStored
    ? hashOf(Buffer.from(bytes).toString('latin1')).toString('hex')
    : undefined;
  assert.equal(file.blobSha, expected, 'blobSha');
}

/** Checks what the scores of the best files are made of. */
export function checkBest(
  docs: readonly OracleDoc[],
  requested: Requested,
  { files }: SearchAnswer,
  { best }: Explanation,
): void {
  const found = bruteSearch(docs, requested.query, requested);
  const matches = new Map(found.map((match) => [keyOf(match.doc.repo, match.doc.path), match]));
  assert.deepEqual(
    best.map(({ repository, fileName }) => keyOf(repository, fileName)),
    files.slice(0, 10).map(({ repository, fileName }) => keyOf(repository, fileName.text)),
  );
  if (!areLeaves(requested.query)) return;
  for (const { repository, fileName, score, parts } of best) {
    const match = matches.get(keyOf(repository, fileName))!;
    assert.equal(score, scoreOf(match));
    assert.deepEqual(parts, roundedParts(match));
  }
}

/** What a chunk with these ranges says of symbols. */
function symbolsOf({ doc, symbolRanges }: BruteMatch, ranges: readonly ByteRange[]): object[] {
  const isRequested = (range: ByteRange): boolean => symbolRanges.has(range.join('-'));
  if (!ranges.some(isRequested)) return [];
  return ranges.map((range) => {
    const symbol = isRequested(range) ? symbolAt(doc, range) : undefined;
    if (symbol === undefined) return { symbol: '', kind: '' };
    const { start, size, kind, parent } = symbol;
    return {
      symbol: textOf(doc.bytes.subarray(start, start + size)),
      kind: KINDS[kind]![0],
      ...(parent === undefined
        ? {}
        : { parent: { symbol: parent.name, kind: KINDS[parent.kind]![0] } }),
    };
  });
}

/** By score, ordinary docs first, repo name, path; then one doc of another kind may move to place 3. */
function checkOrder(answer: SearchAnswer, found: readonly BruteMatch[]): void {
  const tierOf = (match: BruteMatch): number => (match.doc as OracleDoc).tier;
  const scores = new Map(found.map((match) => [match, scoreOf(match)]));
  const scoreIn = (match: BruteMatch): number => scores.get(match)!;
  const sorted = [...found].sort(
    (a, b) =>
      scoreIn(b) - scoreIn(a) ||
      tierOf(a) - tierOf(b) ||
      Buffer.compare(Buffer.from(a.doc.repo), Buffer.from(b.doc.repo)) ||
      Buffer.compare(Buffer.from(a.doc.path), Buffer.from(b.doc.path)),
  );
  const extension = ({ doc }: BruteMatch): string => /\.[^./]*$/.exec(doc.path)?.[0] ?? '';
  const taken = sorted.slice(0, 2).map(extension);
  const moved = sorted.findIndex((match, index) => index >= 2 && !taken.includes(extension(match)));
  if (moved >= 2 && scoreIn(sorted[moved]!) >= 0.9 * scoreIn(sorted[2]!))
    sorted.splice(2, 0, ...sorted.splice(moved, 1));
  assert.deepEqual(
    answer.files.map((file) => keyOf(file.repository, file.fileName.text)),
    sorted.map(({ doc }) => keyOf(doc.repo, doc.path)),
    'order',
  );
}
