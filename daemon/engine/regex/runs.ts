// Finds the byte run that begins every match, for expressions without literals: n bytes of one class, such as the nine digits
// of `\d{9,}` or the lead bytes of `\p{Greek}`. Read from the forward automaton; the scanner starts there. A class that is
// common in source code is useless and dropped.

import type { Automaton, State } from './automaton.ts';

/** A run that every non-empty match begins with. */
export interface Run {
  /** Bytes, at least 1. */
  readonly size: number;
  /** Bit `b & 7` of byte `b >> 3`: byte b is in the class. */
  readonly bytes: Uint8Array;
}

/** Longer runs tell hardly more. */
const SIZE_MAX = 32;
/** Guess: bytes of a run beyond these depend on those before, so they make it no rarer. */
const INDEPENDENT_MAX = 4;
/** Guess: the DFA had better read on where a run stands at more than one of so many places. */
const RARITY_MIN = 128;
/** Guess: share of one byte outside ASCII. */
const OTHER_SHARE = 0.00002;

/** The rarest such run; undefined if none is rare. */
export function beginningRun(automaton: Automaton): Run | undefined {
  const bytes = new Uint8Array(32);
  let best: { run: Run; share: number } | undefined;
  let places = closureOf(automaton, [automaton.start]);
  for (let size = 1; size <= SIZE_MAX && places.length > 0; size++) {
    // The empty match is none; behind the first byte a match may end, and then nothing more is sure.
    if (size > 1 && places.some((place) => stateAt(automaton, place).kind === 'match')) break;
    const targets = addBytes(automaton, places, bytes);
    // Nothing can be read: the expression has no match but the empty one.
    if (targets.length === 0) return undefined;
    const share = shareOf(bytes, size);
    if (best === undefined || share <= best.share) {
      best = { run: { size, bytes: bytes.slice() }, share };
    }
    places = closureOf(automaton, targets);
  }
  return best !== undefined && best.share * RARITY_MIN < 1 ? best.run : undefined;
}

/** A place is the index of a state; within a call, CALL_SIZE times that of the state behind the call plus one are added. */
const CALL_SIZE = 2 ** 20;

function stateAt(automaton: Automaton, place: number): State {
  return automaton.states[place % CALL_SIZE]!;
}

/** The place behind a byte that leads from `place` to the state `target`. */
function placeBehind({ states }: Automaton, place: number, target: number): number {
  const call = Math.floor(place / CALL_SIZE);
  return call > 0 && states[target]!.kind === 'return' ? call - 1 : call * CALL_SIZE + target;
}

/** Adds the bytes that are read at the places to `bytes`; returns the places behind them. */
function addBytes(automaton: Automaton, places: readonly number[], bytes: Uint8Array): number[] {
  const targets = new Set<number>();
  // How many more ranges begin at a byte than end before it.
  const borders = new Int32Array(257);
  for (const place of places) {
    const state = stateAt(automaton, place);
    if (state.kind !== 'bytes') continue;
    for (const { first, last, target } of state.edges) {
      borders[first]!++;
      borders[last + 1]!--;
      targets.add(placeBehind(automaton, place, target));
    }
  }
  let depth = 0;
  for (let byte = 0; byte < 256; byte++) {
    depth += borders[byte]!;
    if (depth > 0) bytes[byte >> 3]! |= 1 << (byte & 7);
  }
  return [...targets];
}

/** The places where bytes are read, and the match, as far as they are reached without reading. */
function closureOf(automaton: Automaton, from: readonly number[]): number[] {
  const seen = new Set(from);
  for (const place of seen) {
    const state = stateAt(automaton, place);
    if (state.kind === 'choice') for (const target of state.targets) seen.add(target);
    else if (state.kind === 'assert') seen.add(state.target);
    else if (state.kind === 'call') seen.add((state.target + 1) * CALL_SIZE + state.entry);
  }
  return [...seen];
}

/** Guess: the share of the places of source code where so many bytes in a row are in the class. */
function shareOf(bytes: Uint8Array, size: number): number {
  let ascii = 0;
  let other = 0;
  for (let byte = 0; byte < 256; byte++) {
    if ((bytes[byte >> 3]! & (1 << (byte & 7))) === 0) continue;
    if (byte < 0x80) ascii += shareOfByte(byte);
    else other += OTHER_SHARE;
  }
  // Bytes outside ASCII come in rows anyway.
  return Math.max(ascii ** Math.min(size, INDEPENDENT_MAX), other);
}

function shareOfByte(byte: number): number {
  const character = String.fromCodePoint(byte);
  if (/[ \t]/.test(character)) return 0.1;
  if (/[a-z]/.test(character)) return 0.02;
  if (/[A-Z]/.test(character)) return 0.0025;
  if (/[0-9]/.test(character)) return 0.005;
  return /[\n_(),;*=./-]/.test(character) ? 0.02 : 0.002;
}
