// Programs for the tests of core/regex: small expression trees, their automata by Thompson's construction in
// the layout of core/shared/program.ts, and a backtracking matcher over the automaton that follows the
// definition: the most preferred path of states that ends in a match, no state twice at one place.

import * as format from '../../core/shared/program.ts';

export type Tree =
  | { kind: 'bytes'; ranges: readonly (readonly [number, number])[] }
  | { kind: 'assert'; assert: number }
  | { kind: 'concat' | 'choice'; children: readonly Tree[] }
  | { kind: 'repeat'; child: Tree; min: 0 | 1; max: 1 | 'many'; isLazy: boolean };

export interface State {
  kind: number;
  /** BYTES: first byte, last byte, target. */
  transitions: readonly (readonly [number, number, number])[];
  /** CHOICE: targets; ASSERT: the one target. */
  targets: number[];
  assert: number;
}

export interface Automaton {
  states: State[];
  start: number;
}

export interface Needles {
  kind: number;
  literals: readonly (string | Uint8Array)[];
  isFolded?: boolean;
}

export const NO_NEEDLES: Needles = { kind: format.NEEDLES_NONE, literals: [] };

/** The automaton of a tree; `isReverse` reads matches from their end. */
export function makeAutomaton(tree: Tree, isReverse: boolean): Automaton {
  const states: State[] = [];
  const add = (state: Partial<State> & { kind: number }): number =>
    states.push({ transitions: [], targets: [], assert: 0, ...state }) - 1;
  const build = (node: Tree, next: number): number => {
    switch (node.kind) {
      case 'bytes':
        return add({
          kind: format.STATE_BYTES,
          transitions: node.ranges.map(([first, last]) => [first, last, next]),
        });
      case 'assert':
        return add({ kind: format.STATE_ASSERT, targets: [next], assert: node.assert });
      case 'concat':
        return isReverse
          ? node.children.reduce((behind, child) => build(child, behind), next)
          : node.children.reduceRight((behind, child) => build(child, behind), next);
      case 'choice':
        return add({
          kind: format.STATE_CHOICE,
          targets: node.children.map((child) => build(child, next)),
        });
      default:
        return buildRepeat(node, next);
    }
  };
  const buildRepeat = (node: Tree & { kind: 'repeat' }, next: number): number => {
    const choice = add({ kind: format.STATE_CHOICE });
    const inner = build(node.child, node.max === 1 ? next : choice);
    states[choice]!.targets = node.isLazy ? [next, inner] : [inner, next];
    return node.min === 1 ? inner : choice;
  };
  const match = add({ kind: format.STATE_MATCH });
  return { start: build(tree, match), states };
}

const encoder = new TextEncoder();

export function encodeProgram(
  forward: Automaton,
  reverse: Automaton,
  flags: number,
  needles: Needles = NO_NEEDLES,
): Uint8Array {
  const rows: number[] = [];
  const transitions: number[] = [];
  const alternatives: number[] = [];
  for (const { kind, transitions: own, targets, assert } of [
    ...forward.states,
    ...reverse.states,
  ]) {
    if (kind === format.STATE_BYTES) {
      rows.push(kind, transitions.length / 2, own.length);
      for (const [first, last, target] of own) transitions.push(first | (last << 8), target);
    } else if (kind === format.STATE_CHOICE) {
      rows.push(kind, alternatives.length, targets.length);
      alternatives.push(...targets);
    } else {
      rows.push(kind, targets[0] ?? 0, assert);
    }
  }
  const literals = needles.literals.map((literal) =>
    typeof literal === 'string' ? encoder.encode(literal) : literal,
  );
  let literalsSize = 0;
  const needleRows = literals.flatMap((literal) => {
    literalsSize += literal.length;
    return [literalsSize - literal.length, literal.length];
  });
  const numbers = [...rows, ...transitions, ...alternatives, ...needleRows];
  const tablesSize = format.PROGRAM_HEADER_SIZE + numbers.length * 4;
  const size = Math.ceil((tablesSize + literalsSize) / 4) * 4;
  const header = [
    size,
    flags | (needles.isFolded === true ? format.PROGRAM_NEEDLES_FOLDED : 0),
    forward.start,
    forward.states.length,
    reverse.start,
    reverse.states.length,
    transitions.length / 2,
    alternatives.length,
    needles.kind,
    literals.length,
    literalsSize,
    0,
  ];
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  [...header, ...numbers].forEach((number, index) => view.setUint32(index * 4, number, true));
  let ptr = tablesSize;
  for (const literal of literals) {
    bytes.set(literal, ptr);
    ptr += literal.length;
  }
  return bytes;
}

function isWord(byte: number | undefined): boolean {
  return byte !== undefined && /^\w$/.test(String.fromCharCode(byte));
}

const NEWLINE = 10;

