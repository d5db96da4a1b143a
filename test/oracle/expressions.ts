// Regular expressions in the simplest way: walks lists of threads over code points, in order of preference, from the
// syntax tree. No bytes, no automaton, nothing is skipped, and letters are compared by JavaScript, one character at a
// time. API.md 9.5 defines the meaning of the tree.

import { foldsTogether, type Point } from '../core/oracle.ts';
import { parseRegex } from '../../daemon/engine/regex/syntax.ts';
import type {
  Assertion,
  ClassNode,
  RegexTree,
  RepeatNode,
} from '../../daemon/engine/regex/tree.ts';

type State =
  | { readonly kind: 'read'; readonly accepts: (point: number) => boolean; readonly next: number }
  | { readonly kind: 'choice'; targets: readonly number[] }
  | { readonly kind: 'assertion'; readonly at: Assertion; readonly next: number }
  | { readonly kind: 'match' };

export interface Expression {
  readonly states: readonly State[];
  readonly start: number;
}

/** Indexes of code points. */
interface Match {
  readonly start: number;
  readonly end: number;
}

const cached = new Map<string, Expression>();

export function expressionOf(pattern: string, isFolded: boolean): Expression {
  const key = `${isFolded} ${pattern}`;
  const expression = cached.get(key) ?? build(parseRegex(pattern, { isFolded }));
  if (cached.size > 1000) cached.clear();
  cached.set(key, expression);
  return expression;
}

export function build(tree: RegexTree): Expression {
  const states: State[] = [{ kind: 'match' }];
  return { start: add(states, tree, 0), states };
}

/** Adds the states of `tree`, after which `next` comes; returns its first one. */
function add(states: State[], tree: RegexTree, next: number): number {
  const push = (state: State): number => states.push(state) - 1;
  switch (tree.kind) {
    case 'literal': {
      const { codePoint, isFolded } = tree;
      const accepts = (point: number): boolean =>
        isFolded ? foldsTogether(codePoint, point) : codePoint === point;
      return push({ kind: 'read', accepts, next });
    }
    case 'any':
      return push({ kind: 'read', accepts: (point) => tree.hasNewline || point !== 10, next });
    case 'class':
      return push({ kind: 'read', accepts: memberTest(tree), next });
    case 'assertion':
      return push({ kind: 'assertion', at: tree.at, next });
    case 'sequence':
      return tree.children.reduceRight((after, child) => add(states, child, after), next);
    case 'choice':
      return push({
        kind: 'choice',
        targets: tree.children.map((child) => add(states, child, next)),
      });
    case 'repeat':
      return addRepeat(states, tree, next);
  }
}

function isNullable(tree: RegexTree): boolean {
  if (tree.kind === 'repeat') return tree.min === 0 || isNullable(tree.child);
  if (tree.kind === 'sequence') return tree.children.every(isNullable);
  if (tree.kind === 'choice') return tree.children.some(isNullable);
  return tree.kind === 'assertion';
}

/** RE2 takes `**`, `++` and `??` for a single one. */
function isSameOperator(inner: RepeatNode, outer: RepeatNode): boolean {
  const { min, max = Infinity, isLazy } = outer;
  const isSingle = min <= 1 && (max === 1 || max === Infinity);
  return (
    isSingle && inner.min === min && (inner.max ?? Infinity) === max && inner.isLazy === isLazy
  );
}

function addRepeat(states: State[], node: RepeatNode, next: number): number {
  const { child, min, max = Infinity, isLazy } = node;
  if (child.kind === 'repeat' && isSameOperator(child, node)) return addRepeat(states, child, next);
  const choose = (taken: number, skipped: number): number =>
    states.push({ kind: 'choice', targets: isLazy ? [skipped, taken] : [taken, skipped] }) - 1;
  let first = next;
  if (max === Infinity) {
    const loop = states.push({ kind: 'choice', targets: [] }) - 1;
    const round = add(states, child, loop);
    states[loop] = { kind: 'choice', targets: isLazy ? [next, round] : [round, next] };
    // Why: `x*` is one point, to which every round comes back; if x may be empty it is `(x+)?`.
    if (min === 0) return isNullable(child) ? choose(round, next) : loop;
    first = round;
    for (let count = 1; count < min; count++) first = add(states, child, first);
    return first;
  }
  for (let count = max; count > 0; count--) {
    first = add(states, child, first);
    if (count > min) first = choose(first, next);
  }
  return first;
}

