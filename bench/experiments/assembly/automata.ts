// Loops of deterministic automata, as experiment X4 compares them. Each counts the bytes after which the
// automaton is in an accepting state. Nothing here is used by the product.
//   direct   a row of 256 u32 for each state: the address of the next row;
//   classes  a row of 64 u32 for each state, one for each class of bytes, and a table of u8 that gives the
//            class (times 4) of a byte: smaller, and its second look-up does not wait for the state;
//   shuffle  at most 16 states: a vector for each byte that maps states to states ("Sheng").
// Accepting states have the highest rows or numbers. Several streams run in turns over texts of their own:
// each waits for its own look-ups only.

export { compileClassRun, findClassRun } from '../../../core/scan/class-run';
export { compileNeedle, findNeedle, foundEnd } from '../../../core/scan/literal';
export {
  compileLiteralSet,
  findInSet,
  foundSetEnd,
  literalSetSizeMax,
} from '../../../core/scan/literal-set';
export { countByte } from '../../../core/scan/newlines';

export function heapBase(): usize {
  return __heap_base;
}

/** Steps after which a u8 sum may be full. */
const STEPS_MAX: usize = 255;

export function direct(first: usize, accepting: usize, start: usize, end: usize): u32 {
  let count: u32 = 0;
  let row = first;
  for (let ptr = start; ptr < end; ptr++) {
    row = <usize>load<u32>(row + (<usize>load<u8>(ptr) << 2));
    count += <u32>(row >= accepting);
  }
  return count;
}

/** As classesFour, with rows for bytes. */
export function directFour(first: usize, accepting: usize, bounds: usize): u32 {
  let count: u32 = 0;
  const start0 = bound(bounds, 0);
  const start1 = bound(bounds, 1);
  const start2 = bound(bounds, 2);
  const start3 = bound(bounds, 3);
  const end3 = bound(bounds, 4);
  const size = min(min(start1 - start0, start2 - start1), min(start3 - start2, end3 - start3));
  let row0 = first;
  let row1 = first;
  let row2 = first;
  let row3 = first;
  for (let offset: usize = 0; offset < size; offset++) {
    row0 = <usize>load<u32>(row0 + (<usize>load<u8>(start0 + offset) << 2));
    row1 = <usize>load<u32>(row1 + (<usize>load<u8>(start1 + offset) << 2));
    row2 = <usize>load<u32>(row2 + (<usize>load<u8>(start2 + offset) << 2));
    row3 = <usize>load<u32>(row3 + (<usize>load<u8>(start3 + offset) << 2));
    count += <u32>(row0 >= accepting) + <u32>(row1 >= accepting);
    count += <u32>(row2 >= accepting) + <u32>(row3 >= accepting);
  }
  count += direct(row0, accepting, start0 + size, start1);
  count += direct(row1, accepting, start1 + size, start2);
  count += direct(row2, accepting, start2 + size, start3);
  return count + direct(row3, accepting, start3 + size, end3);
}

/** The row after `row` and the byte at `ptr`. */
@inline
function step(classes: usize, row: usize, ptr: usize): usize {
  return <usize>load<u32>(row + <usize>load<u8>(classes + <usize>load<u8>(ptr)));
}

export function classesOne(
  classes: usize,
  first: usize,
  accepting: usize,
  start: usize,
  end: usize,
): u32 {
  let count: u32 = 0;
  let row = first;
  for (let ptr = start; ptr < end; ptr++) {
    row = step(classes, row, ptr);
    count += <u32>(row >= accepting);
  }
  return count;
}

/** Address of text `index`; `bounds` are u32, the end of a text is the start of the next. */
@inline
function bound(bounds: usize, index: usize): usize {
  return <usize>load<u32>(bounds + (index << 2));
}

export function classesTwo(classes: usize, first: usize, accepting: usize, bounds: usize): u32 {
  let count: u32 = 0;
  const start0 = bound(bounds, 0);
  const start1 = bound(bounds, 1);
  const end1 = bound(bounds, 2);
  const size = min(start1 - start0, end1 - start1);
  let row0 = first;
  let row1 = first;
  for (let offset: usize = 0; offset < size; offset++) {
    row0 = step(classes, row0, start0 + offset);
    row1 = step(classes, row1, start1 + offset);
    count += <u32>(row0 >= accepting) + <u32>(row1 >= accepting);
  }
  count += classesOne(classes, row0, accepting, start0 + size, start1);
  return count + classesOne(classes, row1, accepting, start1 + size, end1);
}

