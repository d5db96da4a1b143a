// Runs regular expressions over texts: chooses the engine and joins the results.
//   needles     skip what cannot contain a match: to the next start (prefix), to the next line
//               (inner);
//   lazy DFA    end of a match forward, start of it backward (dfa.ts);
//   simulation  where the DFA gives up, for the rest of the text; for expressions that may prefer
//               the empty match over a longer one, whose starts the backward scan cannot find; and
//               for texts whose bad bytes cannot be rewritten (text.ts).
// Matches are those of Go's FindAll without the empty ones: leftmost, the preferred one, without
// overlaps; where the preferred match is empty there is none, and the search continues behind it.
//
// After a stop by the host (base/work.ts) results are meaningless, and forgetRegexTexts must
// follow.
//
// Protocol: beginRegexes once a request; compileRegex for each expression; beginRegexText for each
// text; then findRegex, countRegex. testRegex needs no text. All memory comes from the arena and is
// passed once. Reads at most 64 bytes behind a text, which never change a result.

import {
  ENGINE_DFA,
  ENGINE_INNER,
  ENGINE_LINES,
  ENGINE_PREFIX,
  ENGINE_RUN,
  ENGINE_SIMULATION,
  NEEDLES_INNER,
  NEEDLES_NONE,
  NEEDLES_PREFIX,
  NEEDLES_RUN,
  PROGRAM_SPANS_LINES,
  STATE_MATCH,
} from '../shared/program.ts';
import { STATUS_OK, STATUS_OUT_OF_MEMORY } from '../shared/status.ts';
import { Arena, arenaAlloc } from '../base/arena.ts';
import { countWork, isStopped } from '../base/work.ts';
import { HAYSTACK_FOLDS_INTO_ASCII } from '../scan/literal.ts';
import { decodedSize, decodeUtf8 } from '../text/utf8.ts';
import { findByte, findLastByte } from '../scan/newlines.ts';
import {
  beginWalk,
  CONTEXT_COUNT,
  contextAfter,
  contextBefore,
  leafAt,
  makeWork,
  walkFrom,
  Work,
} from './closure.ts';
import { scanCarefully } from './careful.ts';
import { Dfa, dropStartFlags, makeDfa } from './dfa-cache.ts';
import { SCAN_GAVE_UP, scanForward, scanReach, scanReverse, setScanReach } from './dfa.ts';
import { ENTRY_START } from './entry.ts';
import { clearMemo, memoInit } from './memo.ts';
import {
  areWorthwhile,
  beginNeedles,
  compileNeedles,
  findNeedles,
  Needles,
  NEEDLES_SIZE,
  noteSkipped,
} from './needles.ts';
import { Automaton, AUTOMATON_SIZE, checkProgram, leafKind, programFlags } from './program.ts';
import { isWorthInterleaving, skipWithoutMatch } from './interleaved.ts';
import { simulate, simulatedEnd, simulatedReach, simulatedStart } from './simulate.ts';
import {
  forgetText,
  fromRewritten,
  prepareText,
  rewrittenEnd,
  rewrittenStart,
  selectText,
  TEXT_ILL_FORMED,
  TEXT_REWRITTEN,
  TEXT_VALID,
  textInit,
  toRewritten,
} from './text.ts';

/**
 * Most bytes of cache of the forward and the reverse DFA in a large arena; in a smaller one, or for
 * many expressions, a share of the free part: all caches together take at most a 16th of it.
 */
const FORWARD_CACHE_MAX: usize = 4 << 20;
const REVERSE_CACHE_MAX: usize = 2 << 20;
const CACHE_MIN: usize = 1 << 13;
const CACHE_SHARE: usize = 256;
const SHARES_PER_REGEX: usize = 32;
/** Most bytes of a cache in the current request. */
let cacheSize: usize = CACHE_MIN;
const NEWLINE: u8 = 10;

