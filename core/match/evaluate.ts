// Evaluates the bound tree on one doc. Children are evaluated in order of cost, up to the first that
// decides; a leaf is searched only in its candidate blocks, and its result is kept for all docs of
// the blob. A leaf is active in a doc if it and all nodes above it hold, and none of these is a NOT:
// the matches of active leaves are the ranges of the doc (ranges.ts).

import * as layout from '../shared/plan.ts';
import { matchesContent } from './leaves.ts';
import { enterDoc } from './current.ts';
import { DocsNode, matchesDoc, matchesLanguage, matchesRepo, LanguageNode } from './filters.ts';
import { matchRoot } from './match-tree.ts';
import {
  activeInContent,
  activeInPath,
  activeWords,
  addLeaf,
  RangeLeaf,
  ContentLeaf,
  MatchNode,
  nodeAt,
} from './node.ts';
import { matchesPath, PathLeaf } from './path-leaf.ts';
import { matchesInPath, TextLeaf } from './text-leaf.ts';

/** Active leaves of the current doc, except DOCS and CONST. */
export let activeLeafCount: u32 = 0;

/**
 * Makes `id` the current doc and evaluates the tree; if it holds, lists the active leaves. Hot. The
 * result is meaningless after isStopped (base/work.ts).
 */
export function evaluateDoc(id: u32): bool {
  enterDoc(id);
  if (!matches(matchRoot)) return false;
  activeInContent.count = 0;
  activeInPath.count = 0;
  activeWords.count = 0;
  activeLeafCount = 0;
  collectActive(matchRoot);
  return true;
}

/** Leaves cache their result, so evaluating again is cheap. Bound: PLAN_DEPTH_MAX deep. */
function matches(node: MatchNode): bool {
  if (node.ruledOut) return false;
  switch (node.kind) {
    case layout.NODE_CONST:
      return node.data != 0;
    case layout.NODE_AND: {
      for (let i: u32 = 0; i < node.childCount; i++)
        if (!matches(nodeAt(node.children, i))) return false;
      return true;
    }
    case layout.NODE_OR: {
      for (let i: u32 = 0; i < node.childCount; i++)
        if (matches(nodeAt(node.children, i))) return true;
      return false;
    }
    case layout.NODE_NOT:
      return !matches(nodeAt(node.children, 0));
    case layout.NODE_TEXT:
      return (
        matchesInPath(changetype<TextLeaf>(node)) || matchesContent(changetype<ContentLeaf>(node))
      );
    case layout.NODE_REGEX:
    case layout.NODE_SYMBOL:
    case layout.NODE_SYMBOL_REGEX:
      return matchesContent(changetype<ContentLeaf>(node));
    case layout.NODE_PATH:
    case layout.NODE_PATH_REGEX:
      return matchesPath(changetype<PathLeaf>(node));
    case layout.NODE_LANGUAGE:
      return matchesLanguage(changetype<LanguageNode>(node));
    case layout.NODE_DOCS:
      return matchesDoc(changetype<DocsNode>(node));
    default:
      return matchesRepo(node);
  }
}

/**
 * Lists the active leaves at and below a node that holds. Evaluates all children of an OR, also those
 * that `matches` skipped: each that holds gives ranges.
 */
function collectActive(node: MatchNode): void {
  switch (node.kind) {
    case layout.NODE_NOT:
    case layout.NODE_CONST:
    case layout.NODE_DOCS:
      return;
    case layout.NODE_AND:
    case layout.NODE_OR: {
      for (let i: u32 = 0; i < node.childCount; i++) {
        const child = nodeAt(node.children, i);
        if (node.kind == layout.NODE_AND || matches(child)) collectActive(child);
      }
      return;
    }
    case layout.NODE_TEXT: {
      const text = changetype<TextLeaf>(node);
      if (matchesInPath(text)) {
        addLeaf(activeInPath, text.path);
        addLeaf(activeWords, text.path);
      }
      if (matchesContent(text)) addLeaf(activeInContent, text);
      break;
    }
    case layout.NODE_REGEX:
    case layout.NODE_SYMBOL:
    case layout.NODE_SYMBOL_REGEX:
      addLeaf(activeInContent, changetype<RangeLeaf>(node));
      break;
    case layout.NODE_PATH:
    case layout.NODE_PATH_REGEX:
      addLeaf(activeInPath, changetype<RangeLeaf>(node));
  }
  activeLeafCount++;
}
