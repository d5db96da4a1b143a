// Runs one unit of work: evaluates its candidates and writes a row for each match, with its number
// of ranges and its score; render.ts makes positions and texts. Units are bounded, so that limits
// and cancellation act between them, and numbered in order of docs, the same on every worker.

import { beginWork, countWork, isStopped } from '../base/work.ts';
import * as layout from '../shared/plan.ts';
import { STATUS_OK } from '../shared/status.ts';
import { docAt } from '../shard/open.ts';
import { boundView } from './bound.ts';
import { candidateDocs, prefetchUnits, unitStarts } from './candidates.ts';
import { canKeepRanges } from './leaves.ts';
import {
  contentBytesRead,
  current,
  forgetReads,
  forgetStopped,
  regexRunsInContent,
} from './current.ts';
import { activeLeafCount, evaluateDoc } from './evaluate.ts';
import { positiveLeafCount } from './match-tree.ts';
import { activeInContent, activeWords, contentLeafAt } from './node.ts';
import { beginPathRanges, beginRanges, countRest, nextRange, range } from './ranges.ts';
import {
  beginScore,
  docScore,
  isScoreSettled,
  nameScore,
  scoreRange,
  scoreRest,
  writeScoreParts,
} from './doc-score.ts';
import { pathPoints, sharePoints } from './range-score.ts';
import { beginSymbolWalk } from './symbol-walk.ts';

/** Steps of work per range. Measured: 2026-11-22: 2 us where a range takes two scans. */
const RANGE_STEPS: u32 = 128;

/** The row of a matching doc. */
@unmanaged
class MatchRow {
  docId: u32;
  count: u32; // ranges
  scoreAndTier: u32; // tier above MATCH_TIER_SHIFT bits of score
  pathRank: u32;
}
if (offsetof<MatchRow>() != layout.MATCH_ROW_SIZE) ERROR('MatchRow: size');

/** Score of the current doc, without its share of the leaves. */
let docPoints: u32 = 0;
/** Whether there is room to keep ranges; the current doc's record, and its next range. */
let isKeeping: bool = false;
/** Whether ranges are kept after the score is settled. Those of a literal are only counted then, and found again to render. */
let keepsSettled: bool = false;
let keptDoc: usize = 0;
let keptNext: usize = 0;
let keptLimit: usize = 0;

/**
 * Rows (MATCH_*) go to `out`, counters (UNIT_*) to `stats`; expensive ranges go after the room for
 * a row of each candidate, up to `keptSize` bytes. Returns the number of rows, or STATUS_STOPPED:
 * no results.
 * Safety: unit < unit count; `out` has room for a row of each candidate, and `keptSize` bytes.
 */
export function searchUnit(unit: u32, out: usize, stats: usize, keptSize: usize): i32 {
  beginWork();
  prefetchUnits(unit);
  const first = load<u32>(unitStarts + (<usize>unit << 2));
  const end = load<u32>(unitStarts + (<usize>unit << 2), 4);
  // Why not after UNIT_DOCS_MAX rows: docs with the same content stay in one unit, however many
  // they are.
  const kept = out + <usize>(end - first) * layout.MATCH_ROW_SIZE;
  isKeeping = canKeepRanges();
  keepsSettled = isKeeping && contentLeafAt(0).kind == layout.NODE_REGEX;
  keptDoc = kept;
  keptLimit = kept + keptSize;
  const bytesBefore = contentBytesRead;
  const regexpsBefore = regexRunsInContent;
  let rowCount: u32 = 0;
  let loadedCount: u32 = 0;
  let matchCount: f64 = 0;
  for (let i = first; i < end; i++) {
    const docId = load<u32>(candidateDocs + (<usize>i << 2));
    const isMatch = evaluateDoc(docId);
    if (isMatch) {
      beginKept();
      const count = countRanges(docAt(boundView, docId).tier);
      if (isStopped) break;
      endKept();
      writeRow(out + <usize>rowCount * layout.MATCH_ROW_SIZE, docId, count);
      rowCount++;
      matchCount += count;
    }
    if (isStopped) break;
    if (current.isRead) loadedCount++;
  }
  if (isStopped) return forgetStopped();
  store<f64>(stats, end - first, layout.UNIT_CONSIDERED_OFFSET);
  store<f64>(stats, loadedCount, layout.UNIT_LOADED_OFFSET);
  store<f64>(stats, contentBytesRead - bytesBefore, layout.UNIT_CONTENT_BYTES_OFFSET);
  store<f64>(stats, matchCount, layout.UNIT_MATCHES_OFFSET);
  store<f64>(stats, regexRunsInContent - regexpsBefore, layout.UNIT_REGEXPS_OFFSET);
  store<f64>(stats, <f64>((keptDoc - kept) >> 2), layout.UNIT_KEPT_OFFSET);
  return <i32>rowCount;
}