@unmanaged
class Regex {
  forward: Automaton;
  forwardDfa: Dfa;
  reverseDfa: Dfa;
  work: Work;
  needles: Needles;
  spansLines: u32; // 1: a match may contain a byte after a newline
  emptyContexts: u32; // bit before * 4 + after: the empty text matches between these contexts
  prefersEmpty: u32; // 1: somewhere the empty match is preferred to a longer one
  // Of the current text:
  textStart: u32;
  textEnd: u32;
  textFlags: u32; // BLOB_FLAG_*
  hasGivenUp: u32; // 1: the DFA gave up on this text
  aheadSize: u32; // bytes that scans read after the ends of matches
  lineStart: u32; // the line of the last needle
  lineEnd: u32;
  // Counters since the expression was compiled:
  simulationCount: u32;
  // For two interleaved scans (interleaved.ts): bytes to read by one scan first; how many after the next failure.
  singleSize: u32;
  singlePause: u32;
}
const REGEX_SIZE: usize = 72;
if (offsetof<Regex>() != REGEX_SIZE) ERROR('Regex: size');

@inline
function regexAt(ptr: usize): Regex {
  return changetype<Regex>(ptr);
}

/** The match of findRegex, absolute addresses. */
export let foundStart: usize = 0;
export let foundEnd: usize = 0;
/** End of what an expression that spans lines has read of the text since beginRegexText. */
export let regexReach: usize = 0;
/** End of the last match counted by countRegex; 0: none. */
export let regexCountEnd: usize = 0;
/** Why compileRegex failed. */
export let regexStatus: i32 = STATUS_OK;

/**
 * Allocates what all `count` expressions of a request share, before the first is compiled, and
 * again when the arena was reset below it. Errors: STATUS_OUT_OF_MEMORY.
 */
export function beginRegexes(arena: Arena, count: u32): i32 {
  if (!memoInit(arena)) return STATUS_OUT_OF_MEMORY;
  const status = textInit(arena);
  const free = <usize>(arena.end - arena.next);
  cacheSize = max(free / max(CACHE_SHARE, SHARES_PER_REGEX * count), CACHE_MIN);
  return status;
}

/** To be called when other bytes replace the texts, and after a search was stopped. */
export function forgetRegexTexts(): void {
  forgetText();
  clearMemo();
}

/**
 * The program must stay in place. Returns the expression's address, or 0 with regexStatus:
 * STATUS_BAD_PLAN for anything invalid, STATUS_OUT_OF_MEMORY.
 */
export function compileRegex(arena: Arena, program: usize, size: u32): usize {
  return compileRegexWithin(
    arena,
    program,
    size,
    min(cacheSize, FORWARD_CACHE_MAX),
    min(cacheSize, REVERSE_CACHE_MAX),
  );
}

export function compileRegexWithin(
  arena: Arena,
  program: usize,
  size: u32,
  forwardCacheSize: usize,
  reverseCacheSize: usize,
): usize {
  const ptr = arenaAlloc(arena, REGEX_SIZE + 2 * AUTOMATON_SIZE + NEEDLES_SIZE, 8);
  if (ptr == 0) return refuse(STATUS_OUT_OF_MEMORY);
  memory.fill(ptr, 0, REGEX_SIZE);
  const regex = regexAt(ptr);
  const forward = changetype<Automaton>(ptr + REGEX_SIZE);
  const reverse = changetype<Automaton>(ptr + REGEX_SIZE + AUTOMATON_SIZE);
  regex.forward = forward;
  regex.singlePause = SINGLE_MIN;
  regex.needles = changetype<Needles>(ptr + REGEX_SIZE + 2 * AUTOMATON_SIZE);
  let status = checkProgram(program, size, forward, reverse);
  if (status != STATUS_OK) return refuse(status);
  status = compileNeedles(arena, program, regex.needles);
  if (status != STATUS_OK) return refuse(status);
  const work = makeWork(
    arena,
    max(forward.stateCount, reverse.stateCount),
    max(forward.alternativeCount, reverse.alternativeCount),
    max(forward.callCount, reverse.callCount),
  );
  if (work === null) return refuse(STATUS_OUT_OF_MEMORY);
  regex.work = work;
  const startFlag = prefixNeedles(regex) === null ? 0 : ENTRY_START;
  const forwardDfa = makeDfa(arena, forward, work, forwardCacheSize, startFlag);
  const reverseDfa = makeDfa(arena, reverse, work, reverseCacheSize, 0);
  if (forwardDfa === null || reverseDfa === null) return refuse(STATUS_OUT_OF_MEMORY);
  regex.forwardDfa = forwardDfa;
  regex.reverseDfa = reverseDfa;
  regex.spansLines = programFlags(program) & PROGRAM_SPANS_LINES;
  learnEmptiness(regex);
  regexStatus = STATUS_OK;
  return ptr;
}

