// Points of ranges and docs (API.md 6.7): how well a range stands at word borders, where it stands in the
// base name of a path, and what share of the query's leaves holds.

import {
  TAG_CLASS,
  TAG_CONSTANT,
  TAG_CONSTRUCTOR,
  TAG_ENUM,
  TAG_ENUM_MEMBER,
  TAG_FIELD,
  TAG_FUNCTION,
  TAG_INTERFACE,
  TAG_MACRO,
  TAG_METHOD,
  TAG_MODULE,
  TAG_NAMESPACE,
  TAG_OBJECT,
  TAG_PROPERTY,
  TAG_STRUCT,
  TAG_TRAIT,
  TAG_TYPE,
  TAG_UNION,
  TAG_VARIABLE,
} from '../shared/tags.ts';
import { isWordBorder } from '../text/words.ts';

const POINTS_WORD: u32 = 500;
const POINTS_WORD_EDGE: u32 = 50;
const POINTS_NAME: u32 = 7000;
const POINTS_NAME_EDGE: u32 = 5500;
const POINTS_NAME_INSIDE: u32 = 4000;
const POINTS_SHARE: u32 = 400;

/** The most points that a range in content can have without tags, with them. */
export const POINTS_CONTENT_MAX: u32 = POINTS_WORD;
export const POINTS_TAG_MAX: u32 = POINTS_WORD + POINTS_NAME + 1000;

/** Points of the range [rangeStart, rangeEnd) in the content [start, end). */
export function contentPoints(rangeStart: usize, rangeEnd: usize, start: usize, end: usize): u32 {
  const borders =
    (isWordBorder(rangeStart, start, end) ? 1 : 0) + (isWordBorder(rangeEnd, start, end) ? 1 : 0);
  return borders == 2 ? POINTS_WORD : borders == 1 ? POINTS_WORD_EDGE : 0;
}

/** Points of a range that overlaps a tag of this kind, sharing `edges` of its two ends. */
export function tagPoints(edges: u32, kind: u32): u32 {
  const place = edges == 2 ? POINTS_NAME : edges == 1 ? POINTS_NAME_EDGE : POINTS_NAME_INSIDE;
  return place + kindPoints(kind);
}

/** Points of a kind of tags (API.md 6.7: 100 times its factor). */
function kindPoints(kind: u32): u32 {
  switch (kind) {
    case TAG_CLASS:
      return 1000;
    case TAG_STRUCT:
      return 950;
    case TAG_ENUM:
    case TAG_INTERFACE:
    case TAG_TRAIT:
      return 900;
    case TAG_TYPE:
    case TAG_UNION:
    case TAG_OBJECT:
    case TAG_FUNCTION:
      return 800;
    case TAG_METHOD:
    case TAG_CONSTRUCTOR:
      return 700;
    case TAG_MACRO:
    case TAG_MODULE:
    case TAG_NAMESPACE:
    case TAG_PROPERTY:
    case TAG_FIELD:
      return 550;
    case TAG_CONSTANT:
    case TAG_ENUM_MEMBER:
      return 500;
    case TAG_VARIABLE:
      return 400;
    default:
      return 100;
  }
}

/** Points of the range [rangeStart, rangeEnd) in the path [start, end). */
export function pathPoints(rangeStart: usize, rangeEnd: usize, start: usize, end: usize): u32 {
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
