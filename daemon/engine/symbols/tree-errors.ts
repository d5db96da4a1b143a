// The parts of a text that a grammar could not read: the error nodes of its tree.

import type { Node, Tree } from 'web-tree-sitter';

/** Characters of a text, `end` excluded. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/**
 * Parts of the text inside an error node but not inside an intact node below it, ascending.
 *
 * Cost: visits nodes with errors and their children.
 */
export function unreadSpans({ rootNode }: Tree): Span[] {
  const spans: { start: number; end: number }[] = [];
  const stack: { node: Node; isError: boolean }[] = [{ node: rootNode, isError: false }];
  for (let item = stack.pop(); item !== undefined; item = stack.pop()) {
    const { node } = item;
    const isError = item.isError || node.isError;
    if (node.hasError && node.childCount > 0) {
      for (const child of node.children.toReversed()) stack.push({ node: child, isError });
    } else if (isError && !isWhole(node)) {
      const last = spans.at(-1);
      // Blanks and line ends between two tokens belong to them.
      if (last !== undefined && node.startIndex - last.end <= GAP_MAX) last.end = node.endIndex;
      else spans.push({ start: node.startIndex, end: node.endIndex });
    }
  }
  return spans;
}

/** Their total number of characters. */
export function unreadSize(tree: Tree): number {
  return unreadSpans(tree).reduce((size, { start, end }) => size + end - start, 0);
}

/** Most characters between two tokens of one part. */
const GAP_MAX = 100;

/** Whether a node below an error was read intact: it is a statement and not a token. */
function isWhole({ isNamed, startPosition, endPosition }: Node): boolean {
  return isNamed && endPosition.row > startPosition.row;
}
