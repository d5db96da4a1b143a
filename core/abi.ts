// The exported functions of the core, described where they are defined. All parameters and results
// are numbers.
//
// Protocol. The host provides the memory at its final size: it never grows, because shard files may
// be mapped over a part of it. Addresses from heapBase() up belong to the host, which passes ranges
// to the core: arenas, output areas, records. The core owns only its static data and never frees.
//   search:  coreInit -> requestArenaInit -> openShard for each shard -> (planCompile ->
//            (docSetsInit if the plan names sets -> planBind -> searchUnit* / renderDocs*) for each
//            shard) for each request
//   build:   coreInit -> builderInit -> (builderBegin -> builderAddBlob* -> builderClose ->
//            builderFinish -> read segments and rows) for each batch; mergeBegin -> mergeAddSegment*
//            -> mergeStep* -> mergeFinish, pathGramsBuild for each shard
//   symbols: coreInit -> openShard -> symbolsBegin -> symbolsAddBlob* -> symbolsFinish -> read the
//            sections
// The host provides isStopRequested (base/work.ts), called by planBind, searchUnit, scoreDoc,
// renderDocs and testNames, and bringIn, noteChecked, refusePage and willNeed (shard/pages.ts), called
// when an open shard is read. They must not call the core. Statuses are in shared/status.ts. A u32 reaches
// the host as a signed number: it applies `>>> 0`. Some exports are variables that the host reads.

export { xxh64 as checksum } from './base/xxh64';
export { renderDocs, loadCount as renderedLoadCount } from './match/file-results';
export { docBitmapSizeOf as docSetSize } from './match/bound';
export { hasHeads } from './match/heads';
export { regexEngine, testNames } from './match/lone-expression';
export { nodeCounts } from './match/match-tree';
export { printTree } from './match/print-tree';
export {
  docSetsInit,
  planBind,
  planBindDocs,
  planBindHeads,
  planCompile,
  requestArenaInit,
} from './match/request';
export { scoreDoc, searchUnit } from './match/unit';
export {
  builderAddBlob,
  builderBegin,
  blobCount as builderBlobCount,
  blobRows as builderBlobRows,
  blockCount as builderBlockCount,
  blockRows as builderBlockRows,
  caseMarks as builderCaseMarks,
  builderClose,
  contentSize as builderContentSize,
  builderFinish,
  builderInit,
  output as builderOutput,
  segmentCount as builderSegmentCount,
  builderSegmentEnd,
} from './shard/builder';
export { listBlocks } from './shard/lists';
export {
  mergeAddSegment,
  mergeBegin,
  mergeFinish,
  keysPtr as mergeKeys,
  listsPtr as mergeLists,
  mergeStep,
} from './shard/merge';
export { headerChecksum, failIndex as openFailIndex, failSection as openFailSection, openShard } from './shard/open';
export { arePagesValid, forgetPages, pagesInit, verifiedPagesSize, sumPages } from './shard/pages';
export { pathGramsBuild, pathKeyCount, pathKeys, pathRows, pathRowSize } from './shard/path-grams';
export { openSymbols, symbolsHeaderChecksum, verifySymbols } from './shard/symbols';
export {
  symbolsAddBlob,
  symbolsBegin,
  symbolCount as symbolsCount,
  symbolsFinish,
  lists as symbolsLists,
  listsEnd as symbolsListsEnd,
  nameCount as symbolsNameCount,
  nameLists as symbolsNameLists,
  nameOffsets as symbolsNameOffsets,
  nameSizes as symbolsNameSizes,
  rows as symbolsRows,
  rowsEnd as symbolsRowsEnd,
  starts as symbolsStarts,
} from './shard/symbols-builder';
export {
  verifyChecksums,
  failIndex as verifyFailIndex,
  verifyPathGrams,
  verifyScratchSize,
  verifySegment,
  verifySegmentSum,
} from './shard/verify';
export { shardViewSize } from './shard/view';
export { gramCharsInit as coreInit } from './text/gram-chars';

/** The first address after static data. */
export function heapBase(): usize {
  return __heap_base;
}
