// Words: runs of the letters, digits and underscore of ASCII.

@inline
export function isWordByte(byte: u32): bool {
  return (byte | 0x20) - 97 < 26 || byte - 48 < 10 || byte == 95;
}

export function isWordBorder(ptr: usize, start: usize, end: usize): bool {
  const before = ptr > start && isWordByte(load<u8>(ptr - 1));
  const after = ptr < end && isWordByte(load<u8>(ptr));
  return before != after;
}
