// The exported functions of the core: numbers in, numbers out, no logic.

/** Address of the first byte that static data does not use; arenas begin here. */
export function heapBase(): usize {
  return __heap_base;
}
