// The canonical form of a query (API.md 9.8), for people: backslashes are not escaped, so it cannot be parsed back.

import type { QueryNode } from './tree.ts';

/** Canonical form of `node`, for example `and(file:/\.ts$/, not(text:"foo"))`. */
export function printQuery(node: QueryNode): string {
  switch (node.kind) {
    case 'text':
      return `${node.isOfContent === true ? 'content' : 'text'}:${quoteText(node.text)}`;
    case 'regex':
      return `regex:/${node.pattern}/`;
    case 'pattern':
      return `${node.prefix}:/${node.pattern}/`;
    case 'value':
      return `${node.prefix}:${quoteText(node.value)}`;
    case 'const':
      return node.value ? 'ALL' : 'NONE';
    case 'not':
      return `not(${printQuery(node.child)})`;
    default:
      return `${node.kind}(${node.children.map(printQuery).join(', ')})`;
  }
}

export function quoteText(text: string): string {
  return `"${text.replaceAll('"', String.raw`\"`)}"`;
}
