// Where expressions mean the same in JavaScript, and their matches there.

import type { SimpleTree } from '../../../daemon/engine/regex/simple-tree.ts';
import { isNullable } from '../../../daemon/engine/regex/traits.ts';

/** Whether an optional round may be empty, which means something else in JavaScript. */
export function hasEmptyRounds(tree: SimpleTree): boolean {
  if (tree.kind === 'repeat') {
    return (tree.max !== tree.min && isNullable(tree.child)) || hasEmptyRounds(tree.child);
  }
  return 'children' in tree && tree.children.some(hasEmptyRounds);
}

/** The non-empty matches, in bytes of UTF-8. */
export function rangesInJavaScript(expression: RegExp, text: string): readonly object[] {
  const offset = (index: number): number => Buffer.byteLength(text.slice(0, index));
  return Array.from(text.matchAll(expression))
    .filter((match) => match[0] !== '')
    .map((match) => ({ start: offset(match.index), end: offset(match.index + match[0].length) }));
}