function refuse(status: i32): usize {
  regexStatus = status;
  return 0;
}

/** Between which contexts the empty text matches, and whether it is preferred to a longer one. */
function learnEmptiness(regex: Regex): void {
  const forward = regex.forward;
  const work = regex.work;
  for (let before: u32 = 0; before < CONTEXT_COUNT; before++) {
    for (let after: u32 = 0; after < CONTEXT_COUNT; after++) {
      beginWalk(work, work.listA);
      if (!walkFrom(forward, work, forward.start, before, after, false)) continue;
      regex.emptyContexts |= 1 << (before * CONTEXT_COUNT + after);
      const preferredCount = work.count;
      beginWalk(work, work.listA);
      walkFrom(forward, work, forward.start, before, after, true);
      // The MATCH itself is one leaf, or several; any other missing leaves were cut.
      if (work.count - countMatches(forward, work) > preferredCount) regex.prefersEmpty = 1;
    }
  }
}

function countMatches(forward: Automaton, work: Work): u32 {
  let count: u32 = 0;
  for (let i: u32 = 0; i < work.count; i++) {
    if (leafKind(forward, leafAt(work.list, i)) == STATE_MATCH) count++;
  }
  return count;
}

/**
 * Makes [textStart, textEnd) the text: a whole blob or path, whose ends assertions see. `flags`:
 * BLOB_FLAG_*; TEXT_ANY is always correct.
 */
export function beginRegexText(ptr: usize, textStart: usize, textEnd: usize, flags: u32): void {
  const regex = regexAt(ptr);
  regex.textStart = <u32>textStart;
  regex.textEnd = <u32>textEnd;
  regex.textFlags = flags;
  regex.hasGivenUp = 0;
  regex.aheadSize = 0;
  regex.lineStart = 0;
  regex.lineEnd = 0;
  regexReach = 0;
  // Why: the address may be that of another rewritten text.
  clearMemo();
  beginNeedles(regex.needles, flags & HAYSTACK_FOLDS_INTO_ASCII);
}

/**
 * Finds the next non-empty match that starts in [from, until), into foundStart and foundEnd.
 * @param from,until  code point borders; `from` is the end of the previous match, or any start of a
 *   search, and may be after `until`, which is the end of the text or, unless the expression spans
 *   lines, of a line
 */
export function findRegex(ptr: usize, from: usize, until: usize): bool {
  // Why: the previous match may have ended after `until`.
  if (from >= until) return false;
  const regex = regexAt(ptr);
  selectText(regex.textStart, regex.textEnd, regex.textFlags);
  if (!readsLines(regex)) return containsNeedle(regex, from) && findWithin(regex, from, until);
  while (nextLine(regex, from, until)) {
    const lineEnd = <usize>regex.lineEnd;
    if (findWithin(regex, max(from, <usize>regex.lineStart), lineEnd)) return true;
    from = lineEnd;
  }
  return false;
}

/**
 * Number of the matches that findRegex would find in [from, until). Meaningless after isStopped.
 */
export function countRegex(ptr: usize, from: usize, until: usize): u32 {
  regexCountEnd = 0;
  if (from >= until) return 0;
  const regex = regexAt(ptr);
  selectText(regex.textStart, regex.textEnd, regex.textFlags);
  if (!readsLines(regex)) return containsNeedle(regex, from) ? countWithin(regex, from, until) : 0;
  let count: u32 = 0;
  while (!isStopped && nextLine(regex, from, until)) {
    const lineEnd = <usize>regex.lineEnd;
    count += countWithin(regex, max(from, <usize>regex.lineStart), lineEnd);
    from = lineEnd;
  }
  return count;
}

/**
 * Whether the expression matches anywhere in the whole text [start, end); empty matches count.
 * beginRegexText must be called again before findRegex or countRegex.
 */
