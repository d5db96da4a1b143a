// An arena: allocates by moving one address up and releases everything at once. Each arena is named
// by the lifetime of its content; nothing in it is freed separately. Memory is not zeroed: builds
// with asserts fill released memory with 0xA5, so that a late read fails visibly.

const POISON: u8 = 0xa5;

export const ARENA_SIZE: usize = 12;

/** The record, at a 4-aligned address chosen by the caller, outside the managed memory. */
@unmanaged
export class Arena {
  start: u32; // address of the first byte
  end: u32; // address behind the last byte
  next: u32; // start of the free part
}

if (offsetof<Arena>() != ARENA_SIZE) ERROR('Arena: size');

export function arenaInit(arena: Arena, start: usize, end: usize): void {
  assert(start != 0 && start <= end, 'arena range');
  arena.start = <u32>start;
  arena.end = <u32>end;
  arena.next = <u32>start;
}

/**
 * Allocates `size` bytes, aligned to `align` (a power of two); 0 if they do not fit, and then
 * nothing is allocated. Valid until a reset to an earlier mark.
 */
export function arenaAlloc(arena: Arena, size: usize, align: usize): usize {
  assert(align != 0 && (align & (align - 1)) == 0, 'arena alignment');
  const next = <usize>arena.next;
  const end = <usize>arena.end;
  const padding = (<usize>0 - next) & (align - 1);
  if (padding > end - next || size > end - next - padding) return 0;
  const ptr = next + padding;
  arena.next = <u32>(ptr + size);
  return ptr;
}

/** A position for arenaReset; valid until a reset to an earlier one. */
@inline
export function arenaMark(arena: Arena): usize {
  return <usize>arena.next;
}

/** Releases everything allocated since `mark`, a result of arenaMark. */
export function arenaReset(arena: Arena, mark: usize): void {
  const used = <usize>arena.next;
  assert(mark >= <usize>arena.start && mark <= used, 'arena mark');
  if (!ASC_NO_ASSERT) memory.fill(mark, POISON, used - mark);
  arena.next = <u32>mark;
}
