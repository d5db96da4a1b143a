// Classes of bytes that an automaton cannot distinguish: a DFA state has one transition for each
// class. Classes are runs of bytes between the borders of transitions and, where assertions read
// bytes, around newlines and ASCII word characters.

import { STATE_BYTES } from '../shared/program.ts';
import { Automaton, stateCount, stateFirst, stateKind, transitionRange } from './program.ts';

/** isBorder[b] = 1: a class begins at byte b. */
const borders: usize = memory.data(257);

/**
 * Writes the class of each byte to the 256 bytes at `classes`, and a byte of each class to
 * `samples`; returns the number of classes, 1 to 256.
 */
export function classifyBytes(automaton: Automaton, classes: usize, samples: usize): u32 {
  memory.fill(borders, 0, 257);
  for (let state: u32 = 0; state < automaton.stateCount; state++) {
    if (stateKind(automaton, state) == STATE_BYTES) markTransitions(automaton, state);
  }
  if (automaton.hasAsserts != 0) markContexts();
  let count: u32 = 0;
  store<u8>(samples, 0);
  for (let byte: u32 = 0; byte < 256; byte++) {
    if (byte > 0 && load<u8>(borders + byte) != 0) {
      count++;
      store<u8>(samples + count, <u8>byte);
    }
    store<u8>(classes + byte, <u8>count);
  }
  return count + 1;
}

function markTransitions(automaton: Automaton, state: u32): void {
  const first = stateFirst(automaton, state);
  const end = first + stateCount(automaton, state);
  for (let i = first; i < end; i++) {
    const range = transitionRange(automaton, i);
    markRange(range & 0xff, range >> 8);
  }
}

function markContexts(): void {
  markRange(10, 10); // newline
  markRange(0x30, 0x39); // digits
  markRange(0x41, 0x5a); // capitals
  markRange(0x5f, 0x5f); // underscore
  markRange(0x61, 0x7a); // small letters
}

@inline
function markRange(firstByte: u32, lastByte: u32): void {
  store<u8>(borders + firstByte, 1);
  store<u8>(borders + lastByte + 1, 1);
}
