// Bitmaps in memory: bit `index` is bit index & 7 of byte index >> 3.

@inline
export function setBit(bitmapPtr: usize, index: u32): void {
  const ptr = bitmapPtr + (index >> 3);
  store<u8>(ptr, load<u8>(ptr) | <u8>((<u32>1) << (index & 7)));
}

@inline
export function clearBit(bitmapPtr: usize, index: u32): void {
  const ptr = bitmapPtr + (index >> 3);
  store<u8>(ptr, load<u8>(ptr) & ~(<u8>((<u32>1) << (index & 7))));
}

@inline
export function getBit(bitmapPtr: usize, index: u32): u32 {
  return (load<u8>(bitmapPtr + (index >> 3)) >> (index & 7)) & 1;
}
