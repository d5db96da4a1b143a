// The frequency of bytes in source code, from which scanners choose what to search for.

import { BYTE_FREQUENCY_TABLE } from './frequency-table.ts';

/** Approximate sum of all frequencies: a frequency is occurrences in this many bytes. */
export const FREQUENCY_UNIT: u32 = 65536;

/** Occurrences of `byte` in FREQUENCY_UNIT bytes of source code; at least 1. */
@inline
export function byteFrequency(byte: u8): u32 {
  return <u32>load<u16>(BYTE_FREQUENCY_TABLE + (<usize>byte << 1));
}

/** For both cases of a letter together if `orMask` is 0x20. */
@inline
export function maskedFrequency(byte: u8, orMask: u8): u32 {
  return byteFrequency(byte) + (orMask != 0 ? byteFrequency(byte ^ orMask) : 0);
}
