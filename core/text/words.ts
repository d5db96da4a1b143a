// Words: runs of the letters, digits and underscore of ASCII.

@inline
export function isWordByte(byte: u32): bool {
  const lower = byte | 0x20;
  return (lower >= 97 && lower <= 122) || (byte >= 48 && byte <= 57) || byte == 95;
}

export function isWordBorder(ptr: usize, start: usize, end: usize): bool {
  const before = ptr > start && isWordByte(load<u8>(ptr - 1));
  const after = ptr < end && isWordByte(load<u8>(ptr));
  return before != after;
}
