// Operations on leaves of any kind, implemented in the kind's file.

import { NODE_PATH, NODE_PATH_REGEX, NODE_REGEX, NODE_TEXT } from '../shared/plan.ts';
import { NONE_ID } from '../shared/format.ts';
import { isStopped } from '../base/work.ts';
import { current, enterDoc } from './current.ts';
import {
  activeWords,
  addLeaf,
  RangeLeaf,
  ContentLeaf,
  contentLeafAt,
  contentLeaves,
  STATE_NO,
  STATE_UNKNOWN,
  STATE_YES,
} from './node.ts';
import { advancePath, enterPath, PathLeaf } from './path-leaf.ts';
import {
  advanceRegex,
  countRestOfRegex,
  enterRegexText,
  nextRegexRun,
  RegexLeaf,
} from './regex-leaf.ts';
import { advanceSymbol, SymbolLeaf } from './symbol-leaf.ts';
import { nextRun, NO_RUN } from './runs.ts';
import { advanceText, countRestOfText, matchesInPath, TextLeaf } from './text-leaf.ts';

/** Computed once for all docs with this blob. */
export function matchesContent(node: ContentLeaf): bool {
  if (node.state == STATE_UNKNOWN) {
    if (current.blobId == NONE_ID || isStopped) return false;
    const wasRead = current.isRead;
    current.isRead = false;
    startLeaf(node);
    node.state = node.matchStart != 0 ? STATE_YES : STATE_NO;
    node.isRead = current.isRead ? 1 : 0;
    current.isRead = current.isRead || wasRead;
  } else if (node.isRead != 0) current.isRead = true;
  return node.state == STATE_YES;
}

/** Moves the cursor to the first match in the current doc, from any state; matchStart = 0: none. */
export function startLeaf(node: RangeLeaf): void {
  if (node.kind == NODE_PATH || node.kind == NODE_PATH_REGEX) enterPath(changetype<PathLeaf>(node));
  else enterFirstBlock(changetype<ContentLeaf>(node));
  if (node.kind == NODE_REGEX) enterRegexText(changetype<RegexLeaf>(node));
  advanceLeaf(node);
  node.isFresh = 1;
}

/** Moves the cursor before the current blob. */
@inline
function enterFirstBlock(node: ContentLeaf): void {
  node.cursorBlock = current.firstBlock;
  node.cursor = <u32>current.start;
  node.cursorEnd = 0;
}

/** Moves the cursor to the next match; matchStart = 0 if there is none. */
export function advanceLeaf(node: RangeLeaf): void {
  node.isFresh = 0;
  switch (node.kind) {
    case NODE_TEXT:
      return advanceText(changetype<TextLeaf>(node));
    case NODE_REGEX:
      return advanceRegex(changetype<RegexLeaf>(node));
    case NODE_PATH:
    case NODE_PATH_REGEX:
      return advancePath(changetype<PathLeaf>(node));
    default:
      return advanceSymbol(changetype<SymbolLeaf>(node));
  }
}

/** Number of matches in content from the cursor's match on; afterwards none remains. */
export function countFromHere(node: RangeLeaf): u32 {
  if (node.matchStart == 0) return 0;
  let count: u32 = 1;
  if (node.kind == NODE_TEXT) count += countRestOfText(changetype<TextLeaf>(node));
  else if (node.kind == NODE_REGEX) count += countRestOfRegex(changetype<RegexLeaf>(node));
  else for (; advanceSymbol(changetype<SymbolLeaf>(node)), node.matchStart != 0; ) count++;
  node.matchStart = 0;
  node.isFresh = 0;
  return count;
}

/**
 * Whether kept ranges suffice to render a doc: those of the plan's only content leaf, if it is a literal or an expression
 * that reads only its candidate blocks.
 */
export function canKeepRanges(): bool {
  if (contentLeaves.count != 1) return false;
  const node = contentLeafAt(0);
  if (node.kind == NODE_TEXT) return changetype<TextLeaf>(node).grams.spansLines == 0;
  return node.kind == NODE_REGEX && changetype<RegexLeaf>(node).spansLines == 0;
}

/** Makes `id`, whose ranges were kept, the current doc, and records the reads of evaluating it. */
export function enterKeptDoc(id: u32): void {
  enterDoc(id);
  const node = contentLeafAt(0);
  enterFirstBlock(node);
  node.isFresh = 0;
  activeWords.count = 0;
  if (node.kind == NODE_REGEX) {
    while (nextRegexRun(changetype<RegexLeaf>(node))) {}
    return;
  }
  while (nextRun(node, node.bitmap) != NO_RUN) {}
  const text = changetype<TextLeaf>(node);
  if (matchesInPath(text)) addLeaf(activeWords, text.path);
}