function isSatisfied(assert: number, text: Uint8Array, at: number): boolean {
  const isBorder = isWord(text[at - 1]) !== isWord(text[at]);
  switch (assert) {
    case format.ASSERT_LINE_START:
      return at === 0 || text[at - 1] === NEWLINE;
    case format.ASSERT_LINE_END:
      return at === text.length || text[at] === NEWLINE;
    case format.ASSERT_TEXT_START:
      return at === 0;
    case format.ASSERT_TEXT_END:
      return at === text.length;
    default:
      return isBorder === (assert === format.ASSERT_WORD_BORDER);
  }
}

/** End of the preferred match that starts at `start`, -1 if there is none. */
export function matchAt(
  { states, start: first }: Automaton,
  text: Uint8Array,
  start: number,
): number {
  const visited = new Set<number>();
  const stack = [[first, start] as const];
  for (let top = stack.pop(); top !== undefined; top = stack.pop()) {
    const [index, at] = top;
    const key = at * states.length + index;
    if (visited.has(key)) continue;
    visited.add(key);
    const state = states[index]!;
    if (state.kind === format.STATE_MATCH) return at;
    if (state.kind === format.STATE_BYTES) {
      const byte = text[at] ?? -1;
      const transition = state.transitions.find(([low, high]) => low <= byte && byte <= high);
      if (transition !== undefined) stack.push([transition[2], at + 1]);
    } else if (state.kind === format.STATE_CHOICE || isSatisfied(state.assert, text, at)) {
      stack.push(...state.targets.map((target) => [target, at] as const).reverse());
    }
  }
  return -1;
}

/** The non-empty matches that start in [from, until), one after the other. */
export function matchesOf(
  automaton: Automaton,
  text: Uint8Array,
  from = 0,
  until = text.length,
): [number, number][] {
  const matches: [number, number][] = [];
  let at = from;
  while (at < until) {
    const end = matchAt(automaton, text, at);
    if (end > at) matches.push([at, end]);
    at = Math.max(end, at + 1);
  }
  return matches;
}

/** Whether the expression matches anywhere, empty matches included. */
export function matchesAnywhere(automaton: Automaton, text: Uint8Array): boolean {
  for (let at = 0; at <= text.length; at++) if (matchAt(automaton, text, at) >= 0) return true;
  return false;
}

export function readsNewlines(tree: Tree): boolean {
  if (tree.kind === 'bytes') return tree.ranges.some(([low, high]) => low <= 10 && high >= 10);
  if (tree.kind === 'repeat') return readsNewlines(tree.child);
  return tree.kind !== 'assert' && tree.children.some(readsNewlines);
}

/** The program of a tree. It is said to span lines where it reads newlines at all. */
export function programOf(tree: Tree, needles: Needles = NO_NEEDLES): Uint8Array {
  const flags = readsNewlines(tree) ? format.PROGRAM_SPANS_LINES : 0;
  return encodeProgram(makeAutomaton(tree, false), makeAutomaton(tree, true), flags, needles);
}

const ASSERT_NAMES: Record<number, string> = {
  [format.ASSERT_LINE_START]: '(?:^)',
  [format.ASSERT_LINE_END]: '(?:$)',
  [format.ASSERT_TEXT_START]: String.raw`(?:(?<![\s\S]))`,
  [format.ASSERT_TEXT_END]: String.raw`(?:(?![\s\S]))`,
  [format.ASSERT_WORD_BORDER]: String.raw`(?:\b)`,
  [format.ASSERT_NOT_WORD_BORDER]: String.raw`(?:\B)`,
};

function hex(byte: number): string {
  return `\\x${byte.toString(16).padStart(2, '0')}`;
}

/** The tree as a JavaScript expression for the flags `m` and `g`. */
export function toJavaScript(tree: Tree): string {
  switch (tree.kind) {
    case 'bytes':
      return `[${tree.ranges.map(([low, high]) => `${hex(low)}-${hex(high)}`).join('')}]`;
    case 'assert':
      return ASSERT_NAMES[tree.assert]!;
    case 'repeat': {
      const sign = tree.max === 1 ? (tree.min === 0 ? '?' : '{1}') : tree.min === 0 ? '*' : '+';
      return `(?:${toJavaScript(tree.child)})${sign}${tree.isLazy ? '?' : ''}`;
    }
    default:
      return `(?:${tree.children.map(toJavaScript).join(tree.kind === 'choice' ? '|' : '')})`;
  }
}

export function literal(text: string): Tree {
  const children = [...encoder.encode(text)].map((byte) => range(byte, byte));
  return { kind: 'concat', children };
}
export function range(first: number, last: number): Tree {
  return { kind: 'bytes', ranges: [[first, last]] };
}
export function concat(...children: Tree[]): Tree {
  return { kind: 'concat', children };
}
export function choice(...children: Tree[]): Tree {
  return { kind: 'choice', children };
}
export function repeat(child: Tree, sign: '*' | '+' | '?', isLazy = false): Tree {
  return {
    kind: 'repeat',
    child,
    min: sign === '+' ? 1 : 0,
    max: sign === '?' ? 1 : 'many',
    isLazy,
  };
}
