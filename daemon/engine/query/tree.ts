// The parsed query as a tree of plain values (API.md section 9). Positions are 0-based code point offsets into the query text.

import type { RegexTree } from '../regex/tree.ts';

/** Leaf: a literal in the content of a doc or, without `content:`, in its path. */
export interface TextNode {
  readonly kind: 'text';
  readonly text: string;
  readonly isOfContent?: true;
  readonly position: number;
}

/** Leaf: a regular expression over the content (regex mode only). */
export interface RegexNode {
  readonly kind: 'regex';
  readonly pattern: string;
  readonly tree: RegexTree;
  readonly position: number;
}

export interface PatternNode {
  readonly kind: 'pattern';
  readonly prefix: 'repo' | 'file' | 'sym';
  readonly pattern: string;
  readonly tree: RegexTree;
  readonly position: number;
}

export interface ValueNode {
  readonly kind: 'value';
  readonly prefix: ValuePrefix;
  readonly value: string;
  readonly position: number;
}

export type ValuePrefix =
  'lang' | 'rev' | 'context' | 'reposet' | 'archived' | 'fork' | 'visibility';

/** `()` matches nothing (false), `-()` everything (true). */
export interface ConstNode {
  readonly kind: 'const';
  readonly value: boolean;
}

export interface NotNode {
  readonly kind: 'not';
  readonly child: QueryNode;
}

/** At least two children, none of the same kind as the node itself. */
export interface ListNode {
  readonly kind: 'and' | 'or';
  readonly children: readonly QueryNode[];
}

type LeafNode = TextNode | RegexNode | PatternNode | ValueNode | ConstNode;

export type QueryNode = LeafNode | NotNode | ListNode;

/** In the order of the query. */
export function leavesOf(node: QueryNode): LeafNode[] {
  if (node.kind === 'not') return leavesOf(node.child);
  return 'children' in node ? node.children.flatMap(leavesOf) : [node];
}
