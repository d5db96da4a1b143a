// The text of the bound match tree, on one line, for tests and debugging. Children are in order of
// evaluation; a node ruled out in the shard prints as `none`.
//
//   and(lang:"Go", text:"plum" in 3 blocks, not(file:"_test"))
//   or(none, regex in 7 blocks, from 4, 2 of them at the end)     matches begin in 4: regex-leaf.ts
//   text:"e" in all blocks
//   text:"plum" in 3 blocks, 2 paths

import { NODE_LANGUAGE, NODE_PATH, NODE_SYMBOL, NODE_TEXT } from '../shared/plan.ts';
import { writeAsciiText, writeDecimal, writeJsonString } from '../scan/json.ts';
import { countBits } from './block-sets.ts';
import { blockBitmapSize, docBitmapSize } from './bound.ts';
import { matchRoot } from './match-tree.ts';
import { ContentLeaf, isInContent, MatchNode, nodeAt } from './node.ts';
import { TextLeaf } from './text-leaf.ts';

// prettier-ignore
const NAMES: StaticArray<string> = [
  '', 'all', 'and', 'or', 'not', 'text', 'file', 'lang', 'repos', 'docs',
  'regex', 'file', 'grams', 'sym', 'sym',
];

let out: usize = 0;

/** Safety: there is room for 6 times the plan's size and 160 bytes a node. */
export function printTree(to: usize): u32 {
  out = to;
  printNode(matchRoot);
  return <u32>(out - to);
}

function printNode(node: MatchNode): void {
  // Nothing below such a node is bound.
  if (node.ruledOut != 0) return print('none');
  print(unchecked(NAMES[node.kind]));
  if (node.childCount != 0) return printChildren(node);
  if (hasLiteral(node.kind)) {
    print(':"');
    out = writeJsonString(out, node.data, <usize>node.data + node.dataSize);
    print('"');
  }
  if (isInContent(node.kind)) printBlocks(changetype<ContentLeaf>(node));
  if (node.kind == NODE_TEXT) printPaths(changetype<TextLeaf>(node));
}

function printPaths(node: TextLeaf): void {
  if (node.pathDocs == 0) return;
  print(', ');
  out = writeDecimal(out, countBits(node.pathDocs, docBitmapSize()));
  print(' paths');
}

function printChildren(node: MatchNode): void {
  for (let i: u32 = 0; i < node.childCount; i++) {
    print(i == 0 ? '(' : ', ');
    printNode(nodeAt(node.children, i));
  }
  print(')');
}

function hasLiteral(kind: u32): bool {
  return kind == NODE_TEXT || kind == NODE_PATH || kind == NODE_LANGUAGE || kind == NODE_SYMBOL;
}

function printBlocks(node: ContentLeaf): void {
  if (node.bitmap == 0) return print(' in all blocks');
  printCount(' in ', node.bitmap);
  print(' blocks');
  if (node.starts != 0) printCount(', from ', node.starts);
  if (node.borders == 0) return;
  printCount(', ', node.borders);
  print(' of them at the end');
}

function printCount(before: string, bitmap: usize): void {
  print(before);
  out = writeDecimal(out, countBits(bitmap, blockBitmapSize));
}

function print(text: string): void {
  out = writeAsciiText(out, text);
}
