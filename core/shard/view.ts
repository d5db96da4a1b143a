// The record of an open shard: absolute addresses and counts of its tables. Filled by open.ts and
// symbols.ts after their checks; everything else reads through it.

/** The host reserves it, and owns the bytes that it points to; both stay in place. */
@unmanaged
export class ShardView {
  base: u32;
  content: u32;
  contentSize: u32;
  blobs: u32;
  blobHashes: u32;
  hashSize: u32; // bytes of a git id
  blocks: u32;
  docs: u32;
  paths: u32;
  pathsSize: u32;
  pathOrder: u32;
  repos: u32;
  languages: u32;
  names: u32;
  namesSize: u32;
  gramKeys: u32;
  gramLists: u32;
  postings: u32;
  postingsSize: u32;
  caseMarks: u32; // CASE_MARKS_SIZE bytes a block
  pathGramKeys: u32;
  pathGramRows: u32; // pathRowSize bytes a gram
  pathGramCount: u32;
  pathRowSize: u32;
  pathGroupShift: u32; // a group is 1 << pathGroupShift docs
  docCount: u32;
  blobCount: u32;
  blockCount: u32; // blockIds, unused ones included
  gramCount: u32;
  repoCount: u32;
  languageCount: u32;
  // Of its symbols file (symbols.ts):
  symbolStarts: u32; // 0: it has none
  symbolRows: u32;
  symbolParents: u32;
  symbolParentNames: u32;
  symbolNames: u32;
  symbolNameSizes: u32;
  symbolNameLists: u32;
  symbolLists: u32;
  symbolListsSize: u32;
  symbolCount: u32;
  symbolNameCount: u32;
  symbolParentCount: u32;
  // Its kept binding (match/bindings.ts), and the generation of the binding:
  kept: u32;
  keptIn: u32;
  // The names of symbols that the plan names (match/heads.ts), and the generation of that:
  namedIn: u32;
  nameHeads: u32; // NAME_HEADS_*
  nameKind: u32; // of the first text
  nameStart: u32;
  nameEnd: u32;
  otherNameKind: u32; // of the second
  otherNameStart: u32;
  otherNameEnd: u32;
  // Sums of the pages of the file, directly after the pages; and of its symbols file (pages.ts):
  pageSums: u32;
  symbolBase: u32;
  symbolPageSums: u32;
}

const SHARD_VIEW_SIZE: usize = 224;
if (offsetof<ShardView>() != SHARD_VIEW_SIZE) ERROR('ShardView: size');

export function shardViewSize(): usize {
  return SHARD_VIEW_SIZE;
}
