// Shifts vectors of bytes up by one to three lanes; the free lanes get the last bytes of the
// previous vector.

/** `lanes` shifted up by one, after the last lane of `before`. */
@inline
export function shiftOne(before: v128, lanes: v128): v128 {
  // prettier-ignore
  return i8x16.shuffle(
    before, lanes, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30);
}

@inline
export function shiftTwo(before: v128, lanes: v128): v128 {
  // prettier-ignore
  return i8x16.shuffle(
    before, lanes, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29);
}

@inline
export function shiftThree(before: v128, lanes: v128): v128 {
  // prettier-ignore
  return i8x16.shuffle(
    before, lanes, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28);
}
