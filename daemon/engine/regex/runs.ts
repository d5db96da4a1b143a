// Finds the byte run that begins every match, for expressions without literals: n bytes of one class, such as the nine digits
// of `\d{9,}`. A class that is common in source code is useless.

import type { Automaton, State } from './automaton.ts';

export interface Run {
  /** Bytes, at least 1. */
  readonly size: number;
  /** Bit `b & 7` of byte `b >> 3`: byte b is in the class. */
  readonly bytes: Uint8Array;
}

/** Undefined if none is rare. */
export function prefixRun(automaton: Automaton): Run | undefined {
  const bytes = new Uint8Array(32);
  let best: { run: Run; share: number } | undefined;
  let positions = closureOf(automaton, [automaton.start]);
  // Longer runs add little.
  for (let size = 1; size <= 32 && positions.length > 0; size++) {
    // The empty match does not count; after the first byte a match may end, and then nothing more is certain.
    if (size > 1 && positions.some((position) => stateAt(automaton, position).kind === 'match'))
      break;
    const targets = addBytes(automaton, positions, bytes);
    // Nothing can be read: only the empty match.
    if (targets.length === 0) return undefined;
    const share = shareOf(bytes, size);
    if (best === undefined || share <= best.share)
      best = { run: { size, bytes: bytes.slice() }, share };
    positions = closureOf(automaton, targets);
  }
  // Guess: the DFA is faster where a run is more frequent than that.
  return best !== undefined && best.share < 1 / 128 ? best.run : undefined;
}

/** A position is the index of a state; within a call, plus CALL_SIZE times (index of the state after the call + 1). */
const CALL_SIZE = 2 ** 20;

function stateAt(automaton: Automaton, position: number): State {
  return automaton.states[position % CALL_SIZE]!;
}

function positionBehind({ states }: Automaton, position: number, target: number): number {
  const call = Math.floor(position / CALL_SIZE);
  return call > 0 && states[target]!.kind === 'return' ? call - 1 : call * CALL_SIZE + target;
}

/** Adds the bytes read at the positions to `bytes`; returns the next positions. */
function addBytes(automaton: Automaton, positions: readonly number[], bytes: Uint8Array): number[] {
  const targets = new Set<number>();
  // Number of ranges that begin at a byte minus those that end before it.
  const borders = new Int32Array(257);
  for (const position of positions) {
    const state = stateAt(automaton, position);
    if (state.kind !== 'bytes') continue;
    for (const { first, last, target } of state.edges) {
      borders[first]!++;
      borders[last + 1]!--;
      targets.add(positionBehind(automaton, position, target));
    }
  }
  let depth = 0;
  for (let byte = 0; byte < 256; byte++) {
    depth += borders[byte]!;
    if (depth > 0) bytes[byte >> 3]! |= 1 << (byte & 7);
  }
  return [...targets];
}

/** The positions that read bytes, and the match, reachable without reading. */
function closureOf(automaton: Automaton, from: readonly number[]): number[] {
  const visited = new Set(from);
  for (const position of visited) {
    const state = stateAt(automaton, position);
    if (state.kind === 'choice') for (const target of state.targets) visited.add(target);
    else if (state.kind === 'assert') visited.add(state.target);
    else if (state.kind === 'call') visited.add((state.target + 1) * CALL_SIZE + state.entry);
  }
  return [...visited];
}

function shareOf(bytes: Uint8Array, size: number): number {
  let ascii = 0;
  let other = 0;
  for (let byte = 0; byte < 256; byte++) {
    if ((bytes[byte >> 3]! & (1 << (byte & 7))) === 0) continue;
    if (byte < 0x80) ascii += shareOfByte(byte);
    else other += 0.00002;
  }
  // Guess: bytes behind the fourth depend on those before. Bytes outside ASCII come in runs anyway.
  return Math.max(ascii ** Math.min(size, 4), other);
}

function shareOfByte(byte: number): number {
  const character = String.fromCodePoint(byte);
  if (/[ \t]/.test(character)) return 0.1;
  if (/[a-z]/.test(character)) return 0.02;
  if (/[A-Z]/.test(character)) return 0.0025;
  if (/[0-9]/.test(character)) return 0.005;
  return /[\n_(),;*=./-]/.test(character) ? 0.02 : 0.002;
}