export function classesFour(classes: usize, first: usize, accepting: usize, bounds: usize): u32 {
  let count: u32 = 0;
  const start0 = bound(bounds, 0);
  const start1 = bound(bounds, 1);
  const start2 = bound(bounds, 2);
  const start3 = bound(bounds, 3);
  const end3 = bound(bounds, 4);
  const size = min(min(start1 - start0, start2 - start1), min(start3 - start2, end3 - start3));
  let row0 = first;
  let row1 = first;
  let row2 = first;
  let row3 = first;
  for (let offset: usize = 0; offset < size; offset++) {
    row0 = step(classes, row0, start0 + offset);
    row1 = step(classes, row1, start1 + offset);
    row2 = step(classes, row2, start2 + offset);
    row3 = step(classes, row3, start3 + offset);
    count += <u32>(row0 >= accepting) + <u32>(row1 >= accepting);
    count += <u32>(row2 >= accepting) + <u32>(row3 >= accepting);
  }
  count += classesOne(classes, row0, accepting, start0 + size, start1);
  count += classesOne(classes, row1, accepting, start1 + size, start2);
  count += classesOne(classes, row2, accepting, start2 + size, start3);
  return count + classesOne(classes, row3, accepting, start3 + size, end3);
}

/** The states, all lanes the same, after `states` and the byte at `ptr`. */
@inline
function shuffle(tables: usize, states: v128, ptr: usize): v128 {
  return i8x16.swizzle(v128.load(tables + (<usize>load<u8>(ptr) << 4)), states);
}

/** `first` and `accepting` are numbers of states; `start` may follow on states of another call. */
export function shuffleOne(tables: usize, first: u32, accepting: u32, start: usize, end: usize): u32 {
  const accept = i8x16.splat(<u8>accepting);
  let states = i8x16.splat(<u8>first);
  let count: u32 = 0;
  for (let ptr = start; ptr < end; ) {
    const stop = ptr + min(end - ptr, STEPS_MAX);
    let sums = i8x16.splat(0);
    for (; ptr < stop; ptr++) {
      states = shuffle(tables, states, ptr);
      sums = i8x16.sub(sums, i8x16.ge_u(states, accept));
    }
    count += i8x16.extract_lane_u(sums, 0);
  }
  return count;
}

export function shuffleTwo(tables: usize, first: u32, accepting: u32, bounds: usize): u32 {
  const accept = i8x16.splat(<u8>accepting);
  const start0 = bound(bounds, 0);
  const start1 = bound(bounds, 1);
  const end1 = bound(bounds, 2);
  const size = min(start1 - start0, end1 - start1);
  let states0 = i8x16.splat(<u8>first);
  let states1 = i8x16.splat(<u8>first);
  let count: u32 = 0;
  for (let offset: usize = 0; offset < size; ) {
    const stop = offset + min(size - offset, STEPS_MAX);
    let sums0 = i8x16.splat(0);
    let sums1 = i8x16.splat(0);
    for (; offset < stop; offset++) {
      states0 = shuffle(tables, states0, start0 + offset);
      states1 = shuffle(tables, states1, start1 + offset);
      sums0 = i8x16.sub(sums0, i8x16.ge_u(states0, accept));
      sums1 = i8x16.sub(sums1, i8x16.ge_u(states1, accept));
    }
    count += <u32>i8x16.extract_lane_u(sums0, 0) + <u32>i8x16.extract_lane_u(sums1, 0);
  }
  const next0 = <u32>i8x16.extract_lane_u(states0, 0);
  const next1 = <u32>i8x16.extract_lane_u(states1, 0);
  count += shuffleOne(tables, next0, accepting, start0 + size, start1);
  return count + shuffleOne(tables, next1, accepting, start1 + size, end1);
}