/** Tests for members; folding comes before negation. */
function memberTest({ ranges, properties, isNegated, isFolded }: ClassNode): typeof accepts {
  const flags = isFolded ? 'iu' : 'u';
  const escape = (point: number): string => `\\u{${point.toString(16)}}`;
  const members = ranges.map(({ start, end }) => `${escape(start)}-${escape(end - 1)}`).join('');
  const tests = [
    { expression: new RegExp(`^[${members}]$`, flags), isNegated: false },
    ...properties.map((property) => ({
      expression: propertyTest(property.name, flags),
      isNegated: property.isNegated,
    })),
  ];
  const answers = new Map<number, boolean>();
  const accepts = (point: number): boolean => {
    const cached = answers.get(point);
    if (cached !== undefined) return cached;
    const character = String.fromCodePoint(point);
    const isMember = tests.some((test) => test.expression.test(character) !== test.isNegated);
    answers.set(point, isMember !== isNegated);
    return isMember !== isNegated;
  };
  return accepts;
}

function propertyTest(name: string, flags: string): RegExp {
  try {
    return new RegExp(`^\\p{${name}}$`, flags);
  } catch {
    return new RegExp(`^\\p{Script=${name}}$`, flags);
  }
}

const isWord = (point: number | undefined): boolean =>
  point !== undefined && /^[0-9A-Za-z_]$/.test(String.fromCodePoint(point));

function isSatisfied(
  at: Assertion,
  before: number | undefined,
  after: number | undefined,
): boolean {
  switch (at) {
    case 'lineStart':
      return before === undefined || before === 10;
    case 'lineEnd':
      return after === undefined || after === 10;
    case 'textStart':
      return before === undefined;
    case 'textEnd':
      return after === undefined;
    case 'wordBorder':
      return isWord(before) !== isWord(after);
    case 'notWordBorder':
      return isWord(before) === isWord(after);
  }
}

/** A state that reads or matches, and where its match would begin. */
interface Thread {
  readonly state: number;
  readonly start: number;
}

/** What reads or matches at `at`, from `threads` on, in order of preference. */
function activeAt(
  { states }: Expression,
  points: readonly Point[],
  at: number,
  threads: readonly Thread[],
): readonly Thread[] {
  const active: Thread[] = [];
  const visited = new Set<number>();
  const enter = ({ state: index, start }: Thread): void => {
    if (visited.has(index)) return;
    visited.add(index);
    const state = states[index]!;
    if (state.kind === 'choice')
      for (const target of state.targets) enter({ state: target, start });
    else if (state.kind !== 'assertion') active.push({ state: index, start });
    else if (isSatisfied(state.at, points[at - 1]?.point, points[at]?.point))
      enter({ state: state.next, start });
  };
  for (const thread of threads) enter(thread);
  return active;
}

/** The thread behind the code point, if its state takes that; none if there is no code point. */
function readBy({ states }: Expression, { state: index, start }: Thread, point?: Point): Thread[] {
  const state = states[index]!;
  const isTaken = state.kind === 'read' && point !== undefined && state.accepts(point.point);
  return isTaken ? [{ state: state.next, start }] : [];
}

/** The preferred match of those that begin first, at or behind `from`; it may be empty. */
function findMatch(
  expression: Expression,
  points: readonly Point[],
  from: number,
): Match | undefined {
  let found: Match | undefined;
  let threads: readonly Thread[] = [];
  for (let at = from; at <= points.length; at++) {
    const started = found === undefined ? [{ state: expression.start, start: at }] : [];
    const active = activeAt(expression, points, at, [...threads, ...started]);
    const matching = active.findIndex(({ state }) => expression.states[state]!.kind === 'match');
    if (matching >= 0) found = { start: active[matching]!.start, end: at };
    const alive = matching < 0 ? active : active.slice(0, matching);
    threads = alive.flatMap((thread) => readBy(expression, thread, points[at]));
    if (found !== undefined && threads.length === 0) break;
  }
  return found;
}

/** All ends of matches that begin at `start`, preferred or not. */
export function endsOf(expression: Expression, points: readonly Point[], start: number): number[] {
  const ends: number[] = [];
  let threads: readonly Thread[] = [{ state: expression.start, start }];
  for (let at = start; threads.length > 0; at++) {
    const active = activeAt(expression, points, at, threads);
    if (active.some(({ state }) => expression.states[state]!.kind === 'match')) ends.push(at);
    threads = active.flatMap((thread) => readBy(expression, thread, points[at]));
  }
  return ends;
}

/** Whether the expression matches anywhere; empty matches count. */
export function matchesAnywhere(expression: Expression, points: readonly Point[]): boolean {
  return findMatch(expression, points, 0) !== undefined;
}

/** All non-empty matches from the left, not overlapping, as indexes of code points. */
export function matchesOf(expression: Expression, points: readonly Point[]): Match[] {
  const matches: Match[] = [];
  for (let from = 0; from <= points.length;) {
    const match = findMatch(expression, points, from);
    if (match === undefined) break;
    if (match.end > match.start) matches.push(match);
    from = match.end > match.start ? match.end : match.end + 1;
  }
  return matches;
}
