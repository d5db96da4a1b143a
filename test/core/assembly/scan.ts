// Entry file of the tests of core/text and core/scan: exports their functions as they are.

export function heapBase(): usize {
  return __heap_base;
}

export {
  countCodePoints,
  decodeUtf8,
  decodeUtf8Before,
  encodeUtf8,
  isAscii,
} from '../../../core/text/utf8';
export { foldCodePoint, foldVariants, isFoldable } from '../../../core/text/fold';
export { writeDecimal, writeJsonString } from '../../../core/scan/json';
export { countByte, findByte, findLastByte, findNonAscii } from '../../../core/scan/newlines';
export {
  compileNeedle,
  countNeedle,
  findNeedle,
  foundEnd,
  needleEngine,
  needleSizeMax,
} from '../../../core/scan/literal';
export {
  countByteScalar,
  countCodePointsScalar,
  countNeedleScalar,
  findByteScalar,
  findLastByteScalar,
} from '../../../core/scan/scalar';
