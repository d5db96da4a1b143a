// The canonical text of a syntax tree, for tests, logs and explain: one short operator a node, flags
// resolved. `a(?i:b)+$` prints as `seq('a', repeat(1,, 'b'/i), lineEnd)`. And that of an automaton.

import type { Automaton, State } from './automaton.ts';
import { printRanges } from './code-points.ts';
import type { ClassNode, RegexTree } from './tree.ts';

/** Canonical text of `tree`. */
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

/** Canonical text of `automaton`, states by their indexes: that of `ab*` is `start 3; 0 match; 1 2|0; 2 [62]1; 3 [61]1`. */
export function printAutomaton({ states, start }: Automaton): string {
  const clauses = states.map((state, index) => `${index} ${printState(state)}`);
  return [`start ${start}`, ...clauses].join('; ');
}

function printState(state: State): string {
  switch (state.kind) {
    case 'bytes': {
      const bytes = printRanges(
        state.edges.map(({ first: start, last }) => ({ start, end: last + 1 })),
      );
      const edges = state.edges.map(({ target }, index) => `[${bytes[index]}]${target}`);
      return edges.join(' ') || 'fails';
    }
    case 'choice':
      return state.targets.join('|');
    case 'assert':
      return `${state.at} ${state.target}`;
    case 'call':
      return `call ${state.entry} ${state.target}`;
    default:
      return state.kind;
  }
}
