// For expressions without literals: finds a run of bytes with which every match begins, all of one class, such as the nine digits
// of `\d{9,}`. The search then looks for such runs first, which helps only if the class is rare in source code.

import type { Automaton, State } from './automaton.ts';

export interface Run {
  /** Bytes, at least 1. */
  readonly size: number;
  /** Bit `b & 7` of byte `b >> 3`: byte b is in the class. */
  readonly bytes: Uint8Array;
}

/** The rarest run; undefined: every run is too frequent. */
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

/**
 * A position is a state and where its call returns to, in one number: `state` outside of calls, else
 * `state + CALL_SIZE * (returnState + 1)`.
 */
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
  // By byte: the number of ranges that begin there, minus the number that ended just before. The running sum tells what is covered.
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

/** `from`, and all positions that are reachable from there without reading a byte. */
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
  // Guess: after four bytes of a class more of them are likely, so they do not make a run rarer; nor do bytes outside ASCII.
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
