// Canonical texts of automata, and of the analysis of an expression.

import type { Automaton, State } from '../../../daemon/engine/regex/automaton.ts';
import { printMatchStart } from '../../../daemon/engine/regex/match-start.ts';
import { printRanges } from '../../../daemon/engine/regex/code-points.ts';
import type { CompiledRegex } from '../../../daemon/engine/regex/compile.ts';
import { printCondition } from '../../../daemon/engine/regex/condition.ts';
import type { Needles } from '../../../daemon/engine/regex/needles.ts';
import type { SimpleTree } from '../../../daemon/engine/regex/simple-tree.ts';
import { countBits } from '../../../daemon/engine/shards/bits.ts';

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

/** Canonical text of the analysis of an expression: `needles prefix("foo"); holds "foo"`. */
export function describeRegex({ needles, condition, matchStart, ...regex }: CompiledRegex): string {
  const traits = [
    `needles ${printNeedles(needles)}`,
    `holds ${printCondition(condition)}`,
    ...(matchStart ? [`spans lines, begins in ${printMatchStart(matchStart)}`] : []),
    ...(regex.canBeEmpty ? ['can be empty'] : []),
  ];
  return traits.join('; ');
}

/** Canonical text: `prefix("foo", "bar")/i`, `run(9 bytes of 10)`, `none`. */
export function printNeedles({ kind, texts, isFolded, run }: Needles): string {
  if (run !== undefined) return `run(${run.size} bytes of ${countBits(run.bytes)})`;
  if (kind === 'none') return kind;
  const list = texts.map((text) => JSON.stringify(text)).join(', ');
  return `${kind}(${list})${isFolded ? '/i' : ''}`;
}

/** Canonical text of `tree`, for example `seq([61], repeat(0,, [62-63]))`. */
export function printSimple(tree: SimpleTree): string {
  switch (tree.kind) {
    case 'set':
      return `[${printRanges(tree.ranges).join(' ')}]`;
    case 'assertion':
      return tree.at;
    case 'repeat': {
      const counts = `${tree.min},${tree.max ?? ''}`;
      return `${tree.isLazy ? 'lazy' : 'repeat'}(${counts}, ${printSimple(tree.child)})`;
    }
    default: {
      const children = tree.children.map(printSimple).join(', ');
      return `${tree.kind === 'choice' ? 'or' : 'seq'}(${children})`;
    }
  }
}
