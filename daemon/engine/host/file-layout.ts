// Where the header of a shard or symbols file (core/FORMAT.md) has its sections and its checksum.

import * as format from '../../../core/shared/format.ts';
import * as symbols from '../../../core/shared/symbols.ts';
import type { CoreExports } from './core.ts';

export interface FileLayout {
  readonly headSize: number;
  /** Offset of the section rows. */
  readonly sections: number;
  /** Kind of the section of page sums, the last one. */
  readonly sums: number;
  readonly checksumOffset: number;
  checksumOf(exports: CoreExports, header: number): bigint;
}

export const SHARD_LAYOUT: FileLayout = {
  headSize: format.HEADER_SIZE,
  sections: format.HEADER_SECTIONS_OFFSET,
  sums: format.SECTION_PAGE_SUMS,
  checksumOffset: format.HEADER_CHECKSUM_OFFSET,
  checksumOf: (exports, header) => BigInt.asUintN(64, exports.headerChecksum(header)),
};

export const SYMBOLS_LAYOUT: FileLayout = {
  headSize: symbols.SYMBOLS_HEADER_SIZE,
  sections: symbols.SYMBOLS_SECTIONS_OFFSET,
  sums: symbols.SYMBOLS_SECTION_PAGE_SUMS,
  checksumOffset: symbols.SYMBOLS_CHECKSUM_OFFSET,
  checksumOf: (exports, header) => BigInt.asUintN(64, exports.symbolsHeaderChecksum(header)),
};

/** Offset of a section's row in the header. */
export function sectionRow({ sections }: FileLayout, kind: number): number {
  return sections + (kind - 1) * format.SECTION_ROW_SIZE;
}

/** @param header  at the start of the file */
export function sectionStart(header: DataView, layout: FileLayout, kind: number): number {
  return header.getUint32(sectionRow(layout, kind) + format.SECTION_START_OFFSET, true);
}
