// Points of ranges and docs (API.md 6.7). Docs with matches in their content: doc-score.ts.

import { SYMBOL_KIND_POINTS } from '../shared/kinds.ts';
import { SYMBOL_OTHER } from '../shared/symbols.ts';
import { isWordBorder } from '../text/words.ts';

const POINTS_WORD: u32 = 500;
const POINTS_WORD_EDGE: u32 = 50;
const POINTS_NAME: u32 = 7000;
const POINTS_NAME_EDGE: u32 = 5500;
const POINTS_NAME_INSIDE: u32 = 4000;
const POINTS_SHARE: u32 = 400;
/** A match of a whole base name gets 30,000 points: fewer than a doc with a class named by the whole query. */
const PATH_SCALE: u32 = 4;

export function contentPoints(rangeStart: usize, rangeEnd: usize, start: usize, end: usize): u32 {
  const borders =
    (isWordBorder(rangeStart, start, end) ? 1 : 0) + (isWordBorder(rangeEnd, start, end) ? 1 : 0);
  return borders == 2 ? POINTS_WORD : borders == 1 ? POINTS_WORD_EDGE : 0;
}

/** Points of a range that overlaps a symbol of this kind and shares `edges` of its two ends. */
export function symbolPoints(edges: u32, kind: u32): u32 {
  const edgePoints = edges == 2 ? POINTS_NAME : edges == 1 ? POINTS_NAME_EDGE : POINTS_NAME_INSIDE;
  // Safety: every kind up to SYMBOL_OTHER has points.
  return edgePoints + unchecked(SYMBOL_KIND_POINTS[min(kind, SYMBOL_OTHER)]);
}

/** Points of the range [rangeStart, rangeEnd) in the path [start, end). */
export function pathPoints(rangeStart: usize, rangeEnd: usize, start: usize, end: usize): u32 {
  return PATH_SCALE * positionPoints(rangeStart, rangeEnd, start, end);
}

function positionPoints(rangeStart: usize, rangeEnd: usize, start: usize, end: usize): u32 {
  let baseStart = end;
  while (baseStart > start && load<u8>(baseStart - 1) != 47) baseStart--;
  const points = contentPoints(rangeStart, rangeEnd, start, end);
  if (rangeStart < baseStart) return points;
  if (rangeStart == baseStart && rangeEnd == end) return points + POINTS_NAME;
  if (rangeStart == baseStart || rangeEnd == end) return points + POINTS_NAME_EDGE;
  return points + POINTS_NAME_INSIDE;
}

/** Points for `active` of `all` leaves. */
export function sharePoints(active: u32, all: u32): u32 {
  return all == 0 ? 0 : (POINTS_SHARE * min(active, all)) / all;
}
