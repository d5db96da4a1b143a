// The core with faults on demand, for tests of what the daemon does about them. A shard of 1,777 docs traps
// in its second unit; in one of 1,778 docs each unit takes long.

import { boundView } from '../../../core/match/bound';
import { searchUnit as searchSoundUnit } from '../../../core/match/search';

export {
  builderAddBlob,
  builderBegin,
  builderBlobCount,
  builderBlobRows,
  builderBlockCount,
  builderBlockRows,
  builderCaseMarks,
  builderClose,
  builderContentSize,
  builderFinish,
  builderInit,
  builderOutput,
  builderStripeCount,
  builderStripeEnd,
  checksum,
  coreInit,
  headerChecksum,
  heapBase,
  listBlocks,
  mergeAddStripe,
  mergeBegin,
  mergeFinish,
  mergeKeys,
  mergeLists,
  mergeStep,
  docSetSize,
  docSetsInit,
  openFailIndex,
  openFailSection,
  openShard,
  pagesInit,
  forgetPages,
  soundPagesSize,
  sumPages,
  planBind,
  planCompile,
  renderDocs,
  renderedLoadCount,
  requestArenaInit,
  shardViewSize,
  verifyChecksums,
  verifyFailIndex,
  verifyScratchSize,
  verifyStripe,
} from '../../../core/abi';

const TRAPPING_DOCS: u32 = 1777;
const SLOW_DOCS: u32 = 1778;

export function searchUnit(unit: u32, out: usize, stats: usize, keptSize: usize): i32 {
  if (boundView.docCount == TRAPPING_DOCS && unit == 1) unreachable();
  if (boundView.docCount == SLOW_DOCS) waste(out);
  return searchSoundUnit(unit, out, stats, keptSize);
}

function waste(ptr: usize): void {
  for (let i: u32 = 0; i < 100_000_000; i++) store<u32>(ptr, load<u32>(ptr) + i);
}