export function testRegex(ptr: usize, start: usize, end: usize, flags: u32): bool {
  const regex = regexAt(ptr);
  beginRegexText(ptr, start, end, flags);
  if (matchesEmpty(regex, start, end)) return true;
  selectText(start, end, flags);
  const condition = prepareText(start, end);
  let isFound: usize = SCAN_GAVE_UP;
  if (condition == TEXT_REWRITTEN) {
    isFound = testText(regex, rewrittenStart, rewrittenEnd, null);
  } else if (condition != TEXT_ILL_FORMED) {
    isFound = testText(regex, start, end, prefixNeedles(regex));
  }
  if (isFound != SCAN_GAVE_UP) return isFound != 0;
  return simulateText(regex, start, end, start, end, condition != TEXT_VALID);
}

function testText(regex: Regex, start: usize, end: usize, needles: Needles | null): usize {
  return scanForward(regex.forwardDfa, start, end, start, end, end, needles, true);
}

/** Whether the empty text matches somewhere in the text [start, end). */
function matchesEmpty(regex: Regex, start: usize, end: usize): bool {
  if (regex.emptyContexts == 0) return false;
  for (let ptr = start; ptr < end; ptr += decodedSize(decodeUtf8(ptr, end))) {
    if (isEmptyMatch(regex, contextBefore(start, ptr), contextAfter(end, ptr))) return true;
  }
  return isEmptyMatch(regex, contextBefore(start, end), contextAfter(end, end));
}

@inline
function isEmptyMatch(regex: Regex, before: u32, after: u32): bool {
  return ((regex.emptyContexts >> (before * CONTEXT_COUNT + after)) & 1) != 0;
}

/** The needles, if every match begins with one of them and skipping to them pays. */
function prefixNeedles(regex: Regex): Needles | null {
  const needles = regex.needles;
  if (needles.kind != NEEDLES_PREFIX && needles.kind != NEEDLES_RUN) return null;
  if (areWorthwhile(needles)) return needles;
  dropStartFlags(regex.forwardDfa);
  return null;
}

/** Whether only lines with a needle are read: matches have an inner needle on their line, and finding it pays. */
@inline
function readsLines(regex: Regex): bool {
  const needles = regex.needles;
  return needles.kind == NEEDLES_INNER && regex.spansLines == 0 && areWorthwhile(needles);
}

/** Whether the rest of the text has a needle, if matches have inner needles. */
function containsNeedle(regex: Regex, from: usize): bool {
  if (regex.needles.kind != NEEDLES_INNER || !areWorthwhile(regex.needles)) return true;
  return findNeedles(regex.needles, from, regex.textEnd) < <usize>regex.textEnd;
}

/** Sets lineStart and lineEnd to the line of the next needle in [from, until). */
function nextLine(regex: Regex, from: usize, until: usize): bool {
  if (from >= until) return false;
  const found = findNeedles(regex.needles, from, until);
  if (found >= until) return false;
  // Why: the ends of a long line with many matches must not be searched for each match.
  if (from >= <usize>regex.lineStart && found < <usize>regex.lineEnd) return true;
  noteSkipped(regex.needles, found - from);
  const newline = findLastByte(from, found, NEWLINE);
  regex.lineStart = <u32>(newline == found ? from : newline + 1);
  regex.lineEnd = <u32>min(findByte(found, until, NEWLINE) + 1, until);
  return true;
}

/** As findRegex, without inner needles. */
function findWithin(regex: Regex, from: usize, until: usize): bool {
  const limit = regex.spansLines != 0 ? <usize>regex.textEnd : until;
  const condition = prepareText(from, limit);
  if (condition == TEXT_REWRITTEN) {
    const isFound = findText(
      regex,
      rewrittenStart,
      rewrittenEnd,
      toRewritten(from),
      toRewritten(until),
      null,
    );
    foundStart = fromRewritten(foundStart);
    foundEnd = fromRewritten(foundEnd);
    noteReach(fromRewritten(textReach));
    return isFound && isWholeFrom(from);
  }
  const isFound =
    condition == TEXT_ILL_FORMED
      ? simulateText(regex, regex.textStart, regex.textEnd, from, until, true)
      : findText(regex, regex.textStart, regex.textEnd, from, until, prefixNeedles(regex));
  noteReach(textReach);
  return isFound && isWholeFrom(from);
}

/** Why: an incorrect program may match part of a replaced bad byte. */
@inline
function isWholeFrom(from: usize): bool {
  return from <= foundStart && foundStart < foundEnd;
}

