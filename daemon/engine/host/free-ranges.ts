// An allocator for a range of addresses: first fit; neighbouring free parts are joined on release. Allocating and releasing
// cost one step per hole, whatever the size.

interface Range {
  start: number;
  end: number;
}

export class RangeList {
  /** Ascending, never adjacent. */
  readonly #free: Range[];

  constructor(start: number, end: number) {
    this.#free = [{ start, end }];
  }

  /** Allocates `size` bytes at the lowest possible address; undefined if they do not fit. */
  take(size: number): number | undefined {
    const index = this.#free.findIndex(({ start, end }) => end - start >= size);
    const range = this.#free[index];
    if (range === undefined) return undefined;
    const { start } = range;
    range.start += size;
    if (range.start === range.end) this.#free.splice(index, 1);
    return start;
  }

  /** Releases a range of `take`. */
  give(start: number, size: number): void {
    const end = start + size;
    const next = this.#free.findIndex((range) => range.start >= end);
    const index = next === -1 ? this.#free.length : next;
    const before = this.#free[index - 1];
    const after = this.#free[index];
    if (before?.end === start && after?.start === end) {
      before.end = after.end;
      this.#free.splice(index, 1);
    } else if (before?.end === start) before.end = end;
    else if (after?.start === end) after.start = start;
    else this.#free.splice(index, 0, { start, end });
  }
}
