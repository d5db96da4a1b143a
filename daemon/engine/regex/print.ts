// The canonical text of a syntax tree: `a(?i:b)+$` prints as `seq('a', repeat(1,, 'b'/i), lineEnd)`.

import { printRanges } from './code-points.ts';
import type { ClassNode, RegexTree } from './tree.ts';

export function printRegex(tree: RegexTree): string {
  switch (tree.kind) {
    case 'literal':
      return `'${String.fromCodePoint(tree.codePoint)}'${tree.isFolded ? '/i' : ''}`;
    case 'any':
      return tree.hasNewline ? 'any' : 'anyInLine';
    case 'class':
      return printClass(tree);
    case 'assertion':
      return tree.at;
    case 'repeat': {
      const counts = `${tree.min},${tree.max ?? ''}`;
      return `${tree.isLazy ? 'lazy' : 'repeat'}(${counts}, ${printRegex(tree.child)})`;
    }
    case 'sequence':
      return `seq(${tree.children.map(printRegex).join(', ')})`;
    default:
      return `or(${tree.children.map(printRegex).join(', ')})`;
  }
}

/** Ranges with their last code points, in hexadecimal: `[^61-7a Greek]/i`. */
function printClass({ ranges, properties, isNegated, isFolded }: ClassNode): string {
  const members = [
    ...printRanges(ranges),
    ...properties.map((property) => `${property.isNegated ? '!' : ''}${property.name}`),
  ];
  return `[${isNegated ? '^' : ''}${members.join(' ')}]${isFolded ? '/i' : ''}`;
}