/** End of what the last call of findText, countText or the simulation read, in its text. */
let textReach: usize = 0;
/** End of the last counted match, in the same text; 0: none. */
let countEnd: usize = 0;

@inline
function noteReach(reach: usize): void {
  regexReach = max(regexReach, reach);
}

/** Limit of bytes read after the ends of matches: this multiple of the text, plus a constant. */
const AHEAD_TIMES: usize = 4;
const AHEAD_MIN: usize = 1 << 20;
const AHEAD_MAX: usize = 1 << 30;

/** Bytes read by one scan after two interleaved scans gave no result; doubled each time. */
const SINGLE_MIN: u32 = 1 << 12;
const SINGLE_MAX: u32 = 1 << 20;

/** An address in [from, until] before which no match starts, by two scans where those have paid. */
function skipLines(
  regex: Regex,
  textStart: usize,
  textEnd: usize,
  from: usize,
  until: usize,
): usize {
  const size = until - from;
  if (!isWorthInterleaving(size)) return from;
  if (<usize>regex.singleSize > 0) {
    // Why all of it, though a match may come soon: counting the bytes read gains little
    // (DECISIONS.md).
    regex.singleSize -= <u32>min(<usize>regex.singleSize, size);
    return from;
  }
  const next = skipWithoutMatch(regex.forwardDfa, textStart, textEnd, from, until);
  if (next > from) regex.singlePause = SINGLE_MIN;
  else {
    regex.singleSize = regex.singlePause;
    regex.singlePause = min(regex.singlePause << 1, SINGLE_MAX);
  }
  setScanReach(next);
  return next;
}

/** As scanForward; switches to scanCarefully once too much was read in vain. */
function scanForEnd(
  regex: Regex,
  textStart: usize,
  textEnd: usize,
  from: usize,
  until: usize,
  limit: usize,
  needles: Needles | null,
): usize {
  const dfa = regex.forwardDfa;
  const aheadMax = min(AHEAD_MIN + AHEAD_TIMES * (textEnd - textStart), AHEAD_MAX);
  if (<usize>regex.aheadSize >= aheadMax)
    return scanCarefully(dfa, textStart, textEnd, from, until, limit);
  if (needles === null && regex.spansLines == 0 && dfa.startFlag == 0) {
    from = skipLines(regex, textStart, textEnd, from, until);
    if (from == until) return 0;
  }
  const end = scanForward(dfa, textStart, textEnd, from, until, limit, needles, false);
  // Why capped: the sum must not overflow.
  if (end != 0 && end != SCAN_GAVE_UP && scanReach > end)
    regex.aheadSize += <u32>min(scanReach - end, AHEAD_MAX);
  return end;
}

/** As findRegex, in the well-formed text [textStart, textEnd). */
function findText(
  regex: Regex,
  textStart: usize,
  textEnd: usize,
  from: usize,
  until: usize,
  needles: Needles | null,
): bool {
  if (regex.hasGivenUp == 0 && regex.prefersEmpty == 0) {
    const limit = regex.spansLines != 0 ? textEnd : until;
    const end = scanForEnd(regex, textStart, textEnd, from, until, limit, needles);
    textReach = scanReach;
    if (end == 0) return false;
    if (end != SCAN_GAVE_UP) {
      const start = scanReverse(regex.reverseDfa, textStart, textEnd, end, from);
      // Why: only an incorrect program gives an end without a start.
      if (start != SCAN_GAVE_UP && start != 0 && start < end && start < until) {
        foundStart = start;
        foundEnd = end;
        return true;
      }
    }
    regex.hasGivenUp = 1;
  }
  return simulateText(regex, textStart, textEnd, from, until, false);
}

function simulateText(
  regex: Regex,
  textStart: usize,
  textEnd: usize,
  from: usize,
  until: usize,
  isIllFormed: bool,
): bool {
  const limit = regex.spansLines != 0 ? textEnd : until;
  const forward = regex.forward;
  regex.simulationCount++;
  const isFound = simulate(
    forward,
    regex.work,
    textStart,
    textEnd,
    from,
    until,
    limit,
    isIllFormed,
  );
  foundStart = simulatedStart;
  foundEnd = simulatedEnd;
  textReach = simulatedReach;
  return isFound;
}