/**
 * Evaluates a matching doc again, and writes the parts of its score to `out` (SCORE_*). Returns
 * STATUS_OK or STATUS_STOPPED.
 */
export function scoreDoc(docId: u32, out: usize): i32 {
  beginWork();
  forgetReads();
  isKeeping = false;
  memory.fill(out, 0, layout.SCORE_SIZE);
  evaluateDoc(docId);
  const tier = docAt(boundView, docId).tier;
  const count = activeInContent.count > 0 ? countInContent(tier) : 0;
  if (isStopped) return forgetStopped();
  if (count > 0) writeScoreParts(out);
  else {
    countInPath();
    store<f64>(out, docPoints, layout.SCORE_PATH_OFFSET);
  }
  const leaves = sharePoints(activeLeafCount, positiveLeafCount);
  store<f64>(out, leaves, layout.SCORE_LEAVES_OFFSET);
  return STATUS_OK;
}

function writeRow(ptr: usize, docId: u32, count: u32): void {
  const doc = docAt(boundView, docId);
  const row = changetype<MatchRow>(ptr);
  row.docId = docId;
  row.count = count;
  row.scoreAndTier =
    (docPoints + sharePoints(activeLeafCount, positiveLeafCount)) |
    (<u32>doc.tier << layout.MATCH_TIER_SHIFT);
  row.pathRank = doc.pathRank;
}

/** Begins the record of the current doc: the number of its ranges, then the ranges. */
function beginKept(): void {
  keptNext = keptDoc + 4;
  if (keptNext > keptLimit) isKeeping = false;
}

function endKept(): void {
  if (!isKeeping) return;
  store<u32>(keptDoc, <u32>((keptNext - keptDoc - 4) / layout.KEPT_RANGE_SIZE));
  keptDoc = keptNext;
}

/** Keeps the last range of nextRange, or stops keeping for lack of room. */
function keepRange(): void {
  if (keptNext + layout.KEPT_RANGE_SIZE > keptLimit) {
    isKeeping = false;
    return;
  }
  store<u32>(keptNext, <u32>(range.start - current.start));
  store<u32>(keptNext, <u32>(range.end - current.start), 4);
  keptNext += layout.KEPT_RANGE_SIZE;
}

/**
 * Number of ranges in content and path, at least one; points go to docPoints. Meaningless after
 * isStopped.
 */
function countRanges(tier: u32): u32 {
  const count = activeInContent.count > 0 ? countInContent(tier) : 0;
  if (isStopped) return count;
  if (count == 0) return countInPath();
  return activeWords.count == 0 ? count : count + countWordsInPath();
}

function countWordsInPath(): u32 {
  let count: u32 = 0;
  beginPathRanges(false);
  while (nextRange()) count++;
  return count;
}

/** Scores the ranges in the content. Once further ones of a lone leaf change nothing, they are only counted. */
function countInContent(tier: u32): u32 {
  beginRanges();
  beginSymbolWalk();
  beginScore();
  let count: u32 = 0;
  while (nextRange()) {
    count++;
    countWork(RANGE_STEPS);
    if (isStopped) return count;
    if (isKeeping) keepRange();
    if (!isScoreSettled()) scoreRange(range);
    else if (isKeeping && keepsSettled) scoreRest(1);
    else {
      // The rest is only counted, so none of the doc's ranges are kept.
      keptNext = keptDoc + 4;
      const rest = countRest();
      scoreRest(1 + rest);
      count += rest;
      break;
    }
  }
  docPoints = docScore(tier);
  return count;
}

/** Scores the ranges in the path: the points are those of the best range, or of the name. */
function countInPath(): u32 {
  docPoints = activeWords.count == 0 ? 0 : nameScore();
  let count: u32 = 0;
  beginPathRanges(true);
  while (nextRange()) {
    count++;
    const points = pathPoints(range.start, range.end, current.pathStart, current.pathEnd);
    docPoints = max(docPoints, points);
  }
  return max(count, 1);
}
