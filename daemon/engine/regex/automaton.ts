// States of an automaton (core/shared/program.ts), and the states that read the UTF-8 of a set, forwards or backwards. Equal
// states are shared, except choices, whose order carries preferences. A large set that occurs often is called as a subroutine.

import type { Assertion, CodePointRanges } from './tree.ts';
import {
  addEdge,
  type ByteEdge,
  byteGraph,
  type ByteGraph,
  GRAPH_END,
  type OpenEdge,
  reverseByteGraph,
} from './utf8.ts';

export type State =
  | { readonly kind: 'bytes'; readonly edges: readonly ByteEdge[] }
  | { readonly kind: 'choice'; readonly targets: readonly number[] }
  | { readonly kind: 'assert'; readonly at: Assertion; readonly target: number }
  | { readonly kind: 'match' }
  | { readonly kind: 'call'; readonly entry: number; readonly target: number }
  | { readonly kind: 'return' };

export interface Automaton {
  readonly states: readonly State[];
  readonly start: number;
}

/** More states than allowed, or more than STEPS_PER_STATE steps for each. */
export class StateLimitError extends Error {
  readonly isTooMuchWork: boolean;

  constructor(isTooMuchWork: boolean) {
    super();
    this.isTooMuchWork = isTooMuchWork;
  }
}

/**
 * Why: copies that share states take time, but no states. Measured: 2026-11-21: the worst 4 KiB compile in 0.11 s, without in
 * 3.2.
 */
export const STEPS_PER_STATE = 4;

/** States that copies of sets may take; further uses of a set are calls. Why not all: copies are faster to simulate. */
export const COPIED_COUNT_MAX = 2000;

export class AutomatonBuilder {
  readonly #states: State[] = [];
  readonly #cached = new Map<string, number>();
  readonly #copied = new Set<CodePointRanges>();
  /** Entry states of called sets. */
  readonly #entries = new Map<CodePointRanges, number>();
  readonly #countMax: number;
  readonly #isReverse: boolean;
  #remainingCopies: number;
  #remainingSteps: number;

  constructor(isReverse: boolean, countMax: number, stepsMax: number, copiedCountMax: number) {
    this.#isReverse = isReverse;
    this.#countMax = countMax;
    this.#remainingSteps = stepsMax;
    this.#remainingCopies = copiedCountMax;
  }

  countStep(): void {
    if (--this.#remainingSteps < 0) throw new StateLimitError(true);
  }

  get isReverse(): boolean {
    return this.#isReverse;
  }

  get states(): readonly State[] {
    return this.#states;
  }

  // These return the index of a state. Errors: StateLimitError.

  addMatch(): number {
    return this.#add({ kind: 'match' });
  }

  addAssertion(at: Assertion, target: number): number {
    return this.#share(`${at} ${target}`, { kind: 'assert', at, target });
  }

  /** A choice whose targets are set later, by setChoice. */
  reserveChoice(): number {
    return this.#add({ kind: 'choice', targets: [] });
  }

  setChoice(index: number, targets: readonly number[]): void {
    this.#states[index] = { kind: 'choice', targets: [...new Set(targets)] };
  }

  /** Earlier targets are preferred. A single target needs no state. */
  addChoice(targets: readonly number[]): number {
    const distinct = [...new Set(targets)];
    const [first] = distinct;
    return first !== undefined && distinct.length === 1
      ? first
      : this.#add({ kind: 'choice', targets: distinct });
  }

  /** Reads one code point of the set, then continues at `next`. */
  addSet(ranges: CodePointRanges, next: number): number {
    const graph = byteGraph(ranges);
    if (graph.length > 1) {
      this.#remainingCopies -= graph.length;
      if (this.#remainingCopies < 0 && this.#copied.has(ranges)) return this.#addCall(ranges, next);
      this.#copied.add(ranges);
    }
    return this.#isReverse ? this.#addBackwards(graph, next) : this.#addGraph(graph, next);
  }

  #addCall(ranges: CodePointRanges, next: number): number {
    let entry = this.#entries.get(ranges);
    if (entry === undefined) {
      const graph = this.#isReverse ? reverseByteGraph(ranges) : byteGraph(ranges);
      // Measured: 2026-11-22: 15 to 40 us a node, as four steps.
      for (let step = 0; step < 4 * graph.length; step++) this.countStep();
      entry = this.#addGraph(graph, this.#share('return', { kind: 'return' }));
      this.#entries.set(ranges, entry);
    }
    return this.#share(`call ${entry} ${next}`, { kind: 'call', entry, target: next });
  }

  #addGraph(graph: ByteGraph, next: number): number {
    const indexes: number[] = [];
    let root = next;
    for (const edges of graph) {
      const targets = edges.map((edge) => ({
        ...edge,
        target: edge.target === GRAPH_END ? next : indexes[edge.target]!,
      }));
      root = this.#addBytes(targets);
      indexes.push(root);
    }
    return root;
  }

  /** Reverses a graph: each edge into a node becomes one out of it. */
  #addBackwards(graph: ByteGraph, next: number): number {
    const incoming: ByteEdge[][] = graph.map(() => []);
    const atEnd: ByteEdge[] = [];
    for (let node = graph.length - 1; node >= 0; node--) {
      const isRoot = node === graph.length - 1;
      const index = isRoot ? next : this.#addOverlapping(incoming[node]!);
      for (const { first, last, target } of graph[node]!) {
        const edges = target === GRAPH_END ? atEnd : incoming[target]!;
        edges.push({ first, last, target: index });
      }
    }
    return this.#addOverlapping(atEnd);
  }

  /** States for edges that may overlap: a choice of the fewest states with disjoint edges. */
  #addOverlapping(edges: readonly ByteEdge[]): number {
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
    const joined: OpenEdge[] = [];
    for (const { first, last, target } of edges) addEdge(joined, first, last, target);
    const key = joined.map(({ first, last, target }) => `${first}-${last} ${target}`).join();
    return this.#share(`bytes ${key}`, { kind: 'bytes', edges: joined });
  }

  #share(key: string, state: State): number {
    this.countStep();
    const cached = this.#cached.get(key);
    if (cached !== undefined) return cached;
    const index = this.#add(state);
    this.#cached.set(key, index);
    return index;
  }

  #add(state: State): number {
    if (this.#states.length === this.#countMax) throw new StateLimitError(false);
    return this.#states.push(state) - 1;
  }
}
