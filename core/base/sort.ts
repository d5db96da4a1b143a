// Sorts rows by a 64-bit key, and by a comparison where keys are equal. A bottom-up merge sort:
// stable, no recursion, twice the memory of the rows.

export const SORT_ROW_SIZE: usize = 16;

/**
 * Sorts the `count` rows at `rows`; returns the address of the sorted rows, `rows` or `scratch`.
 * @param scratch  room for as many rows
 * @param compare  order of two values whose rows have equal keys; below 0: the first comes first
 */
export function sortByKey(
  rows: usize,
  count: u32,
  scratch: usize,
  compare: (a: u32, b: u32) => i32,
): usize {
  let source = rows;
  let target = scratch;
  for (let width: u32 = 1; width < count; width <<= 1) {
    for (let start: u32 = 0; start < count; start += width << 1) {
      const middle = min(start + width, count);
      merge(source, start, middle, min(middle + width, count), target, compare);
    }
    const swapped = source;
    source = target;
    target = swapped;
  }
  return source;
}

function merge(
  source: usize,
  start: u32,
  middle: u32,
  end: u32,
  target: usize,
  compare: (a: u32, b: u32) => i32,
): void {
  let left = source + <usize>start * SORT_ROW_SIZE;
  const leftEnd = source + <usize>middle * SORT_ROW_SIZE;
  let right = leftEnd;
  const rightEnd = source + <usize>end * SORT_ROW_SIZE;
  let out = target + <usize>start * SORT_ROW_SIZE;
  while (left < leftEnd && right < rightEnd) {
    const leftKey = load<u64>(left);
    const rightKey = load<u64>(right);
    const isRightFirst =
      rightKey < leftKey ||
      (rightKey == leftKey && compare(load<u32>(right, 8), load<u32>(left, 8)) < 0);
    const row = isRightFirst ? right : left;
    v128.store(out, v128.load(row));
    out += SORT_ROW_SIZE;
    if (isRightFirst) right += SORT_ROW_SIZE;
    else left += SORT_ROW_SIZE;
  }
  memory.copy(out, left, leftEnd - left);
  memory.copy(out + (leftEnd - left), right, rightEnd - right);
}
