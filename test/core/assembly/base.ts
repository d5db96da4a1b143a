// Entry file of the tests of core/base: exports its functions as they are.

export function heapBase(): usize {
  return __heap_base;
}

export { ARENA_SIZE, arenaAlloc, arenaInit, arenaMark, arenaReset } from '../../../core/base/arena';
export {
  XXH64_STATE_SIZE,
  xxh64,
  xxh64Begin,
  xxh64End,
  xxh64Update,
} from '../../../core/base/xxh64';