function countWithin(regex: Regex, from: usize, until: usize): u32 {
  const limit = regex.spansLines != 0 ? <usize>regex.textEnd : until;
  const condition = prepareText(from, limit);
  countEnd = 0;
  if (condition == TEXT_REWRITTEN) {
    const count = countText(
      regex,
      rewrittenStart,
      rewrittenEnd,
      toRewritten(from),
      toRewritten(until),
      null,
    );
    noteReach(fromRewritten(textReach));
    regexCountEnd = count == 0 ? 0 : fromRewritten(countEnd);
    return count;
  }
  const count =
    condition == TEXT_ILL_FORMED
      ? simulateCount(regex, regex.textStart, regex.textEnd, from, until, true)
      : countText(regex, regex.textStart, regex.textEnd, from, until, prefixNeedles(regex));
  noteReach(textReach);
  regexCountEnd = countEnd;
  return count;
}

/** Measured: 2026-11-25: a scan for the end of a match takes up to 9 us. */
const MATCH_STEPS: u32 = 128;

/** As countRegex, in the well-formed text [textStart, textEnd): only ends are needed. */
function countText(
  regex: Regex,
  textStart: usize,
  textEnd: usize,
  from: usize,
  until: usize,
  needles: Needles | null,
): u32 {
  const limit = regex.spansLines != 0 ? textEnd : until;
  let count: u32 = 0;
  textReach = from;
  while (from < until && regex.hasGivenUp == 0) {
    const end = scanForEnd(regex, textStart, textEnd, from, until, limit, needles);
    textReach = max(textReach, scanReach);
    if (end == 0) return count;
    if (end == SCAN_GAVE_UP) {
      regex.hasGivenUp = 1;
    } else {
      count++;
      from = end;
      countEnd = end;
      countWork(MATCH_STEPS);
      if (isStopped) return count;
    }
  }
  return count + simulateCount(regex, textStart, textEnd, from, until, false);
}

function simulateCount(
  regex: Regex,
  textStart: usize,
  textEnd: usize,
  from: usize,
  until: usize,
  isIllFormed: bool,
): u32 {
  let count: u32 = 0;
  while (from < until && simulateText(regex, textStart, textEnd, from, until, isIllFormed)) {
    if (!isWholeFrom(from)) break;
    count++;
    from = foundEnd;
    countEnd = from;
  }
  return count;
}

export function regexSpansLines(ptr: usize): bool {
  return regexAt(ptr).spansLines != 0;
}

/** The engine for the expression just compiled: ENGINE_*. */
export function engineOf(ptr: usize, isTest: bool): u32 {
  const regex = regexAt(ptr);
  if (!isTest && regex.prefersEmpty != 0) return ENGINE_SIMULATION;
  if (!isTest && readsLines(regex)) return ENGINE_LINES;
  const kind = regex.needles.kind;
  if (kind == NEEDLES_PREFIX) return ENGINE_PREFIX;
  if (kind == NEEDLES_RUN) return ENGINE_RUN;
  return kind == NEEDLES_INNER ? ENGINE_INNER : ENGINE_DFA;
}

/**
 * Whether concatenated texts can be searched for candidates: every match is non-empty and contains
 * a needle, and no needle matches bad bytes on both sides of a border.
 */
export function regexHasNeedles(ptr: usize): bool {
  const regex = regexAt(ptr);
  const needles = regex.needles;
  return needles.kind != NEEDLES_NONE && needles.hasReplacement == 0 && regex.emptyContexts == 0;
}

/**
 * Start of the first needle in [from, end), or `end`. beginRegexText must be called again before
 * findRegex or countRegex.
 */
export function findRegexNeedle(ptr: usize, from: usize, end: usize): usize {
  const needles = regexAt(ptr).needles;
  beginNeedles(needles, HAYSTACK_FOLDS_INTO_ASCII);
  return findNeedles(needles, from, end);
}

/** How often the simulation took over from the DFA since the expression was compiled. */
export function regexSimulationCount(ptr: usize): u32 {
  return regexAt(ptr).simulationCount;
}

export function regexClearCount(ptr: usize): u32 {
  const regex = regexAt(ptr);
  return regex.forwardDfa.clearCount + regex.reverseDfa.clearCount;
}
