// Leaves that depend only on the shard's tables and find no ranges: CONST, LANGUAGE, REPOS, DOCS.

import { Arena } from '../base/arena.ts';
import { LANGUAGE_ROW_SIZE, NONE_ID, REPO_ROW_SIZE } from '../shared/format.ts';
import { NODE_AND, NODE_DOCS } from '../shared/plan.ts';
import { STATUS_BAD_PLAN } from '../shared/status.ts';
import { docAt } from '../shard/open.ts';
import { getBit, setBit } from '../base/bits.ts';
import { LanguageRow, RepoRow } from '../shard/rows.ts';
import {
  ALL_DOCS,
  boundView,
  docBitmapSize,
  docSetCount,
  docSets,
  failBinding,
  newDocBitmap,
  nextBoundDoc,
  NO_DOCS,
} from './bound.ts';
import { current } from './current.ts';
import { MatchNode, nodeAt, NODE_SIZE } from './node.ts';

/** LANGUAGE: the doc's language has this name, as bytes. */
@unmanaged
export class LanguageNode extends MatchNode {
  languageIndex: u32; // row of the bound shard's languages
}
if (offsetof<LanguageNode>() > NODE_SIZE) ERROR('LanguageNode: size');

/** DOCS: the doc is in a set that the host passes for each shard; `data` is the set's index. */
@unmanaged
export class DocsNode extends MatchNode {
  docs: u32; // the set of the bound shard: NO_DOCS, ALL_DOCS, or the host's bitmap
}
if (offsetof<DocsNode>() > NODE_SIZE) ERROR('DocsNode: size');

// bind...: sets the node's cost; returns NO_DOCS, ALL_DOCS or a bitmap that the caller may change.

export function bindConst(node: MatchNode): usize {
  node.cost = 0;
  return node.data != 0 ? ALL_DOCS : NO_DOCS;
}

/** Cost: linear in the docs that binding is restricted to. */
export function bindLanguage(arena: Arena, node: LanguageNode): usize {
  node.cost = 1;
  node.languageIndex = findLanguage(node);
  if (node.languageIndex == NONE_ID) return NO_DOCS;
  const docs = newDocBitmap(arena);
  if (docs == 0) return NO_DOCS;
  const count = boundView.docCount;
  for (let docId = nextBoundDoc(0); docId < count; docId = nextBoundDoc(docId + 1)) {
    if (docAt(boundView, docId).languageIndex == node.languageIndex) setBit(docs, docId);
  }
  return docs;
}

/** Row of the shard's languages with the node's name; NONE_ID. */
function findLanguage(node: MatchNode): u32 {
  for (let i: u32 = 0; i < boundView.languageCount; i++) {
    const row = changetype<LanguageRow>(<usize>boundView.languages + <usize>i * LANGUAGE_ROW_SIZE);
    if (row.nameSize != node.dataSize) continue;
    if (memory.compare(<usize>boundView.names + row.nameOffset, node.data, node.dataSize) == 0)
      return i;
  }
  return NONE_ID;
}

@inline
export function matchesLanguage(node: LanguageNode): bool {
  return docAt(boundView, current.docId).languageIndex == node.languageIndex;
}

/** Cost: for a shard with some of the repos and others, linear in the bound docs. */
export function bindRepos(arena: Arena, node: MatchNode): usize {
  node.cost = 1;
  let count: u32 = 0;
  for (let i: u32 = 0; i < boundView.repoCount; i++) if (hasRepo(node, i)) count++;
  if (count == 0) return NO_DOCS;
  if (count == boundView.repoCount) return ALL_DOCS;
  const docs = newDocBitmap(arena);
  if (docs == 0) return NO_DOCS;
  const docCount = boundView.docCount;
  for (let docId = nextBoundDoc(0); docId < docCount; docId = nextBoundDoc(docId + 1)) {
    if (hasRepo(node, docAt(boundView, docId).repoIndex)) setBit(docs, docId);
  }
  return docs;
}

export function matchesRepo(node: MatchNode): bool {
  return hasRepo(node, docAt(boundView, current.docId).repoIndex);
}

/** Whether a row of the shard's repos is among the node's ascending ids. */
function hasRepo(node: MatchNode, repoIndex: u32): bool {
  const repoId = changetype<RepoRow>(
    <usize>boundView.repos + <usize>repoIndex * REPO_ROW_SIZE,
  ).repoId;
  let start: u32 = 0;
  let end = node.dataSize >> 2;
  while (start < end) {
    const middle = (start + end) >> 1;
    if (load<u32>(<usize>node.data + (<usize>middle << 2)) < repoId) start = middle + 1;
    else end = middle;
  }
  return start < node.dataSize >> 2 && load<u32>(<usize>node.data + (<usize>start << 2)) == repoId;
}

/** Returns a copy of the set: verdicts are combined in place. */
export function bindDocs(arena: Arena, node: DocsNode): usize {
  node.cost = 1;
  if (node.data >= docSetCount) {
    failBinding(STATUS_BAD_PLAN);
    return NO_DOCS;
  }
  const set = <usize>load<u32>(docSets + (<usize>node.data << 2));
  node.docs = <u32>set;
  if (set == NO_DOCS || set == ALL_DOCS) return set;
  const docs = newDocBitmap(arena);
  if (docs == 0) return NO_DOCS;
  memory.copy(docs, set, docBitmapSize());
  return docs;
}

export function matchesDoc(node: DocsNode): bool {
  const set = <usize>node.docs;
  return set == ALL_DOCS || (set != NO_DOCS && getBit(set, current.docId) != 0);
}

/** The docs of the bound shard that are visible to the search; ALL_DOCS: without a set. */
export function visibleDocs(root: MatchNode): usize {
  let node = root;
  if (root.kind == NODE_AND) {
    for (let i: u32 = 0; i < root.childCount && node.kind != NODE_DOCS; i++)
      node = nodeAt(root.children, i);
  }
  if (node.kind != NODE_DOCS || node.data >= docSetCount) return ALL_DOCS;
  return <usize>load<u32>(docSets + (<usize>node.data << 2));
}
