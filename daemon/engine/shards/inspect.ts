// Prints the structure of a shard file for people.

import { statSync } from 'node:fs';
import { SECTION_COUNT, SKIP_NONE } from '../../../core/shared/format.ts';
import { compileCore } from '../host/core.ts';
import { Space } from '../host/space.ts';
import { SKIP_REASON_NAMES } from './skip-reasons.ts';
import { SECTION_NAMES, ShardTables } from './tables.ts';

export interface InspectRequest {
  readonly path: string;
  /** Which docs to list; absent: none. `skipped`: those indexed by name only. */
  readonly docs?: 'all' | 'skipped' | undefined;
  readonly trigram?: string | undefined;
}

export interface Inspection {
  readonly path: string;
  readonly formatVersion: number;
  readonly fileSize: number;
  readonly contentSize: number;
  readonly docCount: number;
  readonly blockCount: number;
  readonly trigramCount: number;
  readonly repos: readonly { readonly repoId: number; readonly name: string }[];
  readonly sections: readonly {
    readonly name: string;
    readonly offset: number;
    readonly size: number;
    readonly checksum: string;
  }[];
  readonly docs?: readonly {
    readonly docId: number;
    readonly path: string;
    readonly size: number;
    readonly language: string;
    readonly skipReason?: string;
  }[];
  readonly postings?: { readonly trigram: string; readonly blockIds: readonly number[] };
}

/** Errors: ShardError for an invalid shard file; the file system's. */
export async function inspectShard(request: InspectRequest): Promise<Inspection> {
  const space = new Space(await compileCore());
  const shardId = request.path;
  space.open({ shardId, path: request.path, size: statSync(request.path).size });
  const bytes = space.bytesOf(shardId);
  const tables = new ShardTables(bytes);
  const { trigram, docs } = request;
  return {
    path: request.path,
    formatVersion: tables.formatVersion,
    fileSize: bytes.length,
    contentSize: tables.contentSize,
    docCount: tables.docCount,
    blockCount: tables.blockCount,
    trigramCount: tables.gramCount,
    repos: tables.repos(),
    sections: sectionsOf(tables),
    ...(docs === undefined ? {} : { docs: docsOf(tables, docs === 'skipped') }),
    ...(trigram === undefined
      ? {}
      : { postings: { trigram, blockIds: space.blocksOfTrigram(shardId, trigram) } }),
  };
}

function sectionsOf(tables: ShardTables): Inspection['sections'] {
  return Array.from({ length: SECTION_COUNT }, (_, index) => {
    const { start, size, checksum } = tables.section(index + 1);
    const hex = checksum.toString(16).padStart(16, '0');
    return { name: SECTION_NAMES[index + 1]!, offset: start, size, checksum: hex };
  });
}

function docsOf(tables: ShardTables, isSkippedOnly: boolean): NonNullable<Inspection['docs']> {
  const docs = Array.from({ length: tables.docCount }, (_, docId) => {
    const { path, size, language, skipReason } = tables.doc(docId);
    const doc = { docId, path: Buffer.from(path).toString(), size, language };
    const reason = SKIP_REASON_NAMES[skipReason];
    return skipReason === SKIP_NONE || reason === undefined ? doc : { ...doc, skipReason: reason };
  });
  return isSkippedOnly ? docs.filter((doc) => 'skipReason' in doc) : docs;
}
