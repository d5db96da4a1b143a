// States of one automaton while it is made (core/shared/program.ts says what they mean), and how a set of
// code points becomes states that read its UTF-8, forwards or backwards. Equal states that read bytes or
// assert are one, so alternatives share their ends. Choices stay apart: the order in which an engine comes
// to them carries the preference of repeats that may be empty.

import type { Assertion, CodePointRange } from './tree.ts';
import { byteGraph, type ByteEdge, GRAPH_END } from './utf8.ts';

/** Targets are indexes of states. */
export type State =
  | { readonly kind: 'bytes'; readonly edges: readonly ByteEdge[] }
  | { readonly kind: 'choice'; readonly targets: readonly number[] }
  | { readonly kind: 'assert'; readonly at: Assertion; readonly target: number }
  | { readonly kind: 'match' };

export interface Automaton {
  readonly states: readonly State[];
  readonly start: number;
}

/** An automaton needs more states than it may have, or more work than STEPS_PER_STATE for each of these. */
export class StateLimitError extends Error {
  readonly isTooMuchWork: boolean;

  constructor(isTooMuchWork: boolean) {
    super();
    this.isTooMuchWork = isTooMuchWork;
  }
}

/**
 * Why: where copies of a part share their states, making them costs no states but takes time. Guess: word lists, which
 * share much, take less than two steps a state.
 */
export const STEPS_PER_STATE = 4;

export class AutomatonBuilder {
  readonly #states: State[] = [];
  readonly #known = new Map<string, number>();
  readonly #countMax: number;
  readonly #isReverse: boolean;
  #stepsLeft: number;

  constructor(isReverse: boolean, countMax: number, stepsMax: number) {
    this.#isReverse = isReverse;
    this.#countMax = countMax;
    this.#stepsLeft = stepsMax;
  }

  /** Counts a step of the work. Errors: StateLimitError. */
  countStep(): void {
    if (--this.#stepsLeft < 0) throw new StateLimitError(true);
  }

  /** Whether texts are read from their end. */
  get isReverse(): boolean {
    return this.#isReverse;
  }

  get states(): readonly State[] {
    return this.#states;
  }

  /** Each returns the index of a state. Errors: StateLimitError. */
  addMatch(): number {
    return this.#add({ kind: 'match' });
  }

  addAssertion(at: Assertion, target: number): number {
    return this.#share(`${at} ${target}`, { kind: 'assert', at, target });
  }

  /** A choice whose targets come later, by setChoice. */
  reserveChoice(): number {
    return this.#add({ kind: 'choice', targets: [] });
  }

  setChoice(index: number, targets: readonly number[]): void {
    this.#states[index] = { kind: 'choice', targets: [...new Set(targets)] };
  }

  /** The earlier target is preferred. A single one needs no state. */
  addChoice(targets: readonly number[]): number {
    const distinct = [...new Set(targets)];
    const [first] = distinct;
    return first !== undefined && distinct.length === 1
      ? first
      : this.#add({ kind: 'choice', targets: distinct });
  }

  /** Reads one code point of the set, then goes on at `next`. */
  addSet(ranges: readonly CodePointRange[], next: number): number {
    return this.#isReverse ? this.#addReverseSet(ranges, next) : this.#addForwardSet(ranges, next);
  }

  #addForwardSet(ranges: readonly CodePointRange[], next: number): number {
    const indexes: number[] = [];
    let root = next;
    for (const edges of byteGraph(ranges)) {
      const targets = edges.map((edge) => ({
        ...edge,
        target: edge.target === GRAPH_END ? next : indexes[edge.target]!,
      }));
      root = this.#addBytes(targets);
      indexes.push(root);
    }
    return root;
  }

  /** Backwards, a node is where one comes from its end: each edge into it becomes one out of it. */
  #addReverseSet(ranges: readonly CodePointRange[], next: number): number {
    const graph = byteGraph(ranges);
    const incoming: ByteEdge[][] = graph.map(() => []);
    const atEnd: ByteEdge[] = [];
    for (let node = graph.length - 1; node >= 0; node--) {
      const isRoot = node === graph.length - 1;
      const index = isRoot ? next : this.#addBackwards(incoming[node]!);
      for (const { first, last, target } of graph[node]!) {
        const edges = target === GRAPH_END ? atEnd : incoming[target]!;
        edges.push({ first, last, target: index });
      }
    }
    return this.#addBackwards(atEnd);
  }

  /** States for edges that may overlap: a choice of as few as it takes that have disjoint ones. */
  #addBackwards(edges: readonly ByteEdge[]): number {
    const rows: ByteEdge[][] = [];
    for (const edge of edges.toSorted((a, b) => a.first - b.first || a.target - b.target)) {
      const row = rows.find((row) => row[row.length - 1]!.last < edge.first);
      if (row === undefined) rows.push([edge]);
      else row.push(edge);
    }
    if (rows.length === 0) return this.#addBytes([]);
    return this.addChoice(rows.map((row) => this.#addBytes(row)));
  }

  /** `edges` are ascending and disjoint. */
  #addBytes(edges: readonly ByteEdge[]): number {
    const joined: ByteEdge[] = [];
    for (const edge of edges) {
      const previous = joined.at(-1);
      if (previous?.target === edge.target && previous.last + 1 === edge.first) {
        joined[joined.length - 1] = { ...previous, last: edge.last };
      } else {
        joined.push(edge);
      }
    }
    const key = joined.map(({ first, last, target }) => `${first}-${last} ${target}`).join();
    return this.#share(`bytes ${key}`, { kind: 'bytes', edges: joined });
  }

  #share(key: string, state: State): number {
    this.countStep();
    const known = this.#known.get(key);
    if (known !== undefined) return known;
    const index = this.#add(state);
    this.#known.set(key, index);
    return index;
  }

  #add(state: State): number {
    if (this.#states.length === this.#countMax) throw new StateLimitError(false);
    return this.#states.push(state) - 1;
  }
}
