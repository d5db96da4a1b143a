// The core with faults on demand, for tests of what the daemon does about them. A shard of 1,777 docs traps
// in its second unit; in one of 1,778 docs each unit takes long; in one of 1,779 docs until it is stopped.

import { beginWork, countWork, isStopped } from '../../../core/base/work';
import { STATUS_STOPPED } from '../../../core/shared/status';
import { boundView } from '../../../core/match/bound';
import { searchUnit as searchValidUnit } from '../../../core/match/unit';

export * from '../../../core/abi';

const TRAPPING_DOCS: u32 = 1777;
const SLOW_DOCS: u32 = 1778;
const ENDLESS_DOCS: u32 = 1779;

export function searchUnit(unit: u32, out: usize, stats: usize, keptSize: usize): i32 {
  if (boundView.docCount == TRAPPING_DOCS && unit == 1) unreachable();
  if (boundView.docCount == SLOW_DOCS) waste(out);
  if (boundView.docCount == ENDLESS_DOCS) {
    beginWork();
    while (!isStopped) countWork(1 << 10);
    return STATUS_STOPPED;
  }
  return searchValidUnit(unit, out, stats, keptSize);
}

function waste(ptr: usize): void {
  for (let i: u32 = 0; i < 100_000_000; i++) store<u32>(ptr, load<u32>(ptr) + i);
}
