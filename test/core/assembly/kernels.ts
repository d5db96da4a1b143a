// Entry file of the tests and benchmarks of core/base, core/text and core/scan: exports their functions as
// they are.

export function heapBase(): usize {
  return __heap_base;
}

export { arenaAlloc, arenaInit, arenaMark, arenaReset } from '../../../core/base/arena';
export { xxh64, xxh64Without } from '../../../core/base/xxh64';
export {
  countCodePoints,
  decodeUtf8,
  decodeUtf8Before,
  encodeUtf8,
  isAscii,
} from '../../../core/text/utf8';
export { foldCodePoint, foldVariants, isFoldable } from '../../../core/text/fold';
export { writeDecimal, writeJsonString } from '../../../core/scan/json';
export { writeEncodedPath } from '../../../core/scan/percent';
export { findIllFormed } from '../../../core/scan/well-formed';
export { hasMarks, markBlock, marksOfText } from '../../../core/text/case-marks';
export { appendGramChar, gramCharsInit } from '../../../core/text/gram-chars';
export { countByte, findByte, findLastByte, findNonAscii } from '../../../core/scan/newlines';
export {
  compileNeedle,
  countNeedle,
  findNeedle,
  foundEnd,
  needleSizeMax,
} from '../../../core/scan/literal';
export { CLASS_RUN_SIZE, compileClassRun, findClassRun } from '../../../core/scan/class-run';
export {
  compileLiteralSet,
  findInSet,
  foundSetEnd,
  foundSetIndex,
  literalSetSizeMax,
} from '../../../core/scan/literal-set';
export {
  countByteScalar,
  countCodePointsScalar,
  countNeedleScalar,
  findByteScalar,
  findClassRunScalar,
  findInSetScalar,
  findLastByteScalar,
  foundSetEndScalar,
  foundSetIndexScalar,
} from './scalar';
